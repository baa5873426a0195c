"""The tables that the library reads, made from Medium's self-play.

``crib tables crib`` measures what a crib is worth by the ranks thrown to it;
``crib tables win-probability`` the chance to win from every score. Both write
into `crib_env.expectation.DATA`, and are repeatable from a seed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot
from crib_agents.heuristic import MEDIUM, choose, make_medium
from crib_agents.hidden import throw_two
from crib_env import engine
from crib_env import state as S
from crib_env._jit import njit
from crib_env.batch import GameBatch
from crib_env.bits import lowest
from crib_env.cards import RANKS
from crib_env.deal_points import MOST_SHOWN
from crib_env.randomness import draw, mix, next_random
from crib_env.rules import SIX_CARD
from crib_env.scoring import show_points
from crib_evaluate.files import write_whole
from crib_evaluate.pegging_order import FAR_TARGET, NEVER, REACH, order_of_points

Progress = Callable[[float], None]
"""Told how much of the work is done, 0 to 1."""


SKUNK_LINES = tuple(
    SIX_CARD.target - line
    for line in (SIX_CARD.skunk_line, SIX_CARD.double_skunk_line)
    if line is not None
)
"""A loser who lacks more points than this is skunked, double skunked."""
_DISCARD = int(S.Phase.DISCARD)
_DEAL_OVER = int(S.Phase.DEAL_OVER)


@njit
def count_cribs(
    first: int,
    second: int,
    ours: bool,
    samples: int,
    seed: int,
    r: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Count cribs by points, where these ranks are thrown and the other throws by the heuristic.

    Args:
        first, second: the ranks.
        ours: whether the crib belongs to the side that throws them.
        samples: hands of the other side, each counted with every starter that is left.
        seed: of the hands.
        r, p, cribs: rules, settings and table of the heuristic.
        out: int64 ``[30]``, added to.
    """
    s = np.zeros(S.STATE_SIZE, np.int64)
    chance = np.zeros(S.STATE_SIZE, np.int64)
    chance[S.RANDOM] = seed
    for _ in range(samples):
        suit = (next_random(chance) >> 20) & 3
        other = (next_random(chance) >> 20) & 3
        while first == second and other == suit:
            other = (next_random(chance) >> 20) & 3
        crib = (1 << (4 * first + suit)) | (1 << (4 * second + other))
        s[:] = 0
        s[S.PHASE] = _DISCARD
        s[S.DEALER] = 1 if ours else 0
        used = crib
        for _card in range(6):
            card = draw(chance, used)
            used |= 1 << card
            s[S.HAND] |= 1 << card
        crib |= throw_two(s, r, p, cribs)
        rest = ((1 << 52) - 1) & ~used
        while rest:
            starter = lowest(rest)
            rest &= rest - 1
            out[show_points(crib, starter, True, r)] += 1


def hands_seed(seed: int, ours: int, first: int, second: int) -> int:
    """64 bits for the hands that these ranks are thrown against."""
    return int(mix(seed * 4096 + 169 * ours + 13 * first + second))


def measure_cribs(
    samples: int, rounds: int, seed: int, progress: Progress | None = None
) -> NDArray[np.float64]:
    """Mean cribs by ranks thrown, against Medium's own discards with the same table.

    Args:
        samples: hands of the other side for each pair of ranks and each role.
        rounds: how often the table is rebuilt from discards made by the last one.
        seed: of the hands; every round draws the same ones.
        progress: told how far it is.

    Returns:
        float64 ``[2, 13, 13]``, points, by ``[own crib, rank, rank]``.
    """
    r = SIX_CARD.to_array()
    p = MEDIUM.to_array()
    table = np.zeros((2, 13, 13))
    for turn in range(rounds):
        fresh = np.zeros_like(table)
        for first in range(13):
            for second in range(first, 13):
                for ours in (0, 1):
                    word = hands_seed(seed, ours, first, second)
                    counts = np.zeros(MOST_SHOWN + 1, np.int64)
                    count_cribs(first, second, bool(ours), samples, word, r, p, table, counts)
                    mean = (counts @ np.arange(MOST_SHOWN + 1)) / counts.sum()
                    fresh[ours, first, second] = fresh[ours, second, first] = mean
            if progress is not None:
                progress((turn + (first + 1) / 13) / rounds)
        table = fresh
    return table


