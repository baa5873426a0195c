"""The network: a small policy that thinks in ranks and starts from points in the hand.

What is already counted for it in the observation (`crib_env.observation`, piece
``points``) goes straight to the logits, times a learned weight: the untrained
network plays greedily, and what it learns is the rest. In the play suits mean
nothing and in the discard they are counted in ``points``, so the trunk sees
ranks alone: suits are folded away, and one logit serves the four cards of a rank.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from crib_env.cards import N_CARDS, RANKS, SUITS
from crib_env.observation import POINT, layout
from crib_env.rules import SIX_CARD, Rules

_BY_CARD = ("hand", "thrown", "laid")
"""Pieces with a place for each card (and seat), seen rank by rank."""
_APART = (*_BY_CARD, "starter", "points")
"""Pieces that the trunk does not take as they are."""
_PLAYING = 2
"""Place in the piece ``phase`` of the play."""
_NOT_HELD = -8.0
"""Below every entry of ``points``."""


def _by_rank(cards: Tensor) -> Tensor:
    """Suits on an axis of their own: ``[B, 13 * n, 4]`` from ``[B, 52 * n]``."""
    return cards.reshape(-1, cards.shape[1] // len(SUITS), len(SUITS))


class RankTrunk(BaseFeaturesExtractor):
    """Folds an observation into ranks and passes it through the hidden layers.

    The output holds the hidden units ``[B, H]``, then each card's points (as they
    are in the observation) for the discard and for the play, 0 in the other phase:
    ``[B, H + 52 + 52]``.

    Args:
        observation_space: of the environment.
        hidden: widths of the hidden layers.
        rules: the game.
    """

    def __init__(
        self, observation_space: spaces.Box, hidden: tuple[int, ...], rules: Rules = SIX_CARD
    ) -> None:
        super().__init__(observation_space, hidden[-1] + 2 * N_CARDS)
        self.units = hidden[-1]
        self.places = {
            piece.name: slice(piece.offset, piece.offset + piece.length) for piece in layout(rules)
        }
        (size,) = observation_space.shape
        widths = [self.fold(torch.zeros(1, size)).shape[1], *hidden]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def fold(self, observations: Tensor) -> Tensor:
        """Ranks in place of cards: float32 ``[B, F]`` from ``[B, D]``."""
        pieces = {name: observations[:, place] for name, place in self.places.items()}
        parts = [piece for name, piece in pieces.items() if name not in _APART]
        for name in _BY_CARD:
            parts.append(_by_rank(pieces[name]).sum(2))
        parts.append(pieces["starter"][:, : len(RANKS)])
        held = torch.where(pieces["hand"] > 0, pieces["points"], _NOT_HELD)
        parts.append(held.amax(1, keepdim=True))
        parts.append(_by_rank(pieces["points"]).amax(2))
        return torch.cat(parts, 1)

    def forward(self, observations: Tensor) -> Tensor:
        """Hidden units and points by phase, see the class."""
        points = observations[:, self.places["points"]]
        playing = observations[:, self.places["phase"]][:, _PLAYING : _PLAYING + 1]
        hidden = self.layers(self.fold(observations))
        return torch.cat([hidden, points * (1 - playing), points * playing], 1)


class CardHead(nn.Module):
    """Logits of the 52 cards: one a rank from the hidden units, plus weighted points.

    Args:
        units: hidden units.
        weight: logits that a point is worth before training.
    """

    def __init__(self, units: int, weight: float) -> None:
        super().__init__()
        self.units = units
        self.ranks = nn.Linear(units, len(RANKS))
        self.weights = nn.Parameter(torch.full((2,), weight))

    def forward(self, features: Tensor) -> Tensor:
        """Float32 ``[B, 52]`` from the output of `RankTrunk`."""
        hidden = features[:, : self.units]
        discard = features[:, self.units : self.units + N_CARDS]
        play = features[:, self.units + N_CARDS :]
        ranks = self.ranks(hidden).repeat_interleave(len(SUITS), 1)
        return ranks + self.weights[0] / POINT * discard + self.weights[1] / POINT * play


class ValueHead(nn.Module):
    """The reward to come, from the hidden units.

    Args:
        units: hidden units.
    """

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.linear = nn.Linear(units, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Float32 ``[B, 1]`` from the output of `RankTrunk`."""
        return self.linear(features[:, : self.units])


class RankPolicy(MaskableActorCriticPolicy):
    """Actor and critic on one `RankTrunk`; what PPO trains.

    Args:
        observation_space, action_space, lr_schedule: as for every policy.
        hidden: widths of the hidden layers.
        weight: logits that a point is worth before training.
        kwargs: what else the algorithm hands to a policy.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        hidden: tuple[int, ...],
        weight: float,
        **kwargs: Any,
    ) -> None:
        self._weight = weight
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            features_extractor_class=RankTrunk,
            features_extractor_kwargs={"hidden": hidden},
            net_arch=[],
            **kwargs,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        self._build_mlp_extractor()  # of no layers: the trunk has them all
        trunk = self.features_extractor
        assert isinstance(trunk, RankTrunk)
        head = CardHead(trunk.units, self._weight)
        value = ValueHead(trunk.units)
        for module, gain in ((trunk, sqrt(2)), (head, 0.01), (value, 1.0)):
            module.apply(partial(self.init_weights, gain=gain))
        self.action_net = head
        self.value_net = value  # type: ignore[assignment]
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        for name in ("features_extractor_class", "net_arch"):
            del data[name]
        hidden = data.pop("features_extractor_kwargs")["hidden"]
        return {**data, "hidden": hidden, "weight": self._weight}
