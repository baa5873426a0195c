"""The messages of the wire protocol: their fields, their errors, and reading them."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

PROTOCOL = 1
"""Version of the protocol, told by ``hello``."""

MAX_LINE = 1 << 16
"""Bytes that a message may have. The longest sensible one has less than a thousand."""

_MAX_ERROR = 300
"""Characters of an error's text: it may quote what was sent, but not all of it."""

_BLANK = b" \t\r\n\x0b\x0c"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Code:
    """What an error can be about. Each is part of the protocol: none changes its meaning."""

    BAD_JSON = "bad-json"
    TOO_LONG = "too-long"
    BAD_MESSAGE = "bad-message"
    UNKNOWN_TYPE = "unknown-type"
    INVALID_VIEW = "invalid-view"
    INVALID_CARD = "invalid-card"
    INVALID_RULES = "invalid-rules"
    NOT_YOUR_TURN = "not-your-turn"
    UNKNOWN_BOT = "unknown-bot"
    UNKNOWN_OPTION = "unknown-option"
    INVALID_OPTION = "invalid-option"
    INTERNAL = "internal"


class WireError(Exception):
    """An error to be told to the caller.

    Args:
        code: one of `Code`.
        message: what is wrong, for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def to_json(self) -> dict[str, str]:
        """``code`` and ``message``, on one line and of bounded length."""
        message = " ".join(str(self).split())
        if len(message) > _MAX_ERROR:
            message = message[: _MAX_ERROR - 3] + "..."
        return {"code": self.code, "message": message}


class Envelope(msgspec.Struct):
    """What all messages have. The rest of the line is read once the type is known."""

    type: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Act(msgspec.Struct):
    """``act``: what would you throw or lay here?"""

    view: msgspec.Raw
    explain: bool = False


class Set(msgspec.Struct):
    """``set``: change options of the bot."""

    options: dict[str, Any]


class ViewMessage(msgspec.Struct, forbid_unknown_fields=True):
    """What the seat sees. A field that is null counts as missing.

    Attributes:
        seat, dealer, hand: always there.
        plays: all since the deal, ``[seat, card]`` or ``[seat, "go"]``, oldest first.
        series: in place of ``plays``, only what was laid since the count was last nothing;
            a card or go alone has its owner inferred.
        earlier: cards that each seat laid before ``plays`` or ``series`` begins.
    """

    seat: int
    dealer: int
    hand: list[str]
    scores: list[int] | None = None
    discards: list[str] | None = None
    starter: str | None = None
    plays: list[tuple[int, str]] | None = None
    series: list[str | tuple[int, str]] | None = None
    earlier: list[int] | None = None
    target: int | None = None
    rules: str | dict[str, Any] | None = None
    players: int | None = None


Message = TypeVar("Message")

_ENVELOPE = msgspec.json.Decoder(Envelope)
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Act, Set, ViewMessage)
}


def read_line(line: str | bytes) -> bytes:
    """The bytes of a message, without the blanks around it; empty for a blank line.

    Raises:
        WireError: when the line is too long, or no UTF-8.
    """
    try:
        data = line.encode() if isinstance(line, str) else bytes(line)
        data = data.removeprefix(_BYTE_ORDER_MARK).strip(_BLANK)
        if len(data) > MAX_LINE:
            raise WireError(Code.TOO_LONG, f"a message has at most {MAX_LINE} bytes")
        data.decode()
    except UnicodeError:
        raise WireError(Code.BAD_JSON, "the line is not UTF-8") from None
    return data


def read_envelope(data: bytes) -> Envelope:
    """The type and id of a message, still as they were written.

    Raises:
        WireError: when the line is no JSON, or no object.
    """
    try:
        return _ENVELOPE.decode(data)
    except msgspec.ValidationError:
        raise WireError(Code.BAD_MESSAGE, "a message is a JSON object") from None
    except RecursionError:
        raise WireError(Code.BAD_JSON, "the JSON is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise WireError(Code.BAD_JSON, str(error)) from None


def read_id(envelope: Envelope) -> msgspec.Raw | None:
    """The message's id, to be echoed exactly as it was written; None where it has none.

    Raises:
        WireError: when it is a list or an object.
    """
    if not isinstance(envelope.id, msgspec.Raw):
        return None
    written = bytes(envelope.id)
    if written[:1] in (b"{", b"["):
        raise WireError(Code.BAD_MESSAGE, "an id is a text, a number, true, false or null")
    if written[:1] == b'"':
        _text(written, "an id")
    return msgspec.Raw(written)


def read_type(envelope: Envelope) -> str:
    """The message's type.

    Raises:
        WireError: when it is missing or no text.
    """
    if not isinstance(envelope.type, msgspec.Raw):
        raise WireError(Code.BAD_MESSAGE, 'a message has a "type"')
    return _text(bytes(envelope.type), "a type")


def _text(written: bytes, what: str) -> str:
    try:
        return msgspec.json.decode(written, type=str)
    except msgspec.ValidationError:
        raise WireError(Code.BAD_MESSAGE, f"{what} is a text") from None
    except msgspec.DecodeError:  # half of a surrogate pair, written as an escape
        raise WireError(Code.BAD_JSON, f"{what} is no readable text") from None


def read_as(kind: type[Message], data: bytes | msgspec.Raw, code: str) -> Message:
    """A message, or a part of one, with every field checked.

    Args:
        kind: `Act`, `Set` or `ViewMessage`.
        data: its JSON.
        code: of the error when a field is missing, unknown or of the wrong kind.

    Raises:
        WireError: when it does not fit.
    """
    try:
        message: Message = _DECODERS[kind].decode(data)
    except msgspec.ValidationError as error:
        raise WireError(code, str(error)) from None
    except RecursionError:
        raise WireError(Code.BAD_JSON, "the JSON is nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:  # ValueError: a number too long to read
        raise WireError(Code.BAD_JSON, str(error)) from None
    return message
