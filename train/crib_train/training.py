"""What every run of training does: checkpoints, measurements, curves, resuming.

A run goes from checkpoint to checkpoint. At each one everything that is drawn by
chance is seeded anew from the run's seed and the decisions so far, and all deals
are begun afresh, whether the run goes on or is taken up again later: a run that
was killed and resumed gives the same network, to the bit, as one that was not.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import HParam, Logger, configure
from torch import nn
from torch.distributions import Distribution

from crib_agents import make_bot
from crib_agents.bot import BatchBot
from crib_evaluate.match import play_match
from crib_train.checkpoint import Reign, Run, State, load_champion, load_checkpoint
from crib_train.players import NetPlayer, Pool, Weights, net_of, net_with, weights_of
from crib_train.settings import Settings

_EVALUATION_SEED = 20_240_121
"""Every measurement of every run plays the same shuffles, so that curves compare."""


Report = Callable[[int], None]
"""Told how far a run is, in its ``timesteps``."""
Stop = Callable[[], bool]
"""Asked whether to stop early."""


class Trainer(ABC):
    """A run in progress.

    Args:
        run: its folder, already begun.
        settings: as in the folder.
        report: told how far it is after each step of all deals.
        stop: asked after each step.
    """

    model: BaseAlgorithm
    """What learns; the subclass makes it."""

    def __init__(
        self,
        run: Run,
        settings: Settings,
        report: Report | None = None,
        stop: Stop | None = None,
    ) -> None:
        use_one_core()
        self.run = run
        self.settings = settings
        self.report = report or (lambda timesteps: None)
        self.stop = stop or (lambda: False)
        self.fixed = [make_bot(name, seed=settings.seed) for name in settings.fixed_opponents]
        self.pool = Pool(settings.pool_size)
        self.champion: Weights | None = None
        self.state = State(0, 0, 0.0)

    def resume(self) -> None:
        """Take up the run at its newest checkpoint; before the first, begin it.

        Raises:
            TrainingError: when the checkpoint is damaged.
        """
        if self.run.checkpoints():
            newest = self.run.newest()
            self.state = load_checkpoint(newest, self.model, self.pool)
            self.champion = load_champion(newest, self.model, self.state)

    @property
    def is_over(self) -> bool:
        """Whether all of the run has been trained."""
        return self.state.timesteps >= self.settings.timesteps

    def train(self) -> None:
        """Train to the end, or until told to stop; the last state is then a checkpoint.

        Raises:
            TrainingError: when another process trains this run.
        """
        left = self.settings.timesteps - self.state.timesteps
        if left > 0:
            with self.run.held():
                self._train(left)

    def _train(self, left: int) -> None:
        logger = configure(str(self.run.tensorboard), ["tensorboard"])
        self.model.set_logger(logger)
        try:
            if not self.state.timesteps:
                self.begin()
                log_settings(logger, self.settings)
            self.model.learn(left, _Checkpoints(self), reset_num_timesteps=False)
        finally:
            logger.close()

    def restart(self) -> None:
        """Seed everything from the run's seed and the decisions so far, and begin new deals."""
        sequence = np.random.SeedSequence([self.settings.seed, self.state.timesteps])
        for_torch, for_numpy, for_deals, for_pool = (
            int(word) for word in sequence.generate_state(4)
        )
        torch.manual_seed(for_torch)
        np.random.seed(for_numpy)  # SB3 shuffles its minibatches by NumPy's old generator
        self.begin_anew(for_deals, np.random.default_rng(for_pool))

    def begin(self) -> None:  # noqa: B027 - a fresh network is all that most need
        """Prepare what a run has only once, at its start."""

    @abstractmethod
    def begin_anew(self, seed: int, random: np.random.Generator) -> None:
        """Begin new deals from a seed, and draw opponents by ``random``."""

    def player(self, net: nn.Module, name: str) -> BatchBot:
        """A network as a player in matches."""
        return NetPlayer(net, name)

    def measure(self) -> dict[str, float]:
        """Play mirrored games against fixed players; win rates by name, and the log's entries."""
        me = self.player(net_of(self.model.policy), "trained")
        rates = {}
        for name in self.settings.evaluation_opponents:
            result = play_match(me, name, self.settings.evaluation_games, seed=_EVALUATION_SEED)
            mine = result.players[0]
            rates[name] = mine.win_rate.mean
            record = self.model.logger.record
            record(f"eval/win_rate_{name}", mine.win_rate.mean)
            record(f"eval/margin_{name}", mine.margin.mean)
            given = mine.skunks + mine.double_skunks
            taken = mine.skunks_taken + mine.double_skunks_taken
            record(f"eval/skunk_rate_{name}", given / result.games)
            record(f"eval/skunked_rate_{name}", taken / result.games)
        return rates

    def challenge(self) -> Reign | None:
        """Play the champion; whoever clearly beats it takes its place.

        Returns:
            Whose reign it is now.
        """
        policy = self.model.policy
        reign = self.state.champion
        won = None
        if self.champion is not None:
            champion = self.player(net_with(policy, self.champion), "champion")
            me = self.player(net_of(policy), "trained")
            games = self.settings.evaluation_games
            won = play_match(me, champion, games, seed=_EVALUATION_SEED).players[0].win_rate
            self.model.logger.record("eval/win_rate_champion", won.mean)
            if won.low is None or won.low <= 0.5:
                return reign
        self.champion = weights_of(policy)
        if won is None:
            return Reign(self.state.timesteps)
        return Reign(self.state.timesteps, won.mean, won.low, won.high)


