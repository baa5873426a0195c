"""The usual rules as constants of compiled code: the same game as with rules read from memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from crib_env.rules import PRESETS, SIX_CARD
from crib_env.usual import USUAL, is_usual
from crib_env.vector import CribbageVectorEnv

SAME_GAME = replace(SIX_CARD, leader_after_reset="go_caller")
"""Other rules, which between two players say the same."""


def test_only_the_usual_rules_are_usual() -> None:
    assert is_usual(SIX_CARD.to_array())
    assert is_usual(SIX_CARD.to_array().copy())
    for name, rules in PRESETS.items():
        row = rules.to_array()
        assert is_usual(row) == np.array_equal(row, SIX_CARD.to_array()), name
    for setting in range(len(USUAL)):
        row = SIX_CARD.to_array().copy()
        row[setting] += 1
        assert not is_usual(row)


@pytest.mark.parametrize("opponent", ["random", "medium"])
@pytest.mark.parametrize("episode", ["game", "deal"])
def test_constants_change_nothing(opponent: str, episode: Literal["game", "deal"]) -> None:
    assert not is_usual(SAME_GAME.to_array())
    batches = [
        CribbageVectorEnv(
            64, opponent, rules=rules, episode=episode, reward="margin", skip_forced=False
        )
        for rules in (SIX_CARD, SAME_GAME)
    ]
    seen: list[Any] = [batch.reset(seed=3) for batch in batches]
    choices = np.random.default_rng(3)
    over = illegal = 0
    for _ in range(400):
        (observations, *told, infos), (others, *told_other, infos_other) = seen
        assert np.array_equal(observations, others)
        masks = infos["action_mask"]
        assert np.array_equal(masks, infos_other["action_mask"])
        for one, two in zip(told, told_other, strict=True):
            assert np.array_equal(one, two)
        if "final_info" in infos:
            for name in ("scores", "margin", "is_success"):
                assert np.array_equal(infos["final_info"][name], infos_other["final_info"][name])
            over += int(infos["_final_info"].sum())
        cards = np.array([choices.choice(np.flatnonzero(mask)) for mask in masks])
        if choices.random() < 0.02:
            cards[0] = choices.integers(-1, 54)  # which is mostly illegal, and loses
            illegal += 1
        seen = [batch.step(cards) for batch in batches]
    assert over > 100
    assert illegal
