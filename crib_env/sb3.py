"""The bridge from a Gymnasium vector environment to a Stable-Baselines3 ``VecEnv``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from crib_env.errors import InvalidRulesError
from crib_env.vector import CribbageVectorEnv


class BridgedVecEnv(VecEnv):
    """A `CribbageVectorEnv` as Stable-Baselines3 wants it; made by `as_vec_env`.

    ``env_method("action_masks")`` answers with the whole array, bool ``[n, 52]``, row by row
    for whoever goes through it.
    """

    def __init__(self, vector_env: CribbageVectorEnv) -> None:
        self.vector_env = vector_env
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
        if any(each is not options and each != options for each in self._options):
            raise InvalidRulesError("the options of a reset are the same for all rows")
        observations, infos = self.vector_env.reset(seed=seeds, options=options)
        self._reset_seeds()
        self._reset_options()
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
        final = infos.get("final_info", {})
        # Name by name: picking values out of the arrays row by row takes twice as long.
        for name, values in final.items():
            if not name.startswith("_"):
                for row, value, told in zip(over, values[over], final[f"_{name}"][over]):
                    if told:
                        described[row][name] = value
        for row in over:
            described[row]["terminal_observation"] = infos["final_obs"][row]
            described[row]["TimeLimit.truncated"] = False
        return observations, rewards.astype(np.float32), ended, described

    def close(self) -> None:
        """Close the environments."""
        self.vector_env.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of all rows, bool ``[n, 52]``."""
        return self._masks.astype(np.bool_)

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method for each of some rows; only ``action_masks`` is there to call."""
        if method_name != "action_masks":
            raise AttributeError(f"a row of the batch has no method {method_name!r}")
        masks = self.action_masks()
        rows = masks if indices is None else masks[self._rows(indices)]
        return rows.view(_Rows)  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        """Whether each row has that attribute."""
        return attr_name == "action_masks" or hasattr(self.vector_env, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute for each of some rows."""
        if attr_name == "action_masks":
            return [self.action_masks for _ in self._rows(indices)]
        return [getattr(self.vector_env, attr_name) for _ in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the whole batch."""
        setattr(self.vector_env, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._rows(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """There are no pictures."""
        return [None] * self.num_envs

    def _rows(self, indices: VecEnvIndices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return list(indices) if isinstance(indices, Iterable) else [indices]


class _Rows(np.ndarray[Any, np.dtype[np.bool_]]):
    """Rows that are an array already: to stack them, as sb3-contrib does, is to hand it out.

    To go through a thousand of them takes NumPy as long as a step of the games takes.
    """

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """As of every array, but for ``np.stack(rows)``."""
        if func is np.stack and isinstance(args[0], _Rows) and len(args) == 1 and not kwargs:
            return args[0].view(np.ndarray)
        return super().__array_function__(func, types, args, kwargs)


def as_vec_env(vector_env: CribbageVectorEnv) -> BridgedVecEnv:
    """Wrap a vector environment for Stable-Baselines3 and sb3-contrib.

    Raises:
        InvalidRulesError: when it does not reset in the same step, as these need, or
            is wrapped, or has all seats to decide for.
    """
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
    return BridgedVecEnv(unwrapped)
