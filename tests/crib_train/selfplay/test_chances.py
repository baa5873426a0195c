"""The tables that turn points amid a deal into chances to win."""

from __future__ import annotations

import numpy as np
import pytest

from crib_agents.bot import BatchBot
from crib_agents.heuristic import make_medium
from crib_env.win_probability import chances_before_deal
from crib_train.selfplay.chances import (
    DEALER,
    LAST,
    PEGGED,
    PONE,
    SHOWS,
    TARGET,
    Chances,
    Spread,
    Stakes,
    after_play,
    after_show,
    at_discard,
    make_chances,
    measure,
)

SKUNK = 0.1


@pytest.fixture(scope="module")
def measured() -> tuple[Spread, Stakes]:
    medium = make_medium()
    assert isinstance(medium, BatchBot)
    return measure(medium, 20_000, seed=3, skunk=SKUNK)


@pytest.fixture(scope="module")
def spread(measured: tuple[Spread, Stakes]) -> Spread:
    return measured[0]


@pytest.fixture(scope="module")
def stakes(measured: tuple[Spread, Stakes]) -> Stakes:
    return measured[1]


@pytest.fixture(scope="module")
def chances(spread: Spread, stakes: Stakes) -> Chances:
    return make_chances(spread, stakes)


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
            pone = spread.reaching[PONE, own, :other].sum()
            dealer = spread.reaching[DEALER, other, :own].sum()
            nobody = spread.play[:own, :other].sum()
            assert np.isclose(pone + dealer + nobody, 1)


@pytest.fixture(scope="module")
def certain() -> Spread:
    """Hands of 4, a crib of 2 and nothing pegged."""
    hand, crib = np.zeros((2, SHOWS)), np.zeros(SHOWS)
    hand[:, 4] = crib[2] = 1
    play, reaching = np.zeros((PEGGED, PEGGED)), np.zeros((2, PEGGED, PEGGED))
    play[0, 0] = 1
    return Spread(hand, crib, play, reaching)


def test_a_deal_of_certain_points_is_counted_in_order(certain: Spread) -> None:
    before = chances_before_deal()
    plain = Stakes(before, np.zeros(TARGET + 1))
    shown = after_play(certain, plain)
    assert shown[PONE, 121, 120] == 1  # the pone counts first
    assert shown[PONE, 120, 117] == 0  # then the dealer's hand wins
    assert shown[PONE, 120, 115] == 0  # or his crib
    assert np.isclose(shown[PONE, 110, 100], before[1, 110, 106])
    assert shown[DEALER, 149, 117] == 0
    assert shown[DEALER, 121, 116] == 1
    assert shown[DEALER, 119, 116] == 1  # with the crib
    assert np.isclose(shown[DEALER, 110, 100], before[0, 112, 104])
    table = at_discard(certain, plain)
    for role in (PONE, DEALER):
        assert np.isclose(table[role, 100, 10, 90], shown[role, 110, 90])


def test_skunks_are_counted_in_order(certain: Spread) -> None:
    """Where a skunk is worth a tenth of a game, who loses stands where he stood."""
    skunked = np.zeros(TARGET + 1)
    skunked[:91] = SKUNK
    skunked[:61] = 2 * SKUNK
    table = at_discard(certain, Stakes(chances_before_deal(), skunked))
    assert np.isclose(table[PONE, 117, 4, 90], 1 + SKUNK)
    assert np.isclose(table[PONE, 117, 4, 91], 1)
    assert np.isclose(table[PONE, 117, 4, 60], 1 + 2 * SKUNK)
    assert np.isclose(table[PONE, 86, 4, 117], -SKUNK)  # four more, and 90 is a skunk
    assert np.isclose(table[PONE, 87, 4, 117], 0)
    assert np.isclose(table[DEALER, 90, 4, 117], -SKUNK)  # lost before his hand is counted
    assert np.isclose(table[DEALER, 91, 4, 117], 0)
    assert np.isclose(table[DEALER, 117, 4, 86], 1 + SKUNK)  # his hand comes after the other's
    assert np.isclose(table[DEALER, 117, 4, 87], 1)


def test_over_the_shows_it_is_what_the_score_was_worth(
    spread: Spread, stakes: Stakes, chances: Chances
) -> None:
    mean = np.einsum("rmst,rs->rmt", chances.discarding, spread.hand)
    assert np.abs(mean - stakes.before).max() < 0.015


def test_skunks_are_a_small_part_of_it(spread: Spread, stakes: Stakes) -> None:
    """Both sides' values add up, and the chance to win is most of either's."""
    assert np.allclose(stakes.before[PONE] + stakes.before[DEALER].T, 1)
    beyond = stakes.before - chances_before_deal()
    assert np.abs(beyond[:, 91:, 91:]).max() < 0.01  # nobody can be skunked, so it is noise
    assert beyond[DEALER, 119, 80] == pytest.approx(SKUNK, abs=0.015)
    assert beyond[DEALER, 20, 115] == pytest.approx(-2 * SKUNK, abs=0.02)
    assert stakes.skunked[90] == SKUNK
    assert stakes.skunked[91] == 0
    assert stakes.skunked[60] == 2 * SKUNK


def test_more_points_never_hurt(spread: Spread, stakes: Stakes, chances: Chances) -> None:
    # What the dealer's loss is worth less is not in the others.
    shown, played = after_show(stakes)[PONE, :, :TARGET], after_play(spread, stakes)[PONE]
    for table in (shown[None], played[None], chances.discarding):
        assert table.min() >= -2 * SKUNK - 1e-9
        assert table.max() <= 1 + 2 * SKUNK + 1e-9
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
    assert chances.shown.shape == (2, TARGET + 1, LAST)
    assert chances.skunked.shape == (TARGET + 1,)
    assert chances.discarding.shape == (2, TARGET, SHOWS, TARGET)
    assert chances.worths.shape == (3, 2, TARGET, TARGET)
    assert chances.usual.shape == (3, 2)
