"""A run's folder and its checkpoints, each whole or not there at all.

::

    RUN/config.json                       how the run began
    RUN/tensorboard/                      its curves
    RUN/checkpoints/000001310720/         after so many decisions or deals
        model.zip                         what the algorithm's `load` reads, optimizer and all
        pool.pt                           the past selves
        champion.pt                       the policy of the champion
        state.json                        decisions, updates, seconds, win rates
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from crib_train.errors import TrainingError
from crib_train.players import Pool, Weights, net_with
from crib_train.settings import Settings, settings_from_json

_FORMAT = 1
_CHAMPION = "champion.pt"
_NOT_SAVED = ("_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer")
"""Parts of a model that belong to its environment: a run begins new deals at a checkpoint."""


@dataclass(frozen=True)
class Reign:
    """Since when a champion is champion, and how it beat the one before.

    Attributes:
        timesteps: of its training.
        win_rate: against the champion before, in mirrored games; None for the first.
        low, high: the interval of that, of 95 %.
    """

    timesteps: int
    win_rate: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class State:
    """Where a run stands.

    Attributes:
        timesteps: decisions, or deals in self-play, trained for.
        updates: updates made.
        seconds: time spent training, evaluations included.
        win_rates: against fixed players, when last measured.
        champion: the past self that no later one has clearly beaten.
    """

    timesteps: int
    updates: int
    seconds: float
    win_rates: dict[str, float] = field(default_factory=dict)
    champion: Reign | None = None


@dataclass(frozen=True)
class Config:
    """How a run began.

    Attributes:
        settings: all of them.
        command: that began it.
        preset: whose settings it began from.
        versions: of what computed it.
        machine: where it ran.
        format: version of the run's files.
    """

    settings: dict[str, Any]
    command: str
    preset: str
    versions: dict[str, str]
    machine: dict[str, str]
    format: int = _FORMAT


class Run:
    """A run's folder.

    Args:
        folder: where it is, or shall be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tensorboard = folder / "tensorboard"
        self._checkpoints = folder / "checkpoints"
        self._config_file = folder / "config.json"

    def begin(self, config: Config) -> None:
        """Make the folder, under a temporary name first.

        Raises:
            TrainingError: when it is already there.
        """
        if self.folder.exists():
            raise TrainingError(
                f"{self.folder} is already there: choose another --output, or go on with it by "
                f"--resume {self.folder}"
            )
        part = self.folder.with_name(f".{self.folder.name}.{os.getpid()}.tmp")
        part.mkdir(parents=True)
        (part / self._config_file.name).write_text(json.dumps(asdict(config), indent=2) + "\n")
        part.rename(self.folder)

    def config(self) -> Config:
        """How the run began.

        Raises:
            TrainingError: when the folder holds no run, or one of another version.
        """
        try:
            config = msgspec.json.decode(self._config_file.read_bytes(), type=Config)
        except FileNotFoundError:
            raise TrainingError(f"{self.folder} is not the folder of a run") from None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise TrainingError(f"{self._config_file} is damaged: {error}") from None
        if config.format != _FORMAT:
            raise TrainingError(
                f"{self.folder} is a run of format {config.format}; this version reads {_FORMAT}"
            )
        return config

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from training this run; it ends with this one, however that ends.

        Raises:
            TrainingError: when another process has it.
        """
        with self._config_file.open("rb") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise TrainingError(
                        f"{self.folder} is being trained by another process"
                    ) from None
            yield

    def settings(self) -> Settings:
        """The settings of the run."""
        config = self.config()
        return settings_from_json(config.preset, config.settings)

    def checkpoints(self) -> list[Path]:
        """The checkpoints, oldest first."""
        if not self._checkpoints.is_dir():
            return []
        return sorted(path for path in self._checkpoints.iterdir() if path.name.isdigit())

    def holds(self, checkpoint: Path) -> bool:
        """Whether a folder is one of this run's checkpoints."""
        return checkpoint.resolve().parent == self._checkpoints.resolve()

    def newest(self) -> Path:
        """The newest checkpoint.

        Raises:
            TrainingError: when there is none yet.
        """
        self.config()
        found = self.checkpoints()
        if not found:
            raise TrainingError(f"{self.folder} has no checkpoint yet")
        return found[-1]

    def save(
        self,
        model: BaseAlgorithm,
        pool: Pool,
        champion: Weights | None,
        state: State,
        keep: int,
    ) -> Path:
        """Write a checkpoint under a temporary name, move it to its place, drop old ones."""
        self._checkpoints.mkdir(exist_ok=True)
        for leftover in self._checkpoints.glob(".*.tmp"):
            shutil.rmtree(leftover)
        place = self._checkpoints / f"{state.timesteps:012d}"
        part = self._checkpoints / f".{place.name}.tmp"
        part.mkdir()
        model.save(part / "model.zip", exclude=_NOT_SAVED)
        write_tensors(pool.weights(), part / "pool.pt")
        if champion is not None:
            write_tensors(champion, part / _CHAMPION)
        (part / "state.json").write_text(json.dumps(asdict(state), indent=2) + "\n")
        if place.exists():  # after a resume from this very checkpoint: it is the same
            shutil.rmtree(part)
        else:
            part.rename(place)
        for old in self.checkpoints()[:-keep]:
            shutil.rmtree(old)
        return place


def write_tensors(tensors: object, path: Path) -> None:
    """Write what `torch.load` reads.

    Raises:
        OSError: when the disk is full, where torch itself raises something of its own.
    """
    data = io.BytesIO()
    torch.save(tensors, data)
    path.write_bytes(data.getbuffer())


def _unfit(checkpoint: Path, error: Exception) -> TrainingError:
    what = " ".join(str(error).split())[:120]
    return TrainingError(f"checkpoint {checkpoint} is damaged, or of another network: {what}")


def load_checkpoint(checkpoint: Path, model: BaseAlgorithm, pool: Pool) -> State:
    """Put a model and its past selves where a checkpoint left them.

    Only numbers are read, never pickled code.

    Raises:
        TrainingError: when the checkpoint is damaged, or of another network.
    """
    try:
        state = msgspec.json.decode((checkpoint / "state.json").read_bytes(), type=State)
        with (checkpoint / "model.zip").open("rb") as file:
            model.set_parameters(file, device="cpu")  # type: ignore[arg-type]  # it takes files
        pool.restore(torch.load(checkpoint / "pool.pt", weights_only=True), model.policy)
    except FileNotFoundError as error:
        raise TrainingError(f"checkpoint {checkpoint} lacks {Path(error.filename).name}") from None
    except Exception as error:  # torch and zipfile raise anything over damaged files
        raise _unfit(checkpoint, error) from None
    model.num_timesteps = state.timesteps
    model._n_updates = state.updates * getattr(model, "n_epochs", 1)
    return state


def load_champion(checkpoint: Path, model: BaseAlgorithm, state: State) -> Weights | None:
    """The parameters of the champion's policy, None before the first.

    Args:
        checkpoint: its folder.
        model: takes them.
        state: the checkpoint's.

    Raises:
        TrainingError: when they are missing, damaged, or of another network.
    """
    if state.champion is None:
        return None
    path = checkpoint / _CHAMPION
    try:
        weights: Weights = torch.load(path, weights_only=True)
        net_with(model.policy, weights)
    except FileNotFoundError:
        raise TrainingError(f"checkpoint {checkpoint} lacks {_CHAMPION}") from None
    except Exception as error:  # torch and zipfile raise anything over damaged files
        raise _unfit(checkpoint, error) from None
    return weights
