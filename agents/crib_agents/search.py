"""The yardstick: it searches at play time, so it is slow, strong, and learns nothing.

The discard: every pair by the chance to win after the deal, over every starter,
with its own show exact and the rest as deals usually go (`throw_chances`). The play:
`samples` hands that the other may hold (`crib_agents.hidden`), each solved to the
end (`crib_agents.solver`), then counted, the discards drawn with them in the crib;
the card with the best mean chance to win is laid.

That is for two players of the standard game. In other games, and where a caller
does not tell all that was seen, it plays as Medium does.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot, BotError, encode
from crib_agents.explanation import Explanation, Option
from crib_agents.heuristic import MEDIUM, choose, make_medium
from crib_agents.hidden import DEALT, KEPT, draw_hands, laid_by, usual_throws
from crib_agents.solver import (
    NO_RANK,
    SPAN,
    chance_after,
    chances_when_counted,
    ranks_of,
)
from crib_agents.throwing import throw_chances
from crib_agents.uniform import check_seed, mask_to_set, position_hash
from crib_env import rules as R
from crib_env import state as S
from crib_env import win_probability
from crib_env._jit import njit
from crib_env.bits import lowest, pip, popcount
from crib_env.cards import JACK, N_CARDS, to_mask
from crib_env.deal_points import MOST_SHOWN, DealPoints, deal_points
from crib_env.expectation import CRIB_MEANS, mean_show
from crib_env.observation import offsets, recall
from crib_env.rules import SIX_CARD, Rules
from crib_env.scoring import show_points
from crib_env.view import SeatView

SAMPLES = 100
"""Hands of the other that are tried."""
STRAYS = 0.2
_MOST_SAMPLES = 100_000
_EVEN = 1e-12
"""Chances closer than this are equal."""
_DISCARD = int(S.Phase.DISCARD)


@njit
def known_in_full(s: np.ndarray) -> bool:
    """Whether the seat at place 0 was told all that it could see of a deal for two."""
    return (
        s[S.STARTER] >= 0
        and popcount(s[S.KEPT]) == KEPT
        and popcount(s[S.THROWN_CARDS]) == DEALT - KEPT
        and popcount(laid_by(s, 1)) + s[S.HELD + 1] == KEPT
        and s[S.HELD] == popcount(s[S.HAND])
    )


@njit
def shows(s: np.ndarray, r: np.ndarray, other: int, crib: int) -> tuple[int, int]:
    """What either side counts at the show, when the other kept and threw these."""
    starter = s[S.STARTER]
    own = show_points(s[S.KEPT], starter, False, r)
    theirs = show_points(other, starter, False, r)
    dealers = show_points(s[S.THROWN_CARDS] | crib, starter, True, r)
    if r[R.HEELS_AT_SHOW] and starter >> 2 == JACK:
        dealers += 2
    if s[S.DEALER] == 0:
        return own + dealers, theirs
    return own, theirs + dealers


@njit
def lay_chances(
    s: np.ndarray,
    r: np.ndarray,
    ends: np.ndarray,
    throws: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    strays: float,
    samples: int,
    seed: int,
    out: np.ndarray,
) -> None:
    """The chance to win with each rank that can be laid, over hands that the other may hold.

    Args:
        s: what the seat at place 0 knows, as `recall` makes it; see `known_in_full`.
        r: settings of the rules.
        ends: float64 ``[2, SPAN * SPAN]``, see `chances_when_counted`.
        throws, p, cribs, strays: see `draw_hands`.
        samples: hands to draw.
        seed: of the draws.
        out: float64 ``[13]``, set to the chances; below zero for ranks that cannot be laid.
    """
    out[:] = -1.0
    held = np.zeros(samples, np.int64)
    thrown = np.zeros(samples, np.int64)
    weights = np.zeros(samples, np.float64)
    number = draw_hands(
        s, r, throws, p, cribs, strays, position_hash(s, seed), held, thrown, weights
    )
    total = weights[:number].sum()
    own = ranks_of(s[S.HAND])
    laid = laid_by(s, 1)
    ends_here = ends[1 if s[S.DEALER] == 0 else 0]
    single = r[R.SINGLE_COUNT] != 0
    for at in range(KEPT):
        rank = (own >> (4 * at)) & 15
        if rank != NO_RANK and s[S.COUNT] + pip(rank << 2) <= 31:
            out[rank] = 0.0
    for k in range(number):
        other = ranks_of(held[k])
        dx, dy = shows(s, r, held[k] | laid, thrown[k])
        share = weights[k] / total
        before = NO_RANK
        for at in range(KEPT):
            rank = (own >> (4 * at)) & 15
            if rank == NO_RANK or out[rank] < 0.0:
                break
            if rank != before:
                before = rank
                out[rank] += share * chance_after(
                    s, at, own, other, ends_here, SPAN * dx + dy, single
                )


@njit
def _choose_lay(
    s: np.ndarray,
    r: np.ndarray,
    cards: int,
    ends: np.ndarray,
    throws: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    strays: float,
    samples: int,
    seed: int,
) -> int:
    best = lowest(cards)
    if not cards & ~(15 << (best & ~3)):
        return best  # nothing but one rank fits
    values = np.empty(13, np.float64)
    lay_chances(s, r, ends, throws, p, cribs, strays, samples, seed, values)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if values[card >> 2] > values[best >> 2] + _EVEN:
            best = card
    return best


@njit
def _choose_throw(
    s: np.ndarray,
    r: np.ndarray,
    cards: int,
    ends: np.ndarray,
    pegged: np.ndarray,
    hand: np.ndarray,
    crib_points: np.ndarray,
    chances: np.ndarray,
) -> int:
    throw_chances(s, r, ends, pegged, hand, crib_points, chances)
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if chances[card].max() > chances[best].max() + _EVEN:
            best = card
    return best


@njit
def _search_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    r: np.ndarray,
    at: np.ndarray,
    ends: np.ndarray,
    pegged: np.ndarray,
    hand: np.ndarray,
    crib_points: np.ndarray,
    throws: np.ndarray,
    p: np.ndarray,
    cribs: np.ndarray,
    strays: float,
    samples: int,
    seed: int,
    out: np.ndarray,
) -> None:
    s = np.zeros(S.STATE_SIZE, np.int64)
    chances = np.empty((N_CARDS, N_CARDS), np.float64)
    for b in range(observations.shape[0]):
        recall(observations[b], r, at, s)
        cards = mask_to_set(masks[b])
        if s[S.PHASE] == _DISCARD:
            out[b] = _choose_throw(s, r, cards, ends, pegged, hand, crib_points, chances)
        elif known_in_full(s):
            out[b] = _choose_lay(s, r, cards, ends, throws, p, cribs, strays, samples, seed)
        else:
            out[b] = choose(s, r, cards, p, cribs, seed)


class SearchBot(BatchBot):
    """The yardstick.

    Args:
        rules: the game that it plays; see `exact`.
        samples: hands of the other tried for each card laid.
        strays: how often hands are taken with which a card that the other laid was clearly
            worse than another, in Medium's eyes; 1 to conclude nothing from what it laid.
        seed: of these hands; equal seeds draw equal hands in equal positions.

    Attributes:
        exact: whether it searches; in other games it plays as Medium does.
    """

    name = "search"

    def __init__(
        self,
        rules: Rules = SIX_CARD,
        samples: int = SAMPLES,
        strays: float = STRAYS,
        seed: int = 0,
    ) -> None:
        self.rules = rules
        self.seed = check_seed(seed)
        self.samples = _check_samples(samples)
        self.strays = _check_strays(strays)
        self.exact = win_probability.supports(rules)
        self._medium = make_medium(rules)
        self._p = MEDIUM.to_array()

    def _tables(self) -> tuple[NDArray[np.float64], DealPoints, NDArray[np.uint8]]:
        return chances_when_counted().reshape(2, -1), deal_points(), usual_throws(self.rules)

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        if not self.exact:
            return self._medium.actions(observations, masks)
        out = np.zeros(len(observations), np.int64)
        ends, points, throws = self._tables()
        _search_actions(
            np.ascontiguousarray(observations, np.float32),
            np.ascontiguousarray(masks, np.int8),
            self.rules.to_array(),
            offsets(self.rules),
            ends,
            points.pegged,
            points.hand,
            points.crib,
            throws,
            self._p,
            CRIB_MEANS,
            self.strays,
            self.samples,
            self.seed,
            out,
        )
        return out

    def explain(self, view: SeatView) -> Explanation | None:
        """Every legal choice with its chance to win; None where it does not search."""
        if not self.exact:
            return None
        s = np.zeros(S.STATE_SIZE, np.int64)
        recall(encode(view)[0], self.rules.to_array(), offsets(self.rules), s)
        if view.phase == "discard":
            options = self._explain_throws(view, s)
        elif known_in_full(s):
            options = self._explain_lays(view, s)
        else:
            return None
        return Explanation(max(option.value or 0.0 for option in options), tuple(options))

    def _explain_throws(self, view: SeatView, s: NDArray[np.int64]) -> list[Option]:
        ends, points, _ = self._tables()
        chances = np.empty((N_CARDS, N_CARDS))
        throw_chances(
            s, self.rules.to_array(), ends, points.pegged, points.hand, points.crib, chances
        )
        ours = view.dealer == view.seat
        six = to_mask((*view.hand, *view.discards))
        options = []
        for thrown in combinations(view.hand, view.rules.thrown - len(view.discards)):
            first, second = sorted((*view.discards, *thrown))
            crib = points.crib[int(ours), first.rank, second.rank] @ np.arange(MOST_SHOWN + 1)
            hand = mean_show(six ^ to_mask((first, second)), six, self.rules.to_array())
            value = float(chances[first, second])
            options.append(Option(thrown, value, float(hand), float(crib if ours else -crib)))
        return options

    def _explain_lays(self, view: SeatView, s: NDArray[np.int64]) -> list[Option]:
        ends, _, throws = self._tables()
        chances = np.empty(13)
        lay_chances(
            s,
            self.rules.to_array(),
            ends,
            throws,
            self._p,
            CRIB_MEANS,
            self.strays,
            self.samples,
            self.seed,
            chances,
        )
        return [Option((card,), float(chances[card.rank])) for card in view.legal()]

    def options(self) -> dict[str, Any]:
        """How many hands are tried, what is concluded from cards laid, and the seed."""
        return {"samples": self.samples, "strays": self.strays, "seed": self.seed}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Change options by name; all of them or none."""
        known = self.options()
        for name in options:
            if name not in known:
                raise BotError(f"{self.name} has no option {name!r}: it has {', '.join(known)}")
        wanted = {**known, **options}
        samples = _check_samples(wanted["samples"])
        strays = _check_strays(wanted["strays"])
        self.seed = check_seed(wanted["seed"])
        self.samples, self.strays = samples, strays


def _check_samples(samples: Any) -> int:
    whole = isinstance(samples, int | np.integer) and not isinstance(samples, bool)
    if not whole or not 1 <= samples <= _MOST_SAMPLES:
        raise BotError(f"samples is a whole number from 1 to {_MOST_SAMPLES}, not {samples!r}")
    return int(samples)


def _check_strays(strays: Any) -> float:
    number = isinstance(strays, int | float) and not isinstance(strays, bool)
    if not number or not 0.01 <= strays <= 1:
        raise BotError(f"strays is a number from 0.01 to 1, not {strays!r}")
    return float(strays)


def make_search(
    rules: Rules = SIX_CARD, seed: int = 0, samples: int = SAMPLES, strays: float = STRAYS
) -> SearchBot:
    """The yardstick player; see `SearchBot` for its options."""
    return SearchBot(rules, samples, strays, seed)
