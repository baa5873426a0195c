"""A seat sees what it may see, and the same in every form that it is told in.

The cards that a seat cannot know are changed, the history that all know is
kept: whatever the seat is given must stay the same to the last bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_env import Game, Rules, SeatView
from crib_env import state as S
from crib_env.bits import pip
from crib_env.cards import FULL_DECK, Card, from_mask, iterate, parse_cards, to_mask
from crib_env.engine import history_entry
from crib_env.observation import layout, observation_size, seen_by, split
from crib_env.state import EventKind, Phase
from tests.crib_env.support import (
    VARIANTS,
    game_in_play,
    mask,
    observation,
    random_decisions,
    recalled,
)

Row = NDArray[np.int64]


def laid_cards(row: Row) -> int:
    """The cards on the table, as a set."""
    cards = [int(history_entry(row, at)) & 63 for at in range(int(row[S.HISTORY_LENGTH]))]
    return to_mask(card for card in cards if card != S.SAID_GO)


def shown_cards(row: Row, rules: Rules) -> int:
    """Cards that all have seen counted, as a set."""
    shown = int(row[S.CRIB]) if row[S.SHOWN] & S.CRIB_SHOWN else 0
    for seat in range(rules.players):
        if (int(row[S.SHOWN]) >> seat) & 1:
            shown |= int(row[S.KEPT + seat])
    return shown


def with_other_hidden_cards(row: Row, rules: Rules, seat: int, chance: random.Random) -> Row:
    """The same game as far as the seat can tell: all else dealt anew, the generator changed."""
    out = row.copy()
    out[S.RANDOM] = chance.getrandbits(63)
    own = int(row[S.HAND + seat] | row[S.THROWN_CARDS + seat])
    known = own | laid_cards(row) | shown_cards(row, rules)
    if row[S.PHASE] != Phase.DISCARD:
        known |= 1 << int(row[S.STARTER])
    hidden = [card for card in iterate(FULL_DECK) if not (known >> card) & 1]
    chance.shuffle(hidden)

    def deal_anew(cards: int) -> int:
        """As many other cards, those that are known left in place."""
        kept = cards & known
        return kept | to_mask(hidden.pop() for _ in range((cards & ~known).bit_count()))

    crib = int(row[S.CRIB])
    for other in range(rules.players):
        if other == seat:
            continue
        hand = deal_anew(int(row[S.HAND + other]))
        laid = int(row[S.KEPT + other]) & ~int(row[S.HAND + other])
        out[S.HAND + other] = hand
        out[S.KEPT + other] = hand | laid if row[S.PHASE] != Phase.DISCARD else 0
        thrown = int(row[S.THROWN_CARDS + other])
        out[S.THROWN_CARDS + other] = deal_anew(thrown)
        crib = crib & ~thrown | int(out[S.THROWN_CARDS + other])
    blind = crib
    for other in range(rules.players):
        blind &= ~int(out[S.THROWN_CARDS + other])
    out[S.CRIB] = crib & ~blind | deal_anew(blind)
    if row[S.PHASE] == Phase.DISCARD:
        out[S.STARTER] = hidden.pop()
    return out


def given_to(row: Row, rules: Rules, seat: int) -> tuple[object, ...]:
    """Everything that a seat is given of a game."""
    view = SeatView.of(row, rules, seat)
    return (
        view,
        view.to_json(),
        view.to_state().tobytes(),
        view.legal() if view.to_act == seat else (),
        view.count,
        view.held,
        view.phase,
        observation(row, rules, seat).tobytes(),
        mask(row, seat).tobytes(),
    )


def all_positions(name: str, games: int) -> Iterator[Game]:
    for seed in range(games):
        yield from random_decisions(seed, VARIANTS[name])


@pytest.mark.parametrize("name", VARIANTS)
def test_hidden_cards_make_no_difference(name: str) -> None:
    rules = VARIANTS[name]
    chance = random.Random(1)
    changed = 0
    for game in all_positions(name, 4 if name == "six-card" else 2):
        row = game.state()
        for seat in range(rules.players):
            other = with_other_hidden_cards(row, rules, seat, chance)
            changed += not np.array_equal(other[S.HAND :], row[S.HAND :])
            assert given_to(other, rules, seat) == given_to(row, rules, seat)
    assert changed > 90


def test_the_throw_of_the_other_seat_is_not_seen() -> None:
    """The dealer sees no difference before and after the other has thrown, but for the turn."""
    game = Game(seed=3, dealer=1)
    before = given_to(game.state(), game.rules, 1)
    view = game.view(1)
    game.apply(game.legal_actions()[0])
    game.apply(game.legal_actions()[0])
    assert game.view(1) == view
    assert given_to(game.state(), game.rules, 1)[:-1] == before[:-1]


def won_in_the_play() -> Game:
    """Seat 1, the dealer, wins by fifteen on the second card; no hand is shown."""
    kept = {0: "5C KD 4C 4D", 1: "TC JD QH 9S"}
    game = game_in_play(kept, 1, scores=[119, 119])
    game.apply("5C")
    game.apply("TC")
    assert game.winner == 1
    return game


def test_cards_stay_hidden_after_a_game_won_in_the_play() -> None:
    game = won_in_the_play()
    rules = game.rules
    chance = random.Random(2)
    for seat in (0, 1):
        row = game.state()
        own = game.hand(seat) + from_mask(int(row[S.THROWN_CARDS + seat]))
        known = {*own, Card("5C"), Card("TC"), Card(int(row[S.STARTER]))}
        for _ in range(20):
            other = with_other_hidden_cards(row, rules, seat, chance)
            assert given_to(other, rules, seat) == given_to(row, rules, seat)
        told = {card for event in game.events_for(seat) for card in event.cards}
        assert told <= known
        view = game.view(seat)
        named = {*view.hand, *view.discards, *(entry.card for entry in view.plays), view.starter}
        assert named <= known
        seen = split(observation(row, rules, seat), rules)
        cards = {*np.flatnonzero(seen["hand"]), *np.flatnonzero(seen["thrown"]),
                 *(np.flatnonzero(seen["laid"]) % 52)}  # fmt: skip
        assert cards <= {int(card) for card in known}


def test_a_game_won_in_the_play_leaves_no_series() -> None:
    game = won_in_the_play()
    assert game.count == 15
    for seat in (0, 1):
        seen = observation(game.state(), game.rules, seat)
        again = observation(game.view(seat).to_state(), game.rules, seat)
        assert again.tobytes() == seen.tobytes()
        pieces = split(seen, game.rules)
        for name in ("recent", "series", "count", "last", "gone", "phase", "points"):
            assert not pieces[name].any(), name
        assert np.count_nonzero(pieces["laid"]) == 2
        assert pieces["held"].tolist() == [np.float32(3 / 6)] * 2


def test_the_dealers_cards_stay_hidden_when_pone_counts_out() -> None:
    kept = {0: "2C 4H 6S JD", 1: "5H TC TD 8C"}
    game = game_in_play(kept, 1, starter="KD", scores=[120, 100])
    for card in parse_cards("JD TC 2C 8C 4H TD 6S 5H"):
        game.apply(card)
    assert game.winner == 0
    counts = (EventKind.HAND, EventKind.CRIB)
    shown = [(event.kind, event.seat) for event in game.events_for(0) if event.kind in counts]
    assert shown == [(EventKind.HAND, 0)]
    crib = int(game.state()[S.CRIB])
    told = to_mask(card for event in game.events_for(0) for card in event.cards)
    assert told & crib == int(game.state()[S.THROWN_CARDS])


def test_what_others_threw_is_not_told() -> None:
    for seat in (0, 1):
        game = next(game for game in random_decisions(8) if game.phase == "play")
        throws = [event for event in game.events_for(seat) if event.kind == EventKind.DISCARD]
        assert len(throws) == 4
        assert {event.seat for event in throws if event.cards} == {seat}


# The same knowledge in all its forms


def seats_asked(game: Game) -> list[int]:
    """The seats whose observation is to be decided on or learned from."""
    return [game.to_act] if game.phase == "discard" else list(range(game.rules.players))


@pytest.mark.parametrize("name", VARIANTS)
def test_all_forms_of_an_observation_agree(name: str) -> None:
    rules = VARIANTS[name]
    compared = 0
    for game in all_positions(name, 8 if name == "six-card" else 3):
        row = game.state()
        for seat in range(rules.players):
            view = game.view(seat)
            seen = observation(row, rules, seat)
            assert observation(view.to_state(), rules, seat).tobytes() == seen.tobytes()
            if game.is_over:
                continue  # nobody decides, and nothing is rebuilt from it
            if seat in seats_asked(game):
                back = recalled(seen, rules)
                assert observation(back, rules, 0).tobytes() == seen.tobytes()
                assert SeatView.of(back, rules, 0).hand == view.hand
                compared += 1
            if seat == game.to_act:
                assert view.legal() == tuple(game.legal_actions())
                assert observation(view.for_decision(), rules, seat).tobytes() == seen.tobytes()
                assert mask(view.for_decision(), seat).tolist() == mask(row, seat).tolist()
    assert compared > 250


@pytest.mark.parametrize("name", VARIANTS)
def test_a_view_knows_what_the_game_says(name: str) -> None:
    for game in all_positions(name, 4):
        if game.phase == "discard":
            continue
        for seat in range(game.rules.players):
            view = game.view(seat)
            assert view.scores == game.scores
            assert view.starter == game.starter
            assert view.hand == game.hand(seat)
            if not game.is_over:
                assert view.phase == "play"
                assert view.to_act == game.to_act
                assert view.count == game.count
                assert view.held == tuple(len(game.hand(s)) for s in range(game.rules.players))


@pytest.mark.parametrize("name", VARIANTS)
def test_views_survive_json(name: str) -> None:
    for game in all_positions(name, 4):
        for seat in range(game.rules.players):
            view = game.view(seat)
            again = SeatView.from_json(view.to_json())
            assert again == view
            assert again.to_state().tobytes() == view.to_state().tobytes()
            assert again.to_json() == view.to_json()
            assert hash(again) == hash(view)


@pytest.mark.parametrize("name", ["six-card", "to-61", "five-card"])
def test_goes_left_out_are_inferred(name: str) -> None:
    """With two seats the cards alone say who had to go, once it is the seat's turn."""
    rules = VARIANTS[name]
    left_out = 0
    for game in all_positions(name, 30):
        if game.phase != "play":
            continue
        seat = game.to_act
        message = game.view(seat).to_json()
        plays = [entry for entry in message["plays"] if entry[1] != "go"]
        left_out += len(message["plays"]) - len(plays)
        bare = SeatView.from_json(message | {"plays": plays})
        assert bare.legal() == tuple(game.legal_actions())
        seen = observation(game.state(), rules, seat)
        assert observation(bare.for_decision(), rules, seat).tobytes() == seen.tobytes()
    assert left_out > 500


