"""What the tests of the JavaScript player share: Node, bundles, questions."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crib_agents.bundle import VECTORS
from crib_env import Game

JAVASCRIPT = Path(__file__).parents[2] / "examples" / "javascript"
NODE = shutil.which("node") or ""

needs_node = pytest.mark.skipif(not NODE, reason="Node is not installed")

Message = dict[str, Any]


def node(script: Path, *arguments: str | Path, lines: str = "") -> subprocess.CompletedProcess[str]:
    command = [NODE, str(script), *map(str, arguments)]
    return subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300)


def spoiled(source: Path, target: Path, change: Callable[[Message], Any]) -> Path:
    """A copy of a bundle with its first vector changed."""
    shutil.copytree(source, target)
    first, *rest = (target / VECTORS).read_text().splitlines()
    case = json.loads(first)
    change(case)
    (target / VECTORS).write_text("\n".join([json.dumps(case), *rest]) + "\n")
    return target


def edited(spec: Message, **changes: Any) -> str:
    return json.dumps({**spec, **changes})


def views(games: int, seed: int) -> Iterator[Message]:
    """Every seat's view of every decision of random games."""
    chance = random.Random(seed)
    for number in range(games):
        game = Game(seed=seed + number)
        while not game.is_over:
            yield from (game.view(seat).to_json() for seat in (game.to_act, 1 - game.to_act))
            game.apply(chance.choice(game.legal_actions()))


def without_goes(view: Message, chance: random.Random) -> Message:
    """The view as a front end tells it that leaves out goes."""
    kept = [entry for entry in view["plays"] if entry[1] != "go" or chance.random() < 0.3]
    return {**view, "plays": kept}


def as_series(view: Message, chance: random.Random) -> Message:
    """The last plays of the view, with their seats or without; often not where a series began."""
    plays = view["plays"]
    last = plays[len(plays) - chance.randint(0, len(plays)) :]
    series = last if chance.random() < 0.5 else [card for _, card in last]
    told = {name: value for name, value in view.items() if name != "plays"}
    if chance.random() < 0.3:
        told["earlier"] = [chance.randint(0, 3), chance.randint(0, 3)]
    return {**told, "series": series}


def spoilt(view: Message, chance: random.Random) -> Message:
    """A view with something changed: no game may come to it."""
    name = chance.choice(list(view))
    value = view[name]
    if chance.random() < 0.3:
        return {key: kept for key, kept in view.items() if key != name}
    if not isinstance(value, list) or not value:
        other: Any = 1 - value if isinstance(value, int) else "QH"
        return {**view, name: other}
    at = chance.randrange(len(value))
    card = chance.choice(["5C", "KD", "10H", "a\u2660", "1C"])
    new: Any = card if name != "plays" else [chance.randint(0, 1), chance.choice([card, "go"])]
    if name == "scores":
        return {**view, name: [chance.choice([0, 60, 121, 122, -1]), value[1]]}
    changed = [value[:at] + value[at + 1 :], [*value[:at], new, *value[at:]]]
    return {**view, name: chance.choice([*changed, [*value[:at], new, *value[at + 1 :]]])}


def many_questions(games: int, seed: int) -> list[Message]:
    chance = random.Random(seed)
    questions = []
    for view in views(games, seed):
        questions += [view, spoilt(view, chance)]
        if "plays" in view:
            questions += [without_goes(view, chance), as_series(view, chance)]
            questions.append(spoilt(chance.choice(questions[-2:]), chance))
    return questions
