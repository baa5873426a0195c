"""The vector environment against a loop of single ones, bit for bit."""

from __future__ import annotations

import tracemalloc
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space

from crib_agents import make_bot
from crib_env.errors import IllegalActionError, InvalidRulesError, InvalidViewError
from crib_env.observation import split
from crib_env.rules import PRESETS, SIX_CARD, get_rules
from crib_env.vector import CribbageVectorEnv
from tests.crib_env.chance import every_card_as_likely, hands_unrelated, unrelated

ID = "crib_env/Cribbage-v0"
ROWS = 12


def same(ours: Any, theirs: Any, where: str = "info") -> None:
    """Equal infos: keys, types, values, and object arrays item by item."""
    if isinstance(ours, dict):
        assert set(ours) == set(theirs), where
        for name in ours:
            same(ours[name], theirs[name], f"{where}.{name}")
    elif ours.dtype == object:
        for one, two in zip(ours, theirs, strict=True):
            assert (one is None) == (two is None), where
            assert one is None or np.array_equal(one, two), where
    else:
        assert ours.dtype == theirs.dtype, where
        assert np.array_equal(ours, theirs), where


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("episode", ["game", "deal"])
@pytest.mark.parametrize("reward", ["win", "margin", "win_probability"])
def test_equals_single_environments(mode: AutoresetMode, episode: str, reward: str) -> None:
    assert compare(mode, 160, episode=episode, reward=reward, opponent="easy") > ROWS


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("episode", ["game", "deal"])
def test_equals_single_environments_in_every_game(rules: str, episode: str) -> None:
    seat = get_rules(rules).players - 1
    arguments: dict[str, Any] = {"episode": episode, "rules": rules, "seat": seat}
    arguments |= {"reward": "margin", "opponent": "easy"}
    assert compare(AutoresetMode.SAME_STEP, 250, **arguments) > ROWS


def compare(mode: AutoresetMode, steps: int, **arguments: Any) -> int:
    """Play both side by side, bit for bit; how many episodes came to their end."""
    ours = gymnasium.make_vec(ID, num_envs=ROWS, autoreset_mode=mode, **arguments)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(ID, disable_env_checker=True, **arguments) for _ in range(ROWS)],
        autoreset_mode=mode,
    )
    choices = np.random.default_rng(0)
    observations, infos = ours.reset(seed=5)
    expected, expected_infos = theirs.reset(seed=5)
    ended = 0
    for step in range(steps):
        assert np.array_equal(observations, expected)
        same(infos, expected_infos)
        masks = infos["action_mask"]
        actions = np.array([choices.choice(np.flatnonzero(mask)) for mask in masks])
        if step % 40 == 39:  # an illegal one now and then
            actions[3] = next((card for card in range(52) if not masks[3][card]), 0)
        observations, *outcome, infos = ours.step(actions)
        expected, *wanted, expected_infos = theirs.step(actions)
        for one, two in zip(outcome, wanted, strict=True):
            assert one.dtype == two.dtype
            assert np.array_equal(one, two)
        over = outcome[1]
        ended += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            same(infos, expected_infos)
            observations, _ = ours.reset(options={"reset_mask": over})
            expected, _ = theirs.reset(options={"reset_mask": over})
            infos = {"action_mask": ours.action_masks()}  # type: ignore[attr-defined]
            rows = [env.unwrapped.action_masks() for env in theirs.envs]  # type: ignore[attr-defined]
            expected_infos = {"action_mask": np.stack(rows)}
    return ended


def test_metadata_names_the_mode() -> None:
    envs = gymnasium.make_vec(ID, num_envs=2)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert envs.observation_space.shape[0] == 2  # type: ignore[index]
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space


