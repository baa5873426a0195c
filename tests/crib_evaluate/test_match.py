"""The match: every number against a slow recount, and the same for any number of workers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import Bot, BotError, make_bot
from crib_agents.heuristic import make_medium
from crib_env import Game, Rules
from crib_env.errors import InvalidRulesError
from crib_env.rules import SIX_CARD
from crib_env.state import EventKind, Source
from crib_evaluate.match import PAIRS_IN_CHUNK, play_match
from crib_evaluate.mirrored import Games, play_mirrored
from crib_evaluate.result import summarize
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


def some_seeds(number: int, seed: int = 5) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, number, np.int64)


def played_by_hand(
    seed: int, bots: tuple[Bot, Bot], rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> Game:
    """A game from the same shuffles, one card at a time, each bot asked through its views.

    The first bot sits at seat 0 and deals first.
    """
    monkeypatch.setattr("crib_env.game.game_seed", lambda _: seed)
    game = Game(rules, 0, dealer=0)
    while not game.is_over:
        bot, view = bots[game.to_act], game.view(game.to_act)
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


class Recount:
    """What a result should say, counted game by game from the events."""

    def __init__(self) -> None:
        self.wins = [0, 0]
        self.match_points = [0, 0]
        self.skunks = [0, 0]
        self.double_skunks = [0, 0]
        self.margin = 0
        self.first_dealer_wins = 0
        self.deals = 0
        self.points = np.zeros((2, len(Source)), np.int64)
        self.whole = np.zeros((2, len(Source)), np.int64)
        self.whole_deals = [0, 0]

    def add(self, game: Game, player_at: tuple[int, int]) -> None:
        winner = player_at[game.winner or 0]
        losing = min(game.scores)
        kind = 3 if losing < 61 else 2 if losing < 91 else 1
        self.wins[winner] += 1
        self.match_points[winner] += kind
        self.skunks[winner] += kind == 2
        self.double_skunks[winner] += kind == 3
        self.margin += game.scores[player_at.index(0)] - game.scores[player_at.index(1)]
        self.first_dealer_wins += game.winner == 0
        self.deals += game.deal
        dealer = 0
        for event in game.events:
            if event.kind == EventKind.DEAL:
                dealer = event.seat
                self.whole_deals[player_at[dealer]] += event.deal < game.deal
            if event.points:
                source = source_of(event.kind, event.seat == dealer)
                self.points[player_at[event.seat], source] += event.points
                if event.deal < game.deal:
                    self.whole[player_at[event.seat], source] += event.points


@pytest.mark.parametrize(("a", "b"), [("medium", "random"), ("easy", "medium")])
def test_recounted_card_by_card(a: str, b: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = (make_bot(a), make_bot(b))
    seeds = some_seeds(12)
    games = play_mirrored(bots, seeds, SIX_CARD)
    result = summarize(games, SIX_CARD, (a, b), ({}, {}), 0, None)
    recount = Recount()
    for pair, seed in enumerate(seeds):
        straight = played_by_hand(int(seed), bots, SIX_CARD, monkeypatch)
        turned = played_by_hand(int(seed), (bots[1], bots[0]), SIX_CARD, monkeypatch)
        recount.add(straight, (0, 1))
        recount.add(turned, (1, 0))
        assert tuple(games.scores[pair, 0]) == straight.scores
        assert tuple(games.scores[pair, 1]) == turned.scores[::-1]
        assert tuple(games.deals[pair]) == (straight.deal, turned.deal)
        assert games.winners[pair, 0] == straight.winner
        assert games.winners[pair, 1] == 1 - (turned.winner or 0)
    assert result.games == 24
    assert result.deals == recount.deals
    assert result.first_dealer.mean * 24 == pytest.approx(recount.first_dealer_wins)
    for number, player in enumerate(result.players):
        assert player.wins == recount.wins[number]
        assert player.win_rate.mean * 24 == pytest.approx(recount.wins[number])
        assert player.match_points.mean * 24 == pytest.approx(recount.match_points[number])
        assert player.margin.mean * 24 == pytest.approx(recount.margin * (1 - 2 * number))
        assert player.skunks == recount.skunks[number]
        assert player.double_skunks == recount.double_skunks[number]
        assert player.skunks_taken == recount.skunks[1 - number]
        assert player.double_skunks_taken == recount.double_skunks[1 - number]
        assert player.deals_as_dealer == recount.whole_deals[number]
        assert player.deals_as_pone == recount.whole_deals[1 - number]
        for source in Source:
            assert player.points[source] == recount.points[number, source]
            as_pone = source in (Source.PLAY_PONE, Source.HAND_PONE)
            deals = recount.whole_deals[1 - number if as_pone else number]
            per_deal = player.points_per_deal[source]
            assert per_deal is not None
            assert per_deal * deals == pytest.approx(recount.whole[number, source])


def test_recount_met_skunks_of_both_kinds() -> None:
    """So that the test above cannot pass without them."""
    games = play_mirrored((make_bot("medium"), make_bot("random")), some_seeds(12), SIX_CARD)
    losing = games.scores.min(axis=2)
    assert ((losing >= 61) & (losing < 91)).any()
    assert (losing < 61).any()


@pytest.mark.parametrize(
    "rules",
    [
        SIX_CARD,
        Rules(target=61, **NO_SKUNKS),
        Rules(dealt=5, thrown=1, target=61, pone_start=3, **NO_SKUNKS),
        Rules(dealt=4, thrown=0, target=31, **NO_SKUNKS),
    ],
    ids=["six-card", "to 61", "five-card", "no crib"],
)
def test_points_by_source_sum_to_the_scores(rules: Rules) -> None:
    games = play_mirrored((Lowest(), make_bot("random", rules=rules)), some_seeds(40), rules)
    # Whoever is not first dealer may start with points, once a pair.
    given = rules.pone_start * len(games.scores)
    assert (games.pegged.sum(axis=1) + given == games.scores.sum(axis=(0, 1))).all()
    assert (games.pegged_in_whole_deals <= games.pegged).all()
    assert games.whole_deals_dealt.sum() == games.deals.sum() - games.winners.size
    won = np.take_along_axis(games.scores, games.winners[..., None], axis=2)
    assert (won == rules.target).all()


def test_same_numbers_for_any_number_of_workers() -> None:
    games = 2 * PAIRS_IN_CHUNK * 2 + 60
    alone = play_match("easy", "random", games, seed=3, workers=1)
    many = play_match("easy", "random", games, seed=3, workers=2)
    assert alone.to_json() == many.to_json()
    assert np.array_equal(alone.pair_scores, many.pair_scores)
    other = play_match("easy", "random", games, seed=4)
    assert not np.array_equal(alone.pair_scores, other.pair_scores)


def test_mirrors_exactly() -> None:
    one = play_match("easy", "medium", 600, seed=1)
    two = play_match("medium", "easy", 600, seed=1)
    assert one.players == two.players[::-1]
    assert np.array_equal(one.pair_scores, 1 - two.pair_scores)
    assert one.players[0].win_rate.mean + two.players[0].win_rate.mean == pytest.approx(1)
    assert (one.deals, one.first_dealer) == (two.deals, two.first_dealer)


@pytest.mark.parametrize("name", ["random", "easy", "medium"])
def test_against_itself_is_even(name: str) -> None:
    first, second = play_match(name, name, 300).players
    for player in (first, second):
        assert player.win_rate.mean == player.win_rate.low == player.win_rate.high == 0.5
        assert player.margin.mean == player.margin.low == player.margin.high == 0.0
    assert first.name != second.name
    assert first.points == second.points


def test_longer_match_begins_with_the_shorter_one() -> None:
    short = play_match("easy", "random", 100, seed=8)
    longer = play_match("easy", "random", 2 * PAIRS_IN_CHUNK + 100, seed=8)
    assert np.array_equal(short.pair_scores, longer.pair_scores[:50])


def test_chunks_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even for a player with a generator of its own: it is made anew for each chunk."""
    made: list[int] = []

    def make(entrant: Any, **settings: Any) -> Bot:
        if entrant != "restless":
            return make_bot(entrant, **settings)
        made.append(settings["seed"])
        return Restless(settings["seed"])

    monkeypatch.setattr("crib_evaluate.match.make_bot", make)
    games = 2 * PAIRS_IN_CHUNK
    once = play_match("restless", "random", games, seed=2)
    longer = play_match("restless", "random", 2 * games, seed=2)
    assert np.array_equal(once.pair_scores, longer.pair_scores[:PAIRS_IN_CHUNK])
    assert made[1] == made[3]
    assert made[3] != made[4]  # but not with the same chance in every chunk


