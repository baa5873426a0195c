"""How much a player loses by its discards, against the best by rollouts of its own play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot
from crib_env.cards import CARDS, N_CARDS
from crib_env.rules import SIX_CARD
from crib_env.win_probability import deal_starts
from crib_evaluate.rollouts import Floats, Setting, Throw, play_out, throw_of
from crib_evaluate.statistics import Estimate, estimate

Progress = Callable[[float], None]
"""Told how many of the deals are measured."""

WITHIN = 3.0
"""Points by exact mean behind the best beyond which a discard is not tried: the play makes
up for one or two."""

NEAR_END = 31
"""Points to go of either side from which every discard is tried, whatever its mean."""

_FIRST_STAGE = 64
_GROWTH = 4
_SURE = 3.0
"""Standard errors by which a discard is behind before it is given up."""


@dataclass(frozen=True)
class Measure:
    """One deal's loss, or its mean, in one measure.

    A best discard found and valued by the same rollouts looks better than it is, and
    one valued by others is sometimes not the best: the truth lies between the two.

    Attributes:
        loss: the best found on one half of the rollouts and valued on the other, both ways.
        most: the best found and valued on all of them.
    """

    loss: float
    most: float


@dataclass(frozen=True)
class DealLoss:
    """What the discard of one deal lost.

    Attributes:
        setting: the deal.
        throw: the player's discard.
        best: the best by points.
        behind: how far that is behind the best by exact mean, in points by that mean.
        points: lost, in points.
        wins: lost, in chances to win.
    """

    setting: Setting
    throw: Throw
    best: Throw
    behind: float
    points: Measure
    wins: Measure


@dataclass(frozen=True)
class Loss:
    """Means over deals, with intervals; see `Measure`.

    Attributes:
        deals: how many.
        best: share of them in which the discard was the best by points.
        behind: the most that a best discard was behind by its exact mean, in points.
        points, points_most: lost a deal, in points.
        wins, wins_most: lost a deal, in chances to win.
    """

    deals: int
    best: float
    behind: float
    points: Estimate
    points_most: Estimate
    wins: Estimate
    wins_most: Estimate

    @classmethod
    def of(cls, deals: list[DealLoss]) -> Loss:
        """The means of some deals, at least one."""
        return cls(
            deals=len(deals),
            best=sum(deal.throw == deal.best for deal in deals) / len(deals),
            behind=max(deal.behind for deal in deals),
            points=estimate(np.array([deal.points.loss for deal in deals])),
            points_most=estimate(np.array([deal.points.most for deal in deals])),
            wins=estimate(np.array([deal.wins.loss for deal in deals])),
            wins_most=estimate(np.array([deal.wins.most for deal in deals])),
        )


def measure_discards(
    bot: Bot,
    deals: int,
    rollouts: int,
    seed: int = 0,
    drawn: bool = False,
    within: float = WITHIN,
    progress: Progress | None = None,
) -> list[DealLoss]:
    """Measure the discards of a player in deals of the six-card game, dealing in every other.

    Most discards are given up after few rollouts (`narrow`), the player's own never; those
    in question are measured by ``rollouts`` more.

    Args:
        bot: throws, and plays both sides of the rollouts.
        deals: how many.
        rollouts: in the last stage, for each discard that is still in question: an even
            number.
        seed: of the deals and of the hidden cards.
        drawn: deals begin at scores as games come to them, not at 0-0.
        within: points by exact mean behind the best beyond which a discard is not tried.
        progress: told how many deals are done.

    Raises:
        BotError: when the player fails.
    """
    found = []
    for number in range(deals):
        random = np.random.default_rng([seed, number])
        setting = draw_setting(random, dealing=bool(number % 2), drawn=drawn)
        found.append(measure_deal(bot, setting, rollouts, random, within))
        if progress is not None:
            progress(number + 1)
    return found


def draw_setting(random: np.random.Generator, dealing: bool, drawn: bool) -> Setting:
    """Six cards, at 0-0 or at scores drawn as games come to them."""
    cards = random.choice(N_CARDS, SIX_CARD.dealt, replace=False)
    scores = (0, 0)
    if drawn:
        odds = deal_starts()
        dealer, pone = divmod(int(random.choice(odds.size, p=odds.ravel())), len(odds))
        scores = (dealer, pone) if dealing else (pone, dealer)
    return Setting(tuple(sorted(CARDS[card] for card in cards)), dealing, scores)


def candidates(setting: Setting, thrown: set[Throw], within: float) -> list[Throw]:
    """The discards worth trying: those near the best by exact mean, and some others.

    Near the end of the game a discard may be right that is far behind in points, so there
    all are.

    Args:
        setting: where the discard is made.
        thrown: discards to try in any case.
        within: points behind the best by exact mean.
    """
    if SIX_CARD.target - max(setting.scores) <= NEAR_END:
        return list(setting.throws())
    means = setting.means()
    least = max(means.values()) - within
    return [throw for throw, mean in means.items() if mean >= least or throw in thrown]


def measure_deal(
    bot: Bot,
    setting: Setting,
    rollouts: int,
    random: np.random.Generator,
    within: float = WITHIN,
) -> DealLoss:
    """What a player's discard loses in one deal, see `measure_discards`."""
    throw = throw_of(bot, setting)
    tried = candidates(setting, {throw}, within)
    left = narrow(bot, setting, tried, {throw}, rollouts, random)
    best = throw
    points = wins = Measure(0.0, 0.0)
    if len(left) > 1:
        found = play_out(bot, setting, left, rollouts, random)
        best = left[int(found.points.mean(axis=1).argmax())]
        own = left.index(throw)
        points, wins = _lost(found.points, own), _lost(found.wins, own)
    means = setting.means()
    return DealLoss(setting, throw, best, max(means.values()) - means[best], points, wins)


def narrow(
    bot: Bot,
    setting: Setting,
    throws: list[Throw],
    kept: set[Throw],
    rollouts: int,
    random: np.random.Generator,
) -> list[Throw]:
    """Give up discards that are surely behind the best, after few rollouts, then more.

    What is then measured of the others should be rollouts of its own, which know nothing
    of who was given up.

    Args:
        bot, setting, random: see `play_out`.
        throws: the discards in question.
        kept: discards that are not given up.
        rollouts: of the measurement to come; the stages here are shorter.

    Returns:
        What is left, in the same order: by one measure at least not surely behind.
    """
    stage = _FIRST_STAGE
    while stage < rollouts and len(throws) > 1:
        tried = play_out(bot, setting, throws, stage, random)
        behind = _surely_behind(tried.points) & _surely_behind(tried.wins)
        throws = [
            throw
            for throw, given_up in zip(throws, behind, strict=True)
            if throw in kept or not given_up
        ]
        stage *= _GROWTH
    return throws


def _surely_behind(values: Floats) -> NDArray[np.bool_]:
    leader = values[values.mean(axis=1).argmax()]
    short = leader - values
    error = short.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return np.asarray(short.mean(axis=1) > _SURE * error)


def _lost(values: Floats, own: int) -> Measure:
    """See `Measure`; ``values`` are float64 ``[C, N]``."""
    halves = [values[:, half::2].mean(axis=1) for half in (0, 1)]
    losses = [valued[finds.argmax()] - valued[own] for finds, valued in (halves, halves[::-1])]
    means = values.mean(axis=1)
    return Measure(float(np.mean(losses)), float(means.max() - means[own]))
