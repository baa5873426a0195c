"""One game as an object, in the manner of python-chess, over the compiled engine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_env import engine
from crib_env import state as S
from crib_env.cards import CARDS, Card, from_mask, parse_cards, text
from crib_env.errors import CribbageError, IllegalActionError, InvalidCardError, InvalidViewError
from crib_env.rules import Rules, get_rules
from crib_env.state import EventKind, Phase
from crib_env.view import SeatView

_WORDS = {
    EventKind.DEAL: "deals",
    EventKind.DISCARD: "throws",
    EventKind.STARTER: "turns up",
    EventKind.HEELS: "his heels",
    EventKind.PLAY: "plays",
    EventKind.GO: "says go",
    EventKind.FIFTEEN: "fifteen",
    EventKind.THIRTY_ONE: "thirty-one",
    EventKind.PAIR: "pairs",
    EventKind.RUN: "a run",
    EventKind.GO_POINT: "a go",
    EventKind.LAST_CARD: "last card",
    EventKind.HAND: "the hand",
    EventKind.CRIB: "the crib",
    EventKind.WIN: "wins",
    EventKind.MUGGINS: "muggins",
}
_SAVED_VERSION = 1
# Looking a member up in its enumeration costs more than a whole step of the engine.
_OVER = int(Phase.OVER)
_DEAL_OVER = int(Phase.DEAL_OVER)
_COUNT = int(Phase.COUNT)


@dataclass(frozen=True)
class Event:
    """Something that happened in a game.

    Attributes:
        kind: what it was.
        seat: who did or scored it.
        points: how far the peg moved; less than ``worth`` where the game ended.
        worth: what the cards were worth, in points.
        cards: with which cards, ascending.
        count: the running total then.
        deal: number of the deal, 1 for the first.
    """

    kind: EventKind
    seat: int
    points: int
    worth: int
    cards: tuple[Card, ...]
    count: int
    deal: int

    def __str__(self) -> str:
        parts = [f"seat {self.seat}", _WORDS[self.kind]]
        if self.cards:
            parts.append(text(self.cards))
        if self.kind in (EventKind.PLAY, EventKind.GO):
            parts.append(f"({self.count})")
        if self.worth or self.kind in (EventKind.HAND, EventKind.CRIB):
            parts.append(f"for {self.worth}")
        return " ".join(parts)


class Game:
    """A game from the first deal to the last peg.

    The engine takes every step that is forced by the rules (goes, resets, the
    cut, the show, the next deal) and reports it as an event; a player is only
    asked for cards: to the crib, one at a time, then to the table.

    Args:
        rules: a preset's name, fields, or a `Rules` value.
        seed: makes the shuffles; equal seeds give equal games. None: a new one.
        dealer: the first dealer; None: by the rules (random, or low cut).
        deck: the first cards of the first deck in the order dealt, one at a time
            from the dealer's left, then the starter. Cards not given are shuffled.
        scores: points by side to begin with.

    Raises:
        InvalidRulesError, InvalidCardError, InvalidViewError: for bad arguments.

    >>> game = Game(seed=7, dealer=0)
    >>> game.to_act, game.phase, len(game.legal_actions())
    (1, 'discard', 6)
    >>> game.apply(game.legal_actions()[0])
    >>> len(game.last_events)
    1
    """

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "six-card",
        seed: int | None = None,
        *,
        dealer: int | None = None,
        deck: str | Iterable[str | int] | None = None,
        scores: Sequence[int] | None = None,
    ) -> None:
        self.rules = get_rules(rules)
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
        self.seed = whole_number(seed, "seed")
        self._dealer = check_dealer(dealer, self.rules)
        self._deck = check_deck(deck, self.rules)
        self._scores = check_scores(scores, self.rules)
        self._buffer = np.zeros((S.EVENT_CAPACITY, S.EVENT_WIDTH), np.int64)
        self._row = np.zeros(S.STATE_SIZE, np.int64)
        self._raw: list[tuple[int, NDArray[np.int64]]] = []
        self._past: list[tuple[NDArray[np.int64], int]] = []
        self._actions: list[int] = []  # cards, and claims as -1 - points
        self._begin()

    def _begin(self) -> None:
        dealer = -1 if self._dealer is None else self._dealer
        self._buffer[0, 0] = 0
        engine.start(
            self._row, self.rules.to_array(), game_seed(self.seed), dealer, self._deck, self._buffer
        )
        if self._scores is not None:
            self._row[S.SCORE : S.SCORE + self.rules.sides] = self._scores
        self.first_dealer = int(self._row[S.DEALER])
        self._keep_events()

    def _keep_events(self) -> int:
        number = int(self._buffer[0, 0])
        deal = int(self._row[S.DEAL_NUMBER])
        self._raw.append((deal, self._buffer[1 : number + 1].copy()))
        return number

    @property
    def to_act(self) -> int:
        """The seat that decides next; the last to act once the game is over."""
        return int(self._row[S.TO_ACT])

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return int(self._row[S.DEALER])

    @property
    def deal(self) -> int:
        """Number of the deal, 1 for the first."""
        return int(self._row[S.DEAL_NUMBER])

    @property
    def phase(self) -> str:
        """``discard``, ``play``, ``count`` (with manual counting) or ``over``."""
        return Phase(int(self._row[S.PHASE])).name.lower()

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by side: by seat, or by team."""
        return tuple(int(x) for x in self._row[S.SCORE : S.SCORE + self.rules.sides])

    @property
    def count(self) -> int:
        """The running total of the series."""
        return int(self._row[S.COUNT])

    @property
    def starter(self) -> Card | None:
        """The card turned up, once all have thrown."""
        return None if self.phase == "discard" else CARDS[int(self._row[S.STARTER])]

    @property
    def is_over(self) -> bool:
        """Whether somebody has reached the target."""
        return bool(self._row[S.PHASE] == _OVER)

    @property
    def winner(self) -> int | None:
        """The side that reached the target (the seat, without teams)."""
        side = int(self._row[S.WINNER])
        return None if side < 0 else side

    @property
    def actions(self) -> tuple[Card | int, ...]:
        """All cards laid down since the game began, and the points claimed as plain numbers."""
        return tuple(CARDS[card] if card >= 0 else -1 - card for card in self._actions)

    @property
    def to_count(self) -> tuple[Card, ...]:
        """What `to_act` has to count: his hand, or the crib after it; empty in other phases."""
        if self._row[S.PHASE] != _COUNT:
            return ()
        hand_shown = (int(self._row[S.SHOWN]) >> self.to_act) & 1
        return from_mask(int(self._row[S.CRIB if hand_shown else S.KEPT + self.to_act]))

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, oldest first, as a referee sees it."""
        return tuple(event for deal, rows in self._raw for event in _decode(rows, deal))

    @property
    def last_events(self) -> tuple[Event, ...]:
        """What the last card laid down caused, the steps forced by the rules included."""
        since = self._past[-1][1] if self._past else 0
        return tuple(event for deal, rows in self._raw[since:] for event in _decode(rows, deal))

    def events_for(self, seat: int) -> tuple[Event, ...]:
        """The events as a seat sees them: without the cards that others threw."""
        self._check_seat(seat)
        return tuple(
            event
            if event.kind != EventKind.DISCARD or event.seat == seat
            else Event(event.kind, event.seat, 0, 0, (), 0, event.deal)
            for event in self.events
        )

    def hand(self, seat: int) -> tuple[Card, ...]:
        """The cards that a seat holds."""
        self._check_seat(seat)
        return from_mask(int(self._row[S.HAND + seat]))

    def legal_actions(self) -> list[Card]:
        """The cards that `to_act` may lay down, ascending; none once the game is over."""
        rest = int(engine.legal(self._row))
        cards = []
        while rest:
            low = rest & -rest
            cards.append(CARDS[low.bit_length() - 1])
            rest ^= low
        return cards

    def apply(self, card: str | int) -> None:
        """The seat to act lays down a card: to the crib before the starter, then to the table.

        What followed from it is in `last_events`.

        Raises:
            IllegalActionError: when that card may not be laid down now.
            InvalidCardError: when it is no card.
        """
        chosen = card if type(card) is Card else Card(card)
        row = self._row
        if not (int(engine.legal(row)) >> chosen) & 1:
            raise IllegalActionError(self._refusal(chosen))
        self._take(int(chosen))

    def claim(self, points: int) -> None:
        """The seat to act claims points for `to_count` (with manual counting).

        It pegs what it claims, but no more than the cards are worth; with muggins the
        other side pegs what the claim missed.

        Raises:
            IllegalActionError: when nothing is to be counted, or for a number out of range.
        """
        if self._row[S.PHASE] != _COUNT:
            raise IllegalActionError("there is nothing to count now")
        if isinstance(points, bool) or not isinstance(points, int | np.integer):
            raise IllegalActionError(f"a claim is a number of points, not {points!r}")
        if not 0 <= points <= engine.MOST_POINTS:
            raise IllegalActionError(
                f"a claim goes from 0 to {engine.MOST_POINTS} points, not {points}"
            )
        self._take(-1 - int(points))

    def _take(self, action: int) -> None:
        row = self._row
        self._past.append((row.copy(), len(self._raw)))
        self._buffer[0, 0] = 0
        before = int(row[S.DEAL_NUMBER])
        if action >= 0:
            engine.apply(row, self.rules.to_array(), action, self._buffer)
        else:
            engine.claim(row, self.rules.to_array(), -1 - action, self._buffer)
        self._actions.append(action)
        happened = self._buffer[1 : int(self._buffer[0, 0]) + 1].copy()
        self._raw.append((before, happened))
        if row[S.PHASE] == _DEAL_OVER:
            self._buffer[0, 0] = 0
            engine.settle(row, self.rules.to_array(), False, False, self._buffer)
            self._keep_events()

    def _refusal(self, card: Card) -> str:
        if self.is_over:
            return "the game is over"
        seat = self.to_act
        if self._row[S.PHASE] == _COUNT:
            return f"seat {seat} has to claim points for {text(self.to_count)}"
        if card not in self.hand(seat):
            return f"seat {seat} does not hold {card}, but {text(self.hand(seat))}"
        return f"{card} would take the count from {self.count} to {self.count + card.pip}, past 31"

    def undo(self) -> None:
        """Take back the last card laid down, with all that followed from it.

        Raises:
            IllegalActionError: when no card has been laid down.
        """
        if not self._past:
            raise IllegalActionError("there is nothing to undo")
        self._row, events = self._past.pop()
        del self._raw[events:]
        self._actions.pop()

    def view(self, seat: int) -> SeatView:
        """What a seat sees now."""
        self._check_seat(seat)
        return SeatView.of(self._row, self.rules, seat)

    def state(self) -> NDArray[np.int64]:
        """The whole game as the engine has it, int64 ``[STATE_SIZE]``, a copy."""
        return self._row.copy()

    def copy(self) -> Game:
        """An independent game in the same position, with the same future shuffles."""
        twin = object.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin._row = self._row.copy()
        twin._buffer = self._buffer.copy()
        twin._raw = list(self._raw)
        twin._past = list(self._past)
        twin._actions = list(self._actions)
        return twin

    __copy__ = copy

    def to_json(self) -> str:
        """The game as text: how it began and every card laid down since."""
        return json.dumps(
            {
                "version": _SAVED_VERSION,
                "rules": self.rules.to_json(),
                "seed": self.seed,
                "dealer": self._dealer,
                "deck": [str(CARDS[card]) for card in self._deck],
                "scores": None if self._scores is None else list(self._scores),
                "actions": [str(a) if isinstance(a, Card) else a for a in self.actions],
            }
        )

    @classmethod
    def from_json(cls, saved: str) -> Game:
        """A game from `to_json`, every card checked as it is laid down again.

        Raises:
            InvalidViewError: when the text is damaged or of another version.
            IllegalActionError: when it holds a card that was not legal.
        """
        try:
            data = json.loads(saved)
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidViewError(f"this is no saved game: {error}") from None
        if not isinstance(data, dict) or not is_version(data.get("version"), _SAVED_VERSION):
            raise InvalidViewError(f"this is no saved game of version {_SAVED_VERSION}")
        wanted = {"rules", "seed", "dealer", "deck", "scores", "actions"}
        if missing := wanted - data.keys():
            raise InvalidViewError(f"the saved game lacks {', '.join(sorted(missing))}")
        if not isinstance(data["actions"], list):
            raise InvalidViewError("the actions of a saved game are a list of cards")
        game = cls(
            data["rules"],
            whole_number(data["seed"], "seed"),
            dealer=data["dealer"],
            deck=data["deck"],
            scores=data["scores"],
        )
        for action in data["actions"]:
            if isinstance(action, str):
                game.apply(action)
            else:
                game.claim(action)
        return game

    def _check_seat(self, seat: int) -> None:
        known = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if not known or seat not in range(self.rules.players):
            raise InvalidViewError(
                f"seats go from 0 to {self.rules.players - 1}, there is no seat {seat!r}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return (
            self.rules == other.rules
            and self._actions == other._actions
            and bool(np.array_equal(self._row, other._row))
            and self.events == other.events
        )

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        name = self.rules.to_json()
        score = "-".join(str(points) for points in self.scores)
        lines = [
            f"<Game {name if isinstance(name, str) else 'own rules'}, {score}, deal {self.deal}"
        ]
        if self.is_over:
            lines[0] += f", won by {'side' if self.rules.teams else 'seat'} {self.winner}"
        else:
            lines[0] += f", {self.phase}, seat {self.to_act} to act"
        for seat in range(self.rules.players):
            role = " (dealer)" if seat == self.dealer else ""
            lines.append(f"  seat {seat}{role}: {text(self.hand(seat)) or '-'}")
        if self.starter is not None:
            series = self.view(0).series
            lines.append(f"  starter {self.starter}, count {self.count}: {text(series) or '-'}")
        return "\n".join(lines) + ">"


def _decode(rows: NDArray[np.int64], deal: int) -> list[Event]:
    events = []
    for kind, seat, points, worth, cards, count in rows.tolist():
        what = EventKind(kind)
        events.append(Event(what, seat, points, worth, from_mask(cards), count, deal))
    return events


def game_seed(seed: int) -> int:
    """The 64 bits that start a game's generator, well apart for neighbouring seeds."""
    word = np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.int64)
    return int(word[0])