def test_rows_meet_their_own_opponents() -> None:
    class Counter:
        def __init__(self) -> None:
            self.seen = 0

        def actions(self, observations: Any, masks: Any) -> Any:
            self.seen += len(masks)
            return np.argmax(masks, axis=1)

    counters = [Counter(), Counter(), Counter()]
    envs = CribbageVectorEnv(4, opponent=counters, episode="deal")
    _, infos = envs.reset(seed=0)
    for _ in range(50):
        _, _, _, _, infos = envs.step(np.argmax(infos["action_mask"], axis=1))
    assert counters[0].seen > 1.5 * counters[1].seen > 0
    envs.opponents[1] = make_bot("random")
    before = counters[1].seen
    envs.step(np.argmax(infos["action_mask"], axis=1))
    assert counters[1].seen == before


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidRulesError, match="whole number from 1"):
        CribbageVectorEnv(0)
    with pytest.raises(InvalidRulesError, match=r"one of 'NextStep'.*, not 'SAME_STEP'"):
        CribbageVectorEnv(2, autoreset_mode="SAME_STEP")
    assert type(CribbageVectorEnv(np.int64(2)).num_envs) is int  # type: ignore[arg-type]
    envs = CribbageVectorEnv(2, illegal_action="raise")
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(2, np.int64))
    _, infos = envs.reset(seed=0)
    with pytest.raises(IllegalActionError, match="2 actions"):
        envs.step(np.zeros(3, np.int64))
    wrong = np.argmin(infos["action_mask"], axis=1)
    with pytest.raises(IllegalActionError, match="is not legal in game 0"):
        envs.step(wrong)


def test_same_seed_same_games_and_later_resets_go_on() -> None:
    one, two = CribbageVectorEnv(8), CribbageVectorEnv(8)
    assert np.array_equal(one.reset(seed=3)[0], two.reset(seed=3)[0])
    assert np.array_equal(one.reset()[0], two.reset()[0])
    assert not np.array_equal(one.reset()[0], one.reset(seed=3)[0])
    assert not np.array_equal(CribbageVectorEnv(8).reset()[0], CribbageVectorEnv(8).reset()[0])


def test_seeds_by_row() -> None:
    envs = CribbageVectorEnv(3)
    with pytest.raises(InvalidRulesError, match="3 environments take as many seeds, not 2"):
        envs.reset(seed=[1, 2])
    one, _ = envs.reset(seed=[1, None, None])
    two, _ = CribbageVectorEnv(3).reset(seed=[1, None, None])
    assert np.array_equal(one[0], two[0])
    assert not np.array_equal(one[1], one[2])
    assert not np.array_equal(one[1:], two[1:]), "rows without a seed differ every time"


def test_a_seat_is_a_whole_number() -> None:
    with pytest.raises(InvalidRulesError, match="seats go from 0 to 1"):
        CribbageVectorEnv(2, seat=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "seed",
    [
        1.5,
        "x",
        b"abc",
        True,
        {1, 2, 3},
        {1: 1, 2: 2, 3: 3},
        [1, 2.5, 3],
        np.array(7),
        np.array([True] * 3),
    ],
)
def test_seeds_that_are_no_whole_numbers_are_refused(seed: Any) -> None:
    with pytest.raises(InvalidRulesError, match="a seed is a whole number, or one for each"):
        CribbageVectorEnv(3).reset(seed=seed)


def test_seeds_by_row_in_an_array() -> None:
    one, _ = CribbageVectorEnv(3).reset(seed=np.array([4, 5, 6]))  # type: ignore[arg-type]
    two, _ = CribbageVectorEnv(3).reset(seed=4)
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    "mask", [[True] * 4, [True] * 2, [[True]] * 3, [1, 0, 1], [0.5, 0, 0], "x", True]
)
def test_a_mask_of_other_rows_is_refused(mask: Any) -> None:
    """Compiled code would write where there is no game."""
    envs = CribbageVectorEnv(3, autoreset_mode="Disabled")
    before, _ = envs.reset(seed=0)
    with pytest.raises(InvalidViewError, match=r"reset_mask is bool \[3\], not "):
        envs.reset(seed=1, options={"reset_mask": mask})
    after, _ = envs.reset(options={"reset_mask": [False] * 3})
    assert np.array_equal(before, after)


