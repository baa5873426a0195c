"""What the network computes exactly, and how it chooses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from crib_agents.bot import BatchBot
from crib_agents.heuristic import make_medium
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.observation import POINT
from crib_env.rules import SIX_CARD
from crib_env.scoring import show_points
from crib_train.players import MASKED, NetPlayer
from crib_train.selfplay.chances import make_chances, measure
from crib_train.selfplay.ends import amid_play
from crib_train.selfplay.heads import Sight
from crib_train.selfplay.network import AfterstateNet
from crib_train.selfplay.player import KernelPlayer
from crib_train.selfplay.shows import DEALT, KEPT, PAIRS, Pieces, Shows, ascending

Seen = tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int64]]


@pytest.fixture(scope="module")
def net() -> AfterstateNet:
    torch.manual_seed(5)
    medium = make_medium()
    assert isinstance(medium, BatchBot)
    net = AfterstateNet((32, 32), (16,), (16,))
    net.set_chances(make_chances(*measure(medium, 20_000, seed=4, skunk=0.1)))
    torch.nn.init.normal_(net.discard.rest[-1].weight, std=0.2)  # type: ignore[arg-type]
    return net.eval().requires_grad_(False)


def positions(games: int, seed: int) -> Iterator[Seen]:
    """Decisions of random games from scores that may be near the end, with the states."""
    random = np.random.default_rng(seed)
    batch = GameBatch(games, SIX_CARD, one_deal=True)
    rows = batch.all_rows
    batch.start(rows, random.integers(1 << 62, size=games), np.full(games, -1))
    batch.scores[:] = random.integers(0, SIX_CARD.target, (games, 2))
    while len(rows):
        observations, masks = batch.observe(rows, batch.to_act[rows].copy())
        yield observations, masks, batch.states[rows].copy()
        cards = np.array([random.choice(np.flatnonzero(mask)) for mask in masks])
        batch.apply(rows, cards)
        rows = rows[~batch.stopped[rows]]


@pytest.fixture(scope="module")
def seen() -> list[Seen]:
    return list(positions(400, seed=1))


def in_play(found: Seen) -> bool:
    return bool((found[2][:, S.PHASE] == S.Phase.PLAY).all())


def test_shows_of_discards_are_the_library_s(seen: list[Seen]) -> None:
    """Mean show plus or minus crib: the piece ``points`` of the first discard."""
    shows = Shows()
    for observations, masks, _ in seen[:1]:
        pieces = Pieces(torch.from_numpy(observations))
        six = ascending(pieces["hand"], DEALT)
        points, beyond, starters = shows.discards(six)
        dealing = pieces["dealer"][:, 0].long()
        value = (points * starters.unsqueeze(1)).sum(2) + beyond
        value += (2 * dealing - 1).unsqueeze(1) * shows.cribs(six, dealing)
        best = np.full((len(six), DEALT), -np.inf)
        for at, pair in enumerate(PAIRS):
            for place in pair:
                best[:, place] = np.maximum(best[:, place], value[:, at].numpy())
        told = pieces["points"].gather(1, six).numpy() / POINT
        assert np.abs(best - told).max() < 1e-4
        assert (np.take_along_axis(masks, six.numpy(), 1) == 1).all()


def test_the_own_show_is_exact(seen: list[Seen], net: AfterstateNet) -> None:
    r = SIX_CARD.to_array()
    checked = 0
    for observations, _, states in filter(in_play, seen):
        pieces = Pieces(torch.from_numpy(observations))
        cards = ascending(pieces["hand"], KEPT).clamp(max=51)
        _, other, dealing, show, _ = (part.numpy() for part in net.standing(pieces, cards))
        for row, state in enumerate(states):
            seat = state[S.TO_ACT]
            assert show[row] == show_points(state[S.KEPT + seat], state[S.STARTER], False, r)
            assert other[row] == state[S.SCORE + 1 - seat]
            assert dealing[row] == (state[S.DEALER] == seat)
            checked += 1
    assert checked > 1000


def test_the_kernel_computes_the_same_chances(seen: list[Seen], net: AfterstateNet) -> None:
    near_the_end = 0
    for observations, _, states in filter(in_play, seen):
        pieces = Pieces(torch.from_numpy(observations))
        cards = ascending(pieces["hand"], KEPT).clamp(max=51)
        sight = Sight(pieces)
        pegs, shows = net.play(sight, cards).exp(), net.show(sight).exp()
        standing = net.standing(pieces, cards)
        wanted = net.ends(standing, pegs, shows).numpy()
        found = np.empty_like(wanted)
        own, other, dealing, show, now = (part.numpy() for part in standing)
        shown, skunked = net.ends.shown.numpy(), net.ends.skunked.numpy()
        amid_play(
            own, other, dealing, show, now, pegs.numpy(), shows.numpy(), shown, skunked, found
        )
        assert np.abs(found - wanted).max() < 1e-5
        near_the_end += int((states[:, S.SCORE : S.SCORE + 2] > 105).any(1).sum())
    assert near_the_end > 100


def test_logits_and_values_are_in_range(seen: list[Seen], net: AfterstateNet) -> None:
    for observations, masks, _ in seen:
        logits, values = net(torch.from_numpy(observations), torch.from_numpy(masks))
        allowed = torch.from_numpy(masks) > 0
        assert (logits[~allowed] == MASKED).all()
        assert (logits[allowed] <= 0).all()
        assert (logits.amax(1) == 0).all()
        assert ((values >= 0) & (values <= 1)).all()


def test_a_discard_is_chosen_whole(seen: list[Seen], net: AfterstateNet) -> None:
    """The card thrown second completes the pair that was best before the first."""
    observations = seen[0][0]
    pieces = Pieces(torch.from_numpy(observations))
    six = ascending(pieces["hand"], DEALT)
    best = net.judge_discards(pieces, six).argmax(1).numpy()
    player = NetPlayer(net)
    games = GameBatch(len(observations), SIX_CARD, one_deal=True)
    random = np.random.default_rng(1)
    games.start(games.all_rows, random.integers(1 << 62, size=400), np.full(400, -1))
    games.scores[:] = random.integers(0, SIX_CARD.target, (400, 2))
    thrown = []
    for _ in range(2):
        seats = games.to_act.copy()
        cards = player.actions(*games.observe(games.all_rows, seats))
        thrown.append(cards)
        games.apply(games.all_rows, cards)
    wanted = np.take_along_axis(six.numpy(), np.array(PAIRS)[best], 1)
    assert (np.sort(np.stack(thrown, 1), 1) == wanted).all()


def test_as_a_player_in_batches_it_chooses_the_same(seen: list[Seen], net: AfterstateNet) -> None:
    """But for what bfloat16 rounds off."""
    player = KernelPlayer(net)
    same = number = 0
    for observations, masks, _ in seen:
        chosen = player.actions(observations, masks)
        rows = np.arange(len(chosen))
        assert (masks[rows, chosen] == 1).all()
        logits, _ = net(torch.from_numpy(observations), torch.from_numpy(masks))
        assert logits.numpy()[rows, chosen].min() > -0.3  # points' worth
        same += int((logits.numpy().argmax(1) == chosen).sum())
        number += len(chosen)
    assert same / number > 0.98
