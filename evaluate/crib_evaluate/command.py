"""``crib evaluate``: a measured match between two players."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from crib_env.rules import PRESETS
from crib_evaluate.files import check_writable, write_json

MOST_GAMES = 10_000_000
"""More would tell nothing that these do not."""
MOST_WORKERS = 256
_TABLE_WIDTH = 64
"""A narrower terminal folds the lines of the table rather than losing figures."""


class _Rate(ProgressColumn):
    """Units of work a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self.unit}/s")


@contextmanager
def progress_bar(
    what: str, total: float, unit: str | None = None
) -> Iterator[Callable[[float], None]]:
    """A bar on stderr with the time left; nothing where that is no terminal.

    Args:
        what: is being done.
        total: that is done at the end.
        unit: of the total, where a rate is wanted.

    Yields:
        What to tell how much is done.
    """
    console = Console(stderr=True)
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
    ]
    if unit is not None:
        columns.append(_Rate(unit))
    columns.append(TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--games",
    type=click.IntRange(1, MOST_GAMES),
    default=10_000,
    show_default=True,
    help="How many; rounded up to whole pairs, or rounds of six for three players.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 63) - 1),
    default=0,
    show_default=True,
    help="Equal seeds give equal numbers, whatever the number of workers.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_WORKERS),
    help="Processes to play in.  [default: one, or one a core for a long match]",
)
@click.option(
    "--rules",
    type=click.Choice(tuple(PRESETS)),
    default="six-card",
    show_default=True,
    help="Which game.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the result to this file.",
)
def evaluate(
    a: str, b: str, games: int, seed: int, workers: int | None, rules: str, json_file: Path | None
) -> None:
    """Play a measured match between players A and B.

    A and B are names (random, easy, medium, search, or what other packages add) or
    folders of exported players; discard:A+play:B throws as A and lays as B, blind:A
    is A told that the score is 0-0. Every deal is played twice with the seats
    exchanged, so that both get the same cards and each deals first once. Four play
    as partners; for three players each deal is played six times, once for every way
    to seat both.
    """
    # Only now, so that a mistyped option is answered at once.
    from crib_evaluate.match import play_match
    from crib_evaluate.mirrored import seatings
    from crib_evaluate.report import match_report

    if json_file is not None:
        check_writable(json_file)
    in_round = len(seatings(PRESETS[rules]))
    if games % in_round:
        games += in_round - games % in_round
        click.echo(f"crib: playing {games} games, since {in_round} make a round", err=True)
    with progress_bar(f"{a} against {b}", games, "games") as progress:
        result = play_match(a, b, games, seed, rules, workers, progress)
    if json_file is not None:
        write_json(json_file, result.to_json())
    console = Console()
    console.width = max(console.width, _TABLE_WIDTH)
    console.print(match_report(result), crop=False)
