"""Players made of others, to find out where a player is strong.

Two as one: the first throws, the second lays. And a player told that the score is
0-0: what it plays worse than with its eyes open is its board sense.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot
from crib_env.cards import Card
from crib_env.observation import NEAR, split
from crib_env.rules import SIX_CARD, Rules
from crib_env.view import SeatView


class ComposedBot:
    """Discards as one player and plays as another.

    Args:
        throws: asked for the discards.
        lays: asked for the cards of the play.
        rules: the game that both play.
    """

    def __init__(self, throws: Bot, lays: Bot, rules: Rules = SIX_CARD) -> None:
        self.throws = throws
        self.lays = lays
        self.rules = rules
        self.name = composed_name(throws.name, lays.name)

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        """All the cards to throw, see `Bot.discard`."""
        return self.throws.discard(view)

    def play(self, view: SeatView) -> Card:
        """The card to lay, see `Bot.play`."""
        return self.lays.play(view)

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        out = np.zeros(len(observations), np.int64)
        playing = split(observations, self.rules)["phase"][:, -1] > 0
        for bot, rows in ((self.throws, ~playing), (self.lays, playing)):
            if rows.any():
                out[rows] = bot.actions(observations[rows], masks[rows])
        return out


class BlindBot:
    """A player that takes every score for 0-0, amid a deal as well.

    Args:
        player: is asked.
        rules: the game that it plays.
    """

    def __init__(self, player: Bot, rules: Rules = SIX_CARD) -> None:
        self.player = player
        self.rules = rules
        self.name = BLIND + player.name

    def _blinded(self, view: SeatView) -> SeatView:
        return replace(view, scores=(0,) * self.rules.sides)

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        """All the cards to throw, see `Bot.discard`."""
        return self.player.discard(self._blinded(view))

    def play(self, view: SeatView) -> Card:
        """The card to lay, see `Bot.play`."""
        return self.player.play(self._blinded(view))

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        seen = observations.copy()
        pieces = split(seen, self.rules)
        pieces["scores"][:] = 0
        pieces["to_go"][:] = min(self.rules.target, NEAR) / NEAR
        return self.player.actions(seen, masks)


BLIND = "blind:"
"""A name that begins so is that of a `BlindBot`."""


def composed_name(throws: str, lays: str) -> str:
    """What the two are called together.

    >>> composed_name("hard", "search")
    'discard:hard+play:search'
    """
    return f"discard:{throws}+play:{lays}"


def parts_of(name: str) -> tuple[str, str] | None:
    """The names of the two players in such a name; None where it is none.

    >>> parts_of("discard:hard+play:search"), parts_of("hard")
    (('hard', 'search'), None)
    """
    throws, plus, lays = name.removeprefix("discard:").partition("+play:")
    return (throws, lays) if plus and name.startswith("discard:") else None
