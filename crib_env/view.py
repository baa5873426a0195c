"""`SeatView`: all and only what one seat can see, and the game row made from it.

Bots are given views and nothing else. The phase, the count, the series, the
legal cards and how many cards the others hold are derived by the engine from
the cards and the play, so they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crib_env import engine
from crib_env import state as S
from crib_env.cards import CARDS, Card, from_mask, parse_cards, text, to_mask
from crib_env.errors import CribbageError, InvalidViewError
from crib_env.replay import Replay
from crib_env.rules import SIX_CARD, Rules, get_rules


class Laid(NamedTuple):
    """One entry of the play: a seat and its card, or None where it said go."""

    seat: int
    card: Card | None

    def to_json(self) -> list[int | str]:
        """``[seat, "5H"]`` or ``[seat, "go"]``."""
        return [self.seat, "go" if self.card is None else str(self.card)]


@dataclass(frozen=True)
class SeatView:
    """What one seat sees.

    Attributes:
        seat: whose view it is.
        dealer: who deals.
        hand: the cards still held, ascending.
        scores: points by side (by seat, or by team).
        discards: the cards that this seat threw, ascending; empty where not known.
        starter: the card turned up, once all have thrown.
        plays: the play of this deal, oldest first.
        earlier: how many cards each seat laid before ``plays`` begins, for callers
            that know only the current series; all zero as a rule.
        rules: the rules of the game.

    Raises:
        InvalidViewError: when no game can come to this.

    >>> view = SeatView.from_json({"seat": 0, "dealer": 1, "hand": ["5H", "JC"],
    ...     "discards": ["2S", "9D"], "starter": "KH", "scores": [45, 52],
    ...     "plays": [[0, "7C"], [1, "8D"], [0, "6C"], [1, "go"]]})
    >>> view.phase, view.count, view.legal()
    ('play', 21, (Card('5H'), Card('JC')))
    """

    seat: int
    dealer: int
    hand: tuple[Card, ...]
    scores: tuple[int, ...] = (0, 0)
    discards: tuple[Card, ...] = ()
    starter: Card | None = None
    plays: tuple[Laid, ...] = ()
    earlier: tuple[int, ...] = ()
    rules: Rules = SIX_CARD

    def __post_init__(self) -> None:
        _check_seats(self)
        _check_cards(self)
        _ = self._row  # plays the deal through, and refuses what cannot be

    @property
    def phase(self) -> str:
        """``discard``, ``play``, ``deal-over`` or ``over``."""
        return S.Phase(int(self._row[S.PHASE])).name.lower().replace("_", "-")

    @property
    def count(self) -> int:
        """The running total of the series."""
        return int(self._row[S.COUNT])

    @property
    def series(self) -> tuple[Card, ...]:
        """The cards since the last reset, oldest first."""
        cards = [entry.card for entry in self.plays if entry.card is not None]
        length = int(self._row[S.SERIES_LENGTH])
        return tuple(cards[len(cards) - length :])

    @property
    def held(self) -> tuple[int, ...]:
        """How many cards each seat holds in the play."""
        return tuple(int(n) for n in self._row[S.HELD : S.HELD + self.rules.players])

    @property
    def to_act(self) -> int:
        """Who decides next, as far as this seat can tell."""
        return int(self._row[S.TO_ACT])

    def legal(self) -> tuple[Card, ...]:
        """The cards that this seat may lay down now, ascending; empty where it has to say go."""
        row = self.for_decision()
        return from_mask(int(engine.legal(row))) if row[S.TO_ACT] == self.seat else ()

    def to_state(self) -> NDArray[np.int64]:
        """The game as this seat knows it: int64 ``[STATE_SIZE]``, the others' cards empty."""
        return self._row.copy()

    def for_decision(self) -> NDArray[np.int64]:
        """As `to_state`, with the goes of others that are implied by this seat's turn."""
        row = self._row.copy()
        if row[S.PHASE] == S.Phase.PLAY and row[S.TO_ACT] != self.seat:
            Replay(self, row).give_turn()
        return row

    @cached_property
    def _row(self) -> NDArray[np.int64]:
        return _build(self)

    def __hash__(self) -> int:
        return hash((self.seat, self.dealer, self.hand, self.scores, self.plays))

    def to_json(self) -> dict[str, Any]:
        """The view as the wire message has it."""
        message: dict[str, Any] = {
            "seat": self.seat,
            "dealer": self.dealer,
            "scores": list(self.scores),
            "hand": [str(card) for card in self.hand],
        }
        if self.discards:
            message["discards"] = [str(card) for card in self.discards]
        if self.starter is not None:
            message["starter"] = str(self.starter)
        if self.starter is not None or self.plays:
            message["plays"] = [entry.to_json() for entry in self.plays]
        if self.earlier:
            message["earlier"] = list(self.earlier)
        if self.rules != SIX_CARD:
            message["rules"] = self.rules.to_json()
        return message

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> SeatView:
        """A view from its JSON form; ``scores``, ``discards`` and the rest may be missing.

        Raises:
            InvalidViewError: for a field of the wrong kind or an impossible view.
            InvalidCardError: for a text that is no card.
            InvalidRulesError: for unknown rules.
        """
        if not isinstance(message, Mapping):
            raise InvalidViewError(f"a view is an object with named fields, not {message!r}")
        rules = get_rules(message.get("rules", "six-card"))
        for name in ("seat", "dealer", "hand"):
            if name not in message:
                raise InvalidViewError(f"a view needs {name!r}")
        starter = message.get("starter")
        return cls(
            seat=message["seat"],
            dealer=message["dealer"],
            hand=_sorted_cards(message["hand"], "hand"),
            scores=_numbers(message.get("scores", [0] * rules.sides), "scores"),
            discards=_sorted_cards(message.get("discards", ()), "discards"),
            starter=None if starter is None else _card(starter),
            plays=tuple(_laid(entry) for entry in _list(message.get("plays", ()), "plays")),
            earlier=_numbers(message.get("earlier", ()), "earlier"),
            rules=rules,
        )

    @classmethod
    def of(cls, row: NDArray[np.int64], rules: Rules, seat: int) -> SeatView:
        """What ``seat`` sees of a game, itself a whole game or what a seat knows of one."""
        players = rules.players
        in_play = row[S.PHASE] != S.Phase.DISCARD
        starter = int(row[S.STARTER])
        plays = []
        listed = [0] * players
        for at in range(int(row[S.HISTORY_LENGTH])):
            entry = int(engine.history_entry(row, at))
            card = entry & 63
            plays.append(Laid(entry >> 6, None if card == S.SAID_GO else CARDS[card]))
            listed[entry >> 6] += card != S.SAID_GO
        earlier = [
            rules.kept - int(row[S.HELD + other]) - listed[other] if in_play else 0
            for other in range(players)
        ]
        return cls(
            seat=seat,
            dealer=int(row[S.DEALER]),
            hand=from_mask(int(row[S.HAND + seat])),
            scores=tuple(int(x) for x in row[S.SCORE : S.SCORE + rules.sides]),
            discards=from_mask(int(row[S.THROWN_CARDS + seat])),
            starter=CARDS[starter] if in_play and starter >= 0 else None,
            plays=tuple(plays),
            earlier=tuple(earlier) if any(earlier) else (),
            rules=rules,
        )


