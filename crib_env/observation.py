"""What one seat sees, as a flat vector of named pieces, and back again.

`observe` reads only what the seat may know, whether it is given a whole game or
the row made from a `SeatView`. `recall` rebuilds that row from the vector: so
the vector is complete, and a player that reads vectors needs nothing else.
Seats are counted from the observer's own: 0 is he, 1 the seat to his left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, njit, small_njit
from crib_env.bits import lowest, pip, playable, popcount
from crib_env.cards import FULL_DECK, N_CARDS
from crib_env.engine import (
    add_to_series,
    around,
    history_entry,
    remember,
    reset_series,
    side_of,
)
from crib_env.expectation import CRIB_MEANS, NO_PAIR, raise_to_discards
from crib_env.rules import Rules
from crib_env.scoring import play_parts

POINT = 0.1
"""Points are written in tens, to keep the vector's numbers small."""
NEAR = 31.0
"""Points to go are told apart up to this many."""
RECENT = 4
"""Cards of the series shown one by one."""

_DISCARD = int(S.Phase.DISCARD)
_PLAY = int(S.Phase.PLAY)


@dataclass(frozen=True)
class Piece:
    """A named part of the observation.

    Attributes:
        name: what to call it.
        offset: where it begins.
        length: how many numbers it has.
        low, high: the range of its numbers.
        meaning: what they say.
    """

    name: str
    offset: int
    length: int
    low: float
    high: float
    meaning: str


def _plan(rules: Rules) -> list[tuple[str, int, float, float, str]]:
    n = rules.players
    table = n * rules.kept
    sides = rules.sides
    return [
        ("hand", 52, 0, 1, "1 for each card held"),
        ("thrown", 52, 0, 1, "1 for each own card in the crib"),
        ("starter", 17, 0, 1, "rank (13) and suit (4) of the starter, once it is turned"),
        ("laid", 52 * n, 0, 1, f"by seat: k/{table} for the k-th card laid this deal"),
        ("goes", table * n, 0, 1, "by seat: 1 where it said go after the k-th card laid"),
        ("recent", 13 * RECENT, 0, 1, "ranks of the last cards of the series, latest first"),
        ("series", 13, 0, 1, "cards of each rank in the series, in quarters"),
        ("count", 32, 0, 1, "the count, 0 to 31, during the play"),
        ("phase", 3, 0, 1, "two cards to throw, one card to throw, the play"),
        ("dealer", n, 0, 1, "the seat that deals"),
        ("last", n, 0, 1, "the seat that laid the last card of the series"),
        ("gone", n, 0, 1, "seats that said go in this series"),
        ("held", n, 0, 1, "cards that each seat holds in the play, in sixths"),
        ("scores", sides, 0, 1, "points by side, own first, as a part of the target"),
        ("to_go", sides, 0, 1, "points to the target by side, up to 31, in 31sts"),
        ("points", 52, -4, 4, "for each legal card, in tens of points: what it pegs at once, or "
         "the mean show, plus or minus crib, of the best discard with it"),
        ("barred", 10 * n, 0, 1, "by seat: 1 for each count (1 to 10) that no card it holds "
         "can have, since it said go"),
    ]  # fmt: skip


@lru_cache
def layout(rules: Rules) -> tuple[Piece, ...]:
    """The pieces of the observation under some rules, in order."""
    pieces = []
    offset = 0
    for name, length, low, high, meaning in _plan(rules):
        pieces.append(Piece(name, offset, length, low, high, meaning))
        offset += length
    return tuple(pieces)


@lru_cache
def _offsets(rules: Rules) -> NDArray[np.int64]:
    starts = np.array([piece.offset for piece in layout(rules)], np.int64)
    starts.setflags(write=False)
    return starts


def offsets(rules: Rules) -> NDArray[np.int64]:
    """Where each piece begins, int64, as `observe` and `recall` take it; not to be written."""
    return _offsets(rules)


def observation_size(rules: Rules) -> int:
    """How many numbers an observation has."""
    last = layout(rules)[-1]
    return last.offset + last.length


def split(observation: NDArray[np.float32], rules: Rules) -> dict[str, NDArray[np.float32]]:
    """The named pieces of an observation, as views of it."""
    return {
        piece.name: observation[..., piece.offset : piece.offset + piece.length]
        for piece in layout(rules)
    }


