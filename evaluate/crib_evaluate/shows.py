"""What hands and crib show for many discards and many hidden cards at once."""

from __future__ import annotations

import numpy as np

from crib_env._jit import njit
from crib_env.bits import lowest
from crib_env.cards import FULL_DECK
from crib_env.expectation import mean_show
from crib_env.scoring import show_points


@njit
def count_shows(
    six: int,
    throws: np.ndarray,
    dealing: bool,
    other_keeps: np.ndarray,
    other_throws: np.ndarray,
    starters: np.ndarray,
    r: np.ndarray,
    sampled: np.ndarray,
    means: np.ndarray,
) -> None:
    """Net points of the show: own hand less the other's, plus or minus the crib.

    Args:
        six: set of the cards dealt to oneself.
        throws: sets of the two thrown, int64 ``[C]``.
        dealing: whether the crib is one's own.
        other_keeps, other_throws: sets of the other side's cards, int64 ``[N]``.
        starters: cards, int64 ``[N]``.
        r: settings of the rules.
        sampled: float64 ``[C, N]``, set to the points with that starter.
        means: float64 ``[C, N]``, set to the mean points of hands and crib: of the own
            hand over the starters outside ``six``, of the other's and of the crib over
            those outside both hands.
    """
    sign = 1 if dealing else -1
    for k in range(starters.shape[0]):
        keep, thrown, starter = other_keeps[k], other_throws[k], starters[k]
        seen = six | keep | thrown
        other = show_points(keep, starter, False, r)
        other_mean = mean_show(keep, seen, r)
        for c in range(throws.shape[0]):
            own = six & ~throws[c]
            crib = throws[c] | thrown
            points = show_points(own, starter, False, r) - other
            sampled[c, k] = points + sign * show_points(crib, starter, True, r)
            total = 0
            number = 0
            rest = FULL_DECK & ~seen
            while rest:
                total += show_points(crib, lowest(rest), True, r)
                number += 1
                rest &= rest - 1
            means[c, k] = sign * total / number - other_mean
    for c in range(throws.shape[0]):
        means[c] += mean_show(six & ~throws[c], six, r)
