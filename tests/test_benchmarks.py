"""The benchmark runs as its document says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.env_speed import ROWS, main


@pytest.mark.slow
def test_it_measures_every_row(tmp_path: Path) -> None:
    found = tmp_path / "speed.json"
    arguments = ["--repeats", "1", "--seconds", "0.05", "--json", str(found)]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0, shown.output
    rows = json.loads(found.read_text())["rows"]
    assert [row["name"] for row in rows] == [row.name for row in ROWS]
    assert all(row["decisions"]["median"] > 0 for row in rows)
    assert "times OpenSpiel from Python" in shown.output
    for row in ROWS:
        assert row.name in shown.output
