"""Bundles: played from a folder, without torch, and refused in one line when they do not fit."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from crib_agents import Bot, BotError, make_bot
from crib_agents.bot import decode, encode
from crib_agents.bundle import (
    MODEL,
    SPEC,
    VECTORS,
    BundleBot,
    check_vectors,
    load_bundle,
    make_case,
    read_spec,
)
from crib_env import Game, SeatView
from crib_env.batch import GameBatch
from crib_env.cli import main
from crib_env.observation import split
from crib_env.rules import SIX_CARD, get_rules
from crib_evaluate.match import play_match
from tests.crib_agents.bundles import greedy_model, write_bundle


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("bundles") / "greedy")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A bundle to be spoiled."""
    return write_bundle(tmp_path / "spoiled")


def decisions(number: int, seed: int = 0) -> tuple[Any, Any]:
    """Observations and masks of many first discards."""
    batch = GameBatch(number)
    seeds = np.random.default_rng(seed).integers(0, 1 << 62, number)
    batch.start(batch.all_rows, seeds, np.zeros(number, np.int64))
    batch.settle(batch.all_rows)
    return batch.observe(batch.all_rows, batch.to_act)


def test_is_a_player_by_its_path(folder: Path) -> None:
    bot = make_bot(folder)
    assert isinstance(bot, BundleBot)
    assert isinstance(bot, Bot)
    assert bot.name == "greedy"
    assert make_bot(str(folder)).name == "greedy"


def test_lays_the_card_with_the_highest_logit_and_of_equals_the_lowest(folder: Path) -> None:
    bot = load_bundle(folder)
    observations, masks = decisions(500)
    points = np.where(masks == 1, split(observations, SIX_CARD)["points"], -np.inf)
    assert np.array_equal(bot.actions(observations, masks), points.argmax(1))
    # The two cards of the best discard are worth the same, so ties are everywhere.
    assert ((points == points.max(1, keepdims=True)).sum(1) > 1).mean() > 0.9


@pytest.mark.parametrize("temperature", [0.0, 0.05, 1.0])
def test_batch_and_single_form_agree(folder: Path, temperature: float) -> None:
    bot = load_bundle(folder, temperature=temperature)
    observations, masks = decisions(300)
    together = bot.actions(observations, masks)
    alone = [
        int(bot.actions(observations[at : at + 1], masks[at : at + 1])[0]) for at in range(300)
    ]
    assert together.tolist() == alone
    view = decode(observations[7], SIX_CARD)
    again, mask = encode(view)
    assert min(bot.discard(view)) >= 0
    assert int(bot.actions(again[None], mask[None])[0]) == alone[7]


def test_temperature_draws_by_the_softmax_and_by_the_seed(folder: Path) -> None:
    observations, masks = decisions(4000)
    points = np.where(masks == 1, split(observations, SIX_CARD)["points"].astype(float), -np.inf)
    odds = np.exp(points / 0.1)
    odds /= odds.sum(1, keepdims=True)
    cool = load_bundle(folder).actions(observations, masks)
    warm = load_bundle(folder, temperature=0.1).actions(observations, masks)
    assert masks[np.arange(4000), warm].all()
    expected = odds[np.arange(4000), cool]
    spread = np.sqrt((expected * (1 - expected)).sum())
    assert abs((warm == cool).sum() - expected.sum()) < 4 * spread
    other = load_bundle(folder, seed=1, temperature=0.1).actions(observations, masks)
    assert 0.1 < (other != warm).mean() < 0.9
    assert np.array_equal(load_bundle(folder, seed=1).actions(observations, masks), cool)


def test_options(folder: Path) -> None:
    bot = load_bundle(folder)
    assert bot.options() == {"temperature": 0.0, "seed": 0}
    bot.set_options({"temperature": 1, "seed": 5})
    assert bot.options() == {"temperature": 1.0, "seed": 5}
    for bad in ({"temperature": -1}, {"temperature": "hot"}, {"temperature": True}, {"depth": 3}):
        with pytest.raises(BotError):
            bot.set_options(bad)
    assert bot.options() == {"temperature": 1.0, "seed": 5}
    assert make_bot(folder, temperature=0.5).options()["temperature"] == 0.5  # type: ignore[attr-defined]


