"""Counting by hand: claims, what they miss, and muggins."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from crib_env import Event, Game, IllegalActionError, Rules, aec
from crib_env.cards import parse_cards
from crib_env.rules import FOUR_PLAYER, PRESETS, THREE_PLAYER
from crib_env.state import EventKind, Phase
from tests.crib_env.support import at_the_count, game_in_play

MANUAL = Rules(counting="manual")
MUGGINS = Rules(counting="manual", muggins=True)
KEPT = {0: "7C 8D 9H 2S", 1: "4D 5H 6C TD"}
THROWN = {0: "3C 3D", 1: "QS QD"}
WORTH = {"pone": 5, "dealer": 9, "crib": 4}
"""With the king of diamonds: 7 8 9 and 7 8; 4 5 6, three fifteens; two pairs."""


def counting(rules: Rules = MANUAL, scores: Sequence[int] | None = None) -> Game:
    """Pone, seat 0, is to count; seat 1 deals."""
    return at_the_count(
        game_in_play(KEPT, 1, thrown=THROWN, starter="KD", rules=rules, scores=scores)
    )


def gained(game: Game, points: int) -> tuple[int, ...]:
    """What a claim brings to each side."""
    before = game.scores
    game.claim(points)
    return tuple(after - score for after, score in zip(game.scores, before))


def told(events: Sequence[Event]) -> list[tuple[str, int, int, int]]:
    return [(event.kind.name.lower(), event.seat, event.points, event.worth) for event in events]


def test_claims_are_closed_one_after_the_other() -> None:
    game = counting()
    row = (game.phase, game.to_act, game.to_count, game.legal_actions())
    assert row == ("count", 0, tuple(sorted(parse_cards(KEPT[0]))), [])
    assert gained(game, WORTH["pone"]) == (5, 0)
    assert told(game.last_events) == [("hand", 0, 5, 5)]
    assert (game.phase, game.to_act) == ("count", 1)
    assert game.to_count == tuple(sorted(parse_cards(KEPT[1])))
    assert gained(game, WORTH["dealer"]) == (0, 9)
    assert (game.phase, game.to_act, game.deal) == ("count", 1, 1)
    assert game.to_count == tuple(sorted(parse_cards("3C 3D QS QD")))
    assert gained(game, WORTH["crib"]) == (0, 4)
    assert told(game.last_events)[0] == ("crib", 1, 4, 4)
    assert (game.phase, game.deal, game.dealer, game.to_count) == ("discard", 2, 0, ())
    assert game.actions[-3:] == (5, 9, 4)


@pytest.mark.parametrize("claimed", [0, 1, 4])
def test_what_a_claim_misses_is_lost(claimed: int) -> None:
    game = counting()
    assert gained(game, claimed) == (claimed, 0)
    assert told(game.last_events) == [("hand", 0, claimed, claimed)]


@pytest.mark.parametrize("claimed", [0, 1, 4])
def test_with_muggins_the_other_side_pegs_it(claimed: int) -> None:
    game = counting(MUGGINS)
    assert gained(game, claimed) == (claimed, 5 - claimed)
    assert told(game.last_events) == [
        ("hand", 0, claimed, claimed),
        ("muggins", 1, 5 - claimed, 5 - claimed),
    ]
    assert str(game.last_events[-1]) == f"seat 1 muggins 2S 7C 8D 9H for {5 - claimed}"
    assert gained(game, 7) == (2, 7)  # the dealer's hand
    assert gained(game, 0) == (4, 0)  # his crib


@pytest.mark.parametrize("rules", [MANUAL, MUGGINS])
@pytest.mark.parametrize("claimed", [5, 6, 29])
def test_too_much_is_corrected(rules: Rules, claimed: int) -> None:
    game = counting(rules)
    assert gained(game, claimed) == (5, 0)
    assert told(game.last_events) == [("hand", 0, 5, 5)]


def test_three_players_give_to_the_left() -> None:
    rules = replace(THREE_PLAYER, counting="manual", muggins=True)
    kept = {0: "4D 5H 6C TD", 1: "7C 8D 9H 2S", 2: "TC JC QH KS"}
    game = at_the_count(game_in_play(kept, 0, starter="KD", rules=rules))
    assert game.to_act == 1
    assert gained(game, 0) == (0, 0, 5)
    assert game.to_act == 2
    assert gained(game, 1) == (9, 0, 1)  # two runs of four and a pair
    assert game.to_act == 0
    assert gained(game, 0) == (0, 9, 0)


def test_partners_give_to_the_other_side() -> None:
    rules = replace(FOUR_PLAYER, counting="manual", muggins=True)
    kept = {0: "4D 5H 6C TD", 1: "7C 8D 9H 2S", 2: "TC JC QH KS", 3: "AC AD 2D 2C"}
    game = at_the_count(game_in_play(kept, 0, starter="KD", rules=rules))
    assert gained(game, 2) == (3, 2)
    assert game.last_events[-1].seat == 2
    assert gained(game, 10) == (10, 0)
    assert gained(game, 0)[1] == 0


def test_a_claim_that_wins() -> None:
    start = counting().scores
    game = counting(scores=[116 - start[0], 100])
    assert gained(game, 5) == (5, 0)
    assert (game.phase, game.winner, game.to_count) == ("over", 0, ())
    with pytest.raises(IllegalActionError, match="there is nothing to count now"):
        game.claim(0)
    with pytest.raises(IllegalActionError, match="the game is over"):
        game.apply("KC")


def test_too_small_a_claim_wins_nothing() -> None:
    start = counting().scores
    game = counting(scores=[116 - start[0], 100])
    assert gained(game, 4) == (4, 0)
    assert game.winner is None


def test_muggins_may_end_the_game() -> None:
    start = counting().scores
    game = counting(MUGGINS, scores=[110, 118 - start[1]])
    assert gained(game, 1) == (1, 3)
    assert game.scores[1] == 121
    assert (game.phase, game.winner) == ("over", 1)
    assert told(game.last_events) == [("hand", 0, 1, 1), ("muggins", 1, 3, 4), ("win", 1, 0, 0)]


def test_a_claim_that_wins_leaves_no_muggins() -> None:
    """The claim is pegged first: who goes out by it cannot be overtaken."""
    start = counting().scores
    game = counting(MUGGINS, scores=[120 - start[0], 120 - start[1]])
    assert gained(game, 1) == (1, 0)
    assert game.winner == 0
    assert [event.kind for event in game.last_events] == [EventKind.HAND, EventKind.WIN]


def test_heels_come_with_the_dealers_claim() -> None:
    rules = replace(MANUAL, heels_timing="show")
    game = at_the_count(game_in_play(KEPT, 1, thrown=THROWN, starter="JH", rules=rules))
    game.claim(0)
    assert told(game.last_events) == [("hand", 0, 0, 0), ("heels", 1, 2, 2)]
    game.claim(0)
    assert told(game.last_events) == [("hand", 1, 0, 0)]  # not a second time


# Refusals


def test_cards_are_refused_in_the_count() -> None:
    game = counting()
    before = game.state().tolist()
    for card in ("7C", "KD"):
        with pytest.raises(
            IllegalActionError, match=r"^seat 0 has to claim points for 2S 7C 8D 9H"
        ):
            game.apply(card)
    assert game.state().tolist() == before


@pytest.mark.parametrize("points", [-1, 30, 5.0, "5", None, True, [5]], ids=repr)
def test_what_is_no_claim(points: Any) -> None:
    game = counting()
    before = game.state().tolist()
    with pytest.raises(IllegalActionError, match=r"^a claim ") as refused:
        game.claim(points)
    assert "\n" not in str(refused.value)
    assert game.state().tolist() == before


@pytest.mark.parametrize("rules", [Rules(), MANUAL])
def test_claims_are_refused_elsewhere(rules: Rules) -> None:
    game = Game(rules, 3)
    for _ in range(8):
        with pytest.raises(IllegalActionError, match="there is nothing to count now"):
            game.claim(4)
        game.apply(game.legal_actions()[0])


def test_numbers_from_numpy_are_claims() -> None:
    game = counting()
    game.claim(np.int64(5))  # type: ignore[arg-type]
    assert game.actions[-1] == 5
    assert Game.from_json(game.to_json()) == game


# Going back, keeping


def test_undo_across_claims() -> None:
    game = counting(MUGGINS)
    states = [game.state().tolist()]
    for points in (3, 9, 0):
        game.claim(points)
        states.append(game.state().tolist())
    game.apply(game.legal_actions()[0])
    game.undo()
    for state in reversed(states):
        assert game.state().tolist() == state
        game.undo()
    assert game.phase == "play"
    assert game.scores == counting_before_last().scores


def counting_before_last() -> Game:
    game = counting(MUGGINS)
    game.undo()
    return game


def played_with_claims(seed: int, rules: Rules) -> Game:
    """A whole game in which hands are claimed by chance, near what they are worth."""
    game, chance = Game(rules, seed), random.Random(seed)
    while not game.is_over:
        if game.phase == "count":
            game.claim(chance.choice([29, chance.randrange(30), 4]))
        else:
            game.apply(chance.choice(game.legal_actions()))
    return game


@pytest.mark.parametrize("muggins", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_points_are_the_sum_of_events(name: str, muggins: bool) -> None:
    rules = replace(PRESETS[name], counting="manual", muggins=muggins)
    missed = 0
    for seed in range(5):
        game = played_with_claims(seed, rules)
        points = [0] * rules.sides
        points[rules.side((game.first_dealer + 1) % rules.players)] = rules.pone_start
        for event in game.events:
            points[rules.side(event.seat)] += event.points
            missed += event.kind == EventKind.MUGGINS
        assert game.scores == tuple(points)
        again = Game.from_json(game.to_json())
        assert again == game
        assert again.actions == game.actions
        while again.actions:
            again.undo()
        assert again == Game(rules, seed)
    assert bool(missed) is muggins


def test_claims_are_kept_in_json() -> None:
    game = counting(MUGGINS)
    game.claim(3)
    saved = json.loads(game.to_json())
    assert saved["actions"][-1] == 3
    for twin in (
        Game.from_json(game.to_json()),
        pickle.loads(pickle.dumps(game)),
        copy.deepcopy(game),
    ):
        assert twin == game
        assert twin.to_count == game.to_count
        twin.claim(9)
        assert twin != game
    for wrong in (30, -1, "five", None, 2.5, True, "7C"):
        damaged = json.dumps(saved | {"actions": [*saved["actions"][:-1], wrong]})
        with pytest.raises(ValueError, match=r"claim|is not a card") as refused:
            Game.from_json(damaged)
        assert "\n" not in str(refused.value)


def test_the_table_in_the_count() -> None:
    game = counting()
    score = "-".join(map(str, game.scores))
    assert repr(game).startswith(f"<Game own rules, {score}, deal 1, count, seat 0 to act\n")
    assert "starter KD" in repr(game)
    for seat in (0, 1):
        view = game.view(seat)
        assert view.hand == ()
        assert view.legal() == ()


def test_nobody_sees_more_than_was_claimed() -> None:
    """The dealer's hand and crib are known to pone only when they have been counted."""
    game = counting()
    crib = set(parse_cards("QS QD"))
    for claimed in (5, 9, 4):
        seen = {card for event in game.events_for(0) for card in event.cards}
        assert not seen & crib
        game.claim(claimed)
    assert crib <= {card for event in game.events_for(0) for card in event.cards}


# The environments count by themselves


def test_environments_count_automatically() -> None:
    rules = {"counting": "manual", "muggins": True}
    table = aec.env(rules=rules)
    table.reset(seed=1)
    for agent in table.agent_iter():
        observation, _, terminated, _, _ = table.last()
        mask = observation["action_mask"]
        table.step(None if terminated else table.action_space(agent).sample(mask))
    batch = table.unwrapped._batch
    assert batch.states[0][0] == Phase.OVER
    assert batch.scores.max() == 121
    env = gymnasium.make("crib_env/Cribbage-v0", opponent="random", rules=rules)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
    assert max(info["scores"]) == 121
