"""The match: every number against a slow recount, and the same for any number of workers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import Bot, BotError, make_bot
from crib_agents.heuristic import make_medium
from crib_env import Game, Rules
from crib_env.errors import InvalidRulesError
from crib_env.rules import FOUR_PLAYER, PRESETS, SIX_CARD, THREE_PLAYER, get_rules
from crib_env.state import EventKind, Source
from crib_evaluate.match import ROUNDS_IN_CHUNK, play_match
from crib_evaluate.mirrored import Games, play_mirrored, seatings
from crib_evaluate.result import MatchResult, summarize
from tests.crib_evaluate.bots import (
    Crashing,
    Faulty,
    Lowest,
    Restless,
    Scribbler,
    first_illegal,
    illegal_and_allowed,
)

NO_SKUNKS: dict[str, Any] = {"skunk_line": None, "double_skunk_line": None}
IN_THE_PLAY = range(EventKind.FIFTEEN, EventKind.LAST_CARD + 1)


RECOUNTED = 12
"""Shuffles that are recounted; with their seed they meet skunks of both kinds."""


def some_seeds(number: int, seed: int = 5) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, number, np.int64)


def played_by_hand(
    seed: int, seated: Sequence[Bot], rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> Game:
    """A game from the same shuffles, one card at a time, each bot asked through its views.

    The first bot sits at seat 0 and deals first.
    """
    monkeypatch.setattr("crib_env.game.game_seed", lambda _: seed)
    game = Game(rules, 0, dealer=0)
    while not game.is_over:
        bot, view = seated[game.to_act], game.view(game.to_act)
        if game.phase == "discard":
            for card in bot.discard(view):
                game.apply(card)
        else:
            game.apply(bot.play(view))
    return game


def source_of(kind: EventKind, dealing: bool) -> Source:
    if kind == EventKind.HEELS:
        return Source.HEELS
    if kind == EventKind.CRIB:
        return Source.CRIB
    if kind == EventKind.HAND:
        return Source.HAND_DEALER if dealing else Source.HAND_PONE
    assert kind in IN_THE_PLAY
    return Source.PLAY_DEALER if dealing else Source.PLAY_PONE


SEATINGS = {
    2: ["AB", "BA"],
    3: ["AAB", "ABA", "ABB", "BAA", "BAB", "BBA"],
    4: ["ABAB", "BABA"],
}
"""Who sits where in the games of a round, by the number of players; four are partners."""

LINES = {"boite-a-jeux": (90, 0), "five-card": (0, 0), "five-card-historic": (0, 0)}
"""Below how many points a loser is skunked, and doubly, where that is not 91 and 61."""


class Recount:
    """What a result should say, counted game by game from the events."""

    def __init__(self, preset: str) -> None:
        self.lines = LINES.get(preset, (91, 61))
        self.wins = [0, 0]
        self.match_points = [0, 0]
        self.skunks = [0, 0]
        self.double_skunks = [0, 0]
        self.skunks_taken = [0, 0]
        self.double_skunks_taken = [0, 0]
        self.margin = 0.0
        self.first_dealer_wins = 0
        self.deals = 0
        self.points = np.zeros((2, len(Source)), np.int64)
        self.whole = np.zeros((2, len(Source)), np.int64)
        self.dealt = [0, 0]
        self.not_dealt = [0, 0]

    def add(self, game: Game, player_at: Sequence[int]) -> None:
        assert game.winner is not None
        owners = player_at[:2] if game.rules.teams else player_at
        winner = owners[game.winner]
        self.wins[winner] += 1
        self.match_points[winner] += 1
        for owner, points in zip(owners, game.scores, strict=True):
            skunk, double = (points < line for line in self.lines)
            self.match_points[winner] += skunk + double
            self.skunks[winner] += skunk and not double
            self.double_skunks[winner] += double
            self.skunks_taken[owner] += skunk and not double
            self.double_skunks_taken[owner] += double
        scored = list(zip(owners, game.scores, strict=True))
        first, second = (mean(points for owner, points in scored if owner == n) for n in (0, 1))
        self.margin += first - second
        self.first_dealer_wins += game.winner == 0
        self.deals += game.deal
        dealer = 0
        for event in game.events:
            whole = event.deal < game.deal
            if event.kind == EventKind.DEAL:
                dealer = event.seat
                for seat, player in enumerate(player_at):
                    (self.dealt if seat == dealer else self.not_dealt)[player] += whole
            if event.points:
                source = source_of(event.kind, event.seat == dealer)
                self.points[player_at[event.seat], source] += event.points
                self.whole[player_at[event.seat], source] += event.points * whole


@pytest.mark.parametrize(
    ("a", "b", "preset"),
    [
        ("medium", "random", "six-card"),
        ("easy", "medium", "six-card"),
        ("medium", "random", "three-player"),
        ("medium", "random", "four-player"),
        ("easy", "medium", "boite-a-jeux"),
        ("easy", "medium", "five-card"),
        ("easy", "medium", "five-card-historic"),
    ],
)
def test_recounted_card_by_card(
    a: str, b: str, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = get_rules(preset)
    bots = [make_bot(name, rules=rules) for name in (a, b)]
    seeds = some_seeds(RECOUNTED, seed=6)
    games = play_mirrored(bots, seeds, rules)
    result = summarize(games, rules, (a, b), ({}, {}), 0, None)
    recount = Recount(preset)
    ways = [["AB".index(letter) for letter in way] for way in SEATINGS[rules.players]]
    for number, seed in enumerate(seeds):
        for which, player_at in enumerate(ways):
            seated = [bots[player] for player in player_at]
            game = played_by_hand(int(seed), seated, rules, monkeypatch)
            recount.add(game, player_at)
            assert tuple(games.scores[number, which]) == game.scores
            assert games.deals[number, which] == game.deal
            assert games.winners[number, which] == game.winner
    assert result.games == RECOUNTED * len(ways)
    check_recount(result, recount)


def check_recount(result: MatchResult, recount: Recount) -> None:
    games = result.games
    assert result.deals == recount.deals
    assert result.first_dealer.mean * games == pytest.approx(recount.first_dealer_wins)
    for number, player in enumerate(result.players):
        assert player.wins == recount.wins[number]
        assert player.win_rate.mean * games == pytest.approx(recount.wins[number])
        assert player.match_points.mean * games == pytest.approx(recount.match_points[number])
        assert player.margin.mean * games == pytest.approx(recount.margin * (1 - 2 * number))
        for name in ("skunks", "double_skunks", "skunks_taken", "double_skunks_taken"):
            assert getattr(player, name) == getattr(recount, name)[number], name
        assert player.deals_as_dealer == recount.dealt[number]
        assert player.deals_as_pone == recount.not_dealt[number]
        for source in Source:
            assert player.points[source] == recount.points[number, source]
            as_pone = source in (Source.PLAY_PONE, Source.HAND_PONE)
            deals = (recount.not_dealt if as_pone else recount.dealt)[number]
            per_deal = player.points_per_deal[source]
            assert per_deal is not None
            assert per_deal * deals == pytest.approx(recount.whole[number, source])


@pytest.mark.parametrize("preset", ["six-card", "three-player", "four-player"])
def test_recount_met_skunks_of_both_kinds(preset: str) -> None:
    """So that the test above cannot pass without them."""
    rules = get_rules(preset)
    bots = [make_bot(name, rules=rules) for name in ("medium", "random")]
    losing = play_mirrored(bots, some_seeds(RECOUNTED, seed=6), rules).scores.min(axis=2)
    assert ((losing >= 61) & (losing < 91)).any()
    assert (losing < 61).any()


@pytest.mark.parametrize(
    "rules",
    [
        SIX_CARD,
        Rules(target=61, **NO_SKUNKS),
        Rules(dealt=5, thrown=1, target=61, pone_start=3, **NO_SKUNKS),
        Rules(dealt=4, thrown=0, target=31, **NO_SKUNKS),
        THREE_PLAYER,
        FOUR_PLAYER,
        Rules(players=4, dealt=5, thrown=1),
    ],
    ids=["six-card", "to 61", "five-card", "no crib", "three", "partners", "four for themselves"],
)
def test_points_by_source_sum_to_the_scores(rules: Rules) -> None:
    games = play_mirrored((Lowest(), make_bot("random", rules=rules)), some_seeds(40), rules)
    # Whoever is not first dealer may start with points, once a pair.
    given = rules.pone_start * len(games.scores)
    owners = seatings(rules)[:, : rules.sides]
    for player, pegged in enumerate(games.pegged):
        assert pegged.sum() + given == (games.scores * (owners == player)).sum()
    assert (games.pegged_in_whole_deals <= games.pegged).all()
    whole_deals = games.deals.sum() - games.winners.size
    assert games.whole_deals_dealt.sum() == whole_deals
    assert games.whole_deals_not_dealt.sum() == whole_deals * (rules.players - 1)
    won = np.take_along_axis(games.scores, games.winners[..., None], axis=2)
    assert (won == rules.target).all()


def test_same_numbers_for_any_number_of_workers() -> None:
    games = 2 * ROUNDS_IN_CHUNK * 2 + 60
    alone = play_match("easy", "random", games, seed=3, workers=1)
    many = play_match("easy", "random", games, seed=3, workers=2)
    assert alone.to_json() == many.to_json()
    assert np.array_equal(alone.round_scores, many.round_scores)
    other = play_match("easy", "random", games, seed=4)
    assert not np.array_equal(alone.round_scores, other.round_scores)


@pytest.mark.parametrize("rules", PRESETS)
def test_mirrors_exactly(rules: str) -> None:
    one = play_match("easy", "medium", 300, seed=1, rules=rules)
    two = play_match("medium", "easy", 300, seed=1, rules=rules)
    assert one.players == two.players[::-1]
    assert one.round_scores == pytest.approx(1 - two.round_scores)
    assert one.players[0].win_rate.mean + two.players[0].win_rate.mean == pytest.approx(1)
    assert (one.deals, one.first_dealer) == (two.deals, two.first_dealer)


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("name", ["random", "easy", "medium"])
def test_against_itself_is_even(name: str, rules: str) -> None:
    first, second = play_match(name, name, 120, rules=rules).players
    for player in (first, second):
        assert player.win_rate.mean == player.win_rate.low == player.win_rate.high == 0.5
        assert player.margin.mean == player.margin.low == player.margin.high == 0.0
    assert first.name != second.name
    assert first.points == second.points


def test_longer_match_begins_with_the_shorter_one() -> None:
    short = play_match("easy", "random", 100, seed=8)
    longer = play_match("easy", "random", 2 * ROUNDS_IN_CHUNK + 100, seed=8)
    assert np.array_equal(short.round_scores, longer.round_scores[:50])


def test_chunks_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even for a player with a generator of its own: it is made anew for each chunk."""
    made: list[int] = []

    def make(entrant: Any, **settings: Any) -> Bot:
        if entrant != "restless":
            return make_bot(entrant, **settings)
        made.append(settings["seed"])
        return Restless(settings["seed"])

    monkeypatch.setattr("crib_evaluate.match.make_bot", make)
    games = 2 * ROUNDS_IN_CHUNK
    once = play_match("restless", "random", games, seed=2)
    longer = play_match("restless", "random", 2 * games, seed=2)
    assert np.array_equal(once.round_scores, longer.round_scores[:ROUNDS_IN_CHUNK])
    assert made[1] == made[3]
    assert made[3] != made[4]  # but not with the same chance in every chunk


