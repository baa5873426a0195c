"""What discards lose: the rollouts against games played one by one, the estimate, the command."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import BotError, make_bot
from crib_agents.bot import BatchBot
from crib_env import Game, show_score
from crib_env import state as S
from crib_env.cards import CARDS, Card, from_mask, parse_cards
from crib_env.cli import main
from crib_env.win_probability import win_probability
from crib_evaluate import discards, rollouts
from crib_evaluate.discards import (
    DealLoss,
    Loss,
    Measure,
    candidates,
    draw_setting,
    measure_discards,
    narrow,
)
from crib_evaluate.rollouts import OTHER, OWN, Setting, play_out, throw_of
from tests.crib_evaluate.bots import Faulty, first_illegal

SIX = tuple(sorted(parse_cards("2C 5D 6H 8S JC KD")))
MEDIUM = make_bot("medium")


class ThrowsHigh(BatchBot):
    """Lays its highest card always, so it throws its two highest."""

    name = "throws-high"

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        return 51 - masks[:, ::-1].argmax(axis=1)


def mean_show(cards: list[Card], starters: list[Card], is_crib: bool) -> float:
    return float(
        np.mean([show_score(cards, starter, is_crib=is_crib).total for starter in starters])
    )


def play_one(
    setting: Setting, deck: list[int], throw: tuple[Card, Card]
) -> tuple[float, float, float, float]:
    """One deal by a `Game`: pegged, show by means, show as it came, chance to win; net."""
    game = Game(dealer=setting.dealer, deck=deck, seed=0, scores=setting.scores)
    hands = {seat: list(from_mask(int(game.state()[S.HAND + seat]))) for seat in (OWN, OTHER)}
    assert hands[OWN] == list(setting.cards)
    thrown: dict[int, tuple[Card, ...]] = {OWN: throw}
    before = game.state().copy()
    row = before
    while not game.is_over and game.state()[S.DEAL_NUMBER] == before[S.DEAL_NUMBER]:
        view = game.view(game.to_act)
        if game.phase == "discard":
            seat = game.to_act
            thrown.setdefault(seat, MEDIUM.discard(view))
            for card in thrown[seat]:
                game.apply(card)
        else:
            game.apply(MEDIUM.play(view))
        row = game.state().copy()
    starter = CARDS[deck[12]]
    keeps = {seat: [card for card in hands[seat] if card not in thrown[seat]] for seat in hands}
    crib = [*thrown[OWN], *thrown[OTHER]]
    unseen = [card for card in CARDS if card not in hands[OWN]]
    rest = [card for card in unseen if card not in hands[OTHER]]
    sign = 1 if setting.dealing else -1
    means = (
        mean_show(keeps[OWN], unseen, False)
        - mean_show(keeps[OTHER], rest, False)
        + sign * mean_show(crib, rest, True)
    )
    came = (
        mean_show(keeps[OWN], [starter], False)
        - mean_show(keeps[OTHER], [starter], False)
        + sign * mean_show(crib, [starter], True)
    )
    tally = row[S.TALLY :].reshape(-1, S.N_SOURCES)
    sources = [S.Source.HEELS, S.Source.PLAY_DEALER, S.Source.PLAY_PONE]
    pegged = float(tally[OWN, sources].sum() - tally[OTHER, sources].sum())
    own, other = game.scores
    return pegged, means, came, win_probability(own, other, not setting.dealing)


@pytest.mark.parametrize("dealing", [False, True])
@pytest.mark.parametrize("scores", [(0, 0), (104, 110), (119, 120)])
def test_rollouts_are_games(dealing: bool, scores: tuple[int, int]) -> None:
    """Each is what a `Game` with the same cards brings, the luck of the show set right."""
    setting = Setting(SIX, dealing, scores)
    throws = [setting.throws()[at] for at in (0, 7, 14)]
    number = 5
    found = play_out(MEDIUM, setting, throws, number, np.random.default_rng(6))
    dealt = rollouts._deal(setting, number, np.random.default_rng(6)).states
    worth = rollouts._worth(setting)
    for at in range(number):
        others = from_mask(int(dealt[at, S.HAND + OTHER]))
        deck = np.empty(13, np.int64)
        deck[int(dealing) : 12 : 2] = SIX
        deck[1 - int(dealing) : 12 : 2] = others
        deck[12] = dealt[at, S.STARTER]
        for which, throw in enumerate(throws):
            pegged, means, came, chance = play_one(setting, deck.tolist(), throw)
            assert found.points[which, at] == pytest.approx(pegged + means)
            assert found.wins[which, at] == pytest.approx(chance - worth * (came - means))


def test_a_part_of_the_rollouts_is_no_other_estimate() -> None:
    """The luck of the show that is taken out is nothing on average."""
    setting = Setting(SIX, True)
    dealt = play_out(MEDIUM, setting, setting.throws()[:1], 4000, np.random.default_rng(1))
    assert dealt.points.shape == dealt.wins.shape == (1, 4000)
    mean, error = dealt.wins.mean(), dealt.wins.std() / np.sqrt(4000)
    raw = []
    for seed in range(2):
        game = rollouts._deal(setting, 2000, np.random.default_rng(seed + 10))
        rollouts._discard(MEDIUM, game, np.array(setting.throws()[:1]), 2000)
        acting = game.all_rows
        while len(acting):
            seen = game.observe(acting, game.to_act[acting])
            game.apply(acting, MEDIUM.actions(*seen))
            acting = acting[~game.stopped[acting]]
        raw += [win_probability(int(own), int(other), False) for own, other in game.scores]
    apart = np.hypot(error, np.std(raw) / np.sqrt(len(raw)))
    assert abs(mean - np.mean(raw)) < 4 * apart
    assert dealt.wins.std() < 0.8 * np.std(raw)  # which is what it is for


def test_worth_of_a_point() -> None:
    assert 0.004 < rollouts._worth(Setting(SIX, False)) < 0.02
    assert rollouts._worth(Setting(SIX, False, (119, 119))) > 0.1


@pytest.mark.parametrize("name", ["medium", "random", "search", "discard:easy+play:medium"])
def test_throws_as_the_player_does(name: str) -> None:
    bot = make_bot(name)
    for seed in range(4):
        setting = draw_setting(np.random.default_rng(seed), dealing=bool(seed % 2), drawn=True)
        assert throw_of(bot, setting) == tuple(sorted(bot.discard(setting.view())))


def test_means_are_those_of_the_observation() -> None:
    """The best discard's mean is what the observation says of its cards."""
    from crib_agents.bot import encode
    from crib_env.observation import POINT, split
    from crib_env.rules import SIX_CARD

    for dealing in (False, True):
        setting = Setting(SIX, dealing)
        points = split(encode(setting.view())[0], SIX_CARD)["points"] / POINT
        best = max(setting.means().values())
        assert max(points[card] for card in SIX) == pytest.approx(best, abs=1e-4)


