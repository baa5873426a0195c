"""The rules in words: nothing that is set goes unsaid."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crib_env import InvalidRulesError, Rules, rulebook
from crib_env.rulebook import ORIGINS, SOURCES, describe
from crib_env.rules import PRESETS, SIX_CARD
from crib_env.rules_command import rules as rules_command

GUIDE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")

LINE = {
    # where each field is spoken of
    "players": "Players", "teams": "Players", "dealt": "Cards", "thrown": "Cards",
    "blind": "Cards", "target": "Target", "skunk_line": "Skunks", "double_skunk_line": "Skunks",
    "heels_timing": "Heels", "crib_flush": "Crib flush", "short_flush": "Flush",
    "first_dealer": "First dealer", "leader_after_reset": "New series", "go_continuation": "Go",
    "play_single_count": "Go", "pone_start": "Head start", "counting": "Counting",
    "muggins": "Counting", "match_points": "Match", "match_target": "Match",
    "next_dealer": "Next game",
}  # fmt: skip


def words_of(preset: str) -> dict[str, str]:
    return {title: words for title, words, _ in describe(preset)}


@pytest.mark.parametrize("preset", PRESETS)
def test_what_differs_from_the_standard_game_is_said(preset: str) -> None:
    standard, found = words_of("six-card"), words_of(preset)
    for field in fields(Rules):
        mine = getattr(PRESETS[preset], field.name)
        if mine == getattr(SIX_CARD, field.name):
            continue
        line = LINE[field.name]
        assert found[line] != standard.get(line), field.name
        numbers = [mine] if isinstance(mine, int) and not isinstance(mine, bool) else []
        for number in numbers if field.name != "players" else []:
            assert re.search(rf"\b{number}\b", found[line]), field.name


OTHERS: dict[str, dict[str, Any]] = {
    "players": {"players": 3, "dealt": 5, "thrown": 1},
    "teams": {"players": 4, "dealt": 5, "thrown": 1, "teams": True},
    "dealt": {"dealt": 5}, "thrown": {"dealt": 5, "thrown": 1},
    "blind": {"dealt": 5, "thrown": 1, "blind": 1}, "target": {"target": 200},
    "skunk_line": {"skunk_line": 80}, "double_skunk_line": {"double_skunk_line": 50},
    "heels_timing": {"heels_timing": "show"}, "crib_flush": {"crib_flush": "four"},
    "short_flush": {"dealt": 5, "short_flush": True}, "first_dealer": {"first_dealer": "low_cut"},
    "leader_after_reset": {"leader_after_reset": "go_caller"},
    "go_continuation": {"go_continuation": "first_after_go"},
    "play_single_count": {"play_single_count": True}, "pone_start": {"pone_start": 5},
    "counting": {"counting": "manual"}, "muggins": {"counting": "manual", "muggins": True},
    "match_points": {"match_points": (1, 3, 5)}, "match_target": {"match_target": 9},
    "next_dealer": {"next_dealer": "loser"},
}  # fmt: skip


@pytest.mark.parametrize("field", LINE)
def test_every_field_changes_the_words(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no preset sets it: without it, and with it."""
    given = OTHERS[field]
    changed = replace(SIX_CARD, **given)
    before = replace(changed, **{field: getattr(SIX_CARD, field)})
    if field == "players":
        before = replace(SIX_CARD, dealt=5, thrown=1)
    monkeypatch.setitem(ORIGINS, "six-card", defaultdict(lambda: "the house"))
    monkeypatch.setitem(PRESETS, "six-card", before)
    without = words_of("six-card")
    monkeypatch.setitem(PRESETS, "six-card", changed)
    assert words_of("six-card").get(LINE[field]) != without.get(LINE[field])


def test_all_fields_are_spoken_of() -> None:
    assert LINE.keys() == OTHERS.keys() == {field.name for field in fields(Rules)}
    assert set(LINE.values()) == {title for _, title, _ in rulebook._LINES}


