"""Disputes and bug reports collected from public places, with their right answers.

Every case of ``tests/data/cases.jsonl`` is either judged here or named in
`JUDGED_ELSEWHERE` with the reason, so that none can be passed over in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from crib_env import (
    Event,
    Game,
    IllegalActionError,
    InvalidViewError,
    Rules,
    SeatView,
    engine,
    get_rules,
    pegging_score,
    show_score,
)
from crib_env import state as S
from crib_env.cards import RANKS, Card, parse_cards, to_mask
from crib_env.match import Match
from crib_env.observation import split
from crib_env.state import EventKind, Phase, Source
from tests.crib_env.support import (
    DATA,
    NO_SKUNKS,
    PEGS,
    at_the_count,
    game_in_play,
    observation,
    play_by_chance,
    random_decisions,
)

Case = dict[str, Any]

CASES: dict[str, Case] = {
    case["id"]: case for case in map(json.loads, (DATA / "cases.jsonl").read_text().splitlines())
}

JUDGED_ELSEWHERE = {
    name: "a property of environments, masks or exports, not a position to judge"
    for name in CASES
    if name.startswith("ENV-")
}


def of_kind(*kinds: str) -> list[str]:
    return [
        name
        for name, case in CASES.items()
        if case["kind"] in kinds and name not in JUDGED_ELSEWHERE
    ]


SHOWS = [*of_kind("hand", "crib"), "VAR-16"]
PLAYED = [name for name in of_kind("go", "end", "variant") if "plays" in CASES[name]["input"]]
PLAYED.remove("GO-04")  # stands in the middle of a count, see below
SEQUENCES = [name for name in of_kind("end") if "scoring_sequence" in CASES[name]["input"]]
SEQUENCES.remove("END-12")  # muggins, in a whole game below
SKUNKS = [name for name in of_kind("variant") if "loser_score" in CASES[name]["input"]]
SINGLE = {
    "GO-04": "test_a_count_closed_by_one_seat_alone",
    "GO-15": "test_a_playable_card_must_be_played",
    "GO-16": "test_points_of_each_card_are_seen_before_it_is_laid",
    "END-01": "test_the_crib_takes_the_dealer_out",
    "END-12": "test_muggins_may_win_the_game",
    "END-09": "test_the_rest_of_the_hand_is_not_played",
    "DEAL-01": "test_cards_are_cut_by_rank",
    "DEAL-03": "test_the_deal_alternates",
    "DEAL-04": "test_who_deals_first_in_the_next_game",
    "DEAL-06": "test_more_players_are_dealt",
    "DEAL-07": "test_partners_sit_opposite",
    "VAR-09": "test_each_loser_is_skunked_for_himself",
    "VAR-18": "test_both_five_card_games_can_be_told",
    "MUG-01": "test_a_claim_may_miss_points",
    "MUG-03": "test_a_claim_is_corrected_before_the_next",
    "MUG-04": "test_without_claims_all_is_counted",
}


def test_no_case_is_passed_over() -> None:
    judged = {*SHOWS, *of_kind("pegging"), *PLAYED, *SEQUENCES, *SKUNKS, *SINGLE}
    assert len(CASES) == 92
    assert judged | JUDGED_ELSEWHERE.keys() == CASES.keys()
    assert not judged & JUDGED_ELSEWHERE.keys()
    assert all(callable(globals()[name]) for name in SINGLE.values())


# The show and the points of a series


@pytest.mark.parametrize("name", SHOWS)
def test_show(name: str) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    rules = get_rules({"dealt": len(given["hand"]) + 2} | given.get("rules", {}))
    score = show_score(given["hand"], given["starter"], given["crib"], rules)
    assert score.total == expected["total"]
    for part, points in expected["breakdown"].items():
        assert getattr(score, part) == points, part


def test_four_suited_cards_in_the_crib_pay_nothing_by_default() -> None:
    given = CASES["CRIB-06"]["input"]
    assert show_score(given["hand"], given["starter"], True).total == 0


@pytest.mark.parametrize("name", of_kind("pegging"))
def test_pegging(name: str) -> None:
    pile = CASES[name]["input"]["pile"]
    for at, expected in enumerate(CASES[name]["expect"]["per_card"], 1):
        score = pegging_score(pile[:at])
        found = {
            "card": pile[at - 1],
            "count": score.count,
            "points": score.total,
            "fifteen": score.fifteen,
            "thirtyone": score.thirty_one,
            "pair": score.pairs,
            "run": score.run,
        }
        assert found == expected


# Whole plays, laid card by card in a game


def seats_of(given: Case) -> dict[str, int]:
    """Seats by name: in the order of play, so that the dealer comes last."""
    return {player: seat for seat, player in enumerate(given["players"])}


def set_up(given: Case) -> Game:
    """The game of a case, its hands dealt and its crib thrown."""
    seats = seats_of(given)
    players = len(seats)
    kept = {seat: given["hands"][player] for player, seat in seats.items()}
    size = len(kept[0])
    fields: Case = {
        2: {"dealt": size + 2},
        3: {"players": 3, "dealt": 5, "thrown": 1, "blind": 1},
        4: {"players": 4, "dealt": 5, "thrown": 1, "teams": True},
    }[players] | given.get("rules", {})
    if "target" in given:
        fields |= {"target": given["target"]} | (NO_SKUNKS if given["target"] < 121 else {})
    scores = [given["scores"][player] for player in seats] if "scores" in given else None
    crib = given.get("crib")
    return game_in_play(
        kept,
        players - 1,
        thrown={0: crib[:2], 1: crib[2:]} if crib else None,
        starter=given.get("starter"),
        rules=Rules(**fields),
        scores=scores,
    )


def play_through(game: Game, given: Case) -> list[tuple[Event, ...]]:
    """Lay the cards of a case; what each caused."""
    seats = seats_of(given)
    caused = []
    for player, card in given["plays"]:
        assert game.to_act == seats[player]
        game.apply(card)
        caused.append(game.last_events)
    return caused


SOURCE_OF = {
    EventKind.FIFTEEN: "fifteen",
    EventKind.THIRTY_ONE: "thirtyone",
    EventKind.PAIR: "pair",
    EventKind.RUN: "run",
    EventKind.GO_POINT: "go_or_last",
    EventKind.LAST_CARD: "go_or_last",
}


def told(events: Sequence[Event], players: Sequence[str]) -> Case:
    """What the engine said of one card, in the words of the cases."""
    laid = next(event for event in events if event.kind == EventKind.PLAY)
    entry: Case = {
        "player": players[laid.seat],
        "card": str(laid.cards[0]),
        "count": laid.count,
        **dict.fromkeys(("fifteen", "thirtyone", "pair", "run", "go_or_last"), 0),
    }
    for event in events:
        if event.kind in SOURCE_OF:
            assert event.seat == laid.seat
            entry[SOURCE_OF[event.kind]] += event.worth
    entry["points"] = sum(entry[name] for name in set(SOURCE_OF.values()))
    return entry


def go_callers(before: Sequence[Event], players: Sequence[str]) -> list[str]:
    """Who had said go when the next card was laid."""
    return [players[event.seat] for event in before if event.kind == EventKind.GO]


def leaders(caused: Sequence[Sequence[Event]], players: Sequence[str]) -> list[str]:
    """Who laid the first card of each count."""
    found = []
    fresh = True
    for events in caused:
        laid = next(event for event in events if event.kind == EventKind.PLAY)
        if fresh:
            found.append(players[laid.seat])
        closes = (EventKind.THIRTY_ONE, EventKind.GO_POINT, EventKind.LAST_CARD)
        fresh = any(event.kind in closes for event in events)
    return found


@pytest.mark.parametrize("name", PLAYED)
def test_play(name: str) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    game = set_up(given)
    caused = play_through(game, given)
    players = given["players"]
    for at, entry in enumerate(expected.get("events", ())):
        entry = dict(entry)
        callers = entry.pop("go_called_by", [])
        assert told(caused[at], players) == entry
        if callers and at:
            assert go_callers(caused[at - 1], players) == callers
    if "pegged" in expected:
        pegged = dict.fromkeys(players, 0)
        for events in caused:
            entry = told(events, players)
            pegged[entry["player"]] += entry["points"]
        assert pegged == expected["pegged"]
    if "leaders_of_each_count" in expected:
        assert leaders(caused, players) == expected["leaders_of_each_count"]
    if "unplayed" in expected and not game.is_over:
        # The deal is over with cards in hand: nothing but the show came of it.
        assert caused[-1][-1].kind == EventKind.DEAL
    assert game.deal == 2 or game.is_over


def test_the_other_rule_of_leading_after_a_go() -> None:
    """VAR-12 by the rule that it mentions and does not use: who said go first leads."""
    given = CASES["VAR-12"]["input"]
    kept = {seat: given["hands"][player] for player, seat in seats_of(given).items()}
    rules = Rules(players=3, dealt=5, thrown=1, blind=1, leader_after_reset="go_caller")
    game = game_in_play(kept, 2, rules=rules)
    for _, card in given["plays"][:5]:
        game.apply(card)
    assert given["players"][game.to_act] == "p2"


def test_a_count_closed_by_one_seat_alone() -> None:
    case = CASES["GO-04"]
    given, expected = case["input"], case["expect"]
    rules = Rules()
    row = np.zeros(S.STATE_SIZE, np.int64)
    pone, dealer = 0, 1
    row[S.PHASE], row[S.DEALER], row[S.TO_ACT], row[S.WINNER] = Phase.PLAY, dealer, dealer, -1
    row[S.STARTER] = Card("2H")
    row[S.HAND + dealer] = to_mask(parse_cards(given["hands"]["dealer"]))
    row[S.KEPT + pone] = to_mask(parse_cards("TC 5C"))
    row[S.KEPT + dealer] = row[S.HAND + dealer] | to_mask(parse_cards("KS"))
    row[S.HELD + pone], row[S.HELD + dealer] = 2, 4
    engine.reset_series(row)
    for at, card in enumerate(parse_cards(given["pile_before"])):
        engine.add_to_series(row, at % 2, int(card))
    points = []
    for _, text in given["plays"]:
        before = row[S.TALLY + dealer * S.N_SOURCES + Source.PLAY_DEALER]
        assert row[S.TO_ACT] == dealer
        engine.apply(row, rules.to_array(), int(Card(text)), engine.NO_EVENTS)
        points.append(row[S.TALLY + dealer * S.N_SOURCES + Source.PLAY_DEALER] - before)
    assert points == [event["points"] for event in expected["events"]]
    assert sum(points) == expected["pegged"]["dealer"]
    assert row[S.TALLY + pone * S.N_SOURCES + Source.PLAY_PONE] == expected["pegged"]["pone"]


def test_a_playable_card_must_be_played() -> None:
    case = CASES["GO-15"]
    plays: list[list[int | str]] = [[0, "6C"], [1, "9C"], [0, "3D"], [1, "7S"]]
    message = {"seat": 0, "dealer": 1, "hand": case["input"]["hand"], "plays": plays}
    view = SeatView.from_json(message)
    assert view.count == case["input"]["count"]
    assert [str(card) for card in view.legal()] == case["expect"]["legal_cards"]
    assert case["expect"]["go_allowed"] is False
    with pytest.raises(InvalidViewError, match="seat 0 passed on a count of 25 but held 5C"):
        SeatView.from_json(message | {"plays": [*plays, [0, "go"]]})


def test_points_of_each_card_are_seen_before_it_is_laid() -> None:
    given, expected = CASES["GO-16"]["input"], CASES["GO-16"]["expect"]
    plays = [[1, card] for card in given["pile"]]
    view = SeatView.from_json({"seat": 0, "dealer": 0, "hand": given["hand"], "plays": plays})
    seen = split(observation(view.for_decision(), view.rules, 0), view.rules)["points"] * 10
    for card, points in expected["points_by_card"].items():
        assert pegging_score([*given["pile"], card]).total == points
        assert seen[Card(card)] == points
    assert Card(expected["greedy_best"]) == seen.argmax()


# The end of the game


def test_the_crib_takes_the_dealer_out() -> None:
    given, expected = CASES["END-01"]["input"], CASES["END-01"]["expect"]
    game = set_up(given)
    caused = play_through(game, given)
    shown = [(event.kind, event.seat, event.worth) for event in caused[-1][-4:-1]]
    assert shown == [
        (EventKind.HAND, 0, expected["show"]["pone"]),
        (EventKind.HAND, 1, expected["show"]["dealer_hand"]),
        (EventKind.CRIB, 1, expected["show"]["crib"]),
    ]
    assert game.scores == (expected["final"]["pone"], expected["final"]["dealer"])
    assert given["players"][game.winner or 0] == expected["winner"]
    assert expected["ended_at"] == "crib count"
    assert caused[-1][-2].kind == EventKind.CRIB


def test_the_rest_of_the_hand_is_not_played() -> None:
    given, expected = CASES["END-09"]["input"], CASES["END-09"]["expect"]
    game = set_up(given)
    play_through(game, given)
    assert game.is_over
    assert given["players"][game.winner or 0] == expected["winner"]
    assert game.scores == (expected["scores"]["pone"], expected["scores"]["dealer"])
    for player, seat in seats_of(given).items():
        assert set(game.hand(seat)) == set(parse_cards(expected["unplayed"][player]))
    assert not [e for e in game.events if e.kind in (EventKind.HAND, EventKind.CRIB)]
    assert game.legal_actions() == []


STEPS: dict[str, tuple[EventKind, Source]] = {
    "heels": (EventKind.HEELS, Source.HEELS),
    "go": (EventKind.GO_POINT, Source.PLAY_PONE),
    "last": (EventKind.LAST_CARD, Source.PLAY_DEALER),
    "hand": (EventKind.HAND, Source.HAND_PONE),
    "crib": (EventKind.CRIB, Source.CRIB),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_first_to_reach_the_target_wins(name: str) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    target = given["target"]
    rules = Rules(target=target, **(NO_SKUNKS if target < 121 else {})).to_array()
    row = np.zeros(S.STATE_SIZE, np.int64)
    players = ["pone", "dealer"]
    row[S.PHASE], row[S.DEALER], row[S.WINNER] = Phase.PLAY, 1, -1
    row[S.SCORE : S.SCORE + 2] = [given["scores"][player] for player in players]
    events = np.zeros((S.EVENT_CAPACITY, S.EVENT_WIDTH), np.int64)
    raw = dict(given["scores"])
    ended_at = None
    for step in given["scoring_sequence"]:
        kind, source = STEPS[step["event"]]
        seat = players.index(step["player"])
        engine.peg(row, rules, seat, step["points"], source, events, kind, 0)
        if ended_at is None:
            raw[step["player"]] += step["points"]
            ended_at = step["event"] if row[S.PHASE] == Phase.OVER else None
    assert players[row[S.WINNER]] == expected["winner"]
    assert ended_at == expected["ended_at"]
    assert raw == expected["raw_scores"]
    assert dict(zip(players, row[S.SCORE : S.SCORE + 2].tolist())) == expected["clamped"]
    assert EventKind(events[events[0, 0], 0]) == EventKind.WIN


def test_the_dealer_may_win_by_a_jack() -> None:
    """END-03 in a game: two for his heels at 120, before a card is laid."""
    expected = CASES["END-03"]["expect"]
    kept = {0: "AC 2C 3C 4C", 1: "5C 6C 7C 8C"}
    game = game_in_play(kept, 1, starter="JD", scores=[118, 120])
    assert game.is_over
    assert game.winner == 1
    assert game.scores == (expected["clamped"]["pone"], expected["clamped"]["dealer"])
    heels = next(event for event in game.events if event.kind == EventKind.HEELS)
    assert (heels.points, heels.worth) == (1, 2)


def test_pone_counts_first() -> None:
    """END-04 in a game: one point takes pone out before the dealer's 8 and his crib of 16."""
    given = CASES["END-04"]["input"]
    kept = {0: "2C 4H 6S JD", 1: "5H TC TD 8C"}
    thrown = {0: "QC QH", 1: "5C 5D"}
    crib = " ".join(thrown.values())
    shows = [show_score(kept[0], "KD"), show_score(kept[1], "KD"), show_score(crib, "KD", True)]
    assert [show.total for show in shows] == [step["points"] for step in given["scoring_sequence"]]
    pegged_by_the_dealer = 2  # a go at 30 and last card
    game = game_in_play(
        kept,
        1,
        thrown=thrown,
        starter="KD",
        scores=[given["scores"]["pone"], given["scores"]["dealer"] - pegged_by_the_dealer],
    )
    for card in parse_cards("JD TC 2C 8C 4H TD 6S 5H"):
        game.apply(card)
    assert game.winner == 0
    assert game.scores == (121, given["scores"]["dealer"])
    assert [event.kind for event in game.last_events if event.kind in PEGS] == [
        EventKind.LAST_CARD,
        EventKind.HAND,
    ]


