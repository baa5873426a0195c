"""The usual rules as constants, for the kernels that most of the time goes into.

A kernel reads the rules from memory and asks them at every turn how many players there are. An
array that is a global is a constant of the compiled code, if it cannot be written: then the
compiler knows the answers, writes out loops over two seats and drops whole branches. Such a kernel
has its body in a function of its own, put where it is called, and calls it twice: with
`USUAL` where `is_usual`, else with the rules as they are.
"""

from __future__ import annotations

import numpy as np

from crib_env import rules as R
from crib_env._jit import small_njit

USUAL = R.SIX_CARD.to_array()
"""Two players, six cards, to 121: see `crib_env.rules.Rules.to_array`."""


@small_njit
def is_usual(r: np.ndarray) -> bool:
    """Whether the rules are those of `USUAL`."""
    others = 0
    for setting in range(R.N_SETTINGS):
        others += r[setting] != USUAL[setting]
    return others == 0
