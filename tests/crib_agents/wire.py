"""What the tests of the wire protocol share: transcripts, patterns for answers, transports.

A transcript is a file of JSON lines. The first names the bot; each of the others
has what is sent (``send`` a message, or ``raw`` a line as it is) and what has to
come back (``expect``). In what is expected, ``<card>`` and the like stand for
values that may differ, and ``...`` at a list's end for more like the last.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crib_agents.bot import ViewBot
from crib_agents.serve.protocol import Session
from crib_env import Card, SeatView

DATA = Path(__file__).parents[1] / "data"
TRANSCRIPTS = DATA / "transcripts"
ROOT = Path(__file__).parents[2]
CRIB = (sys.executable, "-m", "crib_env.cli")


def _is_card(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 2 and str(Card(value)) == value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_PATTERNS: dict[str, Callable[[Any], bool]] = {
    "<card>": _is_card,
    "<number>": _is_number,
    "<chance>": lambda value: _is_number(value) and 0 <= value <= 1,
    "<text>": lambda value: isinstance(value, str) and value != "",
    "<any>": lambda value: True,
}


def differences(expected: Any, got: Any, where: str = "$") -> list[str]:
    """Where an answer is not what was expected, in words; empty where it is."""
    if isinstance(expected, str) and expected in _PATTERNS:
        return [] if _PATTERNS[expected](got) else [f"{where}: {got!r} is no {expected}"]
    if isinstance(expected, dict) and isinstance(got, dict):
        found = [] if expected.keys() == got.keys() else [f"{where}: fields {list(got)}"]
        shared = [key for key in expected if key in got]
        return found + [d for k in shared for d in differences(expected[k], got[k], f"{where}.{k}")]
    if isinstance(expected, list) and isinstance(got, list):
        if expected[-1:] == ["..."]:
            expected = expected[:-2] + [expected[-2]] * max(1, len(got) - len(expected) + 2)
        if len(expected) != len(got):
            return [f"{where}: {len(got)} elements, not {len(expected)}"]
        pairs = zip(expected, got, strict=True)
        return [d for at, (e, g) in enumerate(pairs) for d in differences(e, g, f"{where}[{at}]")]
    same = expected == got and type(expected) is type(got)
    return [] if same else [f"{where}: {got!r}, not {expected!r}"]


@dataclass(frozen=True)
class Transcript:
    """A conversation with a bot.

    Attributes:
        bot, rules: with whom, about what.
        lines: what is sent.
        answers: what has to come back for each line; None for nothing.
    """

    bot: str
    rules: str
    lines: tuple[str, ...]
    answers: tuple[Any, ...]

    @classmethod
    def read(cls, path: Path) -> Transcript:
        first, *rest = [json.loads(line) for line in path.read_text().splitlines()]
        lines = tuple(step["raw"] if "raw" in step else json.dumps(step["send"]) for step in rest)
        answers = tuple(step["expect"] for step in rest)
        return cls(first["bot"], first.get("rules", "six-card"), lines, answers)

    def compare(self, got: list[str | None]) -> list[str]:
        """All differences between what came back and what had to."""
        found = []
        for line, expected, answer in zip(self.lines, self.answers, got, strict=True):
            parsed = None if answer is None else json.loads(answer)
            found += [f"{line}\n    {d}" for d in differences(expected, parsed)]
        return found


def transcripts() -> list[Path]:
    return sorted(TRANSCRIPTS.glob("*.jsonl"))


def ask(session: Session, message: Any) -> Any:
    """Send a message in the same process and read the answer."""
    line = message if isinstance(message, str | bytes) else json.dumps(message)
    answer = session.handle(line)
    assert answer is not None
    assert "\n" not in answer
    return json.loads(answer)


def act(session: Session, view: Any, **fields: Any) -> Any:
    """Ask what to do in a view."""
    return ask(session, {"type": "act", "view": view, **fields})


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """``crib bot`` as a process of its own."""
    return subprocess.Popen(
        [*CRIB, "bot", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )


def answers(process: subprocess.Popen[bytes], lines: tuple[bytes, ...]) -> Iterator[bytes]:
    """Send one line at a time and wait for its answer: so each has to be flushed."""
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        yield process.stdout.readline()


class LowestCard(ViewBot):
    """Throws and lays the lowest cards that it may."""

    name = "lowest"

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        return view.hand[: view.rules.thrown - len(view.discards)]

    def play(self, view: SeatView) -> Card:
        return view.legal()[0]