_HAND, _THROWN, _STARTER, _LAID, _GOES, _RECENT, _SERIES, _COUNT = range(8)
_PHASE, _DEALER, _LAST, _GONE, _HELD, _SCORES, _TO_GO, _POINTS, _BARRED = range(8, 17)


@small_njit
def _write_set(out: np.ndarray, at: int, cards: int) -> None:
    while cards:
        out[at + lowest(cards)] = 1.0
        cards &= cards - 1


@small_njit
def seen_from(who: int, seat: int, players: int) -> int:
    """A seat, counted from the observer's own."""
    return who - seat if who >= seat else who - seat + players


@small_njit
def _write_history(
    s: np.ndarray, r: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray
) -> None:
    players = r[R.PLAYERS]
    table = players * (r[R.DEALT] - r[R.THROWN])
    part = 1.0 / table
    laid = 0
    goes = 0
    word = S.HISTORY
    shift = 0
    for _ in range(s[S.HISTORY_LENGTH]):
        entry = (s[word] >> shift) & 255  # `history_entry`, without a division for each
        shift += 8
        if shift == 8 * S.ENTRIES_PER_WORD:
            word += 1
            shift = 0
        who = seen_from(entry >> 6, seat, players)
        card = entry & 63
        # Choices without a branch: which of both it is cannot be foretold.
        is_go = card == S.SAID_GO
        goes += is_go
        laid += not is_go
        of_go = at[_GOES] + who * table + laid - 1
        out[of_go if is_go else at[_LAID] + who * N_CARDS + card] = 1.0 if is_go else laid * part
    if goes:
        _write_barred(s, r, seat, at, out)


@lean_njit
def _write_barred(s: np.ndarray, r: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray) -> None:
    """What each go tells of the cards that a seat holds."""
    players = r[R.PLAYERS]
    count = 0
    last = -1
    solo = -1
    gone = False
    ended = False
    for entry in range(s[S.HISTORY_LENGTH]):
        word = history_entry(s, entry)
        who = seen_from(word >> 6, seat, players)
        card = word & 63
        if card == S.SAID_GO:
            barred = at[_BARRED] + 10 * who
            for place in range(barred, barred + min(31 - count, 10)):
                out[place] = 1.0
            gone = True
            ended = who == last
            continue
        # Nobody could lay on a series that its last seat gave up, that the card would take
        # past 31, or that was another's alone to go on with.
        if ended or count + pip(card) > 31 or (solo >= 0 and who != solo):
            count = 0
            solo = -1
            gone = False
            ended = False
        if gone and r[R.FIRST_AFTER_GO]:
            solo = who
        count += pip(card)
        last = who


@small_njit
def _write_series(s: np.ndarray, r: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray) -> None:
    players = r[R.PLAYERS]
    out[at[_COUNT] + s[S.COUNT]] = 1.0
    length = s[S.SERIES_LENGTH]
    series = s[S.SERIES]
    for back in range(length):
        rank = series & 15
        series >>= 4
        out[at[_SERIES] + rank] += 0.25
        if back < RECENT:
            out[at[_RECENT] + 13 * back + rank] = 1.0
    if length > 0:
        out[at[_LAST] + seen_from(s[S.LAST], seat, players)] = 1.0
    gone = s[S.GONE]
    if gone:
        for who in range(players):
            if (gone >> who) & 1:
                out[at[_GONE] + seen_from(who, seat, players)] = 1.0


@small_njit
def _write_discard_points(
    s: np.ndarray, r: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray
) -> None:
    points = out[at[_POINTS] : at[_POINTS] + N_CARDS]
    cards = s[S.HAND + seat]
    while cards:
        points[lowest(cards)] = NO_PAIR
        cards &= cards - 1
    raise_to_discards(s, r, seat, CRIB_MEANS, POINT, points)


@small_njit
def _write_play_points(s: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray) -> None:
    cards = playable(s[S.HAND + seat], s[S.COUNT])
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        fifteen, thirty_one, pairs, run = play_parts(
            s[S.SERIES] << 4 | card >> 2,
            s[S.SERIES_LENGTH] + 1,
            s[S.COUNT] + pip(card),
        )
        out[at[_POINTS] + card] = POINT * (fifteen + thirty_one + pairs + run)


