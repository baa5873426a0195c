"""Cribbage for several agents: PettingZoo environments in which every seat is an agent.

`env` makes the game in PettingZoo's AEC form, `parallel_env` in its parallel form.

>>> from crib_env import aec
>>> env = aec.env(rules="three-player")
>>> env.reset(seed=1)
>>> env.possible_agents
['player_0', 'player_1', 'player_2']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from operator import index
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.cards import CARDS, N_CARDS, parse_cards, text
from crib_env.env import check_options, observation_space
from crib_env.errors import IllegalActionError, InvalidRenderModeError, InvalidRulesError
from crib_env.game import check_dealer, check_deck, check_scores, whole_number
from crib_env.rendering import ansi
from crib_env.rewards import Change, Reward, get_reward
from crib_env.rules import Rules, get_rules
from crib_env.view import SeatView

Observation = dict[str, NDArray[Any]]


class CardSpace(spaces.Discrete):
    """The 52 cards by index; without a mask it draws from those that may be laid now.

    Args:
        legal: says which those are, int8 ``[52]``.
    """

    def __init__(self, legal: Callable[[], NDArray[np.int8]]) -> None:
        super().__init__(N_CARDS)
        self._legal = legal

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A card, as `gymnasium.spaces.Discrete.sample` draws it."""
        if mask is None and probability is None:
            mask = self._legal()
        return super().sample(mask, probability)


