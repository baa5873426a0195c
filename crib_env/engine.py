"""The rules of the game, once: who may do what, and what follows from it.

Every function works on one game, a row of `crib_env.state`, under a row of
settings made by `Rules.to_array`, for two to four seats. Compiled by numba;
with ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python. The caller
hands in only what is legal (`legal` says what is): the kernels do not check.

`apply` lays one card and takes every step that is forced by the rules: goes,
resets, the cut, the show. It stops when a seat has to decide, when the deal is
over (`next_deal` goes on) or when the game is.

Events go into a buffer, int64 ``[EVENT_CAPACITY, EVENT_WIDTH]``, whose row 0
counts them; without one (`NO_EVENTS`) what records is not even compiled.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, njit, small_njit
from crib_env.bits import lowest, pip, playable
from crib_env.cards import JACK
from crib_env.randomness import draw, next_random
from crib_env.scoring import play_parts, show_points

MOST_POINTS = 29
"""No hand or crib is worth more."""
Events: TypeAlias = np.ndarray | None
NO_EVENTS: Events = None
NO_DECK = np.zeros(0, np.int64)

# Enumerations become plain integers: that is what the compiler freezes.
_DISCARD = int(S.Phase.DISCARD)
_PLAY = int(S.Phase.PLAY)
_COUNT = int(S.Phase.COUNT)
_DEAL_OVER = int(S.Phase.DEAL_OVER)
_OVER = int(S.Phase.OVER)
_FROM_HEELS = int(S.Source.HEELS)
_FROM_PLAY_DEALER = int(S.Source.PLAY_DEALER)
_FROM_PLAY_PONE = int(S.Source.PLAY_PONE)
_FROM_HAND_DEALER = int(S.Source.HAND_DEALER)
_FROM_HAND_PONE = int(S.Source.HAND_PONE)
_FROM_CRIB = int(S.Source.CRIB)
_FROM_MUGGINS = int(S.Source.MUGGINS)
_E_DEAL = int(S.EventKind.DEAL)
_E_DISCARD = int(S.EventKind.DISCARD)
_E_STARTER = int(S.EventKind.STARTER)
_E_HEELS = int(S.EventKind.HEELS)
_E_PLAY = int(S.EventKind.PLAY)
_E_GO = int(S.EventKind.GO)
_E_FIFTEEN = int(S.EventKind.FIFTEEN)
_E_THIRTY_ONE = int(S.EventKind.THIRTY_ONE)
_E_PAIR = int(S.EventKind.PAIR)
_E_RUN = int(S.EventKind.RUN)
_E_GO_POINT = int(S.EventKind.GO_POINT)
_E_LAST_CARD = int(S.EventKind.LAST_CARD)
_E_HAND = int(S.EventKind.HAND)
_E_CRIB = int(S.EventKind.CRIB)
_E_WIN = int(S.EventKind.WIN)
_E_MUGGINS = int(S.EventKind.MUGGINS)
_N_SOURCES = int(S.N_SOURCES)


@small_njit
def around(seat: int, players: int) -> int:
    """A seat counted past the last one, as a seat: a comparison, since dividing costs more."""
    return seat - players if seat >= players else seat


@small_njit
def side_of(r: np.ndarray, seat: int) -> int:
    """The score that a seat pegs on."""
    return seat & 1 if r[R.TEAMS] else seat


@small_njit
def emit(ev: Events, kind: int, seat: int, points: int, worth: int, cards: int, count: int) -> None:
    """Record an event, where the caller wants events."""
    if ev is None:
        return
    at = ev[0, 0] + 1
    ev[0, 0] = at
    ev[at, 0] = kind
    ev[at, 1] = seat
    ev[at, 2] = points
    ev[at, 3] = worth
    ev[at, 4] = cards
    ev[at, 5] = count


@small_njit
def peg(
    s: np.ndarray,
    r: np.ndarray,
    seat: int,
    worth: int,
    source: int,
    ev: Events,
    kind: int,
    cards: int,
) -> None:
    """Move a seat's peg. The game is over the instant that it reaches the target."""
    if s[S.PHASE] == _OVER:
        return
    side = side_of(r, seat)
    points = min(worth, r[R.TARGET] - s[S.SCORE + side])
    s[S.SCORE + side] += points
    s[S.TALLY + seat * _N_SOURCES + source] += points
    emit(ev, kind, seat, points, worth, cards, s[S.COUNT])
    if s[S.SCORE + side] >= r[R.TARGET]:
        s[S.WINNER] = side
        s[S.PHASE] = _OVER
        emit(ev, _E_WIN, seat, 0, 0, 0, s[S.COUNT])


