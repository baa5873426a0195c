"""Cards of an observation as tensors, and what hands show, inside the network's graph.

Exact knowledge is not learned: a network computes the shows of its keeps as the
library does (`crib_env.expectation`), so that it needs nothing but an observation.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crib_env.cards import JACK, N_CARDS
from crib_env.expectation import CHOOSE, CRIB_MEANS, RANK_SHOWS
from crib_env.observation import layout
from crib_env.rules import SIX_CARD
from crib_env.scoring import rank_points

SUITS = 4
RANKS = 13
DEALT = SIX_CARD.dealt
KEPT = SIX_CARD.kept
PAIRS = tuple(combinations(range(DEALT), 2))
"""Places in an ascending hand of six of the two cards thrown."""
_KEEPS = tuple(tuple(i for i in range(DEALT) if i not in pair) for pair in PAIRS)


_RANK_OF = torch.arange(N_CARDS + 1) // SUITS
"""Ranks by card; 13 for card 52, which stands for none."""


def look_up(table: Tensor, places: Tensor) -> Tensor:
    """Entries of a table ``[N]``, of the shape of ``places``.

    In an exported network this is one quick step, where indexing is several slow ones.
    """
    return nn.functional.embedding(places, table.unsqueeze(1)).squeeze(-1)


def rank_of(cards: Tensor) -> Tensor:
    """Ranks of cards; as `look_up`, quicker once exported than the division."""
    return look_up(_RANK_OF.to(cards.device), cards)


def _shows_so_far() -> NDArray[np.uint8]:
    """What up to four ranks show with each rank of starter, uint8 ``[2380, 13]``, points.

    By the place of four ascending ranks, see `Shows.place`; rank 13 stands for no card.
    """
    table = np.zeros((comb(RANKS + KEPT, KEPT), RANKS), np.uint8)
    every = combinations_with_replacement(range(RANKS + 1), KEPT)
    for ranks in every:
        place = sum(int(CHOOSE[rank + at, at + 1]) for at, rank in enumerate(ranks))
        for starter in range(RANKS):
            held = [*(rank for rank in ranks if rank < RANKS), starter]
            cards = 0
            for rank in set(held):
                number = held.count(rank)
                if number > SUITS:
                    break
                cards |= ((1 << number) - 1) << (SUITS * rank)
            else:
                table[place, starter] = rank_points(cards)
    return table


def by_rank(cards: Tensor) -> Tensor:
    """Sums over the suits: ``[..., 13]`` from ``[..., 52]``."""
    return torch.unflatten(cards, -1, (RANKS, SUITS)).sum(-1)


def ascending(cards: Tensor, number: int) -> Tensor:
    """Indices of the ``number`` cards of sets ``[B, 52]``, ascending, int64 ``[B, number]``."""
    places = torch.arange(N_CARDS, 0, -1, dtype=cards.dtype, device=cards.device)
    # The larger the place the lower the card: the cards held come first and in order.
    return N_CARDS - (cards * places).topk(number, -1).values.long()


class Pieces:
    """The named pieces of observations ``[B, D]``, as views."""

    def __init__(self, observations: Tensor) -> None:
        self._parts = {
            piece.name: observations[:, piece.offset : piece.offset + piece.length]
            for piece in layout(SIX_CARD)
        }

    def __getitem__(self, name: str) -> Tensor:
        return self._parts[name]


def of_each(six: Tensor, places: Tensor) -> Tensor:
    """Cards at some places of each hand: ``[B, *places.shape]`` from ``[B, 6]``."""
    return torch.unflatten(six.index_select(1, places.flatten()), 1, tuple(places.shape))


class Shows(nn.Module):
    """Tables and arithmetic of the show."""

    rank_shows: Tensor
    choose: Tensor
    crib_means: Tensor
    so_far: Tensor
    keeps: Tensor
    pairs: Tensor

    def __init__(self) -> None:
        super().__init__()
        tables = {
            "rank_shows": torch.from_numpy(RANK_SHOWS.astype(np.float32)).flatten(),
            "choose": torch.from_numpy(CHOOSE.copy()).flatten(),
            "crib_means": torch.from_numpy(CRIB_MEANS.astype(np.float32)).flatten(),
            "so_far": torch.from_numpy(_shows_so_far()).flatten(),
            "keeps": torch.tensor(_KEEPS),
            "pairs": torch.tensor(PAIRS),
        }
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    def place(self, ranks: Tensor) -> Tensor:
        """Place of four ascending ranks ``[..., 4]`` among all multisets, 0 to 1819."""
        width = CHOOSE.shape[1]
        steps = torch.arange(KEPT, device=ranks.device)
        return look_up(self.choose, (ranks + steps) * width + steps + 1).sum(-1)

    def show(self, keep: Tensor, starter_rank: Tensor, starter_suit: Tensor) -> Tensor:
        """What four cards show with the starter: points, float32 ``[B]``.

        Args:
            keep: ascending cards, int64 ``[B, 4]``.
            starter_rank, starter_suit: one-hot, float32 ``[B, 13]`` and ``[B, 4]``.
        """
        ranks = rank_of(keep)
        points = look_up(self.rank_shows, self.place(ranks) * RANKS + starter_rank.argmax(-1))
        suits = nn.functional.one_hot(keep % SUITS, SUITS).float()
        same = (suits.sum(-2) * starter_suit).sum(-1)
        flush = self._flush(keep % SUITS) * (KEPT + (same == KEPT).float())
        jacks = (ranks == JACK).float()
        nobs = (jacks * (suits * starter_suit.unsqueeze(-2)).sum(-1)).sum(-1)
        return points + flush + nobs

    def known(self, cards: Tensor, starter_rank: Tensor, starter_suit: Tensor) -> Tensor:
        """What some of a hand's cards show by themselves, points, int64 ``[B]``; no flush.

        Args:
            cards: sets of at most four, ``[B, 52]``.
            starter_rank, starter_suit: as for `show`.
        """
        ranks = rank_of(ascending(cards, KEPT))
        points = look_up(self.so_far, self.place(ranks) * RANKS + starter_rank.argmax(-1))
        jacks = cards[:, JACK * SUITS : (JACK + 1) * SUITS]
        return points.long() + (jacks * starter_suit).sum(-1).long()

    @staticmethod
    def _flush(suits: Tensor) -> Tensor:
        """1 where all are of one suit."""
        return (suits == suits[..., :1]).all(-1).float()

    def discards(self, six: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What each of the 15 keeps shows, before the starter is turned.

        Args:
            six: ascending cards dealt, int64 ``[B, 6]``.

        Returns:
            Points by rank of the starter, int64 ``[B, 15, 13]``, flushes of four
            included; what suits add on average beyond, points, float32 ``[B, 15]``; and the
            probability of each rank of starter, float32 ``[B, 13]``.
        """
        keep = of_each(six, self.keeps)
        ranks = rank_of(keep)
        of_rank = nn.functional.one_hot(rank_of(six), RANKS).sum(1)
        unseen = N_CARDS - DEALT
        starters = (SUITS - of_rank) / unseen
        suits_left = (RANKS - nn.functional.one_hot(six % SUITS, SUITS).sum(1)) / unseen
        by_starter = self.rank_shows.reshape(-1, RANKS)
        points = nn.functional.embedding(self.place(ranks), by_starter)
        flush = self._flush(keep % SUITS)
        left = suits_left.gather(1, (keep % SUITS).flatten(1))
        left = torch.unflatten(left, 1, keep.shape[1:])
        jacks = (ranks == JACK).float()
        beyond = (jacks * left).sum(-1) + flush * left[..., 0]
        return (points + KEPT * flush.unsqueeze(-1)).long(), beyond, starters

    def cribs(self, six: Tensor, dealing: Tensor) -> Tensor:
        """Mean crib of each discard, points, float32 ``[B, 15]``.

        Args:
            six: ascending cards dealt, int64 ``[B, 6]``.
            dealing: whether the crib is one's own, 0 or 1, ``[B]``.
        """
        thrown = of_each(rank_of(six), self.pairs)
        index = (dealing.long().unsqueeze(-1) * RANKS + thrown[..., 0]) * RANKS + thrown[..., 1]
        return look_up(self.crib_means, index)
