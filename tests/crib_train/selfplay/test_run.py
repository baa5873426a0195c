"""A run of self-play: what the deals teach, resuming to the bit, what SB3 loads."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from crib_agents.heuristic import make_medium
from crib_env import state as S
from crib_env.observation import POINT, split
from crib_env.rules import SIX_CARD
from crib_env.sb3 import as_vec_env
from crib_env.vector import CribbageVectorEnv
from crib_train.checkpoint import Config, Run
from crib_train.model_card import machine, versions
from crib_train.selfplay.algorithm import SelfPlay
from crib_train.selfplay.chances import make_chances, measure
from crib_train.selfplay.deals import Table, _pegged
from crib_train.selfplay.heads import PEGS
from crib_train.selfplay.network import AfterstateNet
from crib_train.selfplay.trainer import SelfPlayTrainer
from crib_train.settings import SelfPlaySettings
from tests.crib_train.test_training import PATIENCE, assert_same, numbers

SMALL = SelfPlaySettings(
    timesteps=640,
    deals=32,
    batch_size=64,
    play_hidden=(16,),
    show_hidden=(16,),
    discard_hidden=(8,),
    pool_size=2,
    checkpoint_updates=5,
    kept_checkpoints=20,
    evaluation_games=4,
    evaluation_opponents=("random",),
    chance_deals=2000,
    chance_updates=10,
)


def begin(folder: Path) -> Run:
    run = Run(folder)
    run.begin(Config(SMALL.to_json(), "crib train", "hard", versions(), machine()))
    return run


def finished(run: Run) -> dict[str, torch.Tensor]:
    """Train to the end, from wherever the run stands; all its numbers, and the champion's."""
    trainer = SelfPlayTrainer(run, SMALL)
    trainer.resume()
    trainer.train()
    assert trainer.is_over
    assert trainer.champion is not None
    champion = {f"champion {name}": value for name, value in trainer.champion.items()}
    return numbers(trainer) | champion


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, torch.Tensor]]:
    run = begin(tmp_path_factory.mktemp("runs") / "whole")
    return run, finished(run)


@pytest.mark.slow
@pytest.mark.parametrize("timesteps", [0, 160, 480])
def test_resumed_is_as_if_never_stopped(
    whole: tuple[Run, dict[str, torch.Tensor]], tmp_path: Path, timesteps: int
) -> None:
    run, wanted = whole
    shutil.copytree(run.folder, tmp_path / "cut")
    cut = Run(tmp_path / "cut")
    for checkpoint in cut.checkpoints():
        if int(checkpoint.name) > timesteps:
            shutil.rmtree(checkpoint)
    assert_same(finished(cut), wanted)


