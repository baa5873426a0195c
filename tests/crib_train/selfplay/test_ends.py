"""What cards are worth at the end of a deal, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from crib_env.win_probability import chances_before_deal
from crib_train.selfplay.chances import DEALER, PONE, SHOWS, TARGET, Stakes, after_show
from crib_train.selfplay.ends import Ends, Standing
from crib_train.selfplay.heads import MIXED, PEGS

SKUNK = 0.1


@pytest.fixture(scope="module")
def ends() -> Ends:
    skunked = np.zeros(TARGET + 1)
    skunked[:91] = SKUNK
    skunked[:61] = 2 * SKUNK
    ends = Ends()
    ends.shown.copy_(torch.from_numpy(after_show(Stakes(chances_before_deal(), skunked))))
    ends.skunked.copy_(torch.from_numpy(skunked))
    return ends


def worth(
    ends: Ends, own: int, other: int, dealing: int, show: int = 4, now: int = 0, **chances: Tensor
) -> float:
    """Of one card, where the other's hand shows 4 and the crib 2, if nothing else is said."""
    number = torch.tensor([own]), torch.tensor([other]), torch.tensor([dealing])
    standing = Standing(*number, torch.tensor([show]), torch.tensor([[now]]))
    pegs = chances.get("pegs", pegging({(0, 0): 1.0}))
    shows = torch.stack([chances.get("hand", certain(4)), chances.get("crib", certain(2))])
    return float(ends(standing, pegs[None, None], shows[None])[0, 0])


def certain(points: int) -> Tensor:
    return torch.eye(SHOWS)[points]


def pegging(chances: dict[tuple[int, int], float]) -> Tensor:
    """The mixture with these chances of own and other points to come, one kind for each."""
    pegs = torch.zeros(MIXED, 2, PEGS)
    pegs[:, 1, 0] = 1
    for kind, ((own, other), chance) in enumerate(chances.items()):
        pegs[kind, 0, own] = chance
        pegs[kind, 1] = torch.eye(PEGS)[other]
    return pegs


def test_the_pone_counts_first(ends: Ends) -> None:
    before = chances_before_deal()
    assert worth(ends, 117, 120, PONE) == pytest.approx(1)
    assert worth(ends, 116, 117, PONE) == pytest.approx(0)  # his hand
    assert worth(ends, 116, 115, PONE) == pytest.approx(0)  # and his crib
    assert worth(ends, 116, 114, PONE) == pytest.approx(before[1, 120, 120])
    assert worth(ends, 100, 100, PONE, now=3) == pytest.approx(before[1, 107, 106])


def test_the_dealer_counts_last(ends: Ends) -> None:
    before = chances_before_deal()
    assert worth(ends, 120, 117, DEALER) == pytest.approx(0)
    assert worth(ends, 117, 116, DEALER) == pytest.approx(1)
    assert worth(ends, 115, 116, DEALER) == pytest.approx(1)  # with the crib
    assert worth(ends, 114, 116, DEALER) == pytest.approx(before[0, 120, 120])


def test_who_pegs_out_has_won(ends: Ends) -> None:
    assert worth(ends, 119, 120, DEALER, now=2) == pytest.approx(1)
    both = pegging({(2, 0): 0.25, (0, 1): 0.5, (0, 0): 0.25})
    # He pegs out, or the other, or neither; then the pone shows.
    assert worth(ends, 119, 120, PONE, pegs=both) == pytest.approx(0.25 + 0.25)
    assert worth(ends, 119, 120, DEALER, pegs=both) == pytest.approx(0.25)


def test_points_that_come_together_are_not_taken_apart(ends: Ends) -> None:
    """Three to each or none to either is not the same as three to one of them."""
    before = chances_before_deal()
    together = worth(ends, 90, 90, PONE, pegs=pegging({(3, 3): 0.5, (0, 0): 0.5}))
    assert together == pytest.approx((before[1, 97, 99] + before[1, 94, 96]) / 2)
    apart = worth(ends, 90, 90, PONE, pegs=pegging({(3, 0): 0.5, (0, 3): 0.5}))
    assert apart == pytest.approx((before[1, 97, 96] + before[1, 94, 99]) / 2)


def test_the_impossible_is_left_out(ends: Ends) -> None:
    """Both cannot peg out; what the mixture gives to that is shared by the rest."""
    pegs = pegging({(1, 1): 0.2, (1, 0): 0.4, (0, 1): 0.4})
    assert worth(ends, 120, 120, PONE, pegs=pegs) == pytest.approx(0.5)


def test_shows_are_weighed(ends: Ends) -> None:
    half = (certain(4) + certain(8)) / 2
    assert worth(ends, 110, 111, DEALER, show=11, hand=half) == pytest.approx(1)
    assert worth(ends, 110, 113, DEALER, show=11, hand=half) == pytest.approx(0.5)
    before = chances_before_deal()
    mean = (before[1, 104, 106] + before[1, 104, 110]) / 2
    assert worth(ends, 100, 100, PONE, hand=half) == pytest.approx(mean)
    assert worth(ends, 100, 100, PONE, crib=(certain(2) + certain(6)) / 2) == pytest.approx(mean)


def test_the_loser_stands_where_he_stood(ends: Ends) -> None:
    assert worth(ends, 117, 90, PONE) == pytest.approx(1 + SKUNK)
    assert worth(ends, 117, 91, PONE) == pytest.approx(1)
    assert worth(ends, 117, 60, PONE) == pytest.approx(1 + 2 * SKUNK)
    assert worth(ends, 86, 117, PONE) == pytest.approx(-SKUNK)  # he counts his four, and has 90
    assert worth(ends, 87, 117, PONE) == pytest.approx(0)
    assert worth(ends, 90, 117, DEALER) == pytest.approx(-SKUNK)  # lost before he counts
    assert worth(ends, 91, 117, DEALER) == pytest.approx(0)
    assert worth(ends, 117, 86, DEALER) == pytest.approx(1 + SKUNK)
    assert worth(ends, 117, 87, DEALER) == pytest.approx(1)
    assert worth(ends, 120, 88, PONE, pegs=pegging({(1, 2): 1.0})) == pytest.approx(1 + SKUNK)
    assert worth(ends, 120, 88, PONE, pegs=pegging({(1, 3): 1.0})) == pytest.approx(1)
    assert worth(ends, 89, 120, DEALER, pegs=pegging({(1, 1): 1.0})) == pytest.approx(-SKUNK)
    assert worth(ends, 89, 120, DEALER, pegs=pegging({(2, 1): 1.0})) == pytest.approx(0)
