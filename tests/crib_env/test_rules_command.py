"""``crib rules`` as a person meets it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crib_env.rulebook import ORIGINS, SOURCES, describe
from crib_env.rules import PRESETS


def crib(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crib_env.cli", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def test_lists_the_presets() -> None:
    done = crib("rules")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:] if line[1] != " "] == list(PRESETS)
    assert max(map(len, lines)) <= 80
    for title in SOURCES.values():
        assert title in done.stdout


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        (
            "boite-a-jeux",
            [
                "« Boîte à jeux/Cribbage »",
                "a loser below 90 is skunked",
                "a game is worth 1, a skunk 2",
                "with his own count",
                "the text names it with the count",
            ],
        ),
        (
            "four-player",
            ["four players, partners opposite, who share a score", "5 cards each, 1 thrown"],
        ),
        ("five-card-historic", ["pone begins with 3 points", "the first at 61 wins, at once"]),
    ],
)
def test_prints_a_preset_in_words(preset: str, words: list[str]) -> None:
    done = crib("rules", preset)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    told = [tuple(" ".join(cell.split()) for cell in row) for row in columns(done.stdout)]
    assert told == describe(preset)
    for expected in words:
        assert expected in done.stdout.splitlines()[0] or any(
            expected in cell for row in told for cell in row
        ), expected


def columns(table: str) -> list[list[str]]:
    """The rows of a printed table, cells that go over several lines put together."""
    _, head, *lines = table.splitlines()
    second, third = head.index("how"), head.index("from")
    rows: list[list[str]] = []
    for line in lines:
        cells = [line[:second], line[second:third], line[third:]]
        if cells[0].strip():
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}" for old, new in zip(rows[-1], cells, strict=True)]
    return rows


@pytest.mark.parametrize("preset", PRESETS)
def test_every_line_names_its_origin(preset: str) -> None:
    lines = describe(preset)
    assert len(lines) >= 11
    assert all(words and origin for _, words, origin in lines)
    assert set(ORIGINS) == set(PRESETS)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("rules", "whist"), "no rules named 'whist'; there are six-card, three-player"),
        (("rules", "six-card", "more"), "unexpected extra argument"),
        (("rules", "--colour"), "--colour"),
    ],
)
def test_a_users_error_is_one_line_and_exit_code_2(arguments: tuple[str, ...], fault: str) -> None:
    done = crib(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr
    assert done.stderr.startswith("crib: ")
    assert done.stderr.count("\n") == 1


def test_an_output_without_the_signs_is_no_error() -> None:
    command = [sys.executable, "-m", "crib_env.cli", "rules", "boite-a-jeux"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"? Bo?te ")


def test_help_names_the_command() -> None:
    assert "Print the rules of a preset in words." in crib("--help").stdout
