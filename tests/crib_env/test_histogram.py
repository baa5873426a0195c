"""Every hand and crib there is, and the scorer against one written apart from it."""

from __future__ import annotations

import csv
import random
from itertools import combinations

import numba
import numpy as np
import pytest

from crib_env import Rules, show_score
from crib_env.cards import CARDS, parse_cards, to_mask
from crib_env.rules import get_rules
from crib_env.scoring import show_parts, show_points, suit_points, suit_points_of_all
from tests.crib_env import brute
from tests.crib_env.support import DATA

FOUR_OF_52 = 270_725


@numba.njit
def count_all(is_crib: bool, rules: np.ndarray) -> np.ndarray:
    """How many of all hands and starters show each number of points: int64 ``[30]``."""
    counts = np.zeros(30, np.int64)
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    hand = 1 << a | 1 << b | 1 << c | 1 << d
                    for starter in range(52):
                        if not (hand >> starter) & 1:
                            counts[show_points(hand, starter, is_crib, rules)] += 1
    return counts


@pytest.mark.parametrize(("is_crib", "column"), [(False, "hand_count"), (True, "crib_count")])
def test_every_hand_and_starter(is_crib: bool, column: str) -> None:
    with (DATA / "exact_histogram.csv").open() as file:
        expected = {int(row["score"]): int(row[column]) for row in csv.DictReader(file)}
    counts = count_all(is_crib, Rules().to_array())
    assert counts.sum() == FOUR_OF_52 * 48 == 12_994_800
    assert dict(enumerate(counts.tolist())) == expected


def random_hands(number: int, seed: int) -> list[tuple[list[str], str]]:
    chance = random.Random(seed)
    # A short pack every other time, so that pairs, runs and flushes come often.
    packs = [brute.DECK, [card for card in brute.DECK if card[0] in "4567J"]]
    draws = [chance.sample(packs[at % 2], 5) for at in range(number)]
    return [(draw[:4], draw[4]) for draw in draws]


@pytest.mark.parametrize("is_crib", [False, True])
def test_parts_agree_with_a_plain_scorer(is_crib: bool) -> None:
    rules = Rules().to_array()
    for hand, starter in random_hands(4000, seed=1):
        cards, turned = to_mask(parse_cards(hand)), int(parse_cards(starter)[0])
        parts = [int(part) for part in show_parts(cards, turned, is_crib, rules)]
        assert parts == list(brute.show(hand, starter, is_crib).values()), (hand, starter)
        assert sum(parts) == show_points(cards, turned, is_crib, rules)


@pytest.mark.parametrize("preset", ["six-card", "five-card-historic"])
def test_points_for_suits_add_up_over_starters(preset: str) -> None:
    rules = get_rules(preset)
    settings = rules.to_array()
    chance = random.Random(5)
    flushes = nobs = 0
    for at in range(600):
        pack = [card for card in range(52) if at % 3 or card % 4 == at % 4]
        cards = chance.sample(pack, rules.kept)
        hand = to_mask(cards)
        others = [card for card in range(52) if card not in cards]
        starters = chance.sample(others, chance.randint(1, len(others)))
        points = [suit_points(hand, starter, False, settings) for starter in starters]
        assert suit_points_of_all(hand, to_mask(starters), settings) == sum(points)
        flushes += max(points) >= rules.kept
        nobs += 1 in points
    assert flushes > 100
    assert nobs > 50


@pytest.mark.parametrize("is_crib", [False, True])
def test_combinations_are_distinct_and_sum_to_the_parts(is_crib: bool) -> None:
    names = {
        "fifteen": "fifteens",
        "pair": "pairs",
        "run": "runs",
        "flush": "flush",
        "nobs": "nobs",
    }
    for hand, starter in random_hands(1500, seed=2):
        score = show_score(hand, starter, is_crib)
        sums = dict.fromkeys(names.values(), 0)
        for found in score.combinations:
            sums[names[found.kind]] += found.points
            assert {str(card) for card in found.cards} <= {*hand, starter}
        assert sums == brute.show(hand, starter, is_crib), (hand, starter)
        assert score.total == sum(sums.values())
        assert len(set(score.combinations)) == len(score.combinations)


def test_a_hand_scores_the_same_in_any_order_and_any_suits() -> None:
    hand, starter = ["5H", "5S", "6D", "7C"], "8D"
    total = show_score(hand, starter).total
    assert total == sum(brute.show(hand, starter, False).values())
    for swapped in ("CDHS", "DHSC", "HSCD", "SCDH"):
        turned = [card[0] + swapped["CDHS".index(card[1])] for card in [*hand, starter]]
        assert show_score(turned[:4], turned[4]).total == total
        assert show_score(turned[3::-1], turned[4]).total == total


def test_the_29_hands_are_the_four_with_the_jack_of_the_fourth_five() -> None:
    best = []
    for fives in combinations([card for card in CARDS if str(card)[0] == "5"], 3):
        for jack in (card for card in CARDS if str(card)[0] == "J"):
            starter = next(c for c in CARDS if str(c)[0] == "5" and c not in fives)
            if show_score([*fives, jack], starter).total == 29:
                best.append((starter.suit, jack.suit))
    assert best == [(3, 3), (2, 2), (1, 1), (0, 0)]
