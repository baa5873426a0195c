"""Games into matches."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import (
    CribbageError,
    Game,
    IllegalActionError,
    InvalidRulesError,
    InvalidViewError,
    Match,
    Rules,
    get_rules,
)
from crib_env.match import game_worth
from crib_env.rules import PRESETS, SIX_CARD, THREE_PLAYER
from tests.crib_env.support import game_in_play, play_by_chance


def play_on(match: Match, seed: int = 1) -> Match:
    """Play the game at hand to its end."""
    play_by_chance(match.game, seed)
    return match


def play_out(match: Match) -> Match:
    """Play the whole match."""
    while play_on(match, len(match.games)).winner is None:
        match.next_game()
    return match


def finished(rules: Rules, scores: Sequence[int]) -> Game:
    """A game that ended with these scores: the dealer, seat 1, wins it by his heels."""
    start = [*scores]
    start[1] = rules.target - 1
    kept = {0: "2C 4H 6S QD", 1: "5H TC TD 8C", 2: "AC 3D 7H 9S", 3: "2D 4C 6H QS"}
    hands = {seat: kept[seat][: 3 * rules.kept - 1] for seat in range(rules.players)}
    rules = replace(rules, heels_timing="cut")
    return game_in_play(hands, 1, rules=rules, scores=start, starter="JS")


# What a game is worth


@pytest.mark.parametrize(
    ("name", "worths"),
    [
        # loser's points: 120, 91, 90, 89, 61, 60, 0
        ("six-card", (1, 1, 2, 2, 2, 3, 3)),
        ("comment-jouer", (1, 1, 2, 2, 2, 2, 2)),
        ("boite-a-jeux", (1, 1, 1, 2, 2, 2, 2)),
        ("reference-complete", (1, 1, 2, 2, 2, 3, 3)),
        ("contre-l-ordinateur", (1, 1, 1, 1, 1, 1, 1)),
        ("four-player", (1, 1, 2, 2, 2, 3, 3)),
    ],
)
def test_worths_by_preset(name: str, worths: tuple[int, ...]) -> None:
    rules = get_rules(name)
    for points, worth in zip((120, 91, 90, 89, 61, 60, 0), worths):
        assert rules.worth([points, 121]) == rules.worth([121, points]) == worth
        assert game_worth(finished(rules, [points, 121])) == worth


@pytest.mark.parametrize("name", ["five-card", "five-card-historic"])
def test_games_to_61_know_no_skunk(name: str) -> None:
    assert [get_rules(name).worth([61, points]) for points in (0, 30, 60)] == [1, 1, 1]
    assert game_worth(finished(get_rules(name), [0, 61])) == 1


@pytest.mark.parametrize(
    ("losers", "worth"),
    [((120, 95), 1), ((95, 80), 2), ((90, 80), 3), ((95, 60), 3), ((80, 60), 4), ((60, 0), 5)],
)
def test_each_of_two_losers_is_judged_by_his_own_score(losers: tuple[int, int], worth: int) -> None:
    one, other = losers
    assert THREE_PLAYER.worth([one, 121, other]) == THREE_PLAYER.worth([other, 121, one]) == worth
    assert game_worth(finished(THREE_PLAYER, [one, 121, other])) == worth


def test_only_a_finished_game_is_worth_something() -> None:
    with pytest.raises(IllegalActionError, match="the game is not over"):
        game_worth(Game(seed=1))


def test_only_the_winner_gains() -> None:
    for name in ("six-card", "three-player", "four-player"):
        match = play_on(Match(name, seed=8))
        expected = [0] * match.rules.sides
        expected[match.game.winner or 0] = game_worth(match.game)
        assert match.points == tuple(expected)


# The course of a match


@pytest.mark.parametrize("name", PRESETS)
def test_a_match_goes_to_its_target(name: str) -> None:
    match = Match(name, target=4, seed=6)
    while match.winner is None:
        assert max(match.points) < 4
        if match.game.is_over:
            match.next_game()
        play_on(match, len(match.games))
    points = [0] * match.rules.sides
    for game in match.games:
        points[game.winner or 0] += game_worth(game)
    assert match.points == tuple(points)
    assert max(points) >= 4
    assert points[match.winner] == max(points)


def test_a_finished_match_refuses_more() -> None:
    match = play_out(Match(target=2, seed=1))
    number = len(match.games)
    with pytest.raises(IllegalActionError, match="the match is over"):
        match.next_game()
    assert len(match.games) == number
    with pytest.raises(IllegalActionError, match="the game is over"):
        match.game.apply("5H")


def test_the_next_game_waits_for_the_end_of_this_one() -> None:
    match = Match(seed=1)
    for ask in (match.next_game, match.next_dealer):
        with pytest.raises(IllegalActionError, match="the game is not over"):
            ask()
    assert len(match.games) == 1


def test_targets() -> None:
    assert Match().target == 7
    assert Match("boite-a-jeux").target == 7
    assert Match("boite-a-jeux", target=3).target == 3
    assert Match(replace(SIX_CARD, match_target=9)).target == 9
    for target in (0, -1, 1.5, True, "7"):
        with pytest.raises(InvalidViewError):
            Match(target=target)  # type: ignore[arg-type]
    with pytest.raises(InvalidViewError, match="seed is a whole number"):
        Match(seed=-1)
    with pytest.raises(InvalidRulesError, match="no rules named 'whist'"):
        Match("whist")


def test_games_and_matches_differ_by_seed() -> None:
    match = play_out(Match(target=3, seed=5))
    assert len({game.seed for game in match.games}) == len(match.games)
    assert play_out(Match(target=3, seed=5)) == match
    assert Match(seed=5) != Match(seed=6)
    assert Match().seed != Match().seed


# Who deals first in the next game


def next_dealers(rules: Rules, tell: Callable[[Match], int]) -> list[tuple[int, int]]:
    """What was expected of the first dealer of a second game, and who it was."""
    found = []
    for seed in range(40):
        match = play_on(Match(rules, seed=seed), seed)
        expected = tell(match)
        found.append((expected, match.next_game().first_dealer))
    return found


@pytest.mark.parametrize("name", ["six-card", "three-player", "four-player"])
def test_the_first_deal_alternates(name: str) -> None:
    rules = get_rules(name)
    found = next_dealers(rules, lambda match: (match.game.first_dealer + 1) % rules.players)
    assert all(dealer == expected for expected, dealer in found)
    assert {dealer for _, dealer in found} == set(range(rules.players))


@pytest.mark.parametrize("name", ["six-card", "three-player", "four-player"])
def test_the_loser_deals(name: str) -> None:
    rules = replace(get_rules(name), next_dealer="loser")
    found = next_dealers(rules, lambda match: match.game.scores.index(min(match.game.scores)))
    assert all(rules.side(dealer) == side for side, dealer in found)
    assert {side for side, _ in found} == set(range(rules.sides))


def test_of_two_losers_with_equal_points_the_next_in_turn_deals() -> None:
    match = Match(replace(THREE_PLAYER, next_dealer="loser"), seed=1)
    match.games[-1] = finished(match.rules, [80, 121, 80])
    assert match.game.first_dealer == 1
    assert match.next_dealer() == 2


def test_the_first_deal_is_decided_anew() -> None:
    rules = Rules(next_dealer="anew")
    found = next_dealers(rules, lambda match: match.game.first_dealer)
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert play_on(Match(rules, seed=1)).next_dealer() is None


# Kept as text


@pytest.mark.parametrize("name", ["six-card", "three-player", "four-player", "five-card-historic"])
def test_saved_in_the_middle(name: str) -> None:
    """A match that is saved and read again after each game and in the middle goes the same way."""
    whole = play_out(Match(name, target=3, seed=4))
    match = Match(name, target=3, seed=4)
    for number, played in enumerate(whole.games):
        if number:
            match.next_game()
        for at, action in enumerate(played.actions):
            if at == 30:
                saved = match.to_json()
                assert "\n" not in saved
                match = Match.from_json(saved)
            match.game.apply(str(action))
        match = Match.from_json(match.to_json())
    assert match == whole
    assert (match.points, match.winner, repr(match)) == (whole.points, whole.winner, repr(whole))


def test_claims_are_saved() -> None:
    match = play_out(Match(Rules(counting="manual", muggins=True), target=1, seed=2))
    assert Match.from_json(match.to_json()) == match


MATCH = play_on(Match(target=3, seed=2))
MATCH.next_game().apply(MATCH.game.legal_actions()[0])
SAVED = json.loads(MATCH.to_json())
FIRST = SAVED["games"][0]


def games(*changed: Any) -> str:
    return json.dumps({**SAVED, "games": list(changed)})


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ("", "this is no saved match"),
        (json.dumps(SAVED)[:-9], "this is no saved match"),
        (None, "this is no saved match"),
        (b"\xff", "this is no saved match"),
        ("[" * 100_000, "this is no saved match"),
        ("9" * 5000, "this is no saved match"),
        ("[]", "this is no saved match of version 1"),
        (json.dumps(FIRST | {"version": 2}), "this is no saved match of version 1"),
        (json.dumps({"version": 1}), "the saved match lacks games, rules, seed, target"),
        (json.dumps({**SAVED, "rules": "whist"}), "no rules named 'whist'"),
        (json.dumps({**SAVED, "rules": "five-card"}), "is not of this match|not hold|keeps"),
        (json.dumps({**SAVED, "target": None}), "target is a whole number from 0, not None"),
        (json.dumps({**SAVED, "target": 0}), "a match goes to at least one point"),
        (json.dumps({**SAVED, "target": 1}), "the match is over"),
        (json.dumps({**SAVED, "seed": -1}), "seed is a whole number from 0, not -1"),
        (json.dumps({**SAVED, "seed": 3}), "game 1 of the saved match is not of this match"),
        (games(), "a saved match has a list of games"),
        (json.dumps({**SAVED, "games": {}}), "a saved match has a list of games"),
        (games(3), "this is no saved game of version 1"),
        (games(FIRST | {"seed": 1, "actions": []}), "game 1 of the saved match is not of this"),
        (games(FIRST | {"scores": [9, 9], "actions": []}), "game 1 of the saved match is not of"),
        (games(FIRST | {"deck": ["5H"], "actions": []}), "game 1 of the saved match is not of"),
        (games(FIRST | {"actions": FIRST["actions"][:5]}, FIRST), "the game is not over"),
        (games(FIRST, FIRST), "game 2 of the saved match is not of this match"),
        (games(FIRST | {"actions": FIRST["actions"][:1] * 2}), "does not hold"),
    ],
    ids=range(25),
)
def test_damaged_matches(saved: Any, words: str) -> None:
    with pytest.raises(CribbageError, match=words) as refused:
        Match.from_json(saved)
    assert "\n" not in str(refused.value)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(field=st.sampled_from(sorted(SAVED)), value=JUNK)
def test_nothing_but_our_errors_comes_of_a_damaged_field(field: str, value: Any) -> None:
    try:
        match = Match.from_json(json.dumps({**SAVED, field: value}))
    except CribbageError:
        return
    assert Match.from_json(match.to_json()) == match


# As it reads


def test_repr_reads_well() -> None:
    match = Match("boite-a-jeux", seed=3)
    assert repr(match) == "<Match to 7, seat 0: 0, seat 1: 0; game 1 at 0-0>"
    partners = Match("four-player", seed=3)
    assert repr(partners) == "<Match to 7, side 0: 0, side 1: 0; game 1 at 0-0>"
    assert repr(MATCH).startswith("<Match to 3, seat 0: ")
    assert "; game 2 at " in repr(MATCH)
    over = play_out(Match("three-player", target=2, seed=1))
    standing = ", ".join(f"seat {seat}: {points}" for seat, points in enumerate(over.points))
    assert repr(over) == f"<Match to 2, won by seat {over.winner} ({standing})>"


def test_equality() -> None:
    assert Match(seed=1) != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Match(seed=1))