@small_njit
def observe(s: np.ndarray, r: np.ndarray, seat: int, at: np.ndarray, out: np.ndarray) -> None:
    """Write what a seat sees.

    Args:
        s, r: the game and its rules.
        seat: the observer.
        at: offsets of the pieces, see `offsets`.
        out: float32 ``[D]``, overwritten.
    """
    out[:] = 0.0
    players = r[R.PLAYERS]
    _write_set(out, at[_HAND], s[S.HAND + seat])
    thrown = s[S.THROWN_CARDS + seat]
    _write_set(out, at[_THROWN], thrown)
    out[at[_DEALER] + seen_from(s[S.DEALER], seat, players)] = 1.0
    sides = 2 if r[R.TEAMS] else players
    side = side_of(r, seat)
    # A factor is found sooner than a quotient, and as float32 both are the same number.
    point = 1.0 / r[R.TARGET]
    for step in range(sides):
        score = s[S.SCORE + around(side + step, sides)]
        out[at[_SCORES] + step] = score * point
        out[at[_TO_GO] + step] = min(float(r[R.TARGET] - score), NEAR) * (1.0 / NEAR)
    if s[S.PHASE] == _DISCARD:
        left = r[R.THROWN] - popcount(thrown)
        if left > 0:
            out[at[_PHASE] + (0 if left == 2 else 1)] = 1.0
            _write_discard_points(s, r, seat, at, out)
        return
    starter = s[S.STARTER]
    if starter >= 0:
        out[at[_STARTER] + (starter >> 2)] = 1.0
        out[at[_STARTER] + 13 + (starter & 3)] = 1.0
    _write_history(s, r, seat, at, out)
    for step in range(players):
        out[at[_HELD] + step] = s[S.HELD + around(seat + step, players)] * (1.0 / 6)
    if s[S.PHASE] == _PLAY:
        # Only now: when the deal is over there is no series, whatever lies on the table.
        out[at[_PHASE] + 2] = 1.0
        _write_series(s, r, seat, at, out)
        _write_play_points(s, seat, at, out)


_FOUR_CARDS: NDArray[np.uint32] = (
    np.array([[suits >> suit & 1 for suit in range(4)] for suits in range(16)], np.int8)
    .view(np.uint32)
    .ravel()
)
"""A rank's part of an action mask, by the set of its suits: uint32 ``[16]``, each int8 ``[4]``."""


@small_njit
def write_mask(cards: int, out: np.ndarray) -> None:
    """Write a set as an action mask: 1 where legal, all ones when there is nothing to choose.

    Args:
        cards: the set.
        out: uint32 ``[13]``, the mask's memory: int8 ``[52]``, written four cards at a time.
    """
    shown = cards if cards else FULL_DECK
    for rank in range(13):
        out[rank] = _FOUR_CARDS[(shown >> 4 * rank) & 15]


@lean_njit
def _read_set(row: np.ndarray, at: int) -> int:
    cards = 0
    for card in range(N_CARDS):
        if row[at + card] > 0:
            cards |= 1 << card
    return cards


@njit
def _read_history(row: np.ndarray, r: np.ndarray, at: np.ndarray, s: np.ndarray) -> None:
    """Lay the cards again, in order, with the goes and the resets between them."""
    players = r[R.PLAYERS]
    table = players * (r[R.DEALT] - r[R.THROWN])
    order = np.full(table, -1, np.int64)
    for who in range(players):
        for card in range(N_CARDS):
            value = row[at[_LAID] + who * N_CARDS + card]
            if value > 0:
                order[round(value * table) - 1] = who << 6 | card
    length = 0
    for rank in range(13):
        length += round(row[at[_SERIES] + rank] * 4)
    laid = 0
    while laid < table and order[laid] >= 0:
        laid += 1
    for place in range(laid):
        if place == laid - length:
            reset_series(s)
        who = order[place] >> 6
        add_to_series(s, who, order[place] & 63)
        for step in range(1, players + 1):
            caller = (who + step) % players
            if row[at[_GOES] + caller * table + place] > 0:
                remember(s, caller, S.SAID_GO)
    if length == 0:
        reset_series(s)