class Answers:
    """A player who answers what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def actions(self, observations: Any, masks: Any) -> Any:
        return self.answer(masks)


ODD_ANSWERS = {
    "too few": lambda masks: masks.argmax(1)[:-1],
    "too many": lambda masks: np.append(masks.argmax(1), 0),
    "a column": lambda masks: masks.argmax(1)[:, None],
    "one": lambda masks: 0,
    "nothing": lambda masks: None,
    "no numbers": lambda masks: ["5H"] * len(masks),
    "halves": lambda masks: masks.argmax(1) + 0.5,
    "illegal": lambda masks: masks.argmin(1),
    "outside": lambda masks: np.full(len(masks), 52),
}


@pytest.mark.parametrize("odd", ODD_ANSWERS)
def test_an_opponent_that_answers_with_anything_else_is_named(odd: str) -> None:
    envs = CribbageVectorEnv(16, opponent=Answers(ODD_ANSWERS[odd]))
    with pytest.raises(IllegalActionError, match=r"^opponent Answers: "):
        envs.reset(seed=0)  # in some games it is the pone, who throws first


def test_opponents_may_answer_with_any_whole_numbers() -> None:
    expected: list[np.ndarray] = []
    for kind in (np.int64, np.int8, np.uint16, list):
        answer = lambda masks, kind=kind: (  # noqa: E731
            masks.argmax(1).tolist() if kind is list else masks.argmax(1).astype(kind)
        )
        envs = CribbageVectorEnv(4, opponent=Answers(answer))
        _, infos = envs.reset(seed=0)
        for _ in range(10):
            observations, *_, infos = envs.step(infos["action_mask"].argmax(1))
        expected.append(observations)
    assert all(np.array_equal(expected[0], each) for each in expected)


@pytest.mark.parametrize(
    "reward", [lambda change: None, lambda change: "x", lambda change: np.zeros(3)]
)
def test_a_reward_that_is_no_number_is_refused(reward: Any) -> None:
    envs = CribbageVectorEnv(4, opponent="random", reward=reward)
    _, infos = envs.reset(seed=0)
    with pytest.raises(InvalidRulesError, match="a reward is 4 numbers, not "):
        envs.step(infos["action_mask"].argmax(1))


def test_options_hold_for_every_row() -> None:
    options = {"deck": "5C 6C 5D 6D", "dealer": 1, "scores": [7, 9]}
    envs = CribbageVectorEnv(4)
    observations, _ = envs.reset(seed=3, options=options)
    for row in range(4):
        expected, _ = gymnasium.make(ID).reset(seed=3 + row, options=options)
        assert np.array_equal(observations[row], expected)


def test_actions_that_are_no_cards_are_refused() -> None:
    envs = CribbageVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(IllegalActionError, match="cards by index, not float64"):
        envs.step(np.array([0.5, 1.5]))


def first_hands(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hands as zeros and ones ``[n, 52]``, and whether seat 0 deals ``[n]``."""
    pieces = split(observations, SIX_CARD)
    return (pieces["hand"] > 0).astype(np.int64), (pieces["dealer"][:, 0] > 0).astype(np.int64)


def test_rows_have_nothing_to_do_with_each_other() -> None:
    """Rows are seeded by consecutive numbers, and none repeats or shadows another."""
    envs = CribbageVectorEnv(10_000, opponent="random")
    hands, dealers = first_hands(envs.reset(seed=0)[0])
    next_hands, next_dealers = first_hands(envs.reset()[0])
    every_card_as_likely(hands)
    every_card_as_likely(next_hands)
    for step in (1, 2, 64):
        hands_unrelated(hands[:-step], hands[step:])
        unrelated(dealers[:-step], dealers[step:], 2)
        # A row's second game is not its neighbour's first.
        hands_unrelated(next_hands[:-step], hands[step:])
        unrelated(next_dealers[:-step], dealers[step:], 2)
    hands_unrelated(hands, next_hands)
    unrelated(dealers, next_dealers, 2)


def test_the_space_is_that_of_gymnasium_without_its_size() -> None:
    envs = CribbageVectorEnv(5)
    assert envs.observation_space == batch_space(envs.single_observation_space, 5)
    assert envs.observation_space.sample() in envs.observation_space
    assert envs.observation_space.low.base is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize("episode", ["game", "deal"])
@pytest.mark.parametrize("number", [4096, 16384])
def test_a_game_takes_at_most_four_kilobytes(number: int, episode: Any) -> None:
    """All that lives after a step, what it returned included."""

    def some_steps(number: int, steps: int) -> tuple[Any, ...]:
        envs = CribbageVectorEnv(number, opponent="random", episode=episode)
        result: tuple[Any, ...] = envs.reset(seed=0)
        for _ in range(steps):
            result = envs.step(result[-1]["action_mask"].argmax(axis=1))
        return envs, *result

    some_steps(4, 2)  # compile, and load tables
    tracemalloc.start()
    try:
        kept = some_steps(number, 9)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == 6
    assert held / number <= 4096
