"""One game as a row of machine words, and the names of its columns.

A row is int64 ``[STATE_SIZE]``; a batch of games is int64 ``[B, STATE_SIZE]``.
Columns named for four seats hold one word for each, ``HAND + seat`` and so on.
Card sets have bit ``i`` set for card ``i``; a card that is not there is -1.
"""

from __future__ import annotations

from enum import IntEnum

MAX_SEATS = 4

PHASE = 0
"""A `Phase`."""
RANDOM = 1
"""State of the game's own generator (SplitMix64), 64 bits."""
DEALER = 2
"""Seat that deals and owns the crib."""
TO_ACT = 3
"""Seat that decides next."""
DEAL_NUMBER = 4
"""Deals begun, 1 for the first."""
WINNER = 5
"""Side that reached the target, -1 while nobody has."""
STARTER = 6
"""The card to turn up. Nobody may see it before the play begins."""
CRIB = 7
"""Set of the cards in the crib."""
COUNT = 8
"""Running total of the series."""
SERIES = 9
"""Ranks of the series in hexadecimal digits, the last card in the lowest."""
SERIES_LENGTH = 10
"""Cards in the series."""
LAST = 11
"""Seat that laid the last card, -1 before the first."""
GONE = 12
"""Bit ``seat`` is set when that seat has said go in this series."""
FIRST_GO = 13
"""First seat that said go in this series, -1 for none."""
SOLO = 14
"""The only seat that goes on after a go, where the rules say so; -1 for none."""
SHOWN = 15
"""Bit ``seat`` is set when that hand has been counted, bit `CRIB_SHOWN` for the crib."""
HISTORY_LENGTH = 16
"""Entries in the history."""
HISTORY = 17
"""The play so far, oldest first, seven entries of one byte a word: ``seat << 6 | card``,
where card `SAID_GO` stands for a go."""
HISTORY_WORDS = 6
SCORE = HISTORY + HISTORY_WORDS
"""Points by side."""
HAND = SCORE + MAX_SEATS
"""Set of the cards that a seat holds."""
HELD = HAND + MAX_SEATS
"""How many cards a seat holds (known to all)."""
KEPT = HELD + MAX_SEATS
"""Set of the cards that a seat kept for the show, empty before the play."""
THROWN_CARDS = KEPT + MAX_SEATS
"""Set of the cards that a seat threw to the crib."""
TALLY = THROWN_CARDS + MAX_SEATS
"""Points pegged over the game by seat and `Source`: ``TALLY + seat * N_SOURCES + source``."""

SAID_GO = 63
CRIB_SHOWN = 1 << MAX_SEATS
ENTRIES_PER_WORD = 7
HISTORY_CAPACITY = HISTORY_WORDS * ENTRIES_PER_WORD


class Phase(IntEnum):
    """Where a deal stands."""

    DISCARD = 0
    PLAY = 1
    COUNT = 2
    """The seat to act claims what its hand, or its crib, is worth (manual counting)."""
    DEAL_OVER = 3
    """All has been counted; the next deal has not begun."""
    OVER = 4
    """Somebody reached the target."""


class Source(IntEnum):
    """Where points come from, by the role of the seat that pegs them."""

    HEELS = 0
    PLAY_DEALER = 1
    PLAY_PONE = 2
    HAND_DEALER = 3
    HAND_PONE = 4
    CRIB = 5
    MUGGINS = 6


N_SOURCES = len(Source)
STATE_SIZE = TALLY + MAX_SEATS * N_SOURCES


class EventKind(IntEnum):
    """What can happen in a game."""

    DEAL = 0
    DISCARD = 1
    STARTER = 2
    HEELS = 3
    PLAY = 4
    GO = 5
    """A seat said go."""
    FIFTEEN = 6
    THIRTY_ONE = 7
    PAIR = 8
    RUN = 9
    GO_POINT = 10
    """One point for the last card before a go."""
    LAST_CARD = 11
    HAND = 12
    CRIB = 13
    WIN = 14
    MUGGINS = 15
    """Points that a claim missed, pegged by the other side."""


EVENT_WIDTH = 6
"""An event is a row: kind, seat, points pegged, points worth, card set, count."""
EVENT_CAPACITY = 64
"""More than one action can cause. Row 0 of a buffer holds the number of events."""
