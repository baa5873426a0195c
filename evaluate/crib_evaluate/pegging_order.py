"""In which order the two sides of a deal come to their points, for any player."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.rules import SIX_CARD

REACH = 96
"""No side pegs this many points in one deal."""
NEVER = 255
CARDS = SIX_CARD.players * SIX_CARD.dealt
"""Cards thrown and laid in a deal, one after the other; the show comes after them."""
FAR_TARGET = 1000
"""No deal ends a game that goes so far."""
DEALER, PONE = 0, 1
_AT_ONCE = 4096
_SHOW = ((PONE, S.Source.HAND_PONE), (DEALER, S.Source.HAND_DEALER), (DEALER, S.Source.CRIB))
"""Who counts what, in order."""


@dataclass(frozen=True)
class Order:
    """How deals went. Role 0 is the dealer, 1 the pone.

    Attributes:
        reached: uint8 ``[deals, 2, 96]``: the place in the order of pegging at which a role had
            so many points (1 to `CARDS` in the play), `NEVER` if it never had.
        totals: what each role pegged and showed in all, int64 ``[deals, 2]``.
        played: the same before the show, his heels included.
        shows: what the pone's hand, the dealer's and the crib showed, int64 ``[deals, 3]``.
    """

    reached: NDArray[np.uint8]
    totals: NDArray[np.int64]
    played: NDArray[np.int64]
    shows: NDArray[np.int64]


def order_of_points(player: Bot, deals: int, seed: int) -> Order:
    """Play deals of a player with itself, far from any target.

    Args:
        player: sits in both seats, and takes the score to be 0-0 but for what this deal brings.
        deals: how many.
        seed: of the deals.
    """
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, deals, np.int64)
    parts = [_play(player, seeds[at : at + _AT_ONCE]) for at in range(0, deals, _AT_ONCE)]
    joined = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("reached", "totals", "played", "shows")
    )
    return Order(*joined)


def _play(player: Bot, seeds: NDArray[np.int64]) -> Order:
    deals = len(seeds)
    rules = replace(SIX_CARD, target=FAR_TARGET)
    batch = GameBatch(deals, rules, one_deal=True, skip_forced=False)
    batch.start(batch.all_rows, seeds, np.full(deals, DEALER))
    reached = np.full((deals, 2, REACH), NEVER, np.uint8)
    reached[:, :, 0] = 0
    acting = batch.all_rows
    for place in range(1, CARDS + 1):
        seats = batch.to_act[acting].copy()
        batch.apply(acting, player.actions(*batch.observe(acting, seats)))
        _note(reached, _pegged(batch), place)  # one card pegs for one side alone
        acting = acting[~batch.stopped[acting]]
    played = _pegged(batch)
    totals = played.copy()
    shows = np.stack([batch.tally[:, role, source] for role, source in _SHOW], 1)
    for at, (role, _) in enumerate(_SHOW):
        totals[:, role] += shows[:, at]
        _note(reached, totals, CARDS + 1 + at)
    return Order(reached, totals, played, shows)


def _pegged(batch: GameBatch) -> NDArray[np.int64]:
    """Points before the show by role, int64 ``[B, 2]``."""
    sources = [S.Source.HEELS, S.Source.PLAY_DEALER, S.Source.PLAY_PONE]
    return np.asarray(batch.tally[:, :, sources].sum(2))


def _note(reached: NDArray[np.uint8], points: NDArray[np.int64], place: int) -> None:
    new = (points[:, :, None] >= np.arange(REACH)) & (reached == NEVER)
    reached[new] = place
