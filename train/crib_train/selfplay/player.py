"""`AfterstateNet` as a player in large batches: the network's choices, sooner.

The network itself judges play and discard in every row and keeps whichever it
needs, as it must to be exported. Here each row is judged once, legal cards alone,
in bfloat16 where that is safe, and the end of the deal is counted by a kernel.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from crib_agents.bot import BatchBot
from crib_env.cards import N_CARDS
from crib_env.rules import SIX_CARD
from crib_train.selfplay.ends import amid_play
from crib_train.selfplay.heads import Sight
from crib_train.selfplay.network import PLAYING, AfterstateNet
from crib_train.selfplay.shows import DEALT, Pieces, ascending

_NOT_LEGAL = -9.0
"""Less than any card is worth."""


def judge_cards(
    net: AfterstateNet, observations: NDArray[np.float32], masks: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """What the legal cards are worth in the play.

    Args:
        net: the network.
        observations: float32 ``[B, D]``.
        masks: int8 ``[B, 52]``.

    Returns:
        Cards, int64 ``[B, K]``, ascending, as many as any row needs, and what each is worth,
        float32 ``[B, K]``, less than any other where the row has no more of them.
    """
    held = int((masks != 0).sum(1).max())
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        pieces = Pieces(torch.from_numpy(observations))
        some = ascending(torch.from_numpy(masks), held)
        cards = some.clamp(max=N_CARDS - 1)
        sight = Sight(pieces)
        pegs, shows = net.play(sight, cards).exp(), net.show(sight).exp()
        standing = net.standing(pieces, cards)
    worth = np.empty(cards.shape, np.float32)
    own, other, dealing, show, now = (part.numpy() for part in standing)
    shown, skunked = net.ends.shown.numpy(), net.ends.skunked.numpy()
    amid_play(own, other, dealing, show, now, pegs.numpy(), shows.numpy(), shown, skunked, worth)
    worth[some.numpy() == N_CARDS] = _NOT_LEGAL
    return cards.numpy(), worth


def judge_pairs(
    net: AfterstateNet, observations: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """What the 15 discards are worth, before the first card is thrown.

    Returns:
        The six cards, ascending, int64 ``[B, 6]``, and what each pair of `PAIRS` is worth, float32
        ``[B, 15]``.
    """
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        pieces = Pieces(torch.from_numpy(observations))
        six = ascending(pieces["hand"], DEALT)
        worth = net.judge_discards(pieces, six).float()
    return six.numpy(), worth.numpy()


class KernelPlayer(BatchBot):
    """Lays the best card by an `AfterstateNet`; of equals the lowest.

    Args:
        net: the network.
        name: what to call it.
    """

    rules = SIX_CARD

    def __init__(self, net: AfterstateNet, name: str = "self") -> None:
        self.net = net
        self.name = name

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        chosen = np.empty(len(observations), np.int64)
        playing = Pieces(torch.from_numpy(observations))["phase"][:, PLAYING].numpy() > 0
        for rows, choose in ((playing, self._lay), (~playing, self._throw)):
            if rows.any():
                chosen[rows] = choose(observations[rows], masks[rows])
        return chosen

    def _lay(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        cards, worth = judge_cards(self.net, observations, masks)
        return np.take_along_axis(cards, worth.argmax(1)[:, None], 1)[:, 0]

    def _throw(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            worth = self.net.in_discard(Pieces(torch.from_numpy(observations)))
        return np.where(masks != 0, worth.numpy(), _NOT_LEGAL).argmax(1)
