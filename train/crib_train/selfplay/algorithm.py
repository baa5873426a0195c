"""`SelfPlay`: the trainer of `AfterstateNet`, on the frame of Stable-Baselines3.

Monte Carlo, not bootstrapping: every choice is told what the deal really brought.
What is exact is left out of the target (the points of the card itself, all shows),
so the noise is that of the play alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import GymEnv, MaybeCallback, Schedule
from stable_baselines3.common.utils import FloatSchedule
from torch import Tensor
from torch.nn import functional

from crib_agents.bot import BatchBot
from crib_env import state as S
from crib_env.cards import N_CARDS, iterate
from crib_env.engine import legal
from crib_env.observation import offsets, recall
from crib_env.rules import SIX_CARD
from crib_train.selfplay.deals import Lessons, Table
from crib_train.selfplay.heads import MIXED, PEGS, Sight
from crib_train.selfplay.network import AfterstateNet
from crib_train.selfplay.shows import DEALT, Pieces, ascending

Guests = Callable[[np.random.Generator], BatchBot | None]
"""Draws the other player of a round, or none."""
_DISCARD_SCALE = 0.02
"""Squared points are large beside nats."""


class AfterstatePolicy(BasePolicy):
    """Lays the best card by an `AfterstateNet`.

    Args:
        observation_space, action_space, lr_schedule: as for every policy.
        play_hidden, show_hidden, discard_hidden: widths of the hidden layers.
        kwargs: what else the algorithm hands to a policy.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        play_hidden: tuple[int, ...],
        show_hidden: tuple[int, ...],
        discard_hidden: tuple[int, ...],
        **kwargs: Any,
    ) -> None:
        kwargs.pop("use_sde", None)
        super().__init__(observation_space, action_space, **kwargs)
        self._widths = {
            "play_hidden": play_hidden,
            "show_hidden": show_hidden,
            "discard_hidden": discard_hidden,
        }
        self.net = AfterstateNet(**self._widths)
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        return {**data, **self._widths, "lr_schedule": lambda _: 0.0}

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values, see `AfterstateNet`."""
        return self.net(observation, action_mask)

    def _predict(self, observation: Any, deterministic: bool = False) -> Tensor:
        """The best cards of those held that fit the count."""
        return self.choose(observation, self.legal(observation), deterministic)

    def choose(self, observation: Tensor, action_mask: Tensor, deterministic: bool) -> Tensor:
        """Cards, int64 ``[B]``: the best, or drawn with a point's worth as temperature."""
        logits, _ = self.net(observation, action_mask)
        if deterministic:
            return logits.argmax(1)
        return torch.multinomial(logits.softmax(1), 1).squeeze(1)

    @staticmethod
    def legal(observation: Tensor) -> Tensor:
        """Masks int8 ``[B, 52]`` as the engine has them, for callers that hand in none."""
        masks = np.zeros((len(observation), N_CARDS), np.int8)
        game = np.zeros(S.STATE_SIZE, np.int64)
        for seen, mask in zip(observation.numpy(), masks, strict=True):
            recall(seen, SIX_CARD.to_array(), offsets(SIX_CARD), game)
            mask[list(iterate(int(legal(game))))] = 1
        return torch.from_numpy(masks)


