"""Intervals against values worked out by hand, and against what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crib_evaluate.statistics import Estimate, estimate


def test_by_hand() -> None:
    # Mean 0.5; squares 4 x 0.25 / 5, so the deviation is 0.4472 and the error 0.1826;
    # Student's 97.5 % point with 5 degrees of freedom is 2.5706 in every printed table.
    found = estimate(np.array([0.0, 1.0, 0.5, 0.5, 1.0, 0.0]), 0.0, 1.0)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - 2.5706 * 0.18257, abs=1e-4)
    assert found.high == pytest.approx(0.5 + 2.5706 * 0.18257, abs=1e-4)


def test_stays_in_its_range() -> None:
    # Error 0.1443, t = 3.1824: the upper end would lie at 1.209.
    found = estimate(np.array([1.0, 0.5, 0.5, 1.0]), 0.0, 1.0)
    assert found.low == pytest.approx(0.75 - 3.1824 * 0.14434, abs=1e-4)
    assert found.high == 1.0
    free = estimate(np.array([1.0, 0.5, 0.5, 1.0]))
    assert free.high == pytest.approx(0.75 + 3.1824 * 0.14434, abs=1e-4)


def test_no_spread_is_certain_only_inside_the_range() -> None:
    assert estimate(np.full(50, 0.5), 0.0, 1.0) == Estimate(0.5, 0.5, 0.5)
    assert estimate(np.zeros(50)) == Estimate(0.0, 0.0, 0.0)


def test_winning_everything_is_not_certain() -> None:
    # Clopper and Pearson for 100 of 100: 0.025 ** (1 / 100).
    found = estimate(np.ones(100), 0.0, 1.0)
    assert (found.mean, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.96378, abs=1e-5)
    lost = estimate(np.zeros(100), 0.0, 1.0)
    assert lost.low == 0.0
    assert lost.high == pytest.approx(1 - 0.96378, abs=1e-5)


def test_one_pair_has_no_interval() -> None:
    assert estimate(np.array([1.0]), 0.0, 1.0) == Estimate(1.0, None, None)


def test_holds_the_truth_as_often_as_it_says() -> None:
    chance = np.random.default_rng(1)
    trials, truth = 4000, 0.55
    held = 0
    for _ in range(trials):
        values = chance.choice([0.0, 0.5, 1.0], p=[0.2, 0.5, 0.3], size=40)
        found = estimate(values, 0.0, 1.0)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))
