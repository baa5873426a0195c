"""From points to come to what a card is worth: the order of counting at the end of a deal.

`Ends` computes it in the network's graph, `amid_play` the same sooner, for training.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from crib_env._jit import njit
from crib_train.selfplay.chances import LAST, PONE, SHOWS, TARGET
from crib_train.selfplay.heads import PEGS
from crib_train.selfplay.shows import look_up

_ROWS = 2 * PEGS
"""Own points from now on in the play: what the card pegs, and what is to come."""
_TINY = 1e-6
_IN_ALL = 2 * SHOWS - 1
"""Hand and crib together show 0 to 58 points."""


class Standing(NamedTuple):
    """What is known of the score amid the play.

    Attributes:
        own, other: points, int64 ``[B]``.
        dealing: whether the deal is one's own, 0 or 1, int64 ``[B]``.
        show: what the own hand will show, int64 ``[B]``.
        now: what each card pegs at once, int64 ``[B, K]``.
    """

    own: Tensor
    other: Tensor
    dealing: Tensor
    show: Tensor
    now: Tensor


def _moves(distribution: Tensor, rows: int) -> Tensor:
    """Probabilities to come from ``i`` points to ``k``, ``[B, rows, rows + N - 1]`` of ``[B, N]``.

    Rows on end, each longer by one than what they are cut into: so each begins one later.
    """
    width = rows + distribution.shape[1] - 1
    padded = functional.pad(distribution, (0, rows)).unsqueeze(1).expand(-1, rows, -1)
    return torch.unflatten(padded.flatten(1)[:, : rows * width], 1, (rows, width))


class Ends(nn.Module):
    """What a card is worth, from what is still to be pegged and shown."""

    shown: Tensor
    skunked: Tensor
    nothing: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shown", torch.zeros(2, TARGET + 1, LAST))
        self.register_buffer("skunked", torch.zeros(TARGET + 1))
        self.register_buffer("nothing", torch.eye(SHOWS)[0], persistent=False)

    def after_play(self, standing: Standing, shows: Tensor) -> Tensor:
        """What it is worth when the play is over.

        Args:
            standing: of the decisions.
            shows: probabilities of what the other's hand and the crib show, ``[B, 2, 30]``.

        Returns:
            Float32 ``[B, 32, 16]``, by the points that either side pegs until then.
        """
        device = shows.device
        hand, crib = shows.unbind(1)
        dealing = standing.dealing.unsqueeze(1) > 0
        mine = torch.where(dealing, crib, self.nothing)
        after = torch.where(dealing, self.nothing, crib)  # his crib comes after his hand
        theirs = (hand.unsqueeze(1) @ _moves(after, SHOWS)).squeeze(1)
        total = (standing.own + standing.show).unsqueeze(1)
        rows = total + torch.arange(_ROWS + SHOWS - 1, device=device)
        columns = standing.other.unsqueeze(1) + torch.arange(PEGS + _IN_ALL - 1, device=device)
        by_column = self.shown.transpose(1, 2).flatten(0, 1)
        worth = functional.embedding(standing.dealing.unsqueeze(1) * LAST + columns, by_column)
        worth = _moves(theirs, PEGS) @ worth  # [B, 16, 122]
        places = rows.clamp(max=TARGET).unsqueeze(1).expand(-1, PEGS, -1)
        worth = worth.gather(2, places) @ _moves(mine, _ROWS).transpose(1, 2)
        worth = worth.transpose(1, 2)  # [B, 32, 16]
        # The pone counts before anybody else.
        out = ((rows[:, :_ROWS] >= TARGET) & ~dealing).unsqueeze(2)
        worth = torch.where(out, self._won(columns[:, :PEGS]).unsqueeze(1), worth)
        # The dealer loses by the other's hand before his own is counted.
        lacking = (TARGET - columns[:, :PEGS]).clamp(0, SHOWS)
        enough = functional.pad(hand.flip(1).cumsum(1).flip(1), (0, 1)).gather(1, lacking)
        own = standing.own.unsqueeze(1) + torch.arange(_ROWS, device=device)
        lost = look_up(self.skunked, own.clamp(max=TARGET)).unsqueeze(2) * enough.unsqueeze(1)
        return worth - lost * dealing.unsqueeze(2)

    def _won(self, loser: Tensor) -> Tensor:
        return 1 + look_up(self.skunked, loser.clamp(max=TARGET))

    def forward(self, standing: Standing, pegs: Tensor, shows: Tensor) -> Tensor:
        """What each card is worth, float32 ``[B, K]``.

        Args:
            standing: of the decisions.
            pegs: probabilities of the points to come in the play, ``[B, K, 4, 2, 16]``, see
                `PlayHead`.
            shows: as for `after_play`.
        """
        steps = torch.arange(PEGS, device=pegs.device)
        now = standing.now.clamp(max=_ROWS - PEGS)
        rows = now.unsqueeze(2) + steps  # [B, K, 16]
        after = standing.own.reshape(-1, 1, 1) + rows
        theirs = standing.other.reshape(-1, 1) + steps  # [B, 16]
        own, other = pegs.unbind(3)  # [B, K, 4, 16]
        own_in = own * (after < TARGET).unsqueeze(2)
        other_in = other * (theirs < TARGET).reshape(-1, 1, 1, PEGS)
        own_out, other_out = own.sum(3) - own_in.sum(3), 1 - other_in.sum(3)
        places = rows.flatten(1).unsqueeze(2).expand(-1, -1, PEGS)
        worth = self.after_play(standing, shows).gather(1, places)
        worth = torch.unflatten(worth, 1, tuple(rows.shape[1:]))  # [B, K, 16, 16]
        neither = ((own_in @ worth) * other_in).sum((2, 3))
        won_by = self._won(theirs).reshape(-1, 1, 1, PEGS)
        won = ((other_in * won_by).sum(3) * own_out).sum(2)
        lost_by = look_up(self.skunked, after.clamp(max=TARGET)).unsqueeze(2)
        lost = ((own_in * lost_by).sum(3) * other_out).sum(2)
        # One side alone can peg out in a deal.
        possible = 1 - (own_out * other_out).sum(2)
        some = (neither + won - lost) / possible.clamp(min=_TINY)
        return torch.where(after[:, :, 0] >= TARGET, self._won(theirs[:, :1]), some)


@njit
def _after_play(
    own: int,
    show: int,
    other: int,
    shows: np.ndarray,
    is_pone: bool,
    rows: int,
    shown: np.ndarray,
    skunked: np.ndarray,
    theirs: np.ndarray,
    between: np.ndarray,
    worth: np.ndarray,
) -> None:
    """As `Ends.after_play`, for one decision and as many rows as are asked for.

    Args:
        own, show, other: as in `Standing`.
        shows: float32 ``[2, 30]``.
        is_pone: whether the deal is the other's.
        rows: how many.
        shown: float32 ``[122, 211]``, of the role.
        skunked: float32 ``[122]``.
        theirs, between: float32 ``[59]`` and ``[45]``, to work in.
        worth: float32 ``[32, 16]``, its first rows set.
    """
    worth[:rows] = 0
    if is_pone:
        theirs[:] = 0
        for points in range(SHOWS):
            if shows[0, points] > 0:
                for crib in range(SHOWS):
                    theirs[points + crib] += shows[0, points] * shows[1, crib]
        for i in range(rows):
            total = own + show + i
            if total >= TARGET:
                for j in range(PEGS):
                    worth[i, j] = 1 + skunked[min(other + j, TARGET)]
                continue
            for points in range(_IN_ALL):
                share = theirs[points]
                for j in range(PEGS):
                    worth[i, j] += share * shown[total, other + points + j]
        return
    for i in range(rows):
        between[:] = 0
        for crib in range(SHOWS):
            share = shows[1, crib]
            total = min(own + show + i + crib, TARGET)
            for k in range(PEGS + SHOWS - 1):
                between[k] += share * shown[total, other + k]
        for points in range(SHOWS):
            share = shows[0, points]
            for j in range(PEGS):
                worth[i, j] += share * between[points + j]
        if skunked[min(own + i, TARGET)] > 0:
            for j in range(PEGS):
                for points in range(max(TARGET - other - j, 0), SHOWS):
                    worth[i, j] -= skunked[min(own + i, TARGET)] * shows[0, points]


@njit
def amid_play(
    own: np.ndarray,
    other: np.ndarray,
    dealing: np.ndarray,
    show: np.ndarray,
    now: np.ndarray,
    pegs: np.ndarray,
    shows: np.ndarray,
    shown: np.ndarray,
    skunked: np.ndarray,
    out: np.ndarray,
) -> None:
    """What each card is worth, as `Ends` computes it.

    Args:
        own, other, dealing, show, now: of the `Standing`.
        pegs: float32 ``[B, K, 4, 2, 16]``, see `PlayHead`.
        shows: float32 ``[B, 2, 30]``.
        shown, skunked: of the `Ends`.
        out: float32 ``[B, K]``, set.
    """
    zero, one, tiny = np.float32(0.0), np.float32(1.0), np.float32(_TINY)
    worth = np.zeros((_ROWS, PEGS), np.float32)
    theirs = np.zeros(_IN_ALL, np.float32)
    between = np.zeros(PEGS + SHOWS - 1, np.float32)
    mean = np.zeros(PEGS, np.float32)
    for b in range(pegs.shape[0]):
        rows = min(now[b].max() + PEGS, TARGET - own[b])
        _after_play(
            own[b], show[b], other[b], shows[b], dealing[b] == PONE, rows, shown[dealing[b]],
            skunked, theirs, between, worth,
        )  # fmt: skip
        columns = min(PEGS, TARGET - other[b])
        for k in range(pegs.shape[1]):
            after = own[b] + now[b, k]
            if after >= TARGET:
                out[b, k] = one + skunked[other[b]]
                continue
            value, both = zero, zero
            for kind in range(pegs.shape[2]):
                they_stay, won = zero, zero
                for y in range(columns):
                    they_stay += pegs[b, k, kind, 1, y]
                    won += pegs[b, k, kind, 1, y] * (one + skunked[other[b] + y])
                they_go = one - they_stay
                mean[:] = 0
                for x in range(PEGS):
                    share = pegs[b, k, kind, 0, x]
                    if after + x >= TARGET:
                        value += share * won
                        both += share * they_go
                        continue
                    value -= share * skunked[after + x] * they_go
                    for y in range(PEGS):
                        mean[y] += share * worth[now[b, k] + x, y]
                for y in range(columns):
                    value += mean[y] * pegs[b, k, kind, 1, y]
            out[b, k] = value / max(one - both, tiny)
