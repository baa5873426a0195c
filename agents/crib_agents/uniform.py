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
from crib_env.cards import N_CARDS
from crib_env.episodes import PlayOn
from crib_env.observation import offsets, recall, seen_by
from crib_env.randomness import mix
from crib_env.rules import SIX_CARD, Rules
from crib_env.usual import USUAL, is_usual

CHUNK = 256
"""Rows whose cards are chosen together."""
_HAND = 5
"""Cards but one that a seat may choose from, at most."""
_DISCARD = int(S.Phase.DISCARD)
_SCORES = 1 + S.HISTORY_WORDS
_PARTS = _SCORES + S.MAX_SEATS + 3
"""Words that `position_hash` takes in; the scores from `_SCORES` on."""
_SEAT_BITS = sum(1 << 8 * entry + 6 for entry in range(S.ENTRIES_PER_WORD))
"""The seat's lower bit in each entry of a word of the history."""

_FACTORS = np.random.default_rng(0).integers(1 << 63, 1 << 64, _PARTS, np.uint64) | np.uint64(1)
"""Odd, so that no word is lost in its product."""


@small_njit
def position_hash(s: np.ndarray, seed: int) -> int:
    """64 bits that depend on all that a seat knows, and on nothing else.

    Chance in a bot comes from here: the same position gets the same choice, in
    whatever batch, process or order of the hand it comes.

    Args:
        s: what the seat at place 0 knows, as `recall` makes it.
        seed: the bot's own.
    """
    word = mix(seed)
    for at in range(_PARTS):
        word = mix(word ^ _part(s, 0, at))
    return word


@small_njit
def _part(s: np.ndarray, seat: int, at: int) -> int:
    """What `position_hash` takes in at a place, as seen from seat 0, or from either of two."""
    if at == 0:
        return s[S.HISTORY_LENGTH]
    if at < _SCORES:
        laid = s[S.HISTORY_LENGTH] - (at - 1) * S.ENTRIES_PER_WORD
        entries = min(max(laid, 0), S.ENTRIES_PER_WORD)
        return s[S.HISTORY + at - 1] ^ seat * (_SEAT_BITS & ((1 << 8 * entries) - 1))
    if at < _SCORES + S.MAX_SEATS:
        return s[S.SCORE + ((at - _SCORES) ^ seat)]
    if at == _PARTS - 3:
        return s[S.HAND + seat]
    if at == _PARTS - 2:
        return s[S.THROWN_CARDS + seat]
    starter = -1 if s[S.PHASE] == _DISCARD else s[S.STARTER]
    return ((s[S.DEALER] ^ seat) << 8) ^ starter


@small_njit
def pick(cards: int, word: int) -> int:
    """One card of a set, by 64 random bits."""
    # Of 32 bits: a division of 64 takes much longer.
    skip = np.int64(np.uint32((word >> 8) & 0xFFFFFFFF) % np.uint32(popcount(cards)))
    for k in range(_HAND):  # as many steps always: a loop of `skip` cannot be foretold
        cards = cards & (cards - 1) if k < skip else cards
    while skip > _HAND:
        cards &= cards - 1
        skip -= 1
    return lowest(cards)


@lean_njit
def mask_to_set(mask: np.ndarray) -> int:
    """An action mask, int8 ``[52]``, as a card set."""
    cards = 0
    for card in range(N_CARDS):
        cards |= (mask[card] != 0) << card
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
        out[b] = pick(mask_to_set(masks[b]), _quick_hash(s, 0, mix(seed)))


@small_njit
def _quick_hash(s: np.ndarray, seat: int, key: int) -> int:
    """64 bits that depend on what `position_hash` takes in, much sooner.

    A sum of products, of which none waits for another, mixed once.

    Args:
        s: a game of two, or what a seat knows as `recall` makes it.
        seat: whose knowledge; 0 where there is no other's in it.
        key: of the bot's seed.
    """
    word = np.uint64(key)
    for at in range(_PARTS):
        word += np.uint64(_part(s, seat, at)) * _FACTORS[at]
    return mix(word)  # type: ignore[arg-type]


@small_njit
def _seen_hash(s: np.ndarray, r: np.ndarray, known: np.ndarray, key: int) -> int:
    """`_quick_hash` of what the seat to act knows; of two players, without a copy of it."""
    if r[R.PLAYERS] == 2:
        return _quick_hash(s, s[S.TO_ACT], key)
    seen_by(s, r, s[S.TO_ACT], known)
    return _quick_hash(known, 0, key)


@small_njit
def _play_on(
    states: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    known: np.ndarray,
    asked: np.ndarray,
    words: np.ndarray,
    rows: np.ndarray,
    seat: int,
    one_deal: bool,
    skip_forced: bool,
    seed: int,
) -> None:
    """The body of `_random_play_on`."""
    key = mix(seed)
    for first in range(0, rows.shape[0], CHUNK):
        number = 0
        for k in range(first, min(first + CHUNK, rows.shape[0])):
            asked[number] = rows[k]
            number += engine.asks_another(states[rows[k]], seat)
        while number > 0:
            for k in range(number):
                words[k] = _seen_hash(states[asked[k]], r, known, key)
            still = 0
            for k in range(number):
                s = states[asked[k]]
                card = pick(engine.legal(s), words[k])
                engine.apply_on(s, r, card, one_deal, skip_forced, ev)
                asked[still] = asked[k]
                still += engine.asks_another(s, seat)
            number = still


@lean_njit
def _random_play_on(
    states: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    known: np.ndarray,
    asked: np.ndarray,
    words: np.ndarray,
    rows: np.ndarray,
    seat: int,
    one_deal: bool,
    skip_forced: bool,
    seed: int,
) -> None:
    """Play on, see `crib_env.episodes.PlayOn`.

    Some rows at a time, so that what they hash is at hand when they lay.

    Args:
        known: int64 ``[STATE_SIZE]``, room for what a seat knows.
        asked, words: int64 ``[CHUNK]``, room for rows and their chance.
    """
    if is_usual(r):
        _play_on(states, USUAL, ev, known, asked, words, rows, seat, one_deal, skip_forced, seed)
    else:
        _play_on(states, r, ev, known, asked, words, rows, seat, one_deal, skip_forced, seed)


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
        self._known = np.zeros(S.STATE_SIZE, np.int64)
        self._asked = np.zeros(CHUNK, np.int64)
        self._words = np.zeros(CHUNK, np.int64)

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        out = np.zeros(len(observations), np.int64)
        rows = np.ascontiguousarray(observations, np.float32)
        legal = np.ascontiguousarray(masks, np.int8)
        _random_actions(rows, legal, self.rules.to_array(), offsets(self.rules), self.seed, out)
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
            self._words,
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
