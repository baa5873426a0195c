"""How fast the game is, beside others, in one run on one core.

Random play everywhere but under MaskablePPO, one thread, every row several times in
turn with the others, so that a busy machine slows all alike; medians with their range.
The figures to keep are the ratios; they are taken round by round.

    python -m benchmarks.env_speed [--only engine,vector] [--repeats 5] [--seconds 1]
        [--json FILE] [--markdown]
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.console import Console

from benchmarks import engines, environments, ppo, report, startup
from benchmarks.measure import Row, machine, rates, run
from crib_evaluate.files import check_writable, write_json

ROWS = (
    Row(report.ENGINE, ("engine",), rates(engines.engine_alone)),
    Row(report.SPIEL_INSIDE, ("engine",), rates(engines.openspiel_inside), ("pyspiel",)),
    Row(report.SPIEL, ("engine", "vector"), rates(engines.openspiel_from_python), ("pyspiel",)),
    Row(report.GAME, ("engine",), rates(engines.game_object)),
    Row(report.VECTOR_1024, ("vector",), rates(partial(environments.vector_environment, 1024))),
    Row(report.VECTOR_4096, ("vector",), rates(partial(environments.vector_environment, 4096))),
    Row(
        report.SINGLE,
        ("single",),
        rates(partial(environments.single_environment, environments.ID, opponent="random")),
    ),
    Row(
        report.BLACKJACK,
        ("single",),
        rates(partial(environments.single_environment, "Blackjack-v1")),
    ),
    Row(
        "PettingZoo's Leduc hold'em",
        ("others",),
        rates(environments.pettingzoo_leduc),
        ("pettingzoo", "rlcard", "pygame"),
    ),
    Row(
        "RLCard's Leduc hold'em",
        ("others",),
        rates(partial(environments.rlcard, "leduc-holdem")),
        ("rlcard",),
    ),
    Row(
        "RLCard's gin rummy",
        ("others",),
        rates(partial(environments.rlcard, "gin-rummy")),
        ("rlcard",),
    ),
    Row(report.BRIDGE, ("ppo",), rates(ppo.through_the_bridge), ("sb3_contrib",)),
    Row(report.DUMMY, ("ppo",), rates(ppo.through_dummy), ("sb3_contrib",)),
    Row(
        report.BRIDGE_ONCE,
        ("ppo",),
        rates(partial(ppo.through_the_bridge, epochs=1)),
        ("sb3_contrib",),
    ),
    Row(report.DUMMY_ONCE, ("ppo",), rates(partial(ppo.through_dummy, epochs=1)), ("sb3_contrib",)),
    Row(report.TRAIN, ("ppo",), rates(ppo.as_crib_train_does), ("sb3_contrib",)),
    Row(report.IMPORT, ("start",), startup.import_time),
    Row(report.FIRST_STEP, ("start",), startup.first_step),
    Row(report.MEMORY, ("start",), startup.memory(4096)),
    Row(report.PEAK, ("start",), startup.memory(4096, peak=True)),
)
GROUPS = tuple(dict.fromkeys(group for row in ROWS for group in row.groups))


def chosen_groups(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[str, ...]:
    """The groups named with commas between them; all where none is named.

    Raises:
        click.BadParameter: for a name that is no group.
    """
    if value is None:
        return GROUPS
    names = tuple(name.strip() for name in value.split(","))
    for name in names:
        if name not in GROUPS:
            raise click.BadParameter(f"no group {name!r}: there are {', '.join(GROUPS)}")
    return names


@click.command()
@click.option("--only", callback=chosen_groups, help=f"Some groups of {','.join(GROUPS)}.")
@click.option("--repeats", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(0.01, 600), default=1.0, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write them there too.")
@click.option("--markdown", is_flag=True, help="Print the tables in Markdown.")
def main(
    only: tuple[str, ...], repeats: int, seconds: float, json_file: Path | None, markdown: bool
) -> None:
    """Measure how fast the game is, beside others, on one core."""
    if json_file is not None:
        check_writable(json_file)
    errors = Console(stderr=True, highlight=False)
    rows = []
    for row in ROWS:
        if not set(only) & set(row.groups):
            continue
        if missing := row.missing():
            errors.print(f"left out, since {', '.join(missing)} is not installed: {row.name}")
        else:
            rows.append(row)
    found = run(rows, repeats, seconds, errors.print)
    if json_file is not None:
        write_json(json_file, report.as_json(machine(), "benchmarks.env_speed", found))
    console = Console(highlight=False)
    for titles, cells in (*report.measured(found), report.judged(found)):
        if not cells:
            continue
        if markdown:
            print(report.markdown(titles, cells))
        else:
            report.show(console, titles, cells)
        print()
    print(report.named(machine()))


if __name__ == "__main__":
    main()