def test_says_how_far_it_is() -> None:
    told: list[int] = []
    play_match("random", "random", 2 * ROUNDS_IN_CHUNK + 10, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 2 * ROUNDS_IN_CHUNK + 10


@pytest.mark.parametrize(
    ("rules", "rounds", "games"),
    [("six-card", 4, 8), ("three-player", 2, 12), ("four-player", 4, 8), ("boite-a-jeux", 4, 8)],
)
def test_games_are_rounded_up_to_rounds(rules: str, rounds: int, games: int) -> None:
    result = play_match("random", "random", 7, rules=rules)
    assert (result.rounds, result.games) == (rounds, games)


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_both_players_sit_everywhere_alike(rules: Rules) -> None:
    ways = seatings(rules)
    assert sorted("".join("AB"[player] for player in way) for way in ways) == sorted(
        SEATINGS[rules.players]
    )
    assert (ways.mean(axis=0) == 0.5).all()


def test_hands_are_counted_for_bots() -> None:
    """Whatever the rules say of claims, since bots make none."""
    claimed = play_match("easy", "random", 40, rules=Rules(counting="manual", muggins=True))
    assert claimed == play_match("easy", "random", 40)
    assert claimed.rules == SIX_CARD


@pytest.mark.parametrize(
    ("rules", "scores", "worth"),
    [
        ("six-card", (121, 91), 1),
        ("six-card", (90, 121), 2),
        ("six-card", (121, 60), 3),
        ("three-player", (121, 90, 60), 4),
        ("three-player", (61, 121, 100), 2),
        ("four-player", (60, 121), 3),
        ("comment-jouer", (121, 60), 2),
        ("boite-a-jeux", (121, 90), 1),
        ("contre-l-ordinateur", (121, 0), 1),
        ("five-card", (61, 0), 1),
        ({"preset": "six-card", "match_points": (2, 3, 5)}, (121, 60), 5),
        ({"preset": "three-player", "match_points": (2, 3, 5)}, (90, 121, 60), 6),
    ],
)
def test_worth_of_a_win_is_that_of_the_rules(
    rules: Any, scores: tuple[int, ...], worth: int
) -> None:
    wanted = get_rules(rules)
    side = scores.index(wanted.target)
    ways = seatings(wanted)
    games = Games(
        scores=np.tile(np.array(scores), (1, len(ways), 1)),
        winners=np.full((1, len(ways)), side),
        deals=np.ones((1, len(ways)), np.int64),
        pegged=np.zeros((2, len(Source)), np.int64),
        pegged_in_whole_deals=np.zeros((2, len(Source)), np.int64),
        whole_deals_dealt=np.zeros(2, np.int64),
        whole_deals_not_dealt=np.zeros(2, np.int64),
    )
    for player in summarize(games, wanted, ("a", "b"), ({}, {}), 0, None).players:
        assert player.match_points.mean == worth / 2
        assert player.wins == len(ways) / 2


def test_one_pair_has_no_interval() -> None:
    result = play_match("random", "medium", 2)
    assert result.players[0].win_rate.low is None
    assert json.loads(json.dumps(result.to_json()))["games"] == 2


def test_json_holds_everything() -> None:
    result = play_match("medium", "random", 40, seed=6)
    saved = json.loads(json.dumps(result.to_json()))
    assert saved["command"] == "crib evaluate medium random --games 40 --seed 6 --rules six-card"
    assert set(saved["versions"]) == {"crib_env", "numpy", "python"}
    assert (saved["seed"], saved["games"], saved["rounds"]) == (6, 40, 20)
    first = saved["players"][0]
    assert first["name"] == "medium"
    assert first["options"] == {
        name: value for name, value in make_medium().options().items() if name != "seed"
    }
    assert set(first["win_rate"]) == {"mean", "low", "high"}
    assert set(first["points"]) == {source.name.lower() for source in Source}
    assert first["skunks"] == saved["players"][1]["skunks_taken"]
    assert "round_scores" not in saved


def test_bots_may_be_objects() -> None:
    result = play_match(Lowest(), make_bot("random"), 40, workers=4)
    assert result.players[0].name == "lowest"
    assert result.command is None


def test_what_cannot_be_pickled_is_played_here() -> None:
    bot = Faulty(lambda masks: masks.argmax(axis=1))
    games = 2 * ROUNDS_IN_CHUNK + 10
    named = play_match(Lowest(), "random", games)
    assert np.array_equal(
        play_match(bot, "random", games, workers=2).round_scores, named.round_scores
    )


def test_bot_may_write_into_what_it_is_handed() -> None:
    spoilt = play_match(Scribbler(), "medium", 100)
    assert np.array_equal(spoilt.round_scores, play_match(Lowest(), "medium", 100).round_scores)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda masks: 1 / 0, "it failed with ZeroDivisionError: division by zero"),
        (lambda masks: masks.argmax(axis=1)[:-1], "not with 10 whole numbers"),
        (lambda masks: masks.argmax(axis=1)[:, None], r"shape \(10, 1\)"),
        (lambda masks: masks.argmax(axis=1) + 0.0, "float64"),
        (lambda masks: None, "object"),
        (lambda masks: masks.argmax(axis=1) + 52, "no card"),
        (lambda masks: masks.argmax(axis=1) - 52, "no card"),
        (first_illegal, r"it answered with .., where only (.. ){5}.. may be laid"),
        (illegal_and_allowed, "may be laid"),
    ],
)
def test_faults_are_reported_as_the_bots(answer: Any, fault: str) -> None:
    with pytest.raises(BotError, match=rf"^bot faulty: .*{fault}") as caught:
        play_match(Faulty(answer), "medium", 20)
    assert "\n" not in str(caught.value)


