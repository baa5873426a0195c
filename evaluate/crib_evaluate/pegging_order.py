"""In which order the two sides of a deal come to their points, for any player."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.rules import SIX_CARD

REACH = 96
"""No side pegs this many points in one deal."""
NEVER = 255
FAR_TARGET = 1000
"""No deal ends a game that goes so far."""
DEALER, PONE = 0, 1
_AT_ONCE = 4096
_SHOW = ((PONE, S.Source.HAND_PONE), (DEALER, S.Source.HAND_DEALER), (DEALER, S.Source.CRIB))
"""Who counts what, in order."""


def order_of_points(
    player: Bot, deals: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Play deals of a player with itself, far from any target.

    Args:
        player: sits in both seats, and takes the score to be 0-0 but for what this deal brings.
        deals: how many.
        seed: of the deals.

    Returns:
        ``reached`` uint8 ``[deals, 2, 96]``: the place in the order of pegging at which a role
        (0 dealer, 1 pone) had so many points, `NEVER` if it never had; and what each pegged
        in all, int64 ``[deals, 2]``.
    """
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, deals, np.int64)
    parts = [_play(player, seeds[at : at + _AT_ONCE]) for at in range(0, deals, _AT_ONCE)]
    reached = np.concatenate([part[0] for part in parts])
    return reached, np.concatenate([part[1] for part in parts])


def _play(player: Bot, seeds: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    deals = len(seeds)
    rules = replace(SIX_CARD, target=FAR_TARGET)
    batch = GameBatch(deals, rules, one_deal=True, skip_forced=False)
    batch.start(batch.all_rows, seeds, np.full(deals, DEALER))
    reached = np.full((deals, 2, REACH), NEVER, np.uint8)
    reached[:, :, 0] = 0
    place = 0
    acting = batch.all_rows
    while len(acting):
        place += 1
        seats = batch.to_act[acting].copy()
        batch.apply(acting, player.actions(*batch.observe(acting, seats)))
        _note(reached, _pegged(batch), place)  # one card pegs for one side alone
        acting = acting[~batch.stopped[acting]]
    totals = _pegged(batch)
    for role, source in _SHOW:
        place += 1
        totals[:, role] += batch.tally[:, role, source]
        _note(reached, totals, place)
    return reached, totals


def _pegged(batch: GameBatch) -> NDArray[np.int64]:
    """Points before the show by role, int64 ``[B, 2]``."""
    sources = [S.Source.HEELS, S.Source.PLAY_DEALER, S.Source.PLAY_PONE]
    return np.asarray(batch.tally[:, :, sources].sum(2))


def _note(reached: NDArray[np.uint8], points: NDArray[np.int64], place: int) -> None:
    new = (points[:, :, None] >= np.arange(REACH)) & (reached == NEVER)
    reached[new] = place
