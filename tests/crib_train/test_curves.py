"""Curves of runs as a picture: what is read, what is drawn, what goes wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.lines import Line2D
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from crib_env.cli import main
from crib_train.curves import MOVED, plot, read_curves, unit_of

BEGUN = 1_000_000.0


def x_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_xdata()).tolist()


def y_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_ydata()).tolist()


def write_run(folder: Path, points: list[tuple[str, int, float, float]]) -> Path:
    """A run whose log has these entries: tag, step, seconds since the start, value."""
    writer = EventFileWriter(str(folder / "tensorboard"))
    for tag, step, seconds, value in points:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(wall_time=BEGUN + seconds, step=step, summary=summary))
    writer.close()
    return folder


def small_run(folder: Path) -> Path:
    return write_run(
        folder,
        [
            ("eval/win_rate_easy", 0, 0, 0.8),
            ("eval/win_rate_medium", 0, 0, 0.4),
            ("eval/win_rate_medium", 2000, 3600, 0.55),
            ("eval/win_rate_medium", 1000, 1800, 0.5),
            ("train/play_loss", 1000, 1800, 2.5),
            ("train/play_loss", 1000, 1900, 2.25),
            ("train/learning_rate", 1000, 1800, 1e-3),
        ],
    )


WON = ("eval/win_rate_easy", 0, 0.0, 0.8)


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["curves", *map(str, arguments)])
    return int(left.value.code or 0)


def test_reads_what_was_logged(tmp_path: Path) -> None:
    curves = read_curves(small_run(tmp_path / "one"))
    medium = curves["eval/win_rate_medium"]
    assert medium.steps.tolist() == [0, 1000, 2000]
    assert medium.hours == pytest.approx([0, 0.5, 1])
    assert medium.values == pytest.approx([0.4, 0.5, 0.55])
    assert curves["train/play_loss"].values == pytest.approx([2.25])  # the later entry
    assert read_curves(tmp_path / "one" / "tensorboard").keys() == curves.keys()


@pytest.mark.parametrize(("over", "across"), [("steps", [0, 1000, 2000]), ("hours", [0, 0.5, 1])])
def test_draws_rates_and_losses(tmp_path: Path, over: str, across: list[float]) -> None:
    curves = read_curves(small_run(tmp_path / "one"))
    figure = plot({"one": curves}, over, "deals")
    rates, loss = figure.axes
    easy, medium, even = rates.get_lines()
    assert [str(line.get_label()) for line in (easy, medium)] == ["against easy", "against medium"]
    assert x_of(medium) == pytest.approx(across)
    assert y_of(medium) == pytest.approx([40, 50, 55])
    assert y_of(even) == [50, 50]
    assert rates.get_xlabel() == ("deals trained" if over == "steps" else "hours")
    assert loss.get_title() == "play loss"
    assert y_of(loss.get_lines()[0]) == pytest.approx([2.25])


def test_draws_how_far_tables_moved(tmp_path: Path) -> None:
    entries = [(MOVED, 0, 0.0, 0.5), (MOVED, 1000, 1800.0, 0.002), (MOVED + "_most", 0, 0.0, 0.9)]
    figure = plot({"a": read_curves(write_run(tmp_path, [*entries, WON]))}, "steps", "deals")
    _, moved = figure.axes
    assert moved.get_title() == "tables moved, %"
    assert moved.get_yscale() == "log"
    (line,) = moved.get_lines()
    assert y_of(line) == pytest.approx([50, 0.2])


def test_several_runs_are_told_apart(tmp_path: Path) -> None:
    runs = {name: read_curves(small_run(tmp_path / name)) for name in ("one", "two")}
    rates, loss = plot(runs, "steps", "deals").axes
    assert "two against medium" in [line.get_label() for line in rates.get_lines()]
    assert [line.get_label() for line in loss.get_lines()] == ["one", "two"]


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [small_run(tmp_path / part / "hard") for part in ("one", "two")]
    other = small_run(tmp_path / "smoke")
    picture = tmp_path / "curves.svg"
    # Twice the same is drawn once.
    assert run(*folders, other, folders[0], "--plot", picture) == 0
    names = re.findall(r"<!-- (\S+) against medium -->", picture.read_text())
    assert names == [str(folders[0]), str(folders[1]), "smoke"]


@pytest.mark.parametrize(
    ("config", "unit"),
    [
        (None, "steps"),
        ("{", "steps"),
        ("[]", "steps"),
        ('{"preset": "nothing"}', "steps"),
        ('{"preset": "hard"}', "deals"),
        ('{"preset": "smoke"}', "decisions"),
    ],
)
def test_what_steps_are(tmp_path: Path, config: str | None, unit: str) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    assert unit_of(tmp_path) == unit


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_command_writes_a_small_picture(tmp_path: Path, kind: str, begins: bytes) -> None:
    folder = small_run(tmp_path / "one")
    (folder / "config.json").write_text(json.dumps({"preset": "hard"}))
    out = tmp_path / "out"
    out.mkdir()
    picture = out / f"curves.{kind}"
    assert run(folder, "--plot", picture) == 0
    first = picture.read_bytes()
    assert first.startswith(begins)
    assert len(first) < 100_000
    assert [path.name for path in out.iterdir()] == [picture.name]


def test_refusals_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    picture = tmp_path / "curves.png"
    other = write_run(tmp_path / "other", [("time/fps", 0, 0, 1.0)])
    for arguments, says in (
        ((empty, "--plot", picture), "empty holds no curves"),
        ((other, "--plot", picture), "neither win rates nor losses"),
        ((empty, "--plot", tmp_path / "curves.doc"), "a plot ends in .png or .svg"),
        ((empty, "--plot", tmp_path / "nowhere" / "curves.png"), "cannot write"),
        ((tmp_path / "absent", "--plot", picture), "absent"),
        ((empty,), "--plot"),
    ):
        assert run(*arguments) == 2
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1
    assert not picture.exists()


def test_torch_and_matplotlib_are_not_loaded_for_help() -> None:
    code = (
        "import sys; from crib_train import curves; "
        "print([name for name in ('torch', 'matplotlib', 'tensorboard') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