class _Checkpoints(BaseCallback):
    """Saves, measures and restarts a run at every checkpoint, and stops it when asked."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self.trainer = trainer
        self.begun = time.monotonic() - trainer.state.seconds
        self.saved = trainer.state.timesteps if trainer.run.checkpoints() else -1
        self.restarted = False
        self.stopped = False

    def _on_rollout_start(self) -> None:
        trainer = self.trainer
        self._advance()
        due = trainer.state.updates % trainer.settings.checkpoint_updates == 0
        if due and trainer.state.timesteps != self.saved:
            self._checkpoint(measured=True)
        if due or not self.restarted:
            trainer.restart()
            self.restarted = True

    def _on_step(self) -> bool:
        self.trainer.report(self.num_timesteps)
        self.stopped = self.trainer.stop()
        return not self.stopped

    def _on_training_end(self) -> None:
        if self.stopped:  # amid the decisions of an update, which are dropped
            self.model.num_timesteps = self.trainer.state.timesteps
            self._checkpoint(measured=False)
        else:
            self._advance()
            self._checkpoint(measured=True)

    def _advance(self) -> None:
        """Note that the network is as `num_timesteps` have made it."""
        settings = self.trainer.settings
        timesteps = self.model.num_timesteps
        self.trainer.state = State(
            timesteps,
            timesteps // settings.update_size,
            time.monotonic() - self.begun,
            self.trainer.state.win_rates,
            self.trainer.state.champion,
        )

    def _checkpoint(self, measured: bool) -> None:
        trainer = self.trainer
        state = trainer.state
        rates, champion = state.win_rates, state.champion
        if measured:
            trainer.pool.add(trainer.model.policy)
            rates = trainer.measure()
            champion = trainer.challenge()
            self.logger.dump(state.timesteps)
        seconds = time.monotonic() - self.begun
        trainer.state = State(state.timesteps, state.updates, seconds, rates, champion)
        keep = trainer.settings.kept_checkpoints
        trainer.run.save(trainer.model, trainer.pool, trainer.champion, trainer.state, keep)
        self.saved = state.timesteps


def use_one_core() -> None:
    """One thread for torch, and no checks of distributions that cannot fail here.

    With a neighbour on the same cores a second thread makes these small networks many
    times slower. What goes into a distribution comes from our own network. Batches of
    self-play are of all sizes, and oneDNN keeps a program for each; with the 1,024 that it
    keeps unless told, to make room for the next took up to a quarter of the time.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # read at its first use
    torch.set_num_threads(1)
    Distribution.set_default_validate_args(False)


def log_settings(logger: Logger, settings: Settings) -> None:
    """Write every setting to TensorBoard: as text, and for comparison between runs."""
    lines = ["| setting | value |", "| --- | --- |"]
    plain: dict[str, Any] = {}
    for name, value in settings.to_json().items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        lines.append(f"| {name} | {shown} |")
        plain[name] = shown
    measures = {f"eval/win_rate_{name}": 0.0 for name in settings.evaluation_opponents}
    logger.record("settings", "\n".join(lines))
    logger.record("hparams", HParam(plain, measures or {"rollout/ep_rew_mean": 0.0}))
    logger.dump(0)