def write_crib_table(path: Path, table: NDArray[np.float64]) -> None:
    """Write one table of mean cribs as CSV, to three decimals."""
    lines = ["," + ",".join(RANKS)]
    lines += [
        rank + "," + ",".join(f"{mean:.3f}" for mean in row)
        for rank, row in zip(RANKS, table, strict=True)
    ]
    write_whole(path, ("\n".join(lines) + "\n").encode())


@njit
def _play_deals(
    seeds: np.ndarray,
    r: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    reached: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Play deals between equals; note when each side had pegged how much.

    ``reached[deal, role, x]`` is the place in the order of pegging at which that
    role (0 dealer, 1 pone) had ``x`` points, `NEVER` if it never had.
    """
    s = np.zeros(S.STATE_SIZE, np.int64)
    known = np.zeros(S.STATE_SIZE, np.int64)
    ev = np.zeros((S.EVENT_CAPACITY, S.EVENT_WIDTH), np.int64)
    no_deck = np.zeros(0, np.int64)
    for deal in range(seeds.shape[0]):
        engine.start(s, r, seeds[deal], 0, no_deck, ev)
        place = 0
        while s[S.PHASE] != _DEAL_OVER:
            seat = s[S.TO_ACT]
            _what_seat_knows(s, seat, known)
            ev[0, 0] = 0
            engine.apply(s, r, choose(known, r, engine.legal(s), p, cribs, 0), ev)
            for at in range(1, ev[0, 0] + 1):
                if ev[at, 2] == 0:
                    continue
                role = ev[at, 1]
                for _point in range(ev[at, 2]):
                    totals[deal, role] += 1
                    reached[deal, role, totals[deal, role]] = place
                place += 1


@njit
def _what_seat_knows(s: np.ndarray, seat: int, known: np.ndarray) -> None:
    """The columns that the heuristic reads, with the seat at place 0 (two players)."""
    known[:] = s
    known[S.HAND] = s[S.HAND + seat]
    known[S.HAND + 1] = 0
    known[S.THROWN_CARDS] = s[S.THROWN_CARDS + seat]
    known[S.THROWN_CARDS + 1] = 0
    known[S.HELD] = s[S.HELD + seat]
    known[S.HELD + 1] = s[S.HELD + 1 - seat]
    known[S.DEALER] = (s[S.DEALER] + seat) % 2
    if seat == 1:
        known[S.GONE] = (s[S.GONE] >> 1 & 1) | (s[S.GONE] & 1) << 1
    if s[S.PHASE] == _DISCARD:
        known[S.STARTER] = -1


@njit
def _solve_scores(
    reached: np.ndarray,
    totals: np.ndarray,
    target: int,
    lines: np.ndarray,
    skunk: float,
    value: np.ndarray,
) -> None:
    """What it is worth to the dealer that he needs ``x`` and the pone ``y``: ``value[x, y]``.

    The same deals serve for all scores, so more points can never lower it.

    Args:
        reached: uint8 ``[2, 96, deals]``, as in `Order` but for the order of its axes.
        totals: int64 ``[2, deals]``.
        target: where a game ends.
        lines: a loser who lacks more points is skunked, double skunked.
        skunk: what that is worth beside a win.
        value: float64 ``[target + 1, target + 1]``, set.
    """
    deals = totals.shape[1]
    for needed in range(2, 2 * target + 1):
        for x in range(max(1, needed - target), min(target, needed - 1) + 1):
            y = needed - x
            won = 0.0
            for deal in range(deals):
                dealer_at = reached[0, x, deal] if x < REACH else NEVER
                pone_at = reached[1, y, deal] if y < REACH else NEVER
                if dealer_at < pone_at:
                    won += 1.0
                    for line in lines:
                        if y > line and _falls_short(reached, 1, y - line, deal, dealer_at):
                            won += skunk
                elif pone_at < dealer_at:
                    for line in lines:
                        if x > line and _falls_short(reached, 0, x - line, deal, pone_at):
                            won -= skunk
                else:  # neither is home
                    won += 1.0 - value[y - totals[1, deal], x - totals[0, deal]]
            value[x, y] = won / deals


@njit
def _falls_short(reached: np.ndarray, role: int, points: int, deal: int, place: int) -> bool:
    """Whether a role has not got so many points by then."""
    return points >= REACH or reached[role, points, deal] > place


def measure_win_probability(
    deals: int, seed: int, progress: Progress | None = None, player: Bot | None = None
) -> NDArray[np.float32]:
    """Chance to win from every score, when both sides play as Medium does, or as another.

    Medium does not look at the score, so one sample of deals serves for all. A player
    that does is taken as it plays at 0-0.

    Args:
        deals: how many.
        seed: of the deals.
        progress: told how far it is.
        player: Medium by default.

    Returns:
        float32 ``[2, 121, 121]`` by ``[dealing, own score, other score]``.
    """
    tell = progress or (lambda done: None)
    if player is None:
        reached, totals = _medium_deals(deals, seed, lambda done: tell(0.5 * done))
    else:
        order = order_of_points(player, deals, seed)
        reached, totals = order.reached, order.totals
        tell(0.5)
    values = values_before_deal(reached, totals).astype(np.float32)
    tell(1.0)
    return values


def values_before_deal(
    reached: NDArray[np.uint8], totals: NDArray[np.int64], skunk: float = 0.0
) -> NDArray[np.float64]:
    """What every score is worth before a deal: the chance to win, and a part for skunks.

    Args:
        reached, totals: how deals went, as in `Order`.
        skunk: what a skunk given is worth beside a win, once more for a double one; taken, as
            much less.

    Returns:
        float64 ``[2, 121, 121]`` by ``[dealing, own score, other score]``. Both sides' values
        add up to 1.
    """
    target = SIX_CARD.target
    value = np.zeros((target + 1, target + 1))
    _solve_scores(
        np.ascontiguousarray(reached.transpose(1, 2, 0)),
        np.ascontiguousarray(totals.T),
        target,
        np.array(SKUNK_LINES),
        skunk,
        value,
    )
    dealing = value[:0:-1, :0:-1]  # from points needed to points had
    return np.stack([1.0 - dealing.T, dealing])


def _medium_deals(
    deals: int, seed: int, tell: Progress
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """As `order_of_points` for Medium, compiled."""
    far = replace(SIX_CARD, target=FAR_TARGET)
    reached = np.full((deals, 2, REACH), NEVER, np.uint8)
    totals = np.zeros((deals, 2), np.int64)
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, deals, np.int64)
    medium = make_medium()
    step = max(1, deals // 20)
    for first in range(0, deals, step):
        part = slice(first, first + step)
        _play_deals(
            seeds[part],
            far.to_array(),
            MEDIUM.to_array(),
            medium.crib_means,
            reached[part],
            totals[part],
        )
        tell(min(1.0, (first + step) / deals))
    return reached, totals


def measure_deal_starts(games: int, seed: int) -> NDArray[np.int32]:
    """How often Medium's games with itself come to a deal at each score.

    Returns:
        int32 ``[121, 121]``: deals by ``[dealer's score, pone's score]``.
    """
    batch = GameBatch(games, one_deal=True)
    medium = make_medium()
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, games, np.int64)
    batch.start(batch.all_rows, seeds, np.zeros(games, np.int64))
    starts = np.zeros((SIX_CARD.target, SIX_CARD.target), np.int32)
    going = batch.all_rows
    while len(going):
        dealer = batch.dealer[going]
        scores = batch.scores[going]
        places = np.arange(len(going))
        np.add.at(starts, (scores[places, dealer], scores[places, 1 - dealer]), 1)
        acting = going
        while len(acting):
            seats = batch.to_act[acting].copy()
            batch.apply(acting, medium.actions(*batch.observe(acting, seats)))
            acting = acting[~batch.stopped[acting]]
        going = going[~batch.over[going]]
        batch.next_deal(going)
    return starts


def write_win_probability(
    path: Path, chances: NDArray[np.float32], starts: NDArray[np.int32]
) -> None:
    """Write both score tables into one file."""
    data = io.BytesIO()
    np.savez_compressed(data, chances=chances, deal_starts=starts)
    write_whole(path, data.getvalue())
