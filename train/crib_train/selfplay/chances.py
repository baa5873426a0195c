"""From points to the chance to win, amid a deal.

The table of `crib_env.win_probability` knows the chance before a deal. Amid one,
what is still to be counted stands between: the hands from the pone's on, then the
crib, and the first side at the target has won. Two tables follow from how often
hands, cribs and the play bring how much:

- the chance once the play is over, by the own show (`after_play`);
- the chance at the discard, by the show that is kept (`at_discard`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot
from crib_env import state as S
from crib_env._jit import njit
from crib_env.batch import GameBatch
from crib_env.engine import MOST_POINTS
from crib_env.rules import SIX_CARD
from crib_env.scoring import show_points
from crib_env.win_probability import chances_before_deal

Floats = NDArray[np.float64]

SHOWS = MOST_POINTS + 1
"""A hand or a crib is worth 0 to 29 points."""
TARGET = SIX_CARD.target
REACH = TARGET + MOST_POINTS
"""Own points with the own show: 0 to 149."""
PONE, DEALER = 0, 1


PEGGED = 32
"""No side pegs more in the play of a deal, his heels included."""


@dataclass(frozen=True)
class Spread:
    """How often a deal brings how much, as probabilities. Role 0 is the pone, 1 the dealer.

    Attributes:
        hand: float64 ``[2, 30]`` by ``[role, points]``: what a hand shows.
        crib: float64 ``[30]``.
        play: float64 ``[32, 32]`` by the points that pone and dealer peg in the play, his
            heels included.
        first: float64 ``[2, 32, 32]``: that a role pegs at least ``x`` points in the play,
            before the other has ``y``, by ``[role, x, y]``.
    """

    hand: Floats
    crib: Floats
    play: Floats
    first: Floats


def measure_spread(player: BatchBot, deals: int, seed: int) -> Spread:
    """How often deals of a player with itself bring how much, far from the target.

    Args:
        player: sits in both seats.
        deals: how many.
        seed: of the deals.
    """
    batch = GameBatch(deals, SIX_CARD, one_deal=True, skip_forced=False)
    seeds = np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, deals, np.int64)
    rows = batch.all_rows
    batch.start(rows, seeds, np.full(deals, DEALER))
    reached = np.full((deals, 2, PEGGED), _NEVER)
    reached[:, :, 0] = 0
    acting = rows
    card = 0
    while len(acting):
        card += 1
        seats = batch.to_act[acting].copy()
        batch.apply(acting, player.actions(*batch.observe(acting, seats)))
        pegged = _pegged(batch)  # one card pegs for one side alone, so this is an order
        new = (pegged[:, :, None] >= np.arange(PEGGED)) & (reached == _NEVER)
        reached[new] = card
        acting = acting[~batch.stopped[acting]]
    shows = np.array([_shows(row) for row in batch.states])
    play = np.zeros((PEGGED, PEGGED))
    np.add.at(play, tuple(np.minimum(_pegged(batch), PEGGED - 1).T), 1 / deals)
    first = np.zeros((2, PEGGED, PEGGED))
    for own in range(PEGGED):
        for other in range(PEGGED):
            for role in (PONE, DEALER):
                before = reached[:, role, own] < reached[:, 1 - role, other]
                first[role, own, other] = before.mean()
    return Spread(
        np.stack([_share(shows[:, role]) for role in (PONE, DEALER)]),
        _share(shows[:, 2]),
        play,
        first,
    )


_NEVER = 255


def _pegged(batch: GameBatch) -> NDArray[np.int64]:
    """Points of pone (seat 0) and dealer (seat 1) before the show, int64 ``[B, 2]``."""
    tally = batch.tally
    heels = tally[:, DEALER, S.Source.HEELS]
    dealer = tally[:, DEALER, S.Source.PLAY_DEALER] + heels
    return np.stack([tally[:, PONE, S.Source.PLAY_PONE], dealer], axis=1)


def _shows(row: NDArray[np.int64]) -> tuple[int, int, int]:
    """The pone's hand, the dealer's and the crib of a game dealt by seat 1."""
    r = SIX_CARD.to_array()
    hands = [int(show_points(row[S.KEPT + seat], row[S.STARTER], False, r)) for seat in (0, 1)]
    return hands[0], hands[1], int(show_points(row[S.CRIB], row[S.STARTER], True, r))


def _share(values: NDArray[np.int64]) -> Floats:
    return np.bincount(values, minlength=SHOWS) / len(values)


def after_play(spread: Spread, chances: Floats | None = None) -> Floats:
    """P(win) when the play is over and one knows the own hand.

    Args:
        spread: what the other hand and the crib bring.
        chances: P(win) before a deal, float64 ``[2, 121, 121]``; the library's by default.

    Returns:
        float64 ``[2, 150, 121]`` by ``[role, own points with the own show, other's points]``.
        A pone has won from 121 on; a dealer counts only after the pone.
    """
    before = _padded(chances_before_deal() if chances is None else chances)
    table = np.zeros((2, REACH, TARGET))
    theirs_in_all = np.convolve(spread.hand[DEALER], spread.crib)
    own = np.arange(REACH)
    capped = np.minimum(own, TARGET)
    other = np.arange(TARGET)
    for points, share in enumerate(theirs_in_all):
        # The dealer counts hand and crib after us, and we deal next.
        table[PONE] += share * before[1][:, np.minimum(other + points, TARGET)][capped]
    table[PONE, TARGET:] = 1.0
    for points, share in enumerate(spread.hand[PONE]):
        theirs = np.minimum(other + points, TARGET)
        for crib, chance in enumerate(spread.crib):
            mine = np.minimum(own + crib, TARGET)
            won = before[0][mine][:, theirs]
            won[:, theirs == TARGET] = 0.0  # the pone counts first
            table[DEALER] += share * chance * won
    return table


def _padded(chances: Floats) -> Floats:
    """With the target itself as a score: ``[2, 122, 122]``."""
    padded = np.zeros((2, TARGET + 1, TARGET + 1))
    padded[:, :TARGET, :TARGET] = chances
    padded[:, TARGET, :] = 1.0
    return padded


def at_discard(spread: Spread, shown: Floats) -> Floats:
    """P(win) before the starter is turned, by what the own hand will show.

    Args:
        spread: what the play brings.
        shown: from `after_play`.

    Returns:
        float64 ``[2, 121, 30, 121]`` by ``[role, own points, own show, other's points]``.
    """
    table = np.zeros((2, TARGET, SHOWS, TARGET))
    scores = np.arange(TARGET)
    needed = np.minimum(TARGET - scores, PEGGED - 1)
    for role in (PONE, DEALER):
        play = spread.play if role == PONE else spread.play.T
        # Nobody pegs enough in the play to win from so far away.
        near = (TARGET - scores < PEGGED)[:, None]
        out = np.where(near, spread.first[role][needed][:, needed], 0.0)
        table[role] += out[:, None, :]
        for x, y in np.argwhere(play > 0):
            own = scores[: TARGET - x] + x
            other = scores[: TARGET - y] + y
            value = shown[role][own[:, None] + np.arange(SHOWS)][:, :, other]
            table[role, : TARGET - x, :, : TARGET - y] += play[x, y] * value
    return table


@dataclass(frozen=True)
class Chances:
    """All that a network needs to turn points into chances, made from a `Spread`.

    Attributes:
        shown: from `after_play`.
        discarding: from `at_discard`.
        worths: what a point more is worth at the discard, P(win): float64
            ``[3, 2, 121, 121]`` by ``[whose, role, own points, other's points]``; pegged by
            oneself, pegged by the other (below 0), and in the crib (below 0 for the pone).
        usual: mean points of these three, float64 ``[3, 2]`` by ``[whose, role]``.
    """

    shown: Floats
    discarding: Floats
    worths: Floats
    usual: Floats


def make_chances(spread: Spread) -> Chances:
    """The tables that follow from how often deals bring how much."""
    shown = after_play(spread)
    discarding = at_discard(spread, shown)
    mean = _over_shows(spread, discarding)
    padded = np.zeros((2, TARGET + _STEP, TARGET + _STEP))
    padded[:, :TARGET, :TARGET] = mean
    padded[:, TARGET:, :] = 1.0
    scores = np.arange(TARGET)
    up, down = scores + _STEP, np.maximum(scores - _STEP, 0)
    span = (up - down).astype(float)
    own = (padded[:, up][:, :, :TARGET] - padded[:, down][:, :, :TARGET]) / span[:, None]
    other = (padded[:, :TARGET][:, :, up] - padded[:, :TARGET][:, :, down]) / span
    crib = _crib_worth(spread)
    points = np.arange(PEGGED)
    pegged = np.array([spread.play.sum(1) @ points, spread.play.sum(0) @ points])
    in_crib = float(spread.crib @ np.arange(SHOWS))
    usual = np.stack([pegged, pegged[::-1], np.full(2, in_crib)])
    return Chances(shown, discarding, np.stack([own, other, crib]), usual)


_STEP = 2
"""Points to either side over which worths are measured."""


def _over_shows(spread: Spread, discarding: Floats) -> Floats:
    return np.einsum("rmst,rs->rmt", discarding, spread.hand)


def _crib_worth(spread: Spread) -> Floats:
    """P(win) of a point more in the crib, float64 ``[2, 121, 121]``."""
    more, less = np.zeros(SHOWS), np.zeros(SHOWS)
    more[_STEP:] = spread.crib[:-_STEP]
    less[:-_STEP] = spread.crib[_STEP:]
    less[0] += spread.crib[:_STEP].sum()
    chances = []
    for crib in (less, more):
        moved = replace(spread, crib=crib)
        chances.append(_over_shows(moved, at_discard(moved, after_play(moved))))
    between = (more - less) @ np.arange(SHOWS)
    return np.asarray((chances[1] - chances[0]) / between)


@njit
def amid_play(
    pegs: np.ndarray,
    after: np.ndarray,
    show: np.ndarray,
    other: np.ndarray,
    dealing: np.ndarray,
    shown: np.ndarray,
    out: np.ndarray,
) -> None:
    """P(win) from distributions of points to come, as `AfterstateNet.play_chance`.

    Args:
        pegs: float32 ``[B, K, 2, 16]``, own points first.
        after: own points once each card has pegged, int64 ``[B, K]``.
        show, other, dealing: the own show, the other's points, whether the deal is one's
            own, int64 ``[B]``.
        shown: from `after_play`, float32, flat.
        out: float32 ``[B, K]``, set.
    """
    kinds = pegs.shape[3]
    for b in range(pegs.shape[0]):
        theirs = min(kinds, TARGET - other[b])
        for k in range(pegs.shape[1]):
            if after[b, k] >= TARGET:
                out[b, k] = 1.0
                continue
            they_stay = np.float32(0.0)
            for y in range(theirs):
                they_stay += pegs[b, k, 1, y]
            stays = np.float32(0.0)
            rest = np.float32(0.0)
            for x in range(min(kinds, TARGET - after[b, k])):
                row = (dealing[b] * REACH + after[b, k] + x + show[b]) * TARGET + other[b]
                mean = np.float32(0.0)
                for y in range(theirs):
                    mean += pegs[b, k, 1, y] * shown[row + y]
                stays += pegs[b, k, 0, x]
                rest += pegs[b, k, 0, x] * mean
            neither = max(stays + they_stay - np.float32(1.0), np.float32(0.0))
            out[b, k] = 1 - stays + neither * rest / max(stays * they_stay, np.float32(1e-9))