# The deal


def test_cards_are_cut_by_rank() -> None:
    given, expected = CASES["DEAL-01"]["input"]["cut"], CASES["DEAL-01"]["expect"]
    ranks = np.array([RANKS.index(card[0]) for card in given.values()])
    dealer = int(engine.lowest_cut(ranks))
    assert list(given)[dealer] == expected["first_dealer"]
    assert (dealer < 0) is expected["recut"]
    assert engine.lowest_cut(np.array([9, 9])) == -1
    assert engine.lowest_cut(np.array([4, 2, 2])) == -1
    assert engine.lowest_cut(np.array([4, 4, 0])) == 2


def test_the_deal_alternates() -> None:
    case = CASES["DEAL-03"]
    players = case["input"]["players"]
    first = players.index(case["input"]["first_dealer"])
    dealers = [0] * case["input"]["hands"]
    for game in random_decisions(3, dealer=first):
        if game.deal <= len(dealers):
            dealers[game.deal - 1] = game.dealer
    assert [players[seat] for seat in dealers] == case["expect"]["dealers"]


def whole_first_deal(rules: Rules, dealer: int) -> tuple[Game, Game]:
    """A game after the throws, and when the first deal is over; nobody wins in it."""
    game = Game(rules, 5, dealer=dealer)
    while game.phase == "discard":
        game.apply(game.legal_actions()[0])
    begun = game.copy()
    while game.deal == 1:
        game.apply(game.legal_actions()[0])
    return begun, game


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("DEAL-06", Rules(players=3, dealt=5, thrown=1, blind=1)),
        ("DEAL-07", Rules(players=4, dealt=5, thrown=1, teams=True)),
    ],
)
def test_more_players_are_dealt(name: str, rules: Rules) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    players = given["players"]
    dealer = players.index("d")
    begun, after = whole_first_deal(rules, dealer)
    row = begun.state()
    dealt = rules.players * rules.dealt + rules.blind
    assert int(row[S.CRIB]).bit_count() == expected["crib_size"]
    assert {len(begun.hand(seat)) for seat in range(rules.players)} == {expected["kept_each"]}
    assert players[begun.to_act] == expected["lead"]
    assert 52 - dealt == expected["remaining_deck_before_cut"]
    shown = [
        "crib" if event.kind == EventKind.CRIB else players[event.seat]
        for event in after.events
        if event.kind in (EventKind.HAND, EventKind.CRIB)
    ]
    assert shown == expected["show_order"]
    assert after.dealer == (dealer + 1) % rules.players


