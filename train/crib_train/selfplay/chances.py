"""From points to the chance to win, amid a deal.

A table says what every score is worth before a deal. Amid one, what is still to be
counted stands between: the hands from the pone's on, then the crib, and the first
side at the target has won. Three tables follow from how often hands, cribs and the
play bring how much:

- what it is worth once the play and the show are over (`after_show`);
- once the play is over, by the own show (`after_play`);
- at the discard, by the show that is kept (`at_discard`).

A win is worth 1 and a loss 0, but for skunks (`Stakes`): a small part of a win for
each. It decides only where the game is all but decided, and there it plays on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot
from crib_env.engine import MOST_POINTS
from crib_env.rules import SIX_CARD
from crib_evaluate import pegging_order
from crib_evaluate.pegging_order import CARDS, NEVER, Order, order_of_points
from crib_evaluate.tables import values_before_deal

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
        reaching: float64 ``[2, 32, 32]``: that a role comes to ``x`` points in the play, or
            past them, when the other has ``y``, by ``[role, x, y]``.
    """

    hand: Floats
    crib: Floats
    play: Floats
    reaching: Floats


@dataclass(frozen=True)
class Stakes:
    """What scores are worth.

    Attributes:
        before: before a deal, float64 ``[2, 121, 121]`` by ``[dealing, own, other's points]``.
        skunked: what a win is worth more, and a loss less, by the loser's points, float64
            ``[122]``.
    """

    before: Floats
    skunked: Floats


def measure(player: BatchBot, deals: int, seed: int, skunk: float) -> tuple[Spread, Stakes]:
    """What deals of a player with itself bring, and what scores are then worth.

    Args:
        player: sits in both seats, far from the target.
        deals: how many.
        seed: of the deals.
        skunk: what a skunk is worth beside a win; a double skunk as much again.
    """
    order = order_of_points(player, deals, seed)
    return spread_of(order), stakes_of(order, skunk)


def stakes_of(order: Order, skunk: float) -> Stakes:
    """What scores are worth to players whose deals go so."""
    skunked = skunk * np.array([float(SIX_CARD.skunk(points)) for points in range(TARGET + 1)])
    return Stakes(values_before_deal(order.reached, order.totals, skunk), skunked)


def spread_of(order: Order) -> Spread:
    """How often deals brought how much."""
    roles = [pegging_order.PONE, pegging_order.DEALER]  # in the order of `PONE` and `DEALER`
    reached = order.reached[:, roles, :PEGGED].astype(np.int64)
    reached[reached > CARDS] = NEVER  # what comes in the show
    play = np.zeros((PEGGED, PEGGED))
    played = np.minimum(order.played[:, roles], PEGGED - 1)
    np.add.at(play, tuple(played.T), 1 / len(played))
    reaching = np.zeros((2, PEGGED, PEGGED))
    for role in (PONE, DEALER):
        for points in range(PEGGED):
            there = reached[:, role, points] != NEVER
            place = reached[there, role, points, None]
            other = (reached[there, 1 - role, 1:] <= place).sum(1)
            reaching[role, points] = np.bincount(other, minlength=PEGGED) / len(reached)
    hands, crib = order.shows[:, :2], order.shows[:, 2]
    return Spread(
        np.stack([_share(hands[:, role]) for role in (PONE, DEALER)]), _share(crib), play, reaching
    )


def _share(values: NDArray[np.int64]) -> Floats:
    return np.bincount(values, minlength=SHOWS) / len(values)


LAST = TARGET + PEGGED + 2 * SHOWS
"""Columns of `after_show`: the other's points, as far over the target as play and show can go."""


def after_show(stakes: Stakes) -> Floats:
    """What it is worth when all but the winner's last points are counted.

    Args:
        stakes: what scores are worth.

    Returns:
        float64 ``[2, 122, 213]`` by ``[role, own points, other's points]``. For the pone own
        points are those with the own show, which is counted first, and the other's those with
        his hand and crib. For the dealer they are those with own show and crib, the other's
        those with the hand counted before; of what a loss is worth less nothing is in it, for
        that goes by the own points before the show.
    """
    table = np.zeros((2, TARGET + 1, LAST))
    for role in (PONE, DEALER):  # who deals next
        table[role, :TARGET, :TARGET] = stakes.before[1 - role]
        table[role, TARGET, :TARGET] = 1 + stakes.skunked[:TARGET]
    table[PONE, :TARGET, TARGET:] = -stakes.skunked[:TARGET, None]
    return table


def after_play(spread: Spread, stakes: Stakes) -> Floats:
    """What it is worth when the play is over and one knows the own hand.

    Args:
        spread: what the other hand and the crib bring.
        stakes: what scores are worth.

    Returns:
        float64 ``[2, 150, 121]`` by ``[role, own points with the own show, other's points]``.
        A pone has won from 121 on; a dealer counts only after the pone, and what his loss is
        worth less is left out, see `after_show`.
    """
    shown = after_show(stakes)
    table = np.zeros((2, REACH, TARGET))
    own = np.arange(REACH)
    other = np.arange(TARGET)
    capped = np.minimum(own, TARGET)
    for points, share in enumerate(np.convolve(spread.hand[DEALER], spread.crib)):
        table[PONE] += share * shown[PONE][:, other + points][capped]
    table[PONE, TARGET:] = shown[PONE, TARGET, :TARGET]  # counted before all else
    for points, share in enumerate(spread.hand[PONE]):
        for crib, chance in enumerate(spread.crib):
            mine = np.minimum(own + crib, TARGET)
            table[DEALER] += share * chance * shown[DEALER][:, other + points][mine]
    return table


