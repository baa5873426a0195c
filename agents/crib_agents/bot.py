"""What a player is. It sees a `SeatView` or an observation, never a game.

Both forms of a player give the same card. `BatchBot` derives the single form
from the batched one, `ViewBot` the batched one from the single.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crib_env import engine
from crib_env import state as S
from crib_env.cards import CARDS, Card
from crib_env.observation import observation_size, observe, offsets, recall, write_mask
from crib_env.rules import SIX_CARD, Rules
from crib_env.view import SeatView


class BotError(ValueError):
    """A bot that does not exist, cannot be made, or does not fit the game."""


@runtime_checkable
class Bot(Protocol):
    """A player, one decision at a time.

    Attributes:
        name: what to call it.
    """

    name: str

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        """All the cards to throw: two, or one where one is thrown; none is thrown yet."""
        ...

    def play(self, view: SeatView) -> Card:
        """The card to lay; asked only when there is a legal one."""
        ...

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions.

        Args:
            observations: float32 ``[B, D]``.
            masks: int8 ``[B, 52]``, 1 where legal.

        Returns:
            int64 ``[B]``, cards by index.
        """
        ...


def encode(view: SeatView) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Observation float32 ``[D]`` and mask int8 ``[52]`` of the decision that a view asks for."""
    row = view.for_decision()
    observation = np.zeros(observation_size(view.rules), np.float32)
    observe(row, view.rules.to_array(), view.seat, offsets(view.rules), observation)
    mask = np.zeros(52, np.int8)
    cards = int(engine.legal(row)) if row[S.TO_ACT] == view.seat else 0
    write_mask(cards, mask.view(np.uint32))
    return observation, mask


def decode(observation: NDArray[np.float32], rules: Rules) -> SeatView:
    """The view behind an observation, its seats counted from the observer's own."""
    row = np.zeros(S.STATE_SIZE, np.int64)
    recall(observation, rules.to_array(), offsets(rules), row)
    return SeatView.of(row, rules, 0)


def after_throwing(view: SeatView, card: Card) -> SeatView:
    """The view once its seat has thrown a card."""
    return replace(
        view,
        hand=tuple(held for held in view.hand if held != card),
        discards=tuple(sorted((*view.discards, card))),
    )


def same_play(one: Rules, other: Rules) -> bool:
    """Whether a player sees and chooses alike under two rules: all but how hands are claimed."""
    plain = [replace(rules, counting="automatic", muggins=False) for rules in (one, other)]
    return np.array_equal(plain[0].to_array(), plain[1].to_array())


class _Named:
    """What all our bots share: a name, and options that can be set."""

    name: str = "bot"
    rules: Rules = SIX_CARD

    def options(self) -> dict[str, Any]:
        """The options that `set_options` takes, with their present values."""
        return {}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Change options.

        Raises:
            BotError: for an unknown option or a value out of range.
        """
        for name in options:
            raise BotError(f"{self.name} has no option {name!r}")


class BatchBot(_Named, ABC):
    """A player that decides in batches; the single form follows from it."""

    @abstractmethod
    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""

    def _one(self, view: SeatView) -> Card:
        observation, mask = encode(view)
        return CARDS[int(self.actions(observation[None], mask[None])[0])]

    def discard(self, view: SeatView) -> tuple[Card, ...]:
        """All the cards to throw, ascending."""
        thrown: list[Card] = []
        while len(view.discards) < view.rules.thrown:
            card = self._one(view)
            thrown.append(card)
            view = after_throwing(view, card)
        return tuple(sorted(thrown))

    def play(self, view: SeatView) -> Card:
        """The card to lay."""
        return self._one(view)


class ViewBot(_Named, ABC):
    """A player that decides one view at a time; the batched form follows from it."""

    @abstractmethod
    def discard(self, view: SeatView) -> tuple[Card, ...]:
        """All the cards to throw, see `Bot.discard`."""

    @abstractmethod
    def play(self, view: SeatView) -> Card:
        """The card to lay, see `Bot.play`."""

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        chosen = np.zeros(len(observations), np.int64)
        for at, observation in enumerate(observations):
            view = decode(observation, self.rules)
            chosen[at] = self._throw_next(view) if view.phase == "discard" else self.play(view)
        return chosen

    def _throw_next(self, view: SeatView) -> Card:
        """The next card of a discard: it is always asked for whole, with all cards in hand."""
        whole = replace(view, hand=tuple(sorted((*view.hand, *view.discards))), discards=())
        return min(card for card in self.discard(whole) if card not in view.discards)
