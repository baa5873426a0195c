"""``crib bot`` as a process: what a front end starts and talks to."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from crib_agents.serve import stdio
from crib_agents.serve.messages import MAX_LINE
from crib_agents.serve.protocol import Session
from crib_env import Game, SeatView
from tests.crib_agents.wire import CRIB, ROOT, LowestCard, Transcript, answers, start, transcripts

PATIENCE = 60
"""Seconds that a process may take: compiling for the first time is slow."""

PING = b'{"type":"ping"}'
PONG = b'{"pong":true}\n'
THROW = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "2S", "9D", "KH", "AS"]}


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Exit code, what was still to be read, and what was said on standard error."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.fixture
def bot() -> Iterator[subprocess.Popen[bytes]]:
    """A bot that has answered once, so that it is up and listens."""
    process = start("random")
    try:
        assert list(answers(process, (PING,))) == [PONG]
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    transcript = Transcript.read(path)
    sent = "".join(line + "\n" for line in transcript.lines)
    done = subprocess.run(
        [*CRIB, "bot", transcript.bot, "--rules", transcript.rules],
        input=sent.encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    lines = iter(done.stdout.decode().splitlines())
    got = [None if answer is None else next(lines) for answer in transcript.answers]
    assert transcript.compare(got) == []
    assert next(lines, None) is None


def test_each_answer_is_flushed(bot: subprocess.Popen[bytes]) -> None:
    lines = (b'{"id":1,"type":"ping"}', b"{", b'{"id":2,"type":"ping"}')
    got = [json.loads(line) for line in answers(bot, lines)]
    assert [answer.get("id") for answer in got] == [1, None, 2]
    assert ended(bot) == (0, b"", b"")  # the end of the input ends it


def test_quit(bot: subprocess.Popen[bytes]) -> None:
    assert list(answers(bot, (b'{"id":"x","type":"quit"}',))) == [b'{"id":"x","bye":true}\n']
    assert bot.wait(timeout=PATIENCE) == 0  # although its input is still open


def test_the_last_line_needs_no_line_break(bot: subprocess.Popen[bytes]) -> None:
    assert bot.stdin is not None
    bot.stdin.write(PING)
    assert ended(bot) == (0, PONG, b"")


def test_bytes_that_are_no_text_and_lines_without_end(bot: subprocess.Popen[bytes]) -> None:
    assert bot.stdin is not None
    garbage = bytes(range(256)).replace(b"\n", b"")
    bot.stdin.write(garbage + b"\n" + b"x" * (5 * MAX_LINE) + b"\n" + PING + b"\r\n")
    code, out, err = ended(bot)
    assert (code, err) == (0, b"")
    bad, long, last = out.splitlines(keepends=True)
    assert json.loads(bad)["error"]["code"] == "bad-json"
    assert json.loads(long)["error"]["code"] == "too-long"
    assert last == PONG


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_a_game_for_more_than_two(rules: str) -> None:
    """As a front end meets it: no message says what is played."""
    game = Game(rules, seed=1)
    process = start("medium", "--rules", rules)
    try:
        while game.deal < 2 and not game.is_over:
            view = {**game.view(game.to_act).to_json()}
            del view["rules"]
            (line,) = answers(process, (json.dumps({"type": "act", "view": view}).encode(),))
            answer = json.loads(line)
            for card in answer.get("discard") or [answer["play"]]:
                game.apply(card)
        assert ended(process) == (0, b"", b"")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(bot: subprocess.Popen[bytes], number: signal.Signals) -> None:
    bot.send_signal(number)
    assert bot.wait(timeout=PATIENCE) == 0
    assert ended(bot) == (0, b"", b"")


def test_nobody_listens_any_more(bot: subprocess.Popen[bytes]) -> None:
    assert bot.stdin is not None
    assert bot.stdout is not None
    assert bot.stderr is not None
    bot.stdout.close()
    bot.stdin.write(PING + b"\n")
    bot.stdin.flush()
    assert bot.wait(timeout=PATIENCE) == 0
    assert bot.stderr.read() == b""


@pytest.mark.parametrize("arguments", [("kasparov",), ("random", "--rules", "whist"), ()])
def test_a_users_error_is_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    code, out, err = ended(start(*arguments))
    assert code == 2
    assert out == b""
    assert b"Traceback" not in err
    assert len(err.strip().splitlines()) == 1


def test_the_command_stands_alone_too() -> None:
    program = "from crib_agents.serve.command import bot; bot()"
    done = subprocess.run(
        [sys.executable, "-c", program, "random"],
        input=PING,
        capture_output=True,
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, PONG, b"")


# In the same process, over streams of its own.


def converse(bot: Any, *lines: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(stdio, "Session", lambda name, rules: Session(bot, rules))
    out = io.BytesIO()
    assert stdio.run("any", stdin=io.BytesIO(b"\n".join(lines)), stdout=out) == 0
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_what_a_bot_prints_does_not_get_between_the_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Chatty(LowestCard):
        def discard(self, view: SeatView) -> Any:
            print("let me think")
            return super().discard(view)

    line = json.dumps({"type": "act", "view": THROW}).encode()
    (answer,) = converse(Chatty(), line, monkeypatch=monkeypatch)
    assert answer["discard"] == ["AS", "2S"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "let me think\n"


def test_signals_are_as_before_when_it_is_over() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert stdio.run("random", stdin=io.BytesIO(PING), stdout=io.BytesIO()) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


class _FullDisk(io.BytesIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_an_answer_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    sink: IO[bytes] = _FullDisk()
    assert stdio.run("random", stdin=io.BytesIO(PING), stdout=sink) == 1
    assert capsys.readouterr().err == "crib: cannot go on: [Errno 28] No space left on device\n"


# Speed: the bounds are wide, so that a busy machine does not fail them.


@pytest.mark.slow
def test_it_is_up_soon() -> None:
    line = json.dumps({"type": "act", "view": THROW}).encode()
    list(answers(warm := start("medium"), (line,)))
    ended(warm)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        process = start("medium")
        (answer,) = answers(process, (line,))
        times.append(time.perf_counter() - began)
        assert b"discard" in answer
        ended(process)
    assert min(times) < 3.0  # about 0.8 s on an idle machine


@pytest.mark.slow
def test_a_decision_takes_little_time() -> None:
    lines = []
    for seed in range(5):
        game = Game(seed=seed)
        while not game.is_over:
            view = game.view(game.to_act).to_json()
            lines.append(json.dumps({"type": "act", "view": view}).encode())
            game.apply(game.legal_actions()[0])
    process = start("medium")
    list(answers(process, tuple(lines[:20])))
    began = time.perf_counter()
    got = list(answers(process, tuple(lines)))
    each = (time.perf_counter() - began) / len(lines)
    ended(process)
    assert all(b"error" not in answer for answer in got)
    assert each < 0.004  # about 0.3 ms on an idle machine