def test_partners_sit_opposite() -> None:
    expected = CASES["DEAL-07"]["expect"]
    players = CASES["DEAL-07"]["input"]["players"]
    rules = Rules(players=4, dealt=5, thrown=1, teams=True)
    teams: list[list[str]] = [[], []]
    for seat, player in enumerate(players):
        teams[rules.side(seat)].append(player)
    assert teams == expected["teams"]
    begun, after = whole_first_deal(rules, 0)
    assert len(begun.scores) == 2
    sums = [0, 0]
    for event in after.events:
        sums[rules.side(event.seat)] += event.points
    assert after.scores == tuple(sums)
    assert min(sums) > 0


def test_who_deals_first_in_the_next_game() -> None:
    given, expected = CASES["DEAL-04"]["input"]["previous_game"], CASES["DEAL-04"]["expect"]
    players = ["a", "b"]

    def dealers(next_dealer: Any) -> list[tuple[int, int]]:
        """First dealers of the game before and of the next, where it went as in the case."""
        found = []
        for seed in range(60):
            match = Match(Rules(next_dealer=next_dealer), seed=seed)
            play_by_chance(match.game, seed)
            game = match.game
            if (game.winner, game.dealer) == (0, players.index(given["last_dealer"])):
                found.append((game.first_dealer, match.next_game().first_dealer))
        return found

    assert (given["winner"], given["loser"]) == ("a", "b")
    by_rule = expected["by_rule"]
    assert {after for _, after in dealers("loser")} == {players.index(by_rule["loser_deals"])}
    assert by_rule["cut_again"] == "random"
    assert set(dealers("anew")) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert by_rule["alternate_first_deal"] == "other than previous first dealer"
    assert set(dealers("alternate")) == {(0, 1), (1, 0)}