@lean_njit
def lowest_cut(ranks: np.ndarray) -> int:
    """Place of the lowest rank, or -1 when two share it and all cut again."""
    best = 0
    tied = False
    for seat in range(1, ranks.shape[0]):
        if ranks[seat] < ranks[best]:
            best = seat
            tied = False
        elif ranks[seat] == ranks[best]:
            tied = True
    return -1 if tied else best


@njit
def cut_for_deal(s: np.ndarray, r: np.ndarray) -> int:
    """The first dealer: by the lowest card, or each seat as likely as another."""
    players = r[R.PLAYERS]
    if r[R.LOW_CUT]:
        ranks = np.zeros(players, np.int64)
        while True:
            used = 0
            for seat in range(players):
                card = draw(s, used)
                used |= 1 << card
                ranks[seat] = card >> 2
            dealer = lowest_cut(ranks)
            if dealer >= 0:
                return dealer
    while True:
        seat = (next_random(s) >> 62) & 3
        if seat < players:
            return seat


@lean_njit
def start(
    s: np.ndarray, r: np.ndarray, seed: int, dealer: int, deck: np.ndarray, ev: Events
) -> None:
    """Begin a game and deal its first hands.

    Args:
        seed: 64 bits for the game's generator.
        dealer: first dealer, or -1 to cut for the deal as the rules say.
        deck: int64, the first cards of the deck in the order dealt; may be empty.
    """
    s[:] = 0
    s[S.RANDOM] = seed
    if dealer < 0:
        dealer = cut_for_deal(s, r)
    s[S.DEALER] = dealer
    s[S.WINNER] = -1
    pone = around(dealer + 1, r[R.PLAYERS])
    s[S.SCORE + side_of(r, pone)] = r[R.PONE_START]
    deal(s, r, deck, ev)


@small_njit
def next_deal(s: np.ndarray, r: np.ndarray, deck: np.ndarray, ev: Events) -> None:
    """The deal passes to the left."""
    s[S.DEALER] = around(s[S.DEALER] + 1, r[R.PLAYERS])
    deal(s, r, deck, ev)


