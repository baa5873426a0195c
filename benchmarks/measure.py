"""How rates are taken: every row in turn with the others, several times."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import crib_env


class Done(NamedTuple):
    """What one step of work did.

    Attributes:
        games: that came to their end, or as much of games as was played; 0 if not known.
        decisions: that were taken; 0 if not known.
        inside: seconds of it spent in the environment, where that is asked.
    """

    games: float
    decisions: int
    inside: float = 0.0


Work = Iterator[Done]
"""An endless supply of work, each step small beside a second."""

Sampler = Callable[[float], dict[str, float]]
"""Measures once, over about so many seconds; gives values by the name of what they measure."""

MEASURES = {
    "games": "games a second",
    "decisions": "decisions a second",
    "share": "the environment's part of the time",
    "seconds": "seconds",
    "bytes": "bytes a game",
}


@dataclass(frozen=True)
class Row:
    """A thing to measure.

    Attributes:
        name: what it is.
        groups: the parts of the benchmark that it belongs to.
        start: makes ready and gives what takes a sample.
        needs: modules that it imports beyond those of this repository.
    """

    name: str
    groups: tuple[str, ...]
    start: Callable[[], Sampler]
    needs: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        """The modules that it needs and that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


def rates(start: Callable[[], Work]) -> Callable[[], Sampler]:
    """A sampler of work done per second; the first step of the work is warming up."""

    def begin() -> Sampler:
        work = start()
        next(work)
        return lambda seconds: rate(work, seconds)

    return begin


def rate(work: Work, seconds: float) -> dict[str, float]:
    """Work on for about that time; what was known of it, a second."""
    games = inside = 0.0
    decisions = 0
    begin = time.perf_counter()
    while True:
        done = next(work)
        games += done.games
        decisions += done.decisions
        inside += done.inside
        passed = time.perf_counter() - begin
        if passed >= seconds:
            break
    found = {"games": games / passed, "decisions": decisions / passed, "share": inside / passed}
    return {name: value for name, value in found.items() if value}


def run(
    rows: list[Row], repeats: int, seconds: float, told: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Measure all rows in turn, ``repeats`` times, so that a busy machine slows all alike.

    Returns:
        For each row ``name``, ``groups`` and ``samples``: a list of values, one a round, by
        measure (see `MEASURES`).
    """
    samplers = []
    for row in rows:
        told(f"warming up: {row.name}")
        samplers.append(row.start())
    samples: list[dict[str, list[float]]] = [{} for _ in rows]
    for number in range(repeats):
        told(f"round {number + 1} of {repeats}")
        for found, sample in zip(samples, samplers, strict=True):
            for measure, value in sample(seconds).items():
                found.setdefault(measure, []).append(value)
    return [
        {"name": row.name, "groups": list(row.groups), "samples": found}
        for row, found in zip(rows, samples, strict=True)
    ]


@dataclass(frozen=True)
class Spread:
    """The middle and the ends of several values."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """The spread of some values."""
        return cls(statistics.median(values), min(values), max(values))


def machine() -> dict[str, str]:
    """What it ran on, and with which versions."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    versions = {}
    for name in ("numpy", "numba", "gymnasium", "open-spiel", "stable-baselines3", "torch"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "processor": model,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **versions,
        "crib_env": crib_env.__version__,
    }
