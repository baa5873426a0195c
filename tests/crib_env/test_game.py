"""`Game`: what one may ask it, what it answers, and how it refuses."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import (
    CribbageError,
    Game,
    IllegalActionError,
    InvalidCardError,
    InvalidRulesError,
    InvalidViewError,
    Rules,
    pegging_score,
    show_score,
)
from crib_env import state as S
from crib_env.cards import CARDS, Card, parse_cards
from crib_env.state import EventKind
from tests.crib_env.support import VARIANTS, deck_for, game_in_play, random_decisions, random_game

HANDS = {0: "5H 5S 6D JC KD AC", 1: "4H 7S 8D TC QD 2C"}


def small_game(**options: Any) -> Game:
    """Seat 0 deals; both hands and the starter are known."""
    return Game(seed=1, dealer=0, deck=deck_for(HANDS, 0, "9H"), **options)


# The deal


def test_a_game_begins_with_the_throw_of_pone() -> None:
    game = small_game()
    assert (game.dealer, game.to_act, game.deal, game.phase) == (0, 1, 1, "discard")
    assert game.scores == (0, 0)
    assert game.starter is None
    assert game.winner is None
    assert not game.is_over
    assert game.count == 0
    assert game.actions == ()
    assert [event.kind for event in game.events] == [EventKind.DEAL]
    assert game.legal_actions() == sorted(parse_cards(HANDS[1]))
    assert game.hand(0) == tuple(sorted(parse_cards(HANDS[0])))


def test_a_deck_is_dealt_one_card_at_a_time_from_the_dealers_left() -> None:
    deck = list(CARDS[:13])
    game = Game(dealer=1, deck=deck)
    assert game.hand(0) == tuple(deck[0:12:2])
    assert game.hand(1) == tuple(deck[1:12:2])
    while game.phase == "discard":
        game.apply(game.legal_actions()[0])
    assert game.starter == deck[12]
    three = Game(VARIANTS["three"], dealer=2, deck=deck)
    for seat in range(3):
        assert set(deck[seat::3]) <= set(three.hand(seat))


def test_a_deck_may_be_given_in_part() -> None:
    game = Game(seed=4, dealer=0, deck="KS KD")
    assert Card("KS") in game.hand(1)
    assert Card("KD") in game.hand(0)
    cards = {*game.hand(0), *game.hand(1)}
    assert len(cards) == 12
    whole, needed = Game(deck=CARDS, dealer=0), Game(deck=CARDS[:13], dealer=0)
    assert [whole.hand(seat) for seat in (0, 1)] == [needed.hand(seat) for seat in (0, 1)]


def test_each_seat_throws_both_cards_in_turn() -> None:
    game = small_game()
    turns = []
    for card in ("2C", "4H", "AC", "KD"):
        turns.append(game.to_act)
        game.apply(card)
    assert turns == [1, 1, 0, 0]
    assert game.phase == "play"
    assert game.to_act == 1
    assert game.starter == Card("9H")
    assert game.actions == parse_cards("2C 4H AC KD")


def test_without_a_seed_games_differ() -> None:
    assert len({tuple(Game().hand(0)) for _ in range(20)}) > 15
    assert Game().seed != Game().seed


def test_the_first_dealer_is_drawn_by_the_seed() -> None:
    assert {Game(seed=seed).dealer for seed in range(20)} == {0, 1}
    assert {Game(seed=seed, dealer=1).dealer for seed in range(20)} == {1}


# The play


def test_pegging_and_its_events() -> None:
    game = game_in_play({0: "5H 5S 6D JC", 1: "TC 7S 8D QD"}, 0)
    game.apply("TC")
    assert game.count == 10
    assert [str(event) for event in game.last_events] == ["seat 1 plays TC (10)"]
    game.apply("5h")
    assert [str(event) for event in game.last_events] == [
        "seat 0 plays 5H (15)",
        "seat 0 fifteen 5H TC for 2",
    ]
    assert game.scores == (2, 0)
    fifteen = game.last_events[-1]
    assert (fifteen.kind, fifteen.seat, fifteen.points, fifteen.worth, fifteen.count) == (
        EventKind.FIFTEEN,
        0,
        2,
        2,
        15,
    )
    assert fifteen.cards == parse_cards("5H TC")
    game.apply("7S")
    game.apply("6D")
    assert [str(event) for event in game.last_events] == [
        "seat 0 plays 6D (28)",
        "seat 0 a run 5H 6D 7S for 3",
        "seat 1 says go (28)",
        "seat 0 a go 6D for 1",
    ]
    assert game.to_act == 1
    assert game.scores == (6, 0)


def test_a_go_is_an_event_and_never_an_action() -> None:
    game = game_in_play({0: "TC TD AH AS", 1: "KC KD 2H 9S"}, 0)
    for card in ("KC", "TC"):
        game.apply(card)
    game.apply("9S")
    assert [str(event) for event in game.last_events] == ["seat 1 plays 9S (29)"]
    game.apply("AH")
    assert [str(event) for event in game.last_events] == [
        "seat 0 plays AH (30)",
        "seat 1 says go (30)",
    ]
    assert game.to_act == 0
    game.apply("AS")
    assert [str(event) for event in game.last_events] == [
        "seat 0 plays AS (31)",
        "seat 0 thirty-one AH AS 9S TC KC for 2",
        "seat 0 pairs AH AS for 2",
    ]
    assert game.to_act == 1  # who did not play last leads
    assert game.count == 0


def test_the_last_card_the_show_and_the_next_deal_follow_by_themselves() -> None:
    game = small_game()
    for card in ("2C", "4H", "AC", "KD"):
        game.apply(card)
    while game.deal == 1:
        game.apply(game.legal_actions()[0])
    kinds = [event.kind for event in game.last_events]
    assert kinds[-4:] == [EventKind.HAND, EventKind.HAND, EventKind.CRIB, EventKind.DEAL]
    pone, dealer, crib = game.last_events[-4:-1]
    assert (pone.seat, dealer.seat, crib.seat) == (1, 0, 0)
    assert pone.worth == show_score("7S 8D TC QD", "9H").total
    assert dealer.worth == show_score("5H 5S 6D JC", "9H").total
    assert crib.worth == show_score("2C 4H AC KD", "9H", is_crib=True).total
    assert crib.cards == tuple(sorted(parse_cards("2C 4H AC KD")))
    assert game.dealer == 1
    assert game.phase == "discard"
    assert (game.events[0].deal, game.events[-2].deal, game.events[-1].deal) == (1, 1, 2)


def test_his_heels_are_pegged_at_the_cut() -> None:
    game = game_in_play({0: "5H 5S 6D KC", 1: "TC 7S 8D QD"}, 0, starter="JD")
    assert str(game.last_events[-1]) == "seat 0 his heels JD for 2"
    assert game.scores == (2, 0)


def test_his_heels_may_be_pegged_with_the_dealers_count() -> None:
    rules = Rules(heels_timing="show")
    kept = {0: "2C 4H 6S QD", 1: "5H TC TD 8C"}
    game = game_in_play(kept, 1, starter="JS", rules=rules)
    assert game.last_events[-1].kind == EventKind.STARTER
    for card in parse_cards("QD TC 2C 8C 4H TD 6S 5H"):
        game.apply(card)
    assert [(event.kind, event.seat) for event in game.last_events[-5:-1]] == [
        (EventKind.HAND, 0),
        (EventKind.HEELS, 1),
        (EventKind.HAND, 1),
        (EventKind.CRIB, 1),
    ]


def test_heels_at_the_count_may_end_the_game() -> None:
    rules = Rules(heels_timing="show")
    kept = {0: "2C 4H 6S QD", 1: "5H TC TD 8C"}
    game = game_in_play(kept, 1, starter="JS", rules=rules, scores=[0, 117])
    for card in parse_cards("QD TC 2C 8C 4H TD 6S 5H"):
        game.apply(card)
    assert [event.kind for event in game.last_events[-3:]] == [
        EventKind.HAND,
        EventKind.HEELS,
        EventKind.WIN,
    ]
    assert game.state()[S.SHOWN] == 1  # pone's hand alone has been seen


# The end


@pytest.mark.parametrize(("scores", "last"), [([0, 120], 3), ([0, 119], 7)])
def test_nothing_is_shown_after_a_win_in_the_play(scores: list[int], last: int) -> None:
    """The dealer goes out by a go on the fourth card, or by the last card of all."""
    game = game_in_play({0: "2C 4H 6S JD", 1: "5H TC TD 8C"}, 1, scores=scores)
    for card in parse_cards("JD TC 2C 8C 4H TD 6S 5H")[: last + 1]:
        game.apply(card)
    assert game.winner == 1
    assert game.scores == (0, 121)
    assert game.state()[S.SHOWN] == 0
    counts = (EventKind.HAND, EventKind.CRIB)
    assert not [event for event in game.events if event.kind in counts]


def test_scores_to_begin_with() -> None:
    game = small_game(scores=(118, 120))
    assert game.scores == (118, 120)
    game = game_in_play({0: "5H 5S 6D KC", 1: "TC 7S 8D QD"}, 0, scores=[119, 100])
    game.apply("TC")
    game.apply("5H")
    assert game.is_over
    assert game.phase == "over"
    assert game.winner == 0
    assert game.scores == (121, 100)
    assert str(game.last_events[-1]) == "seat 0 wins"
    assert game.legal_actions() == []
    with pytest.raises(IllegalActionError, match="the game is over"):
        game.apply("7S")
    game.undo()
    assert not game.is_over
    assert game.winner is None
    assert game.scores == (119, 100)


def test_points_past_the_target_are_told_and_not_pegged() -> None:
    game = game_in_play({0: "5H 5S 6D KC", 1: "TC 7S 8D QD"}, 0, scores=[120, 100])
    game.apply("TC")
    game.apply("5H")
    fifteen = game.last_events[-2]
    assert (fifteen.points, fifteen.worth) == (1, 2)


# Refusals


def refused(game: Game, card: Any) -> str:
    """The words in which a card is refused; the game must stay as it was."""
    before, events = game.state().tolist(), game.events
    with pytest.raises((IllegalActionError, InvalidCardError)) as error:
        game.apply(card)
    assert game.state().tolist() == before
    assert game.events == events
    assert "\n" not in str(error.value)
    return str(error.value)


def test_illegal_cards_are_refused_in_the_words_of_the_game() -> None:
    game = small_game()
    assert refused(game, "5H") == "seat 1 does not hold 5H, but 2C 4H 7S 8D TC QD"
    assert refused(game, "KS") == "seat 1 does not hold KS, but 2C 4H 7S 8D TC QD"
    for card in ("2C", "4H", "AC", "KD", "TC", "JC", "QD"):
        game.apply(card)
    assert game.count == 0  # thirty made a go for pone
    assert refused(game, "QD") == "seat 0 does not hold QD, but 5H 5S 6D"
    for card in ("6D", "8D", "5S", "7S"):
        game.apply(card)
    assert refused(game, "AC") == "seat 0 does not hold AC, but 5H"


def test_a_card_that_passes_31_is_refused() -> None:
    game = game_in_play({0: "TC 6D AH AS", 1: "KC 9D 2H 9S"}, 0)
    for card in ("KC", "TC", "9D"):
        game.apply(card)
    assert game.legal_actions() == list(parse_cards("AH AS"))
    assert refused(game, "6D") == "6D would take the count from 29 to 35, past 31"


@pytest.mark.parametrize("card", ["", "go", "pass", -1, 52, None, 1.5, True, [], {}], ids=repr)
def test_what_is_no_card_is_refused(card: Any) -> None:
    assert "is not a card" in refused(small_game(), card)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rules": "bridge"}, InvalidRulesError, "no rules named 'bridge'"),
        ({"rules": {"players": 9}}, InvalidRulesError, "players is a whole number"),
        ({"seed": -1}, InvalidViewError, "seed is a whole number from 0, not -1"),
        ({"seed": 1.5}, InvalidViewError, "seed is a whole number from 0, not 1.5"),
        ({"seed": True}, InvalidViewError, "seed is a whole number from 0, not True"),
        ({"seed": "7"}, InvalidViewError, "seed is a whole number from 0, not '7'"),
        ({"dealer": 2}, InvalidViewError, "the dealer is a seat from 0 to 1, not 2"),
        ({"dealer": -1}, InvalidViewError, "dealer is a whole number from 0, not -1"),
        ({"dealer": "0"}, InvalidViewError, "dealer is a whole number from 0, not '0'"),
        ({"dealer": False}, InvalidViewError, "dealer is a whole number from 0, not False"),
        ({"deck": "5H 5H"}, InvalidCardError, "in the deck 5H comes twice"),
        ({"deck": "5H XX"}, InvalidCardError, "in the deck 'XX' is not a card"),
        ({"deck": 3}, InvalidCardError, "in the deck 3 is not a list of cards"),
        ({"deck": [None]}, InvalidCardError, "in the deck None is not a card"),
        ({"scores": [0]}, InvalidViewError, "there are 2 scores, not 1"),
        ({"scores": [0, 121]}, InvalidViewError, "a game begins below the target 121, not at 121"),
        ({"scores": [0, -1]}, InvalidViewError, "a score is a whole number from 0, not -1"),
        ({"scores": [0, 1.5]}, InvalidViewError, "a score is a whole number from 0, not 1.5"),
        ({"scores": "00"}, InvalidViewError, "a score is a whole number from 0, not '0'"),
        ({"scores": 7}, InvalidViewError, "scores are a list of numbers, not 7"),
    ],
)
def test_bad_arguments(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Game(**options)


@pytest.mark.parametrize("seat", [-1, 2, True, None, "0", 1.5])
def test_there_is_no_such_seat(seat: Any) -> None:
    game = small_game()
    for ask in (game.view, game.hand, game.events_for):
        with pytest.raises(InvalidViewError, match="seats go from 0 to 1, there is no seat"):
            ask(seat)


def test_there_is_nothing_to_undo_at_the_beginning() -> None:
    game = small_game()
    with pytest.raises(IllegalActionError, match="there is nothing to undo"):
        game.undo()
    game.apply("2C")
    game.undo()
    with pytest.raises(IllegalActionError, match="there is nothing to undo"):
        game.undo()


# Keeping games


def test_a_game_is_told_as_json() -> None:
    game = small_game(scores=[3, 4])
    game.apply("2C")
    told = json.loads(game.to_json())
    assert told == {
        "version": 1,
        "rules": "six-card",
        "seed": 1,
        "dealer": 0,
        "deck": told["deck"],
        "scores": [3, 4],
        "actions": ["2C"],
    }
    assert len(told["deck"]) == 13
    assert "\n" not in game.to_json()


SAVED = json.loads(random_game(3).to_json())
SAVED["actions"] = SAVED["actions"][:30]


@pytest.mark.parametrize(
    ("saved", "error", "words"),
    [
        ("", InvalidViewError, "this is no saved game"),
        ("{", InvalidViewError, "this is no saved game"),
        (json.dumps(SAVED)[:-20], InvalidViewError, "this is no saved game"),
        (None, InvalidViewError, "this is no saved game"),
        (b"\xff\xfe\x00", InvalidViewError, "this is no saved game"),
        ("[" * 100_000, InvalidViewError, "this is no saved game"),
        ("9" * 5000, InvalidViewError, "this is no saved game"),
        ("[]", InvalidViewError, "this is no saved game of version 1"),
        ("3", InvalidViewError, "this is no saved game of version 1"),
        (json.dumps({**SAVED, "version": 2}), InvalidViewError, "no saved game of version 1"),
        (json.dumps({"version": 1}), InvalidViewError, "lacks actions, dealer, deck, rules, sc"),
        (json.dumps({**SAVED, "rules": "whist"}), InvalidRulesError, "no rules named 'whist'"),
        (json.dumps({**SAVED, "seed": None}), InvalidViewError, "seed is a whole number"),
        (json.dumps({**SAVED, "dealer": 5}), InvalidViewError, "the dealer is a seat"),
        (json.dumps({**SAVED, "deck": ["5H", "5H"]}), InvalidCardError, "5H comes twice"),
        (json.dumps({**SAVED, "scores": [1]}), InvalidViewError, "there are 2 scores"),
        (json.dumps({**SAVED, "actions": "5H"}), InvalidViewError, "are a list of cards"),
        (
            json.dumps({**SAVED, "actions": [5]}),
            IllegalActionError,
            "there is nothing to count now",
        ),
        (json.dumps({**SAVED, "actions": ["XX"]}), InvalidCardError, "'XX' is not a card"),
        (
            json.dumps({**SAVED, "actions": SAVED["actions"][:1] * 2}),
            IllegalActionError,
            "does not hold",
        ),
    ],
    ids=range(20),
)
def test_damaged_games(saved: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as refusal:
        Game.from_json(saved)
    assert "\n" not in str(refusal.value)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(field=st.sampled_from(sorted(SAVED)), value=JUNK)
def test_nothing_but_our_errors_comes_of_a_damaged_field(field: str, value: Any) -> None:
    try:
        game = Game.from_json(json.dumps({**SAVED, field: value}))
    except CribbageError:
        return
    assert Game.from_json(game.to_json()) == game


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_pickles_and_copies(rules: Rules) -> None:
    game = next(islice(random_decisions(5, rules), 25, None))
    for twin in (
        pickle.loads(pickle.dumps(game)),
        copy.deepcopy(game),
        copy.copy(game),
        game.copy(),
    ):
        assert twin == game
        assert twin.events == game.events
        assert repr(twin) == repr(game)
        assert twin.to_json() == game.to_json()
        before = game.state().tolist()
        while not twin.is_over:
            twin.apply(twin.legal_actions()[0])
        assert game.state().tolist() == before
        assert twin != game


def test_equality() -> None:
    assert small_game() == small_game()
    assert small_game() != small_game(scores=[1, 0])
    assert small_game() != Game(Rules(target=200), 1, dealer=0, deck=small_game()._deck.tolist())
    assert small_game() != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(small_game())


def test_numbers_from_numpy_are_welcome() -> None:
    numbers: dict[str, Any] = {"seed": np.int64(7), "dealer": np.int64(1)}
    game = Game(**numbers, scores=np.array([3, 4]).tolist(), deck=np.array([3, 5]).tolist())
    assert Game.from_json(game.to_json()) == game
    game.apply(np.int64(game.legal_actions()[0]))  # type: ignore[arg-type]
    assert Game.from_json(game.to_json()) == game


# The table


def test_repr_shows_the_table() -> None:
    game = small_game()
    assert repr(game) == (
        "<Game six-card, 0-0, deal 1, discard, seat 1 to act\n"
        "  seat 0 (dealer): AC 5H 5S 6D JC KD\n"
        "  seat 1: 2C 4H 7S 8D TC QD>"
    )
    for card in ("2C", "4H", "AC", "KD", "TC", "5H"):
        game.apply(card)
    assert repr(game) == (
        "<Game six-card, 2-0, deal 1, play, seat 1 to act\n"
        "  seat 0 (dealer): 5S 6D JC\n"
        "  seat 1: 7S 8D QD\n"
        "  starter 9H, count 15: TC 5H>"
    )
    over = random_game(4, VARIANTS["partners"])
    assert f"won by side {over.winner}" in repr(over)
    assert "four-player" in repr(over)
    assert "own rules" in repr(Game(VARIANTS["house"], 4))
    assert f"won by seat {random_game(4).winner}" in repr(random_game(4))


# The scorers for people


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("5H 5S 5D JC", "5H"), "5H is both the starter and in the hand"),
        (("5H 5S 5H JC", "5C"), "5H comes twice"),
        (("5H 5S 5D JC KC", "5C"), "a hand or crib shows 2 to 4 cards, not 5"),
        (("5H", "5C"), "a hand or crib shows 2 to 4 cards, not 1"),
        (("", "5C"), "a hand or crib shows 2 to 4 cards, not 0"),
        (("5H 5S 5D XX", "5C"), "'XX' is not a card"),
        (("5H 5S 5D JC", ""), "'' is not a card"),
        (("5H 5S 5D JC", None), "None is not a card"),
        ((7, "5C"), "7 is not a list of cards"),
    ],
)
def test_show_score_refuses(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InvalidCardError, match=words):
        show_score(*arguments)
    with pytest.raises(InvalidRulesError):
        show_score("5H 5S 5D JC", "5C", rules="whist")


@pytest.mark.parametrize(
    ("series", "words"),
    [
        ("", "a series has at least one card"),
        ("KC QC JC 2C", "a series may not pass 31, but KC QC JC 2C makes 32"),
        ("5H 5H", "5H comes twice"),
        ("5H X", "'X' is not a card"),
        (None, "None is not a list of cards"),
    ],
)
def test_pegging_score_refuses(series: Any, words: str) -> None:
    with pytest.raises(InvalidCardError, match=words):
        pegging_score(series)


def test_the_combinations_say_why() -> None:
    score = show_score("5H 5S 6D JC", "4C")
    assert [str(found) for found in score.combinations] == [
        "fifteen 5H JC for 2",
        "fifteen 5S JC for 2",
        "fifteen 4C 5H 6D for 2",
        "fifteen 4C 5S 6D for 2",
        "pair 5H 5S for 2",
        "run 4C 5H 6D for 3",
        "run 4C 5S 6D for 3",
        "nobs JC for 1",
    ]
    assert score.total == 17
    flush = show_score("2H 4H 6H QH", "KH").combinations[-1]
    assert str(flush) == "flush 2H 4H 6H QH KH for 5"
