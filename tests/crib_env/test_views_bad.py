"""Views that no game can come to: one clear line each, and never anything but our errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import (
    Card,
    CribbageError,
    Game,
    InvalidCardError,
    InvalidRulesError,
    InvalidViewError,
    SeatView,
)
from crib_env.cards import parse_cards

Message = dict[str, Any]

DISCARD: Message = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "2S", "9D", "KH", "AS"]}
PLAY: Message = {
    "seat": 0,
    "dealer": 1,
    "scores": [45, 52],
    "hand": ["5H", "JC"],
    "discards": ["2S", "9D"],
    "starter": "KH",
    "plays": [[0, "7C"], [1, "8D"], [0, "6C"], [1, "go"]],
}


def test_the_two_that_are_varied_here_are_good() -> None:
    assert SeatView.from_json(DISCARD).phase == "discard"
    assert SeatView.from_json(PLAY).phase == "play"


IMPOSSIBLE: dict[str, tuple[Message, dict[str, Any], str]] = {
    "a card twice in the hand": (
        DISCARD,
        {"hand": ["5H", "5H", "2S", "9D", "KH", "AS"]},
        "5H comes twice",
    ),
    "a card in hand and thrown": (PLAY, {"discards": ["5H", "9D"]}, "5H comes twice"),
    "a card in hand and turned up": (PLAY, {"starter": "5H"}, "5H comes twice"),
    "a card played that is held": (
        PLAY,
        {"plays": [[0, "7C"], [1, "5H"], [0, "6C"]]},
        "5H comes twice",
    ),
    "a card played twice": (
        PLAY,
        {"plays": [[0, "7C"], [1, "7C"], [0, "6C"]]},
        "7C comes twice",
    ),
    "seven cards": (
        DISCARD,
        {"hand": ["5H", "JC", "2S", "9D", "KH", "AS", "2D"]},
        "6 cards are dealt, but the view has 7 in hand and 0 thrown",
    ),
    "five cards": (DISCARD, {"hand": ["5H", "JC", "2S", "9D", "KH"]}, "6 cards are dealt"),
    "three thrown": (PLAY, {"discards": ["2S", "9D", "3C"]}, "each seat throws 2"),
    "too many cards in the play": (
        PLAY,
        {"hand": ["5H", "JC", "3C"]},
        "seat 0 keeps 4 cards for the play, but holds 3 and has laid 2",
    ),
    "too few cards in the play": (PLAY, {"hand": ["5H"]}, "holds 1 and has laid 2"),
    "more cards laid than kept": (
        PLAY,
        {
            "hand": ["QC", "JC"],
            "plays": [
                [0, "KC"],
                [1, "2D"],
                [0, "TC"],
                [1, "3D"],
                [0, "go"],
                [1, "2H"],
                [1, "3H"],
                [1, "AC"],
            ],
        },
        "seat 1 lays AC but has no card left",
    ),
    "a card after the last": (
        PLAY,
        {
            "hand": [],
            "plays": [
                [0, "7C"],
                [1, "AD"],
                [0, "2C"],
                [1, "AC"],
                [0, "3C"],
                [1, "AH"],
                [0, "4C"],
                [1, "2D"],
                [1, "3D"],
            ],
        },
        "seat 1 lays 3D after the play has ended",
    ),
    "a card that passes 31": (
        PLAY,
        {"hand": ["2H"], "plays": [[0, "KC"], [1, "QD"], [0, "9C"], [1, "3D"], [0, "5C"]]},
        "seat 1 lays 3D on a count of 29, which makes 32, past 31, but seat 0 passed on a count "
        "of 29 but held 2H",
    ),
    "a pass with a card of one's own that fits": (
        PLAY,
        {"plays": [[0, "7C"], [1, "8D"], [0, "go"]], "hand": ["5H", "JC", "6C"]},
        "seat 0 passed on a count of 15 but held",
    ),
    "a pass with a card that is laid later": (
        PLAY,
        {
            "plays": [[0, "7C"], [1, "8D"], [0, "9C"], [1, "go"], [0, "5H"], [1, "2D"]],
            "hand": ["JC"],
        },
        "seat 1 passed on a count of 24 but held 2D",
    ),
    "a go and then a card": (
        PLAY,
        {"plays": [[0, "7C"], [1, "8D"], [0, "9C"], [1, "go"], [1, "7H"]], "hand": ["JC", "8H"]},
        "seat 1 ",
    ),
    "a go before the first card": (PLAY, {"plays": [[0, "go"]]}, "seat 0 "),
    "a go on an empty count": (
        PLAY,
        {"plays": [[0, "go"]], "hand": ["5H", "JC", "7C", "6C"]},
        "seat 0 says go on an empty count",
    ),
    "the dealer leads": (
        PLAY,
        {"plays": [[1, "8D"]], "hand": ["5H", "JC", "7C", "6C"]},
        "seat 1 leads 8D, but seat 0 leads",
    ),
    "the wrong seat leads after thirty-one": (
        PLAY,
        {"plays": [[0, "KC"], [1, "QD"], [0, "AC"], [1, "TD"], [1, "2D"]]},
        "seat 1 leads 2D, but seat 0 leads",
    ),
    "one seat plays twice": (
        PLAY,
        {"plays": [[0, "7C"], [0, "6C"]]},
        "seat 1 cannot have passed on a count of 7",
    ),
    "two sides have won": (PLAY, {"scores": [121, 121]}, "only one side can have reached"),
    "a score past the target": (PLAY, {"scores": [45, 122]}, "a score goes from 0 to 121, not 122"),
    "a score below nothing": (PLAY, {"scores": [-1, 0]}, "a score goes from 0 to 121, not -1"),
    "a score too many": (PLAY, {"scores": [1, 2, 3]}, "there are 2 scores, not 3"),
    "no scores": (PLAY, {"scores": []}, "there are 2 scores, not 0"),
    "no such seat": (PLAY, {"seat": 2}, "seat goes from 0 to 1, not 2"),
    "no such dealer": (PLAY, {"dealer": -1}, "dealer goes from 0 to 1, not -1"),
    "a play by no seat": (PLAY, {"plays": [[2, "7C"]]}, "a play by seat 2, but there are 2 seats"),
    "a play of three parts": (PLAY, {"plays": [[0, "7C", 1]]}, r"a play is \[seat, card\]"),
    "a play that is a card": (PLAY, {"plays": ["7C"]}, r"a play is \[seat, card\]"),
    "a play by nobody": (PLAY, {"plays": [[None, "7C"]]}, "a play begins with a seat, not None"),
    "plays that are no list": (PLAY, {"plays": "7C"}, "plays is a list, not '7C'"),
    "a hand that is a text": (PLAY, {"hand": "5H JC"}, "hand is a list, not '5H JC'"),
    "earlier cards of one seat": (PLAY, {"earlier": [1]}, "earlier cards are counted for 2 seats"),
    "earlier cards past the hand": (PLAY, {"earlier": [0, 5]}, "lays up to 4 cards, not 5"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_view_is_refused_in_one_line(what: str) -> None:
    message, change, words = IMPOSSIBLE[what]
    with pytest.raises(InvalidViewError, match=words) as refused:
        SeatView.from_json(message | change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["seat", "dealer", "hand"])
def test_what_cannot_be_missing(name: str) -> None:
    message = {key: value for key, value in PLAY.items() if key != name}
    with pytest.raises(InvalidViewError, match=f"a view needs '{name}'"):
        SeatView.from_json(message)


def test_texts_that_are_no_cards_and_rules_that_are_none() -> None:
    with pytest.raises(InvalidCardError, match="'1H' is not a card"):
        SeatView.from_json(PLAY | {"starter": "1H"})
    with pytest.raises(InvalidCardError, match="'X' is not a card"):
        SeatView.from_json(PLAY | {"hand": ["5H", "X"]})
    with pytest.raises(InvalidRulesError, match="no rules named 'bridge'"):
        SeatView.from_json(PLAY | {"rules": "bridge"})


NEVER_GOOD: dict[str, list[Any]] = {
    "seat": [True, 0.0, None, "0", [], {}, 10**30, -1],
    "dealer": [False, 1.0, None, "1", [], {}, 10**30, -1],
    "hand": [True, 1.5, None, "5H", {}, [None], [True], [1.5], [[]], ["5H", 99], [-1], [{}]],
    "scores": [True, 1.5, None, "1", {}, [None, 0], [True, 0], [0.0, 0], ["0", 0], [[], []]],
    "discards": [True, 1.5, None, "5H", {}, [None], [False], [1.5], [[]], ["5h"], [{}]],
    "starter": [True, 1.5, "", "go", [], {}, 52, -1],
    "plays": [True, 1.5, None, "go", {}, [None], [[]], [[0]], [[True, "7C"]], [["0", "7C"]],
              [[0, None]], [[0, True]], [[0, 1.5]], [[0.0, "7C"]], [[0, ["7C"]]], [{}],
              [{"seat": 0, "card": "7C"}]],
    "earlier": [True, 1.5, None, "1", {}, [None, 0], [True, 0], [0.0, 0], ["0", 0], [-1, 0]],
    "rules": [True, 1.5, None, 3, [], "", {"players": 5}, {"players": None}, {"target": "121"},
              {"target": True}, {"nonsense": 1}, {"preset": None}, {"preset": []}, {1: 2}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in NEVER_GOOD.items() for value in values],
    ids=repr,
)
@pytest.mark.parametrize("message", [DISCARD, PLAY], ids=["discard", "play"])
def test_values_of_the_wrong_kind(message: Message, name: str, value: Any) -> None:
    with pytest.raises(CribbageError) as refused:
        SeatView.from_json(message | {name: value})
    assert str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("message", [None, 3, "view", [], [DISCARD], True, 1.5])
def test_what_is_no_mapping(message: Any) -> None:
    with pytest.raises(InvalidViewError):
        SeatView.from_json(message)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["5H", "JC", "go", "GO", "10h", "AS", "KD", "2C", "six-card"]),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)
CARDS = st.sampled_from([str(Card(i)) for i in range(52)])
LIKE_PLAYS = st.lists(st.tuples(st.integers(-1, 3), CARDS | st.just("go")).map(list), max_size=12)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "seat": st.integers(0, 3) | ANYTHING,
    "dealer": st.integers(0, 3) | ANYTHING,
    "hand": st.lists(CARDS, max_size=7) | ANYTHING,
    "scores": st.lists(st.integers(-1, 130), max_size=4) | ANYTHING,
    "discards": st.lists(CARDS, max_size=3) | ANYTHING,
    "starter": CARDS | ANYTHING,
    "plays": LIKE_PLAYS | ANYTHING,
    "earlier": st.lists(st.integers(-1, 5), max_size=4) | ANYTHING,
    "rules": st.fixed_dictionaries(
        {},
        optional={
            "players": st.integers(1, 5),
            "dealt": st.integers(1, 7),
            "thrown": st.integers(0, 3),
            "blind": st.integers(0, 2),
            "teams": st.booleans(),
            "target": st.integers(0, 200),
            "go_continuation": st.sampled_from(["all", "first_after_go"]),
            "play_single_count": st.booleans(),
            "preset": ANYTHING,
        },
    )
    | ANYTHING,
}


def use_or_refuse(message: Any) -> None:
    """A view is refused by one of our errors, or answers everything that one may ask it."""
    try:
        view = SeatView.from_json(message)
    except CribbageError:
        return
    _ = (view.phase, view.count, view.held, view.series, view.to_act, repr(view))
    assert SeatView.from_json(view.to_json()) == view
    try:
        view.legal()
    except InvalidViewError:
        assert view.to_act != view.seat  # it is not that seat's turn, and cannot be


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*FIELDS, "target", "players", "x"]), ANYTHING) | ANYTHING)
def test_nothing_but_our_errors_comes_of_anything(message: Any) -> None:
    use_or_refuse(message)


@settings(max_examples=500, deadline=None)
@given(st.fixed_dictionaries({}, optional=FIELDS), st.sampled_from([{}, DISCARD, PLAY]))
def test_nothing_but_our_errors_comes_of_what_is_nearly_a_view(
    change: Message, message: Message
) -> None:
    use_or_refuse(message | change)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 80), st.data())
def test_a_real_view_with_one_entry_changed(seed: int, steps: int, data: st.DataObject) -> None:
    game = Game(seed=seed)
    for _ in range(steps):
        if not game.is_over:
            game.apply(game.legal_actions()[seed % len(game.legal_actions())])
    message = game.view(game.to_act).to_json()
    plays = message.get("plays", [])
    if plays:
        at = data.draw(st.integers(0, len(plays) - 1))
        entry = data.draw(st.tuples(st.integers(0, 1), CARDS | st.just("go")).map(list))
        what = data.draw(st.sampled_from(["change", "insert", "drop", "swap"]))
        if what == "change":
            plays[at] = entry
        elif what == "insert":
            plays.insert(at, entry)
        elif what == "drop":
            del plays[at]
        else:
            plays[at], plays[-1] = plays[-1], plays[at]
    else:
        message["hand"][0] = data.draw(CARDS)
    use_or_refuse(message)


def test_views_made_by_hand_are_checked_alike() -> None:
    with pytest.raises(InvalidViewError, match="5H comes twice"):
        SeatView(seat=0, dealer=1, hand=(Card("5H"),) * 6)
    with pytest.raises(InvalidViewError, match="6 cards are dealt"):
        SeatView(seat=0, dealer=1, hand=parse_cards("5H 6H 7H 8H 9H"))
