"""Where compiled code is kept: damage and closed doors cost time, never a failure."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from crib_env.scoring import show_points

SCRIPT = "from crib_env.bits import popcount; print(popcount(11))"


def run(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    environment.pop("NUMBA_DISABLE_JIT", None)
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )


def test_it_compiles_once(tmp_path: Path) -> None:
    first, second = run(NUMBA_CACHE_DIR=str(tmp_path)), run(NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stdout == second.stdout == "3\n"
    assert "compiling for this machine" in first.stderr
    assert second.stderr == ""


@pytest.mark.parametrize(("kind", "size"), [("nbc", 100), ("nbi", 50), ("nbi", 0), ("nbc", 0)])
def test_damaged_files_are_made_anew(tmp_path: Path, kind: str, size: int) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    files = list(tmp_path.rglob(f"*.{kind}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:size])
    again = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert again.stdout == "3\n", again.stderr
    assert "Traceback" not in again.stderr
    assert run(NUMBA_CACHE_DIR=str(tmp_path)).stderr == "", "the next run finds them mended"


def test_without_a_place_to_write_it_compiles_every_time(tmp_path: Path) -> None:
    door = tmp_path / "file"
    door.write_text("not a folder")
    elsewhere = run(NUMBA_CACHE_DIR=str(door), TMPDIR=str(tmp_path))
    assert (elsewhere.returncode, elsewhere.stdout) == (0, "3\n")
    assert list(tmp_path.rglob("*.nbc")), "the folder for temporary files serves instead"


def test_kernels_travel_between_processes() -> None:
    assert pickle.loads(pickle.dumps(show_points)) is not None
