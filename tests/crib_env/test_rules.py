"""The settings of the game: what may be set, what contradicts itself, and in which words."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from crib_env import Game, InvalidRulesError, Rules, get_rules
from crib_env import rules as R
from crib_env.rules import PRESETS
from tests.crib_env.support import VARIANTS


def test_the_standard_game() -> None:
    rules = get_rules("six-card")
    assert rules == Rules() == PRESETS["six-card"]
    assert (rules.players, rules.dealt, rules.thrown, rules.kept, rules.sides) == (2, 6, 2, 4, 2)
    assert (rules.target, rules.skunk_line, rules.double_skunk_line) == (121, 91, 61)
    assert rules.first_dealer == "random"
    assert rules.crib_flush == "five"
    assert rules.heels_timing == "cut"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"players": 1}, "players is a whole number from 2 to 4, not 1"),
    ({"players": 5}, "players is a whole number from 2 to 4, not 5"),
    ({"players": True}, "players is a whole number from 2 to 4, not True"),
    ({"players": "2"}, "players is a whole number from 2 to 4, not '2'"),
    ({"players": 2.0}, "players is a whole number"),
    ({"dealt": 7}, "dealt is a whole number from 2 to 6, not 7"),
    ({"thrown": -1}, "thrown is a whole number from 0 to 2, not -1"),
    ({"dealt": 6, "thrown": 1}, "each seat keeps 2 to 4 cards, but 6 dealt less 1 thrown leaves 5"),
    ({"dealt": 3, "thrown": 2}, "leaves 1"),
    ({"players": 3}, "a crib holds up to 4 cards, not 6"),
    ({"blind": 1}, "a crib holds up to 4 cards, not 5"),
    ({"target": 0}, "target is a whole number from 1 to 1000, not 0"),
    ({"target": None}, "target is a whole number"),
    ({"target": 61}, "skunk_line is a number of points from 1 to the target or nothing, not 91"),
    ({"skunk_line": None}, "double_skunk_line lies below skunk_line"),
    ({"skunk_line": 61}, "double_skunk_line lies below skunk_line"),
    ({"skunk_line": True}, "skunk_line is a number of points"),
    ({"double_skunk_line": 0}, "double_skunk_line is a number of points"),
    ({"teams": True}, "partners need four players, not 2"),
    ({"teams": 1}, "teams is true or false, not 1"),
    ({"short_flush": None}, "short_flush is true or false, not None"),
    ({"crib_flush": "three"}, "crib_flush is one of five, four, not 'three'"),
    ({"crib_flush": 5}, "crib_flush is one of five, four, not 5"),
    ({"heels_timing": ["cut"]}, "heels_timing is one of cut, show"),
    ({"first_dealer": "high"}, "first_dealer is one of random, low_cut, not 'high'"),
    ({"leader_after_reset": ""}, "leader_after_reset is one of left_of_last, go_caller"),
    ({"go_continuation": "none"}, "go_continuation is one of all, first_after_go"),
    ({"pone_start": 101}, "pone_start is a whole number from 0 to 100, not 101"),
    ({"counting": "by hand"}, "counting is one of automatic, manual, not 'by hand'"),
    ({"muggins": 1}, "muggins is true or false, not 1"),
    ({"muggins": True}, "muggins needs manual counting: an automatic count misses nothing"),
    ({"short_flush": True}, "a short flush is of three cards, but 4 are kept"),
    ({"next_dealer": "winner"}, "next_dealer is one of alternate, loser, anew, not 'winner'"),
    ({"match_target": 0}, "match_target is a whole number from 1 to 1000 or nothing, not 0"),
    ({"match_target": True}, "match_target is a whole number from 1 to 1000 or nothing"),
    ({"match_target": "7"}, "match_target is a whole number from 1 to 1000 or nothing, not '7'"),
    ({"match_points": (1, 2)}, "match_points are what a game, a skunk and a double skunk are"),
    ({"match_points": (2, 1, 3)}, "none below the one before"),
    ({"match_points": (0, 1, 2)}, "three whole numbers from 1"),
    ({"match_points": (1, 2, 101)}, "match_points are what"),
    ({"match_points": (1, 2, True)}, "match_points are what"),
    ({"match_points": 3}, "match_points are what"),
    (
        {"target": 10, "pone_start": 10, "skunk_line": None, "double_skunk_line": None},
        "pone cannot start at or past the target",
    ),
]


@pytest.mark.parametrize(("settings", "words"), WRONG)
def test_contradictions_are_told(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRulesError, match=words) as refused:
        Rules(**settings)
    assert "\n" not in str(refused.value)
    with pytest.raises(InvalidRulesError, match=words):
        get_rules(settings)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("bridge", "no rules named 'bridge'; there are six-card"),
        ("", "no rules named ''"),
        (None, "rules are a preset's name or fields, not None"),
        (3, "rules are a preset's name or fields, not 3"),
        (["six-card"], "rules are a preset's name or fields"),
        ({"card_game": 1}, "rules have no field 'card_game'"),
        ({1: 2}, "rules have no field 1"),
        ({"preset": "bridge"}, "no rules named 'bridge'"),
        ({"preset": None}, "rules are a preset's name or fields, not None"),
    ],
)
def test_what_are_no_rules(rules: Any, words: str) -> None:
    with pytest.raises(InvalidRulesError, match=words):
        get_rules(rules)
    with pytest.raises(InvalidRulesError, match=words):
        Game(rules)


def test_fields_start_from_a_preset() -> None:
    given = {"preset": "six-card", "target": 200}
    assert get_rules(given) == get_rules({"target": 200}) == replace(Rules(), target=200)
    assert given == {"preset": "six-card", "target": 200}
    assert get_rules(Rules(target=200)) == Rules(target=200)


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_rules_are_values(rules: Rules) -> None:
    rules.to_array()
    assert get_rules(rules.to_json()) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert copy.deepcopy(rules) == rules
    assert hash(replace(rules)) == hash(rules)
    assert eval(repr(rules)) == rules
    with pytest.raises(FrozenInstanceError):
        rules.target = 3  # type: ignore[misc]


def test_only_a_preset_is_told_by_its_name() -> None:
    assert Rules().to_json() == "six-card"
    told = Rules(target=200).to_json()
    assert isinstance(told, dict)
    assert told.keys() == {field.name for field in fields(Rules)}


def test_every_field_reaches_the_engine() -> None:
    """Each field but those of a match changes the row that the engine reads, in one place."""
    others: dict[str, Any] = {
        "players": 3, "dealt": 3, "thrown": 1, "blind": 1, "target": 100, "teams": True,
        "heels_timing": "show", "crib_flush": "four", "short_flush": True,
        "first_dealer": "low_cut", "leader_after_reset": "go_caller",
        "go_continuation": "first_after_go", "play_single_count": True, "pone_start": 3,
        "counting": "manual", "muggins": True,
    }  # fmt: skip
    match = {"skunk_line", "double_skunk_line", "match_points", "match_target", "next_dealer"}
    assert others.keys() == {field.name for field in fields(Rules)} - match
    base: dict[str, Any] = {"players": 4, "dealt": 4, "thrown": 0}
    # Some settings need another beside them.
    beside: dict[str, dict[str, Any]] = {
        "short_flush": {"dealt": 3},
        "muggins": {"counting": "manual"},
    }
    assert Rules(**base).to_array().shape == (R.N_SETTINGS,)
    changed: set[int] = set()
    for name, value in others.items():
        given = base | beside.get(name, {})
        row = Rules(**given).to_array()
        places = np.flatnonzero(Rules(**(given | {name: value})).to_array() != row)
        assert len(places) == 1, name
        changed.update(places.tolist())
    assert len(changed) == R.N_SETTINGS


def test_the_engines_row_cannot_be_written() -> None:
    rules = Rules()
    with pytest.raises(ValueError, match="read-only"):
        rules.to_array()[:] = 0
    assert rules.to_array()[R.TARGET] == 121


def test_sides_and_partners() -> None:
    four = VARIANTS["partners"]
    assert four.sides == 2
    assert [four.side(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert [VARIANTS["four"].side(seat) for seat in range(4)] == [0, 1, 2, 3]


def test_skunks() -> None:
    rules = Rules()
    assert [rules.skunk(points) for points in (120, 91, 90, 61, 60, 0)] == [0, 0, 1, 1, 2, 2]
    assert Rules(double_skunk_line=None).skunk(0) == 1
    assert VARIANTS["to-61"].skunk(0) == 0
