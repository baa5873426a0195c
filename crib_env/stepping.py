"""One step of many episodes in two kernels: lay the cards; say what came of it.

What an episode remembers between steps is a row of notes, int64 ``[NOTES]``: who
was asked, the scores at that decision, and how the deal began. Arrays are made by the
caller, so that no kernel here counts references; ``ev`` is `engine.NO_EVENTS`.
"""

from __future__ import annotations

import numpy as np

from crib_env import engine
from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, small_njit
from crib_env.cards import N_CARDS
from crib_env.observation import observe, offsets, write_mask
from crib_env.rewards import CUSTOM, worth
from crib_env.usual import USUAL, is_usual

ACTOR = 0
"""Seat that laid the last card by its own choice."""
DEAL_NUMBER = 1
"""Number of the deal in which that was."""
DEALER = 2
"""Its dealer."""
BEFORE = 3
"""Points by side at the last decision."""
DEAL_BEFORE = BEFORE + S.MAX_SEATS
"""Points by side when that deal began."""
NOTES = DEAL_BEFORE + S.MAX_SEATS

_DEAL_OVER = int(S.Phase.DEAL_OVER)
_OVER = int(S.Phase.OVER)
_SIDES = int(S.MAX_SEATS)
_USUAL_AT = offsets(R.SIX_CARD)
"""Where the pieces of an observation begin under the usual rules, as constants too."""


@small_njit
def _note_deal(s: np.ndarray, note: np.ndarray) -> None:
    note[DEAL_NUMBER] = s[S.DEAL_NUMBER]
    note[DEALER] = s[S.DEALER]
    for side in range(_SIDES):
        note[DEAL_BEFORE + side] = s[S.SCORE + side]


@lean_njit
def note_decision(states: np.ndarray, notes: np.ndarray, rows: np.ndarray) -> None:
    """Note the scores at the decision to come."""
    for k in range(rows.shape[0]):
        for side in range(_SIDES):
            notes[rows[k], BEFORE + side] = states[rows[k], S.SCORE + side]


@lean_njit
def begin(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    rows: np.ndarray,
    one_deal: bool,
    skip_forced: bool,
) -> None:
    """After the deal: note how it begins, and go on to the first decision."""
    for k in range(rows.shape[0]):
        s = states[rows[k]]
        _note_deal(s, notes[rows[k]])
        engine.settle(s, r, one_deal, skip_forced, ev)


@small_njit
def _lay(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    rows: np.ndarray,
    cards: np.ndarray,
    one_deal: bool,
    skip_forced: bool,
    illegal: np.ndarray,
) -> None:
    """The body of `lay`."""
    for k in range(rows.shape[0]):
        s = states[rows[k]]
        seat = s[S.TO_ACT]
        card = cards[rows[k]]
        notes[rows[k], ACTOR] = seat
        wrong = card < 0 or card >= N_CARDS or not (engine.legal(s) >> card) & 1
        illegal[rows[k]] = wrong
        if wrong:
            engine.forfeit(s, r, seat)
        else:
            engine.apply_on(s, r, card, one_deal, skip_forced, ev)


@lean_njit
def lay(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    rows: np.ndarray,
    cards: np.ndarray,
    one_deal: bool,
    skip_forced: bool,
    illegal: np.ndarray,
) -> None:
    """Lay one card in each row and go on to the next decision; who may not lay it loses.

    Args:
        cards: int64 ``[size]``, by row.
        illegal: bool ``[size]``, set to whether the card may not be laid.
    """
    if is_usual(r):
        _lay(states, notes, USUAL, ev, rows, cards, one_deal, skip_forced, illegal)
    else:
        _lay(states, notes, r, ev, rows, cards, one_deal, skip_forced, illegal)


@small_njit
def _observer(s: np.ndarray, note: np.ndarray, seats: np.ndarray) -> int:
    """Whose view it is: the player's; where all decide, the seat to act or the last that did."""
    if seats.shape[0] == 1:
        return seats[0]
    return note[ACTOR] if s[S.PHASE] >= _DEAL_OVER else s[S.TO_ACT]


@small_njit
def _show(
    s: np.ndarray,
    note: np.ndarray,
    r: np.ndarray,
    seats: np.ndarray,
    at: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
) -> int:
    """Write what there is to see and to do; returns who sees it."""
    seat = _observer(s, note, seats)
    observe(s, r, seat, at, observation)
    write_mask(engine.legal(s) if seat == s[S.TO_ACT] else 0, mask)
    return seat


@lean_njit
def look(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    at: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    observers: np.ndarray,
) -> None:
    """Write what there is to see and to do in each row, and who sees it: arrays ``[size, ...]``.

    Args:
        masks: uint32 ``[size, 13]``, see `write_mask`.
    """
    for k in range(rows.shape[0]):
        row = rows[k]
        observers[row] = _show(states[row], notes[row], r, seats, at, observations[row], masks[row])


