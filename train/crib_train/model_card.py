"""The text that travels with a trained player: what it is, how it was made, how it plays."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from crib_agents.bundle import MODEL, SPEC, VECTORS, Spec
from crib_evaluate.match import usable_cores
from crib_evaluate.result import MatchResult
from crib_train.checkpoint import Config, State
from crib_train.settings import PRESETS, PPOSettings, SelfPlaySettings, settings_from_json

_PACKAGES = ("cribbage-env", "torch", "stable-baselines3", "sb3-contrib", "numpy", "numba", "onnx")


@dataclass(frozen=True)
class Checks:
    """What the check of an exported network found.

    Attributes:
        states: decisions on which the two runtimes were compared.
        largest_difference: between their logits or values.
        actions: different cards chosen.
        vectors: cases that came out as written.
    """

    states: int
    largest_difference: float
    actions: int
    vectors: int


def versions() -> dict[str, str]:
    """What computes a run here."""
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **found}


def machine() -> dict[str, str]:
    """Where a run computes."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(usable_cores()),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"


def write_model_card(
    path: Path,
    spec: Spec,
    config: Config,
    state: State,
    checks: Checks,
    matches: Mapping[str, MatchResult],
) -> None:
    """Write the model card as Markdown."""
    sections = [
        f"# {spec.name}: a trained cribbage player",
        "A small network that plays two-player six-card cribbage to 121. It lays the legal card "
        f"with the highest logit; of equal ones the {spec.tie_break}.",
        f"- `{MODEL}`: ONNX, opset {spec.opset}. Inputs `observation` float32 "
        f"`[B, {spec.observation_size}]` and `action_mask` int8 `[B, 52]`; outputs `logits` "
        f"float32 `[B, 52]` ({spec.logit_of_masked:g} where the mask is 0) and `value` float32 "
        f"`[B]`: {spec.value}.\n"
        f"- `{SPEC}`: the order of the cards, the pieces of the observation, the crib tables.\n"
        f"- `{VECTORS}`: {checks.vectors} decisions from view to observation to mask to card. "
        "A port that reproduces them all encodes as it should.",
        "## How well it plays",
        "Mirrored games: each shuffle is played twice with the seats exchanged. Intervals are "
        "of 95 %.",
        _match_table(matches),
        "## How it was trained",
        _how_trained(config, state),
        f"```\n{command_again(config)}\n```",
        _table(("setting", "value"), config.settings),
        _table(("trained with", "version"), config.versions),
        _table(("trained on", ""), config.machine),
        "## Checks at export",
        f"The exported network and the trained one agree on {checks.states:,} decisions of real "
        f"games (largest difference {checks.largest_difference:.1g}), in batches of 1, 2, 7 and "
        f"512; no card was illegal, {checks.actions} different ones were laid, and all "
        f"{checks.vectors} vectors came out as written.",
    ]
    path.write_text("\n\n".join(sections) + "\n")


def command_again(config: Config) -> str:
    """The command that trains such a player anew; where its run lay does not matter."""
    standard = PRESETS[config.preset].to_json()
    words = ["crib", "train", "--preset", config.preset]
    for name, value in config.settings.items():
        if value != standard[name]:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
    return shlex.join(words)


def _how_trained(config: Config, state: State) -> str:
    settings = settings_from_json(config.preset, config.settings)
    how = {
        PPOSettings: "Each deal is an episode; it pays the change in the chance to win. The "
        "opponents are past selves and fixed players.",
        SelfPlaySettings: "The network sees the position after each card and says how many points "
        "either side will still peg; exact shows and a table of chances do the rest. It plays "
        "with itself, in some deals with a fixed player or a past self.",
    }[type(settings)]
    name = settings.algorithm[:1].upper() + settings.algorithm[1:]
    return (
        f"{name}: {state.timesteps:,} {settings.unit} in {state.updates:,} updates, "
        f"{state.seconds / 60:.1f} minutes. {how}"
    )


def _match_table(matches: Mapping[str, MatchResult]) -> str:
    lines = ["| against | games | win rate | interval | skunks given | skunks taken |"]
    lines.append("|---|---|---|---|---|---|")
    for name, match in matches.items():
        mine = match.players[0]
        rate = mine.win_rate
        low, high = (
            f"{100 * end:.1f}" if end is not None else "?" for end in (rate.low, rate.high)
        )
        given = (mine.skunks + mine.double_skunks) / match.games
        taken = (mine.skunks_taken + mine.double_skunks_taken) / match.games
        lines.append(
            f"| {name} | {match.games:,} | {100 * rate.mean:.1f} % | {low} to {high} % "
            f"| {100 * given:.1f} % | {100 * taken:.1f} % |"
        )
    return "\n".join(lines)


def _table(heads: tuple[str, str], rows: Mapping[str, object]) -> str:
    lines = [f"| {heads[0]} | {heads[1]} |", "|---|---|"]
    for name, value in rows.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        lines.append(f"| {name} | {shown} |")
    return "\n".join(lines)
