"""The network as a player: for opponents, for matches, for export."""

from __future__ import annotations

import copy
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.policies import BasePolicy
from torch import Tensor, nn

from crib_agents.bot import BatchBot
from crib_env.rules import SIX_CARD, Rules

MASKED = -1e8
"""Logit of a card that may not be laid."""

Weights = dict[str, Tensor]
"""Parameters by name, of one network."""


def _copy(part: Tensor | nn.Module) -> nn.Module:
    assert isinstance(part, nn.Module)
    return copy.deepcopy(part)


class CardNet(nn.Module):
    """All of a policy that play needs, as one module, copied and frozen.

    Args:
        policy: a policy whose actor and critic share a trunk.
    """

    def __init__(self, policy: BasePolicy) -> None:
        super().__init__()
        self.trunk: nn.Module = _copy(policy.features_extractor)
        self.action_net: nn.Module = _copy(policy.action_net)
        self.value_net: nn.Module = _copy(policy.value_net)
        self.requires_grad_(False)
        self.eval()

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Judge decisions.

        Args:
            observation: float32 ``[B, D]``.
            action_mask: ``[B, 52]``, not 0 where a card may be laid.

        Returns:
            Logits float32 ``[B, 52]``, `MASKED` where a card may not be laid, and the
            reward to come in the deal, float32 ``[B]``.
        """
        features = self.trunk(observation)
        logits = torch.where(action_mask != 0, self.action_net(features), MASKED)
        return logits, self.value_net(features).squeeze(1)


def net_of(policy: BasePolicy) -> nn.Module:
    """All of a policy that play needs, copied and frozen.

    It takes observations and masks to logits and values, as `CardNet.forward` does.
    """
    net = getattr(policy, "net", None)
    if not isinstance(net, nn.Module):
        return CardNet(policy)
    return _copy(net).requires_grad_(False).eval()


def weights_of(policy: BasePolicy) -> Weights:
    """The parameters of a policy as they are now, copied."""
    return {name: value.clone() for name, value in policy.state_dict().items()}


def net_with(policy: BasePolicy, weights: Weights) -> nn.Module:
    """As `net_of`, for a policy of the same shape with other parameters."""
    own = weights_of(policy)  # policies hold tensors that cannot be copied: they lend their place
    try:
        policy.load_state_dict(weights)
        return net_of(policy)
    finally:
        policy.load_state_dict(own)


class NetPlayer(BatchBot):
    """Lays the card with the highest logit; of equals the lowest.

    Args:
        net: the network.
        name: what to call it.
        rules: the game that it plays.
    """

    def __init__(self, net: nn.Module, name: str = "self", rules: Rules = SIX_CARD) -> None:
        self.net = net
        self.name = name
        self.rules = rules

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        with torch.inference_mode():
            logits, _ = self.net(torch.from_numpy(observations), torch.from_numpy(masks))
        return cast(NDArray[np.int64], logits.numpy().argmax(1))


class Pool:
    """Past selves to train against.

    Args:
        size: how many are kept; the oldest go first.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.players: list[NetPlayer] = []

    def add(self, policy: BasePolicy) -> None:
        """Keep the policy as it is now."""
        self.players.append(NetPlayer(net_of(policy)))
        del self.players[: -self.size]

    def draw(self, number: int, random: np.random.Generator) -> list[NetPlayer]:
        """The newest, and others at random; some come twice while there are few."""
        if not number:
            return []
        places = random.integers(len(self.players), size=number - 1)
        return [self.players[-1], *(self.players[place] for place in places)]

    def weights(self) -> list[Weights]:
        """The parameters of all, oldest first."""
        return [player.net.state_dict() for player in self.players]

    def restore(self, weights: list[Weights], policy: BasePolicy) -> None:
        """Take up what `weights` gave; the policy gives the shape of the networks."""
        self.players = []
        for parameters in weights:
            net = net_of(policy)
            net.load_state_dict(parameters)
            self.players.append(NetPlayer(net))
