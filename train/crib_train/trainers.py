"""Which trainer goes with which settings."""

from __future__ import annotations

from pathlib import Path

from sb3_contrib import MaskablePPO

from crib_train import ppo
from crib_train.checkpoint import Run, State, load_champion, load_checkpoint
from crib_train.errors import TrainingError
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


def load_model(
    run: Run, checkpoint: Path, champion: bool = False
) -> tuple[MaskablePPO | SelfPlay, State]:
    """The learner as a checkpoint left it, or with the champion's network.

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
    state = load_checkpoint(checkpoint, model, Pool(settings.pool_size))
    if champion:
        weights = load_champion(checkpoint, model, state)
        if weights is None:
            raise TrainingError(f"checkpoint {checkpoint} has no champion")
        model.policy.load_state_dict(weights)
    return model, state