def at_discard(spread: Spread, stakes: Stakes) -> Floats:
    """What it is worth before the starter is turned, by what the own hand will show.

    Args:
        spread: what the play, the other hand and the crib bring.
        stakes: what scores are worth.

    Returns:
        float64 ``[2, 121, 30, 121]`` by ``[role, own points, own show, other's points]``.
    """
    shown = after_play(spread, stakes)
    shows_out = spread.hand[PONE][::-1].cumsum()[::-1]  # by points that are enough
    table = np.zeros((2, TARGET, SHOWS, TARGET))
    scores = np.arange(TARGET)
    for role in (PONE, DEALER):
        play = spread.play if role == PONE else spread.play.T
        won = _pegged_out(spread.reaching[role], 1 + stakes.skunked)
        lost = _pegged_out(spread.reaching[1 - role], stakes.skunked)
        table[role] += (won - lost.T)[:, None, :]
        for x, y in np.argwhere(play > 0):
            own = scores[: TARGET - x] + x
            other = scores[: TARGET - y] + y
            value = shown[role][own[:, None] + np.arange(SHOWS)][:, :, other]
            if role == DEALER:
                lacking = np.minimum(TARGET - other, SHOWS - 1)
                shown_out = np.where(TARGET - other < SHOWS, shows_out[lacking], 0.0)
                value = value - stakes.skunked[own][:, None, None] * shown_out
            table[role, : TARGET - x, :, : TARGET - y] += play[x, y] * value
    return table


def _pegged_out(reaching: Floats, worth: Floats) -> Floats:
    """What it is worth that one side may win amid the play.

    Args:
        reaching: of the `Spread`, for the role of this side.
        worth: of winning, by the loser's points, float64 ``[122]``.

    Returns:
        float64 ``[121, 121]`` by this side's points and the other's.
    """
    scores = np.arange(TARGET)
    near = TARGET - scores < PEGGED  # from further away nobody pegs out
    needed = np.minimum(TARGET - scores, PEGGED - 1)
    table = np.zeros((TARGET, TARGET))
    for pegged in range(PEGGED):
        chance = np.where(near, reaching[needed, pegged], 0.0)
        loser = scores + pegged
        table += chance[:, None] * np.where(loser < TARGET, worth[np.minimum(loser, TARGET)], 0.0)
    return table


@dataclass(frozen=True)
class Chances:
    """All that a network needs to turn points into chances.

    Attributes:
        shown: from `after_show`.
        skunked: of the `Stakes`.
        discarding: from `at_discard`.
        worths: what a point more is worth at the discard, P(win): float64
            ``[3, 2, 121, 121]`` by ``[whose, role, own points, other's points]``; pegged by
            oneself, pegged by the other (below 0), and in the crib (below 0 for the pone).
        usual: mean points of these three, float64 ``[3, 2]`` by ``[whose, role]``.
    """

    shown: Floats
    skunked: Floats
    discarding: Floats
    worths: Floats
    usual: Floats


def make_chances(spread: Spread, stakes: Stakes) -> Chances:
    """The tables that follow from what deals bring and what scores are worth."""
    discarding = at_discard(spread, stakes)
    mean = _over_shows(spread, discarding)
    scores = np.arange(TARGET)
    padded = np.zeros((2, TARGET + _STEP, TARGET + _STEP))
    padded[:, :TARGET, :TARGET] = mean
    padded[:, TARGET:, :TARGET] = 1 + stakes.skunked[:TARGET]
    padded[:, :TARGET, TARGET:] = -stakes.skunked[:TARGET, None]
    up, down = scores + _STEP, np.maximum(scores - _STEP, 0)
    span = (up - down).astype(float)
    own = (padded[:, up][:, :, :TARGET] - padded[:, down][:, :, :TARGET]) / span[:, None]
    other = (padded[:, :TARGET][:, :, up] - padded[:, :TARGET][:, :, down]) / span
    crib = _crib_worth(spread, stakes)
    points = np.arange(PEGGED)
    pegged = np.array([spread.play.sum(1) @ points, spread.play.sum(0) @ points])
    in_crib = float(spread.crib @ np.arange(SHOWS))
    usual = np.stack([pegged, pegged[::-1], np.full(2, in_crib)])
    worths = np.stack([own, other, crib])
    return Chances(after_show(stakes), stakes.skunked, discarding, worths, usual)


_STEP = 2
"""Points to either side over which worths are measured."""


def _over_shows(spread: Spread, discarding: Floats) -> Floats:
    return np.einsum("rmst,rs->rmt", discarding, spread.hand)


def _crib_worth(spread: Spread, stakes: Stakes) -> Floats:
    """What a point more in the crib is worth, float64 ``[2, 121, 121]``."""
    more, less = np.zeros(SHOWS), np.zeros(SHOWS)
    more[_STEP:] = spread.crib[:-_STEP]
    less[:-_STEP] = spread.crib[_STEP:]
    less[0] += spread.crib[:_STEP].sum()
    chances = []
    for crib in (less, more):
        moved = replace(spread, crib=crib)
        chances.append(_over_shows(moved, at_discard(moved, stakes)))
    between = (more - less) @ np.arange(SHOWS)
    return np.asarray((chances[1] - chances[0]) / between)
