"""The parts of the network that learn: what play, shows and discards will bring, in points."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from crib_env.cards import N_CARDS
from crib_train.selfplay.chances import SHOWS
from crib_train.selfplay.shows import KEPT, PAIRS, RANKS, SUITS, Pieces, Shows, by_rank, of_each

PEGS = 16
"""Points to come in the play are told apart from 0 to 15; the last stands for more as well."""
COUNTS = 32


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
        hand: cards of each rank held, float32 ``[B, 13]``.
        unseen: cards of each rank that may be anywhere, float32 ``[B, 13]``.
        all: these and all else, float32 ``[B, WIDTH]``.
    """

    WIDTH = 13 * 13 + 32 + 2 * 5 + 2 * 3 + 20 + 2 * 2

    def __init__(self, pieces: Pieces) -> None:
        self.hand = by_rank(pieces["hand"])
        laid = torch.unflatten(pieces["laid"], 1, (2, N_CARDS))
        on_table = by_rank((laid > 0).float())
        thrown = by_rank(pieces["thrown"])
        starter = pieces["starter"][:, :RANKS]
        self.unseen = SUITS - self.hand - thrown - starter - on_table.sum(1)
        held = (pieces["held"] * 6).round().long()
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
        self.rest = layers((*hidden, 2 * PEGS))
        for table in (self.by_rank, self.by_count):
            nn.init.normal_(table.weight, std=0.05)

    @staticmethod
    def _card_width() -> int:
        return 1 + 2 * 5 + 2 * 2 + 1 + 1 + 2

    def forward(self, pieces: Pieces, cards: Tensor) -> Tensor:
        """Log-probabilities of the points to come.

        Args:
            pieces: of observations in the play, ``[B, ...]``.
            cards: what may be laid, int64 ``[B, K]``.

        Returns:
            Float32 ``[B, K, 2, 16]``: own points, then the other's, what the card pegs at
            once left out.
        """
        sight = Sight(pieces)
        hand, unseen = sight.hand, sight.unseen
        rank = cards // SUITS
        count = pieces["count"].argmax(1, keepdim=True) + (rank + 1).clamp(max=10)
        count = count.clamp(max=COUNTS - 1)  # cards that may not be laid
        base = self.base(sight.all)
        # One row for each rank and count, in the precision of the rest, is quicker to fetch.
        by_both = self.by_rank.weight.unsqueeze(1) + self.by_count.weight
        first = (
            base.unsqueeze(1)
            + _fetch(by_both.flatten(0, 1), rank * COUNTS + count, base)
            + self.by_card(self._about(pieces, cards, rank, count, hand, unseen))
        )
        pegs = torch.unflatten(self.rest(first), 2, (2, PEGS))
        return pegs.float().log_softmax(-1)

    @staticmethod
    def _about(
        pieces: Pieces, cards: Tensor, rank: Tensor, count: Tensor, hand: Tensor, unseen: Tensor
    ) -> Tensor:
        """What bears on one card: its neighbours, and what makes fifteen or 31 upon it."""
        points = pieces["points"].gather(1, cards).unsqueeze(2)
        around = rank.unsqueeze(2) + torch.arange(5, device=rank.device)  # two ranks on each side
        both = torch.stack([hand, unseen], 1)
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
        own_same = hand.gather(1, rank).unsqueeze(2)
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

    def forward(self, pieces: Pieces) -> Tensor:
        """Log-probabilities of the points of the other's hand and of the crib.

        Args:
            pieces: of observations in the play.

        Returns:
            Float32 ``[B, 2, 30]``, the hand first.
        """
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
                Sight(pieces).all,
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
        low, high = (thrown // SUITS).unbind(2)
        suited = (thrown % SUITS).diff(dim=2).squeeze(2) == 0
        base = self.base(seen)
        ranks_of_pair = self.by_rank.weight.unsqueeze(1) + self.by_rank.weight
        by_pair = ranks_of_pair.flatten(0, 1) + self.by_pair.weight
        by_pair = torch.cat([by_pair, by_pair + self.suited])
        place = low * RANKS + high + RANKS * RANKS * suited
        first = base.unsqueeze(1) + _fetch(by_pair, place, base)
        return self.rest(first).float()
