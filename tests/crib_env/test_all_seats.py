"""Self-play: ``seat="all"`` gives every decision to whoever is to act, and pays the right seat."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from crib_agents import make_bot
from crib_agents.bot import encode
from crib_env import Game
from crib_env.env import CribbageEnv
from crib_env.errors import IllegalActionError, InvalidRulesError
from crib_env.rewards import Change, margin
from crib_env.rules import PRESETS, get_rules
from crib_env.vector import CribbageVectorEnv
from crib_env.win_probability import supports, win_probability
from tests.crib_env.support import VARIANTS

ID = "crib_env/Cribbage-v0"
PAID = [
    (name, reward)
    for name, rules in PRESETS.items()
    for reward in ("win", "margin", "win_probability")
    if reward != "win_probability" or supports(rules)
]


def legal_cards(masks: NDArray[np.int8], choices: np.random.Generator) -> NDArray[np.int64]:
    """A random legal card for each mask."""
    return np.asarray((masks * choices.random(masks.shape)).argmax(axis=1))


def lay_forced(game: Game) -> None:
    """Lay the cards that leave no choice, as the environments do."""
    while game.deal == 1 and not game.is_over and len(game.legal_actions()) == 1:
        game.apply(game.legal_actions()[0])


@pytest.mark.parametrize("name", VARIANTS)
def test_cards_laid_in_a_game_give_the_same(name: str) -> None:
    """Observation, mask, whose turn, and points by side, step by step over single deals."""
    rules = VARIANTS[name]
    env = CribbageEnv(rules=rules, seat="all", episode="deal", reward="margin")
    choices = np.random.default_rng(0)
    seats_seen = set()
    for seed in range(12):
        cards = rules.players * rules.dealt + rules.blind + 1
        deck = [int(card) for card in choices.permutation(52)[:cards]]
        scores = [int(points) for points in choices.integers(rules.target - 1, size=rules.sides)]
        start: dict[str, Any] = {"deck": deck, "dealer": seed % rules.players, "scores": scores}
        observation, info = env.reset(seed=seed, options=start)
        game = Game(env._episodes.rules, **start)
        lay_forced(game)
        terminated = False
        while not terminated:
            seat = game.to_act
            seats_seen.add(seat)
            assert info["seat"] == seat
            expected, mask = encode(game.view(seat))
            assert np.array_equal(observation, expected)
            assert np.array_equal(info["action_mask"], mask)
            assert env.view() == game.view(seat)
            before = np.array(game.scores)
            card = int(choices.choice(np.flatnonzero(mask)))
            observation, reward, terminated, _, info = env.step(card)
            game.apply(card)
            lay_forced(game)
            gained = np.array(game.scores) - before
            sides = [rules.side(each) for each in range(rules.players)]
            lead = gained - (gained.sum() - gained) / (rules.sides - 1)
            assert info["rewards"] == pytest.approx(lead[sides])
            assert reward == info["rewards"][seat]
        assert info["scores"].tolist() == list(game.scores)
        assert info["seat"] == seat, "the last observation is that of the seat that acted last"
    assert seats_seen == set(range(rules.players))


@pytest.mark.parametrize(("rules", "reward"), PAID)
def test_rewards_sum_to_nothing_and_to_the_result(rules: str, reward: str) -> None:
    settings = get_rules(rules)
    players = settings.players
    sides = np.array([settings.side(seat) for seat in range(players)])
    envs = CribbageVectorEnv(24, rules=rules, seat="all", reward=reward)
    choices = np.random.default_rng(1)
    _, infos = envs.reset(seed=2)
    total = np.zeros((24, players))
    starts = [envs._episodes.batch.dealer.copy()]
    ended = 0
    for _ in range(600):
        actors = infos["seat"]
        dealers = starts[-1].copy()
        _, rewards, over, _, infos = envs.step(legal_cards(infos["action_mask"], choices))
        paid = infos["rewards"]
        assert infos["_rewards"].all()
        assert paid.shape == (24, players)
        assert np.allclose(paid.sum(axis=1), 0)
        assert np.array_equal(rewards, paid[np.arange(24), actors])
        total += paid
        for row in np.flatnonzero(over):
            final = infos["final_info"]
            scores = final["scores"][row].astype(float)
            won = scores[sides] == settings.target
            assert np.array_equal(final["is_success"][row], won)
            assert final["seat"][row] == actors[row]
            others = [np.delete(scores, side) for side in sides]
            assert final["margin"][row].tolist() == [
                scores[side] - other.max() for side, other in zip(sides, others, strict=True)
            ]
            if reward == "win":
                wanted = np.where(won, 1.0, -1.0 / (settings.sides - 1))
            elif reward == "margin":
                wanted = scores - (scores.sum() - scores) / (settings.sides - 1)
                # What pone has at the start nobody has pegged.
                pone = settings.side((dealers[row] + 1) % players)
                head = np.zeros(settings.sides)
                head[pone] = settings.pone_start
                wanted = (wanted - (head - (head.sum() - head) / (settings.sides - 1)))[sides]
            else:
                first = [win_probability(0, 0, dealing=bool(dealers[row] == s)) for s in (0, 1)]
                wanted = won - np.array(first)
            assert total[row] == pytest.approx(wanted)
            total[row] = 0.0
            ended += 1
        dealers[over] = envs._episodes.batch.dealer[over]
        starts.append(dealers)
    assert ended > 24


def test_what_comes_to_a_seat_between_its_decisions_is_its_reward_alone() -> None:
    """Seat 1 played by Medium: seat 0 sees and gets what it does against Medium."""
    medium = make_bot("medium")
    whole = CribbageEnv(seat="all", reward="margin")
    single = CribbageEnv(opponent="medium", reward="margin")
    choices = np.random.default_rng(3)

    def until_seat_0(seen: Any, info: dict[str, Any], over: bool) -> Any:
        """Medium's decisions, and what they bring."""
        brought = np.zeros(2)
        while not over and info["seat"] == 1:
            card = int(medium.actions(seen[None], info["action_mask"][None])[0])
            seen, _, over, _, info = whole.step(card)
            brought += info["rewards"]
        return seen, info, over, brought

    for seed in range(6):
        expected, other = single.reset(seed=seed)
        seen, info, over, _ = until_seat_0(*whole.reset(seed=seed), False)
        while not over:
            assert np.array_equal(seen, expected)
            assert np.array_equal(info["action_mask"], other["action_mask"])
            card = int(choices.choice(np.flatnonzero(info["action_mask"])))
            expected, reward, ended, _, other = single.step(card)
            seen, _, over, _, info = whole.step(card)
            own = info["rewards"]
            seen, info, over, brought = until_seat_0(seen, info, over)
            assert (own + brought).tolist() == [reward, -reward]
            assert over == ended
        assert other["is_success"] == info["is_success"][0]
        assert other["scores"].tolist() == info["scores"].tolist()


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("rules", ["six-card", "three-player", "four-player"])
@pytest.mark.parametrize("episode", ["game", "deal"])
def test_equals_single_environments(mode: AutoresetMode, rules: str, episode: str) -> None:
    arguments: dict[str, Any] = {"seat": "all", "rules": rules, "episode": episode}
    arguments["reward"] = "margin"
    ours = gymnasium.make_vec(ID, num_envs=8, autoreset_mode=mode, **arguments)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(ID, disable_env_checker=True, **arguments) for _ in range(8)],
        autoreset_mode=mode,
    )
    choices = np.random.default_rng(0)
    observations, infos = ours.reset(seed=5)
    expected, wanted = theirs.reset(seed=5)
    ended = 0
    for step in range(300 if episode == "game" else 120):
        assert np.array_equal(observations, expected)
        for name in ("action_mask", "seat"):
            assert infos[name].dtype == wanted[name].dtype
            assert np.array_equal(infos[name], wanted[name]), name
        cards = legal_cards(infos["action_mask"], choices)
        if step % 50 == 49:
            cards[2] = next((c for c in range(52) if not infos["action_mask"][2][c]), 0)
        observations, *outcome, infos = ours.step(cards)
        expected, *others, wanted = theirs.step(cards)
        for one, two in zip(outcome, others, strict=True):
            assert one.dtype == two.dtype
            assert np.array_equal(one, two)
        over = outcome[1]
        ended += int(over.sum())
        final, told = infos.get("final_info", infos), wanted.get("final_info", wanted)
        by_seat = wanted.get("rewards", np.zeros_like(infos["rewards"])).copy()
        if over.any():
            for name in ("is_success", "margin", "skunk", "scores", "seat", "action_mask"):
                assert final[name].dtype == told[name].dtype
                assert np.array_equal(final[name], told[name]), name
                assert np.array_equal(final[f"_{name}"], told[f"_{name}"]), name
            if mode == AutoresetMode.SAME_STEP:
                by_seat[over] = told["rewards"][over]
                for one, two in zip(infos["final_obs"], wanted["final_obs"], strict=True):
                    assert (one is None) == (two is None)
                    assert one is None or np.array_equal(one, two)
            assert ("illegal_action" in final) == ("illegal_action" in told)
        assert np.array_equal(infos["rewards"], by_seat)
        if mode == AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            observations, _ = ours.reset(options=options)
            expected, _ = theirs.reset(options=options)
            infos = {"action_mask": ours.action_masks()}  # type: ignore[attr-defined]
            rows: list[Any] = [env.unwrapped for env in theirs.envs]
            wanted = {"action_mask": np.stack([env.action_masks() for env in rows])}
            infos["seat"] = wanted["seat"] = np.array([env.view().to_act for env in rows])
    assert ended > 8


