"""What the tests of the game share: games set up by hand or played by chance."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_env import Game, Rules, SeatView, engine
from crib_env import state as S
from crib_env.cards import CARDS, Card, parse_cards
from crib_env.observation import observation_size, observe, offsets, recall, write_mask
from crib_env.state import EventKind

Cards = str | Sequence[str | int]
"""``"5H JC"`` or a list, as `parse_cards` takes it."""

DATA = Path(__file__).parents[1] / "data"

NO_SKUNKS: dict[str, Any] = {"skunk_line": None, "double_skunk_line": None}
VARIANTS = {
    "six-card": Rules(),
    "to-61": Rules(target=61, **NO_SKUNKS),
    "five-card": Rules(dealt=5, thrown=1, target=61, **NO_SKUNKS),
    "historic": Rules(
        dealt=5,
        thrown=2,
        target=61,
        short_flush=True,
        play_single_count=True,
        pone_start=3,
        first_dealer="low_cut",
        **NO_SKUNKS,
    ),
    "three": Rules(players=3, dealt=5, thrown=1, blind=1),
    "four": Rules(players=4, dealt=5, thrown=1),
    "partners": Rules(players=4, dealt=5, thrown=1, teams=True),
    "house": Rules(
        players=3,
        dealt=5,
        thrown=1,
        blind=1,
        heels_timing="show",
        crib_flush="four",
        leader_after_reset="go_caller",
        go_continuation="first_after_go",
    ),
}
"""Rules that between them use every field."""

PEGS = frozenset(
    {
        EventKind.HEELS,
        EventKind.FIFTEEN,
        EventKind.THIRTY_ONE,
        EventKind.PAIR,
        EventKind.RUN,
        EventKind.GO_POINT,
        EventKind.LAST_CARD,
        EventKind.HAND,
        EventKind.CRIB,
    }
)
"""Kinds of event that move a peg."""


def deck_for(
    hands: Mapping[int, Cards], dealer: int, starter: str | int, blind: Cards = ()
) -> list[Card]:
    """The deck that deals these whole hands, one card at a time from the dealer's left."""
    seats = len(hands)
    given = {seat: parse_cards(cards) for seat, cards in hands.items()}
    dealt = [
        given[(dealer + 1 + place) % seats][place // seats]
        for place in range(seats * len(given[dealer]))
    ]
    return [*dealt, *parse_cards(blind), Card(starter)]


def game_in_play(
    kept: Mapping[int, Cards],
    dealer: int,
    *,
    thrown: Mapping[int, Cards] | None = None,
    starter: str | int | None = None,
    rules: Rules | None = None,
    scores: Sequence[int] | None = None,
) -> Game:
    """A game in which each seat has kept these cards and the play is about to begin.

    Cards that are not given are taken from the rest of the pack, kings first,
    and the starter is then no jack.
    """
    rules = rules or Rules()
    thrown = thrown or {}
    used = {card for cards in (*kept.values(), *thrown.values()) for card in parse_cards(cards)}
    if starter is not None:
        used.add(Card(starter))
    spare = [card for card in reversed(CARDS) if card not in used]
    if starter is None:
        starter = next(card for card in spare if str(card)[0] != "J")
        spare.remove(Card(starter))
    throws = {
        seat: parse_cards(thrown[seat])
        if seat in thrown
        else tuple(spare.pop() for _ in range(rules.thrown))
        for seat in kept
    }
    hands = {seat: (*parse_cards(kept[seat]), *throws[seat]) for seat in kept}
    blind = [spare.pop() for _ in range(rules.blind)]
    deck = deck_for(hands, dealer, starter, blind)
    game = Game(rules, 0, dealer=dealer, deck=deck, scores=scores)
    for step in range(1, rules.players + 1):
        for card in throws[(dealer + step) % rules.players]:
            game.apply(card)
    return game


def at_the_count(game: Game) -> Game:
    """The same game, its cards laid from the lowest, when the hands are to be claimed."""
    while game.phase == "play":
        game.apply(game.legal_actions()[0])
    assert game.phase == "count"
    return game


def random_decisions(seed: int, rules: Rules | None = None, **options: object) -> Iterator[Game]:
    """A game played by chance, before each decision and once more when it is over.

    The same object each time: it must not be changed by the caller.
    """
    game = Game(rules or Rules(), seed, **options)  # type: ignore[arg-type]
    chance = random.Random(seed)
    while not game.is_over:
        yield game
        game.apply(chance.choice(game.legal_actions()))
    yield game


def play_by_chance(game: Game, seed: int) -> Game:
    """Play a game on to its end; hands that are to be claimed, all of them truly."""
    chance = random.Random(seed)
    while not game.is_over:
        if game.phase == "count":
            game.claim(engine.MOST_POINTS)
        else:
            game.apply(chance.choice(game.legal_actions()))
    return game


def random_game(seed: int, rules: Rules | None = None, **options: object) -> Game:
    """A whole game played by chance."""
    for game in random_decisions(seed, rules, **options):
        last = game
    return last


def observation(row: NDArray[np.int64], rules: Rules, seat: int) -> NDArray[np.float32]:
    """What a seat observes of a game row, float32 ``[D]``."""
    out = np.full(observation_size(rules), np.nan, np.float32)
    observe(row, rules.to_array(), seat, offsets(rules), out)
    return out


def mask(row: NDArray[np.int64], seat: int) -> NDArray[np.int8]:
    """The mask of a seat, int8 ``[52]``."""
    out = np.full(52, -1, np.int8)
    cards = int(engine.legal(row)) if row[S.TO_ACT] == seat else 0
    write_mask(cards, out.view(np.uint32))
    return out


def recalled(vector: NDArray[np.float32], rules: Rules) -> NDArray[np.int64]:
    """The game row behind an observation, the observer at seat 0."""
    row = np.full(S.STATE_SIZE, -7, np.int64)
    recall(vector, rules.to_array(), offsets(rules), row)
    return row


def view_as_seen(game: Game, seat: int) -> tuple[SeatView, bytes, bytes]:
    """Everything a seat is given: view, observation and mask, the arrays as bytes."""
    row = game.state()
    seen = observation(row, game.rules, seat).tobytes(), mask(row, seat).tobytes()
    return game.view(seat), *seen
