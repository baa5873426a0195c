"""``crib discards``: what a player's discards lose, and how it answers published problems."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich import box
from rich.console import Console
from rich.table import Table

from crib_evaluate.command import progress_bar
from crib_evaluate.files import check_writable, write_json

if TYPE_CHECKING:
    from crib_agents.bot import Bot
    from crib_evaluate.discards_report import Cells

_WIDE = 140
"""A narrower terminal folds lines rather than losing figures."""
_LINE = 79
_OF_DEALS = ("deals", "drawn")
"""Options that say nothing to problems from a file."""


@click.command()
@click.argument("player")
@click.option(
    "--deals",
    type=click.IntRange(1, 1_000_000),
    default=400,
    show_default=True,
    help="How many to throw from, the player dealing in every other.",
)
@click.option(
    "--rollouts",
    type=click.IntRange(2, 1_000_000),
    default=2048,
    show_default=True,
    help="Deals played out from each discard that is not surely behind; rounded up to even.",
)
@click.option(
    "--drawn",
    is_flag=True,
    help="Begin at scores as games come to them.  [default: at 0-0]",
)
@click.option(
    "--within",
    type=click.FloatRange(0, 100),
    default=3.0,
    show_default=True,
    help="Do not try discards that are further behind the best by their exact mean, in points; "
    "within 31 points of the target all are tried.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 63) - 1),
    default=0,
    show_default=True,
    help="Equal seeds give equal numbers.",
)
@click.option(
    "--problems",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Answer the published problems of this file instead, one a line in JSON.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table in Markdown.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the result to this file.",
)
@click.pass_context
def discards(
    context: click.Context,
    player: str,
    deals: int,
    rollouts: int,
    drawn: bool,
    within: float,
    seed: int,
    problems: Path | None,
    as_markdown: bool,
    json_file: Path | None,
) -> None:
    """Measure what the discards of PLAYER lose against the best.

    What a discard is worth is found by rollouts: the hidden cards are dealt again
    and again, the same for every discard, and PLAYER throws for the other side and
    plays both. The game is the six-card one of two.
    """
    if problems is not None:
        for name in _OF_DEALS:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} says nothing to --problems")
    # Only now, so that a mistyped option is answered at once.
    from crib_agents import make_bot

    if json_file is not None:
        check_writable(json_file)
    rollouts += rollouts % 2
    bot = make_bot(player, seed=seed)
    settings = ["--rollouts", str(rollouts), "--within", f"{within:g}", "--seed", str(seed)]
    if problems is None:
        settings += ["--deals", str(deals)] + ["--drawn"] * drawn
        facts = _measure(bot, player, deals, rollouts, seed, drawn, within, as_markdown)
    else:
        settings += ["--problems", str(problems)]
        facts = _answer(bot, player, problems, rollouts, seed, within, as_markdown)
    if json_file is not None:
        from crib_evaluate.result import versions

        command = shlex.join(["crib", "discards", player, *settings])
        about = {"command": command, "versions": versions(), "seed": seed, "player": player}
        write_json(json_file, {**about, "rollouts": rollouts, "within": within, **facts})


def _measure(
    bot: Bot,
    player: str,
    deals: int,
    rollouts: int,
    seed: int,
    drawn: bool,
    within: float,
    as_markdown: bool,
) -> dict[str, Any]:
    from crib_evaluate.discards import measure_discards
    from crib_evaluate.discards_report import loss_table, losses, plain

    with progress_bar(f"discards of {player}", deals, "deals") as progress:
        found = measure_discards(bot, deals, rollouts, seed, drawn, within, progress)
    means = losses(found)
    _print(loss_table(means), f"Discards of {player}", as_markdown)
    scores = "at scores as games come to them" if drawn else "at 0-0"
    note = (
        f"Deals {scores}; up to {rollouts:,} rollouts of a discard; seed {seed}. The loss is "
        "against the best found on half of the rollouts, valued on the other half; at most, "
        "against the best found and valued on all of them."
    )
    click.echo("\n" + "\n".join(textwrap.wrap(note, _LINE)))
    return {"drawn": drawn, "losses": plain(means), "deals": plain(found)}


def _answer(
    bot: Bot,
    player: str,
    path: Path,
    rollouts: int,
    seed: int,
    within: float,
    as_markdown: bool,
) -> dict[str, Any]:
    from crib_evaluate.discards_report import agreement, plain, problem_table
    from crib_evaluate.problems import read_problems, solve_all

    problems = read_problems(path)
    with progress_bar(f"problems for {player}", len(problems)) as progress:
        solved = solve_all(bot, problems, rollouts, seed, within, progress)
    table = problem_table(solved, ": " if as_markdown else "\n")
    _print(table, f"Answers of {player}", as_markdown)
    click.echo(f"\n{agreement(solved)} {rollouts:,} rollouts of a discard; seed {seed}.")
    return {"problems": [{"agrees": one.agrees, **plain(one)} for one in solved]}


def _print(cells: Cells, title: str, as_markdown: bool) -> None:
    from crib_evaluate.report import markdown

    titles, rows = cells
    if as_markdown:
        click.echo(markdown(titles, rows))
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, name in enumerate(titles):
        table.add_column(name, justify="left" if at == 0 or name in ("throw", "by") else "right")
    for row in rows:
        if titles[0] and row[0] and table.row_count:
            table.add_section()
        table.add_row(*row)
    console = Console()
    console.width = max(console.width, _WIDE)
    console.print(f"{title}\n", style="bold", markup=False, highlight=False)
    console.print(table, crop=False)
