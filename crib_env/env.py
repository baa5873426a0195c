"""`CribbageEnv`: one player's seat as a Gymnasium environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from crib_env import engine
from crib_env.cards import CARDS, N_CARDS, from_mask, text
from crib_env.episodes import Episodes, Opponent, Seat
from crib_env.errors import (
    IllegalActionError,
    InvalidRenderModeError,
    InvalidRulesError,
    InvalidViewError,
)
from crib_env.observation import layout
from crib_env.rendering import ansi
from crib_env.rewards import Reward
from crib_env.rules import Rules, get_rules
from crib_env.view import SeatView

Space: TypeAlias = spaces.Space[NDArray[np.float32]]


def observation_space(rules: Rules) -> spaces.Box:
    """The space of observations under some rules, float32 ``[D]``."""
    low = np.concatenate([np.full(p.length, p.low, np.float32) for p in layout(rules)])
    high = np.concatenate([np.full(p.length, p.high, np.float32) for p in layout(rules)])
    return spaces.Box(low, high, dtype=np.float32)


START_OPTIONS = ("dealer", "deck", "scores")
"""Options of `reset` that say how an episode begins, in the order `Episodes.reset_to` takes."""


def check_options(options: Any) -> Mapping[str, Any]:
    """The options of a reset; none where there are none.

    Raises:
        InvalidViewError: when they are not named.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidViewError(f"options are named, as in {{'dealer': 0}}, not {options!r}")
    return options


class _Default(str):
    """What nobody has named, so that it is told from the same word said aloud."""


DEFAULT_OPPONENT = _Default("medium")


def named_opponents(opponent: str | Opponent, seat: Seat) -> list[str | Opponent]:
    """Who plays the other seats: one player, or where all decide and none is named nobody."""
    all_seats = isinstance(seat, str) and seat == "all"
    return [] if all_seats and opponent is DEFAULT_OPPONENT else [opponent]


def card_index(action: Any) -> int:
    """An action as a number.

    Raises:
        IllegalActionError: when it is no whole number.
    """
    try:
        return operator.index(action)
    except TypeError:
        raise IllegalActionError(f"an action is a card by index, not {action!r}") from None


class CribbageEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Cribbage from one seat, against players that the environment holds.

    ## Description

    Each deal, every player is dealt six cards and throws two to the crib, which is
    the dealer's. A card is turned up, the starter. The players then lay their cards
    in turn for points (the play), and count their hands, and the dealer the crib,
    with the starter (the show). The first at 121 wins, at once. The rules are exact
    and can be varied, see `crib_env.rules`.

    ## Action Space

    ``Discrete(52)``: an action is a card, ``4 * rank + suit`` with the ace rank 0 and
    the suits clubs, diamonds, hearts, spades. Before the starter the card goes to the
    crib (a discard of two cards is two steps), after it to the table. Go is forced,
    so it is never an action; with ``skip_forced`` nor is a single legal card.

    Legal actions are in ``info["action_mask"]`` (from `reset` and `step`) and from
    `action_masks`: int8 ``[52]``, 1 where legal, never all zero (all ones once the
    episode is over), a fresh array each time. An illegal action ends the game as lost
    with ``info["illegal_action"] = True``, or raises `IllegalActionError`.

    ## Observation Space

    ``Box`` float32 ``[D]``: what the seat sees, all of it and nothing else, as named
    pieces; `crib_env.observation.layout` lists them, `split` takes them apart.

    ## Rewards

    ``"win"``: at the end of the game 1 or -1. ``"margin"``: points gained on the other
    side since the last action. ``"win_probability"``: at the end of each deal, the
    change in the chance to win. Or a callable, see `crib_env.rewards`.

    ## Starting State

    A shuffled deal, the first dealer by the rules. A ``"deal"`` episode starts from
    scores drawn as real games come to them (in games other than six-card for two to
    121, from those of a new game). `reset` takes ``options``: ``deck`` (the
    first cards in the order dealt, one at a time from the dealer's left, then the
    starter), ``dealer`` (a seat), ``scores`` (points by side). Others are ignored.

    ## Episode End

    Terminated when somebody reaches the target; with ``episode="deal"`` also when the
    deal has been counted. Never truncated.

    ## Information

    ``action_mask`` always. After the last step also ``is_success`` (won, or in a deal
    that does not end the game more points than the other side), ``skunk`` (0, 1, or 2 for a
    double; given or taken), ``margin`` (points ahead), ``scores`` (points by side).

    ## All seats

    With ``seat="all"`` there are no opponents: each step is the decision of whoever is to
    act, and a seat may act several times running. ``info["seat"]`` says whose observation
    and mask it is (once the episode is over, the seat that acted last). The reward is that of
    the seat that laid the card: what the step brought it, with the forced cards, the show and
    the deal that followed. ``info["rewards"]``, float64 ``[players]``, from `step`, holds what
    it brought each seat and sums to nothing; what came to a seat between two decisions of its
    own is the sum of its column. ``is_success``, ``margin`` and ``skunk`` are then arrays
    by seat. An illegal action loses for the seat that tried it.

    ## Arguments

    Args:
        opponent: ``"random"``, ``"easy"``, ``"medium"``, the folder of an exported
            bundle, or an object with an ``actions`` method; none with ``seat="all"``.
        reward: ``"win"``, ``"margin"``, ``"win_probability"`` or a callable.
        episode: ``"game"`` or ``"deal"``.
        rules: a preset, fields, or `Rules`.
        seat: the player's seat, or ``"all"``.
        skip_forced: lay a card that is the only legal one without asking.
        illegal_action: ``"lose"`` or ``"raise"``.
        render_mode: ``"ansi"`` or None.

    ## Version History

    * v0: initial version.

    >>> import gymnasium, crib_env
    >>> env = gymnasium.make("crib_env/Cribbage-v0", opponent="medium")
    >>> observation, info = env.reset(seed=7)
    >>> int(info["action_mask"].sum())
    6
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["ansi"],
        "render_fps": 1,
    }

    def __init__(
        self,
        opponent: str | Opponent = DEFAULT_OPPONENT,
        reward: str | Reward = "win",
        episode: Literal["game", "deal"] = "game",
        rules: str | Rules | Mapping[str, Any] = "six-card",
        seat: Seat = 0,
        skip_forced: bool = True,
        illegal_action: Literal["lose", "raise"] = "lose",
        render_mode: str | None = None,
    ) -> None:
        if illegal_action not in ("lose", "raise"):
            raise InvalidRulesError(f"illegal_action is lose or raise, not {illegal_action!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidRenderModeError(f"render_mode is ansi or None, not {render_mode!r}")
        self.rules = get_rules(rules)
        self.render_mode = render_mode
        self.illegal_action = illegal_action
        self.observation_space = cast(Space, observation_space(self.rules))
        self.action_space = spaces.Discrete(N_CARDS)
        opponents = named_opponents(opponent, seat)
        self._episodes = Episodes(1, opponents, reward, episode, self.rules, seat, skip_forced)
        self._observer = int(self._episodes.seats[0])
        self._card = np.zeros(1, np.int64)
        self._seeded = False
        self._live = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: of this and the episodes that follow.
            options: ``deck``, ``dealer``, ``scores``, see the class.

        Returns:
            The observation float32 ``[D]`` and the info.

        Raises:
            InvalidCardError, InvalidViewError: for options that do not fit the rules.
        """
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._episodes.seed(0, int(self.np_random.integers(1 << 63)))
            self._seeded = True
        given = check_options(options)
        start = [given.get(name) for name in START_OPTIONS]
        if any(value is not None for value in start):
            self._episodes.reset_to(0, *start)
        else:
            self._episodes.reset(self._episodes.rows)
        self._live = True
        observation, mask = self._look()
        info: dict[str, Any] = {"action_mask": mask}
        if self._episodes.all_seats:
            info["seat"] = self._observer
        return observation, info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Lay a card; the others answer.

        Args:
            action: the card's index, 0 to 51.

        Returns:
            Observation float32 ``[D]``, reward, terminated, truncated (never), info.

        Raises:
            IllegalActionError: for an illegal card, with ``illegal_action="raise"``.
            gymnasium.error.ResetNeeded: when the episode is over.
        """
        if not self._live:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset first")
        card = card_index(action)
        if not 0 <= card < N_CARDS or self.illegal_action == "raise":
            card = self._checked(card)
        episodes = self._episodes
        self._card[0] = card
        outcome = episodes.step(episodes.rows, self._card)
        terminated = bool(outcome.ended[0])
        info: dict[str, Any] = {"action_mask": outcome.masks[0]}
        if episodes.all_seats:
            self._observer = int(outcome.observers[0])
            info["seat"], info["rewards"] = self._observer, outcome.by_seat[0]
        if terminated:
            self._live = False
            if outcome.illegal[0]:
                info["illegal_action"] = True
            info.update(self._result())
        return outcome.observations[0], float(outcome.rewards[0]), terminated, False, info

    def _checked(self, card: int) -> int:
        """A card that may be laid; -1 for any other, or an error where one is wanted."""
        legal = int(engine.legal(self._episodes.batch.states[0]))
        inside = 0 <= card < N_CARDS
        if inside and legal >> card & 1:
            return card
        if self.illegal_action == "raise":
            name = str(CARDS[card]) if inside else repr(card)
            raise IllegalActionError(f"{name} is not legal now, but {text(from_mask(legal))} are")
        return -1

    def _look(self) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        observations, masks, observers = self._episodes.look()
        self._observer = int(observers[0])
        return observations[0], masks[0]

    def _result(self) -> dict[str, Any]:
        found = {
            name: values[0] for name, values in self._episodes.results(self._episodes.rows).items()
        }
        if not self._episodes.all_seats:
            found["is_success"] = bool(found["is_success"])
            found["skunk"] = int(found["skunk"])
            found["margin"] = int(found["margin"])
        return found

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions, as sb3-contrib asks for them: int8 ``[52]``, 1 where legal."""
        return self._look()[1]

    def view(self) -> SeatView:
        """What the player sees now; with all seats to decide, the one whose observation it is."""
        return SeatView.of(self._episodes.batch.states[0], self.rules, self._observer)

    def render(self) -> str | None:
        """The table as text, with ``render_mode="ansi"``.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if not self._seeded:
            raise gymnasium.error.ResetNeeded("there is nothing to show: call reset first")
        return ansi(self.view()) if self.render_mode == "ansi" else None
