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
from crib_env.bits import pip, playable
from crib_env.cards import CARDS, FULL_DECK, Card, from_mask, parse_cards, text, to_mask
from crib_env.errors import CribbageError, InvalidViewError
from crib_env.rules import FIRST_AFTER_GO, SIX_CARD, Rules, get_rules


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
            _Replay(self, row).give_turn()
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
        _Replay(view, row).run()
    else:
        row[S.HELD + view.seat] = len(view.hand)
    if over:
        row[S.PHASE] = S.Phase.OVER
        row[S.WINNER] = over[0]
    return row


class _Replay:
    """Lays the cards of a view again, filling in the goes that it leaves out."""

    def __init__(self, view: SeatView, row: NDArray[np.int64]) -> None:
        self.view = view
        self.rules = view.rules
        self.settings = view.rules.to_array()
        self.row = row
        self.at = 0

    def run(self) -> None:
        """Lay every card of the view."""
        players = self.rules.players
        if self.view.earlier:
            for seat in range(players):
                self.row[S.HELD + seat] -= self.view.earlier[seat]
        for at, entry in enumerate(self.view.plays):
            self.at = at
            if entry.card is None:
                self._go(entry.seat)
            else:
                self._lay(entry.seat, entry.card)
        self.at = len(self.view.plays)
        if self.row[S.PHASE] == S.Phase.PLAY:
            self._settle()

    def _lay(self, seat: int, card: Card) -> None:
        row = self.row
        if row[S.PHASE] != S.Phase.PLAY:
            raise InvalidViewError(f"seat {seat} lays {card} after the play has ended")
        if row[S.HELD + seat] == 0:
            raise InvalidViewError(f"seat {seat} lays {card} but has no card left")
        if row[S.SERIES_LENGTH] and (row[S.COUNT] + card.pip > 31 or self._shut_out(seat)):
            past = row[S.COUNT] + card.pip
            made = f", which makes {past}, past 31" if past > 31 else ""
            self._close(f"seat {seat} lays {card} on a count of {row[S.COUNT]}{made}")
        if row[S.SERIES_LENGTH]:
            if (row[S.GONE] >> seat) & 1:
                raise InvalidViewError(f"seat {seat} said go but then lays {card} on that series")
            self._take_turn(seat)
        elif seat != row[S.TO_ACT] and not (self.view.earlier and self.at == 0):
            raise InvalidViewError(f"seat {seat} leads {card}, but seat {row[S.TO_ACT]} leads")
        engine.add_to_series(row, seat, int(card))
        if row[S.COUNT] == 31 or not row[S.HELD : S.HELD + self.rules.players].any():
            self._end_series()
        else:
            row[S.TO_ACT] = (seat + 1) % self.rules.players

    def _shut_out(self, seat: int) -> bool:
        """Whether only another seat may go on after a go."""
        return bool(self.row[S.SOLO] >= 0 and self.row[S.SOLO] != seat)

    def _go(self, seat: int) -> None:
        row = self.row
        if row[S.HELD + seat] == 0 or (row[S.GONE] >> seat) & 1:
            return
        if row[S.SERIES_LENGTH] == 0:
            # Some front ends log the go of the seat that played last as well, after the reset.
            if self.at and self.view.plays[self.at - 1].card is None:
                return
            raise InvalidViewError(f"seat {seat} says go on an empty count")
        if seat == row[S.LAST]:
            self._close(f"seat {seat} says go on a count of {row[S.COUNT]}")
            return
        # Below 21 every card fits; at 21 as well, but the published example of the wire
        # message has a go there, so front ends may copy it.
        self._check_stuck(seat)
        if row[S.COUNT] < 21:
            raise InvalidViewError(
                f"seat {seat} says go on a count of {row[S.COUNT]}, where every card fits"
            )
        self._pass_to(seat)
        self._say_go(seat)

    def _pass_to(self, seat: int) -> None:
        """Every seat between the last card and ``seat`` must have said go."""
        row = self.row
        players = self.rules.players
        step = 1
        while (row[S.LAST] + step) % players != seat:
            self._must_go((int(row[S.LAST]) + step) % players)
            step += 1
        row[S.TO_ACT] = seat

    def _take_turn(self, seat: int) -> None:
        """The seat lays the next card, and after a go alone where the rules say so."""
        self._pass_to(seat)
        if self.settings[FIRST_AFTER_GO] and self.row[S.GONE]:
            self.row[S.SOLO] = seat

    def _must_go(self, seat: int) -> None:
        row = self.row
        shut_out = row[S.SOLO] >= 0 and row[S.SOLO] != seat
        if row[S.HELD + seat] > 0 and not (row[S.GONE] >> seat) & 1 and not shut_out:
            self._check_room(seat)
            self._say_go(seat)

    def _check_room(self, seat: int) -> None:
        """No go is inferred where every card fits. One that the view tells of is believed."""
        count = int(self.row[S.COUNT])
        if playable(FULL_DECK, count) == FULL_DECK:
            raise InvalidViewError(f"seat {seat} cannot have passed on a count of {count}")

    def _say_go(self, seat: int) -> None:
        self._check_stuck(seat)
        engine.say_go(self.row, seat, engine.NO_EVENTS)

    def _check_stuck(self, seat: int) -> None:
        """A seat that passes may not hold a card that fits, as far as the view tells."""
        later = [
            e.card for e in self.view.plays[self.at :] if e.seat == seat and e.card is not None
        ]
        known = [*later, *(self.view.hand if seat == self.view.seat else ())]
        room = 31 - int(self.row[S.COUNT])
        for card in known:
            if pip(int(card)) <= room:
                raise InvalidViewError(
                    f"seat {seat} passed on a count of {self.row[S.COUNT]} but held {card}, "
                    "which could be played"
                )

    def _close(self, because: str) -> None:
        """The series is over although the count is below 31: nobody could play."""
        row = self.row
        players = self.rules.players
        last = int(row[S.LAST])
        try:
            for step in range(1, players):
                self._must_go((last + step) % players)
            if row[S.HELD + last] > 0:
                self._check_stuck(last)
        except InvalidViewError as error:
            raise InvalidViewError(f"{because}, but {error}") from None
        self._close_series()

    def _close_series(self) -> None:
        last = int(self.row[S.LAST])
        if self.row[S.HELD + last] > 0:
            engine.remember(self.row, last, S.SAID_GO)
        self._end_series()

    def _end_series(self) -> None:
        row = self.row
        leader = int(engine.next_leader(row, self.settings))
        engine.reset_series(row)
        if leader < 0 or self.rules.play_single_count:
            row[S.PHASE] = S.Phase.DEAL_OVER
        else:
            row[S.TO_ACT] = leader

    def _settle(self) -> None:
        """After the last entry: whose turn it is, as far as this seat can tell."""
        row = self.row
        if row[S.SERIES_LENGTH] == 0:
            return
        players = self.rules.players
        last = int(row[S.LAST])
        for step in range(1, players + 1):
            seat = (last + step) % players
            if row[S.HELD + seat] == 0 or (row[S.GONE] >> seat) & 1 or self._shut_out(seat):
                continue
            fits = playable(int(row[S.HAND + seat]), int(row[S.COUNT]))
            if fits or seat != self.view.seat:
                row[S.TO_ACT] = seat
                return
            if seat != last:
                self._say_go(seat)
        self._close_series()

    def give_turn(self) -> None:
        """It is this seat's turn, so the others have passed, although the view does not say it."""
        row = self.row
        seat = self.view.seat
        self.at = len(self.view.plays)
        if row[S.SERIES_LENGTH] == 0:
            if any(self.view.earlier) and not self.view.plays:
                row[S.TO_ACT] = seat  # who leads depends on cards that the view does not have
            return
        fits = playable(int(row[S.HAND + seat]), int(row[S.COUNT]))
        if fits and not (row[S.GONE] >> seat) & 1 and not self._shut_out(seat):
            self._take_turn(seat)
        elif ((row[S.GONE] >> seat) & 1 or self._shut_out(seat)) and engine.next_leader(
            row, self.settings
        ) == seat:
            if row[S.HELD + row[S.LAST]] > 0:
                self._check_room(int(row[S.LAST]))
            self._close("it is your turn")


def seat_knowledge(row: NDArray[np.int64], rules: Rules, seat: int) -> NDArray[np.int64]:
    """What a seat knows of a game, as a game row: int64 ``[STATE_SIZE]``."""
    return SeatView.of(row, rules, seat).to_state()