# Claims


MUGGINS = Rules(counting="manual", muggins=True)
TWELVE = CASES["MUG-01"]["input"]["hand"]


def count_of(rules: Rules, scores: Sequence[int] | None = None) -> Game:
    """Pone, seat 0, is about to count the hand of twelve."""
    return at_the_count(
        game_in_play({0: TWELVE, 1: "3D 9H TD KD"}, 1, starter="2C", rules=rules, scores=scores)
    )


@pytest.mark.parametrize("muggins", [True, False])
def test_a_claim_may_miss_points(muggins: bool) -> None:
    given, expected = CASES["MUG-01"]["input"], CASES["MUG-01"]["expect"]
    score = show_score(given["hand"], given["starter"])
    assert score.total == expected["actual"]
    for part, points in expected["breakdown"].items():
        assert getattr(score, part) == points, part
    game = count_of(Rules(counting="manual", muggins=muggins))
    assert set(game.to_count) == set(parse_cards(given["hand"]))
    pone, dealer = game.scores
    game.claim(given["claimed"])
    assert game.scores[0] - pone == expected["claimer_gets"]
    assert given["muggins"]
    assert game.scores[1] - dealer == (expected["opponent_gets"] if muggins else 0)


def test_a_claim_is_corrected_before_the_next() -> None:
    given, expected = CASES["MUG-03"]["input"], CASES["MUG-03"]["expect"]
    kept = {0: "7C 8D 9H 2S", 1: "3D 9C TD QD"}
    actual = given["actual"]["pone_hand"]
    assert show_score(kept[0], "KD").total == actual
    game = at_the_count(game_in_play(kept, 1, starter="KD", rules=MUGGINS))
    order: list[str] = []
    while game.deal == 1:
        name = ("pone_hand", "dealer_hand", "crib")[len(order)]
        assert game.to_act == (0 if name == "pone_hand" else 1)
        before = game.scores
        game.claim(given["claim"].get(name, 29))
        order.append(name)
        if name == "pone_hand":
            assert game.scores[0] - before[0] == expected["claimer_gets"]
            assert game.scores[1] - before[1] == expected["opponent_gets"]
            assert given["order"][len(order)] == expected["corrected_before"]
    assert order == given["order"]