@pytest.mark.parametrize("name", VARIANTS)
def test_what_a_seat_knows_comes_alike_from_the_game_and_from_its_observation(name: str) -> None:
    rules = VARIANTS[name]
    chance = random.Random(4)
    compared = 0
    for game in all_positions(name, 20):
        if game.is_over or game.phase == "count":
            continue
        row, seat = game.state(), game.to_act
        known = np.full(S.STATE_SIZE, -7, np.int64)
        seen_by(row, rules.to_array(), seat, known)
        assert np.array_equal(known, recalled(observation(row, rules, seat), rules))
        again = np.full(S.STATE_SIZE, -7, np.int64)
        other = with_other_hidden_cards(row, rules, seat, chance)
        seen_by(other, rules.to_array(), seat, again)
        assert np.array_equal(known, again)
        compared += 1
    assert compared > 500


def test_repeated_goes_are_tolerated() -> None:
    for game in all_positions("six-card", 10):
        if game.phase != "play":
            continue
        seat = game.to_act
        message = game.view(seat).to_json()
        twice = []
        for entry in message["plays"]:
            twice += [entry] if entry[1] != "go" else [entry, entry]
        again = SeatView.from_json(message | {"plays": twice})
        assert again.legal() == tuple(game.legal_actions())
        assert again.to_state().tobytes() == game.view(seat).to_state().tobytes()


