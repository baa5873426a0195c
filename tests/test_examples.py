"""The examples run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.slow
def test_train_sb3(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "train_sb3.py"), "65536"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 0, outcome.stderr
    rates = re.findall(r"Success rate: ([\d.]+)%", outcome.stdout)
    assert len(rates) == 2, outcome.stdout
    # From two updates to four against Easy: 40 % of the deals, give or take chance.
    assert 30 < float(rates[0]) < float(rates[1]) + 5 < 60
    result = re.search(r"^(won|lost) at (\d+) to (\d+)$", outcome.stdout, re.MULTILINE)
    assert result, outcome.stdout
    mine, theirs = int(result[2]), int(result[3])
    assert max(mine, theirs) == 121
    assert (mine == 121) == (result[1] == "won")
