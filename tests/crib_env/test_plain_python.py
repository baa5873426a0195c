"""The same rules without the compiler: with ``NUMBA_DISABLE_JIT=1`` they are plain Python."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.crib_env.support import VARIANTS, observation, random_decisions

ROOT = Path(__file__).parents[2]
PLAIN = os.environ | {"NUMBA_DISABLE_JIT": "1"}

SLICE = [
    "test_cards.py",
    "test_rules.py",
    "test_cases.py",
    "test_game.py",
    "test_perft.py::test_more_hands",
    "test_openspiel.py::test_some_games_move_by_move[2-300]",
    "test_openspiel.py::test_it_counts_on_past_the_target",
    "test_variants.py",
    "test_counting.py",
    "test_leak.py::test_all_forms_of_an_observation_agree[to-61]",
    "test_leak.py::test_hidden_cards_make_no_difference[to-61]",
    "test_leak.py::test_what_a_seat_knows_comes_alike_from_the_game_and_from_its_observation[to-61]",
    "test_all_seats.py::test_cards_laid_in_a_game_give_the_same[to-61]",
    "test_histogram.py::test_parts_agree_with_a_plain_scorer",
    "test_properties.py::test_points_are_the_sum_of_events_and_never_negative",
]


def games_digest() -> str:
    """A fingerprint of some games: every state, every observation, every variation."""
    digest = hashlib.sha256()
    for rules in VARIANTS.values():
        for game in random_decisions(6, rules):
            row = game.state()
            digest.update(row.tobytes())
            digest.update(observation(row, rules, game.to_act).tobytes())
    return digest.hexdigest()


def test_a_slice_of_the_suite_passes() -> None:
    paths = [f"tests/crib_env/{name}" for name in SLICE]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-m", "not slow", *paths], cwd=ROOT, env=PLAIN, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout


def test_compiled_and_plain_games_are_the_same() -> None:
    code = (
        "import numba; assert numba.config.DISABLE_JIT;"
        "from tests.crib_env.test_plain_python import games_digest; print(games_digest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=PLAIN, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == games_digest()
