"""Many games at once, and no Python per game: the core of every environment and match."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_env import engine
from crib_env import state as S
from crib_env._jit import lean_njit
from crib_env.cards import N_CARDS
from crib_env.errors import IllegalActionError
from crib_env.observation import observation_size, observe, offsets, write_mask
from crib_env.rules import SIX_CARD, Rules

Rows = NDArray[np.int64]
"""Places in a batch, int64 ``[n]``."""


@lean_njit
def _start(
    states: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seeds: np.ndarray,
    dealers: np.ndarray,
    deck: np.ndarray,
    ev: engine.Events,
) -> None:
    for k in range(rows.shape[0]):
        engine.start(states[rows[k]], r, seeds[k], dealers[k], deck, ev)


@lean_njit
def _apply(
    states: np.ndarray, r: np.ndarray, rows: np.ndarray, cards: np.ndarray, ev: engine.Events
) -> int:
    """Lay one card in each row; the place of the first illegal one stops it, else -1."""
    for k in range(rows.shape[0]):
        s = states[rows[k]]
        card = cards[k]
        if card < 0 or card >= N_CARDS or not (engine.legal(s) >> card) & 1:
            return k
        engine.apply(s, r, card, ev)
    return -1


@lean_njit
def _legal(states: np.ndarray, rows: np.ndarray, cards: np.ndarray, out: np.ndarray) -> None:
    for k in range(rows.shape[0]):
        inside = 0 <= cards[k] < N_CARDS
        out[k] = inside and (engine.legal(states[rows[k]]) >> cards[k]) & 1


@lean_njit
def _settle(
    states: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    one_deal: bool,
    skip_forced: bool,
    ev: engine.Events,
) -> None:
    for k in range(rows.shape[0]):
        engine.settle(states[rows[k]], r, one_deal, skip_forced, ev)


@lean_njit
def _observe(
    states: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    at: np.ndarray,
    out: np.ndarray,
    masks: np.ndarray,
) -> None:
    for k in range(rows.shape[0]):
        s = states[rows[k]]
        observe(s, r, seats[k], at, out[k])
        write_mask(engine.legal(s) if seats[k] == s[S.TO_ACT] else 0, masks[k])


@lean_njit
def _next_deal(
    states: np.ndarray, r: np.ndarray, rows: np.ndarray, deck: np.ndarray, ev: engine.Events
) -> None:
    for k in range(rows.shape[0]):
        engine.next_deal(states[rows[k]], r, deck, ev)


class GameBatch:
    """A batch of games under the same rules.

    Attributes:
        states: int64 ``[B, STATE_SIZE]``, see `crib_env.state`.
        rules_row: the rules as the kernels read them, see `Rules.to_array`.

    Args:
        size: how many games.
        rules: the rules of all of them.
        one_deal: stop each game at the end of a deal.
        skip_forced: lay a card that is the only legal one.
    """

    def __init__(
        self,
        size: int,
        rules: Rules = SIX_CARD,
        *,
        one_deal: bool = False,
        skip_forced: bool = True,
    ) -> None:
        self.rules = rules
        self.one_deal = one_deal
        self.skip_forced = skip_forced
        self.states: NDArray[np.int64] = np.zeros((size, S.STATE_SIZE), np.int64)
        self.all_rows: Rows = np.arange(size, dtype=np.int64)
        self.observation_size = observation_size(rules)
        self._take_rules()

    def _take_rules(self) -> None:
        self.rules_row = self.rules.to_array()
        self.offsets = offsets(self.rules)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copied or unpickled: arrays that are not to be written are not those of the copy.

        Compiled code takes an array that can be written for one of another type, and
        would be compiled once more for it.
        """
        self.__dict__.update(state)
        self._take_rules()

    def start(self, rows: Rows, seeds: NDArray[np.int64], dealers: NDArray[np.int64]) -> None:
        """Begin new games.

        Args:
            rows: int64 ``[n]``.
            seeds: int64 ``[n]``, 64 random bits each.
            dealers: int64 ``[n]``, first dealers; -1 for one by the rules.
        """
        _start(self.states, self.rules_row, rows, seeds, dealers, engine.NO_DECK, engine.NO_EVENTS)

    def start_one(self, row: int, seed: int, dealer: int, deck: NDArray[np.int64]) -> None:
        """Begin one game, with the first cards of its deck given."""
        engine.start(self.states[row], self.rules_row, seed, dealer, deck, engine.NO_EVENTS)

    def next_deal(self, rows: Rows) -> None:
        """Go on after the end of a deal, where games stop there (``one_deal``)."""
        _next_deal(self.states, self.rules_row, rows, engine.NO_DECK, engine.NO_EVENTS)

    def settle(self, rows: Rows) -> None:
        """Go on to the next decision: single legal cards, new deals."""
        _settle(
            self.states, self.rules_row, rows, self.one_deal, self.skip_forced, engine.NO_EVENTS
        )

    def apply(self, rows: Rows, cards: NDArray[np.int64]) -> None:
        """Lay a card in each row and go on to the next decision.

        Raises:
            IllegalActionError: when there is not a card by index for each row, or when one
                is not legal there; later rows are untouched.
        """
        if cards.shape != rows.shape or cards.dtype.kind not in "iu":
            raise IllegalActionError(
                f"{len(rows)} cards by index are to be laid, not {cards.dtype} {list(cards.shape)}"
            )
        given = np.ascontiguousarray(cards, np.int64)
        wrong = _apply(self.states, self.rules_row, rows, given, engine.NO_EVENTS)
        if wrong >= 0:
            raise IllegalActionError(f"card {cards[wrong]} is not legal in game {rows[wrong]}")
        self.settle(rows)

    def legal(self, rows: Rows, cards: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each card may be laid in its row, bool ``[n]``."""
        allowed = np.empty(len(rows), np.bool_)
        _legal(self.states, rows, cards, allowed)
        return allowed

    def observe(
        self, rows: Rows, seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """What seats see, and what they may do.

        Returns:
            Observations float32 ``[n, D]`` and masks int8 ``[n, 52]``, fresh arrays;
            a mask is all ones where that seat has nothing to choose.
        """
        observations = np.empty((len(rows), self.observation_size), np.float32)
        masks = np.empty((len(rows), N_CARDS), np.int8)
        _observe(
            self.states,
            self.rules_row,
            rows,
            seats,
            self.offsets,
            observations,
            masks.view(np.uint32),
        )
        return observations, masks

    @property
    def to_act(self) -> NDArray[np.int64]:
        """Seat to act, int64 ``[B]``."""
        return self.states[:, S.TO_ACT]

    @property
    def dealer(self) -> NDArray[np.int64]:
        """Dealer, int64 ``[B]``."""
        return self.states[:, S.DEALER]

    @property
    def over(self) -> NDArray[np.bool_]:
        """Whether somebody reached the target, bool ``[B]``."""
        return self.states[:, S.PHASE] == S.Phase.OVER

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Whether nobody is to act: the game is over, or the deal where one is played."""
        return self.states[:, S.PHASE] >= S.Phase.DEAL_OVER

    @property
    def winner(self) -> NDArray[np.int64]:
        """Winning side, int64 ``[B]``; -1 while there is none."""
        return self.states[:, S.WINNER]

    @property
    def scores(self) -> NDArray[np.int64]:
        """Points by side, int64 ``[B, sides]``."""
        return self.states[:, S.SCORE : S.SCORE + self.rules.sides]

    @property
    def tally(self) -> NDArray[np.int64]:
        """Points pegged by seat and `crib_env.state.Source`, int64 ``[B, players, sources]``."""
        columns = self.states[:, S.TALLY : S.TALLY + S.N_SOURCES * self.rules.players]
        return columns.reshape(len(self.states), self.rules.players, S.N_SOURCES)
