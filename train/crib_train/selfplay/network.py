"""The network: it scores each card by what the deal has still to bring, in chances to win.

In the play it looks at the position that each card leads to and says how many
points either side will still peg: two distributions over 0 to 15 points. What the
card pegs at once is exact, the show of the own hand too; a table turns both, with
the score, into a chance to win (`chances`). Points to come hardly depend on the
score, so all deals teach the same thing, and still the choice obeys the board.

At the discard the show of each keep is exact for every starter, and the same kind
of table turns it into a chance to win; what is learned is only what the play and
the crib bring beyond the average, in points.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from crib_env.cards import N_CARDS
from crib_env.engine import MOST_POINTS
from crib_env.observation import POINT
from crib_env.rules import SIX_CARD
from crib_train.players import MASKED
from crib_train.selfplay.chances import REACH, SHOWS, TARGET, Chances
from crib_train.selfplay.shows import (
    KEPT,
    PAIRS,
    RANKS,
    SUITS,
    Pieces,
    Shows,
    ascending,
    by_rank,
    of_each,
)

PEGS = 16
"""Points to come in the play are told apart from 0 to 15; the last stands for more as well."""
COUNTS = 32
_STEP = 2.0**-16
"""Chances are kept in 16 bits: a hundredth of the worth of a point is many steps."""
_LEAST_WORTH = 0.004
"""P(win): logits are in points, but a point is never taken to be worth less than this."""
_PLAYING = 2
"""Place in the piece ``phase`` of the play."""


def layers(widths: tuple[int, ...]) -> nn.Sequential:
    """Linear layers with a ReLU before each: the input is the first one's activation."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        parts += [nn.ReLU(), nn.Linear(inputs, outputs)]
    return nn.Sequential(*parts)


def _fetch(table: Tensor, places: Tensor, like: Tensor) -> Tensor:
    """Rows of a table, in the precision of another tensor."""
    return functional.embedding(places, table.to(like.dtype))


class Scores:
    """Points and role of the observer, int64 ``[B]`` each."""

    def __init__(self, pieces: Pieces) -> None:
        points = (pieces["scores"] * TARGET).round().long().clamp(0, TARGET - 1)
        self.own = points[:, 0]
        self.other = points[:, 1]
        self.dealing = (pieces["dealer"][:, 0] > 0).long()


