"""Environments stepped with random legal actions: ours and others'."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import crib_env  # noqa: F401  (registers the environment)
from benchmarks.measure import Done, Work
from crib_agents.uniform import mask_to_set, pick
from crib_env._jit import lean_njit

ID = "crib_env/Cribbage-v0"
_GAMES_FOR_LENGTH = 2048


def vector_environment(number: int, rules: str = "six-card") -> Work:
    """The vector environment, observations and masks returned, random opponents inside.

    All rows begin together and so end together: games counted over a second would come
    in waves. So steps are counted, and divided by the mean length of a game.
    """
    length = steps_a_game(rules)
    envs = gymnasium.make_vec(ID, num_envs=number, opponent="random", rules=rules)
    chance = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    while True:
        _, _, _, _, infos = envs.step(random_cards(chance, infos["action_mask"]))
        yield Done(number / length, number)


def random_cards(chance: np.random.Generator, masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """A legal card for each row, all equally likely: int64 ``[B]`` for masks ``[B, 52]``."""
    cards = np.empty(len(masks), np.int64)
    _pick_each(masks, chance.bit_generator.random_raw(len(masks)).view(np.int64), cards)
    return cards


@lean_njit
def _pick_each(masks: np.ndarray, words: np.ndarray, out: np.ndarray) -> None:
    for row in range(masks.shape[0]):
        out[row] = pick(mask_to_set(masks[row]), words[row])


@cache
def steps_a_game(rules: str) -> float:
    """Mean number of steps of a game of seat 0 among random players.

    Over the first game of every row, long and short ones alike.
    """
    envs = gymnasium.make_vec(ID, num_envs=_GAMES_FOR_LENGTH, opponent="random", rules=rules)
    chance = np.random.default_rng(1)
    _, infos = envs.reset(seed=1)
    going = np.ones(_GAMES_FOR_LENGTH, np.bool_)
    steps = 0
    while going.any():
        steps += int(going.sum())
        _, _, ended, _, infos = envs.step(random_cards(chance, infos["action_mask"]))
        going &= ~ended
    return steps / _GAMES_FOR_LENGTH


def single_environment(name: str, **arguments: Any) -> Work:
    """One environment, stepped with random (legal) actions."""
    env = gymnasium.make(name, **arguments)
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    actions = range(int(env.action_space.n))
    draw = random.Random(0).random  # the quickest there is: the choice is not the environment's
    _, info = env.reset(seed=0)
    while True:
        legal = info["action_mask"].nonzero()[0] if "action_mask" in info else actions
        action = int(legal[int(draw() * len(legal))])
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
        yield Done(int(terminated or truncated), 1)


@contextlib.contextmanager
def _their_warnings() -> Iterator[None]:
    """Keeps to itself what other libraries warn of; it is theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def pettingzoo_leduc() -> Work:
    """PettingZoo's Leduc hold'em (two players, six cards) through its agents."""
    with _their_warnings():
        from pettingzoo.classic import leduc_holdem_v4

        env = leduc_holdem_v4.env()
    seed = 0
    while True:
        with _their_warnings():
            env.reset(seed=seed)
            decisions = 0
            for agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                decisions += 1
        seed += 1
        yield Done(1, decisions)


def rlcard(name: str) -> Work:
    """A game of RLCard between its random players."""
    with _their_warnings():
        import rlcard
        from rlcard.agents import RandomAgent

        env = rlcard.make(name, config={"seed": 0})
        env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])
    while True:
        with _their_warnings():
            trajectories, _ = env.run(is_training=False)
        # A player's trajectory is state, action, state, action, ..., last state.
        yield Done(1, sum(len(steps) // 2 for steps in trajectories))
