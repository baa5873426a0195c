"""Rewards: small callables from what a step changed to a number for each game.

They follow the player, never the ply: whoever acts twice in a row sees the same
sign twice. All three are zero-sum over the sides. A callable of your own takes a
`Change` and returns float64 ``[n]``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, small_njit
from crib_env.errors import InvalidRulesError
from crib_env.rules import Rules
from crib_env.scoring import show_points
from crib_env.win_probability import chance_to_win, chances_before_deal, supports


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
        games: the games as they stand, int64 ``[n, STATE_SIZE]``, see `crib_env.state`.
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
    games: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, S.STATE_SIZE), np.int64), repr=False
    )


Reward = Callable[[Change], NDArray[np.float64]]


CUSTOM = -1
"""In place of a built-in reward's number: a callable's."""
_WIN, _MARGIN, _WIN_PROBABILITY = range(3)
NO_CHANCES: NDArray[np.float64] = np.zeros((0, 0, 0))


@lean_njit
def _lead(points: np.ndarray, side: int, sides: int) -> float:
    """Points ahead of the mean of the others."""
    total = 0
    for each in range(sides):
        total += points[each]
    return points[side] - (total - points[side]) / (sides - 1)


@small_njit
def worth(
    reward: int,
    side: int,
    sides: int,
    before: np.ndarray,
    after: np.ndarray,
    deal_before: np.ndarray,
    dealer_before: int,
    dealer_after: int,
    deal_over: bool,
    over: bool,
    winner: int,
    chances: np.ndarray,
) -> float:
    """A built-in reward of one game, see `Change` for the rest.

    Args:
        reward: its number, see `number_of`.
        chances: what `get_chances` says.
    """
    if reward == _WIN:
        if not over:
            return 0.0
        return 1.0 if winner == side else -1.0 / (sides - 1)
    if reward == _MARGIN:
        return _lead(after, side, sides) - _lead(before, side, sides)
    if not deal_over:
        return 0.0
    other = 1 - side
    return chance_to_win(after[side], after[other], dealer_after == side, chances) - chance_to_win(
        deal_before[side], deal_before[other], dealer_before == side, chances
    )


@lean_njit
def _worths(
    reward: int,
    side: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    deal_before: np.ndarray,
    dealer_before: np.ndarray,
    dealer_after: np.ndarray,
    deal_over: np.ndarray,
    over: np.ndarray,
    winner: np.ndarray,
    chances: np.ndarray,
    out: np.ndarray,
) -> None:
    for k in range(out.shape[0]):
        out[k] = worth(
            reward,
            side[k],
            after.shape[1],
            before[k],
            after[k],
            deal_before[k],
            dealer_before[k],
            dealer_after[k],
            deal_over[k],
            over[k],
            winner[k],
            chances,
        )


def _of_all(reward: int, change: Change) -> NDArray[np.float64]:
    out = np.empty(len(change.side), np.float64)
    _worths(
        reward,
        change.side,
        change.before,
        change.after,
        change.deal_before,
        change.dealer_before,
        change.dealer_after,
        change.deal_over,
        change.over,
        change.winner,
        get_chances(reward),
        out,
    )
    return out


def win(change: Change) -> NDArray[np.float64]:
    """At the end +1 for the winner; the losers share -1."""
    return _of_all(_WIN, change)


def margin(change: Change) -> NDArray[np.float64]:
    """Points gained on the mean of the others since the last decision."""
    return _of_all(_MARGIN, change)


def win_probability(change: Change) -> NDArray[np.float64]:
    """At the end of each deal, how much it changed the chance to win (two players)."""
    return _of_all(_WIN_PROBABILITY, change)


@lean_njit
def _deal_shows(games: np.ndarray, r: np.ndarray, out: np.ndarray) -> None:
    for at in range(games.shape[0]):
        s = games[at]
        for seat in range(r[R.PLAYERS]):
            out[at, seat] = show_points(s[S.KEPT + seat], s[S.STARTER], False, r)
        out[at, s[S.DEALER]] += show_points(s[S.CRIB], s[S.STARTER], True, r)


def deal_shows(games: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    """What the hands and the crib of a deal are worth, counted or not.

    A game may end before the show; this is what it would have brought.

    Args:
        games: int64 ``[n, STATE_SIZE]``, all past the discard, the next deal not begun.
        rules: their rules.

    Returns:
        Points by seat, the dealer's with the crib, int64 ``[n, players]``.
    """
    shows = np.zeros((len(games), rules.players), np.int64)
    _deal_shows(games, rules.to_array(), shows)
    return shows


REWARDS: dict[str, Reward] = {"win": win, "margin": margin, "win_probability": win_probability}
"""Rewards by name."""
_BUILT_IN: list[Reward] = [win, margin, win_probability]


def number_of(reward: Reward) -> int:
    """The number by which the kernels know a built-in reward, `CUSTOM` for any other."""
    return _BUILT_IN.index(reward) if reward in _BUILT_IN else CUSTOM


def get_chances(reward: int) -> NDArray[np.float64]:
    """The table that a reward needs, float64 ``[2, 121, 121]``; nothing for most."""
    return chances_before_deal() if reward == _WIN_PROBABILITY else NO_CHANCES


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
