"""Card sets as bits, for the kernels: four bits a rank, one a suit.

The functions work alike compiled and as plain Python.
"""

from __future__ import annotations

import numpy as np

from crib_env._jit import njit
from crib_env.cards import N_CARDS

EACH_RANK = sum(1 << 4 * rank for rank in range(13))
"""The clubs: the lowest bit of each rank's four."""

_LOW_BIT = np.zeros(67, np.int64)
for _card in range(N_CARDS):
    # 67 is prime and 2 generates its residues: every power of two has its own place.
    _LOW_BIT[(1 << _card) % 67] = _card

_NIBBLE_COUNT = np.array([bin(i).count("1") for i in range(16)], np.int64)


@njit
def lowest(mask: int) -> int:
    """The lowest card of a set that is not empty."""
    return _LOW_BIT[(mask & -mask) % 67]


@njit
def popcount(mask: int) -> int:
    """How many cards a set holds."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit
def rank_count(mask: int, rank: int) -> int:
    """How many cards of a rank a set holds, 0 to 4."""
    return _NIBBLE_COUNT[(mask >> (4 * rank)) & 15]


@njit
def pip(card: int) -> int:
    """What a card counts in the play, 1 to 10."""
    return min((card >> 2) + 1, 10)


@njit
def playable(hand: int, count: int) -> int:
    """The cards of a hand that do not take the count past 31."""
    room = 31 - count
    if room >= 10:
        return hand
    return hand & ((1 << (4 * room)) - 1)
