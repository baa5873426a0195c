"""``crib curves``: TensorBoard's curves of training runs as one picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from numpy.typing import NDArray

from crib_evaluate.files import check_writable, write_whole
from crib_evaluate.pictures import check_picture, draw
from crib_train.settings import PRESETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIN_RATES = "eval/win_rate_"
_LOSSES = ("train/", "_loss")
"""How the tags of losses begin and end."""
MOVED = "chances/moved"
"""How far tables of chances moved when they were remade, P(win)."""
_MOST_IN_A_ROW = 3
_HOUR = 3600.0


@dataclass(frozen=True)
class Curve:
    """One curve of one run.

    Attributes:
        steps: trained for by then (decisions, or deals in self-play), int64 ``[n]``.
        hours: since the run's first entry, float64 ``[n]``.
        values: float64 ``[n]``.
    """

    steps: NDArray[np.int64]
    hours: NDArray[np.float64]
    values: NDArray[np.float64]


Curves = dict[str, Curve]
"""By TensorBoard's tags."""


def read_curves(folder: Path) -> Curves:
    """All curves of a run, also of one that is still going on.

    Where a run was resumed and came by a step once more, the later entry counts.

    Args:
        folder: of the run, or of its TensorBoard files.

    Raises:
        click.UsageError: when there are no curves in it.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    inside = folder / "tensorboard"
    source = inside if inside.is_dir() else folder
    events = EventAccumulator(str(source), size_guidance={"scalars": 0}).Reload()
    points = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    points = {tag: found for tag, found in points.items() if found}
    if not points:
        raise click.UsageError(f"{folder} holds no curves of a run")
    begun = min(point.wall_time for found in points.values() for point in found)
    curves = {}
    for tag, found in points.items():
        latest = {point.step: point for point in found}
        rows = [latest[step] for step in sorted(latest)]
        curves[tag] = Curve(
            steps=np.array([point.step for point in rows], np.int64),
            hours=np.array([(point.wall_time - begun) / _HOUR for point in rows]),
            values=np.array([point.value for point in rows]),
        )
    return curves


def unit_of(folder: Path) -> str:
    """What a run counts its steps in; a folder of TensorBoard files alone does not tell."""
    try:  # without torch, which reading a whole run takes
        return PRESETS[json.loads((folder / "config.json").read_bytes())["preset"]].unit
    except (OSError, ValueError, KeyError, TypeError):
        return "steps"


def plot(runs: dict[str, Curves], over: str, unit: str) -> Figure:
    """Win rates against fixed players above; losses, and how far tables of chances moved, below.

    Args:
        runs: curves by the run's name.
        over: ``steps`` or ``hours``.
        unit: of the steps.

    Raises:
        click.UsageError: when no run has such curves.
    """
    from matplotlib.figure import Figure

    tags = sorted({tag for curves in runs.values() for tag in curves})
    rates = [tag for tag in tags if tag.startswith(WIN_RATES)]
    losses = [tag for tag in tags if tag.startswith(_LOSSES[0]) and tag.endswith(_LOSSES[1])]
    if not rates and not losses:
        raise click.UsageError("there are neither win rates nor losses in these runs")
    small = losses + [tag for tag in tags if tag == MOVED]
    rows = [small[at : at + _MOST_IN_A_ROW] for at in range(0, len(small), _MOST_IN_A_ROW)]
    heights = [3.2] * bool(rates) + [2.2] * len(rows)
    figure = Figure(figsize=(7.6, sum(heights)), layout="constrained")
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if rates:
        axes = parts[0].subplots()
        for tag in rates:
            against = tag.removeprefix(WIN_RATES)
            _draw_curves(axes, runs, tag, over, 100, f"against {against}")
        axes.axhline(50, color="0.6", linewidth=0.8, zorder=0)
        _finish(axes, over, unit, "games won, %")
        axes.legend()
    for part, row in zip(parts[bool(rates) :], rows, strict=True):
        for axes, tag in zip(part.subplots(1, len(row), squeeze=False)[0], row, strict=True):
            moved = tag == MOVED
            _draw_curves(axes, runs, tag, over, 100 if moved else 1, "")
            _finish(axes, over, unit, "")
            if len(runs) > 1:
                axes.legend()
            if moved:  # at first they come from nothing
                axes.set_yscale("log")
            title = "tables moved, %" if moved else tag.removeprefix(_LOSSES[0]).replace("_", " ")
            axes.set_title(title, fontsize="medium")
    return figure


def _draw_curves(
    axes: Axes, runs: dict[str, Curves], tag: str, over: str, scale: float, name: str
) -> None:
    for run, curves in runs.items():
        if tag not in curves:
            continue
        curve = curves[tag]
        across = curve.steps if over == "steps" else curve.hours
        parts: Sequence[str] = [run] * (len(runs) > 1) + [name] * bool(name)
        marker = "." if len(across) <= 50 else ""
        axes.plot(across, scale * curve.values, marker=marker, label=" ".join(parts))


def _finish(axes: Axes, over: str, unit: str, up: str) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(4))
    if over == "steps":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel(f"{unit} trained" if over == "steps" else "hours")
    axes.set_ylabel(up)
    axes.grid(visible=True, alpha=0.3)


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=check_picture,
    required=True,
    help="The picture to write, .png or .svg.",
)
@click.option(
    "--over",
    type=click.Choice(("steps", "hours")),
    default="steps",
    show_default=True,
    help="What runs along the bottom.",
)
def curves(runs: tuple[Path, ...], picture: Path, over: str) -> None:
    """Draw win rates and losses of RUNS, folders made by `crib train`, as one picture."""
    check_writable(picture)
    found = {name: read_curves(run) for name, run in _named(runs).items()}
    units = {unit_of(run) for run in runs}
    unit = units.pop() if len(units) == 1 else "steps"
    write_whole(picture, draw(plot(found, over, unit), picture.suffix[1:]))
    click.echo(f"wrote {picture}")


def _named(runs: Sequence[Path]) -> dict[str, Path]:
    """Runs by the last part of their path, or by all of it where two have that in common."""
    whole = list(dict.fromkeys(run.resolve() for run in runs))
    names = [run.name for run in whole]
    return {run.name if names.count(run.name) == 1 else str(run): run for run in whole}
