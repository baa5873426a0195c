"""The single environment, by Gymnasium's and Stable-Baselines3's own checkers and from outside."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import crib_env
from crib_agents import ViewBot, make_bot
from crib_env.cards import Card, parse_cards
from crib_env.env import CribbageEnv
from crib_env.errors import (
    CribbageError,
    IllegalActionError,
    InvalidCardError,
    InvalidRulesError,
    InvalidViewError,
)
from crib_env.observation import observation_size, split
from crib_env.rules import PRESETS, SIX_CARD, get_rules
from crib_env.view import SeatView
from crib_env.win_probability import supports

IDS = [name for name in gymnasium.registry if name.startswith("crib_env/")]
ARGUMENTS: list[dict[str, Any]] = [
    {"episode": episode, "reward": reward}
    for episode in ("game", "deal")
    for reward in ("win", "margin", "win_probability")
]
ARGUMENTS += [
    {"rules": rules, "episode": episode, "reward": reward}
    for rules in PRESETS
    for episode, reward in (("game", "margin"), ("deal", "win"))
]
NOT_OF_THE_TABLE = [name for name, rules in PRESETS.items() if not supports(rules)]
"""Presets for which there is no table of win probabilities."""


def play(
    env: gymnasium.Env[Any, Any], seed: int | None, steps: int
) -> Iterator[tuple[Any, Any, float, bool, dict[str, Any]]]:
    """Random legal steps: (observation, action, reward, terminated, info)."""
    choices = np.random.default_rng(0)
    observation, info = env.reset(seed=seed)
    for _ in range(steps):
        action = choices.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        yield observation, action, float(reward), terminated, info
        if terminated:
            observation, info = env.reset()


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_checkers_pass_without_a_warning(name: str, arguments: dict[str, Any]) -> None:
    env = gymnasium.make(name, **arguments)
    check_env(env.unwrapped)
    sb3_check_env(env)


def test_there_is_an_id() -> None:
    assert "crib_env/Cribbage-v0" in IDS


def test_mask_in_every_place_is_the_same_and_never_empty() -> None:
    env = Monitor(gymnasium.wrappers.TimeLimit(gymnasium.make(IDS[0], opponent="easy"), 10_000))
    assert is_masking_supported(env)
    core = env.unwrapped
    assert isinstance(core, CribbageEnv)
    choices = np.random.default_rng(3)
    _, info = env.reset(seed=3)
    for _ in range(10_000):
        mask = info["action_mask"]
        assert mask.dtype == np.int8
        assert mask.shape == (52,)
        assert mask.any()
        assert np.array_equal(mask, core.action_masks())
        assert np.array_equal(mask, get_action_masks(env))
        assert {int(card) for card in core.view().legal()} == set(np.flatnonzero(mask).tolist())
        assert mask.sum() > 1, "a forced card is not asked for"
        *_, terminated, _, info = env.step(choices.choice(np.flatnonzero(mask)))
        if terminated:
            assert info["action_mask"].all()
            _, info = env.reset()


def test_arrays_are_fresh() -> None:
    env = gymnasium.make(IDS[0])
    observation, info = env.reset(seed=1)
    kept_observation, kept_mask = observation.copy(), info["action_mask"].copy()
    next_observation, *_, next_info = env.step(np.flatnonzero(kept_mask)[0])
    assert np.array_equal(observation, kept_observation)
    assert np.array_equal(info["action_mask"], kept_mask)
    next_info["action_mask"][:] = 1
    next_observation[:] = 9
    assert not np.array_equal(env.unwrapped.action_masks(), next_info["action_mask"])  # type: ignore[attr-defined]


def test_forced_cards_are_asked_for_when_wanted() -> None:
    env = gymnasium.make(IDS[0], skip_forced=False, opponent="random")
    sizes = {int(info["action_mask"].sum()) for *_, info in play(env, 0, 300)}
    assert 1 in sizes


def test_last_info_tells_the_result() -> None:
    env = gymnasium.make(IDS[0], opponent="medium", reward="margin")
    seen = 0
    total = 0.0
    for *_, reward, terminated, info in play(env, 5, 2_000):
        total += reward
        if not terminated:
            assert set(info) == {"action_mask"}
            continue
        own, other = info["scores"]
        assert max(own, other) == 121
        assert info["margin"] == own - other == total
        assert info["is_success"] == (own == 121)
        lost = min(own, other)
        assert info["skunk"] == (2 if lost < 61 else 1 if lost < 91 else 0)
        seen += 1
        total = 0.0
    assert seen > 20


def test_win_reward_comes_once_and_has_the_right_sign() -> None:
    signs = set()
    for seat in (0, 1):
        env = gymnasium.make(IDS[0], opponent="random", seat=seat)
        for *_, reward, terminated, info in play(env, seat, 2_000):
            if not terminated:
                assert reward == 0
                continue
            own, other = info["scores"][seat], info["scores"][1 - seat]
            assert reward == (1 if own > other else -1)
            signs.add((seat, reward))
    assert signs == {(0, 1), (0, -1), (1, 1), (1, -1)}


def test_win_probability_rewards_sum_to_the_whole_game() -> None:
    from crib_env.win_probability import win_probability

    env = gymnasium.make(IDS[0], opponent="medium", reward="win_probability")
    for first in (0, 1):
        choices = np.random.default_rng(first)
        _, info = env.reset(seed=4, options={"dealer": first})
        total, terminated = 0.0, False
        while not terminated:
            action = choices.choice(np.flatnonzero(info["action_mask"]))
            _, reward, terminated, _, info = env.step(action)
            total += float(reward)
        expected = float(info["is_success"]) - win_probability(0, 0, dealing=first == 0)
        assert total == pytest.approx(expected)


def test_games_without_a_table() -> None:
    assert NOT_OF_THE_TABLE == ["three-player", "four-player", "five-card", "five-card-historic"]


@pytest.mark.parametrize("rules", NOT_OF_THE_TABLE)
@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_win_probability_is_refused_where_the_table_does_not_fit(make: Any, rules: str) -> None:
    with pytest.raises(InvalidRulesError, match="is for the six-card game of two"):
        make(IDS[0], rules=rules, reward="win_probability")


@pytest.mark.parametrize("preset", PRESETS)
def test_every_game_is_played_from_every_seat(preset: str) -> None:
    """Rewards, results and masks are those of the seat and its side."""
    rules = get_rules(preset)
    for seat in range(rules.players):
        env = CribbageEnv(rules=preset, seat=seat, opponent="random", reward="margin")
        side = rules.side(seat)
        total, ended = 0.0, 0
        for *_, reward, terminated, info in play(env, seat, 400):
            total += reward
            if not terminated:
                view = env.view()
                assert (view.seat, view.to_act) == (seat, seat)
                legal = [int(card) for card in view.legal()]
                assert np.flatnonzero(info["action_mask"]).tolist() == legal
                continue
            own, others = info["scores"][side], np.delete(info["scores"], side)
            assert max(own, *others) == rules.target
            assert info["is_success"] == (own == rules.target)
            assert info["margin"] == own - others.max()
            assert info["skunk"] == rules.skunk(others.min() if info["is_success"] else own)
            # What pone has at the start nobody has pegged.
            head_start = own - others.mean() - total
            assert abs(head_start) == pytest.approx(rules.pone_start)
            total, ended = 0.0, ended + 1
        assert ended >= 3


@pytest.mark.parametrize("preset", NOT_OF_THE_TABLE)
def test_deal_episodes_of_other_games_begin_as_a_game_does(preset: str) -> None:
    env = CribbageEnv(rules=preset, episode="deal", opponent="random")
    rules = env.rules
    for seed in range(20):
        env.reset(seed=seed)
        view = env.view()
        pone = rules.side((view.dealer + 1) % rules.players)
        assert view.phase == "discard"
        assert view.scores == tuple(
            rules.pone_start if side == pone else 0 for side in range(rules.sides)
        )


@pytest.mark.parametrize("card", [0, 51, 52, -1, 999])
def test_illegal_action_loses(card: int) -> None:
    env = gymnasium.make(IDS[0], disable_env_checker=True)
    env.reset(seed=2, options={"deck": "5C 6C 5D 6D 5H 6H 5S 6S JC QC JD QD"})
    _, reward, terminated, truncated, info = env.step(card)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1, True, False, True)
    assert info["is_success"] is False
    assert info["scores"].tolist() == [0, 121]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(0)


def test_illegal_action_can_raise_and_changes_nothing() -> None:
    env = gymnasium.make(IDS[0], illegal_action="raise")
    observation, info = env.reset(seed=2)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    with pytest.raises(IllegalActionError, match="is not legal now, but"):
        env.step(illegal)
    assert np.array_equal(env.unwrapped._look()[0], observation)  # type: ignore[attr-defined]


def test_illegal_margin_is_a_lost_game() -> None:
    env = gymnasium.make(IDS[0], reward="margin", disable_env_checker=True)
    env.reset(seed=1, options={"scores": [30, 40]})
    assert env.step(-1)[1] == -81


def test_options_fix_the_deal() -> None:
    env = gymnasium.make(IDS[0], opponent="random")
    deck = "5C 6C 5D 6D 5H 6H 5S 6S JC QC JD QD KH"
    _, info = env.reset(options={"deck": deck, "dealer": 1, "scores": [7, 9], "other": "ignored"})
    view = env.unwrapped.view()  # type: ignore[attr-defined]
    assert [str(card) for card in view.hand] == ["5C", "5D", "5H", "5S", "JC", "JD"]
    assert (view.dealer, view.scores) == (1, (7, 9))
    assert np.flatnonzero(info["action_mask"]).tolist() == [int(card) for card in view.hand]
    for card in ("JC", "JD"):
        env.step(int(crib_env.Card(card)))
    assert str(env.unwrapped.view().starter) == "KH"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"deck": "5C 5C"}, InvalidCardError, "comes twice"),
        ({"deck": "5X"}, InvalidCardError, "is not a card"),
        ({"deck": 5}, InvalidCardError, "is not a list of cards"),
        ({"dealer": 2}, InvalidViewError, "seat from 0 to 1"),
        ({"dealer": "me"}, InvalidViewError, "whole number"),
        ({"scores": [1]}, InvalidViewError, "2 scores"),
        ({"scores": [121, 0]}, InvalidViewError, "below the target"),
        ({"scores": 3}, InvalidViewError, "list of numbers"),
    ],
)
def test_bad_options_are_named(
    options: dict[str, Any], error: type[CribbageError], words: str
) -> None:
    with pytest.raises(error, match=words):
        gymnasium.make(IDS[0]).reset(options=options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"opponent": "nobody"}, "no bot 'nobody'"),
        ({"reward": "fame"}, "no reward 'fame'"),
        ({"episode": "match"}, "a game or a deal"),
        ({"rules": "poker"}, "no rules named 'poker'"),
        ({"seat": 2}, "seats go from 0 to 1"),
        ({"seat": np.array([0, 1])}, "seats go from 0 to 1"),
        ({"seat": 3, "rules": "three-player"}, "seats go from 0 to 2"),
        ({"illegal_action": "shrug"}, "lose or raise"),
        ({"reward": "win_probability", "rules": {"target": 61, "skunk_line": None,
          "double_skunk_line": None}}, "six-card"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gymnasium.make(IDS[0], **arguments)


def test_equal_seeds_give_equal_games() -> None:
    def run(seed: int) -> list[Any]:
        env = gymnasium.make(IDS[0], opponent="easy")
        return [(o.tobytes(), a, r, t) for o, a, r, t, _ in play(env, seed, 200)]

    assert run(11) == run(11)
    assert run(11) != run(12)


def test_resets_without_a_seed_differ() -> None:
    env = gymnasium.make(IDS[0])
    deals = {env.reset()[0].tobytes() for _ in range(100)}
    assert len(deals) >= 90
    env.reset(seed=1)
    again = {env.reset()[0].tobytes() for _ in range(100)}
    assert len(again) >= 90


def test_interleaved_environments_do_not_disturb_each_other() -> None:
    state, numpy_state = random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]

    def trail(env: gymnasium.Env[Any, Any], seed: int) -> Iterator[bytes]:
        for observation, *_ in play(env, seed, 150):
            yield observation.tobytes()

    alone = [list(trail(gymnasium.make(IDS[0]), seed)) for seed in (1, 2)]
    both = zip(trail(gymnasium.make(IDS[0]), 1), trail(gymnasium.make(IDS[0]), 2), strict=True)
    assert [list(one) for one in zip(*both, strict=True)] == alone
    assert random.getstate() == state
    assert np.array_equal(np.random.get_state()[1], numpy_state)  # type: ignore[index]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_goes_on_alike(duplicate: Any) -> None:
    env = gymnasium.make(IDS[0], opponent="easy").unwrapped
    list(play(env, 3, 17))
    twin = duplicate(env)
    choices = np.random.default_rng(1)
    for _ in range(100):
        action = choices.choice(np.flatnonzero(env.action_masks()))  # type: ignore[attr-defined]
        one, two = env.step(action), twin.step(action)
        assert np.array_equal(one[0], two[0])
        assert one[1:3] == two[1:3]
        if one[2]:
            assert np.array_equal(env.reset()[0], twin.reset()[0])


def test_deal_episode_plays_one_deal_from_drawn_scores() -> None:
    env = gymnasium.make(IDS[0], episode="deal", opponent="medium", reward="margin")
    starts: set[tuple[int, ...]] = set()
    lengths = []
    for seed in range(200):
        _, info = env.reset(seed=seed)
        before = env.unwrapped.view().scores  # type: ignore[attr-defined]
        starts.add(before)
        total, terminated, length = 0.0, False, 0
        while not terminated:
            _, reward, terminated, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
            total += float(reward)
            length += 1
        lengths.append(length)
        own, other = (int(b) - a for a, b in zip(before, info["scores"], strict=True))
        assert total == own - other
        if max(info["scores"]) < 121:
            assert info["is_success"] == (own > other)
            assert info["skunk"] == 0
    assert len(starts) > 150, "scores are drawn"
    assert min(lengths) >= 2
    assert max(lengths) <= 6


def test_opponent_can_be_an_object_and_never_sees_more_than_an_observation() -> None:
    class Watcher:
        def __init__(self) -> None:
            self.shapes: set[tuple[int, ...]] = set()

        def actions(
            self, observations: NDArray[np.float32], masks: NDArray[np.int8]
        ) -> NDArray[np.int64]:
            self.shapes.add(observations.shape + masks.shape)
            return np.argmax(masks, axis=1)

    watcher = Watcher()
    env = CribbageEnv(opponent=watcher)
    list(play(env, 0, 50))
    assert watcher.shapes == {(1, observation_size(SIX_CARD), 1, 52)}


def test_rewards_follow_the_player_when_one_lays_twice() -> None:
    """After the dealer's go pone lays two aces in a row, and both are to pone's credit."""

    class Dealer(ViewBot):
        def discard(self, view: SeatView) -> tuple[Card, ...]:
            return parse_cards("9D 9S")

        def play(self, view: SeatView) -> Card:
            return next(card for card in parse_cards("8C AD QH 6S") if card in view.legal())

    env = CribbageEnv(opponent=Dealer(), reward="margin", episode="deal", skip_forced=False)
    deck = "TC 8C 7D AD AH QH AS 6S KD 9D KS 9S 3D"
    env.reset(options={"deck": deck, "dealer": 1, "scores": [0, 0]})
    rewards = [env.step(int(Card(card)))[1] for card in ("KD", "KS", "TC", "7D", "AH", "AS")]
    # 2 for the pair, then 6 for the pair royal and 1 for the go, less the dealer's last card
    # (1), hand (2) and crib (4), and pone's own hand of 4.
    assert rewards == [0, 0, 0, 0, 2, 6 + 1 - 1 + 4 - 2 - 4]


def test_render_shows_the_table() -> None:
    env = gymnasium.make(IDS[0], render_mode="ansi", opponent="easy")
    env.reset(seed=4, options={"deck": "5C 6C 5D 6D 5H 6H 5S 6S JC QC JD QD KH", "dealer": 1})
    before = env.render()
    assert isinstance(before, str)
    assert "hand    5C 5D 5H 5S JC JD" in before
    assert "seat 1 deals" in before
    env.step(int(crib_env.Card("JC")))
    env.step(int(crib_env.Card("JD")))
    after = env.render()
    assert isinstance(after, str)
    assert "starter KH" in after
    assert "thrown  JC JD" in after
    assert "6C" not in before, "the other hand is not shown"


def test_bot_and_environment_agree() -> None:
    """Medium against itself through the environment wins as often as it loses."""
    env = gymnasium.make(IDS[0], opponent="medium")
    medium = make_bot("medium")
    wins = 0
    observation, info = env.reset(seed=0)
    games = 0
    while games < 60:
        action = medium.actions(observation[None], info["action_mask"][None])[0]
        observation, reward, terminated, _, info = env.step(action)
        if terminated:
            games += 1
            wins += reward == 1
            observation, info = env.reset()
    assert 12 < wins < 48


def test_observation_pieces_say_what_the_view_says() -> None:
    env = CribbageEnv(opponent="easy")
    for observation, *_ in play(env, 6, 300):
        view: SeatView = env.view()
        pieces = split(observation, SIX_CARD)
        assert set(np.flatnonzero(pieces["hand"])) == {int(card) for card in view.hand}
        assert pieces["scores"] * 121 == pytest.approx(np.array(view.scores), abs=1e-3)
        if view.phase == "play":
            assert np.flatnonzero(pieces["count"]).tolist() == [view.count]
            recent = [int(card) // 4 for card in reversed(view.series)][:4]
            rows = pieces["recent"].reshape(4, 13)
            assert [int(row.argmax()) for row in rows if row.any()] == recent


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_masks_through_sb3_vec_envs(kind: Any) -> None:
    number = 4 if kind is DummyVecEnv else 2
    envs = kind([lambda seed=seed: _seeded(seed) for seed in range(number)])
    try:
        envs.seed(5)
        envs.reset()
        masks = np.stack(envs.env_method("action_masks"))
        assert masks.shape == (number, 52)
        assert len({row.tobytes() for row in masks}) == number
        assert np.array_equal(get_action_masks(envs), masks)
    finally:
        envs.close()


def _seeded(seed: int) -> gymnasium.Env[Any, Any]:
    env = gymnasium.make(IDS[0], opponent="random")
    env.reset(seed=seed)
    return env


@pytest.mark.parametrize("action", [0.9, "5H", None, np.array([1]), [3]])
def test_actions_that_are_no_cards_are_refused(action: Any) -> None:
    env = CribbageEnv()
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="an action is a card by index"):
        env.step(action)
    assert env.step(np.flatnonzero(env.action_masks())[0])[2] is False, "nothing has changed"


def test_nothing_to_show_before_a_reset() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        CribbageEnv(render_mode="ansi").render()


@pytest.mark.parametrize("opponent", [5, None, object()])
def test_an_opponent_that_cannot_act_is_refused_at_once(opponent: Any) -> None:
    with pytest.raises(InvalidRulesError, match="an opponent is a name or has actions"):
        CribbageEnv(opponent=opponent)


def test_options_have_names() -> None:
    with pytest.raises(InvalidViewError, match="options are named"):
        CribbageEnv().reset(options=[1])  # type: ignore[arg-type]
