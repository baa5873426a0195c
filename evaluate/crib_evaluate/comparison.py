"""How two tables of mean cribs differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crib_env.cards import RANKS


@dataclass(frozen=True)
class Comparison:
    """One table of mean cribs against another, over the 91 pairs of ranks alike.

    Attributes:
        mean: mean of ours less theirs, points.
        deviation: standard deviation of ours less theirs, points.
        correlation: of the two tables.
        largest: pairs of ranks with our mean and theirs, the furthest apart first.
    """

    mean: float
    deviation: float
    correlation: float
    largest: tuple[tuple[str, float, float], ...]

    def __str__(self) -> str:
        lines = [
            f"ours less theirs: mean {self.mean:+.3f}, standard deviation {self.deviation:.3f}, "
            f"correlation {self.correlation:.3f}",
            "largest differences:",
        ]
        lines += [
            f"  {ranks}  ours {ours:.2f}  theirs {theirs:.2f}  {ours - theirs:+.2f}"
            for ranks, ours, theirs in self.largest
        ]
        return "\n".join(lines)


def compare_cribs(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], largest: int = 6
) -> Comparison:
    """Compare two tables of mean cribs.

    Args:
        ours, theirs: float64 ``[13, 13]``, points, symmetrical.
        largest: how many of the largest differences to name.
    """
    first, second = np.triu_indices(len(RANKS))
    mine, other = ours[first, second], theirs[first, second]
    difference = mine - other
    order = np.argsort(-np.abs(difference), kind="stable")[:largest]
    return Comparison(
        mean=float(difference.mean()),
        deviation=float(difference.std(ddof=1)),
        correlation=float(np.corrcoef(mine, other)[0, 1]),
        largest=tuple(
            (RANKS[first[at]] + RANKS[second[at]], float(mine[at]), float(other[at]))
            for at in order
        ),
    )
