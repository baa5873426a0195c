"""From a run to a bundle: the network as ONNX, what a port needs, and proof that it works."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch import nn

from crib_agents.bot import BatchBot
from crib_agents.bundle import (
    MODEL,
    MODEL_CARD,
    SPEC,
    VECTORS,
    BundleBot,
    Case,
    check_vectors,
    describe,
    is_name,
    load_bundle,
    make_case,
)
from crib_env.cards import N_CARDS
from crib_env.game import Game
from crib_env.observation import observation_size
from crib_env.rules import SIX_CARD
from crib_evaluate.match import play_match
from crib_evaluate.result import MatchResult
from crib_train.checkpoint import Run
from crib_train.errors import TrainingError
from crib_train.model_card import Checks, write_model_card
from crib_train.players import MASKED, NetPlayer, net_of
from crib_train.selfplay.algorithm import SelfPlay
from crib_train.settings import PPOSettings, SelfPlaySettings, Settings
from crib_train.trainers import load_model
from crib_train.training import use_one_core

OPSET = 18
CASES = 200
BATCH_SIZES = (1, 2, 7, 512)
CLOSE = 1e-3
"""Logits and values of the two runtimes may differ by this much."""
_REWARD = (
    "reward to come in the deal: the change in the chance to win, in units of {points:g} points' "
    "worth at the scores with which the deal began, less the luck of the show"
)
_CHANCE = (
    "the chance to win with the best card, and {skunk:g} of a win more for a skunk given, less for "
    "one taken; cut to 0 to 1"
)

_CHATTY = ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")

Stage = Callable[[str], None]
"""Told what is being done."""


def export(
    run: Run,
    output: Path,
    checkpoint: Path | None = None,
    games: int = 4000,
    stage: Stage | None = None,
    champion: bool = False,
) -> tuple[Checks, dict[str, MatchResult]]:
    """Make a bundle, verify it, and only then move it to its place.

    Args:
        run: what was trained.
        output: the bundle's folder; its last part is the player's name.
        checkpoint: which one; the newest by default.
        games: measured against each of the players that come with the library.
        stage: told what is being done.
        champion: the champion's network in place of the newest.

    Returns:
        What the checks found, and the matches by opponent.

    Raises:
        TrainingError: when the folder is there already, the run or the checkpoint cannot be
            used, or the exported network does not do as the trained one.
    """
    tell = stage or (lambda what: None)
    if output.exists():
        raise TrainingError(f"{output} is already there: choose another --output")
    if not is_name(output.name):
        raise TrainingError(
            f"a player is named with 1 to 64 printable characters, not {output.name!r:.80}"
        )
    if checkpoint is not None and not run.holds(checkpoint):
        raise TrainingError(f"{checkpoint} is no checkpoint of {run.folder}")
    use_one_core()
    tell("loading the checkpoint")
    model, state = load_model(run, checkpoint or run.newest(), champion)
    part = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    part.mkdir(parents=True)
    try:
        tell("converting the network")
        write_model(net_of(model.policy), part / MODEL)
        value = _value(run.settings())
        spec = describe(output.name, SIX_CARD, MASKED, value, OPSET, (part / MODEL).read_bytes())
        (part / SPEC).write_bytes(msgspec.json.format(msgspec.json.encode(spec)) + b"\n")
        bot = load_bundle(part)
        tell("writing the test vectors")
        lines = [msgspec.json.encode(case) + b"\n" for case in make_cases(bot, CASES)]
        (part / VECTORS).write_bytes(b"".join(lines))
        tell("checking it against the trained network")
        checks = verify(bot, model)
        matches = {}
        for name in ("random", "easy", "medium"):
            tell(f"measuring it against {name}")
            matches[name] = play_match(bot, name, games)
        write_model_card(part / MODEL_CARD, spec, run.config(), state, checks, matches)
        part.rename(output)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return checks, matches


def _value(settings: Settings) -> str:
    """What the network's value means."""
    if isinstance(settings, PPOSettings):
        return _REWARD.format(points=1 / settings.reward_scale)
    assert isinstance(settings, SelfPlaySettings)
    return _CHANCE.format(skunk=settings.skunk)


