"""How games a second grow with the number of environments, for 2, 3 and 4 players.

python -m benchmarks.scaling [--repeats 5] [--seconds 1] [--json FILE] [--plot FILE]
    [--markdown]
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.console import Console

from benchmarks import report
from benchmarks.environments import vector_environment
from benchmarks.measure import Row, Spread, machine, rates, run
from crib_evaluate.files import check_writable, write_json, write_whole
from crib_evaluate.pictures import check_picture, draw

NUMBERS = (1, 64, 1024, 4096, 16384)
RULES = {"2 players": "six-card", "3 players": "three-player", "4 players": "four-player"}


def rows(numbers: tuple[int, ...]) -> list[Row]:
    """A row for each number of environments and each number of players."""
    return [
        Row(f"{number}, {players}", (players,), rates(partial(vector_environment, number, rules)))
        for number in numbers
        for players, rules in RULES.items()
    ]


def table(found: report.Rows, numbers: tuple[int, ...]) -> report.Cells:
    """Titles and cells: games a second by number of environments and of players."""
    by_name = {row["name"]: row["samples"]["games"] for row in found}
    return ["environments", *RULES], [
        [f"{number:,}", *(report.cell(by_name[f"{number}, {players}"]) for players in RULES)]
        for number in numbers
    ]


def plot(found: report.Rows, numbers: tuple[int, ...], kind: str) -> bytes:
    """Medians with their ranges, both axes logarithmic, as a picture (``png`` or ``svg``)."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    by_name = {row["name"]: row["samples"]["games"] for row in found}
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for players, marker in zip(RULES, "osD", strict=True):
        spreads = [Spread.of(by_name[f"{number}, {players}"]) for number in numbers]
        middle = [spread.median for spread in spreads]
        below = [spread.median - spread.low for spread in spreads]
        above = [spread.high - spread.median for spread in spreads]
        axes.errorbar(
            numbers, middle, yerr=[below, above], marker=marker, markersize=5, capsize=3,
            label=players,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(numbers, [f"{number:,}" for number in numbers])
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("environments in the batch")
    axes.set_ylabel("games a second, one core")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    return draw(figure, kind)


@click.command()
@click.option("--repeats", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(0.01, 600), default=1.0, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write them there too.")
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), callback=check_picture)
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
def main(
    repeats: int, seconds: float, json_file: Path | None, plot_file: Path | None, markdown: bool
) -> None:
    """Measure how the vector environment's speed grows with its size."""
    for file in (json_file, plot_file):
        if file is not None:
            check_writable(file)
    errors = Console(stderr=True, highlight=False)
    found = run(rows(NUMBERS), repeats, seconds, errors.print)
    if json_file is not None:
        write_json(json_file, report.as_json(machine(), "benchmarks.scaling", found))
    if plot_file is not None:
        write_whole(plot_file, plot(found, NUMBERS, plot_file.suffix[1:]))
    titles, cells = table(found, NUMBERS)
    if markdown:
        print(report.markdown(titles, cells))
    else:
        report.show(Console(highlight=False), titles, cells)
    print("\nGames a second with random opponents.")
    print(report.named(machine()))


if __name__ == "__main__":
    main()
