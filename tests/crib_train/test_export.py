"""From a small run to a bundle and back, and what the export refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from crib_agents import make_bot
from crib_agents.bundle import MODEL, MODEL_CARD, SPEC, VECTORS, BundleBot, load_bundle
from crib_env.cli import main
from crib_evaluate.match import play_match
from crib_train.checkpoint import Run
from crib_train.errors import TrainingError
from crib_train.export import CLOSE, export, make_cases, verify
from crib_train.trainers import load_model
from tests.crib_agents.bundles import write_bundle
from tests.crib_train.test_training import begin, trained

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    begun = begin(tmp_path_factory.mktemp("runs") / "small")
    trained(begun)
    return begun


@pytest.fixture(scope="module")
def bundle(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles") / "pupil"
    checks, matches = export(run, folder, games=20)
    assert checks.states >= 1000
    assert checks.actions >= 6
    assert checks.vectors == 200
    assert list(matches) == ["random", "easy", "medium"]
    return folder


def test_the_folder_holds_four_files(bundle: Path) -> None:
    assert {path.name for path in bundle.iterdir()} == {MODEL, SPEC, VECTORS, MODEL_CARD}
    assert [path.name for path in bundle.parent.iterdir()] == ["pupil"]


def test_the_model_is_as_documented(bundle: Path) -> None:
    model = onnx.load(bundle / MODEL)
    onnx.checker.check_model(model)
    assert [entry.version for entry in model.opset_import if entry.domain == ""] == [18]

    def shapes(entries: Any) -> dict[str, list[Any]]:
        return {
            entry.name: [
                axis.dim_param or axis.dim_value for axis in entry.type.tensor_type.shape.dim
            ]
            for entry in entries
        }

    inputs, outputs = shapes(model.graph.input), shapes(model.graph.output)
    assert inputs == {"observation": ["batch", 425], "action_mask": ["batch", 52]}
    assert outputs == {"logits": ["batch", 52], "value": ["batch"]}


def test_the_card_tells_how_it_was_made(bundle: Path) -> None:
    text = (bundle / MODEL_CARD).read_text()
    for part in ("# pupil", "960 decisions", "crib train", "| random | 20 |", "| seed | 0 |",
                 "learning_rate", "interval", "torch"):  # fmt: skip
        assert part in text


def test_vectors_cover_both_phases_and_both_seats(bundle: Path) -> None:
    cases = [json.loads(line) for line in (bundle / VECTORS).read_text().splitlines()]
    assert len(cases) == 200
    views = [case["view"] for case in cases]
    assert 50 < sum("starter" in view for view in views) < 150
    assert {view["seat"] for view in views} == {0, 1}
    assert sum(len(view.get("discards", ())) == 1 for view in views) > 20
    assert max(max(view["scores"]) for view in views) > 100
    assert all(len(case["observation"]) == 425 for case in cases)


def test_the_bundle_plays_as_the_policy_does(run: Run, bundle: Path) -> None:
    bot = make_bot(bundle)
    assert isinstance(bot, BundleBot)
    model, _ = load_model(run, run.newest())
    assert verify(bot, model).largest_difference < 1e-4
    again = play_match(bot, "easy", games=100, seed=3).to_json()
    assert play_match(load_bundle(bundle), "easy", games=100, seed=3).to_json() == again


def test_another_network_is_noticed(run: Run, bundle: Path) -> None:
    model, _ = load_model(run, run.newest())
    with torch.no_grad():
        model.policy.action_net.ranks.bias[3] += 0.5  # type: ignore[union-attr, index, operator]
    with pytest.raises(TrainingError, match=r"chooses otherwise|differs"):
        verify(load_bundle(bundle), model)


def test_an_older_checkpoint_can_be_exported(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path / "older", run.checkpoints()[1], games=2)
    assert "320 decisions" in (tmp_path / "older" / MODEL_CARD).read_text()
    new = load_bundle(tmp_path / "older")
    assert np.isfinite(
        new.judge(np.zeros((1, 425), np.float32), np.ones((1, 52), np.int8))[0]
    ).all()


def test_a_checkpoint_of_another_run_is_refused(run: Run, tmp_path: Path) -> None:
    other = Path(shutil.copytree(run.folder, tmp_path / "other"))
    with pytest.raises(TrainingError, match="no checkpoint of"):
        export(run, tmp_path / "bundle", Run(other).newest(), games=2)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_nothing_is_left_of_an_export_that_fails(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["export", str(run.folder), "--output", str(tmp_path / "b"),
              "--checkpoint", str(run.newest().with_name("nowhere"))])  # fmt: skip
    assert left.value.code == 2
    assert "nowhere lacks state.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_in_a_process_of_its_own(run: Run, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "crib_env.cli", "export", str(run.folder),
         "--output", "pupil", "--games", "10"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "crib evaluate pupil medium" in done.stdout
    assert "torch" not in done.stderr


def test_no_vector_hangs_on_rounding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = load_bundle(write_bundle(tmp_path / "greedy"))

    def shortfalls() -> list[float]:
        """By how much the second best card of each vector falls short of the best."""
        gaps = []
        for case in make_cases(bot, 100):
            row = (np.array([case.observation], np.float32), np.array([case.action_mask], np.int8))
            second, best = np.sort(bot.judge(*row)[0][0])[-2:]
            gaps.append(float(best - second))
        return gaps

    assert 0 in shortfalls(), "cards that are equal to the last bit try the tie-break"
    judge = bot.judge
    nudge = np.linspace(0, CLOSE, 52, dtype=np.float32)
    monkeypatch.setattr(bot, "judge", lambda *row: (judge(*row)[0] + nudge, judge(*row)[1]))
    assert min(shortfalls()) > CLOSE
