"""The play of a view laid again, by the engine's own steps, with the goes that it leaves out.

A front end may know less than the game: a go that leaves no doubt need not be told,
and nobody knows the cards of others. What follows from the play is worked out here;
what contradicts it is refused in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crib_env import engine
from crib_env import state as S
from crib_env.bits import pip, playable
from crib_env.cards import FULL_DECK, Card
from crib_env.errors import InvalidViewError
from crib_env.rules import FIRST_AFTER_GO

if TYPE_CHECKING:
    from crib_env.view import SeatView


class Replay:
    """Lays the cards of a view again, filling in the goes that it leaves out.

    Args:
        view: whose play it is.
        row: int64 ``[STATE_SIZE]``, the game as the seat knows it before the play
            (for `run`) or after it (for `give_turn`); changed in place.
    """

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
