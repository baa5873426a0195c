"""The benchmarks run as their document says, in sizes as small as they go."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from benchmarks import engines, env_speed, environments, ppo, report, scaling, startup
from benchmarks.measure import Row, Work, rates, run

WORKS: dict[str, tuple[Callable[[], Work], tuple[str, ...]]] = {
    "engine": (engines.engine_alone, ()),
    "openspiel": (engines.openspiel_from_python, ("pyspiel",)),
    "game": (engines.game_object, ()),
    "vector": (partial(environments.vector_environment, 3), ()),
    "three": (partial(environments.vector_environment, 2, "three-player"), ()),
    "single": (partial(environments.single_environment, environments.ID), ()),
    "blackjack": (partial(environments.single_environment, "Blackjack-v1"), ()),
    "pettingzoo": (environments.pettingzoo_leduc, ("rlcard", "pygame")),
    "rlcard": (partial(environments.rlcard, "leduc-holdem"), ("rlcard",)),
}


@pytest.mark.parametrize("name", WORKS)
def test_work_counts_what_it_did(name: str) -> None:
    start, needs = WORKS[name]
    for module in needs:
        pytest.importorskip(module)
    done = list(islice(start(), 300 if "single" in name else 20))
    assert all(one.decisions > 0 for one in done)
    assert sum(one.games for one in done) > 0
    assert sum(one.inside for one in done) == 0


def test_openspiel_inside_plays_whole_games() -> None:
    pytest.importorskip("pyspiel")
    assert [tuple(done) for done in islice(engines.openspiel_inside(), 3)] == [(1, 0, 0)] * 3


def test_openspiel_deals_from_its_legal_actions() -> None:
    """The benchmark draws cards from the legal actions: they are all outcomes, as likely."""
    game = pytest.importorskip("pyspiel").load_game("cribbage")
    chance = random.Random(0)
    state = game.new_initial_state()
    dealt = 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            assert list(outcomes) == state.legal_actions()
            assert max(odds) == pytest.approx(min(odds))
            dealt += 1
        state.apply_action(chance.choice(state.legal_actions()))
    assert dealt > 50


def test_the_length_of_a_game_is_what_games_show() -> None:
    """Whole games of a few rows, counted one by one, last as long as said."""
    work = environments.single_environment(environments.ID, opponent="random")
    done = list(islice(work, 12_000))
    games = sum(one.games for one in done)
    assert environments.steps_a_game("six-card") == pytest.approx(len(done) / games, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", [ppo.through_the_bridge, ppo.through_dummy, ppo.as_crib_train_does]
)
def test_ppo_tells_what_the_environment_takes(start: Callable[[int], Work]) -> None:
    threads = torch.get_num_threads()
    try:
        sample = rates(partial(start, 8))()
        found = sample(0.01)
    finally:
        torch.set_num_threads(threads)
    assert found["decisions"] > 0
    assert 0 < found["share"] < 1


@pytest.mark.slow
def test_a_fresh_process_tells_its_start_and_its_memory() -> None:
    importing = startup.import_time()(0)["seconds"]
    assert 0 < importing < startup.first_step()(0)["seconds"]
    # A row of observations alone is 1,700 bytes.
    held = startup.memory(64)()(0)["bytes"]
    assert 1700 < held < startup.memory(64, peak=True)()(0)["bytes"] < 1e6


def test_rows_are_measured_in_turn() -> None:
    calls: list[str] = []

    def sampler(name: str) -> Any:
        def sample(seconds: float) -> dict[str, float]:
            calls.append(name)
            return {"games": seconds}

        return sample

    rows = [Row(name, ("vector",), partial(sampler, name)) for name in "ab"]
    found = run(rows, 3, 0.5, lambda what: None)
    assert calls == list("ababab")
    assert [row["samples"] for row in found] == [{"games": [0.5] * 3}] * 2


def row(name: str, **samples: list[float]) -> dict[str, Any]:
    return {"name": name, "groups": ["vector"], "samples": samples}


def test_bars_are_judged_round_by_round() -> None:
    bar = report.Bar("one", "games", 2.0, against="other")
    rows = [row("one", games=[10.0, 30.0, 9.0]), row("other", games=[5.0, 10.0, 10.0])]
    found = bar.judge(rows)
    assert found is not None
    assert (found["median"], found["low"], found["high"]) == (2.0, 0.9, 3.0)
    assert found["reached"] is True
    missed = report.Bar("one", "games", 2.1, against="other").judge(rows)
    assert missed is not None
    assert missed["reached"] is False
    most = report.Bar("one", "games", 9.5, at_most=True).judge(rows)
    assert most is not None
    assert (most["median"], most["reached"]) == (10.0, False)
    assert report.Bar("third", "games", 1).judge(rows) is None
    assert report.Bar("one", "games", 1, against="third").judge(rows) is None


def test_every_bar_is_of_rows_that_are_measured() -> None:
    names = {row.name: row for row in env_speed.ROWS}
    assert len(names) == len(env_speed.ROWS)
    for bar in report.BARS:
        assert bar.row in names
        if bar.against:
            # Whoever asks for the row's group gets what it is held against, too.
            assert set(names[bar.row].groups) <= set(names[bar.against].groups)


def test_it_prints_tables_bars_and_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "speed.json"
    arguments = ["--only", "single", "--repeats", "2", "--seconds", "0.02"]
    shown = CliRunner().invoke(env_speed.main, [*arguments, "--json", str(file)])
    assert shown.exit_code == 0, shown.output
    data = json.loads(file.read_text())
    assert [row["name"] for row in data["rows"]] == [report.SINGLE, report.BLACKJACK]
    assert all(len(row["samples"]["decisions"]) == 2 for row in data["rows"])
    assert [bar["bar"] for bar in data["bars"]] == [3]
    assert {"processor", "cores", "python", "numpy", "numba"} <= set(data["machine"])
    assert data["command"].startswith("python -m benchmarks.env_speed")
    for text in (report.SINGLE, report.BLACKJACK, "at least 3", "reached", "processor "):
        assert text in shown.output
    table = CliRunner().invoke(env_speed.main, [*arguments, "--markdown"])
    assert f"| {report.SINGLE} | " in table.output


def test_a_group_that_is_not_there_is_one_line() -> None:
    shown = CliRunner().invoke(env_speed.main, ["--only", "engine,wheels"])
    assert shown.exit_code == 2
    assert "no group 'wheels': there are engine, vector, single, others, ppo" in shown.output


def test_a_row_without_its_library_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (Row("a", ("single",), lambda: lambda seconds: {"games": 1.0}, ("no_such_module",)),)
    monkeypatch.setattr(env_speed, "ROWS", rows)
    shown = CliRunner().invoke(env_speed.main, ["--only", "single"])
    assert shown.exit_code == 0, shown.output
    assert "left out, since no_such_module is not installed: a" in shown.output


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_scaling_draws_and_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(scaling, "NUMBERS", (1, 3))
    picture, file = tmp_path / f"plot.{kind}", tmp_path / "scaling.json"
    arguments = ["--repeats", "2", "--seconds", "0.02", "--plot", str(picture)]
    shown = CliRunner().invoke(scaling.main, [*arguments, "--json", str(file), "--markdown"])
    assert shown.exit_code == 0, shown.output
    assert "| environments | 2 players | 3 players | 4 players |" in shown.output
    assert picture.read_bytes().startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert picture.stat().st_size < 100_000
    rows = json.loads(file.read_text())["rows"]
    assert len(rows) == 6
    assert all(len(row["samples"]["games"]) == 2 for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == [picture.name, file.name]


def test_a_plot_of_another_kind_is_one_line() -> None:
    shown = CliRunner().invoke(scaling.main, ["--plot", "speed.doc"])
    assert shown.exit_code == 2
    assert "a plot ends in .png or .svg, not 'speed.doc'" in shown.output
