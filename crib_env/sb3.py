"""The bridge from a Gymnasium vector environment to a Stable-Baselines3 ``VecEnv``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from crib_env.errors import InvalidRulesError
from crib_env.vector import CribbageVectorEnv


class BridgedVecEnv(VecEnv):
    """A `CribbageVectorEnv` as Stable-Baselines3 wants it; made by `as_vec_env`.

    ``env_method("action_masks")`` answers with the whole array, bool ``[n, 52]``, row by row
    for whoever goes through it. The info of a row whose episode ends tells what that of a single
    environment tells; those of the others are empty.

    Args:
        vector_env: the games.
        monitor: tell in ``info["episode"]`` of each episode that ends what
            Stable-Baselines3's ``Monitor`` tells: the sum of rewards ``r``, the length ``l``
            in decisions of the player, and ``t``, the seconds since the bridge was made.
    """

    def __init__(self, vector_env: CribbageVectorEnv, monitor: bool = False) -> None:
        self.vector_env = vector_env
        self.monitor = monitor
        self._returns: NDArray[np.float64] = np.zeros(vector_env.num_envs, np.float64)
        self._lengths: NDArray[np.int64] = np.zeros(vector_env.num_envs, np.int64)
        self._began = time.time()
        self._masks: NDArray[np.int8] = np.ones((vector_env.num_envs, 52), np.int8)
        self._cards: NDArray[np.int64] = np.zeros(vector_env.num_envs, np.int64)
        super().__init__(
            vector_env.num_envs,
            vector_env.single_observation_space,
            vector_env.single_action_space,
        )

    def reset(self) -> NDArray[np.float32]:
        """Begin all episodes; observations float32 ``[n, D]``."""
        first = self._seeds[0]
        seeds = None if first is None else list(self._seeds)
        options = self._options[0]
        if not all(each is options or _alike(each, options) for each in self._options):
            raise InvalidRulesError("the options of a reset are the same for all rows")
        observations, infos = self.vector_env.reset(seed=seeds, options=options)
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        self._masks = infos["action_mask"]
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Remember the cards to lay."""
        self._cards = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Lay them. The last observation of an episode is in its info."""
        observations, rewards, ended, _, infos = self.vector_env.step(self._cards)
        self._masks = infos["action_mask"]
        described: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        over = np.flatnonzero(ended)
        last = _last_infos(infos, over)
        if self.monitor:
            self._add_up(rewards, over, last)
        for row, info in zip(over.tolist(), last):
            described[row] = info
        return observations, rewards.astype(np.float32), ended, described

    def _add_up(
        self, rewards: NDArray[np.float64], over: NDArray[np.int64], last: list[dict[str, Any]]
    ) -> None:
        """Count rewards and decisions; tell them in the infos of episodes that are over."""
        self._returns += rewards
        self._lengths += 1
        seconds = round(time.time() - self._began, 6)
        returns = self._returns[over].round(6).tolist()
        for info, total, length in zip(last, returns, self._lengths[over].tolist()):
            info["episode"] = {"r": total, "l": length, "t": seconds}
        self._returns[over] = 0
        self._lengths[over] = 0

    def close(self) -> None:
        """Close the environments."""
        self.vector_env.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of all rows, bool ``[n, 52]``."""
        return self._masks.astype(np.bool_)

    def _mask_of(self, row: int) -> NDArray[np.bool_]:
        """The legal actions of one row, bool ``[52]``."""
        return self.action_masks()[row]

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method for each of some rows; only ``action_masks`` is there to call."""
        if method_name != "action_masks":
            raise AttributeError(f"a row of the batch has no method {method_name!r}")
        if args or kwargs:
            raise TypeError("action_masks takes no arguments")
        masks = self.action_masks()
        rows = masks if indices is None else masks[self._rows(indices)]
        return rows.view(_Rows)  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        """Whether each row has that attribute."""
        return attr_name == "action_masks" or hasattr(self.vector_env, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute for each of some rows."""
        if attr_name == "action_masks":
            return [partial(self._mask_of, row) for row in self._rows(indices)]
        return [getattr(self.vector_env, attr_name) for _ in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the whole batch."""
        setattr(self.vector_env, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """No row is wrapped, but all are monitored where this was asked for."""
        monitored = self.monitor and issubclass(Monitor, wrapper_class)
        return [monitored for _ in self._rows(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """There are no pictures."""
        return [None] * self.num_envs

    def _rows(self, indices: VecEnvIndices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return list(indices) if isinstance(indices, Iterable) else [indices]


def _last_infos(infos: dict[str, Any], over: NDArray[np.int64]) -> list[dict[str, Any]]:
    """What single environments would tell in the last step of the episodes that are over."""
    if not len(over):
        return []
    last = [
        {"terminal_observation": observation, "TimeLimit.truncated": False}
        for observation in infos["final_obs"][over]
    ]
    final = infos["final_info"]
    # Name by name: picking values out of the arrays row by row takes twice as long.
    for name, values in final.items():
        if not name.startswith("_"):
            there = values[over] if values.ndim > 1 else values[over].tolist()
            for info, value, told in zip(last, there, final[f"_{name}"][over].tolist()):
                if told:
                    info[name] = value
    return last


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether options are equal, arrays among them too."""
    return one.keys() == other.keys() and all(
        np.array_equal(value, other[name]) for name, value in one.items()
    )


class _Rows(np.ndarray[Any, np.dtype[np.bool_]]):
    """Rows that are an array already: to stack them, as sb3-contrib does, is to copy it.

    To go through a thousand of them takes NumPy as long as a step of the games takes. What is
    picked, computed or pickled of them is a plain array.
    """

    def __iter__(self) -> Iterator[Any]:
        """The rows. One of this kind is enough for NumPy, and plain ones are made sooner."""
        plain = self.view(np.ndarray)
        if self.ndim < 2 or not len(plain):
            return iter(plain)
        return chain((plain[0].view(_Rows),), plain[1:])

    def __getitem__(self, key: Any) -> Any:
        return self.view(np.ndarray)[key]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """As of every array, but for ``np.stack(rows)``."""
        if func is np.stack and len(args) == 1 and isinstance(args[0], _Rows) and not kwargs:
            return np.array(args[0])
        return super().__array_function__(func, types, args, kwargs)


def as_vec_env(vector_env: CribbageVectorEnv, monitor: bool = False) -> BridgedVecEnv:
    """Wrap a vector environment for Stable-Baselines3 and sb3-contrib.

    Args:
        vector_env: the games.
        monitor: tell returns and lengths of episodes, as ``VecMonitor`` around it would, in a
            small part of its time. See `BridgedVecEnv`.

    Raises:
        InvalidRulesError: when it does not reset in the same step, as these need, or
            is wrapped, or has all seats to decide for; and for a monitor that is not a bool.
    """
    if not isinstance(monitor, bool):
        raise InvalidRulesError(f"monitor is true or false, not {monitor!r}")
    unwrapped = getattr(vector_env, "unwrapped", vector_env)
    if not isinstance(unwrapped, CribbageVectorEnv):
        raise InvalidRulesError(f"as_vec_env takes a CribbageVectorEnv, not {vector_env!r}")
    if unwrapped is not vector_env:
        raise InvalidRulesError(f"as_vec_env would pass over the wrapper {vector_env!r}")
    if unwrapped.autoreset_mode != AutoresetMode.SAME_STEP:
        raise InvalidRulesError(
            f"Stable-Baselines3 needs autoreset_mode SAME_STEP, not {unwrapped.autoreset_mode.name}"
        )
    if unwrapped.all_seats:
        raise InvalidRulesError(
            'with seat="all" rewards are of different seats from step to step, which '
            "Stable-Baselines3 would add up as one player's: give one seat and an opponent"
        )
    return BridgedVecEnv(unwrapped, monitor)
