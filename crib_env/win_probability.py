"""The chance to win from a score, as a table, for the standard game of two.

Made by ``crib tables win-probability`` from games of two equal players of
Medium's strength. `deal_starts` is how often such games come to each score, for
whoever wants to begin a deal as real games do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crib_env._jit import lean_njit
from crib_env.errors import InvalidViewError
from crib_env.expectation import DATA
from crib_env.rules import SIX_CARD, Rules

TABLE_FILE = DATA / "win_probability.npz"
_TARGET = SIX_CARD.target


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with np.load(TABLE_FILE) as tables:
        dealing = tables["chances"][1].astype(np.float64)
        # One side's chance is exactly what the other's leaves: rewards sum to nothing.
        chances = np.stack([1.0 - dealing.T, dealing])
        return chances, tables["deal_starts"].astype(np.float64)


def supports(rules: Rules) -> bool:
    """Whether the table is of this game: two players, six cards, to 121."""
    shape = (rules.players, rules.dealt, rules.thrown, rules.target)
    return shape == (SIX_CARD.players, SIX_CARD.dealt, SIX_CARD.thrown, SIX_CARD.target)


def chances_before_deal() -> NDArray[np.float64]:
    """P(win), float64 ``[2, 121, 121]`` by ``[dealing, own score, other score]``, a copy."""
    return _tables()[0].copy()


def deal_starts() -> NDArray[np.float64]:
    """Probability of each score at the start of a deal.

    Returns:
        float64 ``[121, 121]`` by ``[dealer's score, pone's score]``, summing to 1.
    """
    counts = _tables()[1]
    return counts / counts.sum()


def win_probability(own: int, other: int, dealing: bool) -> float:
    """P(win) before a deal.

    Args:
        own: own points, 0 to 121.
        other: the other side's points.
        dealing: whether the deal is one's own.

    Raises:
        InvalidViewError: for a score out of range, or both at the target.

    >>> win_probability(121, 90, dealing=False)
    1.0
    >>> 0.55 < win_probability(0, 0, dealing=True) < 0.57
    True
    """
    target = SIX_CARD.target
    for score in (own, other):
        if not 0 <= score <= target:
            raise InvalidViewError(f"a score goes from 0 to {target}, not {score}")
    if own == target or other == target:
        if own == other:
            raise InvalidViewError("only one side can have reached the target")
        return float(own == target)
    return float(_tables()[0][int(dealing), own, other])


@lean_njit
def chance_to_win(own: int, other: int, dealing: bool, table: np.ndarray) -> float:
    """P(win) before a deal, by the table (`chances_before_deal`), for the kernels."""
    if own >= _TARGET:
        return 1.0
    if other >= _TARGET:
        return 0.0
    return table[1 if dealing else 0, own, other]


@lean_njit
def _fill_chances(
    own: np.ndarray, other: np.ndarray, dealing: np.ndarray, table: np.ndarray, out: np.ndarray
) -> None:
    for at in range(own.shape[0]):
        out[at] = chance_to_win(own[at], other[at], dealing[at], table)


def win_probabilities(
    own: NDArray[np.int64], other: NDArray[np.int64], dealing: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """As `win_probability`, for arrays of one shape: float64, probabilities."""
    out = np.empty(np.shape(own), np.float64)
    _fill_chances(
        np.ravel(own).astype(np.int64, copy=False),
        np.ravel(other).astype(np.int64, copy=False),
        np.ravel(dealing).astype(np.bool_, copy=False),
        _tables()[0],
        out.reshape(-1),
    )
    return out
