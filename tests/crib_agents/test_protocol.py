"""The wire protocol in the same process: `Session.handle` and nothing else."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_agents import BotError, bot_names
from crib_agents.serve.messages import MAX_LINE, Code, ViewMessage
from crib_agents.serve.protocol import Session
from crib_env import Card, InvalidRulesError, Rules, SeatView, __version__
from tests.crib_agents.wire import LowestCard, Transcript, act, ask, transcripts

THROW: dict[str, Any] = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "2S", "9D", "KH", "AS"]}
STANDARD = {"scores": [0, 0], "rules": "six-card"}
CODES = {value for name, value in vars(Code).items() if name.isupper()}


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    transcript = Transcript.read(path)
    session = Session(transcript.bot, transcript.rules)
    got = [session.handle(line) for line in transcript.lines]
    assert transcript.compare(got) == []
    codes = [
        json.loads(answer).get("error", {}).get("code", "bad-json") for answer in got if answer
    ]
    assert set(codes) <= CODES


def test_bytes_and_text_are_the_same() -> None:
    session = Session("random")
    assert session.handle(b'\xef\xbb\xbf {"type":"ping"}\r\n') == '{"pong":true}'
    assert session.handle('{"type":"ping"}\n') == '{"pong":true}'
    assert session.handle("\n") is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"ping","id":"\xff"}',
        b"\x00\xff\xfe",
        '{"type":"ping","id":"\ud800"}',
        '{"type":"ping","id":"\\ud800"}',
        b'{"type":"ping","id":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"type":"act","view":' + b'{"rules":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
        b'{"type":"act","view":{"seat":Infinity}}',
        b'{"type":"ping","x":-}',
        b'{"type":"ping"',
    ],
)
def test_what_is_no_json(line: str | bytes) -> None:
    session = Session("random")
    assert ask(session, line)["error"]["code"] == "bad-json"
    assert ask(session, {"type": "ping"}) == {"pong": True}


def test_endless_numbers_are_refused() -> None:
    session = Session("random")
    digits = "9" * 6_000
    for field in ("seat", "dealer"):
        view = json.dumps({**THROW, field: 0}).replace(f'"{field}": 0', f'"{field}": {digits}')
        error = ask(session, f'{{"type":"act","view":{view}}}')["error"]
        assert error["code"] in ("bad-json", "invalid-view")
        assert len(error["message"]) < 400
    answer = session.handle(f'{{"type":"ping","id":{digits}}}')
    assert answer == f'{{"id":{digits},"pong":true}}'


def test_a_line_may_not_be_endless() -> None:
    session = Session("random")
    fits = b'{"type":"ping","x":"' + b"x" * (MAX_LINE - 22) + b'"}'
    assert len(fits) == MAX_LINE
    assert ask(session, fits + b"\n") == {"pong": True}
    assert ask(session, fits.replace(b"xx", b"xxx", 1))["error"]["code"] == "too-long"


@pytest.mark.parametrize("written", ["0", "-1", "1.0", "1e400", "1E+2", '"a\\nb"', "true", "null"])
def test_an_id_comes_back_as_it_was_written(written: str) -> None:
    answer = Session("random").handle(f'{{"id" : {written} , "type":"ping"}}')
    assert answer == f'{{"id":{written},"pong":true}}'


def test_an_error_quotes_little_of_a_long_line() -> None:
    card = "5H" * 9_000
    error = act(Session("random"), {**THROW, "hand": [card]})["error"]
    assert error["code"] == "invalid-card"
    assert len(error["message"]) <= 300


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
_field = st.sampled_from(ViewMessage.__struct_fields__)
_cards = st.lists(st.sampled_from([str(Card(i)) for i in range(52)] + ["go", "1X"]), max_size=7)
_plays = st.lists(
    st.tuples(st.integers(-1, 3), st.sampled_from(["5H", "KD", "go", "AS"])), max_size=5
)
_value = _json | _cards | _plays | st.integers(-1, 4) | st.sampled_from(["six-card", "5H"])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_line_gets_one_line(line: str | bytes) -> None:
    answer = Session("random").handle(line)
    if answer is not None:
        assert json.loads(answer)["error"]["code"] in CODES


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(["hello", "act", "act", "act", "set", "ping", "dance"]),
    st.dictionaries(_field, _value, max_size=5),
    st.booleans(),
    st.dictionaries(st.text(max_size=6) | st.just("level"), _json, max_size=2),
)
def test_any_message_gets_an_answer_or_a_plain_error(
    kind: str, changes: dict[str, Any], explain: bool, options: dict[str, Any]
) -> None:
    session = Session(LowestCard())
    message = {
        "id": 1,
        "type": kind,
        "view": {**THROW, **changes},
        "explain": explain,
        "options": options,
    }
    answer = session.handle(json.dumps(message))
    assert answer is not None
    assert "\n" not in answer
    parsed = json.loads(answer, parse_constant=lambda name: pytest.fail(f"{name} in an answer"))
    if "error" in parsed:
        assert parsed["error"]["code"] in CODES - {"internal"}, parsed
    assert ask(session, {"type": "ping"}) == {"pong": True}


def test_hello() -> None:
    answer = ask(Session("medium"), {"type": "hello", "id": 1, "client": "ignored"})
    assert answer["id"] == 1
    assert answer["name"] == "medium"
    assert answer["version"] == __version__
    assert answer["protocol"] == 1
    assert answer["bots"] == list(bot_names())
    assert answer["options"]["level"] == "medium"


def test_quit_ends_it() -> None:
    session = Session("random")
    assert not session.done
    assert ask(session, {"type": "quit", "id": "q"}) == {"id": "q", "bye": True}
    assert session.done
    assert session.handle('{"type":"ping"}') is None


def test_there_is_no_such_bot_or_game() -> None:
    with pytest.raises(BotError, match="no bot 'kasparov'"):
        Session("kasparov")
    with pytest.raises(InvalidRulesError, match="no rules named 'whist'"):
        Session("random", "whist")


# What is missing.


@pytest.mark.parametrize(
    ("changes", "assumed"),
    [
        (STANDARD, None),
        ({"rules": "six-card"}, ["scores"]),
        ({"scores": [3, 4]}, ["target", "rules", "players"]),
        ({"scores": [3, 4], "target": 121}, ["rules", "players"]),
        ({"scores": [3, 4], "target": 121, "players": 2}, ["rules"]),
        ({"rules": None, "plays": [], "discards": []}, ["scores", "target", "rules", "players"]),
    ],
)  # fmt: skip
def test_assumed_at_the_discard(changes: dict[str, Any], assumed: list[str] | None) -> None:
    answer = act(Session("medium"), {**THROW, **changes})
    assert len(answer["discard"]) == 2
    assert answer.get("assumed") == assumed


@pytest.mark.parametrize(
    ("changes", "assumed"),
    [
        ({"starter": "4D", "discards": ["2S", "2D"], "plays": [[1, "7C"]]}, None),
        ({"discards": ["2S", "2D"], "plays": [[1, "7C"]]}, ["starter"]),
        ({"starter": "4D", "plays": [[1, "7C"]]}, ["discards"]),
        ({"starter": "4D", "series": ["7C"]}, ["discards", "plays"]),
        ({"plays": [[1, "7C"]]}, ["discards", "starter"]),
        ({"dealer": 1}, ["discards", "starter", "plays"]),
        ({"dealer": 1, "starter": "4D", "discards": ["2S", "2D"], "plays": []}, None),
        ({"dealer": 1, "starter": "4D", "discards": ["2S", "2D"]}, ["plays"]),
    ],
)  # fmt: skip
def test_assumed_in_the_play(changes: dict[str, Any], assumed: list[str] | None) -> None:
    view = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "9D", "KH"], **STANDARD, **changes}
    answer = act(Session("medium"), view)
    assert answer["play"] in view["hand"]
    assert answer.get("assumed") == assumed


def test_the_bot_plays_the_game_that_the_view_names() -> None:
    seen: list[Rules] = []

    class Notes(LowestCard):
        def discard(self, view: SeatView) -> tuple[Card, ...]:
            seen.append(view.rules)
            return super().discard(view)

    standard = Rules(target=100)
    session = Session(Notes(), standard)
    session._players._ready = {rules: Notes() for rules in [standard, *_games()]}
    for view in ({}, {"target": 61}, {"target": 91}, {"target": 92}, {"rules": "six-card"}):
        assert "discard" in act(session, {**THROW, **view}), view
    assert [rules.target for rules in seen] == [100, 61, 91, 92, 121]
    assert [rules.skunk_line for rules in seen] == [91, None, None, 91, 91]
    assert [rules.double_skunk_line for rules in seen] == [61, None, None, 61, 61]


def _games() -> list[Rules]:
    short = [Rules(target=target, skunk_line=None, double_skunk_line=None) for target in (61, 91)]
    return [*short, Rules(target=92), Rules()]


def test_a_bot_is_made_for_each_game_that_is_asked_for() -> None:
    session = Session("medium")
    for target in range(30, 60):
        answer = act(session, {**THROW, "scores": [target - 1, 0], "target": target})
        assert len(answer["discard"]) == 2
    five = {"dealt": 5, "thrown": 1, "target": 61, "skunk_line": None, "double_skunk_line": None}
    answer = act(session, {**THROW, "hand": THROW["hand"][:5], "rules": five})
    assert len(answer["discard"]) == 1
    assert len(session._players._ready) < 12


def test_a_bot_that_was_handed_in_plays_its_own_game_only() -> None:
    error = act(Session(LowestCard()), {**THROW, "target": 61})["error"]
    assert error["code"] == "invalid-rules"


# The discard.


def test_one_card_thrown_already() -> None:
    view = {**THROW, **STANDARD, "hand": THROW["hand"][:5], "discards": ["AS"]}
    for name in bot_names():
        (card,) = act(Session(name), view)["discard"]
        assert card in view["hand"]


def test_the_answer_does_not_depend_on_the_order_of_the_hand() -> None:
    for name in bot_names():
        session = Session(name)
        hand = THROW["hand"]
        answers = {
            json.dumps(act(session, {**THROW, "hand": hand[k:] + hand[:k]})) for k in range(6)
        }
        assert len(answers) == 1


# Bots that go wrong.


class _Broken(LowestCard):
    name = "broken"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def play(self, view: SeatView) -> Card:
        return self._go()

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        return self._go()

    def _go(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [None, 99, Card("5C"), "XX", [], ["5H"], ["5H", "5H"], ["5H", "3D"], ["5H", "JC", "2S"]],
)
def test_an_illegal_answer_of_a_bot_is_an_error(answer: Any) -> None:
    session = Session(_Broken(answer))
    play = {**THROW, "dealer": 1, "hand": THROW["hand"][:4]}
    for view in (THROW, play):
        got = act(session, view, id=1)
        assert got["id"] == 1
        assert got["error"]["code"] == "internal"
    assert ask(session, {"type": "ping"}) == {"pong": True}


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("by\nzero"), RecursionError(), ValueError("x" * 10_000), MemoryError()],
)
def test_a_bot_that_fails_is_an_error(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    session = Session(_Broken(error))
    with caplog.at_level(logging.ERROR):
        got = act(session, THROW, id="x")
    assert got["id"] == "x"
    assert got["error"]["code"] == "internal"
    assert type(error).__name__ in got["error"]["message"]
    assert len(got["error"]["message"]) <= 300
    assert "Traceback" in caplog.text
    assert ask(session, {"type": "ping"}) == {"pong": True}


def test_options_that_are_no_json_are_told_all_the_same() -> None:
    class Odd(LowestCard):
        def options(self) -> dict[str, Any]:
            return {"path": Path("a/b"), "depth": math.inf}

    options = ask(Session(Odd()), {"type": "hello"})["options"]
    assert options == {"level": "lowest", "path": str(Path("a/b")), "depth": None}


# Options.


def test_setting_is_all_or_nothing() -> None:
    session = Session("easy")
    before = ask(session, {"type": "hello"})["options"]
    for options in ({"errs": 0.5, "depth": 1}, {"level": "medium", "errs": 9}, {"level": "x"}):
        assert "error" in ask(session, {"type": "set", "options": options})
        assert ask(session, {"type": "hello"})["options"] == before
    after = ask(session, {"type": "set", "options": {"errs": 0.5}})["options"]
    assert after == {**before, "errs": 0.5}
    changed = ask(session, {"type": "set", "options": {"level": "medium", "seed": 9}})["options"]
    assert (changed["level"], changed["seed"]) == ("medium", 9)
    assert ask(session, {"type": "hello"})["name"] == "medium"


def test_options_hold_for_every_game() -> None:
    session = Session("medium")
    views = [{**THROW, "target": target, "scores": [target - 30, 0]} for target in range(52, 60)]
    plain = [act(session, view)["discard"] for view in views]
    ask(session, {"type": "set", "options": {"errs": 1.0}})
    erring = [act(session, view)["discard"] for view in views]
    assert sum(a != b for a, b in zip(plain, erring, strict=True)) > 5
    ask(session, {"type": "set", "options": {"level": "medium", "errs": 0}})
    assert [act(session, view)["discard"] for view in views] == plain


def test_a_bot_without_options() -> None:
    class Bare:
        name = "bare"

        def discard(self, view: SeatView) -> tuple[Card, ...]:
            return view.hand[:2]

        def play(self, view: SeatView) -> Card:
            return view.legal()[0]

        def actions(self, observations: Any, masks: Any) -> Any:
            raise NotImplementedError

    session = Session(Bare())
    assert ask(session, {"type": "hello"})["options"] == {"level": "bare"}
    assert act(session, THROW)["discard"] == ["AS", "2S"]
    error = ask(session, {"type": "set", "options": {"depth": 3}})["error"]
    assert error["code"] == "unknown-option"
    assert ask(session, {"type": "set", "options": {"level": "easy"}})["options"]["level"] == "easy"
    assert ask(session, {"type": "hello"})["name"] == "easy"
    assert ask(session, {"type": "set", "options": {"level": "bare"}})["options"] == {
        "level": "bare"
    }
