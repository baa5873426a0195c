"""The bridge to Stable-Baselines3, by what these libraries do with it."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from crib_env.errors import InvalidRulesError
from crib_env.sb3 import as_vec_env


def make(number: int = 8, **arguments: Any) -> Any:
    return gymnasium.make_vec(
        "crib_env/Cribbage-v0", num_envs=number, episode="deal", opponent="random", **arguments
    )


def test_masks_and_terminal_observations() -> None:
    envs = as_vec_env(make(reward="margin"))
    twin = make(reward="margin")
    assert is_masking_supported(envs)
    envs.seed(4)
    observations: Any = envs.reset()
    expected, infos = twin.reset(seed=4)
    choices = np.random.default_rng(0)
    ended = 0
    for _ in range(100):
        assert np.array_equal(observations, expected)
        masks = get_action_masks(envs)
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, infos["action_mask"].astype(bool))
        assert np.array_equal(np.stack(envs.env_method("action_masks", indices=[2])), masks[2:3])
        cards = np.array([choices.choice(np.flatnonzero(mask)) for mask in masks])
        observations, rewards, dones, described = envs.step(cards)
        expected, wanted, over, _, infos = twin.step(cards)
        assert np.array_equal(rewards, wanted.astype(np.float32))
        assert np.array_equal(dones, over)
        for row in np.flatnonzero(dones):
            final = described[row]["terminal_observation"]
            assert np.array_equal(final, infos["final_obs"][row])
            assert described[row]["is_success"] == infos["final_info"]["is_success"][row]
            assert described[row]["scores"].shape == (2,)
            ended += 1
    assert ended > 50


def test_wrong_autoreset_is_refused_in_words() -> None:
    with pytest.raises(InvalidRulesError, match="SAME_STEP, not NEXT_STEP"):
        as_vec_env(make(autoreset_mode="NextStep"))


def test_all_seats_are_refused_in_words() -> None:
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=2, seat="all")
    with pytest.raises(InvalidRulesError, match="rewards are of different seats"):
        as_vec_env(envs)  # type: ignore[arg-type]


@pytest.mark.slow
def test_maskable_ppo_learns_and_evaluates() -> None:
    envs = VecMonitor(as_vec_env(make(64, reward="win_probability")))
    against = VecMonitor(as_vec_env(make(16, reward="win_probability")))
    evaluation = MaskableEvalCallback(
        against, eval_freq=64, n_eval_episodes=50, verbose=0, warn=False
    )
    model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=2048, n_epochs=2, seed=0)
    model.learn(20_000, callback=evaluation)
    assert np.isfinite(evaluation.last_mean_reward)
    assert len(model.ep_info_buffer or []) > 50
