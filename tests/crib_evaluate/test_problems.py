"""Published problems of discards: how their files are read, and a player's answers."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from crib_agents import make_bot
from crib_env.cli import main
from crib_evaluate.discards_report import agreement
from crib_evaluate.problems import Problem, Solved, read_problems, solve, solve_all

DATA = Path(__file__).parents[1] / "data"
PUZZLES, ENDGAMES = DATA / "discard_puzzles.jsonl", DATA / "endgame_discards.jsonl"
MEDIUM = make_bot("medium")


def by_name(path: Path) -> dict[str, Problem]:
    return {problem.name: problem for problem in read_problems(path)}


def test_every_puzzle_is_read() -> None:
    puzzles = by_name(PUZZLES)
    assert len(puzzles) == 17
    scores = {name: one.setting.scores for name, one in puzzles.items()}
    not_at_start = {name: points for name, points in scores.items() if points != (0, 0)}
    assert not_at_start == {
        "DP13": (94, 86), "DP15": (64, 61), "DP17": (83, 64), "DP29": (96, 94), "DP31": (78, 81),
    }  # fmt: skip
    assert puzzles["DP01"].setting.dealing
    assert not puzzles["DP13"].setting.dealing
    assert puzzles["DP15"].published == {
        "9K": ("Barlow", "Colvert", "Rasmussen"), "69": ("Schell",),
    }  # fmt: skip


def test_every_endgame_is_read() -> None:
    endgames = by_name(ENDGAMES)
    assert {name: set(one.published) for name, one in endgames.items()} == {
        "BQ1": {"28"}, "BQ3": {"A3"}, "BQ5": {"9K", "9Q"},
    }  # fmt: skip
    for one in endgames.values():
        assert one.setting.scores == (112, 119)
        assert not one.setting.dealing


HAND = {"id": "x", "cards": ["2C", "2D", "5H", "8S", "TC", "KD"]}


def read_one(tmp_path: Path, **fields: object) -> Problem:
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps({**HAND, **fields}) + "\n")
    return read_problems(path)[0]


def test_scores_and_ranks(tmp_path: Path) -> None:
    given = read_one(tmp_path, published={"K8": ["me"]}, role="dealer", scores=[5, 7])
    assert given.setting.scores == (5, 7)
    assert given.setting.dealing
    assert given.published == {"8K": ("me",)}
    for role, note, scores in (
        ("dealer", "20*-30", (20, 30)),
        ("dealer", "20-30*", (30, 20)),
        ("pone", "20*-30", (30, 20)),
        ("pone", "A-2-3, 20-30", (0, 0)),
        ("pone", "7-8 cards, at 40-50*", (40, 50)),
    ):
        one = read_one(tmp_path, published={"22": ["me"]}, role=role, note=note)
        assert one.setting.scores == scores
    assert read_one(tmp_path, published_keep=["25TK"]).published == {"28": ("published",)}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"published": {"3K": []}}, "3K is no discard from 2C 2D 5H 8S TC KD"),
        ({"published": {"2": []}}, "2 is no discard"),
        ({"published_keep": ["25T"]}, "is no discard"),
        ({}, "no throw that is published"),
        ({"published": {"22": []}, "cards": ["2C", "2D", "5H"]}, "six cards are dealt, not 3"),
        ({"published": {"22": []}, "cards": ["2C", "2C", "5H", "8S", "TC", "KD"]}, "2C"),
        ({"published": {"22": []}, "role": "cutter"}, "cutter"),
        ({"published": {"22": []}, "scores": [0, 130]}, "130"),
        ({"published": {"22": []}, "note": "at 121-3*"}, "121"),
        ({"published": {"22": []}, "need": 9, "rule": "other"}, "need goes with the rule"),
        ({"published": {"22": []}, "need": 9}, "need goes with the rule"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, fields: dict[str, object], says: str) -> None:
    with pytest.raises(click.UsageError) as error:
        read_one(tmp_path, **fields)
    message = str(error.value)
    assert says in message
    assert "problems.jsonl, line 1: " in message
    assert "\n" not in message


@pytest.mark.parametrize("data", [b"", b"nonsense\n", b"\xff\n", b"[]\n"])
def test_a_file_that_holds_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(click.UsageError, match="file"):
        read_problems(path)


def test_answers_and_their_worth() -> None:
    problem = by_name(PUZZLES)["DP03"]
    one = solve(MEDIUM, problem, 100, seed=1)
    assert one == solve(MEDIUM, problem, 100, seed=1)
    assert one.throw == "68"
    assert one.agrees
    first = one.answers[0]
    assert first.throw == "68"
    assert first.by == ("player", "Chambers", "best")
    assert first.more_points is None


def test_where_the_player_differs_both_are_valued() -> None:
    """Medium keeps what is worth next to nothing against a dealer at 119, and more than 4-6-T-K."""
    one = solve(MEDIUM, by_name(ENDGAMES)["BQ1"], 400, seed=1)
    assert one.throw == "TK"
    assert not one.agrees
    player, published = one.answers[0], next(a for a in one.answers if "published" in a.by)
    assert (player.throw, published.throw) == ("TK", "28")
    assert published.more_wins is not None
    assert published.more_wins.mean == pytest.approx(published.wins.mean - player.wins.mean)
    assert published.more_points is not None
    assert published.more_points.mean < 0
    assert one.answers[1].wins.mean == max(answer.wins.mean for answer in one.answers[1:])


def test_throws_of_equal_ranks() -> None:
    """Whichever threes and twos are thrown, the ranks are what was published."""
    one = solve(MEDIUM, by_name(PUZZLES)["DP29"], 64, seed=1)
    assert one.throw == "22"
    assert one.agrees
    assert [answer.throw for answer in one.answers if "Chambers" in answer.by] == ["22"]
    assert "player" in one.answers[0].by


def test_agreement_in_words() -> None:
    problems = read_problems(PUZZLES)[:3]
    told: list[float] = []
    solved: list[Solved] = solve_all(MEDIUM, problems, 64, progress=told.append)
    assert told == [1, 2, 3]
    assert agreement(solved) == "Throws as published in 2 of 3 problems; otherwise in DP01."
    assert agreement(solved[1:]) == "Throws as published in 2 of 2 problems."


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["discards", *map(str, arguments)])
    return int(left.value.code or 0)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "result.json"
    options = ("--problems", ENDGAMES, "--rollouts", 64, "--seed", 2)
    assert run("medium", *options, "--json", file) == 0
    text = capsys.readouterr().out
    assert "BQ1 pone 112-119" in text
    assert "2C 4D 6H 8S TC KD" in text
    assert "Throws as published in 2 of 3 problems; otherwise in BQ1." in text
    found = json.loads(file.read_text())
    assert [one["agrees"] for one in found["problems"]] == [False, True, True]
    assert found["problems"][0]["problem"]["setting"]["cards"][0] == "2C"
    assert found["problems"][0]["answers"][0]["throw"] == "TK"
    assert run("medium", *options, "--markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| problem | throw | by |")
    assert lines[2].startswith("| BQ1 pone 112-119: 2C 4D 6H 8S TC KD | TK | player")
