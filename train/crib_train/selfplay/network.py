"""The network: it scores each card by what the deal has still to bring, in chances to win.

In the play it looks at the position that each card leads to and says how many
points either side will still peg: two distributions over 0 to 15 points. It says as
well what the other's hand and the crib will show, by what lies on the table. What
the card pegs at once is exact, the show of the own hand too; a table turns all of it,
with the score, into a chance to win (`chances`, `ends`). Points to come hardly depend
on the score, so all deals teach the same thing, and still the choice obeys the board.

At the discard the show of each keep is exact for every starter, and the same kind
of table turns it into a chance to win; what is learned is only what the play and
the crib bring beyond the average, in points.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from crib_env.cards import N_CARDS
from crib_env.engine import MOST_POINTS
from crib_env.observation import POINT
from crib_env.rules import SIX_CARD
from crib_train.players import MASKED
from crib_train.selfplay.chances import SHOWS, TARGET, Chances
from crib_train.selfplay.ends import Ends, Standing
from crib_train.selfplay.heads import PEGS, DiscardHead, PlayHead, ShowHead, Sight
from crib_train.selfplay.shows import (
    KEPT,
    PAIRS,
    RANKS,
    Pieces,
    Shows,
    ascending,
    look_up,
)

_WORDS = 1 << 16
"""Chances at the discard are kept in 16 bits: a hundredth of a point's worth is many steps."""
_LEAST_WORTH = 0.004
"""P(win): logits are in points, but a point is never taken to be worth less than this."""
PLAYING = 2
"""Place in the piece ``phase`` of the play."""


class Scores:
    """Points and role of the observer, int64 ``[B]`` each."""

    def __init__(self, pieces: Pieces) -> None:
        points = (pieces["scores"] * TARGET).round().long().clamp(0, TARGET - 1)
        self.own = points[:, 0]
        self.other = points[:, 1]
        self.dealing = (pieces["dealer"][:, 0] > 0).long()


