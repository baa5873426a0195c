"""The parts of the network that learn: what play, shows and discards will bring, in points."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from crib_env.cards import N_CARDS
from crib_train.selfplay.chances import SHOWS, TARGET
from crib_train.selfplay.shows import (
    KEPT,
    PAIRS,
    RANKS,
    SUITS,
    Pieces,
    Shows,
    by_rank,
    of_each,
    rank_of,
)

PEGS = 16
"""Points to come in the play are told apart from 0 to 15; the last stands for more as well."""
MIXED = 4
"""Kinds of play to come: within each the points of both sides are independent."""
COUNTS = 32
NEAR = 32
"""Points needed are told apart one by one below this."""


def layers(widths: tuple[int, ...]) -> nn.Sequential:
    """Linear layers with a ReLU before each: the input is the first one's activation."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        parts += [nn.ReLU(), nn.Linear(inputs, outputs)]
    return nn.Sequential(*parts)


def _fetch(table: Tensor, places: Tensor, like: Tensor) -> Tensor:
    """Rows of a table, in the precision of another tensor."""
    return functional.embedding(places, table.to(like.dtype))


class Sight:
    """What a seat sees in the play, by ranks.

    Attributes:
        pieces: of the observations.
        hand: cards of each rank held, float32 ``[B, 13]``.
        unseen: cards of each rank that may be anywhere, float32 ``[B, 13]``.
        all: these and all else, float32 ``[B, WIDTH]``.
    """

    WIDTH = 13 * 13 + 32 + 2 * 5 + 2 * 3 + 20 + 2 * 2 + 2 * NEAR

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.hand = by_rank(pieces["hand"])
        laid = torch.unflatten(pieces["laid"], 1, (2, N_CARDS))
        on_table = by_rank((laid > 0).float())
        thrown = by_rank(pieces["thrown"])
        starter = pieces["starter"][:, :RANKS]
        self.unseen = SUITS - self.hand - thrown - starter - on_table.sum(1)
        held = (pieces["held"] * 6).round().long()
        # Who comes home ends the deal, so it matters to the point how far off both are.
        needed = TARGET - (pieces["scores"] * TARGET).round().long()
        self.all = torch.cat(
            [
                self.hand,
                thrown,
                starter,
                on_table.flatten(1),
                by_rank(laid).flatten(1),
                pieces["recent"],
                pieces["series"] * 4,
                self.unseen / SUITS,
                pieces["count"],
                functional.one_hot(held.clamp(0, KEPT), KEPT + 1).flatten(1).float(),
                pieces["dealer"],
                pieces["last"],
                pieces["gone"],
                pieces["barred"],
                pieces["scores"],
                pieces["to_go"],
                functional.one_hot(needed.clamp(0, NEAR - 1), NEAR).flatten(1).float(),
            ],
            1,
        )


