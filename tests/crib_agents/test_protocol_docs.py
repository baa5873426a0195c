"""The document for front-end authors says what happens: its examples are replayed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crib_agents.serve.messages import MAX_LINE, Code, ViewMessage
from crib_agents.serve.pegging import SAMPLES
from crib_agents.serve.protocol import Session
from tests.crib_agents.wire import CRIB, ROOT, differences

DOCUMENT = (ROOT / "docs" / "protocol.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def pairs() -> Iterator[tuple[str, Any]]:
    for block in blocks("jsonl"):
        lines = block.splitlines()
        assert len(lines) % 2 == 0
        yield from zip(lines[::2], map(json.loads, lines[1::2]), strict=True)


def _estimates(answer: Any) -> Any:
    """The answer with patterns for numbers that a better table or bot may change."""
    if isinstance(answer, dict):
        return {key: _estimates(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_estimates(value) for value in answer]
    return "<number>" if isinstance(answer, float) else answer


def test_the_document_has_examples() -> None:
    kinds = {json.loads(line)["type"] for line, _ in pairs()}
    assert kinds >= {"hello", "act", "set", "ping", "quit"}
    assert len(list(pairs())) >= 15


@pytest.mark.parametrize(("line", "expected"), list(pairs()))
def test_example(line: str, expected: Any) -> None:
    answer = Session("medium").handle(line)
    assert answer is not None
    assert differences(_estimates(expected), json.loads(answer)) == []


def test_every_code_and_field_is_described() -> None:
    codes = {value for name, value in vars(Code).items() if name.isupper()}
    described = set(re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT, re.MULTILINE))
    assert codes <= described
    assert set(ViewMessage.__struct_fields__) <= described
    assert f"{MAX_LINE:,} bytes" in DOCUMENT
    assert f"mean over {SAMPLES} deals" in DOCUMENT


def _clients() -> list[tuple[list[str], str, str]]:
    """Interpreter, language and closing lines of each client that this machine can run."""
    found = [([sys.executable, "-c"], "python", "\nbot.communicate()\n")]
    node = shutil.which("node")
    return found if node is None else [*found, ([node, "-e"], "js", "")]


@pytest.mark.parametrize(("interpreter", "language", "closing"), _clients())
def test_the_client(interpreter: list[str], language: str, closing: str, tmp_path: Path) -> None:
    command = " ".join(f"'{part}'" for part in CRIB)
    (tmp_path / "crib").write_text(f"#!/bin/sh\ncd '{ROOT}' && exec {command} \"$@\"\n")
    (tmp_path / "crib").chmod(0o755)
    (program,) = blocks(language)
    done = subprocess.run(
        [*interpreter, program + closing],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PATH": os.pathsep.join([str(tmp_path), os.environ["PATH"]])},
        cwd=tmp_path,
    )
    assert re.findall(r"'(..)'", done.stdout) == ["2C", "9D"]
