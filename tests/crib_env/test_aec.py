"""The PettingZoo environments, held against PettingZoo's own tests and against the game."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pettingzoo import test as zoo
from pettingzoo.test import performance_benchmark

from crib_env import IllegalActionError, InvalidRulesError, InvalidViewError, aec, get_rules
from crib_env.cards import Card
from crib_env.observation import split
from crib_env.rules import PRESETS
from crib_env.win_probability import win_probabilities
from tests.crib_env.support import observation
from tests.crib_env.test_leak import with_other_hidden_cards

TABLES = ("six-card", "three-player", "four-player")
REWARDS = [(name, reward) for name in TABLES for reward in ("win", "margin")]
REWARDS += [("six-card", "win_probability")]

# PettingZoo asks for plain arrays, and knows by name its own games that have masks beside them.
NOT_PLAIN = "Observation space for each agent probably should be|Observation is not a NumPy array"

# PettingZoo's tests


@pytest.mark.filterwarnings(f"ignore:{NOT_PLAIN}:UserWarning")
@pytest.mark.parametrize("name", PRESETS)
def test_api(name: str) -> None:
    zoo.api_test(aec.env(rules=name))


@pytest.mark.parametrize("name", PRESETS)
def test_seeds(name: str) -> None:
    zoo.seed_test(partial(aec.env, rules=name))


@pytest.mark.parametrize("name", TABLES)
def test_rendering(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    zoo.render_test(partial(aec.env, rules=name))
    assert capsys.readouterr().out.count("hand ") >= 5


def test_max_cycles_of_the_module() -> None:
    """PettingZoo's test as it stands, on the module as it stands."""
    zoo.max_cycles_test(aec)


@pytest.mark.parametrize("name", TABLES)
def test_max_cycles(name: str) -> None:
    module = SimpleNamespace(
        env=partial(aec.env, rules=name), parallel_env=partial(aec.parallel_env, rules=name)
    )
    for _ in range(5):
        zoo.max_cycles_test(module)


@pytest.mark.parametrize("name", TABLES)
def test_spaces_draw_legal_cards(name: str) -> None:
    env = aec.env(rules=name)
    env.reset(seed=2)
    for agent in env.agent_iter(400):
        observation, _, terminated, truncated, _ = env.last()
        assert isinstance(observation, dict)
        card = env.action_space(agent).sample()
        assert observation["action_mask"][card] == 1
        env.step(None if terminated or truncated else card)
    none_but_one = np.zeros(52, np.int8)
    none_but_one[7] = 1
    assert env.action_space("player_0").sample(none_but_one) == 7