class CribbageAEC(AECEnv[str, Observation, Any]):  # type: ignore[misc]
    """A game of cribbage in which every seat is an agent, ``player_0`` and so on.

    Actions are cards, ``Discrete(52)``, as in `crib_env.env.CribbageEnv`. Agents act
    in the order of the game, which is no strict rotation: a seat may throw two cards
    in a row, or play on alone after a go. An observation is a dict of ``observation``,
    float32 ``[D]``, and ``action_mask``, int8 ``[52]`` (all ones where the agent has
    nothing to choose). It never holds a card that its seat cannot see. Rewards are
    zero-sum over seats or teams.

    Args:
        rules: a preset, fields, or `Rules`; counting is always automatic.
        reward: a name or a callable, see `crib_env.rewards`.
        skip_forced: lay a card that is the only legal one without asking.
        max_cycles: how often each agent acts; None for no limit. For one that has
            acted so often cards are laid by chance until the others have too, then the
            game is truncated for all.
        illegal_action: ``"raise"``, or ``"replace"``: an illegal card stands for a legal
            one drawn by chance, for callers that know no masks.
        render_mode: ``"ansi"``, ``"human"`` (prints it) or None.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "cribbage_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "six-card",
        reward: str | Reward = "win",
        skip_forced: bool = True,
        max_cycles: int | None = None,
        illegal_action: Literal["raise", "replace"] = "raise",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidRenderModeError(f"render_mode is human, ansi or None, not {render_mode!r}")
        if illegal_action not in ("raise", "replace"):
            raise InvalidRulesError(f"illegal_action is raise or replace, not {illegal_action!r}")
        if max_cycles is not None and whole_number(max_cycles, "max_cycles") < 1:
            raise InvalidRulesError("max_cycles is at least 1, or None for no limit")
        self.rules = replace(get_rules(rules), counting="automatic", muggins=False)
        self.render_mode = render_mode
        self.max_cycles = max_cycles
        self.illegal_action = illegal_action
        self._reward = get_reward(reward, self.rules)
        if not isinstance(skip_forced, bool):
            raise InvalidRulesError(f"skip_forced is true or false, not {skip_forced!r}")
        self._batch = GameBatch(1, self.rules, skip_forced=skip_forced)
        self._row = self._batch.all_rows
        self._seats = np.arange(self.rules.players)
        self._sides = np.array([self.rules.side(seat) for seat in range(self.rules.players)])
        self._random: np.random.Generator | None = None
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents: list[str] = []
        box = observation_space(self.rules)
        mask = spaces.Box(0, 1, (N_CARDS,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": box, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: CardSpace(partial(self._mask, agent)) for agent in self.possible_agents
        }

    def _mask(self, agent: str) -> NDArray[np.int8]:
        return self.observe(agent)["action_mask"]

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The space of an agent's actions: a card by index, see `CardSpace`."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: of this and the games that follow.
            options: ``deck``, ``dealer``, ``scores`` as for `CribbageEnv`.
        """
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        given = check_options(options)
        dealer = check_dealer(given.get("dealer"), self.rules)
        deck = check_deck(given.get("deck"), self.rules)
        scores = check_scores(given.get("scores"), self.rules)
        word = int(self._random.integers(1 << 63))
        self._batch.start_one(0, word, -1 if dealer is None else dealer, deck)
        if scores is not None:
            self._batch.scores[0] = scores
        self._batch.settle(self._row)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._acted = dict.fromkeys(self.agents, 0)
        self._note_deal()
        self.agent_selection = self.agents[int(self._batch.to_act[0])]

    def observe(self, agent: str) -> Observation:
        """What an agent sees, and what it may do: fresh arrays."""
        seat = self.possible_agents.index(agent)
        observations, masks = self._batch.observe(self._row, self._seats[seat : seat + 1])
        return {"observation": observations[0], "action_mask": masks[0]}

    def step(self, action: Any) -> None:
        """The agent to act lays a card.

        Raises:
            IllegalActionError: for a card that is not legal; `env` wraps the game so that
                its player loses instead.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        card = self._legal_card(agent, action)
        self._cumulative_rewards[agent] = 0.0
        before = self._batch.scores[0].copy()
        self._batch.apply(self._row, np.array([card], np.int64))
        self._note_action(agent)
        finished = self._play_for_the_finished()
        self._settle_rewards(before)
        if self._batch.stopped[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        elif finished:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[int(self._batch.to_act[0])]
        self._accumulate_rewards()
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _note_action(self, agent: str) -> None:
        self._acted[agent] += 1

    def _play_for_the_finished(self) -> bool:
        """Lay cards by chance for agents that have acted often enough; whether all have."""
        if self.max_cycles is None:
            return False
        if min(self._acted.values()) >= self.max_cycles:
            return True
        while not self._batch.stopped[0]:
            agent = self.possible_agents[int(self._batch.to_act[0])]
            if self._acted[agent] < self.max_cycles:
                break
            card = self._chance().choice(np.flatnonzero(self._mask(agent)))
            self._batch.apply(self._row, np.array([card], np.int64))
        return False

    def _chance(self) -> np.random.Generator:
        assert self._random is not None, "reset makes it"
        return self._random

    def _legal_card(self, agent: str, action: Any) -> int:
        """The card that an action stands for."""
        legal = np.flatnonzero(self._mask(agent)).tolist()
        try:
            card = index(action)
        except TypeError:
            card = -1
        if card in legal:
            return card
        if self.illegal_action == "replace":
            return int(self._chance().choice(legal))
        name = str(CARDS[card]) if 0 <= card < N_CARDS else repr(action)
        raise IllegalActionError(f"{name} is not legal now, but {text(parse_cards(legal))}")

    def _note_deal(self) -> None:
        self._deal_scores = self._batch.scores[0].copy()
        self._deal_dealer = int(self._batch.dealer[0])
        self._deal_number = int(self._batch.states[0, S.DEAL_NUMBER])

    def _settle_rewards(self, before: NDArray[np.int64]) -> None:
        """What the step gave every seat."""
        players = self.rules.players
        stopped = bool(self._batch.stopped[0])
        new_deal = int(self._batch.states[0, S.DEAL_NUMBER]) != self._deal_number
        dealer = (int(self._batch.dealer[0]) + stopped) % players

        def repeat(row: Any) -> NDArray[Any]:
            return np.repeat(np.asarray(row)[None], players, axis=0)

        change = Change(
            side=self._sides,
            before=repeat(before),
            after=repeat(self._batch.scores[0]),
            deal_before=repeat(self._deal_scores),
            dealer_before=repeat(self.rules.side(self._deal_dealer)),
            dealer_after=repeat(self.rules.side(dealer)),
            deal_over=repeat(stopped or new_deal),
            over=repeat(self._batch.over[0]),
            winner=repeat(self._batch.winner[0]),
        )
        rewards = self._reward(change)
        self.rewards = {
            agent: float(reward) for agent, reward in zip(self.agents, rewards, strict=True)
        }
        if new_deal:
            self._note_deal()

    def render(self) -> str | None:
        """The table as the agent to act sees it."""
        if self.render_mode is None:
            return None
        seat = self.possible_agents.index(self.agent_selection)
        table = ansi(SeatView.of(self._batch.states[0], self.rules, seat))
        if self.render_mode == "human":
            print(table)
            return None
        return table

    def close(self) -> None:
        """Nothing is held open."""


raw_env = CribbageAEC


class _Together(CribbageAEC):
    """The game in which all agents give an action at every step, and that of one is taken."""

    def _note_action(self, agent: str) -> None:
        for each in self._acted:
            self._acted[each] += 1


def _wrapped(
    game: type[CribbageAEC], illegal_action: str, arguments: dict[str, Any]
) -> AECEnv[str, Observation, Any]:
    if illegal_action == "lose":
        made: AECEnv[str, Observation, Any] = wrappers.TerminateIllegalWrapper(
            game(**arguments), illegal_reward=-1
        )
    else:
        made = game(illegal_action=illegal_action, **arguments)  # type: ignore[arg-type]
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(made))


def env(
    *, illegal_action: Literal["lose", "raise", "replace"] = "lose", **arguments: Any
) -> AECEnv[str, Observation, Any]:
    """The game with the usual wrappers: calls out of order and actions out of range are told.

    Args:
        illegal_action: after ``"lose"`` an illegal card ends the game, with -1 for the
            agent that laid it and nothing for the others; else as for `CribbageAEC`.
        arguments: as for `CribbageAEC`.
    """
    return _wrapped(CribbageAEC, illegal_action, arguments)


def parallel_env(
    *, illegal_action: Literal["lose", "raise", "replace"] = "lose", **arguments: Any
) -> ParallelEnv[str, Observation, Any]:
    """The game as a parallel environment, for libraries that know no other.

    At every step all agents give an action; that of the agent to act is taken, the others
    (their masks are all ones) have no effect. After a step ``info["active_agent"]`` names the
    agent to act. As all give one at every step, ``max_cycles`` is here a number of steps.

    Args:
        illegal_action, arguments: as for `env`.
    """
    return turn_based_aec_to_parallel(_wrapped(_Together, illegal_action, arguments))