def _card(value: Any) -> Card:
    if not isinstance(value, str | int):
        raise InvalidViewError(f"{value!r} is not a card")
    return Card(value)


def _list(value: Any, name: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidViewError(f"{name} is a list, not {value!r}")
    return value


def _sorted_cards(value: Any, name: str) -> tuple[Card, ...]:
    return tuple(sorted(_card(card) for card in _list(value, name)))


def _numbers(value: Any, name: str) -> tuple[int, ...]:
    numbers = _list(value, name)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidViewError(f"{name} are whole numbers, not {number!r}")
    return tuple(numbers)


def _laid(entry: Any) -> Laid:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        raise InvalidViewError(f'a play is [seat, card] or [seat, "go"], not {entry!r}')
    seat, card = entry
    if isinstance(seat, bool) or not isinstance(seat, int):
        raise InvalidViewError(f"a play begins with a seat, not {seat!r}")
    if isinstance(card, str) and card.strip().lower() == "go":
        return Laid(seat, None)
    return Laid(seat, _card(card))


def _check_seats(view: SeatView) -> None:
    players = view.rules.players
    for name, seat in (("seat", view.seat), ("dealer", view.dealer)):
        if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < players:
            raise InvalidViewError(f"{name} goes from 0 to {players - 1}, not {seat!r}")
    for entry in view.plays:
        if not 0 <= entry.seat < players:
            raise InvalidViewError(f"a play by seat {entry.seat}, but there are {players} seats")
    if len(view.scores) != view.rules.sides:
        raise InvalidViewError(f"there are {view.rules.sides} scores, not {len(view.scores)}")
    for score in view.scores:
        if not 0 <= score <= view.rules.target:
            raise InvalidViewError(f"a score goes from 0 to {view.rules.target}, not {score}")
    if view.earlier and len(view.earlier) != players:
        raise InvalidViewError(f"earlier cards are counted for {players} seats")
    for cards in view.earlier:
        if not 0 <= cards <= view.rules.kept:
            raise InvalidViewError(f"a seat lays up to {view.rules.kept} cards, not {cards}")


def _check_cards(view: SeatView) -> None:
    rules = view.rules
    played = [entry.card for entry in view.plays if entry.card is not None]
    turned = [] if view.starter is None else [view.starter]
    try:
        parse_cards([*view.hand, *view.discards, *turned, *played])
    except CribbageError as error:
        raise InvalidViewError(f"{error} in the view") from None
    if len(view.discards) > rules.thrown:
        raise InvalidViewError(
            f"each seat throws {rules.thrown}, but the discards are {text(view.discards)}"
        )
    own = sum(1 for entry in view.plays if entry.seat == view.seat and entry.card is not None)
    own += view.earlier[view.seat] if view.earlier else 0
    if _in_play(view):
        if len(view.hand) + own != rules.kept:
            raise InvalidViewError(
                f"seat {view.seat} keeps {rules.kept} cards for the play, but holds "
                f"{len(view.hand)} and has laid {own}"
            )
    elif len(view.hand) + len(view.discards) != rules.dealt:
        raise InvalidViewError(
            f"{rules.dealt} cards are dealt, but the view has {len(view.hand)} in hand and "
            f"{len(view.discards)} thrown"
        )


def _in_play(view: SeatView) -> bool:
    begun = view.starter is not None or bool(view.plays) or any(view.earlier)
    return begun or (len(view.hand) <= view.rules.kept and not view.discards)


def _build(view: SeatView) -> NDArray[np.int64]:
    """The game row of a view, its play replayed by the engine's own steps."""
    rules = view.rules
    row = np.zeros(S.STATE_SIZE, np.int64)
    row[S.WINNER] = -1
    row[S.DEALER] = view.dealer
    row[S.SCORE : S.SCORE + rules.sides] = view.scores
    row[S.STARTER] = -1 if view.starter is None else int(view.starter)
    row[S.LAST] = -1
    row[S.HAND + view.seat] = to_mask(view.hand)
    row[S.THROWN_CARDS + view.seat] = row[S.CRIB] = to_mask(view.discards)
    row[S.HELD : S.HELD + rules.players] = rules.kept
    row[S.TO_ACT] = view.seat
    engine.reset_series(row)
    over = [side for side, score in enumerate(view.scores) if score >= rules.target]
    if len(over) > 1:
        raise InvalidViewError("only one side can have reached the target")
    if _in_play(view):
        row[S.PHASE] = S.Phase.PLAY
        row[S.TO_ACT] = (view.dealer + 1) % rules.players
        own = [e.card for e in view.plays if e.seat == view.seat and e.card is not None]
        row[S.KEPT + view.seat] = to_mask(view.hand) | to_mask(own)
        Replay(view, row).run()
    else:
        row[S.HELD + view.seat] = len(view.hand)
    if over:
        row[S.PHASE] = S.Phase.OVER
        row[S.WINNER] = over[0]
    return row
