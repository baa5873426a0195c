"""``crib tables``: measure the tables that the library reads, or compare them."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from crib_agents import Bot, BotError, make_bot
from crib_env.deal_points import DEAL_POINTS_FILE
from crib_env.expectation import CRIB_FILES, DATA, read_crib_table
from crib_env.win_probability import TABLE_FILE
from crib_evaluate.command import progress_bar
from crib_evaluate.files import check_writable

_OUTPUT = click.option(
    "--output",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=DATA,
    help="Folder of the tables.  [default: the library's own]",
)
_SEED = click.option(
    "--seed", type=click.IntRange(0, 1 << 48), default=0, show_default=True, help="Of the hands."
)
_MANY = click.IntRange(min=1)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def tables() -> None:
    """Measure the tables that the library reads, from Medium's games with itself."""


@tables.command()
@click.option(
    "--samples",
    type=_MANY,
    default=20_000,
    show_default=True,
    help="Hands of the other side for each pair of ranks and whose crib it is.",
)
@click.option(
    "--rounds",
    type=_MANY,
    default=4,
    show_default=True,
    help="How often to measure, each time against discards by the last table.",
)
@_SEED
@_OUTPUT
@click.option(
    "--compare",
    nargs=2,
    type=_FILE,
    metavar="OWN OPPONENT",
    help="Measure nothing: show how the tables of the folder differ from these two files.",
)
def crib(
    samples: int, rounds: int, seed: int, output: Path, compare: tuple[Path, Path] | None
) -> None:
    """Mean points of a crib by the two ranks thrown to it, own and opponent's."""
    from crib_evaluate.tables import measure_cribs, write_crib_table

    opponent, own = (output / file.name for file in CRIB_FILES)
    if compare is not None:
        _show_differences((own, opponent), compare)
        return
    for path in (opponent, own):
        check_writable(path)
    with progress_bar("mean cribs", 1.0) as progress:
        means = measure_cribs(samples, rounds, seed, progress)
    for path, table in zip((opponent, own), means, strict=True):
        write_crib_table(path, table)
        click.echo(f"wrote {path}")


def _show_differences(ours: tuple[Path, Path], theirs: tuple[Path, Path]) -> None:
    from crib_evaluate.comparison import compare_cribs

    for name, mine, other in zip(("own crib", "opponent's crib"), ours, theirs, strict=True):
        click.echo(f"{name}: {compare_cribs(_read(mine), _read(other))}")


def _read(path: Path) -> NDArray[np.float64]:
    try:
        table = read_crib_table(path)
        if table.shape != (13, 13):
            raise ValueError
    except (ValueError, IndexError):
        raise click.UsageError(f"{path} is no table of cribs by ranks A to K") from None
    return table


def _named(player: str) -> Bot:
    try:
        return make_bot(player)
    except BotError as error:
        raise click.UsageError(str(error)) from None


@tables.command()
@click.option(
    "--deals",
    type=_MANY,
    default=200_000,
    show_default=True,
    help="Deals to measure the chances from.",
)
@click.option(
    "--games",
    type=_MANY,
    default=20_000,
    show_default=True,
    help="Games to count the scores in at which deals begin.",
)
@click.option("--player", help="Whose games with itself.  [default: medium]")
@click.option(
    "--compare",
    is_flag=True,
    help="Write nothing: say how far the chances are from those in the folder.",
)
@_SEED
@_OUTPUT
def win_probability(
    deals: int, games: int, player: str | None, compare: bool, seed: int, output: Path
) -> None:
    """Chance to win from every score, and how often deals begin at each."""
    from crib_evaluate.tables import (
        measure_deal_starts,
        measure_win_probability,
        write_win_probability,
    )

    path = output / TABLE_FILE.name
    bot = None if player is None else _named(player)
    if not compare:
        check_writable(path)
    with progress_bar("win probability", 1.0) as progress:
        chances = measure_win_probability(deals, seed, lambda done: progress(0.9 * done), bot)
        starts = measure_deal_starts(games, seed)
        progress(1.0)
    if compare:
        differs = np.abs(chances - np.load(path)["chances"])
        click.echo(
            f"chances differ from those of {path} by {100 * differs.mean():.2f} % on average, "
            f"{100 * differs.max():.2f} % at most"
        )
        return
    write_win_probability(path, chances, starts)
    click.echo(f"wrote {path}")


@tables.command()
@click.option(
    "--deals",
    type=_MANY,
    default=200_000,
    show_default=True,
    help="Deals to count the play and the hands in.",
)
@click.option(
    "--samples",
    type=_MANY,
    default=20_000,
    show_default=True,
    help="Hands of the other side for each pair of ranks and whose crib it is.",
)
@_SEED
@_OUTPUT
def deal_points(deals: int, samples: int, seed: int, output: Path) -> None:
    """How many points the play, the hands and the cribs of a deal bring."""
    from crib_evaluate.deal_points import count_crib_points, count_deal_points, write_deal_points

    path = output / DEAL_POINTS_FILE.name
    check_writable(path)
    with progress_bar("deal points", 1.0) as progress:
        pegged, hand = count_deal_points(deals, seed, lambda done: progress(0.3 * done))
        crib = count_crib_points(samples, seed, lambda done: progress(0.3 + 0.7 * done))
    write_deal_points(path, pegged, hand, crib)
    click.echo(f"wrote {path}")
