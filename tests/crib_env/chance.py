"""Whether shuffles look drawn by chance: the tests of single games and of batches share it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LIKELY = 1e-4
"""The least chance at which a deviation is put down to luck; the seeds are fixed."""

HAND = 6


def every_card_as_likely(hands: NDArray[np.int64]) -> None:
    """Assert that six-card hands, zeros and ones ``[n, 52]``, hold each card as often."""
    found = hands.sum(axis=0)
    assert found.sum() == HAND * len(hands)
    expected = HAND * len(hands) / 52
    # Six cards without repetition vary by 46/51 of what six draws with it would.
    statistic = ((found - expected) ** 2 / expected).sum() * 51 / (52 - HAND)
    assert stats.chi2.sf(statistic, 51) > LIKELY
    assert stats.chi2.cdf(statistic, 51) > LIKELY


def hands_unrelated(one: NDArray[np.int64], other: NDArray[np.int64]) -> None:
    """Assert that pairs of six-card hands, zeros and ones ``[n, 52]``, share cards by luck."""
    shared = (one & other).sum(axis=1)
    found = np.bincount(shared, minlength=HAND + 1)[:4]
    expected = stats.hypergeom(52, HAND, HAND).pmf(range(4))
    rest = len(shared) - found.sum(), 1 - expected.sum()
    outcome = stats.chisquare([*found, rest[0]], np.array([*expected, rest[1]]) * len(shared))
    assert outcome.pvalue > LIKELY


def unrelated(one: NDArray[np.int64], other: NDArray[np.int64], kinds: int) -> None:
    """Assert that pairs of values from 0 to ``kinds``, int ``[n]``, are independent."""
    table = np.zeros((kinds, kinds))
    np.add.at(table, (one, other), 1)
    assert stats.chi2_contingency(table).pvalue > LIKELY
