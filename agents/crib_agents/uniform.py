"""Uniformly random play: the floor of every ladder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot, BotError, same_play
from crib_env import engine
from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, njit, small_njit
from crib_env.bits import lowest, popcount
from crib_env.episodes import PlayOn
from crib_env.observation import offsets, recall, seen_by
from crib_env.rules import SIX_CARD, Rules

CHUNK = 64
"""Rows whose cards are chosen together."""
_PLAY = int(S.Phase.PLAY)
_SEAT_BITS = sum(1 << 8 * entry + 6 for entry in range(S.ENTRIES_PER_WORD))
"""The seat's lower bit in each entry of a word of the history."""


@small_njit
def position_hash(s: np.ndarray, seed: int) -> int:
    """64 bits that depend on all that a seat knows, and on nothing else.

    Chance in a bot comes from here: the same position gets the same choice, in
    whatever batch, process or order of the hand it comes.

    Args:
        s: what the seat at place 0 knows, as `recall` makes it.
        seed: the bot's own.
    """
    return _hash_from(s, 0, s[S.STARTER], seed)


@small_njit
def _hash_from(s: np.ndarray, seat: int, starter: int, seed: int) -> int:
    """The same as seen from seat 0, or from either of two."""
    word = engine.mix(seed)
    left = s[S.HISTORY_LENGTH]
    word = engine.mix(word ^ left)
    for at in range(S.HISTORY_WORDS):
        entries = min(left, S.ENTRIES_PER_WORD)
        left -= entries
        turned = seat * (_SEAT_BITS & ((1 << 8 * entries) - 1))
        word = engine.mix(word ^ s[S.HISTORY + at] ^ turned)
    for side in range(S.MAX_SEATS):
        word = engine.mix(word ^ s[S.SCORE + (side ^ seat)])
    word = engine.mix(word ^ s[S.HAND + seat])
    word = engine.mix(word ^ s[S.THROWN_CARDS + seat])
    return engine.mix(word ^ ((s[S.DEALER] ^ seat) << 8) ^ starter)


@small_njit
def _random_card(s: np.ndarray, r: np.ndarray, known: np.ndarray, seed: int) -> int:
    """The card of the seat to act, which knows what `seen_by` would write.

    Of two players that is hashed as it stands in the game.
    """
    seat = s[S.TO_ACT]
    if r[R.PLAYERS] == 2:
        word = _hash_from(s, seat, s[S.STARTER] if s[S.PHASE] == _PLAY else -1, seed)
    else:
        seen_by(s, r, seat, known)
        word = position_hash(known, seed)
    return pick(engine.legal(s), word)


@small_njit
def pick(cards: int, word: int) -> int:
    """One card of a set, by 64 random bits."""
    skip = ((word >> 8) & 0xFFFFFFFF) % popcount(cards)
    while skip > 0:
        cards &= cards - 1
        skip -= 1
    return lowest(cards)


@lean_njit
def mask_to_set(mask: np.ndarray) -> int:
    """An action mask, int8 ``[52]``, as a card set."""
    cards = 0
    for card in range(mask.shape[0]):
        if mask[card]:
            cards |= 1 << card
    return cards


@njit
def _random_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    r: np.ndarray,
    at: np.ndarray,
    seed: int,
    out: np.ndarray,
) -> None:
    s = np.zeros(S.STATE_SIZE, np.int64)
    for b in range(observations.shape[0]):
        recall(observations[b], r, at, s)
        out[b] = pick(mask_to_set(masks[b]), position_hash(s, seed))


@lean_njit
def _random_play_on(
    states: np.ndarray,
    r: np.ndarray,
    ev: np.ndarray,
    known: np.ndarray,
    asked: np.ndarray,
    cards: np.ndarray,
    rows: np.ndarray,
    seat: int,
    one_deal: bool,
    skip_forced: bool,
    seed: int,
) -> None:
    """Play on, see `crib_env.episodes.PlayOn`.

    In turns: the cards of several rows are chosen, then all are laid. One choice does not
    wait for another, so that the processor works on several at once.

    Args:
        known: int64 ``[STATE_SIZE]``, room for what a seat knows.
        asked, cards: int64 ``[CHUNK]``, room for rows and their cards.
    """
    for first in range(0, rows.shape[0], CHUNK):
        number = 0
        for k in range(first, min(first + CHUNK, rows.shape[0])):
            asked[number] = rows[k]
            number += engine.asks_another(states[rows[k]], seat)
        while number > 0:
            for k in range(number):
                cards[k] = _random_card(states[asked[k]], r, known, seed)
            still = 0
            for k in range(number):
                s = states[asked[k]]
                engine.apply_on(s, r, cards[k], one_deal, skip_forced, ev)
                asked[still] = asked[k]
                still += engine.asks_another(s, seat)
            number = still


class RandomBot(BatchBot):
    """Lays any legal card, each as likely as the others.

    Args:
        rules: the game that it plays.
        seed: of its chance; equal seeds make equal choices in equal positions.
    """

    name = "random"

    def __init__(self, rules: Rules = SIX_CARD, seed: int = 0) -> None:
        self.rules = rules
        self.seed = check_seed(seed)
        self._settings = rules.to_array()
        self._offsets = offsets(rules)
        self._known = np.zeros(S.STATE_SIZE, np.int64)
        self._asked = np.zeros(CHUNK, np.int64)
        self._cards = np.zeros(CHUNK, np.int64)

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        out = np.zeros(len(observations), np.int64)
        rows = np.ascontiguousarray(observations, np.float32)
        legal = np.ascontiguousarray(masks, np.int8)
        _random_actions(rows, legal, self._settings, self._offsets, self.seed, out)
        return out

    def in_engine(self, rules: Rules) -> PlayOn | None:
        """How it plays without observations, see `crib_env.episodes.Opponent`."""
        return self._play_on if same_play(self.rules, rules) else None

    def _play_on(
        self,
        states: NDArray[np.int64],
        rules_row: NDArray[np.int64],
        rows: NDArray[np.int64],
        seat: int,
        one_deal: bool,
        skip_forced: bool,
    ) -> None:
        _random_play_on(
            states,
            rules_row,
            engine.NO_EVENTS,
            self._known,
            self._asked,
            self._cards,
            rows,
            seat,
            one_deal,
            skip_forced,
            self.seed,
        )


def check_seed(seed: Any) -> int:
    """A bot's seed.

    Raises:
        BotError: when it is no whole number of up to 63 bits.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 63:
        raise BotError(f"a seed is a whole number from 0, not {seed!r}")
    return int(seed)


def make_random(rules: Rules = SIX_CARD, seed: int = 0) -> RandomBot:
    """The random player."""
    return RandomBot(rules, seed)
