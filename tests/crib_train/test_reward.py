"""The training reward: the change in the chance to win, without the luck of the show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import make_bot
from crib_agents.bot import encode
from crib_env import Game
from crib_env.game import Event
from crib_env.observation import POINT, split
from crib_env.rewards import Change, deal_shows
from crib_env.rules import SIX_CARD
from crib_env.sb3 import as_vec_env
from crib_env.state import EventKind
from crib_env.vector import CribbageVectorEnv
from crib_env.win_probability import win_probability
from crib_train.reward import DealReward, ExpectedShow, Scale

ENVS = 256
BOT = make_bot("easy")


class Recorder(DealReward):
    """Keeps the last change."""

    change: Change

    def __call__(self, change: Change) -> NDArray[np.float64]:
        self.change = change
        return super().__call__(change)


def make(clip: float = 1e9) -> tuple[Any, Recorder]:
    reward = Recorder(1.0, clip)
    deals = CribbageVectorEnv(ENVS, "medium", reward=reward, episode="deal")
    return ExpectedShow(as_vec_env(deals), reward), reward


def test_payments_of_a_deal_add_up() -> None:
    """Their sum is the change in P(win) by the worth of a point, less the show's luck."""
    env, reward = make()
    env.seed(11)
    observations = env.reset()
    paid = np.zeros(ENVS)
    expected = np.zeros(ENVS)
    checked = ended_games = 0
    for _ in range(25):
        masks = np.stack(env.env_method("action_masks")).astype(np.int8)
        cards = BOT.actions(observations, masks)
        pieces = split(observations, SIX_CARD)
        last = pieces["phase"][:, 1] > 0
        expected += np.where(last, pieces["points"][np.arange(ENVS), cards] / POINT, 0)
        observations, rewards, dones, infos = env.step(cards)
        paid += rewards
        change = reward.change
        shows = deal_shows(change.games[dones], SIX_CARD)
        for row, show in zip(np.flatnonzero(dones), shows, strict=True):
            own, other = change.deal_before[row]
            dealing = bool(change.dealer_before[row] == 0)
            before = win_probability(int(own), int(other), dealing)
            after_own, after_other = infos[row]["scores"]
            after = win_probability(int(after_own), int(after_other), not dealing)
            worth = reward.table.worth[int(dealing), own, other]
            share = reward.table.luck_share[int(dealing), own, other]
            luck = int(show[0] - show[1]) - expected[row]
            assert paid[row] == pytest.approx((after - before) / worth - share * luck, abs=1e-3)
            checked += 1
            ended_games += after in (0.0, 1.0)
        paid[dones] = expected[dones] = 0
    assert checked > 500
    assert ended_games > 20


def test_rewards_are_cut() -> None:
    free, _ = make()
    cut, _ = make(clip=3.0)
    assert cut.reward.clip == 3.0
    for env in (free, cut):
        env.seed(2)
    observations = free.reset()
    assert np.array_equal(cut.reset(), observations)
    worst = 0.0
    for _ in range(12):
        masks = np.stack(free.env_method("action_masks")).astype(np.int8)
        cards = BOT.actions(observations, masks)
        throwing = split(observations, SIX_CARD)["phase"][:, 1] > 0
        observations, rewards, _, _ = free.step(cards)
        _, fewer, _, _ = cut.step(cards)
        assert np.array_equal(
            np.clip(rewards, -3, 3)[~throwing].round(5), fewer[~throwing].round(5)
        )
        worst = max(worst, float(np.abs(rewards).max()))
    assert worst > 3


def shown(events: tuple[Event, ...], deal: int, seats: int = 2) -> list[int]:
    worth = [0] * seats
    for event in events:
        if event.deal == deal and event.kind in (EventKind.HAND, EventKind.CRIB):
            worth[event.seat] += event.worth
    return worth


def test_shows_are_what_the_game_counts() -> None:
    reward = Recorder(1.0, 1e9)
    deals = CribbageVectorEnv(1, BOT, reward=reward, episode="deal")
    for seed in range(40):
        deck = [int(card) for card in np.random.default_rng(seed).permutation(52)[:13]]
        deals.reset(seed=0)
        deals._episodes.reset_to(0, 0, deck, (0, 0))
        masks = deals.action_masks()
        observations, *_ = deals._episodes.look()
        over = np.array([False])
        while not over[0]:
            observations, _, over, _, infos = deals.step(BOT.actions(observations, masks))
            masks = infos["action_mask"]
        game = Game(deck=deck, dealer=0)
        while game.deal == 1:
            observation, mask = encode(game.view(game.to_act))
            game.apply(int(BOT.actions(observation[None], mask[None])[0]))
        assert deal_shows(reward.change.games, SIX_CARD)[0].tolist() == shown(game.events, 1)


def test_luck_of_the_show_does_not_depend_on_the_discard() -> None:
    """What is subtracted is on average what was paid before, whatever is thrown."""
    env, reward = make()
    env.seed(5)
    observations = env.reset()
    luck: dict[tuple[bool, bool], list[float]] = {}
    bonus = np.zeros(ENVS)
    odd = np.zeros(ENVS, np.bool_)
    random = np.random.default_rng(0)
    medium, fool = make_bot("medium"), make_bot("random")
    for _ in range(400):
        masks = np.stack(env.env_method("action_masks")).astype(np.int8)
        pieces = split(observations, SIX_CARD)
        odd = np.where(pieces["phase"][:, 0] > 0, random.random(ENVS) < 0.5, odd)
        cards = medium.actions(observations, masks)
        cards = np.where(odd, fool.actions(observations, masks), cards)
        last = pieces["phase"][:, 1] > 0
        bonus = np.where(last, pieces["points"][np.arange(ENVS), cards] / POINT, bonus)
        observations, _, dones, _ = env.step(cards)
        games = reward.change.games[dones]
        shows = deal_shows(games, SIX_CARD)
        dealt = reward.change.dealer_before[dones] == 0
        for dealing, foolish, gain in zip(
            dealt, odd[dones], shows[:, 0] - shows[:, 1] - bonus[dones], strict=True
        ):
            luck.setdefault((bool(dealing), bool(foolish)), []).append(float(gain))
    for dealing in (False, True):
        wise, foolish = (np.array(luck[dealing, kind]) for kind in (False, True))
        assert min(len(wise), len(foolish)) > 4000
        doubt = np.hypot(wise.std() / np.sqrt(len(wise)), foolish.std() / np.sqrt(len(foolish)))
        assert abs(wise.mean() - foolish.mean()) < 4 * doubt + 0.1


def test_a_point_is_worth_most_when_the_game_is_close_and_late() -> None:
    table = Scale()
    assert table.worth.shape == (2, 121, 121)
    assert table.worth.min() > 0
    assert table.worth[0, 110, 110] > 2 * table.worth[0, 0, 0]
    assert table.worth[1, 115, 10] < table.worth[1, 115, 112]
    assert table.luck_share[0, 0, 0] == 1
    assert table.luck_share[0, 115, 100] == 0
    assert ((table.luck_share >= 0) & (table.luck_share <= 1)).all()
    assert not Scale(luck_taken_out=0.0).luck_share.any()