# The layout of the observation


@pytest.mark.parametrize("name", VARIANTS)
def test_the_pieces_lie_end_to_end_and_in_their_ranges(name: str) -> None:
    rules = VARIANTS[name]
    pieces = layout(rules)
    offset = 0
    for piece in pieces:
        assert piece.offset == offset
        offset += piece.length
    assert offset == observation_size(rules)
    assert len({piece.name for piece in pieces}) == len(pieces)
    for game in all_positions(name, 3):
        for seat in seats_asked(game):
            seen = split(observation(game.state(), rules, seat), rules)
            for piece in pieces:
                part = seen[piece.name]
                assert part.shape == (piece.length,)
                assert part.dtype == np.float32
                assert np.isfinite(part).all()
                assert part.min() >= piece.low
                assert part.max() <= piece.high


@pytest.mark.parametrize("name", VARIANTS)
def test_the_barred_piece_holds_what_goes_have_told(name: str) -> None:
    rules = VARIANTS[name]
    told_something = 0
    for game in all_positions(name, 12):
        if game.phase != "play":
            continue
        told = np.zeros((rules.players, 10), bool)
        for event in game.events:
            if event.kind == EventKind.GO and event.deal == game.deal:
                told[event.seat, : 31 - event.count] = True
        seat = game.to_act
        seen = split(observation(game.state(), rules, seat), rules)["barred"]
        by_seat = np.roll(seen.reshape(rules.players, 10), seat, axis=0)
        assert (by_seat[told] == 1).all()
        # The last to lay passes as well where it is stuck: no event, but all can see it.
        for other in range(rules.players):
            assert all(by_seat[other, pip(card) - 1] == 0 for card in game.hand(other))
        told_something += int(told.any())
    assert told_something


def test_the_points_piece_holds_what_a_card_pegs() -> None:
    for game in all_positions("six-card", 5):
        if game.phase != "play":
            continue
        seat = game.to_act
        seen = split(observation(game.state(), game.rules, seat), game.rules)["points"]
        for card in game.legal_actions():
            after = game.copy()
            after.apply(card)
            told = [
                event.worth
                for event in after.last_events
                if event.kind
                in (EventKind.FIFTEEN, EventKind.THIRTY_ONE, EventKind.PAIR, EventKind.RUN)
            ]
            if not after.is_over:
                assert round(float(seen[card]) * 10) == sum(told)
        assert not seen[[c for c in range(52) if c not in game.legal_actions()]].any()
