"""The rest of the play when both hands are known: exact minimax for two.

A hand is ranks in hexadecimal digits, the lowest rank in the lowest digit,
`NO_RANK` in the digits that hold none: so the first digit says whether anything
fits, and equal ranks stand side by side and are tried once. Suits do not matter
in the play.

What each card scores is the scorer's answer. Whose turn follows is written here
once more, since rows of state are too slow to search: a test plays both.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crib_env import state as S
from crib_env import win_probability
from crib_env._jit import njit
from crib_env.bits import lowest, pip
from crib_env.rules import SIX_CARD
from crib_env.scoring import play_parts

NO_RANK = 15
NO_HAND = 0xFFFF
"""A hand of no cards."""
TARGET = SIX_CARD.target
SPAN = 192
"""More than a score can come to with the show, where nobody looks at the target."""

SAME, OTHER, NOBODY = 0, 1, 2
"""Who lays next: the one who laid last, the other, or the play is over."""


@lru_cache(maxsize=1)
def chances_when_counted() -> NDArray[np.float64]:
    """P(win) once a deal is counted, where nobody has looked at the target yet.

    Pone counts first, so he has won where both are past it.

    Returns:
        float64 ``[2, SPAN, SPAN]`` by ``[dealing now, own score, other score]``.
    """
    before = win_probability.chances_before_deal()
    chances = np.empty((2, SPAN, SPAN))
    for dealing in (0, 1):
        chances[dealing, :TARGET, :TARGET] = before[1 - dealing]
        chances[dealing, TARGET:, :TARGET] = 1.0
        chances[dealing, :TARGET, TARGET:] = 0.0
        chances[dealing, TARGET:, TARGET:] = 1.0 - dealing
    return chances


@njit
def ranks_of(cards: int) -> int:
    """A set of up to four cards as a hand."""
    hand = NO_HAND
    at = 0
    while cards:
        rank = lowest(cards) >> 2
        cards &= cards - 1
        hand ^= (rank ^ NO_RANK) << at
        at += 4
    return hand


@njit
def without(hand: int, at: int) -> int:
    """A hand without the rank in digit ``at``."""
    shift = 4 * at
    return hand & ((1 << shift) - 1) | (hand >> (shift + 4)) << shift | NO_RANK << 12


@njit
def fits(hand: int, count: int) -> bool:
    """Whether a hand holds a card that does not take the count past 31."""
    rank = hand & 15
    return rank != NO_RANK and count + pip(rank << 2) <= 31


@njit
def lay_rank(
    rank: int, rest: int, other: int, series: int, length: int, count: int, single: bool
) -> tuple[int, int, int, int, int]:
    """A card is laid, by one who then holds ``rest`` while the other holds ``other``.

    Args:
        series, length, count: before the card, as `play_parts` has them.
        single: whether the play ends with the first series.

    Returns:
        Who lays next (`SAME`, `OTHER`, `NOBODY`); the points that the layer pegs, with
        the one for go or last card; series, length and count for whoever lays next.
    """
    series = series << 4 | rank
    length += 1
    count += pip(rank << 2)
    fifteen, thirty_one, pairs, run = play_parts(series, length, count)
    points = fifteen + thirty_one + pairs + run
    if count != 31:
        if fits(other, count):
            return OTHER, points, series, length, count
        if fits(rest, count):
            return SAME, points, series, length, count
        points += 1
    follows = OTHER
    if single or (rest == NO_HAND and other == NO_HAND):
        follows = NOBODY
    elif other == NO_HAND:
        follows = SAME
    return follows, points, 0, 0, 0


@njit
def solve(
    first: bool,
    own: int,
    other: int,
    series: int,
    length: int,
    count: int,
    x: int,
    y: int,
    low: float,
    high: float,
    ends: np.ndarray,
    base: int,
    single: bool,
) -> float:
    """The first side's chance to win, when both play their best with open hands.

    Args:
        first: whether it is that side's turn, not the other's. Whoever's turn it is can lay.
        own, other: the hands of the first and of the second side.
        series, length, count: the cards on the table, as `play_parts` has them.
        x, y: both sides' points, below the target.
        low, high: below and above these the exact value is not wanted.
        ends: float64 ``[SPAN * SPAN]``, the first side's chance to win by
            ``SPAN * x + y`` once all is counted; see `base`.
        base: ``SPAN * dx + dy`` for the points that each counts at the show.
        single: whether the play ends with the first series.
    """
    hand = own if first else other
    best = -1.0 if first else 2.0
    before = NO_RANK
    for at in range(4):
        rank = (hand >> (4 * at)) & 15
        if rank == NO_RANK or count + pip(rank << 2) > 31:
            break
        if rank == before:
            continue
        before = rank
        rest = without(hand, at)
        held = other if first else own
        follows, points, series_, length_, count_ = lay_rank(
            rank, rest, held, series, length, count, single
        )
        x_ = x + points if first else x
        y_ = y if first else y + points
        if x_ >= TARGET:
            value = 1.0
        elif y_ >= TARGET:
            value = 0.0
        elif follows == NOBODY:
            value = ends[SPAN * x_ + y_ + base]
        else:
            value = solve(
                first == (follows == SAME),
                rest if first else own,
                other if first else rest,
                series_,
                length_,
                count_,
                x_,
                y_,
                low,
                high,
                ends,
                base,
                single,
            )
        if first:
            best = max(best, value)
            low = max(low, value)
        else:
            best = min(best, value)
            high = min(high, value)
        if low >= high:
            break
    return best


@njit
def chance_after(
    s: np.ndarray,
    at: int,
    own: int,
    other: int,
    ends: np.ndarray,
    base: int,
    single: bool,
) -> float:
    """The chance to win when a card is laid, with open hands.

    Args:
        s: what the seat at place 0 knows in the play, as `recall` makes it.
        at: the digit of the card in its hand.
        own, other: the hands.
        ends, base, single: see `solve`.
    """
    follows, points, series, length, count = lay_rank(
        (own >> (4 * at)) & 15,
        without(own, at),
        other,
        s[S.SERIES],
        s[S.SERIES_LENGTH],
        s[S.COUNT],
        single,
    )
    x = s[S.SCORE] + points
    y = s[S.SCORE + 1]
    if x >= TARGET:
        return 1.0
    if follows == NOBODY:
        return ends[SPAN * x + y + base]
    return solve(
        follows == SAME,
        without(own, at),
        other,
        series,
        length,
        count,
        x,
        y,
        -1.0,
        2.0,
        ends,
        base,
        single,
    )