def test_every_line_has_an_origin() -> None:
    assert ORIGINS.keys() == PRESETS.keys()
    always = {name for name, _, _ in rulebook._LINES} - set(rulebook._ONLY_WHERE_SET)
    for preset, origins in ORIGINS.items():
        wanted = always | {
            name for name in rulebook._ONLY_WHERE_SET if getattr(PRESETS[preset], name)
        }
        assert origins.keys() == wanted, preset
    texts = list(PRESETS)[-4:]
    assert list(SOURCES) == texts
    for text in texts:
        assert any(origin.startswith("the text") for origin in ORIGINS[text].values())


# The command, without a process of its own


def test_lists_all() -> None:
    done = CliRunner().invoke(rules_command, [])
    assert done.exit_code == 0
    for name in PRESETS:
        assert f"\n{name} " in done.output.replace("\n ", "\n")


@pytest.mark.parametrize("preset", PRESETS)
def test_prints_each(preset: str) -> None:
    done = CliRunner().invoke(rules_command, [preset])
    assert done.exit_code == 0
    squeezed = re.sub(r"\s+", "", done.output)
    for title, words, _ in describe(preset):
        assert title.replace(" ", "") in squeezed
        first = words.split()[0]
        assert first in done.output
    assert SOURCES.get(preset, preset) in done.output


def test_there_is_no_such_preset() -> None:
    done = CliRunner().invoke(rules_command, ["whist"])
    assert isinstance(done.exception, InvalidRulesError)
    assert "no rules named 'whist'; there are six-card" in str(done.exception)


# The player's guide


def tables() -> list[list[list[str]]]:
    """The tables of the guide: rows of cells."""
    found: list[list[list[str]]] = [[]]
    for line in GUIDE.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def table_with(heading: str) -> list[list[str]]:
    """The rows of the one table that has such a column."""
    (rows,) = [rows for rows in tables() if heading in rows[0]]
    return rows[2:]


def test_the_guide_deals_as_the_presets_do() -> None:
    seen = []
    for name, dealt, thrown, kept, crib, target in table_with("dealt"):
        (preset,) = [word for word in re.findall(r"`([^`]+)`", name) if word in PRESETS][:1]
        seen.append(preset)
        if f"`{preset}` (`" in name:  # and the text that it comes from
            assert preset == "five-card"
        rules = PRESETS[preset]
        size = rules.players * rules.thrown + rules.blind
        told = [int(re.findall(r"\d+", cell)[0]) for cell in (dealt, thrown, kept, crib, target)]
        assert told == [rules.dealt, rules.thrown, rules.kept, size, rules.target], preset
        assert ("blind" in crib) is bool(rules.blind)
        assert ("partners" in name) is rules.teams
    assert seen == list(PRESETS)[:5]


def test_the_guide_has_the_skunks_of_the_presets() -> None:
    seen = []
    for names, skunk, double, worths in table_with("in a match"):
        for preset in re.findall(r"`([^`]+)`", names):
            rules = PRESETS[preset]
            seen.append(preset)
            for cell, line in ((skunk, rules.skunk_line), (double, rules.double_skunk_line)):
                if line is None:
                    assert cell == "none", preset
                else:
                    assert f"below {line}" in cell, preset
            lines = [rules.skunk_line, rules.double_skunk_line]
            paid = 1 + sum(line is not None for line in lines)
            games = worths.split(";")[0]
            assert [int(n) for n in re.findall(r"\d+", games)] == list(rules.match_points[:paid])
            assert ("to seven" in worths) is (rules.match_target == 7)
    assert sorted(seen) == sorted(PRESETS)


def test_the_guide_names_every_preset_and_field() -> None:
    for name in (*PRESETS, *(field.name for field in fields(Rules))):
        assert f"`{name}" in GUIDE, name
    for preset, text in SOURCES.items():
        assert f"| `{preset}` | {text} |" in GUIDE