def test_without_claims_all_is_counted() -> None:
    given, expected = CASES["MUG-04"]["input"], CASES["MUG-04"]["expect"]
    rules = get_rules(given["profile"])
    kept = {0: given["hand"], 1: "3D 9H TD KD"}
    game = game_in_play(kept, 1, starter=given["starter"], rules=rules)
    while game.deal == 1:
        assert game.phase == "play"
        game.apply(game.legal_actions()[0])
    hand = next(event for event in game.last_events if event.kind == EventKind.HAND)
    assert (hand.seat, hand.points, hand.worth) == (0, expected["claimer_gets"], expected["actual"])
    others = [event for event in game.events if event.kind == EventKind.MUGGINS]
    assert len(others) == expected["opponent_gets"]
    assert given["claimed"] is None
    with pytest.raises(IllegalActionError, match="there is nothing to count now"):
        game.claim(12)


def test_muggins_may_win_the_game() -> None:
    given, expected = CASES["END-12"]["input"], CASES["END-12"]["expect"]
    claimed, missed, unseen = (step["points"] for step in given["scoring_sequence"])
    kept, starter = {0: "3D 5D 2H TD", 1: "JS 2S TC QH"}, "3S"
    assert show_score(kept[0], starter).total == claimed + missed
    assert show_score(kept[1], starter).total == unseen
    at = [given["scores"]["pone"], given["scores"]["dealer"]]

    def counting(scores: Sequence[int] | None = None) -> Game:
        game = game_in_play(kept, 1, starter=starter, rules=MUGGINS, scores=scores)
        return at_the_count(game)

    game = counting([score - pegged for score, pegged in zip(at, counting().scores)])
    assert game.scores == tuple(at)
    game.claim(claimed)
    assert ("pone", "dealer")[game.winner or 0] == expected["winner"]
    assert game.scores == (expected["clamped"]["pone"], expected["clamped"]["dealer"])
    assert [event.kind for event in game.last_events] == [
        EventKind.HAND,
        EventKind.MUGGINS,
        EventKind.WIN,
    ]
    assert expected["ended_at"] == "muggins"
    assert game.to_count == ()