class PlayHead(nn.Module):
    """Points to come in the play after each card.

    Args:
        hidden: widths of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.base = nn.Linear(self._width(), hidden[0])
        self.by_rank = nn.Embedding(RANKS, hidden[0])
        self.by_count = nn.Embedding(COUNTS, hidden[0])
        self.by_card = nn.Linear(self._card_width(), hidden[0], bias=False)
        self.rest = layers((*hidden, 2 * PEGS))
        for table in (self.by_rank, self.by_count):
            nn.init.normal_(table.weight, std=0.05)

    @staticmethod
    def _width() -> int:
        return 13 * 13 + 32 + 2 * 5 + 2 * 3 + 20 + 2 * 2

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
        hand = by_rank(pieces["hand"])
        laid = torch.unflatten(pieces["laid"], 1, (2, N_CARDS))
        on_table = by_rank((laid > 0).float())
        thrown = by_rank(pieces["thrown"])
        starter = pieces["starter"][:, :RANKS]
        unseen = SUITS - hand - thrown - starter - on_table.sum(1)
        held = (pieces["held"] * 6).round().long()
        seen = torch.cat(
            [
                hand,
                thrown,
                starter,
                on_table.flatten(1),
                by_rank(laid).flatten(1),
                pieces["recent"],
                pieces["series"] * 4,
                unseen / SUITS,
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
        rank = cards // SUITS
        count = pieces["count"].argmax(1, keepdim=True) + (rank + 1).clamp(max=10)
        count = count.clamp(max=COUNTS - 1)  # cards that may not be laid
        base = self.base(seen)
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


class AfterstateNet(nn.Module):
    """From observation and mask to logits and value.

    Args:
        play_hidden, discard_hidden: widths of the hidden layers.
    """

    shown: Tensor
    discarding: Tensor
    worths: Tensor
    usual: Tensor
    pairs: Tensor

    def __init__(self, play_hidden: tuple[int, ...], discard_hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.play = PlayHead(play_hidden)
        self.discard = DiscardHead(discard_hidden)
        self.shows = Shows()
        self.register_buffer("pairs", torch.tensor(PAIRS), persistent=False)
        self.register_buffer("shown", torch.zeros(2 * REACH * TARGET))
        self.register_buffer(
            "discarding", torch.zeros(2 * TARGET * SHOWS * TARGET, dtype=torch.int16)
        )

        self.register_buffer("worths", torch.zeros(3, 2 * TARGET * TARGET))
        self.register_buffer("usual", torch.zeros(3, 2))

    def set_chances(self, chances: Chances) -> None:
        """Take up the tables of `crib_train.selfplay.chances`."""
        self.shown.copy_(torch.from_numpy(chances.shown).flatten())
        words = torch.from_numpy(chances.discarding).flatten() / _STEP
        self.discarding.copy_((words.round().clamp(0, 65535) - 32768).to(torch.int16))
        self.worths.copy_(torch.from_numpy(chances.worths).flatten(1))
        self.usual.copy_(torch.from_numpy(chances.usual))

    def discard_chance(self, scores: Scores, show: Tensor) -> Tensor:
        """P(win) at the discard when the own hand shows so much, of the shape of ``show``."""
        extra = show.dim() - 1
        role, own, other = (
            part.reshape(-1, *[1] * extra) for part in (scores.dealing, scores.own, scores.other)
        )
        index = ((role * TARGET + own) * SHOWS + show) * TARGET + other
        return (self.discarding[index].float() + 32768) * _STEP

    def worth(self, scores: Scores) -> Tensor:
        """What a point is worth, P(win), float32 ``[3, B]``, see `Chances`."""
        index = (scores.dealing * TARGET + scores.own) * TARGET + scores.other
        return self.worths[:, index]

    def judge_discards(self, pieces: Pieces, six: Tensor) -> Tensor:
        """P(win) of each of the 15 discards, float32 ``[B, 15]``."""
        return self.discard_values(pieces, six, self.discard(pieces, six))

    def discard_values(self, pieces: Pieces, six: Tensor, residual: Tensor) -> Tensor:
        """P(win) of the discards, ``[B, 15]``, given what `DiscardHead` says of them."""
        scores = Scores(pieces)
        points, beyond, starters = self.shows.discards(six)
        by_starter = self.discard_chance(scores, points.clamp(max=MOST_POINTS))
        exact = (by_starter * starters.unsqueeze(1)).sum(2)
        own, other, crib = self.worth(scores).unsqueeze(2)
        usual = self.usual[2, scores.dealing].unsqueeze(1)
        in_crib = self.shows.cribs(six, scores.dealing) - usual + residual[..., 2]
        play = own * (beyond + residual[..., 0]) + other * residual[..., 1]
        return exact + play + crib * in_crib

    def judge_play(self, pieces: Pieces, cards: Tensor) -> Tensor:
        """P(win) after each of some cards, float32 ``[B, K]``; ``cards`` is int64 ``[B, K]``."""
        return self.play_chance(pieces, cards, self.play(pieces, cards).exp())

    def standing(self, pieces: Pieces, cards: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What is known of the score when the deal is over.

        Returns:
            Own points once each card has pegged, int64 ``[B, K]``; what the own hand will
            show, the other's points, and whether the deal is one's own, int64 ``[B]`` each.
        """
        scores = Scores(pieces)
        now = (pieces["points"].gather(1, cards) / POINT).round().long()
        starter = pieces["starter"]
        own_laid = (pieces["laid"][:, :N_CARDS] > 0).float()
        keep = ascending(pieces["hand"] + own_laid, KEPT).clamp(max=N_CARDS - 1)
        show = self.shows.show(keep, starter[:, :RANKS], starter[:, RANKS:]).long()
        return scores.own.unsqueeze(1) + now, show, scores.other, scores.dealing

    def play_chance(self, pieces: Pieces, cards: Tensor, pegs: Tensor) -> Tensor:
        """P(win) from the distributions of points to come, ``[B, K]`` from ``[B, K, 2, 16]``.

        `crib_train.selfplay.chances.amid_play` computes the same, sooner.
        """
        after, show, other, dealing = self.standing(pieces, cards)
        steps = torch.arange(PEGS, device=cards.device)
        own = after.unsqueeze(2) + steps  # [B, K, 16]
        theirs = other.unsqueeze(1) + steps  # [B, 16]
        own_pegs, other_pegs = pegs.unbind(2)
        own_in = own_pegs * (own < TARGET)
        other_in = other_pegs * (theirs < TARGET).unsqueeze(1)
        stays, they_stay = own_in.sum(2), other_in.sum(2)
        # One side alone can peg out in a deal: the rest is when neither does.
        neither = (stays + they_stay - 1).clamp(min=0)
        row = dealing.reshape(-1, 1, 1) * REACH + (own + show.reshape(-1, 1, 1)).clamp(
            max=REACH - 1
        )
        column = theirs.clamp(max=TARGET - 1).reshape(-1, 1, 1, PEGS)
        patch = self.shown[row.unsqueeze(3) * TARGET + column]  # [B, K, 16, 16]
        rest = ((patch * other_in.unsqueeze(2)).sum(3) * own_in).sum(2)
        mean = rest / (stays * they_stay).clamp(min=1e-9)
        return torch.where(after >= TARGET, 1.0, 1 - stays + neither * mean)

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Judge decisions.

        Args:
            observation: float32 ``[B, D]``.
            action_mask: ``[B, 52]``, not 0 where a card may be laid.

        Returns:
            Logits float32 ``[B, 52]``, in points' worth below the best card, `MASKED` where
            a card may not be laid; and P(win) with the best card, float32 ``[B]``.
        """
        pieces = Pieces(observation)
        allowed = action_mask != 0
        chances = torch.where(
            pieces["phase"][:, _PLAYING:] > 0, self._in_play(pieces), self._in_discard(pieces)
        )
        chances = torch.where(allowed & (pieces["hand"] > 0), chances, -1.0)
        best = chances.amax(1, keepdim=True)
        worth = self.worth(Scores(pieces))[0].clamp(min=_LEAST_WORTH).unsqueeze(1)
        logits = torch.where(allowed, (chances - best) / worth, MASKED)
        return logits, best.squeeze(1).clamp(0, 1)

    def _in_play(self, pieces: Pieces) -> Tensor:
        cards = ascending(pieces["hand"], KEPT)
        return _spread_over_cards(cards, self.judge_play(pieces, cards.clamp(max=N_CARDS - 1)))

    def _in_discard(self, pieces: Pieces) -> Tensor:
        """The best discard with each card in it, and with what is thrown already."""
        six = ascending(pieces["hand"] + pieces["thrown"], SIX_CARD.dealt)
        places = six
        six = six.clamp(max=N_CARDS - 1)  # amid the play there are fewer; nobody asks then
        chances = self.judge_discards(pieces, six)
        thrown = pieces["thrown"].gather(1, six)
        is_in = functional.one_hot(self.pairs, SIX_CARD.dealt).sum(1).float()  # [15, 6]
        fits = thrown @ is_in.T >= thrown.sum(1, keepdim=True)
        chances = torch.where(fits, chances, -1.0)
        by_card = torch.where(is_in.T > 0, chances.unsqueeze(1), -1.0).amax(2)  # [B, 6]
        return _spread_over_cards(places, by_card)


def _spread_over_cards(cards: Tensor, values: Tensor) -> Tensor:
    """Values at the places of their cards, -1 elsewhere: ``[B, 52]`` from ``[B, K]``.

    A hand that is not full has card 52 in the places that are left.
    """
    everywhere = torch.full((cards.shape[0], N_CARDS + 1), -1.0, device=cards.device)
    return everywhere.scatter(1, cards, values)[:, :N_CARDS]