class PlayHead(nn.Module):
    """Points to come in the play after each card.

    Args:
        hidden: widths of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.base = nn.Linear(Sight.WIDTH, hidden[0])
        self.by_rank = nn.Embedding(RANKS, hidden[0])
        self.by_count = nn.Embedding(COUNTS, hidden[0])
        self.by_card = nn.Linear(self._card_width(), hidden[0], bias=False)
        self.rest = layers((*hidden, MIXED * (2 * PEGS + 1)))
        for table in (self.by_rank, self.by_count):
            nn.init.normal_(table.weight, std=0.05)

    @staticmethod
    def _card_width() -> int:
        return 1 + 2 * 5 + 2 * 2 + 1 + 1 + 2

    def forward(self, sight: Sight, cards: Tensor) -> Tensor:
        """Log-probabilities of the points to come.

        Args:
            sight: of observations in the play.
            cards: what may be laid, int64 ``[B, K]``.

        Returns:
            Float32 ``[B, K, 4, 2, 16]`` by kind of play to come, side (own first) and points,
            what the card pegs at once left out. Own points are those of so much and this kind,
            the other's those of so much if it is this kind; so the probability of both is the
            sum over the kinds of the products.
        """
        rank = rank_of(cards)
        count = sight.pieces["count"].argmax(1, keepdim=True) + (rank + 1).clamp(max=10)
        count = count.clamp(max=COUNTS - 1)  # cards that may not be laid
        base = self.base(sight.all)
        # One row for each rank and count, in the precision of the rest, is quicker to fetch.
        by_both = self.by_rank.weight.unsqueeze(1) + self.by_count.weight
        first = (
            base.unsqueeze(1)
            + _fetch(by_both.flatten(0, 1), rank * COUNTS + count, base)
            + self.by_card(self._about(sight, cards, rank, count))
        )
        told = torch.unflatten(self.rest(first), 2, (MIXED, 2 * PEGS + 1)).float()
        kinds = told[..., 2 * PEGS :].log_softmax(2)
        own, other = told[..., :PEGS], told[..., PEGS : 2 * PEGS]
        return torch.stack([own.log_softmax(3) + kinds, other.log_softmax(3)], 3)

    @staticmethod
    def _about(sight: Sight, cards: Tensor, rank: Tensor, count: Tensor) -> Tensor:
        """What bears on one card: its neighbours, and what makes fifteen or 31 upon it."""
        points = sight.pieces["points"].gather(1, cards).unsqueeze(2)
        around = rank.unsqueeze(2) + torch.arange(5, device=rank.device)  # two ranks on each side
        both = torch.stack([sight.hand, sight.unseen], 1)
        ranks = functional.pad(both, (2, 2))
        near = ranks.gather(2, around.flatten(1).unsqueeze(1).expand(-1, 2, -1))
        near = torch.unflatten(near, 2, around.shape[1:]).permute(0, 2, 1, 3).flatten(2)
        # Cards by what they count, 0 to 31: a ten is four ranks.
        pips = torch.cat([both[..., :9], both[..., 9:].sum(2, keepdim=True)], 2)
        pips = functional.pad(pips, (COUNTS, COUNTS - 9))
        fifteen = (COUNTS - 1 + 15 - count).unsqueeze(1).expand(-1, 2, -1)
        last = (COUNTS - 1 + 31 - count).unsqueeze(1).expand(-1, 2, -1)
        hits = torch.cat([pips.gather(2, fifteen), pips.gather(2, last)], 1).transpose(1, 2)
        room = (31 - count).float().unsqueeze(2) / 31
        own_same = sight.hand.gather(1, rank).unsqueeze(2)
        one_hots = torch.cat([points > 0, points > 0.25], 2).float()
        return torch.cat([points, near, hits / SUITS, room, own_same, one_hots], 2)


class ShowHead(nn.Module):
    """What the other's hand and the crib will show, given what was laid.

    Args:
        hidden: widths of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.shows = Shows()
        width = Sight.WIDTH + 2 * SHOWS + SUITS + 1 + 2
        self.rest = nn.Sequential(nn.Linear(width, hidden[0]), layers((*hidden, 2 * SHOWS)))

    def forward(self, sight: Sight) -> Tensor:
        """Log-probabilities of the points of the other's hand and of the crib.

        Args:
            sight: of observations in the play.

        Returns:
            Float32 ``[B, 2, 30]``, the hand first.
        """
        pieces = sight.pieces
        starter = pieces["starter"]
        rank, suit = starter[:, :RANKS], starter[:, RANKS:]
        laid = (pieces["laid"][:, N_CARDS:] > 0).float()
        known = [self.shows.known(cards, rank, suit) for cards in (laid, pieces["thrown"])]
        # Cards of the starter's suit and the most of one suit tell of flushes.
        suits = torch.unflatten(laid, 1, (RANKS, SUITS)).sum(1)
        most = suits.amax(1, keepdim=True)
        thrown = torch.unflatten(pieces["thrown"], 1, (RANKS, SUITS)).sum(1)
        seen = torch.cat(
            [
                sight.all,
                *(functional.one_hot(points, SHOWS).float() for points in known),
                (most == torch.arange(1, SUITS + 1, device=most.device)).float(),
                (most == suits.sum(1, keepdim=True)).float(),
                thrown.amax(1, keepdim=True) - 1,
                (suits * suit).sum(1, keepdim=True) / SUITS,
            ],
            1,
        )
        return torch.unflatten(self.rest(seen), 1, (2, SHOWS)).float().log_softmax(-1)


class DiscardHead(nn.Module):
    """What the play brings after each discard, and the crib beyond its mean: points.

    Args:
        hidden: widths of the hidden layers.
    """

    pairs: Tensor

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.base = nn.Linear(2 * RANKS + 2 + 2 + 2, hidden[0])
        self.by_rank = nn.Embedding(RANKS, hidden[0])
        self.by_pair = nn.Embedding(RANKS * RANKS, hidden[0])
        self.suited = nn.Parameter(torch.zeros(hidden[0]))
        self.rest = layers((*hidden, 3))
        self.register_buffer("pairs", torch.tensor(PAIRS), persistent=False)
        nn.init.normal_(self.by_rank.weight, std=0.05)
        nn.init.normal_(self.by_pair.weight, std=0.05)
        last = self.rest[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def forward(self, pieces: Pieces, six: Tensor) -> Tensor:
        """Points beyond the usual: pegged by oneself, by the other, and in the crib.

        Returns:
            Float32 ``[B, 15, 3]``; the crib beyond the mean of the cards thrown.

        Args:
            pieces: of observations in the discard.
            six: ascending cards dealt, int64 ``[B, 6]``.
        """
        ranks = by_rank(functional.one_hot(six, N_CARDS).sum(1).float())
        seen = torch.cat(
            [ranks, (ranks > 1).float(), pieces["dealer"], pieces["scores"], pieces["to_go"]], 1
        )
        thrown = of_each(six, self.pairs)
        low, high = rank_of(thrown).unbind(2)
        suited = (thrown % SUITS).diff(dim=2).squeeze(2) == 0
        base = self.base(seen)
        ranks_of_pair = self.by_rank.weight.unsqueeze(1) + self.by_rank.weight
        by_pair = ranks_of_pair.flatten(0, 1) + self.by_pair.weight
        by_pair = torch.cat([by_pair, by_pair + self.suited])
        place = low * RANKS + high + RANKS * RANKS * suited
        first = base.unsqueeze(1) + _fetch(by_pair, place, base)
        return self.rest(first).float()