@pytest.mark.slow
def test_killed_in_the_middle_it_ends_the_same(
    whole: tuple[Run, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    """Kill -9 amid the training, resume, finish."""
    options = []
    for name, value in SMALL.to_json().items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        options += [f"--{name.replace('_', '-')}", text]
    run = Run(tmp_path / "killed")
    process = subprocess.Popen(
        [sys.executable, "-m", "crib_env.cli", "train", "--preset", "hard",
         "--output", str(run.folder), *options],
        stderr=subprocess.PIPE,
    )  # fmt: skip
    end = time.monotonic() + PATIENCE
    while not run.checkpoints() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert run.checkpoints()
    assert_same(finished(run), whole[1])


@pytest.mark.slow
def test_model_is_what_sb3_loads(whole: tuple[Run, dict[str, torch.Tensor]]) -> None:
    run, wanted = whole
    env = as_vec_env(CribbageVectorEnv(4, "random", episode="deal"))
    model = SelfPlay.load(run.newest() / "model.zip", env)
    for name, value in model.policy.state_dict().items():
        assert torch.equal(value, wanted[name])
    assert model.num_timesteps == 640
    observations = env.reset()
    masks = np.stack(env.env_method("action_masks"))
    for deterministic in (True, False):
        cards, _ = model.predict(observations, deterministic=deterministic, action_masks=masks)
        assert (masks[np.arange(4), cards] == 1).all()
    cards, _ = model.predict(observations[0], deterministic=True)
    assert masks[0, cards] == 1
    for _ in range(12):  # into the play, where not every card held may be laid
        assert np.array_equal(model.policy.legal(torch.from_numpy(observations)).numpy(), masks)
        stepped = env.step(masks.argmax(1))[0]
        assert isinstance(stepped, np.ndarray)
        observations = stepped
        masks = np.stack(env.env_method("action_masks"))
    model.learn(64)
    assert model.num_timesteps == 64


@pytest.fixture(scope="module")
def net() -> AfterstateNet:
    torch.manual_seed(1)
    net = AfterstateNet((16,), (16,), (8,))
    net.set_chances(make_chances(*measure(make_medium(), 2000, seed=1, skunk=0.1)))
    return net.requires_grad_(False)


@pytest.mark.parametrize("guest", [False, True])
def test_deals_teach_what_came_of_them(net: AfterstateNet, guest: bool) -> None:
    table = Table(256, late=0.3, guests=0.5, twins=0.5)
    random = np.random.default_rng(2)
    lessons = table.play(net, make_medium() if guest else None, 0.1, random)
    assert len(lessons.cards) == len(lessons.pegs) == len(lessons.play)
    assert len(lessons.pairs) == len(lessons.discards) == (384 if guest else 512)
    assert lessons.pegs.min() >= 0
    assert lessons.pegs.max() < PEGS
    seen = split(lessons.play, SIX_CARD)
    rows = np.arange(len(lessons.cards))
    assert (seen["hand"][rows, lessons.cards] == 1).all()
    assert (seen["phase"][:, 2] == 1).all()
    assert (split(lessons.discards, SIX_CARD)["phase"][:, 0] == 1).all()


def test_discards_come_near_their_means(net: AfterstateNet) -> None:
    """Over many deals the crib comes to the mean of the cards thrown, as Medium's table says."""
    table = Table(4096, late=0.0, guests=0.0, twins=0.0)
    beyond = table.play(net, None, 0.0, np.random.default_rng(3)).beyond
    # Each crib is seen by both sides, who threw other cards to it.
    assert abs(beyond[:, 2].mean()) < 0.25
    own, other, _ = beyond.mean(0)
    assert abs(own - other) < 1e-6  # what one pegs, the other sees pegged
    assert 2 < own < 3.5


def test_a_choice_is_told_what_came_after_it(net: AfterstateNet) -> None:
    """Points before the choice, its own and those to come add up to what the deal brought."""
    table = Table(64, late=0.0, guests=0.0, twins=0.0)
    table.batch.skip_forced = False  # so that every card laid is a choice
    lessons = table.play(net, None, 0.0, np.random.default_rng(4))
    seen = split(lessons.play, SIX_CARD)
    rows = np.arange(len(lessons.cards))
    own = np.rint(seen["points"][rows, lessons.cards] / POINT) + lessons.pegs[:, 0]
    laid_before = (seen["laid"] > 0).sum(1)
    first = laid_before == 0  # the pone leads: all that is pegged is still to come
    pegged = _pegged(table.batch)
    heels = table.batch.tally[:, :, S.Source.HEELS].sum(1)
    pone = 1 - table.batch.dealer
    assert first.sum() == 64
    assert (own[first] == pegged[np.arange(64), pone]).all()
    theirs = pegged[np.arange(64), 1 - pone] - heels
    assert (lessons.pegs[first, 1] == np.minimum(theirs, PEGS - 1)).all()


def test_twins_try_another_card_on_the_same_deal(net: AfterstateNet) -> None:
    table = Table(256, late=0.3, guests=0.0, twins=0.5)
    lessons = table.play(net, None, 0.0, np.random.default_rng(5))
    _, first, times = np.unique(lessons.play, axis=0, return_index=True, return_counts=True)
    shared = first[times == 2]
    assert 100 < len(shared) <= 128 == len(table.twins)
    for one in shared:
        _, other = np.flatnonzero((lessons.play == lessons.play[one]).all(1))
        assert lessons.cards[one] != lessons.cards[other]
        assert (lessons.shows[one] == lessons.shows[other]).all()
    hidden = [S.KEPT, S.KEPT + 1, S.STARTER, S.CRIB, S.DEALER]
    states = table.batch.states
    assert (states[table.twins][:, hidden] == states[table.parents][:, hidden]).all()
    # What came of it is each deal's own: after the choice they go apart.
    apart = (_pegged(table.batch)[table.twins] != _pegged(table.batch)[table.parents]).any(1)
    assert apart.mean() > 0.3


def test_both_sides_of_a_twin_are_told_apart(net: AfterstateNet) -> None:
    """A twin that parts at the lead is a deal of its own: its points add up as its parent's do."""
    table = Table(128, late=0.0, guests=0.0, twins=1.0)
    lessons = table.play(net, None, 0.0, np.random.default_rng(6))
    seen = split(lessons.play, SIX_CARD)
    own = np.rint(seen["points"][np.arange(len(lessons.cards)), lessons.cards] / POINT)
    own = (own + lessons.pegs[:, 0]).astype(int)  # before the cut at 15
    first = (seen["laid"] > 0).sum(1) == 0
    pegged = _pegged(table.batch)
    heels = table.batch.tally[:, :, S.Source.HEELS].sum(1)
    pone = 1 - table.batch.dealer
    rows = table.batch.all_rows
    brought = np.stack([pegged[rows, pone], pegged[rows, 1 - pone] - heels], 1)
    told = np.stack([own[first], lessons.pegs[first, 1]], 1)
    assert 140 < len(told) < 256  # all leads, and those of twins that parted there
    assert (told[:128] == np.minimum(brought[:128], PEGS - 1)).all()
    assert {tuple(pair) for pair in told} <= {tuple(pair) for pair in brought}
