"""Cards as texts and numbers, and what people get wrong about them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from crib_env import Card, CribbageError, InvalidCardError
from crib_env.cards import (
    CARDS,
    FULL_DECK,
    RANKS,
    SUITS,
    from_mask,
    iterate,
    parse_cards,
    text,
    to_mask,
)


def test_index_rank_suit_and_pip() -> None:
    for index, card in enumerate(CARDS):
        assert card == index == 4 * card.rank + card.suit
        assert str(card) == RANKS[card.rank] + SUITS[card.suit]
        assert Card(str(card)) == Card(index) == card
        assert card.pip == (card.rank + 1 if card.rank < 9 else 10)
    assert [str(card) for card in CARDS[:5]] == ["AC", "AD", "AH", "AS", "2C"]
    assert str(CARDS[51]) == "KS"
    assert len(set(CARDS)) == 52


@pytest.mark.parametrize(
    "written",
    ["TH", "th", "Th", "10H", "10h", " 10H ", "T♥", "10♥", "T♡", "10♥\ufe0f", "tH\n"],
)
def test_ways_to_write_a_card(written: str) -> None:
    assert Card(written) == Card("TH")


@pytest.mark.parametrize(("sign", "suit"), list(zip("♣♦♥♠♧♢♡♤", "CDHSCDHS")))
def test_suit_signs(sign: str, suit: str) -> None:
    assert str(Card("Q" + sign)) == "Q" + suit


@pytest.mark.parametrize(
    "written",
    ["", " ", "5", "H", "H5", "1H", "0H", "11H", "100H", "5X", "5HH", "5 H", "joker", "go", "1OH",
     "\x00\x00", "５H", "5H KS"],
)  # fmt: skip
def test_texts_that_are_no_cards(written: str) -> None:
    with pytest.raises(InvalidCardError, match="is not a card: write a rank") as refused:
        Card(written)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "value",
    [-1, 52, 10**20, True, False, 1.5, float("nan"), float("inf"), None, [], {}, b"5H", ("5H",),
     np.array([1, 2])],
    ids=repr,
)  # fmt: skip
def test_values_that_are_no_cards(value: object) -> None:
    with pytest.raises(InvalidCardError, match="is not a card"):
        Card(value)  # type: ignore[arg-type]


def test_numbers_of_other_kinds_are_cards() -> None:
    assert Card(np.int64(18)) == Card(18.0) == Card(Card("5H")) == Card("5H")  # type: ignore[arg-type]


def test_a_card_is_a_value() -> None:
    card = Card("5H")
    assert repr(card) == "Card('5H')"
    assert eval(repr(card)) == card
    assert pickle.loads(pickle.dumps(card)) == card
    assert type(pickle.loads(pickle.dumps(card))) is Card
    assert type(copy.deepcopy(card)) is Card
    assert hash(card) == hash(18)
    assert card < Card("5S") < Card("6C")


def test_lists_of_cards() -> None:
    expected = (Card("5H"), Card("TS"), Card("AC"))
    written: Any
    for written in ("5H TS AC", "5h,10s,ac", " 5H,  TS\tAC\n", ["5H", 39, Card("AC")], (18, 39, 0)):
        assert parse_cards(written) == expected
    assert parse_cards("") == parse_cards([]) == ()


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ("5H 5h", "5H comes twice"),
        (["TS", 3, "10S"], "TS comes twice"),
        ("5H XX", "'XX' is not a card"),
        ([None], "None is not a card"),
        ([[1]], r"\[1\] is not a card"),
        (3, "3 is not a list of cards"),
        (None, "None is not a list of cards"),
    ],
)
def test_lists_that_are_wrong(cards: object, words: str) -> None:
    with pytest.raises(InvalidCardError, match=words):
        parse_cards(cards)  # type: ignore[arg-type]


def test_sets() -> None:
    cards = parse_cards("KS 5H AC")
    mask = to_mask(cards)
    assert mask == 1 << 51 | 1 << 18 | 1
    assert from_mask(mask) == tuple(iterate(mask)) == parse_cards("AC 5H KS")
    assert from_mask(FULL_DECK) == CARDS
    assert from_mask(0) == ()
    assert from_mask(np.int64(5)) == parse_cards("AC AH")  # type: ignore[arg-type]
    assert text(cards) == "KS 5H AC"
    assert text([]) == ""


def test_all_our_errors_are_value_errors() -> None:
    assert issubclass(CribbageError, ValueError)
    assert issubclass(InvalidCardError, CribbageError)