class SelfPlay(BaseAlgorithm):
    """Trains on rounds of self-played deals.

    Args:
        policy: `AfterstatePolicy`, or its parameters' way to it.
        env: a bridged `CribbageVectorEnv`; it tells the spaces. The deals are played by
            `Table`, whole batches in step.
        learning_rate: of Adam, a number or a schedule.
        deals: in a round; each round is an update.
        batch_size: choices in a minibatch.
        late: share of deals that begin late in the game.
        guests: share of deals in which another player has one seat.
        twins: share of deals that are played once more with the second best card, see `Table`.
        mishaps: share of the network's choices that are made by chance, a number or a schedule.
        mean_weight: weight of the error of the mean beside that of the distribution.
        draw_guest: the other player of a round, or None; given the round's generator.
        kwargs: as for every algorithm: ``seed``, ``verbose``, ``policy_kwargs``.
    """

    policy: AfterstatePolicy

    def __init__(
        self,
        policy: type[AfterstatePolicy],
        env: GymEnv | None,
        learning_rate: float | Schedule = 1e-3,
        *,
        deals: int = 4096,
        batch_size: int = 1024,
        late: float = 0.3,
        guests: float = 0.25,
        twins: float = 0.5,
        mishaps: float | Schedule = 0.05,
        mean_weight: float = 0.05,
        draw_guest: Guests | None = None,
        device: str = "cpu",
        _init_setup_model: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            policy, env, learning_rate, device=device, support_multi_env=True, **kwargs
        )
        self.deals = deals
        self.batch_size = batch_size
        self.late = late
        self.guests = guests
        self.twins = twins
        self.mishaps = FloatSchedule(mishaps)
        self.mean_weight = mean_weight
        self.draw_guest = draw_guest
        if _init_setup_model:
            self._setup_model()

    def _setup_model(self) -> None:
        self._setup_lr_schedule()
        self.table = Table(self.deals, self.late, self.guests, self.twins)
        self.random = np.random.default_rng(self.seed)
        self.set_random_seed(self.seed)
        policy = self.policy_class(
            self.observation_space, self.action_space, self.lr_schedule, **self.policy_kwargs
        )
        assert isinstance(policy, AfterstatePolicy)
        self.policy = policy

    def _excluded_save_params(self) -> list[str]:
        own = ["table", "random", "draw_guest"]
        return [*super()._excluded_save_params(), *own]

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        return ["policy", "policy.optimizer"], []

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 1,
        tb_log_name: str = "SelfPlay",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Train for so many deals, rounded up to whole rounds."""
        total, told = self._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        told.on_training_start(locals(), globals())
        while self.num_timesteps < total:
            told.on_rollout_start()
            self._update_current_progress_remaining(self.num_timesteps, total)
            left = self._current_progress_remaining
            guest = None if self.draw_guest is None else self.draw_guest(self.random)
            lessons = self.table.play(self.policy.net, guest, self.mishaps(left), self.random)
            self.num_timesteps += self.deals
            if not told.on_step():
                break
            told.on_rollout_end()
            self.train(lessons)
        told.on_training_end()
        return self

    def train(self, lessons: Lessons) -> None:
        """One pass over what the deals taught."""
        self._update_learning_rate(self.policy.optimizer)
        play = self.random.permutation(len(lessons.cards))
        discards = self.random.permutation(len(lessons.pairs))
        steps = max(1, len(play) // self.batch_size)
        losses = []
        for some, few in zip(
            np.array_split(play, steps), np.array_split(discards, steps), strict=True
        ):
            with torch.autocast("cpu", torch.bfloat16):
                sight = Sight(Pieces(torch.from_numpy(lessons.play[some])))
                of_play, of_mean = self._play_loss(sight, lessons, some)
                of_shows = self._show_loss(sight, lessons, some)
                of_discard = self._discard_loss(lessons, few)
            loss = of_play + self.mean_weight * of_mean + of_shows + _DISCARD_SCALE * of_discard
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.policy.optimizer.step()
            losses.append([part.item() for part in (of_play, of_mean, of_shows, of_discard)])
        means = np.mean(losses, 0)
        names = ("play", "net_points", "shows", "discard")
        for name, value in zip(names, means, strict=True):
            self.logger.record_mean(f"train/{name}_loss", float(value))

    def _play_loss(
        self, sight: Sight, lessons: Lessons, some: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the points to come in nats, and the squared error of their lead."""
        cards = torch.from_numpy(lessons.cards[some]).unsqueeze(1)
        told = torch.from_numpy(lessons.pegs[some])
        log = self.policy.net.play(sight, cards).squeeze(1)
        places = told.reshape(-1, 1, 2, 1).expand(-1, MIXED, 2, 1)
        nats = -log.gather(3, places).sum((2, 3)).logsumexp(1).mean()
        own, other = log.exp().unbind(2)  # [B, 4, 16]
        points = torch.arange(PEGS)
        lead = ((own * points).sum(2) - own.sum(2) * (other * points).sum(2)).sum(1)
        return nats, (lead - (told[:, 0] - told[:, 1])).square().mean()

    def _show_loss(self, sight: Sight, lessons: Lessons, some: NDArray[np.int64]) -> Tensor:
        """Cross-entropy of what the other's hand and the crib show, in nats."""
        log = self.policy.net.show(sight)
        told = torch.from_numpy(lessons.shows[some])
        return functional.nll_loss(log.flatten(0, 1), told.flatten(), reduction="mean") * 2

    def _discard_loss(self, lessons: Lessons, few: NDArray[np.int64]) -> Tensor:
        """Squared error of what a discard brought beyond the exact part, in points.

        The heads guess what is beyond the usual; the usual points of the play are set aside.
        """
        pieces = Pieces(torch.from_numpy(lessons.discards[few]))
        six = ascending(pieces["hand"], DEALT)
        guess = self.policy.net.discard(pieces, six)
        pairs = torch.from_numpy(lessons.pairs[few])
        chosen = guess[torch.arange(len(few)), pairs]
        usual = self.policy.net.usual[:2, (pieces["dealer"][:, 0] > 0).long()].T
        told = torch.from_numpy(lessons.beyond[few]) - functional.pad(usual, (0, 1))
        return (chosen - told).square().sum(1).mean()

    def predict(  # type: ignore[override]
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Cards for observations ``[B, D]`` (or one, ``[D]``), as MaskablePPO's `predict`."""
        seen = torch.as_tensor(np.atleast_2d(observation))
        masks = (
            self.policy.legal(seen)
            if action_masks is None
            else torch.as_tensor(np.atleast_2d(action_masks))
        )
        with torch.inference_mode():
            cards = self.policy.choose(seen, masks, deterministic).numpy()
        return (cards if np.ndim(observation) == 2 else cards[0]), state
