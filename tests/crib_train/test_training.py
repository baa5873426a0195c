"""A run is the same to the bit whether it goes through or is killed and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.cli import main
from crib_train.checkpoint import Config, Run, write_tensors
from crib_train.errors import TrainingError
from crib_train.model_card import machine, versions
from crib_train.settings import PPOSettings, Settings
from crib_train.trainers import make_trainer
from crib_train.training import Trainer

pytestmark = pytest.mark.slow

SMALL = PPOSettings(
    timesteps=960,
    envs=16,
    steps=10,
    batch_size=80,
    epochs=2,
    hidden=(16,),
    past_selves=2,
    pool_size=3,
    checkpoint_updates=2,
    kept_checkpoints=10,
    evaluation_games=4,
    evaluation_opponents=("random",),
)
CRIB = [sys.executable, "-m", "crib_env.cli"]
PATIENCE = 240


def begin(folder: Path, settings: Settings = SMALL) -> Run:
    run = Run(folder)
    run.begin(Config(settings.to_json(), "crib train", "smoke", versions(), machine()))
    return run


def trained(run: Run, settings: Settings = SMALL, resume: bool = False) -> Trainer:
    trainer = make_trainer(run, settings)
    if resume:
        trainer.resume()
    trainer.train()
    return trainer


def numbers(trainer: Trainer) -> dict[str, torch.Tensor]:
    """The network, the state of the optimizer, and the past selves."""
    found = dict(trainer.model.policy.state_dict())
    for index, state in trainer.model.policy.optimizer.state_dict()["state"].items():
        found |= {f"optimizer {index} {name}": value for name, value in state.items()}
    for index, weights in enumerate(trainer.pool.weights()):
        found |= {f"past self {index} {name}": value for name, value in weights.items()}
    return found


def assert_same(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    assert [name for name, value in ours.items() if not torch.equal(value, theirs[name])] == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, torch.Tensor]]:
    """A run that went through, and what came of it."""
    run = begin(tmp_path_factory.mktemp("runs") / "whole")
    return run, numbers(trained(run))


def cut(run: Run, to: Path, timesteps: int) -> Run:
    """The run as it was when it was killed soon after a checkpoint."""
    shutil.copytree(run.folder, to)
    killed = Run(to)
    for checkpoint in killed.checkpoints():
        if int(checkpoint.name) > timesteps:
            shutil.rmtree(checkpoint)
    torn = to / "checkpoints" / ".000000000999.tmp"
    torn.mkdir()
    (torn / "model.zip").write_bytes(b"half")
    return killed


def test_checkpoints_stand_where_they_should(whole: tuple[Run, Any]) -> None:
    run, _ = whole
    assert [int(path.name) for path in run.checkpoints()] == [0, 320, 640, 960]
    state = json.loads((run.newest() / "state.json").read_text())
    assert (state["timesteps"], state["updates"]) == (960, 6)
    assert list(state["win_rates"]) == ["random"]


@pytest.mark.parametrize("timesteps", [0, 320, 640])
def test_killed_and_resumed_is_as_if_never_killed(
    whole: tuple[Run, dict[str, torch.Tensor]], tmp_path: Path, timesteps: int
) -> None:
    run, wanted = whole
    killed = cut(run, tmp_path / "killed", timesteps)
    resumed = trained(killed, resume=True)
    assert_same(numbers(resumed), wanted)
    assert resumed.state.timesteps == 960
    assert not list((killed.folder / "checkpoints").glob(".*"))


def test_training_changes_the_network_and_the_seed_matters(
    whole: tuple[Run, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    run, wanted = whole
    start = make_trainer(run, SMALL)
    name = "action_net.ranks.weight"
    assert not torch.equal(start.model.policy.state_dict()[name], wanted[name])
    other = replace(SMALL, seed=1)
    assert not torch.equal(
        numbers(trained(begin(tmp_path / "other", other), other))[name], wanted[name]
    )


def test_stopped_amid_an_update_keeps_what_was_learned(tmp_path: Path) -> None:
    run = begin(tmp_path / "stopped")
    steps = 0

    def stop() -> bool:
        nonlocal steps
        steps += 1
        return steps == 35  # amid the fourth update

    trainer = make_trainer(run, SMALL)
    trainer.stop = stop
    trainer.train()
    assert trainer.state.timesteps == 480
    assert not trainer.is_over
    assert [int(path.name) for path in run.checkpoints()] == [0, 320, 480]
    twins = []
    for name in ("one", "two"):
        shutil.copytree(run.folder, tmp_path / name)
        resumed = trained(Run(tmp_path / name), resume=True)
        assert resumed.is_over
        twins.append(numbers(resumed))
    assert_same(*twins)


def test_old_checkpoints_go(tmp_path: Path) -> None:
    settings = replace(SMALL, kept_checkpoints=2)
    run = begin(tmp_path / "run", settings)
    trained(run, settings)
    assert [int(path.name) for path in run.checkpoints()] == [640, 960]


def test_a_finished_run_has_nothing_to_resume(whole: tuple[Run, Any], tmp_path: Path) -> None:
    run, wanted = whole
    again = trained(cut(run, tmp_path / "again", 960), resume=True)
    assert_same(numbers(again), wanted)


def test_model_is_what_sb3_loads(whole: tuple[Run, dict[str, torch.Tensor]]) -> None:
    run, wanted = whole
    model = MaskablePPO.load(run.newest() / "model.zip", device="cpu")
    assert torch.equal(model.policy.state_dict()["value_net.linear.weight"],
                       wanted["value_net.linear.weight"])  # fmt: skip
    assert model.num_timesteps == 960


def test_curves(whole: tuple[Run, Any]) -> None:
    run, _ = whole
    curves = EventAccumulator(str(run.tensorboard)).Reload()
    scalars = set(curves.Tags()["scalars"])
    assert {
        "rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate", "time/fps",
        "train/approx_kl", "train/entropy_loss", "train/explained_variance", "train/value_loss",
        "train/learning_rate", "eval/win_rate_random", "eval/skunk_rate_random",
        "eval/skunked_rate_random", "eval/margin_random",
    } <= scalars  # fmt: skip
    assert [point.step for point in curves.Scalars("eval/win_rate_random")] == [0, 320, 640, 960]
    rates = [point.value for point in curves.Scalars("train/learning_rate")]
    assert rates == sorted(rates, reverse=True)
    text = curves.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    for name in SMALL.to_json():
        assert f"| {name} |" in text


@pytest.mark.parametrize(
    ("file", "data", "says"),
    [
        ("model.zip", b"PK nothing", "is damaged"),
        ("pool.pt", b"", "is damaged"),
        ("state.json", b"{", "is damaged"),
        ("state.json", None, "lacks state.json"),
        ("model.zip", None, "lacks model.zip\n"),
        ("pool.pt", None, "lacks pool.pt"),
        ("champion.pt", b"PK nothing", "is damaged"),
        ("champion.pt", None, "lacks champion.pt"),
    ],
)
@pytest.mark.parametrize("command", ["train", "export"])
def test_a_damaged_checkpoint_gets_one_line(
    whole: tuple[Run, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    file: str,
    data: bytes | None,
    says: str,
) -> None:
    run = cut(whole[0], tmp_path / "run", 640)
    spoiled = run.newest() / file
    if data is None:
        spoiled.unlink()
    else:
        spoiled.write_bytes(data)
    folder, bundle = str(run.folder), str(tmp_path / "bundle")
    arguments = {
        "train": ["train", "--resume", folder],
        "export": ["export", folder, "--champion", "--output", bundle],
    }
    with pytest.raises(SystemExit) as left:
        main(arguments[command])
    assert left.value.code == 2
    shown = capsys.readouterr()
    assert f"{run.newest()} {says}" in shown.err
    assert shown.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path) -> None:
    tensors = {"weights": torch.arange(100_000)}
    write_tensors(tensors, tmp_path / "tensors.pt")
    assert_same(torch.load(tmp_path / "tensors.pt", weights_only=True), tensors)
    with pytest.raises(OSError, match="No space left"):
        write_tensors(tensors, Path("/dev/full"))


def test_one_process_at_a_time_trains_a_run(whole: tuple[Run, Any], tmp_path: Path) -> None:
    run = cut(whole[0], tmp_path / "run", 640)
    before = sorted(path.name for path in run.folder.rglob("*"))
    with run.held(), pytest.raises(TrainingError, match="is being trained by another process"):
        trained(Run(run.folder), resume=True)
    assert sorted(path.name for path in run.folder.rglob("*")) == before
    assert trained(run, resume=True).is_over


def test_killed_before_the_first_checkpoint(
    whole: tuple[Run, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    run = begin(tmp_path / "run")
    with pytest.raises(TrainingError, match="has no checkpoint yet"):
        run.newest()
    assert_same(numbers(trained(run, resume=True)), whole[1])


def small_options() -> list[str]:
    options = []
    for name, value in SMALL.to_json().items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        options += [f"--{name.replace('_', '-')}", text]
    return options


def wait_for(run: Run, timesteps: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if any(int(path.name) >= timesteps for path in run.checkpoints()):
            return
        time.sleep(0.02)
    pytest.fail("no checkpoint came")


def start(folder: Path) -> subprocess.Popen[str]:
    command = [*CRIB, "train", "--output", str(folder), *small_options(), "--timesteps", "9600000"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_saves_a_checkpoint_and_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    process = start(run.folder)
    wait_for(run, 320, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    message = err.splitlines()[-1]
    saved = int(run.newest().name)
    assert message == (
        f"crib: stopped; the checkpoint at {saved:,} decisions is saved: "
        f"crib train --resume {run.folder}"
    )
    assert json.loads((run.newest() / "state.json").read_text())["timesteps"] == saved


def test_kill_9_leaves_a_usable_checkpoint(tmp_path: Path) -> None:
    """Killed at some moment after another, the newest checkpoint always loads."""
    run = Run(tmp_path / "run")
    process = start(run.folder)
    try:
        for at in range(1, 6):
            wait_for(run, 320 * 5 * at, process)
            time.sleep(0.013 * at)
            process.kill()
            process.communicate(timeout=PATIENCE)
            newest = int(run.newest().name)
            trainer = make_trainer(run, run.settings())
            trainer.resume()
            assert trainer.state.timesteps == newest
            process = subprocess.Popen(
                [*CRIB, "train", "--resume", str(run.folder)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ,
            )
    finally:
        process.kill()
        process.communicate()
