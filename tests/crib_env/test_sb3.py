"""The bridge to Stable-Baselines3, by what these libraries do with it."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from crib_env.errors import InvalidRulesError
from crib_env.sb3 import as_vec_env


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    """A second one makes networks this small many times slower on a busy machine."""
    torch.set_num_threads(1)


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


def random_cards(masks: np.ndarray, choices: np.random.Generator) -> np.ndarray:
    return np.array([choices.choice(np.flatnonzero(mask)) for mask in masks])


def test_env_method_answers_with_the_whole_array() -> None:
    envs = as_vec_env(make(5))
    envs.seed(1)
    envs.reset()
    choices = np.random.default_rng(1)
    for _ in range(20):
        whole = np.stack(envs.env_method("action_masks"))
        assert whole.shape == (5, 52)
        assert whole.dtype == np.bool_
        assert np.array_equal(whole, envs.vector_env.action_masks().astype(bool))
        assert np.array_equal(np.stack(envs.env_method("action_masks", indices=3)), whole[3:4])
        rows = envs.env_method("action_masks")
        assert len(rows) == 5
        assert all(np.array_equal(row, mask) for row, mask in zip(rows, whole, strict=True))
        assert np.array_equal(np.stack([*rows]), whole)
        assert np.array_equal(np.stack(rows, axis=1), whole.T)
        assert type(whole) is np.ndarray
        envs.step(random_cards(whole, choices))
    with pytest.raises(AttributeError, match="no method 'render'"):
        envs.env_method("render")


@pytest.mark.parametrize("own", [False, True])
def test_monitor_adds_up_what_was_paid(own: bool) -> None:
    envs: Any = as_vec_env(make(6, reward="margin"), monitor=own)
    envs = envs if own else VecMonitor(envs)
    envs.seed(2)
    envs.reset()
    envs.step(random_cards(get_action_masks(envs), np.random.default_rng(9)))
    envs.reset()  # what was paid before does not count
    choices = np.random.default_rng(2)
    paid, steps, ended = np.zeros(6), np.zeros(6, int), 0
    for _ in range(60):
        cards = random_cards(get_action_masks(envs), choices)
        _, rewards, dones, described = envs.step(cards)
        paid += rewards
        steps += 1
        for row in range(6):
            assert ("episode" in described[row]) == dones[row]
            assert ("terminal_observation" in described[row]) == dones[row]
            if dones[row]:
                told = described[row]["episode"]
                assert (told["r"], told["l"]) == (paid[row], steps[row])
                assert 0 < told["t"] < 60
                assert not described[row]["TimeLimit.truncated"]
                paid[row] = steps[row] = 0
                ended += 1
    assert ended > 20


def test_own_monitor_tells_what_that_of_stable_baselines_tells() -> None:
    envs = as_vec_env(make(6, reward="win_probability"), monitor=True)
    watched = VecMonitor(as_vec_env(make(6, reward="win_probability")))
    for each in (envs, watched):
        each.seed(5)
        each.reset()
    choices = np.random.default_rng(5)
    ended = 0
    for _ in range(60):
        cards = random_cards(get_action_masks(envs), choices)
        described, others = envs.step(cards)[3], watched.step(cards)[3]
        for info, other in zip(described, others, strict=True):
            assert info.keys() == other.keys()
            if "episode" in info:
                assert info["episode"].keys() == other["episode"].keys()
                assert info["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=2e-6)
                assert info["episode"]["l"] == other["episode"]["l"]
                ended += 1
    assert ended > 20


@pytest.mark.parametrize("own", [False, True])
def test_who_asks_learns_whether_it_is_monitored(own: bool) -> None:
    envs = as_vec_env(make(2), monitor=own)
    assert envs.env_is_wrapped(Monitor) == [own, own]
    assert envs.env_is_wrapped(VecMonitor) == [False, False]
    assert envs.env_is_wrapped(gymnasium.wrappers.TimeLimit) == [False, False]
    model = MaskablePPO("MlpPolicy", envs, n_steps=4, batch_size=8)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        evaluate_policy(model, envs, n_eval_episodes=4)
    assert any("not wrapped with a ``Monitor``" in str(each.message) for each in told) != own


def test_what_is_written_into_an_info_stays_in_its_row_and_step() -> None:
    envs = as_vec_env(make(4))
    envs.seed(3)
    envs.reset()
    choices = np.random.default_rng(3)
    kept: list[dict[str, Any]] = []
    for number in range(12):
        *_, ended, described = envs.step(random_cards(get_action_masks(envs), choices))
        assert all(bool(info) == over for info, over in zip(described, ended, strict=True))
        described[number % 4]["mine"] = number
        kept += described
    assert [info["mine"] for info in kept if "mine" in info] == list(range(12))
    for info in kept:
        info["late"] = True
    *_, ended, described = envs.step(random_cards(get_action_masks(envs), choices))
    assert not any("late" in info for info in described)


def test_masks_are_as_a_plain_array() -> None:
    envs = as_vec_env(make(3))
    envs.reset()
    masks: Any = envs.env_method("action_masks")
    plain = np.array(masks)
    assert [list(row) for row in masks] == plain.tolist()
    assert list(masks[:0]) == list(envs.env_method("action_masks", indices=[])) == []
    with pytest.raises(ValueError, match="at least one array"):
        np.stack(masks[:0])
    assert np.array_equal(np.stack(arrays=masks), plain)
    first = next(iter(masks))
    values = (masks.sum(), masks.any(), masks.mean(), np.any(masks), first.sum(), masks[0, 0])
    for value, other in zip(
        values, (plain.sum(), plain.any(), plain.mean(), True, plain[0].sum(), plain[0, 0])
    ):
        assert np.isscalar(value)
        assert value == other
    copies = [masks[0], masks[1:], ~masks, masks & masks, np.concatenate([masks, masks])]
    copies += [pickle.loads(pickle.dumps(each)) for each in (masks, first)]
    for copy_of in copies:
        assert type(copy_of) is np.ndarray
    stacked = np.stack(masks)
    stacked[:] = False
    assert np.array_equal(masks, plain)
    assert np.array_equal(envs.action_masks(), plain)


def test_each_row_can_be_asked_for_its_mask() -> None:
    envs = as_vec_env(make(3))
    envs.seed(1)
    envs.reset()
    ask = envs.get_attr("action_masks", indices=[2, 0])
    masks = envs.action_masks()
    assert np.array_equal(ask[0](), masks[2])
    assert np.array_equal(ask[1](), masks[0])
    with pytest.raises(TypeError, match="takes no arguments"):
        envs.env_method("action_masks", 3)


def test_infos_are_those_of_single_environments() -> None:
    """Name by name, with the same types, as ``make_vec_env`` gives them."""
    alike = {"opponent": "random", "episode": "deal"}
    with pytest.warns(UserWarning, match="rgb_array"):  # it asks for pictures first
        single = make_vec_env("crib_env/Cribbage-v0", 3, env_kwargs=alike)
    assert isinstance(single, DummyVecEnv)
    envs = as_vec_env(make(3), monitor=True)
    for each in (envs, single):
        each.seed(8)
    assert np.array_equal(envs.reset(), single.reset())  # type: ignore[arg-type]
    choices = np.random.default_rng(8)
    ended = 0
    for _ in range(40):
        masks = get_action_masks(envs)
        assert np.array_equal(masks, get_action_masks(single))
        cards = random_cards(masks, choices)
        observations, rewards, dones, described = envs.step(cards)
        expected, wanted, over, others = single.step(cards)
        assert np.array_equal(observations, expected)  # type: ignore[arg-type]
        assert np.array_equal(rewards, wanted)
        assert np.array_equal(dones, over)
        for row in np.flatnonzero(dones):
            assert described[row].keys() == others[row].keys()
            for name, value in others[row].items():
                assert type(described[row][name]) is type(value)
                if name != "episode":
                    assert np.array_equal(described[row][name], value)
            ended += 1
    assert ended > 10


@pytest.mark.parametrize(("mode", "name"), [("NextStep", "NEXT_STEP"), ("Disabled", "DISABLED")])
def test_wrong_autoreset_is_refused_in_words(mode: str, name: str) -> None:
    with pytest.raises(InvalidRulesError, match=f"SAME_STEP, not {name}"):
        as_vec_env(make(autoreset_mode=mode))


def test_what_is_no_batch_of_ours_is_refused_in_words() -> None:
    other: Any = gymnasium.make_vec("CartPole-v1", num_envs=2)
    with pytest.raises(InvalidRulesError, match="monitor is true or false, not 'yes'"):
        as_vec_env(make(2), monitor="yes")  # type: ignore[arg-type]
    for nothing in (other, None, "medium"):
        with pytest.raises(InvalidRulesError, match="takes a CribbageVectorEnv"):
            as_vec_env(nothing)  # type: ignore[arg-type]
    wrapped: Any = RecordEpisodeStatistics(make(2))
    with pytest.raises(InvalidRulesError, match="would pass over the wrapper"):
        as_vec_env(wrapped)


def test_options_hold_for_the_next_reset() -> None:
    envs = as_vec_env(make(3))
    options = {"dealer": 1, "scores": [7, 9]}
    envs.seed(4)
    envs.set_options(options)
    expected, _ = make(3).reset(seed=4, options=options)
    assert np.array_equal(envs.reset(), expected)
    envs.seed(4)
    assert np.array_equal(envs.reset(), make(3).reset(seed=4)[0])
    envs.seed(4)
    envs.set_options([{"dealer": 1, "scores": np.array([7, 9])} for _ in range(3)])
    assert np.array_equal(envs.reset(), expected)
    envs.set_options([{"dealer": 0}, {"dealer": 1}, {"dealer": 0}])
    with pytest.raises(InvalidRulesError, match="the same for all rows"):
        envs.reset()


def test_all_seats_are_refused_in_words() -> None:
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=2, seat="all")
    with pytest.raises(InvalidRulesError, match="rewards are of different seats"):
        as_vec_env(envs)  # type: ignore[arg-type]


@pytest.mark.slow
def test_maskable_ppo_learns_and_evaluates(tmp_path: Path) -> None:
    """Masks hold at every step of training and evaluation: an illegal card would raise."""
    arguments = {"reward": "win_probability", "illegal_action": "raise"}
    envs = VecMonitor(as_vec_env(make(64, **arguments)))
    against = VecMonitor(as_vec_env(make(16, **arguments)))
    evaluation = MaskableEvalCallback(
        against,
        eval_freq=64,
        n_eval_episodes=50,
        log_path=str(tmp_path),
        verbose=0,
        warn=False,
    )
    model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=2048, n_epochs=2, seed=0)
    before = [value.clone() for value in model.policy.parameters()]
    model.learn(20_000, callback=evaluation)
    assert any((one != other).any() for one, other in zip(before, model.policy.parameters()))
    assert np.isfinite(evaluation.last_mean_reward)
    assert len(model.ep_info_buffer or []) > 50
    told = np.load(tmp_path / "evaluations.npz")
    assert told["successes"].shape == told["results"].shape == (5, 50)
    assert 0 < told["successes"].mean() < 1
    # A deal takes seat 0 two discards and, when no play is forced, four cards at most.
    assert 2 <= told["ep_lengths"].min() <= told["ep_lengths"].max() <= 6


@pytest.mark.slow
def test_equal_seeds_train_equally() -> None:
    policies = []
    for _ in range(2):
        envs = as_vec_env(make(16))
        model = MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=128, n_epochs=1, seed=3)
        model.learn(512)
        policies.append(list(model.policy.parameters()))
    assert all((one == other).all() for one, other in zip(*policies, strict=True))
