"""How many points the parts of a deal bring, as distributions, for the standard game of two.

Made by ``crib tables deal-points`` from Medium's games with itself: what a side
pegs in the play, what its hand shows, and what a crib is worth by the two ranks
that one side throws to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crib_env.expectation import DATA

DEAL_POINTS_FILE = DATA / "deal_points.npz"

MOST_PEGGED = 39
"""The distributions end here; more is counted as this."""
MOST_SHOWN = 29


@dataclass(frozen=True)
class DealPoints:
    """Probabilities by points; along its last axis each array sums to 1.

    Attributes:
        pegged: in the play by one side, float64 ``[2, 40]`` by ``[dealing, points]``.
        hand: at the show by one hand, float64 ``[2, 30]`` by ``[dealing, points]``.
        crib: of a crib, float64 ``[2, 13, 13, 30]`` by ``[own crib, rank, rank, points]``
            of the cards thrown, over every hand of the other side and every starter.
    """

    pegged: NDArray[np.float64]
    hand: NDArray[np.float64]
    crib: NDArray[np.float64]


@lru_cache(maxsize=1)
def deal_points() -> DealPoints:
    """The library's table."""
    with np.load(DEAL_POINTS_FILE) as tables:
        return DealPoints(*(_shares(tables[name]) for name in ("pegged", "hand", "crib")))


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True), np.float64)
