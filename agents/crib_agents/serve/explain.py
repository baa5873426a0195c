"""Every legal choice of a decision, ranked by what it is worth.

A bot with an ``explain`` of its own is asked; for the others the worth is worked
out here, in points first: the exact mean show of the cards kept, the usual crib
for the ranks thrown, and the play from here on against sampled hands. These are
compared with a usual deal of the same role (`USUAL`): so many points better count
as so many points more on the board before the deal, where the table of
`crib_env.win_probability` gives P(win), interpolated between whole points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import floor

import numpy as np

from crib_agents.bot import Bot
from crib_agents.explanation import Explanation, Option
from crib_agents.serve.pegging import NO_CARD, pegging
from crib_env import win_probability as chances
from crib_env.cards import FULL_DECK, Card, to_mask
from crib_env.expectation import CRIB_MEANS, mean_show
from crib_env.scoring import show_points
from crib_env.view import SeatView


@dataclass(frozen=True)
class _Usual:
    """What a seat expects of a usual deal before the starter is turned, in points.

    Attributes:
        hand: its show.
        crib: the crib, below zero where it is the other side's.
        play: what `pegging` finds for it.
    """

    hand: float
    crib: float
    play: float

    @property
    def total(self) -> float:
        return self.hand + self.crib + self.play


USUAL = {True: _Usual(8.0, 4.7, 1.7), False: _Usual(8.2, -4.8, -1.5)}
"""By whether the seat deals: means over thousands of deals, as this module sees them."""


def explain(bot: Bot, view: SeatView, passes: bool = False) -> Explanation:
    """The legal choices of a decision, best first.

    Args:
        bot: asked first, where it has a method ``explain(view) -> Explanation | None``.
        view: it is this seat's turn to throw or to lay.
        passes: it is this seat's turn, but no card of its hand fits.
    """
    own: Callable[[SeatView], Explanation | None] | None = getattr(bot, "explain", None)
    if passes:
        return _explain_go(view)
    found = None if own is None else own(view)
    if found is None:
        found = _explain_discard(view) if view.phase == "discard" else _explain_play(view)
    return Explanation(found.value, tuple(sorted(found.options, key=_worth, reverse=True)))


def _worth(option: Option) -> tuple[float, float]:
    points = sum(part or 0.0 for part in (option.hand, option.crib, option.play))
    return (0.0 if option.value is None else option.value, points)


def _explain_discard(view: SeatView) -> Explanation:
    settings = view.rules.to_array()
    seen = to_mask((*view.hand, *view.discards))
    throws = list(combinations(view.hand, view.rules.thrown - len(view.discards)))
    keeps = np.array([to_mask(view.hand) ^ to_mask(thrown) for thrown in throws], np.int64)
    pegged = pegging(view, keeps, np.full(len(throws), NO_CARD, np.int64))[:, 0]
    options = []
    for thrown, keep, play in zip(throws, keeps, pegged, strict=True):
        hand = float(mean_show(int(keep), seen, settings))
        crib = _crib(view, (*view.discards, *thrown))
        ahead = hand + (crib or 0.0) + float(play) - USUAL[view.dealer == view.seat].total
        options.append(Option(thrown, _chance(view, ahead), hand, crib, float(play)))
    return _ranked(options)


def _explain_play(view: SeatView) -> Explanation:
    legal = view.legal()
    cards = np.array(legal, np.int64)
    hands = np.full(len(cards), to_mask(view.hand), np.int64)
    ahead = _show_to_come(view) - USUAL[view.dealer == view.seat].play
    missing = view.rules.target - view.scores[view.rules.side(view.seat)]
    options = []
    for card, (play, at_once) in zip(legal, pegging(view, hands, cards), strict=True):
        value = _chance(view, ahead + float(play))
        if value is not None and at_once >= missing:
            value = 1.0
        options.append(Option((card,), value, play=float(play)))
    return _ranked(options)


def _explain_go(view: SeatView) -> Explanation:
    hand = np.array([to_mask(view.hand)], np.int64)
    play = float(pegging(view, hand, np.array([NO_CARD], np.int64))[0, 0])
    if view.count == 0:  # the pass ends the series: a point to whoever laid the last card
        last = [entry.seat for entry in view.plays if entry.card is not None][-1]
        play += 1 if view.rules.side(last) == view.rules.side(view.seat) else -1
    ahead = _show_to_come(view) - USUAL[view.dealer == view.seat].play
    return Explanation(_chance(view, ahead + play), ())


def _ranked(options: list[Option]) -> Explanation:
    best = max(options, key=_worth)
    return Explanation(best.value, tuple(options))


def _crib(view: SeatView, thrown: tuple[Card, ...]) -> float | None:
    """Points expected of the crib, below zero where it is the other side's."""
    if len(thrown) != 2:
        return None
    ours = view.rules.side(view.dealer) == view.rules.side(view.seat)
    points = float(CRIB_MEANS[int(ours), thrown[0].rank, thrown[1].rank])
    return points if ours else -points


def _show_to_come(view: SeatView) -> float:
    """How much better than usual the own show and the crib will be, as far as is known."""
    usual = USUAL[view.dealer == view.seat]
    crib = _crib(view, view.discards)
    better = _hand(view, usual.hand) - usual.hand
    return better if crib is None else better + crib - usual.crib


def _hand(view: SeatView, usual: float) -> float:
    played = [e.card for e in view.plays if e.seat == view.seat and e.card is not None]
    kept = (*view.hand, *played)
    if len(kept) != view.rules.kept:  # cards laid in an earlier series are not known
        return usual
    settings = view.rules.to_array()
    if view.starter is not None:
        return float(show_points(to_mask(kept), int(view.starter), False, settings))
    others = [e.card for e in view.plays if e.card is not None]
    seen = to_mask((*kept, *view.discards, *others))
    return float(mean_show(to_mask(kept), seen & FULL_DECK, settings))


def _chance(view: SeatView, ahead: float) -> float | None:
    """P(win) when a deal goes ``ahead`` points better than usual; None without a table."""
    if not chances.supports(view.rules):
        return None
    most = view.rules.target - 1
    own = view.scores[view.seat] + ahead
    other = float(view.scores[1 - view.seat])
    # What does not fit on the own track is as good as the other's going back or ahead.
    within = min(max(own, 0.0), float(most))
    other = min(max(other - (own - within), 0.0), float(most))
    return _between(within, other, view.dealer == view.seat)


def _between(own: float, other: float, dealing: bool) -> float:
    """The table between whole points: bilinear."""
    total = 0.0
    for mine, share in _neighbours(own):
        for theirs, part in _neighbours(other):
            total += share * part * chances.win_probability(mine, theirs, dealing)
    return total


def _neighbours(points: float) -> list[tuple[int, float]]:
    low = floor(points)
    rest = points - low
    return [(low, 1.0)] if rest == 0 else [(low, 1.0 - rest), (low + 1, rest)]
