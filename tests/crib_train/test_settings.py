"""The settings of a run, and the commands as far as they go without torch."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from crib_env.cli import main
from crib_train.errors import TrainingError
from crib_train.settings import (
    PRESETS,
    PPOSettings,
    SelfPlaySettings,
    Settings,
    describe,
    settings_from_json,
)

CHECKPOINTS = Path(__file__).parents[2] / "train" / "checkpoints"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return int(left.value.code or 0), shown.out, shown.err


@pytest.mark.parametrize("kind", [PPOSettings, SelfPlaySettings])
def test_every_setting_is_described(kind: type[Settings]) -> None:
    assert list(describe(kind)) == [field.name for field in fields(kind)]


@pytest.mark.parametrize("preset", PRESETS)
def test_settings_travel_as_json(preset: str) -> None:
    settings = PRESETS[preset]
    assert settings_from_json(preset, json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        (PPOSettings, {"envs": 0}, "envs goes from 1 to 65536, not 0"),
        (PPOSettings, {"gae_lambda": 1.5}, "gae_lambda goes from 0 to 1"),
        (PPOSettings, {"learning_rate": float("nan")}, "learning_rate goes from"),
        (PPOSettings, {"hidden": ()}, "hidden layers are"),
        (PPOSettings, {"hidden": (64, 0)}, "hidden layers are"),
        (PPOSettings, {"fixed_opponents": ("grandmaster",)}, "no player 'grandmaster'"),
        (PPOSettings, {"evaluation_opponents": ("nobody",)}, "no player 'nobody'"),
        (PPOSettings, {"fixed_opponents": (), "past_selves": 0}, "there must be an opponent"),
        (PPOSettings, {"envs": 8, "steps": 4}, "a minibatch of 4096 needs .* 8 x 4 = 32"),
        (SelfPlaySettings, {"deals": 8}, "deals goes from 16"),
        (SelfPlaySettings, {"discard_hidden": (0,)}, "discard_hidden layers are"),
        (SelfPlaySettings, {"chances_from": "oracle"}, "no player 'oracle'"),
        (SelfPlaySettings, {"guests": 2.0}, "guests goes from 0 to 1"),
    ],
)
def test_bad_settings_are_refused_in_words(
    kind: type[Settings], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(TrainingError, match=says) as refusal:
        replace(kind(), **changes)
    assert "\n" not in str(refusal.value)


def test_settings_of_another_version_are_refused() -> None:
    data = PPOSettings().to_json()
    with pytest.raises(TrainingError, match=r"of this version: unknown momentum$"):
        PPOSettings.from_json({**data, "momentum": 0.9})
    with pytest.raises(TrainingError, match=r"of this version: no envs$"):
        PPOSettings.from_json({name: value for name, value in data.items() if name != "envs"})
    with pytest.raises(TrainingError, match=r"bad settings: .*envs"):
        PPOSettings.from_json({**data, "envs": "many"})
    with pytest.raises(TrainingError, match="not the settings"):
        Settings.from_json([])


@pytest.mark.parametrize("command", ["train", "export"])
def test_help_comes_at_once_and_without_torch(command: str) -> None:
    script = (
        "import sys; from crib_env.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as left: code = left.code\n"
        "assert not {'torch', 'stable_baselines3'} & set(sys.modules)\n"
        "sys.exit(code)"
    )
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, command, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - begun < 5  # half a second on an idle machine
    if command == "train":
        for field in (*fields(PPOSettings), *fields(SelfPlaySettings)):
            assert f"--{field.name.replace('_', '-')} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "--preset", "heroic"], "'heroic' is not one of"),
        (["train", "--envs", "many"], "'many' is not a valid integer"),
        (["train", "--hidden", "64,wide"], "'64,wide' is not a list of"),
        (["train", "--envs", "0"], "envs goes from 1"),
        (["train", "--fixed-opponents", "nobody"], "no player 'nobody'"),
        (["train", "--output", "{here}"], "is already there"),
        (["train", "--resume", "{here}"], "is not the folder of a run"),
        (["train", "--resume", "{here}/nowhere"], "is not the folder of a run"),
        (["train", "--resume", "x", "--seed", "1"], "leave out --seed"),
        (["train", "--resume", "x", "--output", "y", "--batch-size", "2"],
         "leave out --output, --batch-size"),
        (["train", "--resume", "x", "--preset", "smoke"], "leave out --preset"),
        (["export", "{here}"], "is not the folder of a run"),
        (["export", "{here}", "--output", "x" * 65], "named with 1 to 64 printable"),
        (["export", "{here}", "--output", "{here}"], "is already there"),
        (["export", "{here}", "--games", "0"], "--games"),
    ],
)  # fmt: skip
def test_bad_arguments_get_one_line(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [argument.format(here=tmp_path) for argument in arguments]
    code, out, err = run(capsys, *filled)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_config_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, says in (("{", "config.json is damaged"), ("{}", "config.json is damaged")):
        (tmp_path / "config.json").write_text(text)
        code, _, err = run(capsys, "train", "--resume", tmp_path)
        assert code == 2
        assert says in err
        assert err.count("\n") == 1


def test_the_checkpoint_that_is_kept_is_of_the_preset() -> None:
    """Its settings are those of ``--preset hard``, and its command says nothing of a machine."""
    kept = json.loads((CHECKPOINTS / "hard" / "config.json").read_bytes())
    assert kept["settings"] == json.loads(json.dumps(PRESETS["hard"].to_json()))
    assert kept["command"] == "crib train --preset hard"
