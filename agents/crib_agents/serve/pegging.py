"""What a choice brings in the play, by playing on against hands that could be there.

Compiled. The others' cards are drawn from those not seen; then all seats lay the
card that pegs most at once, the highest of equals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crib_agents.hidden import barred_cards
from crib_env import engine
from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import njit
from crib_env.bits import lowest, pip, popcount
from crib_env.cards import FULL_DECK, to_mask
from crib_env.randomness import draw
from crib_env.scoring import play_parts
from crib_env.view import SeatView

SAMPLES = 256
"""Deals that each choice is tried in, the same ones for all choices."""

NO_CARD = -1
"""In place of the first card: play just goes on."""

_PLAY = int(S.Phase.PLAY)
_SEED = 0x5EED
_NEVER = 1 << 20
"""A target that the play cannot reach."""


@njit
def _greedy(s: np.ndarray, cards: int) -> int:
    best = lowest(cards)
    best_points = -1
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        fifteen, thirty_one, pairs, run = play_parts(
            s[S.SERIES] << 4 | card >> 2, s[S.SERIES_LENGTH] + 1, s[S.COUNT] + pip(card)
        )
        points = fifteen + thirty_one + pairs + run
        if points >= best_points:
            best = card
            best_points = points
    return best


@njit
def _deal_others(s: np.ndarray, r: np.ndarray, seat: int, unseen: int, barred: np.ndarray) -> None:
    """Give each other seat the cards that it holds, none that it passed with where possible."""
    for other in range(r[R.PLAYERS]):
        if other == seat:
            continue
        possible = unseen & ~barred[other]
        if popcount(possible) < s[S.HELD + other]:
            possible = unseen
        hand = 0
        for _ in range(s[S.HELD + other]):
            hand |= 1 << draw(s, FULL_DECK & ~possible | hand)
        s[S.HAND + other] = hand
        unseen &= ~hand


@njit
def _lead_of(s: np.ndarray, r: np.ndarray, seat: int) -> float:
    """Points of a seat's side less the mean of the other sides'."""
    sides = 2 if r[R.TEAMS] else r[R.PLAYERS]
    own = engine.side_of(r, seat)
    lead = 0.0
    for side in range(sides):
        points = s[S.SCORE + side]
        lead += points if side == own else -points / (sides - 1)
    return lead


@njit
def _play_out(
    start: np.ndarray,
    r: np.ndarray,
    seat: int,
    hands: np.ndarray,
    firsts: np.ndarray,
    unseen: int,
    barred: np.ndarray,
    samples: int,
    out: np.ndarray,
) -> None:
    dealt = start.copy()
    s = start.copy()
    own = S.SCORE + engine.side_of(r, seat)
    out[:, 0] = 0.0
    out[:, 1] = np.inf
    for _ in range(samples):
        _deal_others(dealt, r, seat, unseen, barred)
        for k in range(hands.shape[0]):
            s[:] = dealt
            s[S.HAND + seat] = hands[k]
            if firsts[k] >= 0:
                engine.apply(s, r, firsts[k], engine.NO_EVENTS)
            out[k, 1] = min(out[k, 1], s[own])
            while s[S.PHASE] == _PLAY:
                cards = engine.legal(s)
                if cards:
                    engine.apply(s, r, _greedy(s, cards), engine.NO_EVENTS)
                else:
                    engine.pass_turn(s, r, engine.NO_EVENTS)  # the hand dealt to that seat is stuck
            out[k, 0] += _lead_of(s, r, seat) / samples


def pegging(
    view: SeatView, hands: NDArray[np.int64], firsts: NDArray[np.int64], samples: int = SAMPLES
) -> NDArray[np.float64]:
    """What each choice pegs from here to the end of the deal.

    Equal arguments give equal results. Near the target the play is not cut short.

    Args:
        view: what the seat sees; in the discard, the play begins with its end.
        hands: int64 ``[N]``, the cards held with each choice, as sets.
        firsts: int64 ``[N]``, the card laid first, `NO_CARD` where the play just goes on.
        samples: deals to try.

    Returns:
        float64 ``[N, 2]``: mean points pegged less the others', and the points that
        the first card pegs at least.
    """
    row = view.for_decision()
    rules = view.rules
    settings = rules.to_array().copy()
    settings[R.TARGET] = _NEVER
    settings.setflags(write=False)  # as all rules are, so that the engine is compiled once
    barred = np.array([barred_cards(row, seat) for seat in range(rules.players)])
    if row[S.PHASE] == S.Phase.DISCARD:
        row[S.PHASE] = S.Phase.PLAY
        row[S.TO_ACT] = (view.dealer + 1) % rules.players
        row[S.HELD : S.HELD + rules.players] = rules.kept
    # Neither the show nor what was scored before counts here.
    row[S.SCORE : S.SCORE + S.MAX_SEATS] = 0
    row[S.KEPT : S.KEPT + S.MAX_SEATS] = 0
    row[S.CRIB] = 0
    row[S.STARTER] = 0
    row[S.RANDOM] = _SEED
    out = np.zeros((len(hands), 2), np.float64)
    unseen = FULL_DECK & ~_seen(view)
    _play_out(row, settings, view.seat, hands, firsts, unseen, barred, samples, out)
    return out


def _seen(view: SeatView) -> int:
    played = [entry.card for entry in view.plays if entry.card is not None]
    turned = () if view.starter is None else (view.starter,)
    return to_mask((*view.hand, *view.discards, *turned, *played))
