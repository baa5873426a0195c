"""What holds in every game, whoever plays it and however."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from crib_env import Card, Event, Game, Rules, pegging_score, show_score
from crib_env import state as S
from crib_env.cards import CARDS, FULL_DECK, from_mask
from crib_env.engine import history_entry
from crib_env.state import EventKind, Source
from tests.crib_env import brute
from tests.crib_env.chance import LIKELY, every_card_as_likely, hands_unrelated, unrelated
from tests.crib_env.support import PEGS, VARIANTS, random_decisions, random_game

SEEDS = st.integers(0, 2**63 - 1)
RULES = st.sampled_from(list(VARIANTS.values()))

examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pegged(game: Game) -> list[int]:
    """Points by side, added up from the events."""
    rules = game.rules
    first_dealer = game.events[0].seat
    sums = [0] * rules.sides
    sums[rules.side((first_dealer + 1) % rules.players)] += rules.pone_start
    for event in game.events:
        sums[rules.side(event.seat)] += event.points
    return sums


IN_THE_PLAY = PEGS - {EventKind.HEELS, EventKind.HAND, EventKind.CRIB}

TALLIED: dict[EventKind, Callable[[bool], Source]] = {
    EventKind.HEELS: lambda _: Source.HEELS,
    EventKind.HAND: lambda dealer: Source.HAND_DEALER if dealer else Source.HAND_PONE,
    EventKind.CRIB: lambda _: Source.CRIB,
} | {
    kind: lambda dealer: Source.PLAY_DEALER if dealer else Source.PLAY_PONE for kind in IN_THE_PLAY
}


def tallied(game: Game) -> list[list[int]]:
    """Points by seat and source, added up from the events."""
    sums = [[0] * S.N_SOURCES for _ in range(S.MAX_SEATS)]
    dealer = 0
    for event in game.events:
        if event.kind == EventKind.DEAL:
            dealer = event.seat
        elif event.kind in PEGS:
            sums[event.seat][TALLIED[event.kind](event.seat == dealer)] += event.points
    return sums


@examples
@given(seed=SEEDS, rules=RULES)
def test_points_are_the_sum_of_events_and_never_negative(seed: int, rules: Rules) -> None:
    game = random_game(seed, rules)
    assert list(game.scores) == pegged(game)
    tally = game.state()[S.TALLY : S.STATE_SIZE].reshape(S.MAX_SEATS, S.N_SOURCES)
    assert tally.tolist() == tallied(game)
    for event in game.events:
        assert 0 <= event.points <= event.worth
        assert (event.worth > 0) <= (event.kind in PEGS)
        # Only the points that end the game may be worth more than the peg moves.
        if event.points < event.worth:
            assert event is not game.events[-1]
            assert game.scores[rules.side(event.seat)] == rules.target


@examples
@given(seed=SEEDS, rules=RULES)
def test_a_game_is_over_the_instant_that_a_side_reaches_the_target(seed: int, rules: Rules) -> None:
    for game in random_decisions(seed, rules):
        assert game.is_over or max(game.scores) < rules.target
    assert game.winner is not None
    assert game.scores[game.winner] == rules.target
    assert sum(score == rules.target for score in game.scores) == 1
    last, win = game.events[-2:]
    assert win.kind == EventKind.WIN
    assert last.kind in PEGS
    assert rules.side(win.seat) == rules.side(last.seat) == game.winner


@examples
@given(seed=SEEDS, rules=RULES)
def test_cards_are_conserved(seed: int, rules: Rules) -> None:
    dealt = rules.players * rules.dealt + rules.blind + 1
    for game in random_decisions(seed, rules):
        row = game.state()
        played = 0
        for at in range(int(row[S.HISTORY_LENGTH])):
            card = int(history_entry(row, at)) & 63
            if card != S.SAID_GO:
                assert not (played >> card) & 1
                played |= 1 << card
        hands = [int(row[S.HAND + seat]) for seat in range(rules.players)]
        sets = [*hands, played, int(row[S.CRIB]), 1 << int(row[S.STARTER])]
        union = 0
        for cards in sets:
            assert cards & ~FULL_DECK == 0
            assert union & cards == 0
            union |= cards
        assert union.bit_count() == dealt
        if game.phase == "play":
            for seat in range(rules.players):
                kept = int(row[S.KEPT + seat])
                assert kept.bit_count() == rules.kept
                assert hands[seat] & ~kept == 0
                assert row[S.HELD + seat] == hands[seat].bit_count()
            assert int(row[S.CRIB]).bit_count() == rules.players * rules.thrown + rules.blind
        assert row[S.HISTORY_LENGTH] <= S.HISTORY_CAPACITY
        assert 0 <= game.count <= 31
        assert game.is_over is not bool(game.legal_actions())


@examples
@given(seed=SEEDS, given_cards=st.permutations(CARDS), number=st.integers(0, 12))
def test_the_rest_of_a_deck_given_in_part_is_shuffled(
    seed: int, given_cards: list[Card], number: int
) -> None:
    game = Game(seed=seed, dealer=0, deck=given_cards[:number])
    dealt = [*game.hand(0), *game.hand(1), CARDS[game.state()[S.STARTER]]]
    assert len(set(dealt)) == 13
    assert set(given_cards[:number]) <= set(dealt)


@examples
@given(seed=SEEDS)
def test_the_dealer_pegs_in_the_play_of_every_whole_deal(seed: int) -> None:
    game = random_game(seed)
    for number in range(1, game.deal):
        events = [event for event in game.events if event.deal == number]
        dealer = events[0].seat
        play = [event for event in events if event.kind in IN_THE_PLAY]
        assert sum(event.points for event in play if event.seat == dealer) >= 1
        laid = [event for event in events if event.kind == EventKind.PLAY]
        assert len(laid) == 8
        # The last card pays: one, or two where it makes thirty-one.
        assert play[-1].seat == laid[-1].seat


@settings(max_examples=300, deadline=None)
@given(cards=st.permutations(brute.DECK).map(lambda deck: deck[:5]), is_crib=st.booleans())
def test_no_show_scores_19_25_26_or_27(cards: list[str], is_crib: bool) -> None:
    total = show_score(cards[:4], cards[4], is_crib).total
    assert 0 <= total <= 29
    assert total not in (19, 25, 26, 27)


@examples
@given(seed=SEEDS, rules=RULES)
def test_equal_seeds_give_equal_games(seed: int, rules: Rules) -> None:
    one, other = random_game(seed, rules), random_game(seed, rules)
    assert one == other
    assert one.events == other.events
    assert Game(rules, seed).state().tolist() == Game(rules, seed).state().tolist()
    assert Game(rules, seed) != Game(rules, seed ^ 1)


@examples
@given(seed=SEEDS, rules=RULES, stop=st.integers(0, 200))
def test_saved_and_read_back(seed: int, rules: Rules, stop: int) -> None:
    for at, game in enumerate(random_decisions(seed, rules)):
        if at == stop or game.is_over:
            again = Game.from_json(game.to_json())
            assert again == game
            assert again.events == game.events
            assert again.to_json() == game.to_json()
            break
    while not again.is_over:
        again.apply(again.legal_actions()[-1])
        if not game.is_over:
            game.apply(game.legal_actions()[-1])
    assert again == game  # the same future, too


@examples
@given(seed=SEEDS, rules=RULES, depth=st.integers(1, 60))
def test_undo_is_the_inverse_of_apply(seed: int, rules: Rules, depth: int) -> None:
    chance = random.Random(seed)
    game = Game(rules, seed)
    trail = [game.copy()]
    while not game.is_over and len(trail) <= depth:
        game.apply(chance.choice(game.legal_actions()))
        trail.append(game.copy())
    for before in reversed(trail[:-1]):
        game.undo()
        assert game == before
        assert game.state().tolist() == before.state().tolist()
        assert game.last_events == before.last_events
        assert game.to_json() == before.to_json()


@examples
@given(seed=SEEDS, rules=RULES, at=st.integers(0, 40))
def test_a_copy_is_independent(seed: int, rules: Rules, at: int) -> None:
    for number, game in enumerate(random_decisions(seed, rules)):
        if number == at or game.is_over:
            break
    saved, row = game.to_json(), game.state()
    twin = game.copy()
    while not twin.is_over:
        twin.apply(twin.legal_actions()[0])
    while twin.actions:
        twin.undo()
    assert game.to_json() == saved
    assert game.state().tolist() == row.tolist()
    assert game == Game.from_json(saved)


@examples
@given(seed=SEEDS, rules=RULES)
def test_events_agree_with_the_scorers(seed: int, rules: Rules) -> None:
    """Every score in the play and the show, found again by the functions for people."""
    for game in random_decisions(seed, rules):
        if game.phase == "discard" or game.is_over:
            continue
        row = game.state()
        series = [*game.view(game.to_act).series]
        after = game.copy()
        after.apply(game.legal_actions()[0])
        laid, *rest = after.last_events
        score = pegging_score([*series, *laid.cards])
        assert laid.count == score.count
        parts = {
            EventKind.FIFTEEN: score.fifteen,
            EventKind.THIRTY_ONE: score.thirty_one,
            EventKind.PAIR: score.pairs,
            EventKind.RUN: score.run,
        }
        told = {event.kind: event.worth for event in rest if event.kind in parts}
        if not after.is_over:
            assert told == {kind: points for kind, points in parts.items() if points}
        for event in rest:
            check_cards(event, [*series, *laid.cards])
            if event.kind in (EventKind.HAND, EventKind.CRIB):
                is_crib = event.kind == EventKind.CRIB
                cards = int(row[S.CRIB] if is_crib else row[S.KEPT + event.seat])
                assert event.cards == from_mask(cards)
                starter = CARDS[row[S.STARTER]]
                assert event.worth == show_score(event.cards, starter, is_crib, rules).total


def check_cards(event: Event, series: list[Card]) -> None:
    """The cards of an event in the play are those of the series that score."""
    cards = event.cards
    texts = [str(card) for card in cards]
    if event.kind in (EventKind.FIFTEEN, EventKind.THIRTY_ONE):
        assert set(cards) == set(series)
        assert sum(map(brute.value, texts)) in (15, 31)
    elif event.kind == EventKind.PAIR:
        assert len({text[0] for text in texts}) == 1
        assert set(cards) == set(series[-len(cards) :])
        assert event.worth == len(cards) * (len(cards) - 1)
    elif event.kind == EventKind.RUN:
        assert brute.is_run(texts)
        assert set(cards) == set(series[-len(cards) :])
        assert event.worth == len(cards)
    elif event.kind in (EventKind.GO_POINT, EventKind.LAST_CARD):
        assert list(cards) == series[-1:]
        assert event.worth == 1


# Shuffles of neighbouring seeds

DEALS = 20_000


@pytest.fixture(scope="module")
def first_deals() -> np.ndarray:
    """First deals of the seeds 0, 1, 2 ...: uint64 ``[DEALS, 4]``: two hands, starter, dealer."""
    rows = []
    for seed in range(DEALS):
        row = Game(seed=seed).state()
        rows.append((row[S.HAND], row[S.HAND + 1], row[S.STARTER], row[S.DEALER]))
    return np.array(rows, np.int64)


def membership(hands: np.ndarray) -> np.ndarray:
    """Card sets as zeros and ones: ``[n, 52]``."""
    return (hands[:, None] >> np.arange(52)) & 1


def test_every_card_is_as_likely_in_a_first_hand(first_deals: np.ndarray) -> None:
    for seat in (0, 1):
        every_card_as_likely(membership(first_deals[:, seat]))


def test_every_card_is_as_likely_to_be_the_starter(first_deals: np.ndarray) -> None:
    found = np.bincount(first_deals[:, 2], minlength=52)
    assert LIKELY < stats.chisquare(found).pvalue < 1 - LIKELY


def test_either_seat_is_as_likely_to_deal_first(first_deals: np.ndarray) -> None:
    assert stats.binomtest(int(first_deals[:, 3].sum()), DEALS).pvalue > LIKELY


def test_neighbouring_seeds_have_nothing_to_do_with_each_other(first_deals: np.ndarray) -> None:
    for step in (1, 2, 64):
        earlier, later = first_deals[:-step], first_deals[step:]
        unrelated(earlier[:, 2] >> 2, later[:, 2] >> 2, 13)
        unrelated(earlier[:, 3], later[:, 3], 2)
        hands_unrelated(membership(earlier[:, 0]), membership(later[:, 0]))


def test_the_lowest_card_deals_as_often_on_either_side() -> None:
    rules = VARIANTS["historic"]
    dealers = [Game(rules, seed).dealer for seed in range(4000)]
    assert stats.binomtest(sum(dealers), len(dealers)).pvalue > LIKELY
    three = Rules(players=3, dealt=5, thrown=1, blind=1, first_dealer="low_cut")
    found = np.bincount([Game(three, seed).dealer for seed in range(4000)], minlength=3)
    assert stats.chisquare(found).pvalue > LIKELY
