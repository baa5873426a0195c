"""Which trainer goes with which settings."""

from __future__ import annotations

from pathlib import Path

from sb3_contrib import MaskablePPO

from crib_train import ppo
from crib_train.checkpoint import Run, State, load_checkpoint
from crib_train.players import Pool
from crib_train.selfplay import trainer as selfplay
from crib_train.selfplay.algorithm import SelfPlay
from crib_train.settings import PPOSettings, SelfPlaySettings, Settings
from crib_train.training import Trainer


def make_trainer(run: Run, settings: Settings) -> Trainer:
    """The trainer of a run."""
    if isinstance(settings, PPOSettings):
        return ppo.PPOTrainer(run, settings)
    assert isinstance(settings, SelfPlaySettings)
    return selfplay.SelfPlayTrainer(run, settings)


def load_model(run: Run, checkpoint: Path) -> tuple[MaskablePPO | SelfPlay, State]:
    """The learner as a checkpoint left it.

    Raises:
        TrainingError: when the run or the checkpoint cannot be used.
    """
    settings = run.settings()
    model: MaskablePPO | SelfPlay
    if isinstance(settings, PPOSettings):
        model = ppo.small_model(settings)
    else:
        assert isinstance(settings, SelfPlaySettings)
        model = selfplay.small_model(settings)
    return model, load_checkpoint(checkpoint, model, Pool(settings.pool_size))
