"""Rewards: small callables from what a step changed to a number for each game.

They follow the player, never the ply: whoever acts twice in a row sees the same
sign twice. All three are zero-sum over the sides. A callable of your own takes a
`Change` and returns float64 ``[n]``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crib_env.errors import InvalidRulesError
from crib_env.rules import Rules
from crib_env.win_probability import supports, win_probabilities


@dataclass(frozen=True)
class Change:
    """What happened in ``n`` games since the player's last decision.

    Attributes:
        side: the player's side, int64 ``[n]``.
        before, after: points by side, int64 ``[n, sides]``.
        deal_before: points by side when the deal of the last decision began.
        dealer_before: the side that dealt then, int64 ``[n]``.
        dealer_after: the side that deals next, or now.
        deal_over: whether that deal has ended, bool ``[n]``.
        over: whether the game has ended, bool ``[n]``.
        winner: winning side, int64 ``[n]``, -1 for none.
    """

    side: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    deal_before: NDArray[np.int64]
    dealer_before: NDArray[np.int64]
    dealer_after: NDArray[np.int64]
    deal_over: NDArray[np.bool_]
    over: NDArray[np.bool_]
    winner: NDArray[np.int64]


Reward = Callable[[Change], NDArray[np.float64]]


def win(change: Change) -> NDArray[np.float64]:
    """At the end +1 for the winner; the losers share -1."""
    losers = change.after.shape[1] - 1
    result = np.where(change.winner == change.side, 1.0, -1.0 / losers)
    return np.where(change.over, result, 0.0)


def _lead(points: NDArray[np.int64], side: NDArray[np.int64]) -> NDArray[np.float64]:
    """Points ahead of the mean of the others."""
    own = points[np.arange(len(side)), side]
    others = (points.sum(axis=1) - own) / (points.shape[1] - 1)
    return own - others


def margin(change: Change) -> NDArray[np.float64]:
    """Points gained on the mean of the others since the last decision."""
    return _lead(change.after, change.side) - _lead(change.before, change.side)


def win_probability(change: Change) -> NDArray[np.float64]:
    """At the end of each deal, how much it changed the chance to win (two players)."""
    own = change.side
    other = 1 - own
    at = np.arange(len(own))

    def chance(points: NDArray[np.int64], dealer: NDArray[np.int64]) -> NDArray[np.float64]:
        return win_probabilities(points[at, own], points[at, other], dealer == own)

    gained = chance(change.after, change.dealer_after) - chance(
        change.deal_before, change.dealer_before
    )
    return np.where(change.deal_over, gained, 0.0)


REWARDS: dict[str, Reward] = {"win": win, "margin": margin, "win_probability": win_probability}
"""Rewards by name."""


def get_reward(reward: str | Reward, rules: Rules) -> Reward:
    """A reward by name, or the callable itself.

    Raises:
        InvalidRulesError: for an unknown name, or one that does not fit the rules.
    """
    if callable(reward):
        return reward
    if reward not in REWARDS:
        raise InvalidRulesError(f"no reward {reward!r}: there are {', '.join(REWARDS)}")
    if reward == "win_probability" and not supports(rules):
        raise InvalidRulesError("the table of win probabilities is for the six-card game of two")
    return REWARDS[reward]
