"""Players made of others: two as one, and one that is told that the score is 0-0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import Bot, BotError, make_bot
from crib_agents.bot import BatchBot, encode
from crib_agents.composed import BlindBot, ComposedBot
from crib_env import Game
from crib_env.observation import split
from crib_env.rules import PRESETS, SIX_CARD, Rules
from crib_env.view import SeatView
from crib_evaluate.match import play_match

NAME = "discard:easy+play:random"


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_throws_as_the_one_and_lays_as_the_other(rules: Rules) -> None:
    both = make_bot(NAME, rules=rules, seed=4)
    easy, uniform = (make_bot(name, rules=rules, seed=4) for name in ("easy", "random"))
    assert isinstance(both, Bot)
    pairs, expected = [], []
    for seed in range(3):
        game = Game(rules, seed=seed)
        while not game.is_over:
            seen = game.view(game.to_act)
            pairs.append(encode(seen))
            bot = easy if game.phase == "discard" else uniform
            expected.append(bot.actions(pairs[-1][0][None], pairs[-1][1][None])[0])
            if game.phase == "discard":
                cards = both.discard(seen) if not seen.discards else ()
                assert not cards or cards == easy.discard(seen)
            else:
                assert both.play(seen) == uniform.play(seen)
            game.apply(int(expected[-1]))
    observations, masks = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    assert both.actions(observations, masks).tolist() == expected


def test_it_is_a_player_wherever_a_name_is() -> None:
    result = play_match(NAME, "discard:random+play:easy", games=200)
    assert [player.name for player in result.players] == [NAME, "discard:random+play:easy"]
    assert result.command is not None
    assert NAME in result.command
    assert result.players[0].win_rate.mean > 0.5  # discards weigh more than the play


def test_a_player_with_itself_is_that_player() -> None:
    result = play_match("discard:medium+play:medium", "medium", games=50)
    assert result.players[0].win_rate.mean == 0.5


def test_bots_may_be_given_as_objects() -> None:
    both = ComposedBot(make_bot("medium"), make_bot("easy"))
    assert both.name == "discard:medium+play:easy"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("discard:nobody+play:easy", "no bot 'nobody'"),
        ("discard:easy+play:", "a bot has a name"),
        ("discard:easy", "no bot 'discard:easy'"),
        ("play:easy+discard:easy", "no bot 'play:easy"),
        ("blind:", "a bot has a name"),
        ("blind:nobody", "no bot 'nobody'"),
        ("discard:easy+play:" + 300 * "x", "no bot 'xxx"),
    ],
)
def test_names_that_are_none(name: str, words: str) -> None:
    with pytest.raises(BotError, match=words):
        make_bot(name)


def test_it_takes_no_options() -> None:
    with pytest.raises(BotError, match="take no options"):
        make_bot(NAME, errs=0.5)


class ByScore(BatchBot):
    """Its lowest card when its own score is even, else its highest; keeps what it was shown."""

    name = "by-score"

    def __init__(self, rules: Rules = SIX_CARD) -> None:
        self.rules = rules
        self.seen: list[NDArray[np.float32]] = []

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        self.seen.extend(observations)
        scores = split(observations, self.rules)["scores"][:, 0] * self.rules.target
        even = np.rint(scores) % 2 == 0
        highest = 51 - masks[:, ::-1].argmax(axis=1)
        return np.where(even, masks.argmax(axis=1), highest)


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_the_blind_are_told_that_it_is_0_0(rules: Rules) -> None:
    """What it is shown is what would be seen at 0-0, number for number, in both forms."""
    inner = ByScore(rules)
    blind = BlindBot(inner, rules)
    assert isinstance(blind, Bot)
    assert blind.name == "blind:by-score"
    random = np.random.default_rng(3)
    for seed in range(3):
        game = Game(rules, seed=seed, scores=random.integers(1, 30, rules.sides).tolist())
        while not game.is_over:
            view = game.view(game.to_act)
            observation, mask = encode(view)
            before = observation.copy()
            expected = encode(replace(view, scores=(0,) * rules.sides))[0]
            card = int(blind.actions(observation[None], mask[None])[0])
            assert np.array_equal(observation, before)
            assert np.array_equal(inner.seen[-1], expected)
            assert card == mask.argmax()
            if game.phase == "discard":
                assert view.discards or card in blind.discard(view)
            else:
                assert blind.play(view) == card
            game.apply(card)


def test_blind_wherever_a_name_is() -> None:
    blind = make_bot("blind:search", samples=5)
    assert isinstance(blind, BlindBot)
    assert blind.player.options()["samples"] == 5  # type: ignore[attr-defined]
    half = make_bot("discard:blind:medium+play:medium")
    assert isinstance(half, ComposedBot)
    assert isinstance(half.throws, BlindBot)
    assert half.name == "discard:blind:medium+play:medium"
    whole = make_bot("blind:discard:easy+play:medium")
    assert isinstance(whole, BlindBot)
    assert isinstance(whole.player, ComposedBot)


def test_who_does_not_look_at_the_score_is_the_same_when_blind() -> None:
    result = play_match("blind:medium", "medium", games=50)
    assert result.players[0].win_rate.mean == 0.5


def test_search_throws_otherwise_when_blind() -> None:
    """Pone at 119-119 needs two before anything else; told 0-0 it throws as at 0-0."""
    hand = ["AC", "4D", "5H", "9S", "QC", "KD"]
    view = SeatView.from_json({"seat": 0, "dealer": 1, "hand": hand, "scores": [119, 119]})
    search, blind = make_bot("search"), make_bot("blind:search")
    thrown = {" ".join(map(str, bot.discard(view))) for bot in (search, blind)}
    assert thrown == {"AC 4D", "9S KD"}
    assert blind.discard(view) == search.discard(replace(view, scores=(0, 0)))