# Variations


@pytest.mark.parametrize("name", SKUNKS)
def test_skunk_lines(name: str) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    rules = Rules(
        target=given["winner_score"],
        skunk_line=given["skunk_line"],
        double_skunk_line=given["double_line"],
    )
    assert rules == Rules()
    skunk = rules.skunk(given["loser_score"])
    assert (skunk > 0) is expected["skunk"]
    assert (skunk == 2) is expected["double_skunk"]


def test_each_loser_is_skunked_for_himself() -> None:
    given, expected = CASES["VAR-09"]["input"], CASES["VAR-09"]["expect"]
    rules = Rules(players=3, dealt=5, thrown=1, blind=1)
    losers = {name: score for name, score in given["scores"].items() if score < rules.target}
    assert given["scores"].keys() - losers.keys() == {expected["winner"]}
    assert {name: rules.skunk(score) > 0 for name, score in losers.items()} == expected["skunked"]
    assert expected["winner_match_points_if_sum"] == "1 + 1 for b (option), losers 0"
    assert rules.worth(list(given["scores"].values())) == 1 + 1


def test_both_five_card_games_can_be_told() -> None:
    case = CASES["VAR-18"]
    thrown = {"historic": 2, "comment-jouer": 1}
    for name, expected in case["expect"].items():
        rules = Rules(dealt=5, thrown=thrown[name], target=61, **NO_SKUNKS)
        game = Game(rules, 1)
        while game.phase == "discard":
            game.apply(game.legal_actions()[0])
        assert rules.dealt == case["input"]["dealt"]
        assert rules.players == case["input"]["players"]
        assert len(game.hand(0)) == len(game.hand(1)) == rules.kept == expected["kept"]
        assert int(game.state()[S.CRIB]).bit_count() == expected["crib"]
        assert rules.target == expected["target"]
