"""The rules once more, as slow and plain as can be, to hold the engine against.

Nothing here knows the library: a card is its text, a hand is a list of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

RANKS = "A23456789TJQK"
DECK = [rank + suit for rank in RANKS for suit in "CDHS"]


def order(card: str) -> int:
    return RANKS.index(card[0]) + 1


def value(card: str) -> int:
    return min(10, order(card))


def is_run(cards: Sequence[str]) -> bool:
    ranks = sorted(order(card) for card in cards)
    return len(cards) >= 3 and ranks == list(range(ranks[0], ranks[0] + len(ranks)))


def show(hand: Sequence[str], starter: str, crib: bool) -> dict[str, int]:
    """Points by kind of four cards with the starter."""
    cards = [*hand, starter]
    subsets = [subset for size in range(2, 6) for subset in combinations(cards, size)]
    runs = 0
    for size in (5, 4, 3):
        found = sum(len(subset) == size and is_run(subset) for subset in subsets)
        if found:
            runs = size * found
            break
    suits = {card[1] for card in hand}
    flush = 0
    if len(suits) == 1:
        flush = 5 if starter[1] in suits else (0 if crib else 4)
    return {
        "fifteens": 2 * sum(sum(map(value, subset)) == 15 for subset in subsets),
        "pairs": 2 * sum(len(two) == 2 and two[0][0] == two[1][0] for two in subsets),
        "runs": runs,
        "flush": flush,
        "nobs": int("J" + starter[1] in hand),
    }


def play(series: Sequence[str]) -> dict[str, int]:
    """Points by kind of the last card of a series, without go and last card."""
    count = sum(map(value, series))
    same = 1
    while same < len(series) and series[-1 - same][0] == series[-1][0]:
        same += 1
    run = next((n for n in range(len(series), 2, -1) if is_run(series[-n:])), 0)
    return {
        "fifteen": 2 * (count == 15),
        "thirty_one": 2 * (count == 31),
        "pairs": same * (same - 1),
        "run": run,
    }


Line = tuple[tuple[int, str], ...]


def playouts(
    hands: Sequence[Sequence[str]],
    to_act: int,
    series: tuple[str, ...] = (),
    last: int = -1,
    points: tuple[int, ...] = (),
    line: Line = (),
) -> Iterator[tuple[Line, tuple[int, ...]]]:
    """Every way to play hands out: who laid what in which order, and the points by seat."""
    seats = len(hands)
    points = points or (0,) * seats
    if not any(hands):
        yield line, points
        return
    count = sum(map(value, series))
    fits = [card for card in hands[to_act] if count + value(card) <= 31]
    following = (to_act + 1) % seats
    if not fits and to_act == last:  # everybody has passed
        yield from playouts(hands, following, (), -1, _add(points, last, 1), line)
    elif not fits:
        yield from playouts(hands, following, series, last, points, line)
    for card in fits:
        rest = [[c for c in hand if c != card] for hand in hands]
        table = (*series, card)
        gained = sum(play(table).values())
        full = count + value(card) == 31
        if not any(rest) and not full:
            gained += 1  # last card
        yield from playouts(
            rest,
            following,
            () if full else table,
            -1 if full else to_act,
            _add(points, to_act, gained),
            (*line, (to_act, card)),
        )


def _add(points: tuple[int, ...], seat: int, more: int) -> tuple[int, ...]:
    return tuple(n + more * (at == seat) for at, n in enumerate(points))
