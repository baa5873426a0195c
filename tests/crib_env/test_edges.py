"""Edges of the rules and of what callers hand in, each of which once went wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crib_env import Game, InvalidViewError, SeatView, aec, get_rules
from crib_env.cards import parse_cards, to_mask
from crib_env.errors import InvalidRulesError
from crib_env.scoring import show_points


@pytest.mark.parametrize("seat", [1.0, True, "0", None, 2, -1])
def test_seats_are_whole_numbers(seat: Any) -> None:
    game = Game(seed=1)
    for asked in (game.hand, game.view, game.events_for):
        with pytest.raises(InvalidViewError, match="there is no seat"):
            asked(seat)


def test_scores_cannot_follow_a_cut_that_has_been_pegged() -> None:
    """Where nobody throws, heels are pegged before a caller could set the scores."""
    rules = get_rules({"dealt": 4, "thrown": 0, "blind": 4})
    deck = "AC 2C 3C 4C 5C 6C 7C 8C 9C TC QC KC JH"
    assert Game(rules, seed=1, dealer=0, deck=deck).scores == (2, 0)
    with pytest.raises(InvalidViewError, match="begin at nought"):
        Game(rules, seed=1, dealer=0, deck=deck, scores=(119, 20))


@pytest.mark.parametrize("version", [True, 1.0, "1", None, 2])
def test_a_version_is_a_number(version: Any) -> None:
    saved = {**json.loads(Game(seed=1).to_json()), "version": version}
    with pytest.raises(InvalidViewError, match="no saved game of version 1"):
        Game.from_json(json.dumps(saved))


def test_a_short_flush_is_for_hands_only() -> None:
    rules = get_rules(
        {"players": 3, "dealt": 4, "thrown": 1, "short_flush": True, "crib_flush": "four"}
    ).to_array()
    three = to_mask(parse_cards("2H 6H QH"))
    starter = int(parse_cards("8S")[0])
    assert show_points(three, starter, False, rules) == 3
    assert show_points(three, starter, True, rules) == 0


def test_who_plays_alone_and_stops_has_said_go() -> None:
    """Only seat 1 may go on after the go of seat 0; that seat 2 is asked means it cannot."""
    view = SeatView.from_json(
        {
            "seat": 2,
            "dealer": 1,
            "hand": ["5S", "6D"],
            "rules": {"preset": "three-player", "go_continuation": "first_after_go"},
            "scores": [0, 3, 0],
            "discards": ["8D"],
            "starter": "2S",
            "plays": [[2, "JS"], [0, "4D"], [1, "4C"], [2, "KC"], [0, "go"], [1, "AC"]],
        }
    )
    assert [str(card) for card in view.legal()] == ["5S", "6D"]


def test_the_pettingzoo_environment_checks_what_it_is_given() -> None:
    with pytest.raises(InvalidRulesError, match="skip_forced is true or false"):
        aec.env(skip_forced="x")
    with pytest.raises(InvalidViewError, match="options are named"):
        aec.env().reset(options=[1])