def test_candidates() -> None:
    setting = Setting(SIX, True)
    means = setting.means()
    order = sorted(means, key=lambda throw: -means[throw])
    near = candidates(setting, {order[-1]}, 1.0)
    assert order[0] in near
    assert order[-1] in near
    assert 2 < len(near) < 15
    assert all(means[throw] >= means[order[0]] - 1 for throw in near if throw != order[-1])
    assert len(candidates(setting, set(), 100)) == 15
    for scores, everything in (((0, 90), True), ((90, 0), True), ((89, 89), False)):
        tried = candidates(Setting(SIX, True, scores), set(), 0.0)
        assert (len(tried) == 15) == everything


def test_narrow_gives_up_what_is_surely_behind() -> None:
    setting = Setting(SIX, True)
    means = setting.means()
    best, *_, worst = sorted(means, key=lambda throw: -means[throw])
    random = np.random.default_rng(0)
    left = narrow(MEDIUM, setting, list(setting.throws()), {worst}, 500, random)
    assert best in left
    assert worst in left
    assert len(left) < 8
    assert [throw for throw in setting.throws() if throw in left] == left
    untouched = narrow(MEDIUM, setting, list(setting.throws()), {worst}, 64, random)
    assert len(untouched) == 15


def test_loss_where_one_is_clearly_best() -> None:
    values = np.tile([[3.0], [5.0], [4.5]], (1, 10))
    assert discards._lost(values, 0) == Measure(2.0, 2.0)
    assert discards._lost(values, 1) == Measure(0.0, 0.0)


