"""`CribbageVectorEnv`: many seats at once as a Gymnasium vector environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from crib_env.cards import CARDS, N_CARDS
from crib_env.env import (
    DEFAULT_OPPONENT,
    START_OPTIONS,
    CribbageEnv,
    check_options,
    named_opponents,
    observation_space,
)
from crib_env.episodes import Episodes, Opponent, Outcome, Seat
from crib_env.errors import (
    IllegalActionError,
    InvalidRenderModeError,
    InvalidRulesError,
    InvalidViewError,
)
from crib_env.rewards import Reward
from crib_env.rules import Rules, get_rules

Infos: TypeAlias = dict[str, Any]
Step: TypeAlias = tuple[
    NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos
]


def batched(space: spaces.Box, number: int) -> spaces.Box:
    """The space of ``number`` such observations at once.

    It equals Gymnasium's `batch_space`, which holds the bounds once for each row: as much
    memory again as all the games.
    """
    batch = cast(spaces.Box, batch_space(space, 1))
    shape = (number, *space.shape)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        setattr(batch, name, np.broadcast_to(getattr(batch, name), shape))
    batch._shape = shape
    return batch


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(repr(known.value) for known in AutoresetMode)
        raise InvalidRulesError(
            f"autoreset_mode is an AutoresetMode or one of {names}, not {mode!r}"
        ) from None


def _seed_list(seed: Any) -> list[int | None]:
    """One seed for each environment, or None where it keeps its own."""
    in_order = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes)
    with suppress(TypeError):
        if in_order and not any(isinstance(each, bool | np.bool_) for each in seed):
            return [None if each is None else operator.index(each) for each in seed]
    raise InvalidRulesError(f"a seed is a whole number, or one for each environment, not {seed!r}")


class CribbageVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """A batch of `CribbageEnv`, without Python for each game.

    Row ``i`` plays as ``CribbageEnv`` seeded ``seed + i`` does. Infos hold
    ``action_mask``, int8 ``[num_envs, 52]``, and for episodes that ended what
    `CribbageEnv` tells; with ``SAME_STEP`` that is in ``final_info`` (and the last
    observation in ``final_obs``), as in Gymnasium's own vector environments.

    With ``seat="all"`` every row is the decision of whoever is to act in it: self-play, see
    `CribbageEnv`. ``infos["seat"]``, int64 ``[num_envs]``, says whose observation a row holds,
    and ``infos["rewards"]``, float64 ``[num_envs, players]``, what the step brought each seat,
    in all rows that were stepped, those that ended with the others (so it is not in
    ``final_info``). ``is_success``, ``margin`` and ``skunk`` are ``[num_envs, players]``.

    Args:
        num_envs: how many games.
        opponent: as for `CribbageEnv`, or a sequence: row ``i`` meets number ``i``
            modulo its length.
        autoreset_mode: ``SAME_STEP`` (what Stable-Baselines3 needs), ``NEXT_STEP`` or
            ``DISABLED`` (then `reset` takes ``options["reset_mask"]``, bool ``[num_envs]``).
        reward, episode, rules, seat, skip_forced, illegal_action: as for `CribbageEnv`.

    >>> import gymnasium, crib_env
    >>> envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=64, opponent="easy")
    >>> observations, infos = envs.reset(seed=0)
    >>> infos["action_mask"].shape
    (64, 52)
    """

    metadata: dict[str, Any] = {**CribbageEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Opponent | Sequence[str | Opponent] = DEFAULT_OPPONENT,
        reward: str | Reward = "win",
        episode: Literal["game", "deal"] = "game",
        rules: str | Rules | Mapping[str, Any] = "six-card",
        seat: Seat = 0,
        skip_forced: bool = True,
        illegal_action: Literal["lose", "raise"] = "lose",
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
    ) -> None:
        whole = isinstance(num_envs, int | np.integer) and not isinstance(num_envs, bool)
        if not whole or num_envs < 1:
            raise InvalidRulesError(f"num_envs is a whole number from 1, not {num_envs!r}")
        if illegal_action not in ("lose", "raise"):
            raise InvalidRulesError(f"illegal_action is lose or raise, not {illegal_action!r}")
        if render_mode is not None:
            raise InvalidRenderModeError("a vector environment does not render")
        self.num_envs = num_envs = int(num_envs)
        self.rules = get_rules(rules)
        self.render_mode = None
        self.illegal_action = illegal_action
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.rules)
        self.single_action_space = spaces.Discrete(N_CARDS)
        self.observation_space = batched(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        opponents: Sequence[str | Opponent]
        if isinstance(opponent, Sequence) and not isinstance(opponent, str):
            opponents = opponent
        else:
            opponents = named_opponents(opponent, seat)
        self._episodes = Episodes(
            num_envs, opponents, reward, episode, self.rules, seat, skip_forced
        )
        self._ended = np.ones(num_envs, np.bool_)
        self._any_ended = True
        self._seeded = False

    @property
    def opponents(self) -> list[Opponent]:
        """The players of the other seats; may be replaced in place, at any time."""
        return self._episodes.opponents

    @property
    def all_seats(self) -> bool:
        """Whether every seat's decisions are asked for."""
        return self._episodes.all_seats

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Infos]:
        """Begin episodes in all rows, or in those of ``options["reset_mask"]``.

        Args:
            seed: row ``i`` is seeded ``seed + i``; or one seed a row.
            options: ``reset_mask``, bool ``[num_envs]``; ``deck``, ``dealer`` and ``scores``
                as for `CribbageEnv`, for every row that is reset. Others are ignored.

        Returns:
            Observations float32 ``[num_envs, D]`` and infos.

        Raises:
            InvalidRulesError: for seeds that are no whole numbers, or not one a row.
            InvalidCardError, InvalidViewError: for options that do not fit the rules.
        """
        given = check_options(options)
        rows = self._chosen(given.get("reset_mask"))
        self._seed_rows(seed)
        start = [given.get(name) for name in START_OPTIONS]
        if any(value is not None for value in start):
            for row in rows:
                self._episodes.reset_to(int(row), *start)
        else:
            self._episodes.reset(rows)
        self._ended[rows] = False
        self._any_ended = bool(self._ended.any())
        observations, masks, observers = self._episodes.look()
        infos = {"action_mask": masks, "_action_mask": np.ones(self.num_envs, np.bool_)}
        if self._episodes.all_seats:
            infos |= {"seat": observers, "_seat": np.ones(self.num_envs, np.bool_)}
        return observations, infos

    def _chosen(self, reset_mask: Any) -> NDArray[np.int64]:
        """The rows of a ``reset_mask``; all without one."""
        if reset_mask is None:
            return self._episodes.rows
        mask = np.asarray(reset_mask)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise InvalidViewError(
                f"reset_mask is bool [{self.num_envs}], not {mask.dtype} {list(mask.shape)}"
            )
        return np.flatnonzero(mask)

    def _seed_rows(self, seed: int | list[int | None] | None) -> None:
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            seeds: list[int | None] = [int(seed) + row for row in range(self.num_envs)]
        elif seed is None:
            if self._seeded:
                return
            fresh = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
            seeds = [int(word) for word in fresh]
        else:
            seeds = _seed_list(seed)
            if len(seeds) != self.num_envs:
                raise InvalidRulesError(
                    f"{self.num_envs} environments take as many seeds, not {len(seeds)}"
                )
        for row, number in enumerate(seeds):
            if number is not None or not self._seeded:
                random, _ = gymnasium.utils.seeding.np_random(number)
                self._episodes.seed(row, int(random.integers(1 << 63)))
        self._seeded = True

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Lay a card in every row; the others answer.

        Args:
            actions: cards by index, int64 ``[num_envs]``. With ``NEXT_STEP`` those of
                rows that ended with the last step are ignored and those rows reset.

        Returns:
            Observations float32 ``[num_envs, D]``, rewards float64, terminated bool,
            truncated bool (never), infos. Fresh arrays.

        Raises:
            IllegalActionError: for an illegal card, with ``illegal_action="raise"``.
            gymnasium.error.ResetNeeded: for a row that is over and was not reset.
        """
        cards = np.asarray(actions)
        if cards.dtype.kind not in "iu":
            raise IllegalActionError(f"actions are cards by index, not {cards.dtype}")
        cards = cards.astype(np.int64, copy=False)
        if cards.shape != (self.num_envs,):
            raise IllegalActionError(
                f"there are {self.num_envs} actions to give, not an array {cards.shape}"
            )
        if not self._seeded or (self._any_ended and self.autoreset_mode != AutoresetMode.NEXT_STEP):
            raise gymnasium.error.ResetNeeded("some episodes are over: call reset first")
        rows = self._episodes.rows
        if self._any_ended:
            return self._step_some(cards)
        if self.illegal_action == "raise":
            self._check(rows, cards)
        outcome = self._episodes.step(rows, cards)
        return self._told(outcome, np.zeros(self.num_envs, np.bool_))

    def _check(self, rows: NDArray[np.int64], cards: NDArray[np.int64]) -> None:
        """Refuse an illegal card before any is laid."""
        legal = self._episodes.legal(rows, cards[rows])
        if not legal.all():
            row = int(rows[legal.argmin()])
            card = int(cards[row])
            name = str(CARDS[card]) if 0 <= card < N_CARDS else repr(card)
            raise IllegalActionError(f"{name} is not legal in game {row}")

    def _step_some(self, cards: NDArray[np.int64]) -> Step:
        """A step in which rows that ended with the last one are reset."""
        waiting = self._ended
        going, others = np.flatnonzero(~waiting), np.flatnonzero(waiting)
        if self.illegal_action == "raise":
            self._check(going, cards)
        outcome = self._episodes.step(going, cards)
        self._episodes.reset(others)
        self._episodes.look_again(others, *outcome[:3])
        return self._told(outcome, waiting)

    def _told(self, outcome: Outcome, waiting: NDArray[np.bool_]) -> Step:
        """A step as Gymnasium has it; how episodes ended; and the next ones, where that is now."""
        episodes = self._episodes
        observations, masks, observers, rewards, by_seat, ended, illegal = outcome
        infos: Infos = {}
        self._ended, self._any_ended = ended.copy(), False
        over = ended.nonzero()[0]
        if len(over):
            result: Infos = dict(episodes.results(over))
            for name in tuple(result):
                result[f"_{name}"] = ended.copy()
            if np.count_nonzero(illegal):
                result["illegal_action"], result["_illegal_action"] = illegal, illegal.copy()
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                final: Infos = {"action_mask": masks}
                if episodes.all_seats:
                    final["seat"] = observers
                for name, values in tuple(final.items()):
                    final[name] = np.zeros(values.shape, values.dtype)
                    final[name][over] = values[over]
                    final[f"_{name}"] = ended.copy()
                infos["final_info"] = {**final, **result}
                infos["final_obs"] = np.empty(self.num_envs, object)  # of None
                infos["final_obs"][over] = np.fromiter(
                    observations.take(over, 0), object, len(over)
                )
                infos["_final_obs"] = infos["_final_info"] = ended.copy()
                episodes.reset(over)
                episodes.look_again(over, observations, masks, observers)
            else:
                self._any_ended = True
                infos.update(result)
        infos["action_mask"] = masks
        infos["_action_mask"] = np.ones(self.num_envs, np.bool_)
        if episodes.all_seats:
            infos["seat"], infos["_seat"] = observers, np.ones(self.num_envs, np.bool_)
            infos["rewards"], infos["_rewards"] = by_seat, ~waiting
        truncated = np.zeros(self.num_envs, np.bool_)
        return observations, rewards, ended, truncated, infos

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of all rows: int8 ``[num_envs, 52]``, a fresh array."""
        return self._episodes.look()[1]
