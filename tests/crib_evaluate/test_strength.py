"""What is known of cribbage, and how strong and quick the players must be."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from crib_agents import make_bot
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS
from crib_env.state import Source
from crib_env.win_probability import win_probability
from crib_evaluate.match import play_match
from crib_evaluate.result import MatchResult

pytestmark = pytest.mark.slow

DOCUMENT = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def even_match() -> MatchResult:
    return play_match("medium", "medium", 30_000, seed=11)


def test_first_dealer_wins_as_often_as_known(even_match: MatchResult) -> None:
    assert 0.55 < even_match.first_dealer.mean < 0.57
    low, high = even_match.first_dealer.low, even_match.first_dealer.high
    assert low is not None
    assert high is not None
    assert low - 0.005 < win_probability(0, 0, dealing=True) < high + 0.005


@pytest.mark.parametrize(
    ("source", "points", "within"),
    [
        (Source.HAND_PONE, 8.1, 0.15),
        (Source.HAND_DEALER, 8.0, 0.15),
        (Source.CRIB, 4.8, 0.15),
        (Source.PLAY_PONE, 2.1, 0.3),
        (Source.PLAY_DEALER, 3.4, 0.4),
        # A jack is turned up once in 13 deals; that is no matter of play.
        (Source.HEELS, 2 / 13, 0.01),
    ],
)
def test_points_a_deal_are_those_of_club_players(
    even_match: MatchResult, source: Source, points: float, within: float
) -> None:
    found = even_match.players[0].points_per_deal[source]
    assert found == pytest.approx(points, abs=within)


def test_a_game_takes_nine_deals(even_match: MatchResult) -> None:
    assert even_match.deals_per_game == pytest.approx(9, abs=0.3)


def test_skunks_between_equals_are_as_rare_as_known(even_match: MatchResult) -> None:
    player = even_match.players[0]
    skunked = (player.skunks + player.skunks_taken) / even_match.games
    assert 0.08 < skunked < 0.16
    assert player.double_skunks < player.skunks / 20


BEATS_EASY_BY = {"three-player": 0.70, "five-card": 0.70, "five-card-historic": 0.72}
"""What Medium must win in the short games and at a table of three; elsewhere 0.80."""


@pytest.mark.parametrize("rules", PRESETS)
def test_medium_beats_easy_in_every_game_as_documented(rules: str) -> None:
    player = play_match("medium", "easy", 10_000, seed=0, rules=rules).players[0]
    rate = player.win_rate
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low > BEATS_EASY_BY.get(rules, 0.80)
    assert rate.high - rate.low < 0.02
    low, mean, high = (f"{100 * part:.1f}" for part in (rate.low, rate.mean, rate.high))
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| `{rules}` | 10,0"))
    assert row.endswith(f"| {mean} % | {low} to {high} % | {player.margin.mean:+.1f} |")


def test_medium_beats_random() -> None:
    assert play_match("medium", "random", 20_000, seed=13).players[0].win_rate.mean >= 0.98


def test_ten_thousand_games_take_seconds() -> None:
    play_match("medium", "easy", 20)  # compiles
    before = time.perf_counter()
    play_match("medium", "easy", 10_000)
    assert time.perf_counter() - before < 30


def test_medium_decides_a_hundred_thousand_times_a_second() -> None:
    bot = make_bot("medium")
    batch = GameBatch(2000)
    seeds = np.arange(2000)
    batch.start(batch.all_rows, seeds, seeds % 2)
    live = batch.all_rows
    decisions = 0
    taken = 0.0
    while len(live):
        observations, masks = batch.observe(live, batch.to_act[live])
        before = time.perf_counter()
        cards = bot.actions(observations, masks)
        taken += time.perf_counter() - before
        decisions += len(live)
        batch.apply(live, cards)
        live = live[~batch.over[live]]
    assert decisions > 100_000
    assert decisions / taken >= 100_000
