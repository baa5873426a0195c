"""What the observation says of discards and scores, against the same found the long way."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.cards import parse_cards, to_mask
from crib_env.expectation import CRIB_MEANS, NO_PAIR, crib_value, discard_values, mean_show
from crib_env.observation import split
from crib_env.rules import FOUR_PLAYER, SIX_CARD, THREE_PLAYER, Rules
from crib_env.vector import CribbageVectorEnv

RULES = SIX_CARD.to_array()


def pair_by_pair(hand: list[int], thrown: list[int], ours: bool) -> np.ndarray:
    """`discard_values`, each pair of the six cards by itself."""
    six = to_mask(hand + thrown)
    sign = 1.0 if ours else -1.0
    values = np.full(52, NO_PAIR)
    for pair in combinations(sorted(hand + thrown), 2):
        if set(thrown) <= set(pair):
            both = to_mask(pair)
            value = mean_show(six ^ both, six, RULES) + sign * crib_value(
                both, RULES, CRIB_MEANS[int(ours)]
            )
            for card in set(pair) - set(thrown):
                values[card] = max(values[card], value)
    return values


def six_cards() -> list[list[int]]:
    """Hands of chance; of one suit, or four or five of one; with jacks; of few ranks."""
    chance = np.random.default_rng(8)
    hands = [sorted(chance.choice(52, 6, replace=False).tolist()) for _ in range(200)]
    for of_suit in (4, 5, 6):
        for _ in range(20):
            suited = chance.choice(13, of_suit, replace=False) * 4 + chance.integers(4)
            rest = [card for card in range(52) if card % 4 != suited[0] % 4]
            hands.append(sorted([*suited.tolist(), *chance.choice(rest, 6 - of_suit).tolist()]))
    chosen = ["JC JD JH JS 5C 5D", "AC AD AH AS 2C 2D", "KC KD KH QS QC QD", "9C TC JC QC KC 5H"]
    hands += [[int(card) for card in parse_cards(text)] for text in chosen]
    return [hand for hand in hands if len(set(hand)) == 6]


@pytest.mark.parametrize("ours", [True, False])
def test_discards_are_worth_what_their_pairs_are(ours: bool) -> None:
    game = np.zeros(S.STATE_SIZE, np.int64)
    game[S.DEALER] = 0 if ours else 1
    values = np.zeros(52)
    for six in six_cards():
        for thrown in ([], *([card] for card in six)):
            hand = [card for card in six if card not in thrown]
            game[S.HAND], game[S.THROWN_CARDS] = to_mask(hand), to_mask(thrown)
            discard_values(game, RULES, 0, CRIB_MEANS, values)
            np.testing.assert_array_equal(values, pair_by_pair(hand, thrown, ours))


@pytest.mark.parametrize("target", [31, 61, 120, 121, 200])
def test_scores_are_written_as_quotients(target: int) -> None:
    rules = replace(SIX_CARD, target=target, skunk_line=None, double_skunk_line=None)
    batch = GameBatch(target, rules)
    rows = batch.all_rows
    batch.start(rows, rows, rows % 2)
    points = np.arange(target)
    batch.states[:, S.SCORE] = points
    seats = np.zeros(target, np.int64)
    pieces = split(batch.observe(rows, seats)[0], rules)
    np.testing.assert_array_equal(pieces["scores"][:, 0], (points / target).astype(np.float32))
    to_go = np.minimum(target - points, 31) / 31
    np.testing.assert_array_equal(pieces["to_go"][:, 0], to_go.astype(np.float32))


@pytest.mark.parametrize("rules", [SIX_CARD, THREE_PLAYER, FOUR_PLAYER])
def test_cards_laid_and_held_are_written_as_quotients(rules: Rules) -> None:
    envs = CribbageVectorEnv(64, opponent="random", rules=rules)
    observations, infos = envs.reset(seed=4)
    table = rules.players * rules.kept
    laid = (np.arange(table) / table).astype(np.float32)
    held = (np.arange(7) / 6).astype(np.float32)
    seen: set[float] = set()
    for _ in range(30):
        pieces = split(observations, rules)
        assert np.isin(pieces["laid"], laid).all()
        assert np.isin(pieces["held"], held).all()
        seen |= set(np.unique(pieces["laid"]).tolist())
        observations, _, _, _, infos = envs.step(infos["action_mask"].argmax(1))
    assert len(seen) > table // 2