@pytest.mark.parametrize("name", TABLES)
def test_performance(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """PettingZoo's benchmark, its five seconds cut to fifty looks at the clock."""
    looks = iter(range(1000))
    monkeypatch.setitem(
        performance_benchmark.__globals__, "time", SimpleNamespace(time=lambda: next(looks) / 10)
    )
    performance_benchmark(aec.env(rules=name))
    assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_performance_by_the_clock(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(aec.env(rules=name))
    rate = float(capsys.readouterr().out.split(" turns per second")[0].split()[-1])
    assert rate > 1000


@pytest.mark.parametrize("name", TABLES)
def test_parallel_api(name: str) -> None:
    zoo.parallel_api_test(aec.parallel_env(rules=name))


@pytest.mark.parametrize("name", TABLES)
def test_parallel_seeds(name: str) -> None:
    zoo.parallel_seed_test(partial(aec.parallel_env, rules=name, illegal_action="replace"))


# Whole games


def chosen(env: Any, chance: random.Random) -> int | None:
    """A legal card of the agent to act, or None where it is done."""
    seen, _, terminated, truncated, _ = env.last()
    if terminated or truncated:
        return None
    return chance.choice(np.flatnonzero(seen["action_mask"]).tolist())


def played(env: Any, seed: int) -> Iterator[str]:
    """The agents in turn, each before it acts by chance."""
    chance = random.Random(seed)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        yield agent
        env.step(chosen(env, chance))


@pytest.mark.parametrize("name", PRESETS)
def test_observations_and_masks(name: str) -> None:
    env = aec.env(rules=name, skip_forced=False)
    rules = get_rules(name)
    agents = [f"player_{seat}" for seat in range(rules.players)]
    turns = 0
    for agent in played(env, 3):
        assert env.possible_agents == agents
        raw = env.unwrapped
        for seat, other in enumerate(agents):
            seen = env.observe(other)
            assert env.observation_space(other).contains(seen)
            mask = seen["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (52,))
            row = raw._batch.states[0]
            assert seen["observation"].tobytes() == observation(row, rules, seat).tobytes()
            if other != agent or any(env.terminations.values()):
                assert mask.all()
        if not any(env.terminations.values()):
            mask = env.observe(agent)["action_mask"]
            held = split(env.observe(agent)["observation"], rules)["hand"]
            assert mask.any()
            assert set(np.flatnonzero(mask)) <= set(np.flatnonzero(held))
            turns += 1
    assert turns > 20


@pytest.mark.parametrize(("name", "reward"), REWARDS)
def test_rewards_sum_to_nothing(name: str, reward: str) -> None:
    """At every step, over the seats; partners get the same."""
    rules = get_rules(name)
    env = aec.env(rules=name, reward=reward)
    env.reset(seed=5)
    chance = random.Random(5)
    given = np.zeros(rules.players)
    while not any(env.terminations.values()):
        env.step(chosen(env, chance))
        rewards = np.array([env.rewards[agent] for agent in env.possible_agents])
        assert abs(rewards.sum()) < 1e-9
        if rules.teams:
            assert rewards[0] == rewards[2]
            assert rewards[1] == rewards[3]
        given += rewards
    assert given.any()
    assert abs(given.sum()) < 1e-9


def totals(env: Any, seed: int) -> NDArray[np.float64]:
    """What each agent was told through `last` over a whole game."""
    found = dict.fromkeys(env.possible_agents, 0.0)
    for agent in played(env, seed):
        found[agent] += env.last()[1]
    return np.array(list(found.values()))


@pytest.mark.parametrize("name", TABLES)
def test_winners_and_losers_see_their_reward_through_last(name: str) -> None:
    rules = get_rules(name)
    winners = set()
    for seed in range(12):
        env = aec.env(rules=name)
        told = totals(env, seed)
        winner = int(env.unwrapped._batch.winner[0])
        winners.add(winner)
        sides = [rules.side(seat) for seat in range(rules.players)]
        assert told.tolist() == [1.0 if s == winner else -1.0 / (rules.sides - 1) for s in sides]
    assert winners == set(range(rules.sides))


@pytest.mark.parametrize("name", TABLES)
def test_margins_add_up_to_the_final_lead(name: str) -> None:
    env = aec.env(rules=name, reward="margin")
    told = totals(env, 4)
    scores = env.unwrapped._batch.scores[0].astype(float)
    own = np.array([scores[get_rules(name).side(seat)] for seat in range(len(told))])
    others = (scores.sum() - own) / (len(scores) - 1)
    assert told == pytest.approx(own - others)


def test_win_probabilities_add_up_to_what_was_left_to_gain() -> None:
    """From the chance at the first deal to certainty; the two sums differ by their sign alone."""
    for seed in range(6):
        env = aec.env(reward="win_probability")
        env.reset(seed=seed)
        dealer = int(env.unwrapped._batch.dealer[0])
        told = totals(env, seed)
        winner = int(env.unwrapped._batch.winner[0])
        zero = np.zeros(1, np.int64)
        chance = win_probabilities(zero, zero, np.array([winner == dealer]))
        assert told[winner] == pytest.approx(1 - chance[0])
        assert told.sum() == pytest.approx(0)


def test_win_probability_is_for_two() -> None:
    with pytest.raises(InvalidRulesError, match="is for the six-card game of two"):
        aec.env(rules="three-player", reward="win_probability")


@pytest.mark.parametrize("name", TABLES)
def test_dead_steps(name: str) -> None:
    env = aec.env(rules=name)
    done = []
    for agent in played(env, 2):
        if any(env.terminations.values()):
            assert env.last()[2:4] == (True, False)
            done.append(agent)
            if len(done) == 1:
                with pytest.raises(ValueError, match="None"):
                    env.step(3)
    assert sorted(done) == env.possible_agents
    assert env.agents == []


def test_nobody_acts_out_of_turn() -> None:
    """Agents come in the order of the game, which is no rotation."""
    env = aec.env(skip_forced=False)
    order = list(played(env, 7))
    assert any(one == two for one, two in pairwise(order[4:]))
    throws = order[:4]
    assert throws[0] == throws[1] != throws[2] == throws[3]


# Hidden cards


@pytest.mark.parametrize("name", TABLES)
def test_hidden_cards_make_no_difference(name: str) -> None:
    rules = get_rules(name)
    chance = random.Random(3)
    env = aec.env(rules=name)
    row = env.unwrapped._batch.states[0]
    changed = 0
    for _ in played(env, 6):
        before = row.copy()
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            row[:] = with_other_hidden_cards(before, rules, seat, chance)
            changed += not np.array_equal(row, before)
            again = env.observe(agent)
            row[:] = before
            assert again["observation"].tobytes() == seen["observation"].tobytes()
            assert again["action_mask"].tobytes() == seen["action_mask"].tobytes()
        assert all(not info for info in env.infos.values())
    assert changed > 50


@pytest.mark.parametrize("name", TABLES)
def test_the_table_shows_no_hidden_cards(name: str) -> None:
    env = aec.env(rules=name, render_mode="ansi")
    rules = get_rules(name)
    row = env.unwrapped._batch.states[0]
    chance = random.Random(1)
    for agent in played(env, 6):
        seat = env.possible_agents.index(agent)
        before, shown = row.copy(), env.render()
        row[:] = with_other_hidden_cards(before, rules, seat, chance)
        again = env.render()
        row[:] = before
        assert again == shown


# Illegal actions, limits, options


def test_an_illegal_card_loses() -> None:
    env = aec.env(rules="three-player")
    env.reset(seed=4)
    offender = env.agent_selection
    card = int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0])
    env.step(card)
    told = {}
    for agent in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        assert terminated
        told[agent] = reward
        env.step(None)
    assert told.pop(offender) == -1
    assert set(told.values()) == {0}
    assert len(told) == 2
    env.reset(seed=5)
    assert not any(env.terminations.values())


@pytest.mark.parametrize("action", [52, -1])
def test_actions_out_of_range_are_told(action: int) -> None:
    env = aec.env()
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(action)


@pytest.mark.parametrize("action", [52, -1, None, "5H", 1.5])
def test_without_wrappers_illegal_actions_are_refused(action: Any) -> None:
    env = aec.raw_env()
    env.reset(seed=1)
    before, agent = env._batch.states.copy(), env.agent_selection
    with pytest.raises(IllegalActionError, match="is not legal now, but ") as refused:
        env.step(action)
    assert "\n" not in str(refused.value)
    assert np.array_equal(env._batch.states, before)
    assert env.agent_selection == agent
    held = np.flatnonzero(env.observe(agent)["action_mask"] == 0)
    with pytest.raises(IllegalActionError, match=f"^{Card(int(held[0]))} is not legal now"):
        env.step(int(held[0]))


def test_an_illegal_card_may_be_replaced() -> None:
    """By a legal one drawn by chance, the same for the same seed; the game goes on to its end."""
    scores = []
    for seed in (1, 1, 2):
        env = aec.env(illegal_action="replace")
        env.reset(seed=seed)
        for _ in env.agent_iter():
            env.step(None if any(env.terminations.values()) else 0)
        assert int(env.unwrapped._batch.scores[0].max()) == 121
        scores.append(env.unwrapped._batch.scores[0].tolist())
    assert scores[0] == scores[1] != scores[2]
    env = aec.env(illegal_action="replace")
    env.reset(seed=1)
    legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
    assert legal.size == 6
    agent = env.agent_selection
    env.step(legal[2])
    assert split(env.observe(agent)["observation"], get_rules("six-card"))["thrown"][legal[2]] == 1


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("limit", [1, 3, 10])
def test_all_agents_act_as_often_as_max_cycles(name: str, limit: int) -> None:
    env = aec.env(rules=name, max_cycles=limit)
    acted = dict.fromkeys(env.possible_agents, 0)
    for agent in played(env, 9):
        if env.truncations[agent]:
            assert not env.terminations[agent]
            assert set(acted.values()) == {limit}
        else:
            acted[agent] += 1
    assert set(acted.values()) == {limit}
    assert not env.agents


def test_in_parallel_max_cycles_is_a_number_of_steps() -> None:
    env = aec.parallel_env(max_cycles=6)
    observations, infos = env.reset(seed=1)
    for step in range(1, 7):
        assert env.agents == env.possible_agents
        active = infos["player_0"].get("active_agent", env.aec_env.agent_selection)
        moves = {
            agent: int(np.flatnonzero(seen["action_mask"])[0])
            for agent, seen in observations.items()
        }
        assert not observations[active]["action_mask"].all()
        observations, _, terminated, truncated, infos = env.step(moves)
        assert set(terminated.values()) == {False}
        assert set(truncated.values()) == {step == 6}
    assert env.agents == []


def test_in_parallel_only_the_agent_to_act_is_heard() -> None:
    games = []
    for others in (0, 51):
        env = aec.parallel_env(rules="three-player")
        env.reset(seed=3)
        for _ in range(20):
            agent = env.aec_env.agent_selection
            mask = env.aec_env.observe(agent)["action_mask"]
            env.step(dict.fromkeys(env.agents, others) | {agent: int(np.flatnonzero(mask)[0])})
        games.append(env.unwrapped._batch.states.tobytes())
    assert games[0] == games[1]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"rules": "whist"}, InvalidRulesError, "no rules named 'whist'"),
        ({"reward": "money"}, InvalidRulesError, "no reward 'money'"),
        ({"render_mode": "rgb_array"}, InvalidRulesError, "render_mode is human, ansi or None"),
        ({"max_cycles": 0}, InvalidRulesError, "max_cycles is at least 1"),
        ({"max_cycles": -3}, InvalidViewError, "max_cycles is a whole number from 0, not -3"),
        ({"max_cycles": "4"}, InvalidViewError, "max_cycles is a whole number from 0, not '4'"),
        ({"illegal_action": "ask"}, InvalidRulesError, "illegal_action is raise or replace"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    makers: list[Callable[..., Any]] = [aec.env, aec.parallel_env]
    for make in makers:
        with pytest.raises(error, match=words):
            make(**arguments)


def test_options() -> None:
    env = aec.env(rules="three-player")
    options = {"dealer": 2, "scores": [10, 20, 30], "deck": "5H 5D 5C 5S", "unknown": 1}
    env.reset(seed=1, options=options)
    batch = env.unwrapped._batch
    assert batch.dealer[0] == 2
    assert batch.scores[0].tolist() == [10, 20, 30]
    assert env.agent_selection == "player_0"
    held = np.flatnonzero(
        split(env.observe("player_0")["observation"], env.unwrapped.rules)["hand"]
    )
    assert {Card("5H"), Card("5S")} <= set(held)
    for bad in ({"dealer": 3}, {"scores": [1, 2]}, {"deck": "5H 5H"}):
        with pytest.raises(ValueError, match=r"seat|scores|twice"):
            env.reset(options=bad)


def test_resets_without_a_seed_differ_and_follow_from_the_first() -> None:
    def hands(seed: int | None) -> list[bytes]:
        env = aec.env()
        env.reset(seed=seed)
        found = []
        for _ in range(20):
            found.append(env.observe("player_0")["observation"].tobytes())
            env.reset()
        return found

    assert len(set(hands(None))) == 20
    assert hands(7) == hands(7) != hands(8)
