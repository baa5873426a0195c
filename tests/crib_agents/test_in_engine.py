"""Players inside the engine choose as they do from observations, and see no more."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import make_bot
from crib_agents.heuristic import HeuristicBot
from crib_agents.uniform import RandomBot
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.engine import history_entry
from crib_env.episodes import PlayOn
from crib_env.rules import SIX_CARD, Rules, get_rules
from crib_env.state import Phase
from crib_env.vector import CribbageVectorEnv
from tests.crib_agents.test_bots import GAMES, every_game
from tests.crib_env.support import random_decisions
from tests.crib_env.test_leak import with_other_hidden_cards

BOTS: dict[str, tuple[str, dict[str, Any]]] = {
    "random": ("random", {}),
    "easy": ("easy", {}),
    "medium": ("medium", {}),
    "medium that errs": ("medium", {"errs": 0.5, "crib": 0.5, "keep_low": 0.1}),
}
every_bot = pytest.mark.parametrize("kind", BOTS)


class Asked:
    """The same player, known by its observations alone."""

    def __init__(self, bot: Any) -> None:
        self.bot = bot

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """What the player answers."""
        cards: NDArray[np.int64] = self.bot.actions(observations, masks)
        return cards


def make(kind: str, rules: Rules) -> Any:
    name, settings = BOTS[kind]
    return make_bot(name, rules=rules, seed=7, **settings)


def play_on(bot: Any, rules: Rules) -> PlayOn:
    found: PlayOn | None = bot.in_engine(rules)
    assert found is not None
    return found


@every_game
@every_bot
def test_it_plays_on_as_from_observations(kind: str, rules: Rules) -> None:
    """From thousands of positions, to the last bit of the state."""
    bot = make(kind, rules)
    choices = np.random.default_rng(2)
    decisions = 0
    for skip_forced in (True, False):
        batch = GameBatch(300, rules, skip_forced=skip_forced)
        rows = batch.all_rows
        batch.start(rows, choices.integers(1 << 62, size=300), np.full(300, -1))
        batch.settle(rows)
        for step in range(40):
            seat = step % rules.players
            inside = batch.states.copy()
            play_on(bot, rules)(inside, rules.to_array(), rows, seat, False, skip_forced)
            while True:
                asked = rows[~batch.stopped & (batch.to_act != seat)]
                if not len(asked):
                    break
                decisions += len(asked)
                cards = bot.actions(*batch.observe(asked, batch.to_act[asked]))
                batch.apply(asked, cards)
            assert np.array_equal(inside, batch.states)
            live = rows[~batch.stopped]
            _, masks = batch.observe(live, batch.to_act[live])
            batch.apply(live, (masks * choices.random(masks.shape)).argmax(axis=1))
    assert decisions > 2000


@every_bot
@pytest.mark.parametrize("name", ["six-card", "three-player", "four-player", "five-card-historic"])
def test_hidden_cards_make_no_difference(kind: str, name: str) -> None:
    """All that a seat cannot know dealt anew: it throws, or lays, the same."""
    rules = GAMES[name]
    bot = make(kind, rules)
    chance = random.Random(3)
    settings = rules.to_array()
    compared = changed = 0
    for seed in range(8):
        for game in random_decisions(seed, rules):
            row = game.state()
            if row[S.PHASE] not in (Phase.DISCARD, Phase.PLAY):
                continue
            seat = int(row[S.TO_ACT])
            laid = int(row[S.HISTORY_LENGTH])
            other = with_other_hidden_cards(row, rules, seat, chance)
            changed += not np.array_equal(other[S.HAND :], row[S.HAND :])
            chosen = []
            for state in (row, other):
                states = state[None].copy()
                nobody = (seat + 1) % rules.players
                play_on(bot, rules)(states, settings, np.zeros(1, np.int64), nobody, True, False)
                if row[S.PHASE] == Phase.DISCARD:
                    chosen.append(int(states[0, S.THROWN_CARDS + seat]))
                else:
                    chosen.append(int(history_entry(states[0], laid)))
            assert chosen[0] == chosen[1]
            compared += 1
    assert changed > 0.9 * compared > 100


@every_game
@every_bot
def test_an_environment_is_the_same_with_either(kind: str, rules: Rules) -> None:
    arguments: dict[str, Any] = {"rules": rules, "episode": "game", "reward": "margin"}
    inside = CribbageVectorEnv(40, opponent=make(kind, rules), **arguments)
    asked = CribbageVectorEnv(40, opponent=Asked(make(kind, rules)), **arguments)
    choices = np.random.default_rng(4)
    one, infos = inside.reset(seed=1)
    two, _ = asked.reset(seed=1)
    for _ in range(80):
        assert np.array_equal(one, two)
        masks = infos["action_mask"]
        cards = (masks * choices.random(masks.shape)).argmax(axis=1)
        one, *first, infos = inside.step(cards)
        two, *second, other = asked.step(cards)
        assert np.array_equal(infos["action_mask"], other["action_mask"])
        for ours, theirs in zip(first, second, strict=True):
            assert np.array_equal(ours, theirs)


def test_settings_changed_later_hold() -> None:
    bot: Any = make_bot("easy")
    envs = CribbageVectorEnv(20, opponent=bot)
    _, infos = envs.reset(seed=0)
    envs.step(infos["action_mask"].argmax(axis=1))
    bot.set_options({"errs": 1.0, "seed": 5})
    twin = CribbageVectorEnv(20, opponent=Asked(make_bot("easy")))
    twin.reset(seed=0)
    _, _, _, _, infos = twin.step(infos["action_mask"].argmax(axis=1))
    twin.opponents[0] = Asked(bot)
    for _ in range(20):
        cards = infos["action_mask"].argmax(axis=1)
        observations, *_ = envs.step(cards)
        expected, *_, infos = twin.step(cards)
        assert np.array_equal(observations, expected)


def test_it_plays_so_only_under_its_own_rules() -> None:
    for bot in (RandomBot(), make_bot("medium")):
        assert isinstance(bot, RandomBot | HeuristicBot)
        assert bot.in_engine(SIX_CARD) is not None
        claimed = get_rules({"preset": "six-card", "counting": "manual", "muggins": True})
        assert bot.in_engine(claimed) is not None, "claims are not its business"
        assert bot.in_engine(get_rules("five-card")) is None


def test_a_player_that_only_changes_its_actions_is_asked() -> None:
    class Lowest(RandomBot):
        asked = 0

        def actions(
            self, observations: NDArray[np.float32], masks: NDArray[np.int8]
        ) -> NDArray[np.int64]:
            self.asked += 1
            return np.argmax(masks, axis=1)

    bot = Lowest()
    CribbageVectorEnv(4, opponent=bot).reset(seed=0)
    assert bot.asked
