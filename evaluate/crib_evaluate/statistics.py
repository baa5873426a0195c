"""A mean and how sure one can be of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
"""Chance that an interval made this way holds the true mean."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        mean: of the sample.
        low, high: the interval; None where one value alone says nothing of it.
    """

    mean: float
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, float | None]:
        """The three numbers by name."""
        return asdict(self)


def estimate(
    values: NDArray[np.float64], lowest: float = -math.inf, highest: float = math.inf
) -> Estimate:
    """The mean of independent values, with Student's interval.

    Where all values lie at an end of their range, as when one player wins every
    game, they do not vary, and Student's interval would claim to be certain. The
    interval is then the exact one (Clopper and Pearson) for how often a value
    lies there.

    Args:
        values: float64 ``[n]``, one for each pair of mirrored games.
        lowest, highest: the range of a value; the interval stays inside it.

    >>> found = estimate(np.array([1.0, 0.5, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0]), 0.0, 1.0)
    >>> f"{found.mean} in {found.low:.3f} to {found.high:.3f}"
    '0.625 in 0.329 to 0.921'
    """
    number = len(values)
    mean = float(values.mean())
    if number < 2:
        return Estimate(mean, None, None)
    doubt = (1 - CONFIDENCE) / 2
    if np.ptp(values) == 0:
        width = (highest - lowest) * (1 - doubt ** (1 / number))
        low = highest - width if mean == highest else mean
        high = lowest + width if mean == lowest else mean
        return Estimate(mean, low, high)
    from scipy.special import stdtrit  # a third of a second, so only where it is needed

    half = float(stdtrit(number - 1, 1 - doubt)) * float(values.std(ddof=1)) / math.sqrt(number)
    return Estimate(mean, max(lowest, mean - half), min(highest, mean + half))
