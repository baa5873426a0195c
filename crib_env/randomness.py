"""Where chance comes from: SplitMix64, a generator of 64 bits in one word of each game."""

from __future__ import annotations

import numpy as np

from crib_env import state as S
from crib_env._jit import small_njit
from crib_env.cards import N_CARDS

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@small_njit
def mix(word: int) -> int:
    """Scramble 64 bits (the output step of SplitMix64), for hashes and draws."""
    z = np.uint64(word)
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return np.int64(z ^ (z >> np.uint64(31)))  # type: ignore[return-value]


@small_njit
def next_random(s: np.ndarray) -> int:
    """Advance the game's generator and return its next 64 bits."""
    s[S.RANDOM] = np.int64(np.uint64(s[S.RANDOM]) + _GAMMA)
    return mix(s[S.RANDOM])


@small_njit
def draw(s: np.ndarray, used: int) -> int:
    """A card that is not in ``used``, each as likely as the others."""
    while True:
        card = (next_random(s) >> 58) & 63
        if card < N_CARDS and not (used >> card) & 1:
            return card