def is_version(value: Any, version: int) -> bool:
    """Whether a saved text is of a version (``true`` is no number here, although Python's is)."""
    return type(value) is int and value == version


def whole_number(value: Any, name: str) -> int:
    """A number from 0, checked."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InvalidViewError(f"{name} is a whole number from 0, not {value!r}")
    return int(value)


def check_dealer(dealer: Any, rules: Rules) -> int | None:
    """A first dealer, or None for one by the rules."""
    if dealer is None:
        return None
    if whole_number(dealer, "dealer") >= rules.players:
        raise InvalidViewError(f"the dealer is a seat from 0 to {rules.players - 1}, not {dealer}")
    return int(dealer)


def check_deck(deck: Any, rules: Rules) -> NDArray[np.int64]:
    """The first cards of a deck, int64 ``[up to 52]``; None for a whole shuffle."""
    try:
        cards = parse_cards(() if deck is None else deck)
    except CribbageError as error:
        raise InvalidCardError(f"in the deck {error}") from None
    return np.array([int(card) for card in cards], np.int64)


def check_scores(scores: Any, rules: Rules) -> tuple[int, ...] | None:
    """Starting points by side, all below the target."""
    if scores is None:
        return None
    try:
        points = tuple(whole_number(score, "a score") for score in scores)
    except TypeError:
        raise InvalidViewError(f"scores are a list of numbers, not {scores!r}") from None
    if rules.thrown == 0:
        raise InvalidViewError("where nobody throws, the cut comes with the deal: begin at nought")
    if len(points) != rules.sides:
        raise InvalidViewError(f"there are {rules.sides} scores, not {len(points)}")
    for score in points:
        if score >= rules.target:
            raise InvalidViewError(f"a game begins below the target {rules.target}, not at {score}")
    return points