def test_says_how_far_it_is() -> None:
    told: list[int] = []
    play_match("random", "random", 2 * PAIRS_IN_CHUNK + 10, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 2 * PAIRS_IN_CHUNK + 10


def test_odd_numbers_are_rounded_up() -> None:
    assert play_match("random", "random", 7).games == 8


def test_one_pair_has_no_interval() -> None:
    result = play_match("random", "medium", 2)
    assert result.players[0].win_rate.low is None
    assert json.loads(json.dumps(result.to_json()))["games"] == 2


def test_json_holds_everything() -> None:
    result = play_match("medium", "random", 40, seed=6)
    saved = json.loads(json.dumps(result.to_json()))
    assert saved["command"] == "crib evaluate medium random --games 40 --seed 6 --rules six-card"
    assert set(saved["versions"]) == {"crib_env", "numpy", "python"}
    assert (saved["seed"], saved["games"], saved["pairs"]) == (6, 40, 20)
    first = saved["players"][0]
    assert first["name"] == "medium"
    assert first["options"] == {
        name: value for name, value in make_medium().options().items() if name != "seed"
    }
    assert set(first["win_rate"]) == {"mean", "low", "high"}
    assert set(first["points"]) == {source.name.lower() for source in Source}
    assert first["skunks"] == saved["players"][1]["skunks_taken"]
    assert "pair_scores" not in saved


def test_bots_may_be_objects() -> None:
    result = play_match(Lowest(), make_bot("random"), 40, workers=4)
    assert result.players[0].name == "lowest"
    assert result.command is None


def test_what_cannot_be_pickled_is_played_here() -> None:
    bot = Faulty(lambda masks: masks.argmax(axis=1))
    games = 2 * PAIRS_IN_CHUNK + 10
    named = play_match(Lowest(), "random", games)
    assert np.array_equal(
        play_match(bot, "random", games, workers=2).pair_scores, named.pair_scores
    )


def test_bot_may_write_into_what_it_is_handed() -> None:
    spoilt = play_match(Scribbler(), "medium", 100)
    assert np.array_equal(spoilt.pair_scores, play_match(Lowest(), "medium", 100).pair_scores)


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
        play_match(Crashing(hard), "random", 4 * PAIRS_IN_CHUNK, workers=2)


def test_refusals() -> None:
    with pytest.raises(BotError, match="no bot 'nobody'"):
        play_match("medium", "nobody", 10)
    with pytest.raises(InvalidRulesError, match="between 2 players; these rules are for 3"):
        play_match("medium", "easy", 10, rules=Rules(players=3, dealt=5, thrown=1, blind=1))
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
