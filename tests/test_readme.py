"""What the README shows is true: its Python runs, its commands exist."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from crib_env.cli import COMMANDS, crib

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs(code: str) -> None:
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, {}, "README", "README.md", 0)
        assert doctest.DocTestRunner().run(test).failed == 0
    else:
        exec(compile(code, "README.md", "exec"), {})


def test_the_two_commands_are_on_the_first_screen() -> None:
    first_screen = "\n".join(README.splitlines()[:40])
    assert "pip install . && crib evaluate medium easy" in first_screen
    assert 'pip install -e ".[dev]" && pytest' in first_screen


def test_commands_exist() -> None:
    names = set(re.findall(r"\bcrib ([a-z]+)", README)) - {"env"}
    assert {"evaluate", "train", "export", "bot"} <= names
    for name in names:
        assert name in COMMANDS, name
        assert isinstance(crib.get_command(click.Context(crib), name), click.Command)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists() or target.startswith("http"), target


@pytest.mark.slow
def test_the_table_is_what_the_command_prints() -> None:
    command = [sys.executable, "-m", "crib_env.cli", "evaluate", "medium", "easy"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    printed = {line.rstrip() for line in output.splitlines()}
    shown = next(code for _, code in BLOCKS if code.startswith("medium against easy"))
    for line in shown.splitlines():
        assert line.rstrip() in printed, line
