"""How fast the game is, beside others, in one run on one core.

Random play everywhere, one thread, every row several times in turn with the
others, so that a busy machine slows all alike; medians with their range. The
figures to keep are the ratios.

    python -m benchmarks.env_speed [--repeats 5] [--seconds 1] [--json FILE]
"""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

import crib_env
from crib_env import engine
from crib_env import state as S
from crib_env._jit import njit
from crib_env.bits import lowest, popcount
from crib_env.rules import SIX_CARD
from crib_evaluate.files import check_writable, write_json

Work = Iterator[tuple[int, int]]
"""Each step says how many games ended and how many decisions were taken in it."""

_OVER = int(S.Phase.OVER)
_DEAL_OVER = int(S.Phase.DEAL_OVER)
_GAMES_AT_ONCE = 500


@dataclass(frozen=True)
class Row:
    """A thing to measure.

    Attributes:
        name: what it is.
        start: makes an endless supply of work.
        unit: what one decision is called in it.
    """

    name: str
    start: Callable[[], Work]
    unit: str = "decisions"


@njit
def _random_games(
    number: int, seed: int, s: np.ndarray, r: np.ndarray, deck: np.ndarray, ev: np.ndarray
) -> int:
    """Play whole games at random inside the engine; returns the cards laid down."""
    chance = np.zeros(S.STATE_SIZE, np.int64)
    chance[S.RANDOM] = seed
    cards_laid = 0
    for _ in range(number):
        engine.start(s, r, engine.next_random(chance), -1, deck, ev)
        while s[S.PHASE] != _OVER:
            if s[S.PHASE] == _DEAL_OVER:
                engine.next_deal(s, r, deck, ev)
                continue
            cards = engine.legal(s)
            skip = ((engine.next_random(chance) >> 8) & 0xFFFFFFFF) * popcount(cards) >> 32
            while skip > 0:
                cards &= cards - 1
                skip -= 1
            engine.apply(s, r, lowest(cards), ev)
            cards_laid += 1
    return cards_laid


def engine_alone() -> Work:
    """Games inside the compiled engine."""
    row = np.zeros(S.STATE_SIZE, np.int64)
    settings = SIX_CARD.to_array()
    deck = np.zeros(0, np.int64)
    seed = 0
    while True:
        seed += 1
        laid = _random_games(_GAMES_AT_ONCE, seed, row, settings, deck, engine.NO_EVENTS)
        yield _GAMES_AT_ONCE, int(laid)


def openspiel() -> Work:
    """OpenSpiel's cribbage stepped from Python."""
    import pyspiel

    game = pyspiel.load_game("cribbage")
    chance = random.Random(0)
    while True:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, odds = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(chance.choices(outcomes, odds)[0])
            else:
                state.apply_action(chance.choice(state.legal_actions()))
                decisions += 1
        yield 1, decisions


def game_object() -> Work:
    """`Game.legal_actions` and `Game.apply` from Python."""
    chance = random.Random(0)
    seed = 0
    while True:
        seed += 1
        game = crib_env.Game(seed=seed)
        decisions = 0
        while not game.is_over:
            game.apply(chance.choice(game.legal_actions()))
            decisions += 1
        yield 1, decisions


def vector_environment(number: int) -> Work:
    """The vector environment, observations and masks returned, random opponent inside."""
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=number, opponent="random")
    chance = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    while True:
        scores = chance.random((number, 52), np.float32) * infos["action_mask"]
        _, _, ended, _, infos = envs.step(scores.argmax(axis=1))
        yield int(ended.sum()), number


def single_environment(name: str, **arguments: Any) -> Work:
    """One environment, stepped with random (legal) actions."""
    env = gymnasium.make(name, **arguments)
    chance = np.random.default_rng(0)
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    while True:
        if "action_mask" in info:
            action = chance.choice(np.flatnonzero(info["action_mask"]))
        else:
            action = env.action_space.sample()
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
        yield int(terminated or truncated), 1


ROWS = (
    Row("engine alone", engine_alone),
    Row("OpenSpiel cribbage from Python", openspiel),
    Row("Game.apply and legal_actions", game_object),
    Row("vector environment, 1024 games", lambda: vector_environment(1024), "steps"),
    Row("vector environment, 4096 games", lambda: vector_environment(4096), "steps"),
    Row(
        "single environment",
        lambda: single_environment("crib_env/Cribbage-v0", opponent="random"),
        "steps",
    ),
    Row("Gymnasium's Blackjack-v1", lambda: single_environment("Blackjack-v1"), "steps"),
)


def measure(work: Work, seconds: float) -> tuple[float, float]:
    """Games and decisions a second over about that time."""
    games = decisions = 0
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        ended, taken = next(work)
        games += ended
        decisions += taken
    return games / passed, decisions / passed


def run(repeats: int, seconds: float, told: Callable[[str], None]) -> list[dict[str, Any]]:
    """Measure all rows in turn, ``repeats`` times.

    Returns:
        For each row its name, unit, and medians and ranges of games and decisions a second.
    """
    works = [row.start() for row in ROWS]
    for row, work in zip(ROWS, works, strict=True):
        told(f"warming up: {row.name}")
        next(work)
    found: list[list[tuple[float, float]]] = [[] for _ in ROWS]
    for repeat in range(repeats):
        told(f"round {repeat + 1} of {repeats}")
        for rates, work in zip(found, works, strict=True):
            rates.append(measure(work, seconds))
    return [
        {"name": row.name, "unit": row.unit, "games": _spread(games), "decisions": _spread(taken)}
        for row, rates in zip(ROWS, found, strict=True)
        for games, taken in [zip(*rates, strict=True)]
    ]


def _spread(rates: tuple[float, ...]) -> dict[str, float]:
    return {"median": statistics.median(rates), "low": min(rates), "high": max(rates)}


def machine() -> dict[str, str]:
    """What it ran on."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "processor": model,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "crib_env": crib_env.__version__,
    }


def report(rows: list[dict[str, Any]]) -> Table:
    """The rates as a table."""
    table = Table(box=None)
    for title in ("", "games a second", "range", "decisions a second", "range"):
        table.add_column(title, justify="left" if not title else "right", no_wrap=True)
    for row in rows:
        cells = []
        for rates in (row["games"], row["decisions"]):
            cells += [f"{rates['median']:,.0f}", f"{rates['low']:,.0f} to {rates['high']:,.0f}"]
        table.add_row(row["name"], *cells)
    return table


@click.command()
@click.option("--repeats", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(0.01, 600), default=1.0, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write them there too.")
def main(repeats: int, seconds: float, json_file: Path | None) -> None:
    """Measure how fast the game is, beside others, on one core."""
    if json_file is not None:
        check_writable(json_file)
    errors = Console(stderr=True)
    rows = run(repeats, seconds, lambda what: errors.print(what, highlight=False))
    if json_file is not None:
        write_json(json_file, {"machine": machine(), "rows": rows})
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print(report(rows), crop=False)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    by_name = {row["name"]: row for row in rows}
    spiel = by_name["OpenSpiel cribbage from Python"]["games"]["median"]
    for name in (
        "engine alone",
        "vector environment, 1024 games",
        "vector environment, 4096 games",
    ):
        ratio = by_name[name]["games"]["median"] / spiel
        console.print(f"{name}: {ratio:.1f} times OpenSpiel from Python, in games")
    blackjack = by_name["Gymnasium's Blackjack-v1"]["decisions"]["median"]
    ratio = by_name["single environment"]["decisions"]["median"] / blackjack
    console.print(f"single environment: {ratio:.2f} times Blackjack-v1, in steps")


if __name__ == "__main__":
    main()
