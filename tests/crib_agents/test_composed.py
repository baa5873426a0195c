"""Two players as one: each is asked for its half, in both forms, in every game."""

from __future__ import annotations

import numpy as np
import pytest

from crib_agents import Bot, BotError, make_bot
from crib_agents.bot import encode
from crib_agents.composed import ComposedBot
from crib_env import Game
from crib_env.rules import PRESETS, Rules
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
    ],
)
def test_names_that_are_none(name: str, words: str) -> None:
    with pytest.raises(BotError, match=words):
        make_bot(name)


def test_it_takes_no_options() -> None:
    with pytest.raises(BotError, match="take no options"):
        make_bot(NAME, errs=0.5)