@lean_njit
def recall(row: np.ndarray, r: np.ndarray, at: np.ndarray, s: np.ndarray) -> None:
    """Rebuild what the observer knows, as a game in which he sits at seat 0.

    Cards of others stay empty, points are not tallied, and who said go first in
    the series is not told apart.

    Args:
        row: float32 ``[D]``, an observation.
        r, at: the rules and the offsets of the pieces.
        s: int64 ``[STATE_SIZE]``, overwritten.
    """
    s[:] = 0
    players = r[R.PLAYERS]
    kept = r[R.DEALT] - r[R.THROWN]
    s[S.WINNER] = -1
    s[S.LAST] = -1
    s[S.STARTER] = -1
    reset_series(s)
    s[S.HAND] = _read_set(row, at[_HAND])
    s[S.THROWN_CARDS] = _read_set(row, at[_THROWN])
    s[S.CRIB] = s[S.THROWN_CARDS]
    for step in range(players):
        if row[at[_DEALER] + step] > 0:
            s[S.DEALER] = step
    sides = 2 if r[R.TEAMS] else players
    for step in range(sides):
        s[S.SCORE + step] = round(row[at[_SCORES] + step] * r[R.TARGET])
    if row[at[_PHASE]] > 0 or row[at[_PHASE] + 1] > 0:
        for step in range(players):
            s[S.HELD + step] = kept
        s[S.HELD] = popcount(s[S.HAND])
        return
    s[S.PHASE] = _PLAY
    for rank in range(13):
        for suit in range(4):
            if row[at[_STARTER] + rank] > 0 and row[at[_STARTER] + 13 + suit] > 0:
                s[S.STARTER] = 4 * rank + suit
    _read_history(row, r, at, s)
    s[S.KEPT] = s[S.HAND] | _read_set(row, at[_LAID])
    for step in range(players):
        s[S.HELD + step] = round(row[at[_HELD] + step] * 6)
        if row[at[_GONE] + step] > 0:
            s[S.GONE] |= 1 << step


@small_njit
def seen_by(s: np.ndarray, r: np.ndarray, seat: int, out: np.ndarray) -> None:
    """What the seat to act knows, straight from the game: the row that `recall` makes.

    A player that reads such rows decides alike with this and with an observation,
    and this is several times as quick.

    Args:
        s, r: the game and its rules.
        seat: the observer, who is to act.
        out: int64 ``[STATE_SIZE]``, overwritten.
    """
    out[:] = 0
    players = r[R.PLAYERS]
    out[S.WINNER] = -1
    out[S.FIRST_GO] = -1
    out[S.SOLO] = -1
    out[S.DEALER] = seen_from(s[S.DEALER], seat, players)
    hand = s[S.HAND + seat]
    thrown = s[S.THROWN_CARDS + seat]
    out[S.HAND] = hand
    out[S.THROWN_CARDS] = thrown
    out[S.CRIB] = thrown
    sides = 2 if r[R.TEAMS] else players
    side = side_of(r, seat)
    for step in range(sides):
        out[S.SCORE + step] = s[S.SCORE + around(side + step, sides)]
    if s[S.PHASE] == _DISCARD:
        out[S.STARTER] = -1
        out[S.LAST] = -1
        for step in range(players):
            out[S.HELD + step] = r[R.DEALT] - r[R.THROWN]
        out[S.HELD] = popcount(hand)
        return
    out[S.PHASE] = _PLAY
    out[S.STARTER] = s[S.STARTER]
    out[S.COUNT] = s[S.COUNT]
    out[S.SERIES] = s[S.SERIES]
    out[S.SERIES_LENGTH] = s[S.SERIES_LENGTH]
    out[S.LAST] = seen_from(s[S.LAST], seat, players) if s[S.LAST] >= 0 else -1
    out[S.KEPT] = s[S.KEPT + seat]
    for step in range(players):
        who = around(seat + step, players)
        out[S.HELD + step] = s[S.HELD + who]
        out[S.GONE] |= ((s[S.GONE] >> who) & 1) << step
    for entry in range(s[S.HISTORY_LENGTH]):
        word = history_entry(s, entry)
        remember(out, seen_from(word >> 6, seat, players), word & 63)
