"""``crib train`` and ``crib export``. Torch is loaded only when the arguments are good."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from crib_env.errors import CribbageError
from crib_train.errors import TrainingError
from crib_train.settings import PRESETS, PPOSettings, SelfPlaySettings, Settings, describe

if TYPE_CHECKING:
    from crib_train.training import Trainer

_STOPPED = 130
"""Exit code after Ctrl-C."""


class _ListOf(click.ParamType):
    """Values with commas between them, as a tuple."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.name = f"{'numbers' if kind is int else 'names'} a,b,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """A tuple from a text."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(self.kind(part.strip()) for part in str(value).split(",") if part.strip())
        except ValueError:
            self.fail(f"{value!r} is not a list of {self.name}", param, ctx)


_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "tuple[int, ...]": _ListOf(int),
    "tuple[str, ...]": _ListOf(str),
}


def _setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """An option for every setting of every algorithm."""
    kinds = (PPOSettings, SelfPlaySettings)
    meanings = describe(PPOSettings) | describe(SelfPlaySettings)
    every = {field.name: field for kind in kinds for field in fields(kind)}
    for field in reversed(every.values()):
        option = click.option(
            f"--{field.name.replace('_', '-')}",
            field.name,
            type=_TYPES[str(field.type)],
            help=_sentence(meanings.get(field.name, "")),  # python -OO has no docstrings
        )
        command = option(command)
    return command


def _sentence(meaning: str) -> str:
    return f"{meaning[:1].upper()}{meaning[1:]}." if meaning else ""


@click.command()
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    help="Settings to begin with: smoke takes a couple of minutes, hard one or two hours, "
    "standard a night.  [default: smoke]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of the run.  [default: runs/PRESET]",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Go on with a run from its newest checkpoint.",
)
@_setting_options
def train(preset: str | None, output: Path | None, resume: Path | None, **changes: Any) -> None:
    """Train a player, and write checkpoints and TensorBoard curves.

    Ctrl-C stops with a checkpoint. Each setting of the preset can be changed by an
    option of its name.
    """
    changes = {name: value for name, value in changes.items() if value is not None}
    with _one_line_errors():
        if resume is not None:
            _refuse_with_resume({"preset": preset, "output": output, **changes})
            trainer = _resumed(resume)
        else:
            preset = preset or "smoke"
            settings = _changed(preset, changes)
            trainer = _begun(output or Path("runs") / preset, preset, settings)
        stopped = _train(trainer)
    folder = trainer.run.folder
    state, unit = trainer.state, trainer.settings.unit
    if stopped:
        click.echo(
            f"crib: stopped; the checkpoint at {state.timesteps:,} {unit} is saved: "
            f"crib train --resume {folder}",
            err=True,
        )
        sys.exit(_STOPPED)
    click.echo(
        f"{state.timesteps:,} {unit} in {state.seconds:,.0f} s{_rates(state.win_rates)}. "
        f"Next: crib export {folder}"
    )


def _changed(preset: str, changes: dict[str, Any]) -> Settings:
    settings = PRESETS[preset]
    known = {field.name for field in fields(settings)}
    odd = [f"--{name.replace('_', '-')}" for name in changes if name not in known]
    if odd:
        raise TrainingError(
            f"{', '.join(odd)}: no setting of the preset {preset}, which trains by "
            f"{settings.algorithm}"
        )
    return replace(settings, **changes)


def _refuse_with_resume(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise TrainingError(f"--resume goes on with the settings of the run; leave out {names}")


def _begun(folder: Path, preset: str, settings: Settings) -> Trainer:
    from crib_train.checkpoint import Config, Run
    from crib_train.model_card import machine, versions
    from crib_train.trainers import make_trainer

    run = Run(folder)
    command = shlex.join(["crib", *sys.argv[1:]])
    run.begin(Config(settings.to_json(), command, preset, versions(), machine()))
    return make_trainer(run, settings)


def _resumed(folder: Path) -> Trainer:
    from crib_train.checkpoint import Run
    from crib_train.trainers import make_trainer

    run = Run(folder)
    trainer = make_trainer(run, run.settings())
    trainer.resume()
    return trainer


def _rates(win_rates: dict[str, float]) -> str:
    if not win_rates:
        return ""
    parts = [f"{100 * rate:.1f} % of games against {name}" for name, rate in win_rates.items()]
    return f", won {', '.join(parts)}"


class _Rate(ProgressColumn):
    """Decisions a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def _train(trainer: Trainer) -> bool:
    """Train to the end; whether Ctrl-C came first."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("training"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        _Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[wins]}"),
        console=console,
        disable=not console.is_terminal,
    )
    settings = trainer.settings
    with _interrupts() as interrupted, bar:
        task = bar.add_task(
            "", total=settings.timesteps, completed=trainer.state.timesteps, wins=""
        )

        told = trainer.state

        def report(timesteps: int) -> None:
            nonlocal told
            rates = trainer.state.win_rates
            wins = "  ".join(f"{name} {100 * rate:.1f} %" for name, rate in rates.items())
            bar.update(task, completed=timesteps, wins=wins)
            if rates is not told.win_rates:
                told = trainer.state
                bar.console.print(
                    f"{told.timesteps:,} {settings.unit}{_rates(rates)}", soft_wrap=True
                )

        trainer.report = report
        trainer.stop = interrupted
        trainer.train()
    return not trainer.is_over


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks to stop at the next step; a second one stops at once."""
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("bundle"),
    show_default=True,
    help="Folder of the bundle; its last part is the player's name.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    help="A folder under RUN/checkpoints.  [default: the newest]",
)
@click.option(
    "--games",
    type=click.IntRange(min=2),
    default=4000,
    show_default=True,
    help="Mirrored games measured against each of random, easy and medium.",
)
@click.option(
    "--champion",
    is_flag=True,
    help="Export the past self that no later one has clearly beaten, not the newest network.",
)
def export(run: Path, output: Path, checkpoint: Path | None, games: int, champion: bool) -> None:
    """Export the player that RUN trained as a bundle, and verify it.

    A bundle is a folder with an ONNX model, its spec, test vectors and a model card.
    Its path is a player's name for every other command.
    """
    with _one_line_errors():
        from crib_train.checkpoint import Run
        from crib_train.export import export as export_bundle

        console = Console(stderr=True)
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        with bar:
            task = bar.add_task("loading")
            stage = lambda what: bar.update(task, description=what)  # noqa: E731
            checks, matches = export_bundle(Run(run), output, checkpoint, games, stage, champion)
    rates = {name: match.players[0].win_rate.mean for name, match in matches.items()}
    click.echo(
        f"{output}: agrees with the trained network on {checks.states:,} decisions"
        f"{_rates(rates)}. Next: crib evaluate {output} medium"
    )


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (TrainingError, CribbageError) as error:
        raise click.ClickException(str(error)) from None
