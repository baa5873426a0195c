"""What the other of two may hold: hands drawn in accordance with all that was seen.

Six cards are drawn, those that the other has laid among them; Medium throws two
of them; the hand is taken where Medium kept all that was laid and nothing that would
have fitted when the other said go. Where another card would clearly have been better
than one that was laid, it is taken the less often.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from crib_agents.heuristic import MEDIUM, choose, play_value, unseen_cards
from crib_env import engine
from crib_env import state as S
from crib_env._jit import njit
from crib_env.bits import EACH_RANK, lowest, pip, playable, popcount
from crib_env.cards import FULL_DECK
from crib_env.expectation import CRIB_MEANS, place_of_ranks
from crib_env.randomness import next_random
from crib_env.rules import SIX_CARD, Rules

DEALT, KEPT = SIX_CARD.dealt, SIX_CARD.kept
_THROWN = DEALT - KEPT
_TRIES = 60
"""Draws for each hand wanted, after which hands are taken that Medium would not have kept."""
_SUITED = 4
"""So many cards of a suit may be kept for a flush, so ranks alone do not tell what is thrown."""

_CLEARLY = 0.5
"""Points by which one card is better than another in the eyes of any sound player."""

_DISCARD = int(S.Phase.DISCARD)
_PLAY = int(S.Phase.PLAY)
_BELOW_TEN = playable(FULL_DECK, 22)


@njit
def throw_two(s: np.ndarray, r: np.ndarray, p: np.ndarray, cribs: np.ndarray) -> int:
    """What the heuristic throws from the hand at place 0, as a set; the row is changed."""
    for _ in range(_THROWN):
        card = choose(s, r, s[S.HAND], p, cribs, 0)
        s[S.HAND] ^= 1 << card
        s[S.THROWN_CARDS] |= 1 << card
    return s[S.THROWN_CARDS]


@njit
def _thrown_from(
    six: int, dealing: int, s: np.ndarray, r: np.ndarray, p: np.ndarray, cribs: np.ndarray
) -> int:
    """What the heuristic throws from six cards; ``s`` is a row to work with."""
    s[:] = 0
    s[S.PHASE] = _DISCARD
    s[S.DEALER] = 1 - dealing
    s[S.HAND] = six
    return throw_two(s, r, p, cribs)


@njit
def _fill_throws(table: np.ndarray, r: np.ndarray, p: np.ndarray, cribs: np.ndarray) -> None:
    s = np.zeros(S.STATE_SIZE, np.int64)
    for a in range(13):
        for b in range(a, 13):
            for c in range(b, 13):
                for d in range(c, 13):
                    for e in range(d, 13):
                        for f in range(e, 13):
                            # Suits in turn: no flush, and four of a rank fit.
                            six = 1 << 4 * a | 2 << 4 * b | 4 << 4 * c
                            six |= 8 << 4 * d | 1 << 4 * e | 2 << 4 * f
                            if popcount(six) < DEALT:
                                continue
                            for dealing in range(2):
                                thrown = _thrown_from(six, dealing, s, r, p, cribs)
                                first = lowest(thrown) >> 2
                                second = lowest(thrown & (thrown - 1)) >> 2
                                table[dealing, place_of_ranks(six)] = first << 4 | second


@lru_cache
def usual_throws(rules: Rules) -> NDArray[np.uint8]:
    """What Medium throws from six ranks that make no flush.

    Returns:
        uint8 ``[2, 18564]`` by ``[dealing, place_of_ranks]``: two ranks in hexadecimal digits.
    """
    table = np.zeros((2, comb(18, DEALT)), np.uint8)
    _fill_throws(table, rules.to_array(), MEDIUM.to_array(), CRIB_MEANS)
    return table


@njit
def _one_of_rank(cards: int, rank: int) -> int:
    of_rank = cards & (15 << (4 * rank))
    return of_rank & -of_rank


@njit
def _suited(cards: int) -> bool:
    most = 0
    for suit in range(4):
        most = max(most, popcount(cards & (EACH_RANK << suit)))
    return most >= _SUITED


@njit
def barred_cards(s: np.ndarray, seat: int) -> int:
    """The cards that a seat cannot hold, since it said go when they would have fitted."""
    barred = 0
    count = 0
    gone = 0
    for at in range(s[S.HISTORY_LENGTH]):
        entry = engine.history_entry(s, at)
        who = entry >> 6
        card = entry & 63
        if card == S.SAID_GO:
            gone |= 1 << who
            if who == seat:
                some = playable(FULL_DECK, count)
                # Callers have been seen to tell of a go where every card fits: tens are
                # likeliest then.
                barred |= some if some != FULL_DECK else _BELOW_TEN
            continue
        if count + pip(card) > 31 or (gone >> who) & 1:
            count = 0
            gone = 0
        count += pip(card)
        if count == 31:
            count = 0
            gone = 0
    return barred


@njit
def laid_by(s: np.ndarray, seat: int) -> int:
    """The cards that a seat has laid in this deal, as a set."""
    cards = 0
    for at in range(s[S.HISTORY_LENGTH]):
        entry = engine.history_entry(s, at)
        if entry >> 6 == seat and entry & 63 != S.SAID_GO:
            cards |= 1 << (entry & 63)
    return cards


@njit
def _find_choices(s: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> int:
    """The other's choices in the play so far, as it saw them, but for its hidden cards.

    Args:
        s: what the seat at place 0 knows, as `recall` makes it.
        rows: int64 ``[4, STATE_SIZE]``, set to the positions, with the other at place 0.
        chosen: int64 ``[4]``, set to the cards laid there.

    Returns:
        How many there were.
    """
    number = 0
    row = np.zeros(S.STATE_SIZE, np.int64)
    row[S.PHASE] = _PLAY
    row[S.DEALER] = 1 - s[S.DEALER]
    row[S.STARTER] = s[S.STARTER]
    row[S.HELD] = KEPT
    row[S.HELD + 1] = KEPT
    engine.reset_series(row)
    for at in range(s[S.HISTORY_LENGTH]):
        entry = engine.history_entry(s, at)
        who = 1 - (entry >> 6)
        card = entry & 63
        if card == S.SAID_GO:
            row[S.GONE] |= 1 << who
            engine.remember(row, who, card)
            continue
        if row[S.COUNT] == 31 or row[S.COUNT] + pip(card) > 31 or (row[S.GONE] >> who) & 1:
            engine.reset_series(row)
        if who == 0:
            rows[number] = row
            chosen[number] = card
            number += 1
        engine.add_to_series(row, who, card)
    return number


@njit
def _is_odd(s: np.ndarray, r: np.ndarray, laid: int, p: np.ndarray) -> bool:
    """Whether another card was clearly better than the one laid, in the heuristic's eyes."""
    unseen = unseen_cards(s)
    enough = play_value(s, r, laid, unseen, p) + _CLEARLY
    cards = playable(s[S.HAND], s[S.COUNT])
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if card >> 2 != laid >> 2 and play_value(s, r, card, unseen, p) > enough:
            return True
    return False