@lean_njit
def deal_on(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """The deal passes on, from a shuffled deck."""
    next_deal(s, r, NO_DECK, ev)


@small_njit
def deal(s: np.ndarray, r: np.ndarray, deck: np.ndarray, ev: Events) -> None:
    """Deal one card at a time from the dealer's left, then the blind cards and the starter."""
    players = r[R.PLAYERS]
    dealer = s[S.DEALER]
    s[S.PHASE] = _DISCARD
    s[S.DEAL_NUMBER] += 1
    s[S.CRIB] = 0
    s[S.LAST] = -1
    s[S.SHOWN] = 0
    s[S.HISTORY_LENGTH] = 0
    for word in range(S.HISTORY_WORDS):
        s[S.HISTORY + word] = 0
    for seat in range(players):
        s[S.HAND + seat] = 0
        s[S.HELD + seat] = r[R.DEALT]
        s[S.KEPT + seat] = 0
        s[S.THROWN_CARDS + seat] = 0
    reset_series(s)
    used = 0
    for place in range(deck.shape[0]):
        used |= 1 << deck[place]
    in_hands = players * r[R.DEALT]
    seat = around(dealer + 1, players)
    for place in range(in_hands + r[R.BLIND] + 1):
        if place < deck.shape[0]:
            card = deck[place]
        else:
            card = draw(s, used)
            used |= 1 << card
        if place < in_hands:
            s[S.HAND + seat] |= 1 << card
            seat = around(seat + 1, players)
        elif place < in_hands + r[R.BLIND]:
            s[S.CRIB] |= 1 << card
        else:
            s[S.STARTER] = card
    emit(ev, _E_DEAL, dealer, 0, 0, 0, 0)
    s[S.TO_ACT] = around(dealer + 1, players)
    if r[R.THROWN] == 0:
        cut(s, r, ev)


@small_njit
def legal(s: np.ndarray) -> int:
    """The cards that the seat to act may lay down, as a set; empty when nobody is to act."""
    hand = s[S.HAND + s[S.TO_ACT]]
    if s[S.PHASE] == _DISCARD:
        return hand
    if s[S.PHASE] == _PLAY:
        return playable(hand, s[S.COUNT])
    return 0


@small_njit
def apply(s: np.ndarray, r: np.ndarray, card: int, ev: Events) -> None:
    """The seat to act lays down a card: to the crib before the starter, to the table after it."""
    if s[S.PHASE] == _DISCARD:
        throw(s, r, card, ev)
    else:
        lay(s, r, card, ev)


@small_njit
def throw(s: np.ndarray, r: np.ndarray, card: int, ev: Events) -> None:
    """Throw a card to the crib; when all have thrown, cut."""
    seat = s[S.TO_ACT]
    bit = 1 << card
    s[S.HAND + seat] ^= bit
    s[S.HELD + seat] -= 1
    s[S.THROWN_CARDS + seat] |= bit
    s[S.CRIB] |= bit
    emit(ev, _E_DISCARD, seat, 0, 0, bit, 0)
    if s[S.HELD + seat] > r[R.DEALT] - r[R.THROWN]:
        return
    if seat == s[S.DEALER]:
        cut(s, r, ev)
    else:
        s[S.TO_ACT] = around(seat + 1, r[R.PLAYERS])


@small_njit
def cut(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """Turn the starter up; the dealer pegs two for a jack, his heels."""
    dealer = s[S.DEALER]
    for seat in range(r[R.PLAYERS]):
        s[S.KEPT + seat] = s[S.HAND + seat]
    s[S.PHASE] = _PLAY
    s[S.TO_ACT] = around(dealer + 1, r[R.PLAYERS])
    emit(ev, _E_STARTER, dealer, 0, 0, 1 << s[S.STARTER], 0)
    if not r[R.HEELS_AT_SHOW]:
        heels(s, r, ev)


@small_njit
def heels(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """Two points to the dealer when the starter is a jack."""
    if s[S.STARTER] >> 2 == JACK:
        peg(s, r, s[S.DEALER], 2, _FROM_HEELS, ev, _E_HEELS, 1 << s[S.STARTER])


@small_njit
def history_entry(s: np.ndarray, at: int) -> int:
    """Entry ``at`` of the history: ``seat << 6 | card``."""
    word = s[S.HISTORY + at // S.ENTRIES_PER_WORD]
    return (word >> (8 * (at % S.ENTRIES_PER_WORD))) & 255


@small_njit
def remember(s: np.ndarray, seat: int, card: int) -> None:
    """Append a card, or a go, to the history of the play."""
    at = s[S.HISTORY_LENGTH]
    s[S.HISTORY + at // S.ENTRIES_PER_WORD] |= (seat << 6 | card) << (8 * (at % S.ENTRIES_PER_WORD))
    s[S.HISTORY_LENGTH] = at + 1


@small_njit
def table_cards(s: np.ndarray, number: int, ev: Events) -> int:
    """The last ``number`` cards laid, as a set; nothing where nobody wants events."""
    cards = 0
    if ev is None:
        return cards
    at = s[S.HISTORY_LENGTH]
    while number > 0:
        at -= 1
        card = history_entry(s, at) & 63
        if card != S.SAID_GO:
            cards |= 1 << card
            number -= 1
    return cards


@small_njit
def add_to_series(s: np.ndarray, seat: int, card: int) -> None:
    """Put a card on the table: the count, the series, the history."""
    s[S.COUNT] += pip(card)
    s[S.SERIES] = s[S.SERIES] << 4 | card >> 2
    s[S.SERIES_LENGTH] += 1
    s[S.LAST] = seat
    remember(s, seat, card)
    s[S.HELD + seat] -= 1


@small_njit
def reset_series(s: np.ndarray) -> None:
    """The count goes back to nothing."""
    s[S.COUNT] = 0
    s[S.SERIES] = 0
    s[S.SERIES_LENGTH] = 0
    s[S.GONE] = 0
    s[S.FIRST_GO] = -1
    s[S.SOLO] = -1


@small_njit
def play_source(s: np.ndarray, seat: int) -> int:
    """Under which source a seat's points in the play are tallied."""
    return _FROM_PLAY_DEALER if seat == s[S.DEALER] else _FROM_PLAY_PONE


@small_njit
def lay(s: np.ndarray, r: np.ndarray, card: int, ev: Events) -> None:
    """Play a card, peg what it makes and find who acts next."""
    seat = s[S.TO_ACT]
    bit = 1 << card
    s[S.HAND + seat] ^= bit
    add_to_series(s, seat, card)
    emit(ev, _E_PLAY, seat, 0, 0, bit, s[S.COUNT])
    fifteen, thirty_one, pairs, run = play_parts(s[S.SERIES], s[S.SERIES_LENGTH], s[S.COUNT])
    source = play_source(s, seat)
    length = s[S.SERIES_LENGTH]
    if fifteen:
        peg(s, r, seat, fifteen, source, ev, _E_FIFTEEN, table_cards(s, length, ev))
    if thirty_one:
        peg(s, r, seat, thirty_one, source, ev, _E_THIRTY_ONE, table_cards(s, length, ev))
    if pairs:
        same = 2 if pairs == 2 else (3 if pairs == 6 else 4)
        peg(s, r, seat, pairs, source, ev, _E_PAIR, table_cards(s, same, ev))
    if run:
        peg(s, r, seat, run, source, ev, _E_RUN, table_cards(s, run, ev))
    if s[S.PHASE] == _PLAY:
        pass_turn(s, r, ev)


@small_njit
def pass_turn(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """After a card: the next seat that can play, or the end of the series."""
    if s[S.COUNT] == 31:
        end_series(s, r, ev)
        return
    players = r[R.PLAYERS]
    last = s[S.LAST]
    for step in range(1, players + 1):
        seat = around(last + step, players)
        if s[S.SOLO] >= 0 and seat != s[S.SOLO]:
            continue
        if playable(s[S.HAND + seat], s[S.COUNT]):
            if r[R.FIRST_AFTER_GO] and s[S.GONE]:
                s[S.SOLO] = seat
            s[S.TO_ACT] = seat
            return
        if seat != last and s[S.HELD + seat] > 0 and not (s[S.GONE] >> seat) & 1:
            say_go(s, seat, ev)
    none_left = 0
    for seat in range(players):
        none_left += s[S.HELD + seat]
    kind = _E_LAST_CARD if none_left == 0 else _E_GO_POINT
    if s[S.HELD + last] > 0:
        remember(s, last, S.SAID_GO)  # he passes too: so the history alone tells of the reset
    peg(s, r, last, 1, play_source(s, last), ev, kind, table_cards(s, 1, ev))
    if s[S.PHASE] == _PLAY:
        end_series(s, r, ev)


@small_njit
def say_go(s: np.ndarray, seat: int, ev: Events) -> None:
    """A seat that holds cards but none that fits says go."""
    if s[S.FIRST_GO] < 0:
        s[S.FIRST_GO] = seat
    s[S.GONE] |= 1 << seat
    remember(s, seat, S.SAID_GO)
    emit(ev, _E_GO, seat, 0, 0, 0, s[S.COUNT])


@small_njit
def next_leader(s: np.ndarray, r: np.ndarray) -> int:
    """Who leads the next series; -1 when nobody holds a card."""
    players = r[R.PLAYERS]
    first = around(s[S.LAST] + 1, players)
    if r[R.GO_CALLER_LEADS] and s[S.COUNT] != 31 and s[S.FIRST_GO] >= 0:
        first = s[S.FIRST_GO]
    for step in range(players):
        seat = around(first + step, players)
        if s[S.HELD + seat] > 0:
            return seat
    return -1


@small_njit
def end_series(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """Reset the count and let the next leader begin, or go to the show."""
    leader = next_leader(s, r)
    reset_series(s)
    if leader < 0 or r[R.SINGLE_COUNT]:
        show(s, r, ev)
    else:
        s[S.TO_ACT] = leader


@lean_njit
def show(s: np.ndarray, r: np.ndarray, ev: Events) -> None:
    """Count the hands from the dealer's left, then the crib; the first at the target wins."""
    begin_count(s, r, around(s[S.DEALER] + 1, r[R.PLAYERS]), ev)
    if r[R.MANUAL_COUNT] == 0:
        while s[S.PHASE] == _COUNT:
            claim(s, r, MOST_POINTS, ev)


@lean_njit
def begin_count(s: np.ndarray, r: np.ndarray, seat: int, ev: Events) -> None:
    """It is a seat's turn to count its hand, or its crib once its hand is counted."""
    s[S.PHASE] = _COUNT
    s[S.TO_ACT] = seat
    if seat == s[S.DEALER] and r[R.HEELS_AT_SHOW] and not (s[S.SHOWN] >> seat) & 1:
        heels(s, r, ev)


@small_njit
def claim(s: np.ndarray, r: np.ndarray, points: int, ev: Events) -> None:
    """The seat to act claims points for its hand, or for its crib after that.

    It pegs what it claims, but never more than the cards are worth; with muggins
    the other side pegs the rest. Then the next seat counts.
    """
    seat = s[S.TO_ACT]
    is_crib = (s[S.SHOWN] >> seat) & 1
    if is_crib:
        cards = s[S.CRIB]
        source = _FROM_CRIB
        kind = _E_CRIB
        s[S.SHOWN] |= S.CRIB_SHOWN
    else:
        cards = s[S.KEPT + seat]
        source = _FROM_HAND_DEALER if seat == s[S.DEALER] else _FROM_HAND_PONE
        kind = _E_HAND
        s[S.SHOWN] |= 1 << seat
    worth = show_points(cards, s[S.STARTER], is_crib != 0, r)
    peg(s, r, seat, min(points, worth), source, ev, kind, cards)
    if r[R.MUGGINS] and points < worth:
        other = around(seat + 1, r[R.PLAYERS])
        peg(s, r, other, worth - points, _FROM_MUGGINS, ev, _E_MUGGINS, cards)
    if s[S.PHASE] == _OVER:
        return
    if is_crib:
        s[S.PHASE] = _DEAL_OVER
    elif seat == s[S.DEALER]:
        begin_count(s, r, seat, ev)
    else:
        begin_count(s, r, around(seat + 1, r[R.PLAYERS]), ev)


@small_njit
def forced(s: np.ndarray, r: np.ndarray, one_deal: bool, skip_forced: bool, ev: Events) -> int:
    """The card that has to come next, -1 for none; a new deal begins where one is due."""
    if s[S.PHASE] == _DEAL_OVER and not one_deal:
        deal_on(s, r, ev)
    if s[S.PHASE] >= _COUNT or not skip_forced:
        return -1
    cards = legal(s)
    return -1 if cards & (cards - 1) else lowest(cards)


@small_njit
def apply_on(
    s: np.ndarray, r: np.ndarray, card: int, one_deal: bool, skip_forced: bool, ev: Events
) -> None:
    """`apply`, then `settle`; with -1 for the card only that."""
    while card >= 0:
        apply(s, r, card, ev)
        card = forced(s, r, one_deal, skip_forced, ev)


@lean_njit
def settle(s: np.ndarray, r: np.ndarray, one_deal: bool, skip_forced: bool, ev: Events) -> None:
    """Go on to the next real decision: new deals, and single legal cards where wanted.

    Args:
        one_deal: stop when the deal is over.
        skip_forced: lay a card that is the only legal one.
    """
    apply_on(s, r, forced(s, r, one_deal, skip_forced, ev), one_deal, skip_forced, ev)


@small_njit
def forfeit(s: np.ndarray, r: np.ndarray, seat: int) -> None:
    """A seat gives the game up: the next side is taken to have reached the target."""
    sides = 2 if r[R.TEAMS] else r[R.PLAYERS]
    winner = around(side_of(r, seat) + 1, sides)
    s[S.SCORE + winner] = r[R.TARGET]
    s[S.WINNER] = winner
    s[S.PHASE] = _OVER


@small_njit
def asks_another(s: np.ndarray, seat: int) -> bool:
    """Whether somebody has to decide, and it is not that seat."""
    return s[S.PHASE] < _COUNT and s[S.TO_ACT] != seat