@pytest.mark.parametrize("rules", ["six-card", "three-player", "four-player"])
def test_who_lays_an_illegal_card_loses(rules: str) -> None:
    settings = get_rules(rules)
    env = CribbageEnv(rules=rules, seat="all")
    choices = np.random.default_rng(0)
    offenders = set()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        for _ in range(seed):
            _, _, over, _, info = env.step(choices.choice(np.flatnonzero(info["action_mask"])))
            assert not over
        offender = info["seat"]
        offenders.add(offender)
        _, reward, over, _, info = env.step(int(info["action_mask"].argmin()))
        assert over
        assert info["illegal_action"]
        assert info["seat"] == offender
        assert reward == info["rewards"][offender] < 0
        assert not info["is_success"][offender]
        partners = [settings.side(s) == settings.side(offender) for s in range(settings.players)]
        assert not info["is_success"][partners].any()
        assert info["is_success"].any()
    assert offenders == set(range(settings.players))
    envs = CribbageVectorEnv(2, rules=rules, seat="all", illegal_action="raise")
    _, infos = envs.reset(seed=0)
    with pytest.raises(IllegalActionError, match="is not legal in game 0"):
        envs.step(infos["action_mask"].argmin(axis=1))


def test_a_reward_of_ones_own_is_asked_for_every_side() -> None:
    def mine(change: Change) -> NDArray[np.float64]:
        return margin(change)

    for rules in ("six-card", "three-player", "four-player"):
        ours = CribbageVectorEnv(16, rules=rules, seat="all", reward=mine)
        theirs = CribbageVectorEnv(16, rules=rules, seat="all", reward="margin")
        choices = np.random.default_rng(0)
        _, infos = ours.reset(seed=1)
        theirs.reset(seed=1)
        for _ in range(150):
            cards = legal_cards(infos["action_mask"], choices)
            _, one, _, _, infos = ours.step(cards)
            _, two, _, _, other = theirs.step(cards)
            assert np.array_equal(one, two)
            assert np.array_equal(infos["rewards"], other["rewards"])


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
@pytest.mark.parametrize("opponent", ["medium", "random", make_bot("easy")])
def test_an_opponent_is_refused(make: Any, opponent: Any) -> None:
    with pytest.raises(InvalidRulesError, match="with all seats to decide for there is no opp"):
        make(ID, seat="all", opponent=opponent)


@pytest.mark.parametrize("seat", ["every", "", -1, 2, True, None])
def test_other_words_for_a_seat_are_refused(seat: Any) -> None:
    with pytest.raises(InvalidRulesError, match="seats go from 0 to 1, or all"):
        CribbageVectorEnv(2, seat=seat)


def test_checkers_pass_without_a_warning() -> None:
    from gymnasium.utils.env_checker import check_env

    for rules in PRESETS:
        check_env(gymnasium.make(ID, seat="all", rules=rules).unwrapped)
