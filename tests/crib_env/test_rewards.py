"""Rewards are zero-sum and follow the side, never the ply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crib_env.errors import InvalidRulesError
from crib_env.rewards import REWARDS, Change, get_reward, margin, win, win_probability
from crib_env.rules import SIX_CARD
from crib_env.win_probability import win_probability as chance


def change(side: int, after: list[int], *, before: list[int], over: bool = False) -> Change:
    """One deal in which side 0 dealt, as one side sees it."""
    winner = after.index(121) if over else -1
    return Change(
        side=np.array([side]),
        before=np.array([before]),
        after=np.array([after]),
        deal_before=np.array([before]),
        dealer_before=np.array([0]),
        dealer_after=np.array([1]),
        deal_over=np.array([True]),
        over=np.array([over]),
        winner=np.array([winner]),
    )


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("over", [False, True])
def test_zero_sum(name: str, over: bool) -> None:
    after = [121, 100] if over else [100, 110]
    rewards = [REWARDS[name](change(s, after, before=[90, 95], over=over))[0] for s in (0, 1)]
    assert sum(rewards) == pytest.approx(0)
    if over:
        assert rewards[0] > 0


def test_win() -> None:
    assert win(change(0, [121, 80], before=[100, 70], over=True))[0] == 1
    assert win(change(1, [121, 80], before=[100, 70], over=True))[0] == -1
    assert win(change(1, [100, 80], before=[100, 70]))[0] == 0


def test_three_losers_share() -> None:
    three = change(0, [121, 80, 70], before=[100, 70, 60], over=True)
    rewards = [win(replace(three, side=np.array([side])))[0] for side in range(3)]
    assert rewards == [1, -0.5, -0.5]
    margins = [margin(replace(three, side=np.array([side])))[0] for side in range(3)]
    assert sum(margins) == pytest.approx(0)


def test_margin_counts_points_gained_on_the_other() -> None:
    assert margin(change(0, [100, 110], before=[90, 95]))[0] == 10 - 15


def test_win_probability_is_the_change_over_the_deal() -> None:
    reward = win_probability(change(0, [100, 110], before=[90, 95]))[0]
    assert reward == pytest.approx(chance(100, 110, False) - chance(90, 95, True))
    won = win_probability(change(1, [100, 121], before=[90, 95], over=True))[0]
    assert won == pytest.approx(1 - chance(95, 90, False))


def test_unknown_or_unfit_rewards_are_refused() -> None:
    with pytest.raises(InvalidRulesError, match="no reward 'glory'"):
        get_reward("glory", SIX_CARD)
    short = replace(SIX_CARD, target=61, skunk_line=None, double_skunk_line=None)
    with pytest.raises(InvalidRulesError, match="six-card"):
        get_reward("win_probability", short)
    assert get_reward(win, short) is win
