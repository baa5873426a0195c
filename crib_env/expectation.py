"""What a choice of discards is worth before the starter is turned: exact means.

The show of a keep is averaged over every starter that the thrower has not
seen. What the crib adds is a table by the two ranks thrown (`CRIB_MEANS`),
made from self-play of the six-card game by ``crib tables crib``. In other games
it stands for the crib as well as it can, see `crib_value`.
"""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, small_njit
from crib_env.bits import EACH_RANK, lowest, popcount, rank_count
from crib_env.cards import FULL_DECK, JACK, RANKS
from crib_env.engine import side_of
from crib_env.scoring import count_nobs, rank_points, suit_points_of_all

DATA = Path(__file__).parent / "data"
CRIB_FILES = (DATA / "crib_means_opponent.csv", DATA / "crib_means_own.csv")
"""Mean points of the opponent's crib and of one's own, by the ranks thrown."""

NO_PAIR = -1000.0
"""Value of a card that cannot be thrown."""


def read_crib_table(path: Path) -> NDArray[np.float64]:
    """A table of mean cribs: float64 ``[13, 13]``, points, symmetrical."""
    rows = path.read_text().splitlines()
    if rows[0].split(",")[1:] != list(RANKS) or len(rows) != 14:
        raise ValueError(f"{path} is no table of cribs by ranks A to K")
    return np.array([[float(x) for x in row.split(",")[1:]] for row in rows[1:]])


CRIB_MEANS: NDArray[np.float64] = np.stack([read_crib_table(path) for path in CRIB_FILES])
"""Mean cribs of the six-card game, float64 ``[2, 13, 13]``: points by ``[own, rank, rank]`` of the
cards thrown."""

_CRIB_CARDS = 4
"""Cards in the cribs of that table."""


CHOOSE = np.array([[comb(n, k) for k in range(7)] for n in range(18)], np.int64)
"""Binomial coefficients ``[n, k]``, int64 ``[18, 7]``, for `place_of_ranks`."""


@lean_njit
def place_of_ranks(cards: int) -> int:
    """Place of the ranks of up to six cards among all multisets of as many.

    Four cards have places 0 to 1819, six 0 to 18563.
    """
    place = 0
    number = 0
    while cards:
        rank = lowest(cards) >> 2
        cards &= cards - 1
        number += 1
        place += CHOOSE[rank + number - 1, number]
    return place


@small_njit
def _place(keep: int) -> int:
    """As `place_of_ranks`, for four cards, sooner."""
    three = keep & (keep - 1)
    two = three & (three - 1)
    one = two & (two - 1)
    return (
        CHOOSE[lowest(keep) >> 2, 1]
        + CHOOSE[(lowest(three) >> 2) + 1, 2]
        + CHOOSE[(lowest(two) >> 2) + 2, 3]
        + CHOOSE[(lowest(one) >> 2) + 3, 4]
    )


@lean_njit
def _with_rank(cards: int, rank: int) -> int:
    """The cards and one more of a rank, of a suit that they lack."""
    return cards | 1 << (4 * rank + rank_count(cards, rank))


@lean_njit
def _fill_rank_shows(table: np.ndarray, sums: np.ndarray) -> None:
    for a in range(13):
        for b in range(a, 13):
            for c in range(b, 13):
                for d in range(c, 13):
                    keep = _with_rank(_with_rank(_with_rank(_with_rank(0, a), b), c), d)
                    for starter in range(13):
                        left = 4 - rank_count(keep, starter)
                        if left > 0:
                            points = rank_points(_with_rank(keep, starter))
                            table[place_of_ranks(keep), starter] = points
                            sums[place_of_ranks(keep)] += left * points


RANK_SHOWS: NDArray[np.int8] = np.zeros((comb(16, 4), 13), np.int8)
"""What fifteens, pairs and runs of four ranks show with each rank of starter. It is the
scorer's own answer, kept because every discard asks for it two hundred times."""
_ALL_STARTERS: NDArray[np.int64] = np.zeros(len(RANK_SHOWS), np.int64)
"""The same added up over the 48 cards that are not kept."""
_fill_rank_shows(RANK_SHOWS, _ALL_STARTERS)


