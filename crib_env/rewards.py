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
from crib_env._jit import njit
from crib_env.errors import InvalidRulesError
from crib_env.rules import Rules
from crib_env.scoring import show_points
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


@njit
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
