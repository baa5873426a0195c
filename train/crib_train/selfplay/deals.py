"""Deals that teach: played by the network against itself, or against others, with mishaps.

A deal begins at scores as games come to, with some more of the end. What comes of it
is told for each choice: the points that either side pegged from then on in the
play, and for a discard what the play and the crib brought beyond the average.

Some deals have a twin, the same cards played once more with the second best card at
a close choice. What decides between two cards is thus told of both, over the same
hidden hand, and a card that is thought second best is not seen only by mishap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot
from crib_env import state as S
from crib_env._jit import njit
from crib_env.batch import GameBatch, Rows
from crib_env.cards import SUITS
from crib_env.expectation import CRIB_MEANS
from crib_env.observation import POINT, split
from crib_env.rules import SIX_CARD
from crib_env.scoring import show_points
from crib_env.win_probability import deal_starts
from crib_train.selfplay.heads import PEGS
from crib_train.selfplay.network import AfterstateNet
from crib_train.selfplay.player import judge_cards, judge_pairs
from crib_train.selfplay.shows import DEALT, PAIRS

_LATE = 70
"""Points from which both sides begin in the deals that teach the end."""
_TRIED = 5
"""A discard by mishap is one of so many best."""
_CLOSE = 0.04
"""P(win): choices between cards that differ by less are tried both ways, in twins of deals."""
_PARTS = 0.5
"""How often a twin parts from its deal at a close choice, a probability."""
_NONE = -1


@dataclass(frozen=True)
class Lessons:
    """What deals taught. ``n`` cards laid in the play, ``k`` discards.

    Attributes:
        play: observations, float32 ``[n, D]``.
        cards: laid, int64 ``[n]``.
        pegs: points of either side to come, own first, 0 to 15, int64 ``[n, 2]``.
        shows: what the other's hand and the crib are worth at the show, int64 ``[n, 2]``.
        discards: observations, float32 ``[k, D]``.
        pairs: places in `PAIRS` of the discards, int64 ``[k]``.
        beyond: what a discard brought: points pegged by oneself, by the other, and in the crib
            beyond the mean of the cards thrown, float32 ``[k, 3]``.
    """

    play: NDArray[np.float32]
    cards: NDArray[np.int64]
    pegs: NDArray[np.int64]
    shows: NDArray[np.int64]
    discards: NDArray[np.float32]
    pairs: NDArray[np.int64]
    beyond: NDArray[np.float32]


class _Notes:
    """Choices as they are made, with what had been pegged then."""

    def __init__(self) -> None:
        self.rows: list[Rows] = []
        self.seats: list[NDArray[np.int64]] = []
        self.observations: list[NDArray[np.float32]] = []
        self.choices: list[NDArray[np.int64]] = []
        self.pegged: list[NDArray[np.int64]] = []

    def add(
        self,
        rows: Rows,
        seats: NDArray[np.int64],
        observations: NDArray[np.float32],
        choices: NDArray[np.int64],
        pegged: NDArray[np.int64],
    ) -> None:
        self.rows.append(rows)
        self.seats.append(seats)
        self.observations.append(observations)
        self.choices.append(choices)
        self.pegged.append(pegged)


class Table:
    """Where the deals are played.

    Args:
        deals: at once.
        late: share of them that begin late in the game, 0 to 1.
        guests: share of them in which another player has one seat, 0 to 1.
        twins: share of them that are played a second time, from a close choice on with the
            second best card, 0 to 1.
    """

    def __init__(self, deals: int, late: float, guests: float, twins: float) -> None:
        number = int(deals * twins)
        self.batch = GameBatch(deals + number, SIX_CARD, one_deal=True)
        self.rows, self.twins = np.split(self.batch.all_rows, [deals])
        self.parents = self.rows[np.arange(number) * deals // max(number, 1)]
        self.late = late
        self.guests = int(deals * guests)
        self._starts = np.cumsum(deal_starts().ravel())

    def play(
        self,
        net: AfterstateNet,
        guest: BatchBot | None,
        mishaps: float,
        random: np.random.Generator,
    ) -> Lessons:
        """Play a round of deals.

        Args:
            net: plays both seats, but for the guest's.
            guest: another player, or None.
            mishaps: how often the network errs on purpose, a probability.
            random: of everything drawn.
        """
        batch, rows = self.batch, self.rows
        number = len(rows)
        seeds = random.integers(-(1 << 63), 1 << 63, number, np.int64)
        dealers = random.integers(2, size=number)
        batch.start(rows, seeds, dealers)
        self._set_scores(random)
        ours = np.ones((len(batch.all_rows), 2), np.bool_)
        if guest is not None:
            ours[: self.guests, 0] = False  # the dealer is drawn, so the seat needs not be
        thrown = _Notes()
        for _ in range(2):
            self._discard(net, guest, ours, mishaps, random, thrown)
        batch.states[self.twins] = batch.states[self.parents]
        ours[self.twins] = ours[self.parents]
        play = _Play(batch, net, guest, ours, mishaps, random)
        play.to_the_end(self.parents, self.twins)
        return self._lessons(play.notes, thrown)

    def _set_scores(self, random: np.random.Generator) -> None:
        batch, rows = self.batch, self.rows
        number = len(rows)
        target = SIX_CARD.target
        drawn = np.searchsorted(self._starts, random.random(number), side="right")
        by_role = np.stack(np.divmod(np.minimum(drawn, target * target - 1), target), 1)
        late = random.random(number) < self.late
        by_role[late] = random.integers(_LATE, target, (int(late.sum()), 2))
        dealer = batch.dealer[rows]
        batch.scores[rows, dealer] = by_role[:, 0]
        batch.scores[rows, 1 - dealer] = by_role[:, 1]

    def _discard(
        self,
        net: AfterstateNet,
        guest: BatchBot | None,
        ours: NDArray[np.bool_],
        mishaps: float,
        random: np.random.Generator,
        notes: _Notes,
    ) -> None:
        """The side to act throws both cards, in every row."""
        batch, rows = self.batch, self.rows
        seats = batch.to_act[rows]
        mine = ours[rows, seats]
        if guest is not None:
            for _ in range(2):
                theirs = rows[~mine]
                batch.apply(theirs, guest.actions(*batch.observe(theirs, seats[theirs])))
        rows, seats = rows[mine], seats[mine]
        observations, _ = batch.observe(rows, seats)
        cards, worth = judge_pairs(net, observations)
        best = np.argsort(-worth, 1, kind="stable")[:, :_TRIED]
        tried = np.where(
            random.random(len(rows)) < mishaps, random.integers(_TRIED, size=len(rows)), 0
        )
        pairs = best[np.arange(len(rows)), tried]
        for place in (0, 1):
            batch.apply(rows, cards[np.arange(len(rows)), _PLACES[pairs, place]])
        notes.add(rows, seats, observations, pairs, _NOTHING)

    def _lessons(self, laid: _Notes, thrown: _Notes) -> Lessons:
        pegged = _pegged(self.batch)
        rows, seats = np.concatenate(laid.rows), np.concatenate(laid.seats)
        seen, cards = np.concatenate(laid.observations), np.concatenate(laid.choices)
        to_come = pegged[rows] - np.concatenate(laid.pegged)
        points = split(seen, SIX_CARD)["points"][np.arange(len(rows)), cards]
        at = np.arange(len(rows))
        own = to_come[at, seats] - np.rint(points / POINT).astype(np.int64)
        pegs = np.stack([own, to_come[at, 1 - seats]], 1)
        shown = np.zeros((len(self.batch.states), 3), np.int64)
        _count_shows(self.batch.states, SIX_CARD.to_array(), shown)
        hands, cribs = shown[:, :2], shown[:, 2]
        discards = self._beyond(thrown, pegged, cribs)
        return Lessons(
            seen,
            cards,
            np.clip(pegs, 0, PEGS - 1),
            np.stack([hands[rows, 1 - seats], cribs[rows]], 1),
            np.concatenate(thrown.observations),
            np.concatenate(thrown.choices),
            discards.astype(np.float32),
        )

    def _beyond(
        self, thrown: _Notes, pegged: NDArray[np.int64], cribs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        batch = self.batch
        rows, seats = np.concatenate(thrown.rows), np.concatenate(thrown.seats)
        hands = split(np.concatenate(thrown.observations), SIX_CARD)["hand"]
        six = np.nonzero(hands)[1].reshape(-1, DEALT)
        pairs = _PLACES[np.concatenate(thrown.choices)]
        low, high = np.take_along_axis(six, pairs, 1).T // len(SUITS)
        dealing = (batch.dealer[rows] == seats).astype(np.int64)
        in_crib = cribs[rows] - CRIB_MEANS[dealing, low, high]
        return np.stack([pegged[rows, seats], pegged[rows, 1 - seats], in_crib], 1)


class _Play:
    """The play of a round, from the discards on.

    Args:
        batch: of the deals and, behind them, their twins.
        net: plays the seats that are ours.
        guest: plays the others.
        ours: seats, bool ``[B, 2]``.
        mishaps: how often the network errs on purpose, a probability.
        random: of everything drawn.
    """

    def __init__(
        self,
        batch: GameBatch,
        net: AfterstateNet,
        guest: BatchBot | None,
        ours: NDArray[np.bool_],
        mishaps: float,
        random: np.random.Generator,
    ) -> None:
        self.batch = batch
        self.net = net
        self.guest = guest
        self.ours = ours
        self.mishaps = mishaps
        self.random = random
        self.notes = _Notes()
        self.twin_of = np.full(len(batch.all_rows), _NONE)
        self.begun = np.ones(len(batch.all_rows), np.bool_)

    def to_the_end(self, parents: Rows, twins: Rows) -> None:
        """Lay cards until all deals are over, twins from where they part from their parents."""
        self.twin_of[parents] = twins
        self.begun[twins] = False
        while True:
            acting = np.flatnonzero(self.begun & ~self.batch.stopped)
            if not len(acting):
                return
            self._lay(acting)

    def _lay(self, acting: Rows) -> None:
        """Whoever is to act lays a card, in each of some rows."""
        batch = self.batch
        seats = batch.to_act[acting].copy()
        mine = self.ours[acting, seats]
        theirs = acting[~mine]
        if len(theirs):
            assert self.guest is not None
            batch.apply(theirs, self.guest.actions(*batch.observe(theirs, seats[~mine])))
        rows, seats = acting[mine], seats[mine]
        if not len(rows):
            return
        observations, masks = batch.observe(rows, seats)
        cards, worth = judge_cards(self.net, observations, masks)
        at = np.arange(len(rows))
        ranked = np.argsort(-worth, 1, kind="stable")[:, :2]
        best, second = ranked[:, 0], ranked[:, -1]
        close = worth[at, best] - worth[at, second] < _CLOSE
        parts = close & (self.twin_of[rows] != _NONE) & (self.random.random(len(rows)) < _PARTS)
        any_card = self.random.integers((masks != 0).sum(1))
        errs = ~parts & (self.random.random(len(rows)) < self.mishaps)
        chosen = cards[at, np.where(errs, any_card, best)]
        pegged = _pegged(batch)[rows]
        self.notes.add(rows, seats, observations, chosen, pegged)
        twins = self._part(rows[parts])
        second_best = cards[at, second][parts]
        self.notes.add(twins, seats[parts], observations[parts], second_best, pegged[parts])
        batch.apply(twins, second_best)
        batch.apply(rows, chosen)

    def _part(self, parents: Rows) -> Rows:
        """Let twins of deals begin where these are now; returns the twins."""
        twins = self.twin_of[parents]
        self.batch.states[twins] = self.batch.states[parents]
        self.begun[twins] = True
        self.twin_of[parents] = _NONE
        return twins


def _pegged(batch: GameBatch) -> NDArray[np.int64]:
    """Points pegged before the show by seat, heels included, int64 ``[B, 2]``."""
    sources = [S.Source.HEELS, S.Source.PLAY_DEALER, S.Source.PLAY_PONE]
    return np.asarray(batch.tally[:, :, sources].sum(2))


@njit
def _count_shows(games: np.ndarray, r: np.ndarray, out: np.ndarray) -> None:
    """What both hands and the crib show, whether or not the game lasted so long: ``[B, 3]``."""
    for at in range(games.shape[0]):
        starter = games[at, S.STARTER]
        for seat in range(2):
            out[at, seat] = show_points(games[at, S.KEPT + seat], starter, False, r)
        out[at, 2] = show_points(games[at, S.CRIB], starter, True, r)


_PLACES = np.array(PAIRS)
_NOTHING = np.zeros((0, 2), np.int64)