def test_travels_to_other_processes(folder: Path) -> None:
    bot = load_bundle(folder, seed=3, temperature=0.5)
    twin = pickle.loads(pickle.dumps(bot))
    observations, masks = decisions(50)
    assert np.array_equal(twin.actions(observations, masks), bot.actions(observations, masks))
    assert twin.options() == bot.options()
    alone = play_match(bot, "random", games=1000, workers=1)
    assert play_match(bot, "random", games=1000, workers=2).to_json() == alone.to_json()


def test_whole_games(folder: Path) -> None:
    bot = load_bundle(folder)
    for seed in range(3):
        game = Game(seed=seed)
        while not game.is_over:
            view = game.view(game.to_act)
            game.apply(bot.discard(view)[0] if view.phase == "discard" else bot.play(view))
    assert play_match(bot, "random", games=200).players[0].win_rate.mean > 0.9


def write_vectors(folder: Path) -> list[dict[str, Any]]:
    bot = load_bundle(folder)
    game = Game(seed=1)
    cases: list[dict[str, Any]] = []
    while len(cases) < 20:
        view = game.view(game.to_act)
        cases.append(json.loads(msgspec.json.encode(make_case(bot, view))))
        game.apply(cases[-1]["card"])
    (folder / VECTORS).write_text("".join(json.dumps(case) + "\n" for case in cases))
    return cases


def test_vectors_are_gone_through_as_a_port_would(copy: Path) -> None:
    cases = write_vectors(copy)
    assert check_vectors(load_bundle(copy)) == 20
    for case in cases:
        observation, mask = encode(SeatView.from_json(case["view"]))
        assert np.array_equal(np.array(case["observation"], np.float32), observation)
        assert case["action_mask"] == mask.tolist()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda case: case["observation"].__setitem__(0, 0.5), "otherwise"),
        (lambda case: case["action_mask"].__setitem__(0, 1 - case["action_mask"][0]), "otherwise"),
        (lambda case: case.update(action=case["action"] ^ 1), "otherwise"),
        (lambda case: case["observation"].pop(), "otherwise"),
        (lambda case: case.pop("view"), "view"),
        (lambda case: case["view"]["hand"].append(case["view"]["hand"][0]), "comes twice"),
    ],
)
def test_a_wrong_vector_is_named(
    copy: Path, spoil: Callable[[dict[str, Any]], Any], says: str
) -> None:
    cases = write_vectors(copy)
    spoil(cases[4])
    (copy / VECTORS).write_text("".join(json.dumps(case) + "\n" for case in cases))
    with pytest.raises(BotError, match=rf"line 5: .*{says}"):
        check_vectors(load_bundle(copy))


def edit(folder: Path, **changes: Any) -> None:
    spec = json.loads((folder / SPEC).read_text())
    (folder / SPEC).write_text(json.dumps({**spec, **changes}))


def spec_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / SPEC).read_text())
    return loaded


def other_piece(folder: Path) -> None:
    pieces = spec_of(folder)["observation"]
    pieces[3]["length"] += 1
    edit(folder, observation=pieces)


def other_order(folder: Path) -> None:
    edit(folder, cards=spec_of(folder)["cards"][::-1])


def other_cribs(folder: Path) -> None:
    tables = spec_of(folder)["crib_means"]
    tables["own"][0][0] += 0.001
    edit(folder, crib_means=tables)


def fewer_pieces(folder: Path) -> None:
    edit(folder, observation=spec_of(folder)["observation"][:-1])


