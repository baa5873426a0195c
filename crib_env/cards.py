"""Cards: an ``int`` from 0 to 51 that reads and writes itself as ``5H``.

The index is ``4 * rank + suit`` with rank 0 the ace and the suits in the order
clubs, diamonds, hearts, spades. A set of cards is an ``int`` with one bit per
card, so that the engine can keep a hand in one machine word.

>>> Card("5H"), int(Card("5H")), Card("10s"), Card("Q♦").pip
(Card('5H'), 18, Card('TS'), 10)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crib_env.errors import InvalidCardError

RANKS = "A23456789TJQK"
SUITS = "CDHS"
N_CARDS = 52
FULL_DECK = (1 << N_CARDS) - 1
JACK = RANKS.index("J")

_SUIT_SIGNS = {"♣": "C", "♦": "D", "♥": "H", "♠": "S", "♧": "C", "♢": "D", "♡": "H", "♤": "S"}


class Card(int):
    """One card of the 52.

    Args:
        value: a text (``"5H"``, ``"10h"``, ``"T♥"``) or an index from 0 to 51.

    Raises:
        InvalidCardError: when the value names no card.
    """

    def __new__(cls, value: str | int) -> Card:
        """A card from its text or index."""
        index = _parse(value) if isinstance(value, str) else _checked(value)
        return super().__new__(cls, index)

    @property
    def rank(self) -> int:
        """0 for the ace to 12 for the king."""
        return int(self) >> 2

    @property
    def suit(self) -> int:
        """0 clubs, 1 diamonds, 2 hearts, 3 spades."""
        return int(self) & 3

    @property
    def pip(self) -> int:
        """What the card counts: 1 for the ace, 10 for tens and court cards."""
        return min(self.rank + 1, 10)

    def __str__(self) -> str:
        return RANKS[self.rank] + SUITS[self.suit]

    def __repr__(self) -> str:
        return f"Card('{self}')"

    def __getnewargs__(self) -> tuple[int]:
        return (int(self),)


def _parse(text: str) -> int:
    cleaned = text.strip().upper()
    for sign, letter in _SUIT_SIGNS.items():
        cleaned = cleaned.replace(sign, letter)
    cleaned = cleaned.replace("\ufe0f", "")  # the selector that turns a suit sign into a picture
    if cleaned.startswith("10"):
        cleaned = "T" + cleaned[2:]
    if len(cleaned) != 2 or cleaned[0] not in RANKS or cleaned[1] not in SUITS:
        raise InvalidCardError(
            f"{text!r} is not a card: write a rank (A 2-9 T J Q K) and a suit (C D H S), as in 5H"
        )
    return 4 * RANKS.index(cleaned[0]) + SUITS.index(cleaned[1])


def _checked(value: int) -> int:
    try:
        index = int(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidCardError(f"{value!r} is not a card") from None
    if isinstance(value, bool) or index != value or not 0 <= index < N_CARDS:
        raise InvalidCardError(f"{value!r} is not a card: an index goes from 0 (AC) to 51 (KS)")
    return index


CARDS: tuple[Card, ...] = tuple(Card(i) for i in range(N_CARDS))
"""All 52, by index."""


def parse_cards(cards: str | Iterable[str | int]) -> tuple[Card, ...]:
    """Cards from a text or a sequence, all different.

    Args:
        cards: ``"5H 5S JC"``, ``"5H,5S"`` or a sequence of texts and indices.

    Raises:
        InvalidCardError: when one is not a card or comes twice.

    >>> parse_cards("5h 10s")
    (Card('5H'), Card('TS'))
    """
    parts: Iterable[str | int] = (
        cards.replace(",", " ").split() if isinstance(cards, str) else cards
    )
    try:
        found = tuple(Card(part) for part in parts)
    except TypeError:
        raise InvalidCardError(f"{cards!r} is not a list of cards") from None
    seen: set[int] = set()
    for card in found:
        if card in seen:
            raise InvalidCardError(f"{card} comes twice")
        seen.add(card)
    return found


def to_mask(cards: Iterable[int]) -> int:
    """A card set as bits: bit ``i`` is set where card ``i`` is in the set.

    >>> to_mask([0, 2])
    5
    """
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


def from_mask(mask: int) -> tuple[Card, ...]:
    """The cards of a set, in ascending order.

    >>> from_mask(5)
    (Card('AC'), Card('AH'))
    """
    return tuple(iterate(mask))


def iterate(mask: int) -> Iterator[Card]:
    """Each card of a set, in ascending order."""
    rest = int(mask)
    while rest:
        low = rest & -rest
        yield CARDS[low.bit_length() - 1]
        rest ^= low


def text(cards: Iterable[int]) -> str:
    """Cards for people.

    >>> text([18, 51])
    '5H KS'
    """
    return " ".join(str(CARDS[card]) for card in cards)