@lean_njit
def _shows_of_any(keep: int, unseen: int) -> int:
    """Points by rank of a keep of any size, added up over all starters."""
    total = 0
    for rank in range(13):
        of_rank = unseen & (15 << (4 * rank))
        if of_rank:
            starter = of_rank & -of_rank
            total += popcount(of_rank) * rank_points(keep | starter)
    return total


@small_njit
def mean_show(keep: int, seen: int, r: np.ndarray) -> float:
    """Mean points of a keep over every starter outside ``seen``.

    Args:
        keep: set of the cards kept, part of ``seen``.
        seen: set of the cards that cannot be the starter.
        r: settings of the rules.
    """
    unseen = FULL_DECK & ~seen
    if popcount(keep) == 4:
        place = _place(keep)
        total = _ALL_STARTERS[place]
        rest = seen & ~keep
        while rest:
            total -= RANK_SHOWS[place, lowest(rest) >> 2]
            rest &= rest - 1
    else:
        total = _shows_of_any(keep, unseen)
    total += suit_points_of_all(keep, unseen, r)
    return total / popcount(unseen)


@small_njit
def crib_is_ours(s: np.ndarray, r: np.ndarray, seat: int) -> bool:
    """Whether the seat's side owns the crib."""
    return side_of(r, s[S.DEALER]) == side_of(r, seat)


@lean_njit
def _mean_of(table: np.ndarray, first: int) -> float:
    return table[first].mean()


@small_njit
def crib_value(thrown: int, r: np.ndarray, table: np.ndarray) -> float:
    """What the crib is worth by the cards that one seat throws to it, in points.

    The table is of the six-card game. Where one card is thrown, it counts as with any
    second; and a crib of fewer than four cards is worth that much less.

    Args:
        thrown: set of one or two cards.
        r: settings of the rules.
        table: float64 ``[13, 13]``, mean cribs by rank.
    """
    first = lowest(thrown) >> 2
    rest = thrown & (thrown - 1)
    mean = _mean_of(table, first) if rest == 0 else table[first, lowest(rest) >> 2]
    return mean * _part_of_crib(r)


@small_njit
def _part_of_crib(r: np.ndarray) -> float:
    """How large a crib is beside those of the table."""
    return (r[R.PLAYERS] * r[R.THROWN] + r[R.BLIND]) / _CRIB_CARDS


@small_njit
def _raise(out: np.ndarray, card: int, value: float) -> None:
    # Compared as the array keeps it: to widen what it holds costs more than all the rest.
    out[card] = max(out[card], out.dtype.type(value))


@small_njit
def raise_to_discards(
    s: np.ndarray, r: np.ndarray, seat: int, crib_means: np.ndarray, scale: float, out: np.ndarray
) -> None:
    """Raise each held card's number to `discard_values` times a scale, where it is less.

    Args:
        scale: what the values are multiplied by, positive.
        out: float ``[52]``.
    """
    hand = s[S.HAND + seat]
    thrown = s[S.THROWN_CARDS + seat]
    ours = crib_is_ours(s, r, seat)
    sign = 1.0 if ours else -1.0
    table = crib_means[1 if ours else 0]
    left = r[R.THROWN] - popcount(thrown)
    if r[R.DEALT] == _SIX and r[R.THROWN] == 2:
        _raise_to_pairs_of_six(hand, thrown, r, sign * _part_of_crib(r), table, scale, out)
        return
    seen = hand | thrown
    firsts = hand
    while firsts:
        first = lowest(firsts)
        firsts &= firsts - 1
        if left == 1:
            value = mean_show(hand ^ (1 << first), seen, r)
            value += sign * crib_value(thrown | (1 << first), r, table)
            _raise(out, first, scale * value)
            continue
        seconds = firsts
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            both = (1 << first) | (1 << second)
            value = mean_show(hand ^ both, seen, r) + sign * crib_value(both, r, table)
            _raise(out, first, scale * value)
            _raise(out, second, scale * value)


_SIX = 6
_PART_OF_PLACE: NDArray[np.int64] = np.array(
    [[CHOOSE[rank + nth - 1, nth] if 0 < nth < 5 else 0 for rank in range(13)] for nth in range(6)]
)
"""What the nth card kept, 1 to 4, has in `place_of_ranks`, by its rank: int64 ``[6, 13]``."""


