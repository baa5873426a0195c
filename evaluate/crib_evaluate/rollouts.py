"""What a discard brings: the deal played out from it, by the player in both seats.

Every discard is tried on the same hidden cards, so that the luck of the deal falls on
all alike, and what hands and crib show is counted over all starters where that is
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot, after_throwing, encode
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.cards import CARDS, N_CARDS, Card, to_mask
from crib_env.expectation import CRIB_MEANS, crib_value, mean_show
from crib_env.rules import SIX_CARD
from crib_env.view import SeatView
from crib_env.win_probability import win_probabilities
from crib_evaluate.mirrored import ask
from crib_evaluate.shows import count_shows

Floats = NDArray[np.float64]
Throw = tuple[Card, Card]
"""Two cards, ascending."""

OWN, OTHER = 0, 1
"""Seats."""
HIDDEN = SIX_CARD.dealt + 1
"""Cards that a rollout deals: the other hand and the starter."""

_AT_ONCE = 8192
"""Rollouts played side by side."""
_PEGGED = [S.Source.HEELS, S.Source.PLAY_DEALER, S.Source.PLAY_PONE]


@dataclass(frozen=True)
class Setting:
    """A discard to be made, in the six-card game of two.

    Attributes:
        cards: the six that were dealt, ascending.
        dealing: whether the crib is one's own.
        scores: points of oneself and of the other.
    """

    cards: tuple[Card, ...]
    dealing: bool
    scores: tuple[int, int] = (0, 0)

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return OWN if self.dealing else OTHER

    def view(self) -> SeatView:
        """What the thrower sees.

        Raises:
            InvalidViewError: where the cards or the scores cannot be.
        """
        return SeatView(OWN, self.dealer, self.cards, self.scores)

    def throws(self) -> tuple[Throw, ...]:
        """All 15 discards."""
        return tuple(combinations(self.cards, 2))

    def means(self) -> dict[Throw, float]:
        """Each discard's exact mean show, plus or minus the mean crib by its ranks, in points."""
        six, r = to_mask(self.cards), SIX_CARD.to_array()
        sign, table = (1 if self.dealing else -1), CRIB_MEANS[int(self.dealing)]
        found = {}
        for throw in self.throws():
            thrown = to_mask(throw)
            crib = float(crib_value(thrown, r, table))
            found[throw] = float(mean_show(six ^ thrown, six, r)) + sign * crib
        return found


@dataclass(frozen=True)
class Rollouts:
    """What discards brought. ``[C, N]``: each on the same ``N`` deals.

    Attributes:
        points: net points of the deal, hands and crib by their means, float64 ``[C, N]``.
            All of the show counts, even where the game would be over before.
        wins: the chance to win after the deal, float64 ``[C, N]``. A rollout's may lie a
            little outside 0 to 1: the luck of the show is taken out of it, which leaves
            the mean as it is.
    """

    points: Floats
    wins: Floats

    def some(self, which: Sequence[int] | NDArray[np.int64]) -> Rollouts:
        """Those of some discards."""
        return Rollouts(self.points[which], self.wins[which])


def throw_of(bot: Bot, setting: Setting) -> Throw:
    """What a player throws.

    Raises:
        BotError: when it fails, see `ask`.
    """
    view = setting.view()
    for _ in range(SIX_CARD.thrown):
        observation, mask = encode(view)
        card = CARDS[int(ask(bot, observation[None], mask[None])[0])]
        view = after_throwing(view, card)
    first, second = view.discards
    return first, second


