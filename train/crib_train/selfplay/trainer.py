"""A run of `SelfPlay`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from stable_baselines3.common.utils import LinearSchedule
from torch import nn

from crib_agents import make_bot
from crib_agents.bot import BatchBot
from crib_env.sb3 import as_vec_env
from crib_env.vector import CribbageVectorEnv
from crib_train.checkpoint import Run
from crib_train.selfplay.algorithm import AfterstatePolicy, SelfPlay
from crib_train.selfplay.chances import TARGET, make_chances, measure
from crib_train.selfplay.network import AfterstateNet
from crib_train.selfplay.player import KernelPlayer
from crib_train.settings import SelfPlaySettings
from crib_train.training import Report, Stop, Trainer


class SelfPlayTrainer(Trainer):
    """A run of self-play, see `Trainer`."""

    settings: SelfPlaySettings
    model: SelfPlay

    def __init__(
        self,
        run: Run,
        settings: SelfPlaySettings,
        report: Report | None = None,
        stop: Stop | None = None,
    ) -> None:
        super().__init__(run, settings, report, stop)
        self.model = make_model(settings)
        self.model.draw_guest = self._draw_guest

    def begin(self) -> None:
        """Make the tables of chances from the deals of a fixed player."""
        settings = self.settings
        player = make_bot(settings.chances_from, seed=settings.seed)
        assert isinstance(player, BatchBot)
        self._measure_chances(player, settings.seed)

    def begin_anew(self, seed: int, random: np.random.Generator) -> None:
        """Draw deals, mishaps and guests from a seed on, now and then by new tables of chances."""
        if self._chances_are_due():
            self._measure_chances(KernelPlayer(self.model.policy.net), seed)
        self.model.random = np.random.default_rng(seed)

    def player(self, net: nn.Module, name: str) -> BatchBot:
        """The quick form of the network, as in training."""
        assert isinstance(net, AfterstateNet)
        return KernelPlayer(net, name)

    def _chances_are_due(self) -> bool:
        """Whether this is the first checkpoint after so many updates."""
        updates, step = self.state.updates, self.settings.checkpoint_updates
        every = self.settings.chance_updates
        return updates % step == 0 and updates // every > max(0, updates - step) // every

    def _measure_chances(self, player: BatchBot, seed: int) -> None:
        settings = self.settings
        chances = make_chances(*measure(player, settings.chance_deals, seed, settings.skunk))
        net = self.model.policy.net
        before = net.ends.shown.clone()
        net.set_chances(chances)
        moved = (net.ends.shown - before)[:, :TARGET, :TARGET].abs()
        self.model.logger.record("chances/moved", float(moved.mean()))
        self.model.logger.record("chances/moved_most", float(moved.max()))

    def _draw_guest(self, random: np.random.Generator) -> BatchBot | None:
        """A fixed player or a past self."""
        fixed = self.fixed and random.random() < self.settings.fixed_guests
        if self.pool.players and not fixed:
            past = self.pool.players[random.integers(len(self.pool.players))]
            return self.player(past.net, past.name)
        if not self.fixed:
            return None
        guest = self.fixed[random.integers(len(self.fixed))]
        assert isinstance(guest, BatchBot)
        return guest


def make_model(settings: SelfPlaySettings) -> SelfPlay:
    """The learner with a fresh network."""
    return SelfPlay(
        AfterstatePolicy,
        as_vec_env(CribbageVectorEnv(1, "random", episode="deal")),
        learning_rate=LinearSchedule(settings.learning_rate, settings.final_learning_rate, 1.0),
        deals=settings.deals,
        batch_size=settings.batch_size,
        late=settings.late,
        guests=settings.guests,
        twins=settings.twins,
        mishaps=LinearSchedule(settings.mishaps, settings.final_mishaps, 1.0),
        mean_weight=settings.mean_weight,
        seed=settings.seed,
        policy_kwargs={
            "play_hidden": settings.play_hidden,
            "show_hidden": settings.show_hidden,
            "discard_hidden": settings.discard_hidden,
        },
    )


def small_model(settings: SelfPlaySettings) -> SelfPlay:
    """The learner with a table for few deals, to load a checkpoint into."""
    return make_model(replace(settings, deals=16))