@small_njit
def _pay(
    s: np.ndarray,
    note: np.ndarray,
    r: np.ndarray,
    seats: np.ndarray,
    reward: int,
    chances: np.ndarray,
    out: np.ndarray,
) -> None:
    """What the step brought each seat."""
    stopped = s[S.PHASE] >= _DEAL_OVER
    players = r[R.PLAYERS]
    sides = 2 if r[R.TEAMS] else players
    # A deal that began since the last decision has pegged nothing yet: nobody has
    # scored before the player's first discard.
    deal_over = stopped or s[S.DEAL_NUMBER] != note[DEAL_NUMBER]
    dealer = engine.around(s[S.DEALER] + stopped, players)
    for place in range(seats.shape[0]):
        out[place] = worth(
            reward,
            engine.side_of(r, seats[place]),
            sides,
            note[BEFORE : BEFORE + _SIDES],
            s[S.SCORE : S.SCORE + _SIDES],
            note[DEAL_BEFORE : DEAL_BEFORE + _SIDES],
            engine.side_of(r, note[DEALER]),
            engine.side_of(r, dealer),
            deal_over,
            s[S.PHASE] == _OVER,
            s[S.WINNER],
            chances,
        )


@small_njit
def _tell(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    at: np.ndarray,
    reward: int,
    chances: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    observers: np.ndarray,
) -> None:
    """The body of `tell`."""
    for k in range(rows.shape[0]):
        row = rows[k]
        s = states[row]
        note = notes[row]
        ended[row] = s[S.PHASE] >= _DEAL_OVER
        if reward != CUSTOM:
            _pay(s, note, r, seats, reward, chances, rewards[row])
        for side in range(_SIDES):
            note[BEFORE + side] = s[S.SCORE + side]
        if s[S.DEAL_NUMBER] != note[DEAL_NUMBER]:
            _note_deal(s, note)
        observers[row] = _show(s, note, r, seats, at, observations[row], masks[row])


@lean_njit
def tell(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    at: np.ndarray,
    reward: int,
    chances: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    observers: np.ndarray,
) -> None:
    """Say what came of a step: rewards, ends, and what there is to see.

    Args:
        seats: int64 ``[1]``, the player's seat; or all, int64 ``[players]``.
        at: offsets of the pieces of the observation.
        reward: number of a built-in reward; with `CUSTOM` nothing is paid here.
        chances: the table that it needs.
        rewards: float64 ``[size, len(seats)]``.
        ended: bool ``[size]``.
        observations, masks, observers: as for `look`.
    """
    if is_usual(r):
        _tell(
            states,
            notes,
            USUAL,
            rows,
            seats,
            _USUAL_AT,
            reward,
            chances,
            rewards,
            ended,
            observations,
            masks,
            observers,
        )
    else:
        _tell(
            states,
            notes,
            r,
            rows,
            seats,
            at,
            reward,
            chances,
            rewards,
            ended,
            observations,
            masks,
            observers,
        )


@lean_njit
def results(
    states: np.ndarray,
    notes: np.ndarray,
    r: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    skunks: np.ndarray,
    won: np.ndarray,
    margins: np.ndarray,
    lost: np.ndarray,
    scores: np.ndarray,
) -> None:
    """How episodes that are over ended, in arrays by row.

    Args:
        skunks: int64 ``[target + 1]``, what a loser's points make, see `Rules.skunk`.
        won: bool ``[size, len(seats)]``: won, or gained on the others in an unfinished game.
        margins: int64 ``[size, len(seats)]``, points ahead of the best other side.
        lost: int64 ``[size, len(seats)]``: 1 for a skunk, 2 for a double, given or taken.
        scores: int64 ``[size, sides]``.
    """
    sides = scores.shape[1]
    for k in range(rows.shape[0]):
        row = rows[k]
        s = states[row]
        for side in range(sides):
            scores[row, side] = s[S.SCORE + side]
        for place in range(seats.shape[0]):
            side = engine.side_of(r, seats[place])
            own = s[S.SCORE + side]
            best, least, before = -1, r[R.TARGET], -1
            for other in range(sides):
                if other != side:
                    best = max(best, s[S.SCORE + other])
                    least = min(least, s[S.SCORE + other])
                    before = max(before, notes[row, DEAL_BEFORE + other])
            margins[row, place] = own - best
            if s[S.PHASE] == _OVER:
                won[row, place] = s[S.WINNER] == side
                lost[row, place] = skunks[least if won[row, place] else own]
            else:
                won[row, place] = own - best > notes[row, DEAL_BEFORE + side] - before