@njit
def _odd_choices(
    rows: np.ndarray,
    chosen: np.ndarray,
    number: int,
    kept: int,
    thrown: int,
    r: np.ndarray,
    p: np.ndarray,
) -> int:
    """How many of the other's choices were odd, had it kept and thrown these."""
    odd = 0
    hand = kept
    for at in range(number):
        row = rows[at]
        row[S.HAND] = hand
        row[S.THROWN_CARDS] = thrown
        if _is_odd(row, r, chosen[at], p):
            odd += 1
        hand ^= 1 << chosen[at]
    return odd


@njit
def _list_cards(cards: int, out: np.ndarray) -> int:
    number = 0
    while cards:
        out[number] = lowest(cards)
        cards &= cards - 1
        number += 1
    return number


@njit
def _draw_from(deck: np.ndarray, size: int, number: int, used: int, chance: np.ndarray) -> int:
    """A set of ``number`` cards of a list, none of them in ``used``."""
    word = next_random(chance)
    bits = 48
    cards = 0
    while number > 0:
        card = deck[((word & 0xFFFF) * size) >> 16]
        if not ((cards | used) >> card) & 1:
            cards |= 1 << card
            number -= 1
        word >>= 16
        bits -= 16
        if bits < 0:
            word = next_random(chance)
            bits = 48
    return cards