class AfterstateNet(nn.Module):
    """From observation and mask to logits and value.

    Args:
        play_hidden, show_hidden, discard_hidden: widths of the hidden layers.
    """

    discarding: Tensor
    scale: Tensor
    worths: Tensor
    usual: Tensor
    pairs: Tensor

    def __init__(
        self,
        play_hidden: tuple[int, ...],
        show_hidden: tuple[int, ...],
        discard_hidden: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.play = PlayHead(play_hidden)
        self.show = ShowHead(show_hidden)
        self.discard = DiscardHead(discard_hidden)
        self.ends = Ends()
        self.shows = Shows()
        self.register_buffer("pairs", torch.tensor(PAIRS), persistent=False)
        self.register_buffer(
            "discarding", torch.zeros(2 * TARGET * SHOWS * TARGET, dtype=torch.int16)
        )
        self.register_buffer("scale", torch.ones(2))
        self.register_buffer("worths", torch.zeros(3, 2 * TARGET * TARGET))
        self.register_buffer("usual", torch.zeros(3, 2))

    def set_chances(self, chances: Chances) -> None:
        """Take up the tables of `crib_train.selfplay.chances`."""
        self.ends.shown.copy_(torch.from_numpy(chances.shown))
        self.ends.skunked.copy_(torch.from_numpy(chances.skunked))
        table = torch.from_numpy(chances.discarding).flatten()
        low, step = table.min(), (table.max() - table.min()) / (_WORDS - 1)
        words = ((table - low) / step).round() - _WORDS // 2
        self.discarding.copy_(words.to(torch.int16))
        self.scale.copy_(torch.stack([step, low + step * (_WORDS // 2)]))
        self.worths.copy_(torch.from_numpy(chances.worths).flatten(1))
        self.usual.copy_(torch.from_numpy(chances.usual))

    def discard_chance(self, scores: Scores, show: Tensor) -> Tensor:
        """P(win) at the discard when the own hand shows so much, of the shape of ``show``."""
        extra = show.dim() - 1
        role, own, other = (
            part.reshape(-1, *[1] * extra) for part in (scores.dealing, scores.own, scores.other)
        )
        index = ((role * TARGET + own) * SHOWS + show) * TARGET + other
        return look_up(self.discarding, index).float() * self.scale[0] + self.scale[1]

    def worth(self, scores: Scores) -> Tensor:
        """What a point is worth, P(win), float32 ``[3, B]``, see `Chances`."""
        index = (scores.dealing * TARGET + scores.own) * TARGET + scores.other
        return self.worths.index_select(1, index)

    def judge_discards(self, pieces: Pieces, six: Tensor) -> Tensor:
        """P(win) of each of the 15 discards, float32 ``[B, 15]``."""
        residual = self.discard(pieces, six)
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
        sight = Sight(pieces)
        pegs, shows = self.play(sight, cards).exp(), self.show(sight).exp()
        return self.ends(self.standing(pieces, cards), pegs, shows)

    def standing(self, pieces: Pieces, cards: Tensor) -> Standing:
        """What is known of the score, and what each of some cards pegs at once."""
        scores = Scores(pieces)
        now = (pieces["points"].gather(1, cards) / POINT).round().long()
        starter = pieces["starter"]
        own_laid = (pieces["laid"][:, :N_CARDS] > 0).float()
        keep = ascending(pieces["hand"] + own_laid, KEPT).clamp(max=N_CARDS - 1)
        show = self.shows.show(keep, starter[:, :RANKS], starter[:, RANKS:]).long()
        # Amid the discard, or for a card that may not be laid, points are not what is pegged.
        return Standing(scores.own, scores.other, scores.dealing, show, now.clamp(0, PEGS))

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
        playing = pieces["phase"][:, PLAYING:] > 0
        in_play = _if_any(playing, self._in_play, observation)
        in_discard = _if_any(~playing, self.in_discard, observation)
        chances = torch.where(playing, in_play, in_discard)
        chances = torch.where(allowed & (pieces["hand"] > 0), chances, -1.0)
        best = chances.amax(1, keepdim=True)
        worth = self.worth(Scores(pieces))[0].clamp(min=_LEAST_WORTH).unsqueeze(1)
        logits = torch.where(allowed, (chances - best) / worth, MASKED)
        return logits, best.squeeze(1).clamp(0, 1)

    def _in_play(self, pieces: Pieces) -> Tensor:
        cards = ascending(pieces["hand"], KEPT)
        return _spread_over_cards(cards, self.judge_play(pieces, cards.clamp(max=N_CARDS - 1)))

    def in_discard(self, pieces: Pieces) -> Tensor:
        """The worth of the best discard with each card in it, float32 ``[B, 52]``.

        Where one card is thrown already it is of the pair.
        """
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


def _if_any(rows: Tensor, judge: Callable[[Pieces], Tensor], observation: Tensor) -> Tensor:
    """What some part of the network says, if there are rows that ask for it.

    In an exported network only; here the branch would have to be compiled.
    """
    if not torch.compiler.is_exporting():
        return judge(Pieces(observation))

    def judged(observation: Tensor) -> Tensor:
        return judge(Pieces(observation)).contiguous()

    def nothing(observation: Tensor) -> Tensor:
        return torch.full((observation.shape[0], N_CARDS), -1.0)

    chances: Tensor = torch.cond(rows.any(), judged, nothing, (observation,))
    return chances


def _spread_over_cards(cards: Tensor, values: Tensor) -> Tensor:
    """Values at the places of their cards, -1 elsewhere: ``[B, 52]`` from ``[B, K]``.

    A hand that is not full has card 52 in the places that are left.
    """
    everywhere = torch.full((cards.shape[0], N_CARDS + 1), -1.0, device=cards.device)
    return everywhere.scatter(1, cards, values)[:, :N_CARDS]