def write_model(net: nn.Module, path: Path) -> None:
    """Convert a network to one ONNX file, any batch size."""
    batch = torch.export.Dim("batch", min=1)
    example = (
        torch.zeros(2, observation_size(SIX_CARD)),
        torch.ones(2, N_CARDS, dtype=torch.int8),
    )
    with _quiet():
        torch.onnx.export(
            net,
            example,
            str(path),
            input_names=["observation", "action_mask"],
            output_names=["logits", "value"],
            opset_version=OPSET,
            dynamic_shapes=({0: batch}, {0: torch.export.Dim.AUTO}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    model = onnx.load(path)
    _forget_origins(model.graph)
    onnx.save(model, path)


def _forget_origins(graph: onnx.GraphProto) -> None:
    """Drop where in our code each node comes from, which may be a third of the file."""
    for node in graph.node:
        node.ClearField("metadata_props")
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _forget_origins(attribute.g)


@contextmanager
def _quiet() -> Iterator[None]:
    """The converter warns of its own insides, which nobody here can mend."""
    loggers = [logging.getLogger(name) for name in _CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            for kind in (DeprecationWarning, FutureWarning, UserWarning):
                warnings.filterwarnings("ignore", category=kind, module=r"torch\.|onnx|copyreg")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def make_cases(bot: BundleBot, number: int) -> list[Case]:
    """Decisions of whole games, as evenly spread over several games as can be.

    Those that hang on rounding are left out: another runtime may fairly take the other card.
    Cards that are equal to the last bit stay in, for they try the tie-break.
    """
    cases: list[Case] = []
    seed = 0
    while len(cases) < 3 * number:
        game = Game(seed=seed)
        seed += 1
        while not game.is_over:
            legal = game.legal_actions()
            card = legal[0]
            if len(legal) > 1:
                case = make_case(bot, game.view(game.to_act))
                card = type(card)(case.card)
                if not _hangs_on_rounding(bot, case):
                    cases.append(case)
            game.apply(card)
    return [cases[round(place)] for place in np.linspace(0, len(cases) - 1, number)]


def _hangs_on_rounding(bot: BundleBot, case: Case) -> bool:
    logits, _ = bot.judge(
        np.array([case.observation], np.float32), np.array([case.action_mask], np.int8)
    )
    short = logits.max() - logits[0]
    return bool(((short > 0) & (short <= CLOSE)).any())


class _Recorder(BatchBot):
    """Plays as another, and keeps what it was asked."""

    name = "recorder"

    def __init__(self, player: BatchBot) -> None:
        self.player = player
        self.observations: list[NDArray[np.float32]] = []
        self.masks: list[NDArray[np.int8]] = []

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        self.observations.append(observations.copy())
        self.masks.append(masks.copy())
        return self.player.actions(observations, masks)


def verify(bot: BundleBot, model: MaskablePPO | SelfPlay) -> Checks:
    """Compare the exported network with the trained one on decisions of real games.

    Raises:
        TrainingError: when they differ, or the player lays illegal or always the same cards.
    """
    net = net_of(model.policy)
    recorder = _Recorder(NetPlayer(net))
    play_match(recorder, "medium", games=240, seed=1)
    observations = np.concatenate(recorder.observations)
    masks = np.concatenate(recorder.masks)
    with torch.inference_mode():
        wanted = [
            part.numpy() for part in net(torch.from_numpy(observations), torch.from_numpy(masks))
        ]
    chosen, _ = model.predict(observations, deterministic=True, action_masks=masks.astype(bool))
    worst = 0.0
    for size in BATCH_SIZES:
        logits, values = _in_batches(bot, observations, masks, size)
        worst = max(worst, float(np.abs(logits - wanted[0]).max()))
        worst = max(worst, float(np.abs(values - wanted[1]).max()))
        _check_choices(logits, chosen, masks, size)
    if not worst <= CLOSE:
        raise TrainingError(f"the exported network differs from the trained one by {worst:g}")
    actions = len(np.unique(chosen))
    if actions < 6:
        raise TrainingError(f"the player lays only {actions} different cards")
    return Checks(len(observations), worst, actions, check_vectors(bot))


def _in_batches(
    bot: BundleBot, observations: NDArray[np.float32], masks: NDArray[np.int8], size: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    parts = [
        bot.judge(observations[at : at + size], masks[at : at + size])
        for at in range(0, len(observations), size)
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _check_choices(
    logits: NDArray[np.float32], chosen: NDArray[np.int64], masks: NDArray[np.int8], size: int
) -> None:
    rows = np.arange(len(logits))
    best = logits.argmax(1)
    illegal = int((masks[rows, best] == 0).sum())
    if illegal:
        raise TrainingError(
            f"the exported network lays {illegal} illegal cards in batches of {size}"
        )
    # Rounding may turn cards that are equally good round; anything more is a fault.
    lost = logits[rows, best] - logits[rows, chosen]
    if (lost > CLOSE).any():
        raise TrainingError(
            f"the exported network chooses otherwise in {int((lost > CLOSE).sum())} of {len(rows)} "
            f"decisions, in batches of {size}"
        )
