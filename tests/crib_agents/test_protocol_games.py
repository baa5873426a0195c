"""Whole games through the wire protocol, of two to four players, by every bot."""

from __future__ import annotations

import random
from typing import Any

import pytest

from crib_agents import BotError, bot_names
from crib_agents.serve.protocol import Session
from crib_env import Card, Game, SeatView, get_rules
from crib_env.rules import PRESETS
from crib_env.state import EventKind
from tests.crib_agents.wire import LowestCard, act, ask

GAMES: dict[str, Any] = {
    **{name: name for name in PRESETS},
    "house rules for three": {
        "preset": "three-player",
        "leader_after_reset": "go_caller",
        "go_continuation": "first_after_go",
    },
    "four for themselves": {"preset": "four-player", "teams": False},
}
"""What a message may have as its ``rules``."""

every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)


def _decisions(seed: int, rules: Any = "six-card") -> list[tuple[Game, int]]:
    """Every state of a random game in which somebody decides."""
    game = Game(rules, seed=seed)
    states = []
    while not game.is_over:
        states.append((game.copy(), game.to_act))
        legal = game.legal_actions()
        game.apply(legal[(seed * 31 + len(states) * 17) % len(legal)])
    return states


def _players(rules: Any) -> list[str]:
    """The names of those that play this game: what is trained is trained for one."""
    try:
        Session("hard", rules)
    except BotError:
        return [name for name in bot_names() if name != "hard"]
    return list(bot_names())


def test_hard_plays_whatever_is_dealt_and_played_as_its_own_game() -> None:
    assert "hard" in _players("six-card")
    assert "hard" not in _players("three-player")
    answer = act(Session("hard"), {"seat": 0, "dealer": 0, "hand": ["5H"], "rules": "five-card"})
    assert answer["error"]["code"] == "invalid-rules"
    assert "plays another game" in answer["error"]["message"]


@every_game
@pytest.mark.parametrize("seed", range(2))
def test_every_decision_of_a_game(seed: int, rules: Any) -> None:
    """By a bot that is there for another game, and by one that is there for this one."""
    names = _players(rules)
    sessions = [Session(name, start) for name in names for start in ("six-card", rules)]
    for game, seat in _decisions(seed, rules):
        view = {**game.view(seat).to_json(), "rules": rules}
        answers = [act(session, view) for session in sessions]
        assert answers[::2] == answers[1::2]
        for answer in answers:
            assert "assumed" not in answer
            cards = answer["discard"] if game.phase == "discard" else [answer["play"]]
            to_throw = game.rules.thrown - len(game.view(seat).discards)
            assert len(set(cards)) == (to_throw if game.phase == "discard" else 1)
            assert {Card(card) for card in cards} <= set(game.legal_actions())


@every_game
def test_the_game_agreed_at_the_start_need_not_be_named(rules: Any) -> None:
    session = Session("easy", rules)
    assert get_rules(ask(session, {"type": "hello"})["rules"]) == get_rules(rules)
    for game, seat in _decisions(7, rules)[:40]:
        view = {**game.view(seat).to_json(), "rules": rules}
        named = act(session, view)
        del view["rules"]
        assert act(session, view) == {**named, "assumed": ["target", "rules", "players"]}


@every_game
def test_explained_in_every_game(rules: Any) -> None:
    session = Session("medium", rules)
    standard = get_rules(rules).players == 2 and get_rules(rules).dealt == 6
    for game, seat in _decisions(3, rules)[::9]:
        answer = act(session, {**game.view(seat).to_json(), "rules": rules}, explain=True)
        values = [option["value"] for option in answer["options"]]
        assert all((value is not None) == standard for value in (answer["value"], *values))
        (chosen,) = [option["cards"] for option in answer["options"] if "chosen" in option]
        assert chosen == (answer.get("discard") or [answer["play"]])


def _before_each_go(game: Game) -> list[tuple[int, list[list[Any]]]]:
    """Each go of the last move, and the play until then, as a front end knows it."""
    events = game.last_events
    gone = [event for event in events if event.kind == EventKind.GO]
    history = [entry.to_json() for entry in game.view(0).plays]
    found = []
    for go in gone:
        place = max(at for at, entry in enumerate(history) if entry == [go.seat, "go"])
        found.append((go.seat, history[:place]))
    return found