def truncated(folder: Path) -> None:
    model = (folder / MODEL).read_bytes()
    (folder / MODEL).write_bytes(model[: len(model) // 2])


def another_model(folder: Path, model: bytes) -> None:
    import hashlib

    (folder / MODEL).write_bytes(model)
    edit(folder, sha256=hashlib.sha256(model).hexdigest())


def other_outputs(folder: Path) -> None:
    another_model(folder, greedy_model().replace(b"value", b"worth"))


SPOILS: list[tuple[Callable[[Path], Any], str]] = [
    (lambda folder: (folder / MODEL).unlink(), "is no bundle: it lacks model.onnx"),
    (lambda folder: (folder / SPEC).unlink(), "is no bundle: it lacks spec.json"),
    (lambda folder: (folder / SPEC).write_text("{"), "spec.json is damaged"),
    (lambda folder: (folder / SPEC).write_bytes(b"\xff\xfe"), "spec.json is damaged"),
    (lambda folder: (folder / SPEC).write_text('{"format": 3}'), "spec.json is damaged"),
    (lambda folder: edit(folder, format="paint-by-numbers"), "is no bundle: .*paint-by-numbers"),
    (lambda folder: edit(folder, version=2), "is of version 2; this library reads 1"),
    (lambda folder: edit(folder, sha256=7), "spec.json is damaged"),
    (lambda folder: edit(folder, rules={"target": 61, "skunk_line": 31, "double_skunk_line": None}),
     "plays another game: its .*target"),
    (lambda folder: edit(folder, rules={"jokers": 2}), "rules have no field 'jokers'"),
    (lambda folder: edit(folder, tie_break="highest index"), "of equal cards .*'highest index'"),
    (other_order, "cards in another order"),
    (other_piece, "reads other observations: piece 'laid'"),
    (fewer_pieces, "reads other observations: piece 'barred'"),
    (lambda folder: edit(folder, observation_size=404), "observations of 404 numbers"),
    (other_cribs, "other tables of mean cribs"),
    (truncated, "model.onnx is damaged: its checksum"),
    (lambda folder: another_model(folder, b"nonsense"), "model.onnx cannot be loaded"),
    (lambda folder: another_model(folder, greedy_model()[:-200]), "model.onnx cannot be loaded"),
    (other_outputs, "other inputs or outputs"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "says"), SPOILS)
def test_what_does_not_fit_is_refused_in_one_line(
    copy: Path, spoil: Callable[[Path], Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(copy)
    with pytest.raises(BotError, match=says) as refusal:
        load_bundle(copy)
    assert "\n" not in str(refusal.value)
    assert str(copy) in str(refusal.value)
    with pytest.raises(SystemExit) as left:
        main(["evaluate", str(copy), "random", "--games", "2"])
    assert left.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1


def test_other_rules_are_refused(folder: Path) -> None:
    with pytest.raises(BotError, match="plays another game: its crib_flush differ"):
        load_bundle(folder, rules=replace(SIX_CARD, crib_flush="four"))


@pytest.mark.parametrize("preset", ["comment-jouer", "reference-complete", "contre-l-ordinateur"])
def test_rules_with_the_same_deals_are_played(folder: Path, preset: str) -> None:
    assert load_bundle(folder, rules=get_rules(preset)).rules == get_rules(preset)


def test_spec_tells_a_port_all_that_it_needs(folder: Path) -> None:
    spec = read_spec(folder)
    assert spec.cards[:2] == ["AC", "AD"]
    assert spec.cards[-1] == "KS"
    assert sum(piece.length for piece in spec.observation) == spec.observation_size
    own, opponent = spec.crib_means["own"], spec.crib_means["opponent"]
    assert len(own) == len(opponent) == 13
    assert own[4][4] > 8  # two fives in one's own crib
    assert own[0][12] == own[12][0]
    assert spec.rules["target"] == 121


def test_evaluate_and_bot_play_it_without_torch(folder: Path) -> None:
    script = (
        "import sys; from crib_env.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as left: code = left.code\n"
        "assert not {'torch', 'stable_baselines3', 'onnx'} & set(sys.modules), 'torch was loaded'\n"
        "sys.exit(code)"
    )
    match = subprocess.run(
        [sys.executable, "-c", script, "evaluate", str(folder), "random", "--games", "100"],
        capture_output=True,
        text=True,
    )
    assert match.returncode == 0, match.stderr
    assert "greedy" in match.stdout
    question = {
        "id": 1,
        "type": "act",
        "view": {"seat": 0, "dealer": 0, "hand": ["5H", "5C", "5S", "JD", "2S", "9D"]},
    }
    answer = subprocess.run(
        [sys.executable, "-c", script, "bot", str(folder)],
        input=json.dumps(question) + "\n",
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert sorted(json.loads(answer.stdout)["discard"]) == ["2S", "9D"]
