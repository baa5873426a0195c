"""The wire protocol over standard input and output: one message a line."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import IO

from crib_agents.bot import BotError
from crib_agents.serve.messages import MAX_LINE
from crib_agents.serve.protocol import Session
from crib_env.errors import CribbageError

_GONE = (errno.EPIPE, errno.EINVAL)
"""How a system says that nobody reads any more; Windows says the second."""


class _Stopped(BaseException):
    """Somebody asked the process to end."""


def run(
    name: str,
    rules: str = "six-card",
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
) -> int:
    """Answer messages until ``quit``, the end of the input, a signal, or nobody listens.

    Args:
        name: a bot that `crib_agents.make_bot` knows.
        rules: a preset's name, for views that name no rules.
        stdin, stdout: binary streams; the process's own where not given.

    Returns:
        The exit code: 0; 1 when an answer cannot be written; 2 when there are no
        such bot or rules, said in one line on standard error.
    """
    try:
        session = Session(name, rules)
    except (BotError, CribbageError) as error:
        print(f"crib: {error}", file=sys.stderr)
        return 2
    if (stdin is None and sys.stdin is None) or (stdout is None and sys.stdout is None):
        print("crib: there is no standard input or output to talk over", file=sys.stderr)
        return 2
    source = sys.stdin.buffer if stdin is None else stdin
    sink = sys.stdout.buffer if stdout is None else stdout
    # What a bot prints by mistake must not get between the answers.
    with contextlib.suppress(_Stopped), _stopping(), contextlib.redirect_stdout(sys.stderr):
        try:
            _converse(session, source, sink)
        except OSError as error:
            _detach(sink)
            if error.errno not in _GONE:
                print(f"crib: cannot go on: {error}", file=sys.stderr)
                return 1
    return 0


def _converse(session: Session, source: IO[bytes], sink: IO[bytes]) -> None:
    for line in _lines(source):
        answer = session.handle(line)
        if answer is not None:
            sink.write(answer.encode() + b"\n")
            sink.flush()
        if session.done:
            return


def _lines(source: IO[bytes]) -> Iterator[bytes]:
    """Each line; of one too long just enough to see that it is."""
    while line := source.readline(MAX_LINE + 2):
        yield line
        while line and not line.endswith(b"\n"):
            line = source.readline(MAX_LINE)


@contextlib.contextmanager
def _stopping() -> Iterator[None]:
    """Turn the signals that ask a process to end into `_Stopped`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _detach(sink: IO[bytes]) -> None:
    """Let what is still buffered go nowhere, or Python would complain of it at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sink.fileno())
        os.close(nowhere)