@small_njit
def _raise_to_pairs_of_six(
    hand: int,
    thrown: int,
    r: np.ndarray,
    crib_part: float,
    table: np.ndarray,
    scale: float,
    out: np.ndarray,
) -> None:
    """As `raise_to_discards`, sooner, where two of six cards are thrown.

    No keep is looked at card by card: its place and its nobs are sums over cards, and change
    with the two that are thrown. What a card has in the place depends on how many are kept
    below it.

    Args:
        thrown: the first of the two, when it has been thrown; else nothing.
        crib_part: part of the table's crib, negative where it is the opponent's.
        table: float64 ``[13, 13]``, mean cribs by rank.
    """
    above = 0
    cards = hand if thrown else hand & (hand - 1)
    for nth in range(_SIX - 1):
        above += _PART_OF_PLACE[nth, lowest(cards) >> 2]
        cards &= cards - 1
    six = hand | thrown
    if thrown:
        _raise_with(lowest(thrown), hand, 0, 0, above, six, r, crib_part, table, scale, out)
        return
    below = 0
    firsts = hand
    for nth in range(_SIX - 1):
        first = lowest(firsts)
        firsts &= firsts - 1
        best = _raise_with(first, firsts, nth, below, above, six, r, crib_part, table, scale, out)
        out[first] = max(out[first], best)
        below += _PART_OF_PLACE[nth + 1, first >> 2]
        above -= _PART_OF_PLACE[nth, lowest(firsts) >> 2]


@small_njit
def _raise_with(
    first: int,
    seconds: int,
    nth: int,
    below: int,
    above: int,
    six: int,
    r: np.ndarray,
    crib_part: float,
    table: np.ndarray,
    scale: float,
    out: np.ndarray,
) -> float:
    """Raise the numbers of some cards, each thrown with one other; returns the best.

    Args:
        first: the other.
        seconds: the cards, all above some of those left and below none.
        nth: how many are left below them.
        below: what those have in the place of the keep.
        above: what the others have in it while one below them is thrown.
        six: all six cards.
    """
    unseen = FULL_DECK & ~six
    starters = popcount(unseen)
    may_flush = False
    nobs = -_nobs(first, unseen)
    for suit in range(4):
        may_flush |= popcount(six & (EACH_RANK << suit)) >= _SIX - 2
        nobs += count_nobs(six, suit) * popcount(unseen & (EACH_RANK << suit))
    first_rank = first >> 2
    best = out.dtype.type(-np.inf)
    for at in range(nth, _SIX - 1):
        second = lowest(seconds)
        seconds &= seconds - 1
        rank = second >> 2
        above -= _PART_OF_PLACE[at, rank]
        place = below + above
        below += _PART_OF_PLACE[at + 1, rank]
        if may_flush:
            suits = _suits_of_any(six ^ (1 << first) ^ (1 << second), unseen, r)
        else:
            suits = nobs - _nobs(second, unseen)
        total = _ALL_STARTERS[place] - RANK_SHOWS[place, first_rank] - RANK_SHOWS[place, rank]
        value = (total + suits) / starters + crib_part * table[first_rank, rank]
        raised = out.dtype.type(scale * value)
        best = max(best, raised)
        out[second] = max(out[second], raised)
    return best


@small_njit
def _nobs(card: int, unseen: int) -> int:
    """How many starters make a card his nobs."""
    of_suit = popcount(unseen & (EACH_RANK << (card & 3)))
    return of_suit if card >> 2 == JACK else 0


@lean_njit
def _suits_of_any(keep: int, unseen: int, r: np.ndarray) -> int:
    return suit_points_of_all(keep, unseen, r)


@lean_njit
def discard_values(
    s: np.ndarray, r: np.ndarray, seat: int, crib_means: np.ndarray, out: np.ndarray
) -> None:
    """What each card is worth as the next discard, in points.

    The value is that of the best whole discard with the card in it: the mean
    show of what is kept, plus the mean crib where it is ours, less it where it is
    not (`crib_value`).

    Args:
        s, r: a game in the discard, and its rules; only the seat's own cards are read.
        seat: who throws.
        crib_means: float64 ``[2, 13, 13]``, see `CRIB_MEANS`.
        out: float64 ``[52]``, set to the values; `NO_PAIR` for cards not held.
    """
    out[:] = NO_PAIR
    raise_to_discards(s, r, seat, crib_means, 1.0, out)
