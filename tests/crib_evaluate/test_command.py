"""``crib evaluate`` as a person meets it: the table, the file, what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from crib_env.cli import main
from crib_env.rules import PRESETS
from crib_evaluate.files import write_whole
from crib_evaluate.match import play_match
from crib_evaluate.report import match_report

CRIB = [sys.executable, "-m", "crib_env.cli"]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["evaluate", *map(str, arguments)])
    return int(left.value.code or 0)


def test_prints_a_table_and_writes_the_file(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = subprocess.run(
        [*CRIB, "evaluate", "medium", "easy", "--games", "200", "--seed", "2", "--json", file],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    wanted = play_match("medium", "easy", 200, seed=2)
    assert json.loads(file.read_text()) == wanted.to_json()
    assert list(tmp_path.iterdir()) == [file]
    lines = done.stdout.splitlines()
    assert lines[0] == "medium against easy"
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in done.stdout
    assert f"{wanted.players[0].wins}" in next(x for x in lines if x.startswith("Games won"))


def shown_report(*arguments: Any, **settings: Any) -> str:
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    console.print(match_report(play_match(*arguments, **settings)))
    console.file.close()
    return console.export_text()


def test_report_shows_every_number() -> None:
    result = play_match("medium", "random", 100, seed=1)
    shown = shown_report("medium", "random", 100, seed=1)
    for label in (
        "Win rate", "95 % interval", "Mean margin", "Match points a game", "Skunks given",
        "Skunks taken", "Double skunks given", "Double skunks taken", "Points a deal as dealer",
        "Points a deal as pone", "hand", "crib", "play", "heels", "First dealer won",
        "deals a game", "100 games in 50 mirrored pairs", "six-card", "seed 1",
    ):  # fmt: skip
        assert label in shown, label
    first = result.players[0]
    assert f"{100 * first.win_rate.mean:.2f} %" in shown
    assert f"{first.margin.mean:+.2f}" in shown


def test_report_of_a_single_pair_has_no_interval() -> None:
    shown = shown_report("medium", "random", 2)
    row = next(x for x in shown.splitlines() if "95 % interval" in x)
    assert row.split() == ["95", "%", "interval", "-", "-"]


SAID = {
    "six-card": "A win is 1 match point, a skunk 2, a double skunk 3;",
    "three-player": "A win is 1 match point, 1 more for a skunk, 2 more for a double skunk;",
    "four-player": "A win is 1 match point, a skunk 2, a double skunk 3;",
    "five-card": "A win is 1 match point;",
    "five-card-historic": "A win is 1 match point;",
    "comment-jouer": "A win is 1 match point, a skunk 2;",
    "boite-a-jeux": "A win is 1 match point, a skunk 2;",
    "reference-complete": "A win is 1 match point, a skunk 2, a double skunk 3;",
    "contre-l-ordinateur": "A win is 1 match point;",
}


@pytest.mark.parametrize("rules", PRESETS)
def test_report_says_what_a_win_is_worth(rules: str) -> None:
    shown = shown_report("easy", "random", 24, rules=rules)
    said = " ".join(shown.split())
    assert SAID[rules] in said
    assert ("kunk" in said) == ("skunk" in SAID[rules])
    assert ("ouble skunk" in said) == ("double" in SAID[rules])
    assert f"; {rules}; seed 0" in said
    assert ("First dealer's side won" in said) == (rules == "four-player")
    assert ("deal as non-dealer" in said) == (rules in ("three-player", "four-player"))
    assert ("24 games in 4 mirrored rounds of 6" in said) == (rules == "three-player")
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("rules", "games", "said"),
    [
        ("six-card", 10, "10 games in 5 mirrored pairs"),
        ("four-player", 10, "10 games in 5 mirrored pairs"),
        ("three-player", 12, "12 games in 2 mirrored rounds of 6"),
    ],
)
def test_games_that_make_no_whole_round(
    rules: str, games: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("random", "random", "--games", 9, "--rules", rules) == 0
    out, err = capsys.readouterr()
    assert said in out
    assert f"playing {games} games" in err


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["medium"], "'B'"),
        (["medium", "nobody"], "no bot 'nobody'"),
        (["medium", "easy", "--games", "0"], "--games"),
        (["medium", "easy", "--games", "many"], "--games"),
        (["medium", "easy", "--seed", "-1"], "--seed"),
        (["medium", "easy", "--workers", "0"], "--workers"),
        (["medium", "easy", "--rules", "chess"], "--rules"),
        (["medium", "easy", "--colour", "red"], "--colour"),
        (["medium", __file__], "is a file"),
    ],
)
def test_bad_input(arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert fault in err
    assert err.count("\n") == 1
    assert not out


def test_bad_input_to_a_real_process() -> None:
    done = subprocess.run([*CRIB, "evaluate", "medium", "nobody"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("crib: no bot 'nobody'")
    assert done.stderr.count("\n") == 1


def test_unwritable_file_is_refused_before_the_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(*arguments: Any) -> None:
        raise AssertionError("the match was played")

    monkeypatch.setattr("crib_evaluate.match.play_match", play)
    for path in (tmp_path / "nowhere" / "x.json", tmp_path, Path(os.devnull)):
        assert run("medium", "easy", "--json", path) == 2
        error = capsys.readouterr().err
        assert str(path) in error
        assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_old_file_survives_a_match_that_fails(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text("old")
    assert run("medium", "nobody", "--json", file) == 2
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "result.json"
    file.write_text("old")

    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as out:
            out.write(data[: len(data) // 2])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="no space"):
        write_whole(file, b"new and long")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def running_in_session(leader: int) -> list[str]:
    """Processes of a session that still run, as the kernel lists them."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = file.read_text()
        except OSError:  # it has ended since
            continue
        state, _, _, session = text.rpartition(")")[2].split()[:4]
        if int(session) == leader and state != "Z":
            found.append(text)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_in_the_middle(how: signal.Signals, workers: int, tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group, as a terminal sends it; a kill to the command alone."""
    play_match("medium", "easy", 20)  # compiles
    file = tmp_path / "result.json"
    command = [*CRIB, "evaluate", "medium", "easy", "--games", "5000000", "--json", str(file)]
    process = subprocess.Popen(
        [*command, "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: len(running_in_session(process.pid)) >= (3 if workers == 2 else 1))
        time.sleep(2)
        if how == signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.kill()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert err.strip() == "crib: stopped"
    assert not out
    assert not list(tmp_path.iterdir())
    wait_until(lambda: not running_in_session(process.pid))


INTERRUPTED = """
from crib_evaluate.match import _pool


def result(number):
    return bytes(100_000_000)  # which takes longer to hand over than to make


if __name__ == "__main__":
    try:
        with _pool(2) as pool:
            first, *_ = [pool.submit(result, number) for number in range(100)]
            first.result()
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        print("stopped")
"""


def test_workers_may_be_ended_in_the_middle_of_a_result(tmp_path: Path) -> None:
    """Python waits at its end for the thread that reads it, which must not wait for the rest."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    outcome = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60
    )
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "stopped\n", "")


def wait_until(condition: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
