"""Players for the tests of the match, most of them faulty. They can be pickled."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot, BotError


class Lowest(BatchBot):
    """Lays its lowest legal card."""

    name = "lowest"

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        return masks.argmax(axis=1)


class Restless(BatchBot):
    """Draws from a generator of its own, so its choices depend on what it was asked before."""

    name = "restless"

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        return (masks * self.chance.random(masks.shape)).argmax(axis=1)


class Scribbler(Lowest):
    """Writes into what it is handed."""

    name = "scribbler"

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        cards = super().actions(observations, masks)
        observations[:] = 0
        masks[:] = 1
        return cards


class Faulty(BatchBot):
    """Answers with whatever a function makes of the masks."""

    def __init__(self, answer: Callable[[NDArray[np.int8]], Any]) -> None:
        self.name = "faulty"
        self.answer = answer

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.answer(masks)
        return found


class Crashing(BatchBot):
    """Fails in worker processes only, after the rehearsal here."""

    name = "crashing"

    def __init__(self, hard: bool) -> None:
        self.home = os.getpid()
        self.hard = hard

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        if os.getpid() != self.home:
            if self.hard:
                os._exit(3)
            raise BotError("out of ideas")
        return masks.argmax(axis=1)


def first_illegal(masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """Legal everywhere but in the last row."""
    cards = masks.argmax(axis=1)
    cards[-1] = masks[-1].argmin()
    return cards


def illegal_and_allowed(masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """As `first_illegal`, and the mask changed so that the card looks legal."""
    cards = first_illegal(masks)
    masks[:] = 1
    return cards
