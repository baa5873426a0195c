"""The network before it has learned anything, and that it never lays what it may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from crib_env.batch import GameBatch
from crib_env.env import observation_space
from crib_env.observation import split
from crib_env.rules import SIX_CARD
from crib_env.sb3 import as_vec_env
from crib_env.vector import CribbageVectorEnv
from crib_evaluate.match import play_match
from crib_train.players import MASKED, CardNet, NetPlayer, Pool
from crib_train.policy import RankPolicy
from crib_train.ppo import make_model
from crib_train.settings import PPOSettings

SETTINGS = PPOSettings(envs=2, steps=2, batch_size=2, hidden=(32,))


@pytest.fixture(scope="module")
def policy() -> RankPolicy:
    torch.manual_seed(0)
    return RankPolicy(
        observation_space(SIX_CARD), spaces.Discrete(52), lambda _: 1e-3, hidden=(32,), weight=1.5
    )


def positions(number: int) -> tuple[Any, Any]:
    """Observations and masks of many decisions amid deals."""
    batch = GameBatch(number)
    random = np.random.default_rng(0)
    rows = batch.all_rows
    batch.start(rows, random.integers(0, 1 << 62, number), np.zeros(number, np.int64))
    batch.settle(rows)
    for _ in range(7):
        _, masks = batch.observe(rows, batch.to_act)
        batch.apply(rows, np.array([random.choice(np.flatnonzero(mask)) for mask in masks]))
    return batch.observe(rows, batch.to_act)


def test_untrained_it_lays_the_card_with_the_most_points(policy: RankPolicy) -> None:
    observations, masks = positions(300)
    player = NetPlayer(CardNet(policy))
    points = np.where(masks == 1, split(observations, SIX_CARD)["points"], -np.inf)
    chosen = player.actions(observations, masks)
    assert (points[np.arange(300), chosen] >= points.max(1) - 0.02).mean() > 0.99
    assert play_match(player, "random", 400).players[0].win_rate.mean > 0.95


def test_net_and_policy_agree(policy: RankPolicy) -> None:
    observations, masks = positions(300)
    net = CardNet(policy)
    with torch.inference_mode():
        logits, values = net(torch.from_numpy(observations), torch.from_numpy(masks))
        wanted = policy.predict_values(torch.from_numpy(observations))
    assert logits.shape == (300, 52)
    assert values.shape == (300,)
    assert torch.equal(values, wanted[:, 0])
    assert (logits.numpy()[masks == 0] == MASKED).all()
    assert (logits.numpy()[masks == 1] > -1e4).all()
    cards, _ = policy.predict(observations, deterministic=True, action_masks=masks.astype(bool))
    assert np.array_equal(cards, NetPlayer(net).actions(observations, masks))


def test_copies_are_frozen(policy: RankPolicy) -> None:
    net = CardNet(policy)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(1.0)
        for name, value in net.state_dict().items():
            assert torch.equal(value, before[name])
        for parameter in policy.parameters():
            parameter.sub_(1.0)
    assert not any(parameter.requires_grad for parameter in net.parameters())


def test_pool_keeps_the_newest_and_always_gives_it(policy: RankPolicy) -> None:
    pool = Pool(3)
    for _ in range(5):
        pool.add(policy)
    assert len(pool.players) == 3
    drawn = pool.draw(4, np.random.default_rng(0))
    assert len(drawn) == 4
    assert drawn[0] is pool.players[-1]
    assert pool.draw(0, np.random.default_rng(0)) == []
    twin = Pool(3)
    twin.restore(pool.weights(), policy)
    observations, masks = positions(50)
    for ours, theirs in zip(pool.players, twin.players, strict=True):
        assert np.array_equal(
            ours.actions(observations, masks), theirs.actions(observations, masks)
        )


@pytest.mark.parametrize("deterministic", [True, False])
def test_masks_are_honoured(deterministic: bool) -> None:
    """200 whole games through sb3-contrib's own `predict`, and no card was illegal."""
    deals = CribbageVectorEnv(50, "random", illegal_action="raise")
    env = as_vec_env(deals)
    model = make_model(SETTINGS, as_vec_env(CribbageVectorEnv(2, "random")))
    env.seed(3)
    observations: Any = env.reset()
    games = 0
    while games < 200:
        masks = env.action_masks()
        cards, _ = model.predict(observations, deterministic=deterministic, action_masks=masks)
        assert masks[np.arange(50), cards].all()
        observations, _, dones, _ = env.step(cards)
        games += int(dones.sum())
