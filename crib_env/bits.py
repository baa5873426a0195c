"""Card sets as bits, for the kernels: four bits a rank, one a suit.

The functions work alike compiled and as plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from crib_env._jit import small_njit

EACH_RANK = sum(1 << 4 * rank for rank in range(13))
"""The clubs: the lowest bit of each rank's four."""


def trailing_zeros(word: int) -> int:
    """How many bits below the lowest that is set; of a word that is not nothing."""
    return int(word & -word).bit_length() - 1


def set_bits(word: int) -> int:
    """How many bits are set, of a word that is not negative."""
    return int(word).bit_count()


@intrinsic
def _cttz(_context: Any, _word: Any) -> Any:
    """The machine's own instruction."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


@intrinsic
def _ctpop(_context: Any, _word: Any) -> Any:
    """The machine's own instruction."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), build


@overload(trailing_zeros, strict=False)
def _compiled_trailing_zeros(word: Any) -> Any:
    return lambda word: _cttz(np.int64(word))  # type: ignore[call-arg]


@overload(set_bits, strict=False)
def _compiled_set_bits(word: Any) -> Any:
    return lambda word: _ctpop(np.int64(word))  # type: ignore[call-arg]


@small_njit
def lowest(mask: int) -> int:
    """The lowest card of a set that is not empty."""
    return trailing_zeros(mask)


@small_njit
def popcount(mask: int) -> int:
    """How many cards a set holds."""
    return set_bits(mask)


@small_njit
def rank_count(mask: int, rank: int) -> int:
    """How many cards of a rank a set holds, 0 to 4."""
    return set_bits((mask >> (4 * rank)) & 15)


@small_njit
def pip(card: int) -> int:
    """What a card counts in the play, 1 to 10."""
    return min((card >> 2) + 1, 10)


@small_njit
def playable(hand: int, count: int) -> int:
    """The cards of a hand that do not take the count past 31."""
    room = 31 - count
    if room >= 10:
        return hand
    return hand & ((1 << (4 * room)) - 1)