@every_game
def test_a_go_is_answered_where_the_rules_have_one(rules: Any) -> None:
    session = Session("random")
    asked = 0
    for seed in range(12):
        game = Game(rules, seed=seed)
        chance = random.Random(seed)
        seats = range(game.rules.players)
        while not game.is_over:
            held = [game.hand(seat) for seat in seats]
            before = [game.view(seat) for seat in seats]
            mover, card = game.to_act, chance.choice(game.legal_actions())
            deal = game.deal
            game.apply(card)
            if game.deal != deal or game.is_over:
                continue
            for seat, plays in _before_each_go(game):
                hand = [str(c) for c in held[seat] if not (seat == mover and c == card)]
                view = {**before[seat].to_json(), "hand": hand, "plays": plays, "rules": rules}
                view["starter"] = str(game.starter)
                assert act(session, view).get("go") is True, view
                asked += 1
    # Of one series of three cards each, a go is the end as a rule.
    assert asked > (5 if game.rules.play_single_count else 50), asked


@every_game
def test_who_is_not_to_act_is_told_so(rules: Any) -> None:
    session = Session("random")
    told = 0
    for game, seat in _decisions(5, rules):
        for other in range(game.rules.players):
            view = game.view(other)
            if other == seat or view.phase != "play" or not view.hand:
                continue
            answer = act(session, {**view.to_json(), "rules": rules})
            # Only a count above 21 leaves room for a go that the view does not tell of.
            if view.count <= 21:
                assert answer["error"]["code"] == "not-your-turn", view
                told += 1
            elif "error" not in answer:
                assert "go" in answer or Card(answer["play"]) in view.hand
    assert told > 20


# Front ends that know the current series only.


def _series(view: SeatView) -> list[list[Any]]:
    """What was laid since the count was last nothing, goes with it."""
    length = len(view.series)
    entries = [entry.to_json() for entry in view.plays]
    if length == 0:
        return []
    starts = [at for at, entry in enumerate(view.plays) if entry.card is not None]
    return entries[starts[-length] :]


@pytest.mark.parametrize(
    ("rules", "owners", "share"),
    [
        ("six-card", True, 0.8),
        ("six-card", False, 0.8),
        ("five-card-historic", True, 1.0),
        ("five-card-historic", False, 1.0),
        ("three-player", True, 0.7),
        ("four-player", True, 0.5),
    ],
)
def test_the_series_alone_is_enough(rules: str, owners: bool, share: float) -> None:
    """What the others hold is not told: mostly it follows, the less the more there are."""
    guessed = right = 0
    for seed in range(8):
        for game, seat in _decisions(seed, rules):
            view = game.view(seat)
            if view.phase != "play":
                continue
            seen: list[SeatView] = []

            class Notes(LowestCard):
                def play(self, view: SeatView, seen: list[SeatView] = seen) -> Card:
                    seen.append(view)
                    return super().play(view)

            pairs = _series(view)
            message = {**view.to_json(), "rules": rules}
            del message["plays"]
            message["series"] = pairs if owners else [card for _, card in pairs]
            answer = act(Session(Notes(), rules), message)
            assert answer.get("assumed") == ["plays"], (message, answer)
            (found,) = seen
            assert (found.count, found.series) == (view.count, view.series)
            assert found.legal() == view.legal()
            if owners or view.held[1 - seat] > 0:  # one that has none lets the other lay twice
                assert [entry.to_json() for entry in found.plays] == pairs
            assert found.held[seat] == view.held[seat]
            guessed += 1
            right += found.held == view.held
    assert guessed > 300
    assert right / guessed >= share


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_a_series_of_three_or_four_needs_its_seats(rules: str) -> None:
    view = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "2S", "9D"], "rules": rules}
    error = act(Session("random"), {**view, "series": ["7C", "8D"]})["error"]
    assert error["code"] == "invalid-view"
    assert "needs its seats" in error["message"]


def test_how_much_was_laid_before_can_be_told() -> None:
    view: dict[str, Any] = {
        "seat": 0,
        "dealer": 0,
        "hand": ["5H", "JC"],
        "series": [],
        "earlier": [2, 4],
    }
    assert act(Session("random"), view)["play"] in view["hand"]
    error = act(Session("random"), {**view, "earlier": [1, 4]})["error"]
    assert error["code"] == "invalid-view"


def test_the_other_has_laid_all_its_cards() -> None:
    """Two cards of ours in a row on a low count: the other cannot have one left."""
    view = {"seat": 0, "dealer": 0, "hand": ["5H", "JC"], "series": [[0, "4C"]]}
    assert act(Session("random"), view)["play"] in ("5H", "JC")
