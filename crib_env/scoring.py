"""What cards are worth: the show (hands and cribs) and the play.

The compiled functions are the only place in the project that scores cards.
`show_score` and `pegging_score` wrap them for people and say why.

Values: each fifteen 2, each pair 2, runs of three and more their length for
every way to make them, a flush one a card, his nobs 1; in the play fifteen 2,
thirty-one 2, two, three or four of a rank 2, 6 or 12, a run its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crib_env._jit import lean_njit, small_njit
from crib_env.bits import EACH_RANK, lowest, pip, popcount, rank_count, trailing_zeros
from crib_env.cards import JACK, Card, from_mask, parse_cards, text, to_mask
from crib_env.errors import InvalidCardError
from crib_env.rules import CRIB_FLUSH_FOUR, SHORT_FLUSH, Rules, get_rules

_ONE_EACH = 0x1111111111111111
"""A one in each hexadecimal digit."""


@small_njit
def count_fifteens(cards: int) -> int:
    """Points for every subset of at most five cards that sums to fifteen."""
    # Sixteen counters of four bits: the nibble n counts the subsets that sum to
    # n. None passes 10 (no subset of equal sum holds another), so none spills.
    ways = np.uint64(1)
    rest = cards
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        ways += ways << np.uint64(4 * pip(card))
    return 2 * np.int64(ways >> np.uint64(60))  # type: ignore[return-value]


@small_njit
def count_pairs(cards: int) -> int:
    """Points for every pair."""
    pairs = (
        popcount(cards & (cards >> 1) & (EACH_RANK * 7))
        + popcount(cards & (cards >> 2) & (EACH_RANK * 3))
        + popcount(cards & (cards >> 3) & EACH_RANK)
    )
    return 2 * pairs


@small_njit
def count_runs(cards: int) -> int:
    """Points for the longest run among at most five cards, once for each way to make it."""
    ranks = (cards | (cards >> 1) | (cards >> 2) | (cards >> 3)) & EACH_RANK
    starts = ranks & (ranks >> 4) & (ranks >> 8)
    length = 3
    while starts:
        longer = starts & (ranks >> (4 * length))
        if longer == 0:
            break
        starts = longer
        length += 1
    if starts == 0:
        return 0
    points = length
    first = lowest(starts) >> 2
    for rank in range(first, first + length):
        points *= rank_count(cards, rank)
    return points


@small_njit
def count_flush(hand: int, starter: int, needs_starter: bool, may_be_short: bool) -> int:
    """Points for a flush: the hand's cards alone, and the starter with them."""
    size = popcount(hand)
    if size < 4 and not (size == 3 and may_be_short):
        return 0
    suit = lowest(hand) & 3
    if hand & ~(EACH_RANK << suit):
        return 0
    if (starter & 3) == suit:
        return size + 1
    return 0 if needs_starter else size


@small_njit
def count_nobs(hand: int, starter: int) -> int:
    """One point for the jack of the starter's suit."""
    return (hand >> (4 * JACK + (starter & 3))) & 1


@small_njit
def rank_points(cards: int) -> int:
    """Points that depend on ranks alone: fifteens, pairs and runs."""
    return count_fifteens(cards) + count_pairs(cards) + count_runs(cards)


@small_njit
def suit_points(hand: int, starter: int, is_crib: bool, rules: np.ndarray) -> int:
    """Points that depend on suits: flush and nobs."""
    needs_starter = is_crib and rules[CRIB_FLUSH_FOUR] == 0
    may_be_short = rules[SHORT_FLUSH] != 0 and not is_crib
    flush = count_flush(hand, starter, needs_starter, may_be_short)
    return flush + count_nobs(hand, starter)


@small_njit
def suit_points_of_all(hand: int, starters: int, rules: np.ndarray) -> int:
    """`suit_points` of a hand, added up over a set of starters, none of them in the hand."""
    points = 0
    if hand & ~(EACH_RANK << (lowest(hand) & 3)) == 0:
        for suit in range(4):
            of_suit = starters & (EACH_RANK << suit)
            if of_suit:
                points += popcount(of_suit) * suit_points(hand, lowest(of_suit), False, rules)
        return points
    for suit in range(4):  # no flush, so only his nobs are left
        points += count_nobs(hand, suit) * popcount(starters & (EACH_RANK << suit))
    return points


@lean_njit
def show_points(hand: int, starter: int, is_crib: bool, rules: np.ndarray) -> int:
    """The points of a hand or crib with the starter."""
    return rank_points(hand | (1 << starter)) + suit_points(hand, starter, is_crib, rules)


@lean_njit
def show_parts(
    hand: int, starter: int, is_crib: bool, rules: np.ndarray
) -> tuple[int, int, int, int, int]:
    """Fifteens, pairs, runs, flush and nobs of a hand or crib, in points."""
    cards = hand | (1 << starter)
    nobs = count_nobs(hand, starter)
    flush = suit_points(hand, starter, is_crib, rules) - nobs
    return count_fifteens(cards), count_pairs(cards), count_runs(cards), flush, nobs