def play_out(
    bot: Bot,
    setting: Setting,
    throws: Sequence[Throw],
    rollouts: int,
    random: np.random.Generator,
) -> Rollouts:
    """Play deals out from each of some discards.

    Args:
        bot: throws for the other side, and plays for both.
        setting: where the discard is made.
        throws: the discards to try.
        rollouts: deals for each.
        random: of the hidden cards.

    Raises:
        BotError: when the player fails, see `ask`.
    """
    step = max(1, _AT_ONCE // len(throws))
    parts = [
        _play_part(bot, setting, throws, min(step, rollouts - first), random)
        for first in range(0, rollouts, step)
    ]
    return Rollouts(
        np.concatenate([part.points for part in parts], axis=1),
        np.concatenate([part.wins for part in parts], axis=1),
    )


def _play_part(
    bot: Bot,
    setting: Setting,
    throws: Sequence[Throw],
    number: int,
    random: np.random.Generator,
) -> Rollouts:
    dealt = _deal(setting, number, random)
    batch = GameBatch(number * len(throws), SIX_CARD, one_deal=True)
    batch.states[:] = np.tile(dealt.states, (len(throws), 1))
    _discard(bot, batch, np.array(throws, np.int64), number)
    acting = batch.all_rows[~batch.stopped]
    while len(acting):
        batch.apply(acting, ask(bot, *batch.observe(acting, batch.to_act[acting])))
        acting = acting[~batch.stopped[acting]]
    thrown = batch.states[:number, S.THROWN_CARDS + OTHER]
    shape = (len(throws), number)
    sampled, means = np.empty(shape), np.empty(shape)
    count_shows(
        to_mask(setting.cards),
        np.array([to_mask(throw) for throw in throws], np.int64),
        setting.dealing,
        dealt.states[:, S.HAND + OTHER] ^ thrown,
        thrown,
        dealt.states[:, S.STARTER],
        SIX_CARD.to_array(),
        sampled,
        means,
    )
    pegged = batch.tally[:, :, _PEGGED].sum(axis=2)
    scores = batch.scores
    dealing_next = np.full(len(scores), not setting.dealing)
    wins = win_probabilities(scores[:, OWN], scores[:, OTHER], dealing_next).reshape(shape)
    return Rollouts(
        points=(pegged[:, OWN] - pegged[:, OTHER]).reshape(shape) + means,
        wins=wins - _worth(setting) * (sampled - means),
    )


def _deal(setting: Setting, number: int, random: np.random.Generator) -> GameBatch:
    """Deals with the hidden cards drawn, before anybody throws."""
    batch = GameBatch(number, SIX_CARD, one_deal=True)
    unseen = np.setdiff1d(np.arange(N_CARDS), setting.cards)
    hidden = random.permuted(np.tile(unseen, (number, 1)), axis=1)[:, :HIDDEN]
    in_hands = 2 * SIX_CARD.dealt
    decks = np.empty((number, in_hands + 1), np.int64)
    first = int(setting.dealing)  # the pone gets the first card
    decks[:, first:in_hands:2] = setting.cards
    decks[:, 1 - first : in_hands : 2] = hidden[:, :-1]
    decks[:, in_hands] = hidden[:, -1]
    for row, deck in enumerate(decks):
        batch.start_one(row, 0, setting.dealer, deck)
    batch.scores[:] = setting.scores
    return batch


def _discard(bot: Bot, batch: GameBatch, throws: NDArray[np.int64], number: int) -> None:
    """Both sides throw: oneself as told, the other the same whatever that is."""
    rows = batch.all_rows
    for _ in range(2):
        seat = int(batch.to_act[0])
        for place in range(SIX_CARD.thrown):
            if seat == OWN:
                cards = np.repeat(throws[:, place], number)
            else:
                seen = batch.observe(rows[:number], np.full(number, OTHER))
                cards = np.tile(ask(bot, *seen), len(throws))
            batch.apply(rows, cards)


def _worth(setting: Setting) -> float:
    """What a point is worth after such a deal, in chances to win: the slope over three."""
    own, other = setting.scores
    with_three = (np.array([own + 3, own]), np.array([other, other + 3]))
    mine, theirs = win_probabilities(*with_three, np.full(2, not setting.dealing))
    return float(mine - theirs) / 6
