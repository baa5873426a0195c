"""The settings of a run: one dataclass, and named presets of it.

No torch here: the command line lists the settings without loading it.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

import msgspec

from crib_agents import bot_names
from crib_train.errors import TrainingError


def _all_wide(widths: tuple[int, ...]) -> bool:
    return all(1 <= width <= 4096 for width in widths)


@dataclass(frozen=True)
class Settings:
    """What every run has. Equal settings on equal software give equal networks.

    Attributes:
        seed: of everything drawn by chance.
        timesteps: decisions (in self-play deals) to train for, rounded up to whole updates.
        batch_size: decisions in a minibatch.
        learning_rate: of Adam at the start; falls linearly.
        final_learning_rate: of Adam at the end.
        fixed_opponents: players that are always among the opponents.
        pool_size: past selves kept to draw from; the oldest go first.
        checkpoint_updates: updates between two checkpoints, each a new past self.
        kept_checkpoints: checkpoints kept on disk.
        evaluation_games: games against each fixed player at a checkpoint.
        evaluation_opponents: the fixed players that measure progress.
    """

    algorithm: ClassVar[str] = ""
    """What trains, for people."""
    unit: ClassVar[str] = "decisions"
    """What ``timesteps`` counts."""

    seed: int = 0
    timesteps: int = 2_000_000
    batch_size: int = 4096
    learning_rate: float = 6e-3
    final_learning_rate: float = 1e-4
    fixed_opponents: tuple[str, ...] = ("medium", "medium", "random")
    pool_size: int = 20
    checkpoint_updates: int = 20
    kept_checkpoints: int = 3
    evaluation_games: int = 1000
    evaluation_opponents: tuple[str, ...] = ("random", "medium")

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float | int) and not isinstance(value, bool):
                low, high = _RANGES.get(field.name, (1, 10**12))
                if not low <= value <= high:
                    raise TrainingError(f"{field.name} goes from {low:g} to {high:g}, not {value}")
            elif field.name.endswith("hidden") and not (value and _all_wide(value)):
                raise TrainingError(f"{field.name} layers are 1 to 4096 units wide, not {value}")
        for name in self._players():
            if name not in bot_names():
                raise TrainingError(f"no player {name!r}: there are {', '.join(bot_names())}")

    def _players(self) -> tuple[str, ...]:
        return (*self.fixed_opponents, *self.evaluation_opponents)

    @property
    def update_size(self) -> int:
        """How far an update brings a run, in ``timesteps``."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Every setting by name, ready for `json.dumps`."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Settings from `to_json`.

        Raises:
            TrainingError: for a setting that is missing, unknown or of the wrong kind.
        """
        known = {field.name for field in fields(cls)}
        names = set(data) if isinstance(data, dict) else set()
        if names != known:
            odd = [f"no {name}" for name in sorted(known - names)]
            odd += [f"unknown {name}" for name in sorted(str(name) for name in names - known)]
            raise TrainingError(f"these are not the settings of this version: {', '.join(odd)}")
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise TrainingError(f"bad settings: {error}") from None


@dataclass(frozen=True)
class PPOSettings(Settings):
    """A run of MaskablePPO.

    Attributes:
        envs: deals played side by side.
        steps: decisions in each of them between two updates.
        epochs: passes over the decisions of an update.
        gae_lambda: how far an advantage looks beyond the value function, 0 to 1.
        clip_range: how far an update may move the odds of a choice.
        entropy: reward for staying undecided, per nat.
        value_weight: weight of the value function's loss.
        max_grad_norm: gradients are cut to this norm.
        hidden: widths of the hidden layers.
        points_weight: logits that a point is worth to the untrained network.
        reward_scale: reward for as much win probability as one point is worth.
        reward_clip: rewards of a step are cut to this many points' worth.
        luck_taken_out: how much of the luck of the show is taken out of rewards, 0 to 1.
        past_selves: places among the opponents for past selves; one has the newest.
    """

    algorithm = "MaskablePPO"

    envs: int = 1024
    steps: int = 16
    epochs: int = 3
    gae_lambda: float = 0.7
    clip_range: float = 0.2
    entropy: float = 0.02
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    hidden: tuple[int, ...] = (192, 192)
    points_weight: float = 1.5
    reward_scale: float = 0.1
    reward_clip: float = 40.0
    luck_taken_out: float = 1.0
    past_selves: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.fixed_opponents and not self.past_selves:
            raise TrainingError("there must be an opponent: fixed_opponents or past_selves")
        if self.batch_size > self.update_size:
            raise TrainingError(
                f"a minibatch of {self.batch_size} needs as many decisions in an update, "
                f"which has {self.envs} x {self.steps} = {self.update_size}"
            )

    @property
    def update_size(self) -> int:
        """Decisions in an update."""
        return self.envs * self.steps


@dataclass(frozen=True)
class SelfPlaySettings(Settings):
    """A run of deals in self-play.

    Attributes:
        deals: in a round; each round is an update.
        play_hidden: widths of the hidden layers for the play.
        show_hidden: widths of the hidden layers for what the other hand and the crib show.
        discard_hidden: widths of the hidden layers for the discard.
        late: share of deals that begin late in the game, 0 to 1.
        guests: share of deals in which a fixed player or a past self has one seat, 0 to 1.
        fixed_guests: share of them in which it is a fixed player, 0 to 1.
        twins: share of deals that are played once more with the second best card, 0 to 1.
        mishaps: of the choices made by chance at the start, a probability; falls linearly.
        final_mishaps: the same at the end.
        mean_weight: weight of the error of the mean beside that of the distribution.
        skunk: what a skunk is worth beside a win, 0 to 1; a double skunk as much again.
        chance_deals: deals from which the tables of chances are made.
        chances_from: the player whose deals those are at first.
        chance_updates: updates between two remakings of these tables from own deals.
    """

    algorithm = "self-play on deals"
    unit = "deals"

    timesteps: int = 16_000_000
    batch_size: int = 1024
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-5
    fixed_opponents: tuple[str, ...] = ("medium",)
    pool_size: int = 10
    checkpoint_updates: int = 400
    evaluation_games: int = 2000
    evaluation_opponents: tuple[str, ...] = ("easy", "medium")
    deals: int = 4096
    play_hidden: tuple[int, ...] = (256, 256)
    show_hidden: tuple[int, ...] = (128, 128)
    discard_hidden: tuple[int, ...] = (96, 96)
    late: float = 0.4
    guests: float = 0.5
    fixed_guests: float = 0.6
    twins: float = 0.5
    mishaps: float = 0.1
    final_mishaps: float = 0.01
    mean_weight: float = 0.05
    skunk: float = 0.05
    chance_deals: int = 60_000
    chances_from: str = "medium"
    chance_updates: int = 800

    def _players(self) -> tuple[str, ...]:
        return (*super()._players(), self.chances_from)

    @property
    def update_size(self) -> int:
        """Deals in an update."""
        return self.deals


_RANGES: dict[str, tuple[float, float]] = {
    "seed": (0, 2**31 - 1),
    "envs": (1, 65_536),
    "steps": (1, 65_536),
    "epochs": (1, 100),
    "learning_rate": (1e-8, 1),
    "final_learning_rate": (0, 1),
    "gae_lambda": (0, 1),
    "clip_range": (1e-3, 1),
    "entropy": (0, 10),
    "value_weight": (0, 100),
    "max_grad_norm": (1e-6, 1e6),
    "points_weight": (0, 100),
    "reward_scale": (1e-6, 1e6),
    "luck_taken_out": (0, 1),
    "past_selves": (0, 64),
    "pool_size": (1, 1000),
    "deals": (16, 65_536),
    "late": (0, 1),
    "guests": (0, 1),
    "fixed_guests": (0, 1),
    "twins": (0, 1),
    "skunk": (0, 1),
    "mishaps": (0, 1),
    "final_mishaps": (0, 1),
    "mean_weight": (0, 100),
    "chance_deals": (1000, 10_000_000),
}

PRESETS: dict[str, Settings] = {
    "smoke": PPOSettings(),
    "standard": PPOSettings(
        timesteps=300_000_000,
        steps=64,
        batch_size=16_384,
        final_learning_rate=1e-5,
        hidden=(256, 256),
        pool_size=50,
        checkpoint_updates=40,
        evaluation_games=4000,
        evaluation_opponents=("random", "easy", "medium"),
    ),
    "hard": SelfPlaySettings(),
}
"""``smoke`` takes a couple of minutes, ``hard`` one or two hours, ``standard`` a night, all on a
core or two."""


def settings_from_json(preset: str, data: object) -> Settings:
    """Settings of a run that began from a preset.

    Raises:
        TrainingError: for an unknown preset, or settings that do not fit it.
    """
    if preset not in PRESETS:
        raise TrainingError(f"no preset {preset!r}: there are {', '.join(PRESETS)}")
    return type(PRESETS[preset]).from_json(data)


def describe(kind: type[Settings]) -> dict[str, str]:
    """What each setting means, by name, from the docstrings."""
    found: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        if issubclass(part, Settings):
            lines = (part.__doc__ or "").partition("Attributes:")[2]
            found |= dict(re.findall(r"^\s+(\w+): (.+)\.$", lines, re.MULTILINE))
    return found
