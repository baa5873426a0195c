"""`crib rules`: the presets, in words."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from crib_env.errors import InvalidRulesError
from crib_env.rulebook import SOURCES, describe
from crib_env.rules import PRESETS


@click.command()
@click.argument("preset", required=False)
def rules(preset: str | None) -> None:
    """Print the rules of a PRESET and where each comes from; without one, list the presets."""
    console = Console(highlight=False)
    if preset is None:
        table = Table(box=None)
        table.add_column("preset")
        table.add_column("the game")
        for name in PRESETS:
            what = SOURCES.get(name)
            lines = {title: words for title, words, _ in describe(name)}
            table.add_row(
                name, f"as in {what}" if what else f"{lines['Players']}; {lines['Cards']}"
            )
        console.print(table)
        return
    if preset not in PRESETS:
        raise InvalidRulesError(f"no rules named {preset!r}; there are {', '.join(PRESETS)}")
    table = Table(box=None, title=SOURCES.get(preset, preset), title_justify="left")
    for column in ("", "how it is played", "from"):
        table.add_column(column)
    for row in describe(preset):
        table.add_row(*row)
    console.print(table)