@small_njit
def play_parts(series: int, length: int, count: int) -> tuple[int, int, int, int]:
    """Points of the last card of a series: fifteen, thirty-one, pairs, run.

    Args:
        series: ranks in hexadecimal digits, the last card in the lowest.
        length: cards in the series.
        count: what they add up to.
    """
    fifteen = 2 if count == 15 else 0
    thirty_one = 2 if count == 31 else 0
    last = series & 15
    # Digits that differ from the last are not nothing, nor is the one before the series.
    same = trailing_zeros((series ^ last * _ONE_EACH) | 1 << 4 * length) >> 2
    pairs = same * (same - 1)
    run = 0
    ranks = 1 << last | 1 << ((series >> 4) & 15)
    for size in range(3, length + 1):
        ranks |= 1 << ((series >> (4 * (size - 1))) & 15)
        if ranks >> lowest(ranks) == (1 << size) - 1:  # as many ranks as cards, side by side
            run = size
    return fifteen, thirty_one, pairs, run


@dataclass(frozen=True)
class Combination:
    """Cards that score together.

    Attributes:
        kind: ``fifteen``, ``pair``, ``run``, ``flush`` or ``nobs``.
        cards: the cards.
        points: what they score.
    """

    kind: str
    cards: tuple[Card, ...]
    points: int

    def __str__(self) -> str:
        return f"{self.kind} {text(self.cards)} for {self.points}"


@dataclass(frozen=True)
class ShowScore:
    """What a hand or crib shows, in points.

    Attributes:
        fifteens, pairs, runs, flush, nobs: points by kind.
        combinations: which cards make them.
    """

    fifteens: int
    pairs: int
    runs: int
    flush: int
    nobs: int
    combinations: tuple[Combination, ...]

    @property
    def total(self) -> int:
        """All points."""
        return self.fifteens + self.pairs + self.runs + self.flush + self.nobs


@dataclass(frozen=True)
class PeggingScore:
    """What the last card of a series scores, in points, without go and last card."""

    fifteen: int
    thirty_one: int
    pairs: int
    run: int
    count: int

    @property
    def total(self) -> int:
        """All points of the card."""
        return self.fifteen + self.thirty_one + self.pairs + self.run


def show_score(
    hand: str | Iterable[str | int],
    starter: str | int,
    is_crib: bool = False,
    rules: str | Rules = "six-card",
) -> ShowScore:
    """Score a hand or crib with the starter, and say which cards score.

    Args:
        hand: two to four cards, without the starter.
        starter: the card turned up.
        is_crib: a crib's flush needs the starter too.
        rules: the rules of the game.

    Raises:
        InvalidCardError: for a bad card, a card twice, or a hand of another size.

    >>> best = show_score("5H 5S 5D JC", starter="5C")
    >>> best.total, best.fifteens, best.pairs, best.nobs
    (29, 16, 12, 1)
    >>> print(show_score("4C 5C 6D JC", "9D").combinations[0])
    fifteen 5C JC for 2
    """
    cards = parse_cards(hand)
    turned = Card(starter)
    if not 2 <= len(cards) <= 4:
        raise InvalidCardError(f"a hand or crib shows 2 to 4 cards, not {len(cards)}")
    if turned in cards:
        raise InvalidCardError(f"{turned} is both the starter and in the hand")
    row = get_rules(rules).to_array()
    parts = show_parts(to_mask(cards), int(turned), is_crib, row)
    fifteens, pairs, runs, flush, nobs = (int(part) for part in parts)
    found = _combinations(cards, turned, runs, flush, nobs)
    return ShowScore(fifteens, pairs, runs, flush, nobs, found)


def _combinations(
    hand: tuple[Card, ...], starter: Card, runs: int, flush: int, nobs: int
) -> tuple[Combination, ...]:
    """The cards behind the points, found by asking the scorer about each subset."""
    cards = from_mask(to_mask((*hand, starter)))
    subsets = [subset for size in range(2, len(cards) + 1) for subset in combinations(cards, size)]
    found = [
        Combination("fifteen", subset, 2)
        for subset in subsets
        if sum(card.pip for card in subset) == 15
    ]
    found += [
        Combination("pair", two, 2)
        for two in subsets
        if len(two) == 2 and count_pairs(to_mask(two))
    ]
    if runs:
        whole = [subset for subset in subsets if count_runs(to_mask(subset)) == len(subset)]
        longest = max(len(run) for run in whole)
        found += [Combination("run", run, longest) for run in whole if len(run) == longest]
    if flush:
        suited = cards if flush == len(cards) else from_mask(to_mask(hand))
        found.append(Combination("flush", suited, flush))
    if nobs:
        jack = next(card for card in hand if card.rank == JACK and card.suit == starter.suit)
        found.append(Combination("nobs", (jack,), nobs))
    return tuple(found)


def pegging_score(series: str | Iterable[str | int]) -> PeggingScore:
    """Score the last card of a series, without the points for go or last card.

    Args:
        series: the cards since the last reset, in the order played.

    Raises:
        InvalidCardError: for a bad card, none, or a series that passes 31.

    >>> score = pegging_score(["4C", "6D", "5H"])
    >>> score.total, score.fifteen, score.run
    (5, 2, 3)
    """
    cards = parse_cards(series)
    if not cards:
        raise InvalidCardError("a series has at least one card")
    count = sum(card.pip for card in cards)
    if count > 31:
        raise InvalidCardError(f"a series may not pass 31, but {text(cards)} makes {count}")
    packed = 0
    for card in cards:
        packed = packed << 4 | card.rank
    parts = play_parts(packed, len(cards), count)
    fifteen, thirty_one, pairs, run = (int(part) for part in parts)
    return PeggingScore(fifteen, thirty_one, pairs, run, count)