def test_bot_that_is_no_bot() -> None:
    with pytest.raises(BotError, match="bot object: it failed with AttributeError"):
        play_match(object(), "medium", 20)  # type: ignore[arg-type]


def test_bot_whose_maker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(entrant: Any, **settings: Any) -> Bot:
        raise ImportError("no module named\nelsewhere")

    monkeypatch.setattr("crib_evaluate.match.make_bot", make)
    with pytest.raises(BotError, match=r"^bot theirs: it failed with ImportError: no module"):
        play_match("theirs", "medium", 20)


@pytest.mark.parametrize(
    ("hard", "fault"), [(False, "bot crashing: out of ideas"), (True, "a worker process died")]
)
def test_faults_in_workers(hard: bool, fault: str) -> None:
    with pytest.raises(BotError, match=f"^{fault}"):
        play_match(Crashing(hard), "random", 4 * ROUNDS_IN_CHUNK, workers=2)


def test_refusals() -> None:
    with pytest.raises(BotError, match="no bot 'nobody'"):
        play_match("medium", "nobody", 10)
    with pytest.raises(InvalidRulesError, match="no rules named"):
        play_match("medium", "easy", 10, rules="chess")
    with pytest.raises(ValueError, match="at least one game"):
        play_match("medium", "easy", 0)
    with pytest.raises(ValueError, match="at least one process"):
        play_match("medium", "easy", 10, workers=0)
    with pytest.raises(BotError, match="a seed is a whole number"):
        play_match("medium", "easy", 10, seed=-1)


def test_merging_keeps_the_order() -> None:
    bots = (make_bot("medium"), make_bot("random"))
    seeds = some_seeds(30)
    whole = play_mirrored(bots, seeds, SIX_CARD)
    merged = Games.merge([play_mirrored(bots, part, SIX_CARD) for part in (seeds[:11], seeds[11:])])
    for name, value in vars(whole).items():
        assert np.array_equal(value, getattr(merged, name)), name
