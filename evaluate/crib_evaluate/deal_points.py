"""Measures `crib_env.deal_points` from Medium's games with itself."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crib_agents.heuristic import MEDIUM, make_medium
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.deal_points import MOST_PEGGED, MOST_SHOWN
from crib_env.expectation import CRIB_MEANS
from crib_env.rules import SIX_CARD
from crib_evaluate.files import write_whole
from crib_evaluate.pegging_order import FAR_TARGET
from crib_evaluate.tables import count_cribs, hands_seed

Progress = Callable[[float], None]
"""Told how much of the work is done, 0 to 1."""

_AT_ONCE = 10_000

Counts = NDArray[np.int64]


def count_deal_points(
    deals: int, seed: int, progress: Progress | None = None
) -> tuple[Counts, Counts]:
    """What Medium pegs in the play and shows in its hand, with nobody near the target.

    Args:
        deals: how many.
        seed: of the deals.
        progress: told how far it is.

    Returns:
        Deals by ``[dealing, points]``: int64 ``[2, 40]`` for the play and ``[2, 30]``
        for the hand.
    """
    medium = make_medium()
    pegged = np.zeros((2, MOST_PEGGED + 1), np.int64)
    shown = np.zeros((2, MOST_SHOWN + 1), np.int64)
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, deals, np.int64)
    sources = (
        (S.Source.PLAY_PONE, S.Source.HAND_PONE),
        (S.Source.PLAY_DEALER, S.Source.HAND_DEALER),
    )
    for first in range(0, deals, _AT_ONCE):
        part = seeds[first : first + _AT_ONCE]
        batch = GameBatch(len(part), replace(SIX_CARD, target=FAR_TARGET), one_deal=True)
        batch.start(batch.all_rows, part, np.zeros(len(part), np.int64))
        acting = batch.all_rows
        while len(acting):
            seats = batch.to_act[acting].copy()
            batch.apply(acting, medium.actions(*batch.observe(acting, seats)))
            acting = acting[~batch.stopped[acting]]
        for dealing, (play, hand) in enumerate(sources):
            points = batch.tally[:, 1 - dealing]  # seat 0 dealt
            np.add.at(pegged[dealing], np.minimum(points[:, play], MOST_PEGGED), 1)
            np.add.at(shown[dealing], points[:, hand], 1)
        if progress is not None:
            progress(min(1.0, (first + _AT_ONCE) / deals))
    return pegged, shown


def count_crib_points(samples: int, seed: int, progress: Progress | None = None) -> Counts:
    """Cribs by points and by the ranks thrown, against Medium's discards.

    Args:
        samples: hands of the other side for each pair of ranks and each role.
        seed: of the hands.
        progress: told how far it is.

    Returns:
        int64 ``[2, 13, 13, 30]``, cribs by ``[own crib, rank, rank, points]``.
    """
    r = SIX_CARD.to_array()
    p = MEDIUM.to_array()
    counts = np.zeros((2, 13, 13, MOST_SHOWN + 1), np.int64)
    for first in range(13):
        for second in range(first, 13):
            for ours in (0, 1):
                out = counts[ours, first, second]
                word = hands_seed(seed, ours, first, second)
                count_cribs(first, second, bool(ours), samples, word, r, p, CRIB_MEANS, out)
                counts[ours, second, first] = out
        if progress is not None:
            progress((first + 1) / 13)
    return counts


def write_deal_points(path: Path, pegged: Counts, hand: Counts, crib: Counts) -> None:
    """Write the table's counts into one file."""
    data = io.BytesIO()
    np.savez_compressed(
        data,
        pegged=pegged.astype(np.int32),
        hand=hand.astype(np.int32),
        crib=crib.astype(np.int32),
    )
    write_whole(path, data.getvalue())
