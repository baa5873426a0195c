"""The bundles that the JavaScript player is tried with."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from crib_agents import bundle as bundles
from crib_agents.bundle import VECTORS, Case, load_bundle, make_case
from crib_env import Game
from tests.crib_agents.bundles import write_bundle

SHIPPED = Path(bundles.__file__).parent / "weights" / "hard"
VECTORS_MADE = 200


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle made here, with vectors from games of its own."""
    folder = write_bundle(tmp_path_factory.mktemp("bundles") / "greedy")
    bot = load_bundle(folder)
    cases: list[Case] = []
    game = Game(seed=2)
    while len(cases) < VECTORS_MADE:
        game = Game(seed=len(cases)) if game.is_over else game
        cases.append(make_case(bot, game.view(game.to_act)))
        game.apply(cases[-1].card)
    (folder / VECTORS).write_bytes(b"".join(msgspec.json.encode(case) + b"\n" for case in cases))
    return folder


@pytest.fixture(params=["greedy", "shipped"] if SHIPPED.exists() else ["greedy"])
def folder(request: pytest.FixtureRequest, greedy: Path) -> Path:
    """The bundle made here, and the trained player that comes with the library."""
    return greedy if request.param == "greedy" else SHIPPED
