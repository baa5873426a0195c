"""What each pair of discards is worth: the chance to win after the deal.

The own show is exact for every starter. What both sides peg in the play, the
other's hand, and the crib by the ranks thrown to it are as usual
(`crib_env.deal_points`), each drawn by itself. All is counted in the order of the game:
the play, pone's hand, the dealer's, the crib.
"""

from __future__ import annotations

import numpy as np

from crib_agents.solver import SPAN, TARGET
from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import njit
from crib_env.bits import lowest, popcount
from crib_env.cards import FULL_DECK, JACK
from crib_env.deal_points import MOST_PEGGED, MOST_SHOWN
from crib_env.scoring import show_points

_HEELS = 2


@njit
def _pegs_out(chances: np.ndarray, points: int) -> float:
    """The chance to peg as many points in the play."""
    out = 0.0
    for pegged in range(max(points, 0), MOST_PEGGED + 1):
        out += chances[pegged]
    return out


@njit
def _fill_counted(
    x: int,
    y: int,
    dx: int,
    dy: int,
    dealing: int,
    ends: np.ndarray,
    pegged: np.ndarray,
    hand: np.ndarray,
    out: np.ndarray,
) -> None:
    """The chance to win by what the own hand shows and what the crib is worth.

    Args:
        x, y: own points and the other's, before the play.
        dx, dy: what either counts at the show beside hand and crib.
        dealing: 1 where the crib is ours.
        ends: float64 ``[SPAN * SPAN]``, see `crib_agents.solver.solve`.
        pegged, hand: see `DealPoints`.
        out: float64 ``[30, 30]``, set by ``[own hand, crib]``.
    """
    mine = pegged[dealing]
    theirs = pegged[1 - dealing]
    mine_out = _pegs_out(mine, TARGET - x)
    theirs_out = _pegs_out(theirs, TARGET - y)
    # Where both could, either is first in half of the cases: it is the same for every throw.
    won_in_play = mine_out * (1.0 - 0.5 * theirs_out)
    most = min(MOST_PEGGED, TARGET - 1 - x)
    added = np.zeros(MOST_PEGGED + MOST_SHOWN + 1, np.float64)
    for play in range(min(MOST_PEGGED, TARGET - 1 - y) + 1):
        if theirs[play] > 0.0:
            for show in range(MOST_SHOWN + 1):
                added[play + show] += theirs[play] * hand[1 - dealing, show]
    last = added.shape[0]
    while added[last - 1] == 0.0:
        last -= 1
    out[:] = won_in_play
    for crib in range(MOST_SHOWN + 1):
        ours = dx + (crib if dealing else 0)
        others = dy + (0 if dealing else crib)
        for points in range(most + MOST_SHOWN + 1):
            row = SPAN * (x + ours + points) + y + others
            chance = 0.0
            for more in range(last):
                chance += added[more] * ends[row + more]
            for play in range(max(points - MOST_SHOWN, 0), min(points, most) + 1):
                out[points - play, crib] += mine[play] * chance


@njit
def _fill_after_cut(
    s: np.ndarray,
    r: np.ndarray,
    jack: bool,
    ends: np.ndarray,
    pegged: np.ndarray,
    hand: np.ndarray,
    out: np.ndarray,
) -> None:
    """As `_fill_counted`, once a jack, or no jack, is turned up."""
    dealing = 1 if s[S.DEALER] == 0 else 0
    x = s[S.SCORE]
    y = s[S.SCORE + 1]
    dx = _HEELS if jack and dealing else 0
    dy = _HEELS if jack and not dealing else 0
    if not r[R.HEELS_AT_SHOW]:
        x += dx
        y += dy
        dx = 0
        dy = 0
        if x >= TARGET or y >= TARGET:
            out[:] = 1.0 if x >= TARGET else 0.0
            return
    _fill_counted(x, y, dx, dy, dealing, ends, pegged, hand, out)


@njit
def _over_starters(
    keep: int,
    unseen: int,
    r: np.ndarray,
    crib: np.ndarray,
    plain: np.ndarray,
    jacks: np.ndarray,
) -> float:
    chance = 0.0
    starters = unseen
    while starters:
        starter = lowest(starters)
        starters &= starters - 1
        show = show_points(keep, starter, False, r)
        counted = jacks if starter >> 2 == JACK else plain
        for points in range(MOST_SHOWN + 1):
            chance += crib[points] * counted[show, points]
    return chance / popcount(unseen)


@njit
def throw_chances(
    s: np.ndarray,
    r: np.ndarray,
    ends: np.ndarray,
    pegged: np.ndarray,
    hand: np.ndarray,
    cribs: np.ndarray,
    out: np.ndarray,
) -> None:
    """The chance to win with each pair of discards.

    Args:
        s: what the seat at place 0 knows in the discard, as `recall` makes it.
        r: settings of the rules.
        ends: float64 ``[2, SPAN * SPAN]``, see `crib_agents.solver.chances_when_counted`.
        pegged, hand, cribs: see `crib_env.deal_points.DealPoints`.
        out: float64 ``[52, 52]``, set by both cards thrown, either way round; below
            zero where that is no choice.
    """
    out[:] = -1.0
    six = s[S.HAND] | s[S.THROWN_CARDS]
    unseen = FULL_DECK & ~six
    dealing = 1 if s[S.DEALER] == 0 else 0
    plain = np.empty((MOST_SHOWN + 1, MOST_SHOWN + 1), np.float64)
    jacks = np.empty((MOST_SHOWN + 1, MOST_SHOWN + 1), np.float64)
    _fill_after_cut(s, r, False, ends[dealing], pegged, hand, plain)
    _fill_after_cut(s, r, True, ends[dealing], pegged, hand, jacks)
    firsts = six
    while firsts:
        first = lowest(firsts)
        firsts &= firsts - 1
        seconds = firsts
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            both = (1 << first) | (1 << second)
            if s[S.THROWN_CARDS] & ~both:
                continue
            crib = cribs[dealing, first >> 2, second >> 2]
            chance = _over_starters(six & ~both, unseen, r, crib, plain, jacks)
            out[first, second] = chance
            out[second, first] = chance
