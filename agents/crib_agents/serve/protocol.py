"""The wire protocol without a wire: lines in, lines out. Described in ``docs/protocol.md``.

>>> session = Session("medium")
>>> print(session.handle('{"id": 7, "type": "ping"}'))
{"id":7,"pong":true}
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from crib_agents.bot import Bot, BotError
from crib_agents.registry import bot_names, make_bot
from crib_agents.serve.messages import (
    PROTOCOL,
    Act,
    Code,
    Envelope,
    Set,
    ViewMessage,
    WireError,
    read_as,
    read_envelope,
    read_id,
    read_line,
    read_type,
)
from crib_agents.serve.position import Question, read_question
from crib_env import __version__
from crib_env.cards import Card
from crib_env.errors import CribbageError
from crib_env.rules import Rules, get_rules

_LOG = logging.getLogger(__name__)

_KEPT_READY = 8
"""Games, by rules, for which a bot is kept ready."""

Answer = dict[str, Any]


class _Players:
    """The bot that plays, made anew for each set of rules that is asked for."""

    def __init__(self, bot: str | Path | Bot, rules: Rules) -> None:
        self._standard = rules
        self._given = None if isinstance(bot, str | Path) else bot
        self.level = str(bot) if isinstance(bot, str | Path) else bot.name
        self._first_level = self.level
        self._options: dict[str, Any] = {}
        self._ready: dict[Rules, Bot] = {rules: make_bot(bot, rules=rules)}

    @property
    def standard(self) -> Bot:
        """The bot for the rules that were agreed at the start."""
        return self._ready[self._standard]

    def for_rules(self, rules: Rules) -> Bot:
        """The bot for a game.

        Raises:
            WireError: when it does not play that game.
        """
        if rules in self._ready:
            return self._ready[rules]
        if self._given is not None and self.level == self._first_level:
            raise WireError(Code.INVALID_RULES, f"{self.level} is here for another game")
        try:
            bot = self._make(self.level, self._options, rules)
        except BotError as error:
            raise WireError(Code.INVALID_RULES, str(error)) from None
        spare = [made for made in self._ready if made != self._standard]
        if len(spare) >= _KEPT_READY:
            del self._ready[spare[0]]
        self._ready[rules] = bot
        return bot

    def _make(self, level: str, options: Mapping[str, Any], rules: Rules) -> Bot:
        given = self._given if level == self._first_level else None
        bot = make_bot(level if given is None else given, rules=rules)
        if options:
            change: Callable[[Mapping[str, Any]], None] | None = getattr(bot, "set_options", None)
            if change is None:
                raise BotError(f"{bot.name} has no option {next(iter(options))!r}")
            change(options)
        return bot

    def options(self) -> Answer:
        """The level and the bot's own options, with their present values."""
        own: Callable[[], Mapping[str, Any]] | None = getattr(self.standard, "options", None)
        return {"level": self.level, **(own() if own is not None else {})}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Change the level, other options, or both; all of it or nothing.

        Raises:
            WireError: for an unknown bot or option, or a value out of range.
        """
        changes = dict(options)
        level = changes.pop("level", self.level)
        if not isinstance(level, str) or level not in (*bot_names(), self._first_level):
            names = ", ".join(bot_names())
            raise WireError(Code.UNKNOWN_BOT, f"no level {level!r}: there are {names}")
        kept = self._options if level == self.level else {}
        wanted = {**kept, **changes}
        try:
            bot = self._make(level, wanted, self._standard)
        except BotError as error:
            raise WireError(self._fault(level, changes), str(error)) from None
        self.level = level
        self._options = wanted
        self._ready = {self._standard: bot}

    def _fault(self, level: str, changes: Mapping[str, Any]) -> str:
        """Whether an option does not exist, or was given a value that will not do."""
        bot = self._make(level, {}, self._standard)
        own: Callable[[], Mapping[str, Any]] | None = getattr(bot, "options", None)
        known = own() if own is not None else {}
        unknown = any(name not in known for name in changes)
        return Code.UNKNOWN_OPTION if unknown else Code.INVALID_OPTION


class Session:
    """One caller's conversation with a bot.

    Every line gets one line in answer, whatever it holds; only a blank one gets none.

    Args:
        bot: a name that `make_bot` knows, a bundle's folder, or a bot.
        rules: the game where a view names no rules.

    Attributes:
        done: whether the caller has said ``quit``.

    Raises:
        BotError: when there is no such bot.
        InvalidRulesError: when there are no such rules.
    """

    def __init__(
        self, bot: str | Path | Bot, rules: str | Rules | Mapping[str, Any] = "six-card"
    ) -> None:
        self.rules = get_rules(rules)
        self.done = False
        self._players = _Players(bot, self.rules)
        self._handlers: dict[str, Callable[[bytes], Answer]] = {
            "hello": self._hello,
            "act": self._act,
            "set": self._set,
            "ping": self._ping,
            "quit": self._quit,
        }

    def handle(self, line: str | bytes) -> str | None:
        """Answer one message.

        Args:
            line: a JSON object, UTF-8; a line break at its end does no harm.

        Returns:
            A JSON object on one line, without a line break; None for a blank line,
            and for all lines after ``quit``.
        """
        if self.done:
            return None
        answer: Answer = {}
        try:
            data = read_line(line)
            if not data:
                return None
            envelope = read_envelope(data)
            if (written := read_id(envelope)) is not None:
                answer["id"] = written
            return _encode({**answer, **self._answer(envelope, data)})
        except WireError as error:
            return _encode({**answer, "error": error.to_json()})
        except Exception as error:
            _LOG.exception("a message could not be answered")
            fault = WireError(Code.INTERNAL, f"{type(error).__name__}: {error}")
            return _encode({**answer, "error": fault.to_json()})

    def _answer(self, envelope: Envelope, data: bytes) -> Answer:
        kind = read_type(envelope)
        if kind not in self._handlers:
            known = ", ".join(self._handlers)
            raise WireError(Code.UNKNOWN_TYPE, f"no message type {kind!r}: there are {known}")
        return self._handlers[kind](data)

    def _hello(self, _: bytes) -> Answer:
        return {
            "name": self._players.standard.name,
            "version": __version__,
            "protocol": PROTOCOL,
            "bots": list(bot_names()),
            "options": self._players.options(),
            "rules": self.rules.to_json(),
        }

    def _set(self, data: bytes) -> Answer:
        self._players.set_options(read_as(Set, data, Code.BAD_MESSAGE).options)
        return {"options": self._players.options()}

    def _ping(self, _: bytes) -> Answer:
        return {"pong": True}

    def _quit(self, _: bytes) -> Answer:
        self.done = True
        return {"bye": True}

    def _act(self, data: bytes) -> Answer:
        message = read_as(Act, data, Code.BAD_MESSAGE)
        question = read_question(read_as(ViewMessage, message.view, Code.INVALID_VIEW), self.rules)
        bot = self._players.for_rules(question.view.rules)
        chosen = _decide(bot, question)
        answer: Answer = {}
        if question.asks == "go":
            answer["go"] = True
        elif question.asks == "play":
            answer["play"] = str(chosen[0])
        else:
            answer["discard"] = [str(card) for card in chosen]
        if question.assumed:
            answer["assumed"] = list(question.assumed)
        if message.explain:
            answer.update(_explained(bot, question, chosen))
        return answer


def _decide(bot: Bot, question: Question) -> tuple[Card, ...]:
    """The bot's choice, checked; nothing where it has none."""
    view = question.view
    if question.asks == "go":
        return ()
    if question.asks == "play":
        answered: Any = bot.play(view)
        chosen = _cards((answered,))
        legal = len(chosen) == 1 and chosen[0] in view.legal()
    else:
        answered = bot.discard(view)
        chosen = _cards(answered)
        legal = len(set(chosen)) == question.to_throw and set(chosen) <= set(view.hand)
    if not legal:
        raise WireError(Code.INTERNAL, f"{bot.name} answered {answered!r}, which is not legal here")
    return chosen


def _cards(answered: Any) -> tuple[Card, ...]:
    """What a bot answered, as cards in ascending order; nothing where it is none."""
    try:
        return tuple(sorted(Card(card) for card in answered))
    except (CribbageError, TypeError):
        return ()


def _explained(bot: Bot, question: Question, chosen: tuple[Card, ...]) -> Answer:
    from crib_agents.serve.explain import explain

    explanation = explain(bot, question.view, passes=question.asks == "go")
    options = []
    for option in explanation.options:
        told: Answer = {
            "cards": [str(card) for card in option.cards],
            "value": _rounded(option.value),
        }
        for name in ("hand", "crib", "play"):
            points = getattr(option, name)
            if points is not None:
                told[name] = _rounded(points)
        if set(option.cards) == set(chosen):
            told["chosen"] = True
        options.append(told)
    return {"value": _rounded(explanation.value), "options": options}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 4)


def _plain(value: Any) -> Any:
    """Options that other people's bots tell may hold NumPy's numbers, or anything."""
    return value.item() if hasattr(value, "item") else str(value)


def _encode(answer: Answer) -> str:
    return msgspec.json.encode(answer, enc_hook=_plain).decode()
