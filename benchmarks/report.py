"""What was measured as a table, and beside the bars that were set for it."""

from __future__ import annotations

import operator
import shlex
import sys
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measure import MEASURES, Spread
from crib_evaluate.report import markdown as markdown

Rows = list[dict[str, Any]]
"""What `benchmarks.measure.run` gives."""

_WIDE = 200
"""Columns that every table fits in: a terminal wraps them, nothing crops them."""

Cells = tuple[list[str], list[list[str]]]
"""A table: its titles, and its rows of text."""

APART = ("ppo", "start")
"""Groups whose measures are other ones, so that they get a table of their own."""

ENGINE = "engine alone"
SPIEL = "OpenSpiel's cribbage from Python"
SPIEL_INSIDE = "OpenSpiel's cribbage inside C++"
GAME = "`Game.apply` and `legal_actions`"
VECTOR_1024 = "vector environment, 1024 games"
VECTOR_4096 = "vector environment, 4096 games"
SINGLE = "single environment"
BLACKJACK = "Gymnasium's Blackjack-v1"
BRIDGE = "MaskablePPO through the bridge"
DUMMY = "MaskablePPO through DummyVecEnv"
BRIDGE_ONCE = "MaskablePPO of one epoch, through the bridge"
DUMMY_ONCE = "MaskablePPO of one epoch, through DummyVecEnv"
TRAIN = "MaskablePPO as `crib train` sets it"
IMPORT = "`import crib_env`"
FIRST_STEP = "import to first step, 1024 games"
MEMORY = "memory of the vector environment, 4096 games"
PEAK = "the same amid a step, two steps' arrays held"


@dataclass(frozen=True)
class Bar:
    """What is asked of a row.

    Attributes:
        row: the row's name.
        measure: by which of `MEASURES`.
        limit: the value asked for.
        against: the row to divide by, round by round; None for the value itself.
        at_most: whether the value must not pass the limit, rather than reach it.
    """

    row: str
    measure: str
    limit: float
    against: str | None = None
    at_most: bool = False

    def judge(self, rows: Rows) -> dict[str, Any] | None:
        """The value with its range over the rounds, and whether its median reaches the bar.

        Returns:
            ``what``, ``median``, ``low``, ``high``, ``bar``, ``at_most``, ``reached``; None
            where the rows were not measured.
        """
        by_name = {row["name"]: row["samples"] for row in rows}
        if self.row not in by_name or (self.against and self.against not in by_name):
            return None
        values = by_name[self.row][self.measure]
        if self.against:
            others = by_name[self.against][self.measure]
            values = [one / other for one, other in zip(values, others, strict=True)]
        spread = Spread.of(values)
        side = operator.le if self.at_most else operator.ge
        return {
            "what": self._what(),
            **asdict(spread),
            "bar": self.limit,
            "at_most": self.at_most,
            "reached": side(spread.median, self.limit),
        }

    def _what(self) -> str:
        beside = f" / {self.against}" if self.against else ""
        return f"{self.row}{beside}, {MEASURES[self.measure]}"


BARS = (
    Bar(ENGINE, "games", 60, SPIEL),
    Bar(ENGINE, "games", 15, SPIEL_INSIDE),
    Bar(VECTOR_4096, "games", 20, SPIEL),
    Bar(VECTOR_1024, "games", 0.8, VECTOR_4096),
    Bar(SINGLE, "decisions", 3, BLACKJACK),
    Bar(GAME, "decisions", 100_000),
    Bar(BRIDGE, "decisions", 3, DUMMY),
    Bar(BRIDGE_ONCE, "decisions", 3, DUMMY_ONCE),
    Bar(BRIDGE, "share", 0.05, at_most=True),
    Bar(IMPORT, "seconds", 0.7, at_most=True),
    Bar(FIRST_STEP, "seconds", 2, at_most=True),
    Bar(MEMORY, "bytes", 4096, at_most=True),
)


def judge(rows: Rows) -> list[dict[str, Any]]:
    """Every bar whose rows were measured, see `Bar.judge`."""
    return [found for bar in BARS if (found := bar.judge(rows))]


def number(value: float) -> str:
    """A value short enough to read: 12,345 or 123 or 12.3 or 0.123."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.1f}"


def cell(values: list[float] | None) -> str:
    """The median of some values with their range; nothing for none."""
    if not values:
        return ""
    spread = Spread.of(values)
    return f"{number(spread.median)} ({number(spread.low)} to {number(spread.high)})"


def measured(rows: Rows) -> list[Cells]:
    """Each row's median of each measure with its range, rows of one kind in a table."""
    kinds: dict[str, Rows] = {}
    for row in rows:
        group = row["groups"][0]
        kinds.setdefault(group if group in APART else "", []).append(row)
    tables = []
    for alike in kinds.values():
        used = [name for name in MEASURES if any(name in row["samples"] for row in alike)]
        cells = [[row["name"], *(cell(row["samples"].get(name)) for name in used)] for row in alike]
        tables.append((["", *(MEASURES[name] for name in used)], cells))
    return tables


def judged(rows: Rows) -> Cells:
    """Each ratio or value beside its bar."""
    return ["", "median (range)", "bar", ""], [
        [
            found["what"],
            f"{number(found['median'])} ({number(found['low'])} to {number(found['high'])})",
            f"at {'most' if found['at_most'] else 'least'} {found['bar']:,g}",
            "reached" if found["reached"] else "not reached",
        ]
        for found in judge(rows)
    ]


def show(console: Console, titles: list[str], cells: list[list[str]]) -> None:
    """Print a table for people, as wide as it is."""
    table = Table(box=None)
    for title in titles:
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    for row in cells:
        table.add_row(*(cell.replace("`", "") for cell in row))
    console.width = max(console.width, _WIDE)
    console.print(table, crop=False)


def named(machine: dict[str, str]) -> str:
    """The machine in one line."""
    return ", ".join(f"{name} {value}" for name, value in machine.items())


def as_json(machine: dict[str, str], module: str, rows: Rows) -> dict[str, Any]:
    """All of it, and the command that made it, ready for `json.dumps`."""
    command = shlex.join(["python", "-m", module, *sys.argv[1:]])
    return {"command": command, "machine": machine, "rows": rows, "bars": judge(rows)}
