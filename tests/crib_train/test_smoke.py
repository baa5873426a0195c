"""The whole road by the real commands: train, export, evaluate."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CRIB = [sys.executable, "-m", "crib_env.cli"]


def crib(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*CRIB, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def win_rate(folder: Path, opponent: str, games: int) -> float:
    crib(folder, "evaluate", "./bundle", opponent, "--games", str(games), "--json", "result.json")
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").unlink()
    assert result["players"][0]["name"] == "bundle"
    return float(result["players"][0]["win_rate"]["mean"])


@pytest.mark.slow
def test_a_smoke_run_makes_a_player(tmp_path: Path) -> None:
    said = crib(tmp_path, "train", "--preset", "smoke")
    assert "crib export runs/smoke" in said
    crib(tmp_path, "export", "runs/smoke")
    assert win_rate(tmp_path, "random", 2000) > 0.97
    assert win_rate(tmp_path, "easy", 4000) > 0.80
    assert win_rate(tmp_path, "medium", 4000) > 0.45
