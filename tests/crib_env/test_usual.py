"""The usual rules as constants of compiled code: the same game as with rules read from memory."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any, Literal

import gymnasium
import numpy as np
import pytest

from crib_env import engine, stepping
from crib_env._jit import config
from crib_env.game import Game
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


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_copies_are_played_by_the_code_that_is_compiled() -> None:
    """To compiled code an array that can be written is of another type."""
    env: Any = gymnasium.make("crib_env/Cribbage-v0", opponent="medium")
    batch = CribbageVectorEnv(3, "random")
    batch.reset(seed=1)
    batch.step(batch.action_masks().argmax(1))
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    game = Game(seed=1)
    game.apply(game.legal_actions()[0])
    kernels: list[Any] = [stepping.lay, stepping.tell, stepping.begin, engine.apply]
    compiled = [len(kernel.signatures) for kernel in kernels]
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        other.reset(seed=1)
        batch.reset(seed=1)
        cards = batch.action_masks().argmax(1)
        assert np.array_equal(other.step(cards)[0], batch.step(cards)[0])
    twin = copy.deepcopy(env)
    _, info = twin.reset(seed=1)
    twin.step(int(info["action_mask"].argmax()))
    again = copy.deepcopy(game)
    again.apply(again.legal_actions()[0])
    assert [len(kernel.signatures) for kernel in kernels] == compiled


def test_copied_rules_cannot_be_written() -> None:
    for rules in (copy.deepcopy(SIX_CARD), pickle.loads(pickle.dumps(SIX_CARD)), replace(SIX_CARD)):
        assert rules == SIX_CARD
        assert not rules.to_array().flags.writeable
