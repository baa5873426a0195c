"""The tables that turn points amid a deal into chances to win."""

from __future__ import annotations

import numpy as np
import pytest

from crib_agents.bot import BatchBot
from crib_agents.heuristic import make_medium
from crib_env.win_probability import chances_before_deal
from crib_train.selfplay.chances import (
    DEALER,
    PEGGED,
    PONE,
    REACH,
    SHOWS,
    TARGET,
    Chances,
    Spread,
    after_play,
    at_discard,
    make_chances,
    measure_spread,
)


@pytest.fixture(scope="module")
def spread() -> Spread:
    medium = make_medium()
    assert isinstance(medium, BatchBot)
    return measure_spread(medium, 20_000, seed=3)


@pytest.fixture(scope="module")
def chances(spread: Spread) -> Chances:
    return make_chances(spread)


def test_a_spread_holds_probabilities(spread: Spread) -> None:
    for part in (spread.hand, spread.crib, spread.play):
        assert (part >= 0).all()
    assert np.allclose(spread.hand.sum(1), 1)
    assert np.isclose(spread.crib.sum(), 1)
    assert np.isclose(spread.play.sum(), 1)
    assert (spread.hand[:, 19] == 0).all()  # no hand is worth 19
    points = np.arange(SHOWS)
    # Medium's hands show about 8 points and its cribs 4.8; the dealer pegs more in the play.
    assert np.allclose(spread.hand @ points, 8.1, atol=0.3)
    assert np.isclose(spread.crib @ points, 4.8, atol=0.2)
    pegs = np.arange(PEGGED)
    assert spread.play.sum(0) @ pegs > spread.play.sum(1) @ pegs + 1


def test_who_pegs_first_is_one_of_two_or_nobody(spread: Spread) -> None:
    for own in range(1, 12):
        for other in range(1, 12):
            pone, dealer = spread.first[PONE, own, other], spread.first[DEALER, other, own]
            nobody = spread.play[:own, :other].sum()
            assert np.isclose(pone + dealer + nobody, 1)


def test_a_deal_of_certain_points_is_counted_in_order() -> None:
    """With hands of 4, a crib of 2 and nothing pegged, the order of counting decides."""
    hand, crib = np.zeros((2, SHOWS)), np.zeros(SHOWS)
    hand[:, 4] = crib[2] = 1
    play, first = np.zeros((PEGGED, PEGGED)), np.zeros((2, PEGGED, PEGGED))
    play[0, 0] = 1
    certain = Spread(hand, crib, play, first)
    before = chances_before_deal()
    shown = after_play(certain)
    assert shown[PONE, 121, 120] == 1  # the pone counts first
    assert shown[PONE, 120, 117] == 0  # then the dealer's hand wins
    assert shown[PONE, 120, 115] == 0  # or his crib
    assert np.isclose(shown[PONE, 110, 100], before[1, 110, 106])
    assert shown[DEALER, 149, 117] == 0
    assert shown[DEALER, 121, 116] == 1
    assert shown[DEALER, 119, 116] == 1  # with the crib
    assert np.isclose(shown[DEALER, 110, 100], before[0, 112, 104])
    table = at_discard(certain, shown)
    for role in (PONE, DEALER):
        assert np.isclose(table[role, 100, 10, 90], shown[role, 110, 90])


def test_over_the_shows_it_is_the_chance_before_the_deal(spread: Spread, chances: Chances) -> None:
    mean = np.einsum("rmst,rs->rmt", chances.discarding, spread.hand)
    assert np.abs(mean - chances_before_deal()).max() < 0.015


def test_more_points_never_hurt(chances: Chances) -> None:
    for table in (chances.shown, chances.discarding):
        assert table.min() >= 0
        assert table.max() <= 1 + 1e-9
        assert (np.diff(table, axis=1) > -1e-3).all()
        assert (np.diff(table, axis=-1) < 1e-3).all()
    assert (np.diff(chances.discarding, axis=2) > -1e-9).all()


def test_worths_have_their_signs_and_sizes(chances: Chances) -> None:
    own, other, crib = chances.worths
    assert own.min() > -1e-3
    assert other.max() < 1e-3
    assert crib[PONE].max() < 1e-3
    assert crib[DEALER].min() > -1e-3
    # Early in the game a point is a point.
    for table in (own, -other, crib * np.array([-1, 1])[:, None, None]):
        assert np.allclose(table[:, 0, 0], 0.019, atol=0.002)
    # Two from home the dealer's pegs matter most, and his crib not at all.
    assert own[DEALER, 119, 115] > 0.1 > abs(crib[DEALER, 119, 115])


def test_shapes(chances: Chances) -> None:
    assert chances.shown.shape == (2, REACH, TARGET)
    assert chances.discarding.shape == (2, TARGET, SHOWS, TARGET)
    assert chances.worths.shape == (3, 2, TARGET, TARGET)
    assert chances.usual.shape == (3, 2)