@njit
def draw_hands(
    s: np.ndarray,
    r: np.ndarray,
    throws: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    strays: float,
    seed: int,
    held: np.ndarray,
    thrown: np.ndarray,
    weights: np.ndarray,
) -> int:
    """Draw hands that the other of two players may hold.

    Args:
        s: what the seat at place 0 knows in the play, as `recall` makes it.
        r: settings of the rules.
        throws: see `usual_throws`.
        p, cribs: the heuristic that throws and lays.
        strays: how often hands are taken with which a card laid was clearly worse than
            another, for each such card; 1 to conclude nothing from what was laid.
        seed: 64 bits.
        held: int64 ``[N]``, set to the cards that the other still holds, as sets.
        thrown: int64 ``[N]``, set to what it threw to the crib.
        weights: float64 ``[N]``, set to how much each counts.

    Returns:
        How many were found, at least one and at most ``N``.
    """
    wanted = held.shape[0]
    chance = np.zeros(S.STATE_SIZE, np.int64)
    chance[S.RANDOM] = seed
    work = np.zeros(S.STATE_SIZE, np.int64)
    unseen = unseen_cards(s)
    laid = laid_by(s, 1)
    number = s[S.HELD + 1]
    dealing = s[S.DEALER]
    allowed = unseen & ~barred_cards(s, 1)
    if popcount(allowed) < number:
        allowed = unseen
    free = allowed == unseen
    deck = np.zeros(52, np.int64)
    possible = np.zeros(52, np.int64)
    size = _list_cards(unseen, deck)
    choices = _list_cards(allowed, possible)
    rows = np.zeros((KEPT, S.STATE_SIZE), np.int64)
    chosen = np.zeros(KEPT, np.int64)
    past = _find_choices(s, rows, chosen) if strays < 1.0 else 0
    found = 0
    for _ in range(_TRIES * wanted):
        hand = _draw_from(possible, choices, number, 0, chance)
        others = _draw_from(deck, size, _THROWN, hand, chance)
        six = laid | hand | others
        if _suited(six):
            away = _thrown_from(six, dealing, work, r, p, cribs)
        else:
            ranks = throws[dealing, place_of_ranks(six)]
            away = _one_of_rank(six, ranks >> 4)
            away |= _one_of_rank(six ^ away, ranks & 15)
        kept = six ^ away
        if laid & ~kept or (kept & ~laid) & ~allowed:
            continue
        odd = _odd_choices(rows, chosen, past, kept, away, r, p)
        if odd and (next_random(chance) >> 11) & 0xFFFF >= 0x10000 * strays**odd:
            continue
        held[found] = kept ^ laid
        thrown[found] = away
        weights[found] = 1.0
        if not free:
            # Six cards of which more might be held are drawn in so many more ways.
            weights[found] = 1.0 / _ways(popcount((hand | others) & allowed), number)
        found += 1
        if found == wanted:
            return found
    while found < (wanted + 3) // 4:
        held[found] = _draw_from(possible, choices, number, 0, chance)
        thrown[found] = _draw_from(deck, size, _THROWN, held[found], chance)
        weights[found] = 1.0 / _ways(number + _THROWN, number)
        found += 1
    return found


@njit
def _ways(cards: int, number: int) -> float:
    """In how many ways ``number`` cards are drawn from ``cards``."""
    ways = 1.0
    for taken in range(number):
        ways = ways * (cards - taken) / (taken + 1)
    return ways
