"""Every preset in whole games, and the turns of play that people get wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from crib_env import Event, Game, Match, Rules, get_rules
from crib_env import state as S
from crib_env.cards import Card, parse_cards
from crib_env.rules import FIVE_CARD_HISTORIC, FOUR_PLAYER, PRESETS, THREE_PLAYER
from crib_env.state import EventKind
from tests.crib_env.support import game_in_play, play_by_chance, random_decisions

COUNTS = (EventKind.HAND, EventKind.CRIB)
CLOSES = (EventKind.THIRTY_ONE, EventKind.GO_POINT, EventKind.LAST_CARD)

# Whole games of every preset

SIZES = {
    # players, dealt, kept, crib, target, scores
    "six-card": (2, 6, 4, 4, 121, 2),
    "three-player": (3, 5, 4, 4, 121, 3),
    "four-player": (4, 5, 4, 4, 121, 2),
    "five-card": (2, 5, 4, 2, 61, 2),
    "five-card-historic": (2, 5, 3, 4, 61, 2),
    "comment-jouer": (2, 6, 4, 4, 121, 2),
    "boite-a-jeux": (2, 6, 4, 4, 121, 2),
    "reference-complete": (2, 6, 4, 4, 121, 2),
    "contre-l-ordinateur": (2, 6, 4, 4, 121, 2),
}


def test_every_preset_is_listed_here() -> None:
    assert list(SIZES) == list(PRESETS)


def deals(game: Game) -> list[list[Event]]:
    """The events of each deal."""
    return [list(events) for _, events in groupby(game.events, key=lambda event: event.deal)]


@pytest.mark.parametrize("name", PRESETS)
def test_hands_and_cribs_have_their_sizes(name: str) -> None:
    players, dealt, kept, crib, target, sides = SIZES[name]
    rules = get_rules(name)
    assert (rules.players, rules.target, rules.sides) == (players, target, sides)
    begun = 0
    for game in random_decisions(1, rules):
        row = game.state()
        if game.phase == "discard" and game.to_act == (game.dealer + 1) % players:
            assert len(game.hand(game.dealer)) == dealt
        if game.phase == "play" and not row[S.HISTORY_LENGTH]:
            begun += 1
            assert [len(game.hand(seat)) for seat in range(players)] == [kept] * players
            assert int(row[S.CRIB]).bit_count() == crib
            assert game.to_act == (game.dealer + 1) % players
    assert begun > 2
    assert game.winner is not None
    assert game.scores[game.winner] == target
    assert max(score for side, score in enumerate(game.scores) if side != game.winner) < target


@pytest.mark.parametrize("name", PRESETS)
def test_the_show_goes_round_from_the_dealers_left(name: str) -> None:
    players, dealt, kept, crib, _, _ = SIZES[name]
    rules = get_rules(name)
    for seed in range(5):
        game = play_by_chance(Game(rules, seed), seed)
        *whole, _last = deals(game)
        for number, events in enumerate(whole):
            dealer = (game.first_dealer + number) % players
            assert (events[0].kind, events[0].seat) == (EventKind.DEAL, dealer)
            shows = [event for event in events if event.kind in COUNTS]
            order = [(dealer + step) % players for step in range(1, players + 1)]
            assert [event.seat for event in shows] == [*order, dealer]
            assert [event.kind for event in shows] == [EventKind.HAND] * players + [EventKind.CRIB]
            assert [len(event.cards) for event in shows] == [kept] * players + [crib]
            throws = sum(event.kind == EventKind.DISCARD for event in events)
            assert throws == players * (dealt - kept)
            laid = sum(event.kind == EventKind.PLAY for event in events)
            assert laid <= players * kept if rules.play_single_count else laid == players * kept


@pytest.mark.parametrize("name", PRESETS)
def test_points_are_the_sum_of_events(name: str) -> None:
    rules = get_rules(name)
    for seed in range(10):
        game = play_by_chance(Game(rules, seed), seed)
        points = [0] * rules.sides
        points[rules.side((game.first_dealer + 1) % rules.players)] = rules.pone_start
        for event in game.events:
            points[rules.side(event.seat)] += event.points
        assert game.scores == tuple(points)
        assert game.events[-1].kind == EventKind.WIN
        assert rules.side(game.events[-1].seat) == game.winner


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_saved_by_name(name: str) -> None:
    rules = get_rules(name)
    assert rules.to_json() == name
    assert get_rules(json.loads(json.dumps(rules.to_json()))) == rules
    game = play_by_chance(Game(name, 3), 3)
    assert json.loads(game.to_json())["rules"] == name
    again = Game.from_json(game.to_json())
    assert again == game
    assert again.scores == game.scores
    match = Match(name, seed=4)
    play_by_chance(match.game, 4)
    assert Match.from_json(match.to_json()) == match


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_saved_by_field_where_one_is_changed(name: str) -> None:
    changed = replace(get_rules(name), match_points=(1, 5, 9))
    told = changed.to_json()
    assert isinstance(told, dict)
    assert get_rules(json.loads(json.dumps(told))) == changed


def test_the_texts_differ_where_they_say_so() -> None:
    texts = ("comment-jouer", "boite-a-jeux", "reference-complete", "contre-l-ordinateur")
    table = {
        "skunk_line": (91, 90, 91, None),
        "double_skunk_line": (None, None, 61, None),
        "match_points": ((1, 2, 2), (1, 2, 2), (1, 2, 3), (1, 1, 1)),
        "match_target": (None, 7, None, None),
        "heels_timing": ("cut", "show", "cut", "cut"),
        "crib_flush": ("five", "five", "five", "five"),
        "first_dealer": ("low_cut", "random", "low_cut", "random"),
        "counting": ("automatic",) * 4,
        "muggins": (False,) * 4,
    }
    for field, values in table.items():
        assert tuple(getattr(PRESETS[text], field) for text in texts) == values, field


def test_the_historic_game_has_one_series_and_a_head_start() -> None:
    for seed in range(20):
        game = play_by_chance(Game(FIVE_CARD_HISTORIC, seed), seed)
        start = Game(FIVE_CARD_HISTORIC, seed)
        assert start.scores[1 - start.first_dealer] == 3
        assert start.scores[start.first_dealer] == 0
        for events in deals(game):
            assert sum(event.kind in CLOSES for event in events) <= 1


def test_the_first_deal_is_cut_for_where_the_text_says_so() -> None:
    """Chance and the cut both give each seat its share."""
    for name in ("comment-jouer", "contre-l-ordinateur"):
        first = [Game(name, seed).first_dealer for seed in range(400)]
        assert 150 < sum(first) < 250
    three = replace(THREE_PLAYER, first_dealer="low_cut")
    assert {Game(three, seed).first_dealer for seed in range(60)} == {0, 1, 2}


# The turns of play that people get wrong. Seat 1 deals to two, seat 0 to three.


def play(
    kept: Mapping[int, str],
    cards: str,
    dealer: int = 1,
    rules: Rules | None = None,
    scores: Sequence[int] | None = None,
    starter: str | None = None,
) -> Game:
    """A game in which these cards were laid one after the other."""
    game = game_in_play(kept, dealer, rules=rules, scores=scores, starter=starter)
    for card in parse_cards(cards):
        game.apply(card)
    return game


def pegged(game: Game) -> list[tuple[int, str, int]]:
    """What the last card brought: seat, kind, worth."""
    return [(e.seat, e.kind.name.lower(), e.worth) for e in game.last_events if e.worth]


def said_go(game: Game) -> list[int]:
    """The seats that said go after the last card, in order."""
    return [event.seat for event in game.last_events if event.kind == EventKind.GO]


@pytest.mark.parametrize("score", [119, 120])
def test_heels_win_the_game(score: int) -> None:
    game = play({0: "2C 4H 6S QD", 1: "5H TC TD 8C"}, "", scores=[120, score], starter="JS")
    assert (game.winner, game.scores) == (1, (120, 121))
    assert [event.kind for event in game.last_events[-3:]] == [
        EventKind.STARTER,
        EventKind.HEELS,
        EventKind.WIN,
    ]
    assert game.legal_actions() == []
    assert len(game.hand(0)) == len(game.hand(1)) == 4


def test_heels_win_the_game_for_partners() -> None:
    kept = {0: "2C 4H 6S QD", 1: "5H TC TD 8C", 2: "AC 3D 7H 9S", 3: "2D 4C 6H QS"}
    game = play(kept, "", 2, FOUR_PLAYER, scores=[119, 120], starter="JS")
    assert (game.winner, game.scores) == (0, (121, 120))


def test_pegging_out_in_the_middle_of_a_go() -> None:
    """Pone has said go, the dealer plays on alone and pairs his own ace."""
    kept = {0: "KC QC 9C 9D", 1: "JD AS AC 5D"}
    game = play(kept, "KC JD 9C AS", scores=[100, 118])
    assert said_go(game) == [0]
    assert game.to_act == 1
    game.apply("AC")
    assert pegged(game) == [(1, "thirty_one", 2), (1, "pair", 2)]
    assert (game.winner, game.scores) == (1, (100, 121))
    assert game.hand(0) == parse_cards("9D QC")
    assert not [event for event in game.events if event.kind in COUNTS]


def test_pegging_out_by_the_point_for_a_go() -> None:
    kept = {0: "KC QC 9C 9D", 1: "JD AS TH 8D"}
    game = play(kept, "KC JD 9C", scores=[0, 120])
    assert not game.is_over
    game.apply("AS")
    assert pegged(game) == [(1, "go_point", 1)]
    assert (game.winner, game.scores) == (1, (0, 121))


def test_pone_counts_out_before_a_bigger_dealer() -> None:
    """Seat 1 has two points to show and needs them, the dealer would have had 14."""
    kept = {0: "5H JC QC KH", 1: "2C 4H 9S TD", 2: "AC 3D 7H 8S"}
    game = game_in_play(kept, 0, rules=THREE_PLAYER, starter="5S")
    while game.deal == 1:
        game.apply(game.legal_actions()[0])
    worths = [event.worth for event in game.events if event.kind == EventKind.HAND]
    assert worths[0] > 0
    assert worths[2] > 10
    in_play = [0, 0, 0]
    for event in game.events:
        in_play[event.seat] += event.worth if event.kind not in COUNTS else 0
    scores = [120 - in_play[0], 121 - in_play[1] - worths[0], 120 - in_play[2]]
    game = game_in_play(kept, 0, rules=THREE_PLAYER, starter="5S", scores=scores)
    while not game.is_over:
        game.apply(game.legal_actions()[0])
    assert (game.winner, game.scores) == (1, (120, 121, 120))
    assert [event.seat for event in game.events if event.kind in COUNTS] == [1]


PONE_HAS_FOUR = ({0: "AC 5S 6D 6H", 1: "3H AH 3D 3S"}, "AC 3H 5S AH 6D 3D 6H 3S")
PONE_HAS_NOTHING = ({0: "6S 4H 7D 3D", 1: "2S AD AS 5S"}, "6S 2S 4H AD 7D AS 3D 5S")


@pytest.mark.parametrize("hands", [PONE_HAS_FOUR, PONE_HAS_NOTHING])
def test_120_against_119_and_a_jack_at_the_cut(hands: tuple[Mapping[int, str], str]) -> None:
    game = play(hands[0], "", scores=[120, 119], starter="JD")
    assert (game.winner, game.scores) == (1, (120, 121))


@pytest.mark.parametrize(
    ("hands", "winner", "counted"), [(PONE_HAS_FOUR, 0, 1), (PONE_HAS_NOTHING, 1, 1)]
)
def test_120_against_119_and_a_jack_at_the_show(
    hands: tuple[Mapping[int, str], str], winner: int, counted: int
) -> None:
    """Pone counts before the dealer pegs his heels; with nothing to count he loses to them.

    The dealer's last card is one more point: so he begins at 118 and comes to 119.
    """
    rules = Rules(heels_timing="show")
    game = play(*hands, rules=rules, scores=[120, 118], starter="JD")
    assert game.winner == winner
    kinds = [event.kind for event in game.last_events]
    assert sum(kind in COUNTS for kind in kinds) == counted
    assert (EventKind.HEELS in kinds) is (winner == 1)
    assert game.scores == ((121, 119) if winner == 0 else (120, 121))


def test_a_run_across_a_pair() -> None:
    game = play({0: "7C 8C KD KH", 1: "7D 6D QC QH"}, "7C 7D")
    assert pegged(game) == [(1, "pair", 2)]
    game.apply("8C")  # 7 7 8 is no run
    assert pegged(game) == []
    game.apply("6D")  # 7 8 6 is one of three: the other seven lies before the pair
    assert pegged(game)[0] == (1, "run", 3)


def test_a_pair_cuts_a_run_off() -> None:
    game = play({0: "7C 6C KD KH", 1: "8D 8H QC QH"}, "7C 8D")
    game.apply("6C")
    assert pegged(game) == [(0, "run", 3)]
    game.apply("8H")  # 8 6 8: no run, and no pair
    assert pegged(game) == [(1, "go_point", 1)]
    assert game.events[-1].count == 29


@pytest.mark.parametrize(
    ("cards", "runs"),
    [
        ("AC 2D 3C 4D 5C 6D 7C", [0, 0, 3, 4, 5, 6, 7]),
        ("7C 6D 5C 4D 3C 2D AC", [0, 0, 3, 4, 5, 6, 7]),
        ("4C 2D 6C AD 5C 3D 7C", [0, 0, 0, 0, 0, 6, 7]),
        ("7C 2D 5C AD 3C 6D 4C", [0, 0, 0, 0, 0, 0, 7]),
        ("3C 2D AC 6D 5C 4D 7C", [0, 0, 3, 0, 0, 6, 7]),
    ],
)
def test_long_runs(cards: str, runs: list[int]) -> None:
    """In any order, each card worth the longest run that ends with it."""
    laid = parse_cards(cards)
    kept = {0: " ".join(map(str, laid[::2])), 1: " ".join([*map(str, laid[1::2]), "KH"])}
    game = play(kept, "")
    found = []
    for card in laid:
        game.apply(card)
        found.append(sum(worth for _, kind, worth in pegged(game) if kind == "run"))
    assert found == runs
    assert max(event.count for event in game.events) == 28


def test_double_pair_royal_with_15() -> None:
    game = play({0: "AC 3C 3H KD", 1: "2D 3D 3S KH"}, "AC 2D 3C")
    assert pegged(game) == [(0, "run", 3)]
    for card, worth in (("3D", 2), ("3H", 6)):
        game.apply(card)
        assert [points for _, kind, points in pegged(game) if kind == "pair"] == [worth]
    game.apply("3S")
    assert pegged(game) == [(1, "fifteen", 2), (1, "pair", 12)]
    assert game.count == 15


def test_double_pair_royal_with_31() -> None:
    """Two and twelve, and no point for the go besides."""
    game = play({0: "7C 6D 6S KD", 1: "6C 6H QC QH"}, "7C 6C 6D 6H 6S")
    assert pegged(game) == [(0, "thirty_one", 2), (0, "pair", 12)]
    assert game.count == 0
    assert game.to_act == 1


def test_laying_several_cards_in_a_row_and_pairing_oneself() -> None:
    game = play({0: "TC 8C QC KC", 1: "TD AC AD AH"}, "TC TD 8C AC")
    assert said_go(game) == [0]
    for card, points in (
        ("AD", [(1, "pair", 2)]),
        ("AH", [(1, "thirty_one", 2), (1, "pair", 6)]),
    ):
        assert game.to_act == 1
        game.apply(card)
        assert pegged(game) == points
        assert said_go(game) == []  # he says it once in a series


def test_a_player_without_cards_says_nothing_while_another_goes_on() -> None:
    """The dealer has laid all four; pone lays his last two alone and pegs for the last card."""
    game = play({0: "TC 8C QC KC", 1: "TD AC AD AH"}, "TC TD 8C AC AD AH")
    assert (len(game.hand(0)), len(game.hand(1))) == (2, 0)
    assert game.to_act == 0
    game.apply("QC")
    assert (pegged(game), said_go(game)) == ([], [])
    assert game.to_act == 0
    game.apply("KC")
    assert said_go(game) == []
    assert pegged(game)[0] == (0, "last_card", 1)


def test_the_last_card_at_exactly_31_is_worth_two() -> None:
    game = play({0: "KC TC 5D 4D", 1: "QC 6D 9H 7D"}, "KC QC TC")
    assert pegged(game) == [(0, "go_point", 1)]
    for card in parse_cards("6D 5D 9H 4D"):
        game.apply(card)
        assert pegged(game) == []
    game.apply("7D")
    assert pegged(game)[0] == (1, "thirty_one", 2)
    assert EventKind.LAST_CARD not in [event.kind for event in game.last_events]


# Three at the table: a go passed around, and both readings of what follows

ROUND = {0: "7C AD 5H 6S", 1: "TC 9D 2H QS", 2: "KC 8D 9H JS"}


def three(**fields: Any) -> Rules:
    return replace(THREE_PLAYER, **fields)


def test_a_go_is_passed_around() -> None:
    game = play(ROUND, "TC KC 7C 2H", 0, THREE_PLAYER)
    assert (game.count, said_go(game), game.to_act) == (29, [2], 0)
    game.apply("AD")
    assert said_go(game) == [1]
    assert pegged(game) == [(0, "go_point", 1)]


@pytest.mark.parametrize(("reading", "leader"), [("left_of_last", 1), ("go_caller", 2)])
def test_who_leads_after_a_go(reading: str, leader: int) -> None:
    """Seat 2 said go first, seat 1 sits to the left of the dealer, who laid the last card."""
    game = play(ROUND, "TC KC 7C 2H AD", 0, three(leader_after_reset=reading))
    assert (game.count, game.to_act) == (0, leader)


@pytest.mark.parametrize("reading", ["left_of_last", "go_caller"])
def test_after_31_the_seat_to_the_left_leads_in_both_readings(reading: str) -> None:
    kept = ROUND | {0: "7C AD AH 6S"}
    game = play(kept, "TC KC 7C 2H AD AH", 0, three(leader_after_reset=reading))
    assert pegged(game) == [(0, "thirty_one", 2), (0, "pair", 2)]
    assert game.to_act == 1


@pytest.mark.parametrize("reading", ["left_of_last", "go_caller"])
def test_a_leader_without_cards_is_passed_over(reading: str) -> None:
    """Seat 1 has laid all it held; the lead goes on to the next seat that holds a card."""
    kept = {0: "TS KD 9C QH", 1: "AC 2C AH 2H", 2: "KC KH JS 9H"}
    cards = "AC KC TS 2C AH 2H"  # 26 when all say go but seat 1
    game = play(kept, cards[:11], 0, three(leader_after_reset=reading))
    assert (game.count, said_go(game)) == (23, [2, 0])
    for card in parse_cards(cards[12:]):
        assert game.to_act == 1
        game.apply(card)
    assert game.hand(1) == ()
    assert pegged(game)[-1] == (1, "go_point", 1)
    assert game.to_act == 2


@pytest.mark.parametrize(("reading", "goes_on"), [("all", True), ("first_after_go", False)])
def test_who_goes_on_after_a_go(reading: str, goes_on: bool) -> None:
    """After seat 2's go the dealer lays an ace; seat 1 has one too."""
    kept = ROUND | {1: "TC 2H AH QS"}
    game = play(kept, "TC KC 7C 2H AD", 0, three(go_continuation=reading))
    if goes_on:
        assert (game.count, game.to_act) == (30, 1)
        game.apply("AH")
        assert pegged(game) == [(1, "thirty_one", 2), (1, "pair", 2)]
        assert game.to_act == 2
    else:
        assert pegged(game) == [(0, "go_point", 1)]
        assert (game.count, game.to_act) == (0, 1)
        assert Card("AH") in game.hand(1)


def test_the_one_who_goes_on_goes_on_alone() -> None:
    """The dealer lays all that fits, one card after the other, and pairs himself."""
    kept = {0: "7C AD AS 6S", 1: "TC AC AH QS", 2: "KC 8D 9H JS"}
    game = play(kept, "TC KC 7C AC", 0, three(go_continuation="first_after_go"))
    assert (game.count, said_go(game), game.to_act) == (28, [2], 0)
    game.apply("AD")
    assert (game.count, game.to_act) == (29, 0)
    game.apply("AS")
    assert pegged(game) == [(0, "pair", 6), (0, "go_point", 1)]
    assert game.to_act == 1


@pytest.mark.parametrize("leader", ["left_of_last", "go_caller"])
@pytest.mark.parametrize("goes_on", ["all", "first_after_go"])
def test_with_two_all_readings_are_one(leader: Any, goes_on: Any) -> None:
    rules = Rules(leader_after_reset=leader, go_continuation=goes_on)
    for seed in range(20):
        game, other = Game(seed=seed), Game(rules, seed)
        for standard in random_decisions(seed):
            game = standard
        for card in game.actions:
            other.apply(str(card))
        assert other.events == game.events