def test_the_loss_lies_between_the_two_estimates() -> None:
    """Six discards as good as each other: nothing is lost, and noise is not taken for loss."""
    random = np.random.default_rng(5)
    found = [discards._lost(random.normal(size=(6, 200)), 0) for _ in range(600)]
    split = np.array([one.loss for one in found])
    most = np.array([one.most for one in found])
    assert abs(split.mean()) < 4 * split.std() / np.sqrt(600)
    assert most.mean() > 0.05  # the best of noisy means, valued by itself
    ahead = random.normal(size=(600, 2, 200)) + np.array([[0.0], [0.3]])
    split = np.array([discards._lost(values, 0).loss for values in ahead])
    most = np.array([discards._lost(values, 0).most for values in ahead])
    assert split.mean() < 0.31
    assert most.mean() > 0.29


def test_measured_losses() -> None:
    """A bad thrower loses much, a good one little; the same seed, the same numbers."""
    good = measure_discards(MEDIUM, 12, 200, seed=3)
    assert good == measure_discards(MEDIUM, 12, 200, seed=3)
    assert good[:3] == measure_discards(MEDIUM, 3, 200, seed=3)
    assert good != measure_discards(MEDIUM, 12, 200, seed=4)
    assert [deal.setting.dealing for deal in good] == [False, True] * 6
    assert all(deal.setting.scores == (0, 0) for deal in good)
    bad = Loss.of(measure_discards(ThrowsHigh(), 12, 200, seed=3))
    assert bad.points.mean > 1
    assert bad.wins.mean > 0.01
    assert bad.best < 0.5
    mean = Loss.of(good)
    assert mean.points.mean < 0.3
    assert mean.points_most.mean > mean.points.mean - 1e-9
    assert mean.behind == max(deal.behind for deal in good)
    for deal in good:
        means = deal.setting.means()
        assert deal.behind == max(means.values()) - means[deal.best]
    assert mean.points.low is not None
    assert mean.points.low <= mean.points.mean
    drawn = measure_discards(MEDIUM, 6, 64, seed=3, drawn=True)
    assert len({deal.setting.scores for deal in drawn}) > 3


def test_the_only_discard_in_question_loses_nothing() -> None:
    deals = measure_discards(MEDIUM, 12, 300, seed=3, within=0.5)
    sure = [deal for deal in deals if deal.points == Measure(0.0, 0.0)]
    assert sure
    assert all(deal.throw == deal.best and deal.wins == Measure(0.0, 0.0) for deal in sure)


def test_a_faulty_player_is_named() -> None:
    with pytest.raises(BotError, match="bot faulty"):
        measure_discards(Faulty(first_illegal), 1, 10)


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["discards", *map(str, arguments)])
    return int(left.value.code or 0)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "result.json"
    options = ("--deals", 4, "--rollouts", 63, "--seed", 3)
    assert run("medium", *options, "--json", file) == 0
    shown = capsys.readouterr().out
    found = json.loads(file.read_text())
    wanted: list[DealLoss] = measure_discards(MEDIUM, 4, 64, seed=3)
    mean = Loss.of(wanted)
    assert found["losses"]["all deals"]["points"] == mean.points.to_json()
    assert found["losses"]["as dealer"]["deals"] == found["losses"]["as pone"]["deals"] == 2
    assert [deal["throw"] for deal in found["deals"]] == [
        [str(card) for card in deal.throw] for deal in wanted
    ]
    assert found["command"] == ("crib discards medium --rollouts 64 --within 3 --seed 3 --deals 4")
    assert found["versions"].keys() == {"crib_env", "numpy", "python"}
    assert f"{mean.points.mean:.3f}" in shown
    assert "Deals at 0-0; up to 64 rollouts of a discard; seed 3." in shown
    assert list(tmp_path.iterdir()) == [file]
    assert run("medium", *options, "--markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| | all deals | as dealer | as pone |"


def test_refusals_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text("{}\n")
    for arguments, says in (
        (("nobody", "--deals", 1), "no bot 'nobody'"),
        (("medium", "--rollouts", 1), "--rollouts"),
        (("medium", "--problems", problems, "--deals", 3), "--deals says nothing to --problems"),
        (("medium", "--problems", problems, "--drawn"), "--drawn says nothing"),
        (("medium", "--problems", problems), "line 1"),
        (("medium", "--problems", tmp_path / "nothing"), "nothing"),
        (("medium", "--json", tmp_path / "nowhere" / "file"), "cannot write"),
    ):
        assert run(*arguments) == 2
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1


def test_all_discards_are_pairs_of_the_hand() -> None:
    assert Setting(SIX, True).throws() == tuple(combinations(SIX, 2))
