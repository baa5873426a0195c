"""Episodes of one player against others, or of all seats, in batches: what both environments step.

No Gymnasium here: arrays in, arrays out. Opponents act inside the engine where they
can, else in batches through their `actions` method; they are handed in as objects,
or resolved by name only when an environment is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from crib_env import state as S
from crib_env import stepping
from crib_env._jit import njit
from crib_env.batch import GameBatch, Rows
from crib_env.cards import N_CARDS
from crib_env.engine import NO_EVENTS
from crib_env.errors import IllegalActionError, InvalidRulesError, InvalidViewError
from crib_env.game import check_dealer, check_deck, check_scores
from crib_env.randomness import next_random
from crib_env.rewards import CUSTOM, Change, Reward, get_chances, get_reward, number_of
from crib_env.rules import Rules
from crib_env.win_probability import deal_starts, supports

Seat: TypeAlias = int | Literal["all"]
"""Whose decisions an environment asks for: one seat's, or those of all."""

PlayOn: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64], Rows, int, bool, bool], None]
"""Plays on in a batch until a seat has to decide, or nobody: takes the states int64
``[B, STATE_SIZE]`` (changed in place), the rules as `Rules.to_array` gives them, the rows to
play int64 ``[n]``, the seat to stop at, and ``one_deal`` and ``skip_forced`` as `engine.settle`
has them."""

_DEAL_OVER = int(S.Phase.DEAL_OVER)  # numpy takes ten times as long to compare with an enumeration


class Opponent(Protocol):
    """What an environment needs of a player.

    A player whose choice is a compiled function may also have a method
    ``in_engine(rules: Rules) -> PlayOn | None``: how it plays under these rules without
    an observation being written, or None where it does not. It may read of a game only what
    the seat to act knows (`crib_env.observation.seen_by`), and chooses as `actions` does. A
    subclass that changes `actions` alone is asked by `actions`.
    """

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card, int64 ``[B]``, for observations ``[B, D]`` and masks int8 ``[B, 52]``."""
        ...


def resolve_opponent(opponent: str | Opponent, rules: Rules) -> Opponent:
    """A player by name, or the object itself."""
    if not isinstance(opponent, str):
        if not callable(getattr(opponent, "actions", None)):
            raise InvalidRulesError(f"an opponent is a name or has actions, unlike {opponent!r}")
        return opponent
    # By name: the environment library does not depend on the players.
    return cast(Opponent, import_module("crib_agents").make_bot(opponent, rules=rules))


def _in_engine(opponent: Any, rules: Rules) -> PlayOn | None:
    """How a player plays inside the engine; None where only its `actions` tell."""
    names = [vars(kind) for kind in type(opponent).__mro__]
    for known in (getattr(opponent, "__dict__", {}), *names):
        if "in_engine" in known:
            return cast("PlayOn | None", opponent.in_engine(rules))
        if "actions" in known:
            return None
    return None


class Outcome(NamedTuple):
    """What came of a step, by row; where a row was not stepped there is nothing to see yet.

    Attributes:
        observations: float32 ``[size, D]``.
        masks: int8 ``[size, 52]``.
        observers: whose they are, int64 ``[size]``.
        rewards: float64 ``[size]``, of the seat that laid the card.
        by_seat: float64 ``[size, seats]``, of every seat that is played here.
        ended: whether the episode is over, bool ``[size]``.
        illegal: whether it is because the card might not be laid, bool ``[size]``.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    observers: NDArray[np.int64]
    rewards: NDArray[np.float64]
    by_seat: NDArray[np.float64]
    ended: NDArray[np.bool_]
    illegal: NDArray[np.bool_]


@lru_cache(maxsize=1)
def _start_odds() -> NDArray[np.float64]:
    return np.cumsum(deal_starts().ravel())


@njit
def _next_words(chains: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Advance the chain of seeds of each row; 64 bits each."""
    s = np.zeros(S.STATE_SIZE, np.int64)
    for k in range(rows.shape[0]):
        s[S.RANDOM] = chains[rows[k]]
        out[k] = next_random(s)
        chains[rows[k]] = s[S.RANDOM]


class Episodes:
    """``size`` games in which one player decides and the others answer, or all decide.

    Args:
        size: how many games.
        opponents: players of the other seats; row ``i`` meets number ``i`` modulo
            their number. None where all seats decide.
        reward: a name or a callable, see `crib_env.rewards`.
        episode: ``"game"``, or one ``"deal"`` from drawn or given scores.
        rules: the rules.
        seat: the player's seat, or ``"all"``.
        skip_forced: single legal cards are laid without asking.
    """

    def __init__(
        self,
        size: int,
        opponents: Sequence[str | Opponent],
        reward: str | Reward,
        episode: Literal["game", "deal"],
        rules: Rules,
        seat: Seat,
        skip_forced: bool,
    ) -> None:
        if episode not in ("game", "deal"):
            raise InvalidRulesError(f"an episode is a game or a deal, not {episode!r}")
        self.all_seats = isinstance(seat, str) and seat == "all"
        whole = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if not self.all_seats and not (whole and 0 <= int(seat) < rules.players):
            raise InvalidRulesError(f"seats go from 0 to {rules.players - 1}, or all, not {seat!r}")
        if not isinstance(skip_forced, bool):
            raise InvalidRulesError(f"skip_forced is true or false, not {skip_forced!r}")
        if self.all_seats and opponents:
            raise InvalidRulesError("with all seats to decide for there is no opponent")
        if not self.all_seats and not opponents:
            raise InvalidRulesError("there must be an opponent")
        # Points are counted by the engine, whatever the rules say of the players' claims.
        self.rules = rules = replace(rules, counting="automatic", muggins=False)
        seats = range(rules.players) if self.all_seats else (int(seat),)
        self.seats: NDArray[np.int64] = np.array(seats, np.int64)
        self._seat = -1 if self.all_seats else int(seat)
        self._sides = np.array([rules.side(each) for each in seats], np.int64)
        self.one_deal = episode == "deal"
        self.skip_forced = skip_forced
        self.opponents = [resolve_opponent(opponent, rules) for opponent in opponents]
        self._playing_on: list[tuple[Opponent | None, PlayOn | None]] = [
            (None, None) for _ in opponents
        ]
        self.reward = get_reward(reward, rules)
        self._reward_number = number_of(self.reward)
        self._chances = get_chances(self._reward_number)
        self.batch = GameBatch(size, rules, one_deal=self.one_deal, skip_forced=skip_forced)
        self.rows: Rows = self.batch.all_rows
        self._notes = np.zeros((size, stepping.NOTES), np.int64)
        self._chains = np.zeros(size, np.int64)
        self._which = self.rows % len(opponents) if len(opponents) > 1 else self.rows[:0]
        self._draws_scores = self.one_deal and supports(rules)
        self._skunks = np.array(
            [rules.skunk(points) for points in range(rules.target + 1)], np.int64
        )

    def seed(self, row: int, word: int) -> None:
        """Set the seed from which a row's episodes follow: 64 bits."""
        self._chains[row] = word

    def _words(self, rows: Rows) -> NDArray[np.int64]:
        words = np.empty(len(rows), np.int64)
        _next_words(self._chains, rows, words)
        return words

    def reset(self, rows: Rows) -> None:
        """Begin new episodes in some rows."""
        while len(rows):
            self.batch.start(rows, self._words(rows), np.full(len(rows), -1, np.int64))
            if self._draws_scores:
                self._draw_scores(rows)
            self._begin(rows)
            over = self.batch.states[rows, S.PHASE] >= _DEAL_OVER
            rows = rows[over]  # before the player was asked

    def reset_to(self, row: int, dealer: Any, deck: Any, scores: Any) -> None:
        """Begin an episode with the first dealer, deck or scores given; None for each as usual.

        Raises:
            InvalidViewError, InvalidCardError: for values that do not fit the rules, or a
                game that ends before the player is asked.
        """
        first = check_dealer(dealer, self.rules)
        cards = check_deck(deck, self.rules)
        points = check_scores(scores, self.rules)
        rows = self.rows[row : row + 1]
        seed = int(self._words(rows)[0])
        self.batch.start_one(row, seed, -1 if first is None else first, cards)
        if points is not None:
            self.batch.scores[row] = points
        elif self._draws_scores:
            self._draw_scores(rows)
        self._begin(rows)
        if self.batch.stopped[row]:
            raise InvalidViewError("that game ends before the player is asked")

    def _draw_scores(self, rows: Rows) -> None:
        chance = (self._words(rows) >> 11 & ((1 << 53) - 1)) / float(1 << 53)
        place = np.searchsorted(_start_odds(), chance, side="right")
        place = np.minimum(place, self.rules.target**2 - 1)
        dealer = self.batch.dealer[rows]
        scores = self.batch.scores
        scores[rows, dealer] = place // self.rules.target
        scores[rows, 1 - dealer] = place % self.rules.target

    def _begin(self, rows: Rows) -> None:
        batch = self.batch
        stepping.begin(
            batch.states,
            self._notes,
            batch.rules_row,
            NO_EVENTS,
            rows,
            self.one_deal,
            self.skip_forced,
        )
        self._answer(rows)
        stepping.note_decision(batch.states, self._notes, rows)

    def _answer(self, rows: Rows) -> None:
        """The opponents act until the player has to, or nobody."""
        if len(self.opponents) < 2:
            if self.opponents:
                self._ask(0, rows)
            return
        which = self._which[rows]
        for number in range(len(self.opponents)):
            self._ask(number, rows[which == number])

    def _ask(self, number: int, rows: Rows) -> None:
        """One of them acts, in rows that are its own."""
        batch = self.batch
        opponent = self.opponents[number]
        if self._playing_on[number][0] is not opponent:
            self._playing_on[number] = opponent, _in_engine(opponent, self.rules)
        play_on = self._playing_on[number][1]
        if play_on is not None:
            play_on(
                batch.states, batch.rules_row, rows, self._seat, self.one_deal, self.skip_forced
            )
            return
        while True:
            rows = rows[~batch.stopped[rows] & (batch.to_act[rows] != self._seat)]
            if not len(rows):
                return
            observations, masks = batch.observe(rows, batch.to_act[rows])
            cards = np.asarray(opponent.actions(observations, masks))
            try:
                batch.apply(rows, cards)
            except IllegalActionError as error:
                name = getattr(opponent, "name", type(opponent).__name__)
                raise IllegalActionError(f"opponent {name}: {error}") from None

    def legal(self, rows: Rows, cards: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each card may be laid, bool ``[n]``."""
        return self.batch.legal(rows, cards)

    def step(self, rows: Rows, cards: NDArray[np.int64]) -> Outcome:
        """A card is laid in each row, and the others answer; an illegal one loses.

        Args:
            rows: int64 ``[n]``, whose episodes go on.
            cards: int64 ``[size]``, by row; any number that is no legal card is illegal.
        """
        batch = self.batch
        size = len(self.rows)
        ended = np.zeros(size, np.bool_)
        illegal = np.zeros(size, np.bool_)
        by_seat = np.zeros((size, len(self.seats)), np.float64)
        observations, masks, observers = self._room()
        stepping.lay(
            batch.states,
            self._notes,
            batch.rules_row,
            NO_EVENTS,
            rows,
            cards,
            self.one_deal,
            self.skip_forced,
            illegal,
        )
        self._answer(rows)
        if self._reward_number == CUSTOM:
            self._ask_reward(rows, by_seat)
        stepping.tell(
            batch.states,
            self._notes,
            batch.rules_row,
            rows,
            self.seats,
            batch.offsets,
            self._reward_number,
            self._chances,
            by_seat,
            ended,
            observations,
            masks.view(np.uint32),
            observers,
        )
        if self.all_seats:
            rewards = by_seat[self.rows, self._notes[:, stepping.ACTOR]]
        else:
            rewards = by_seat[:, 0]
        return Outcome(observations, masks, observers, rewards, by_seat, ended, illegal)

    def _ask_reward(self, rows: Rows, by_seat: NDArray[np.float64]) -> None:
        """Rewards of a callable."""
        for side in set(self._sides.tolist()):
            paid = np.asarray(self.reward(self._change(rows, side)))
            if paid.dtype.kind not in "iufb" or paid.shape not in ((), rows.shape):
                raise InvalidRulesError(
                    f"a reward is {len(rows)} numbers, not {paid.dtype} {list(paid.shape)}"
                )
            for seat in np.flatnonzero(self._sides == side):
                by_seat[rows, seat] = paid

    def _change(self, rows: Rows, side: int) -> Change:
        batch = self.batch
        sides = self.rules.sides
        notes = self._notes[rows]
        dealer = batch.dealer[rows]
        stopped = batch.stopped[rows]
        after = np.where(stopped, (dealer + 1) % self.rules.players, dealer)
        # As in `stepping`: a deal that began since the last decision has pegged nothing yet.
        new_deal = batch.states[rows, S.DEAL_NUMBER] != notes[:, stepping.DEAL_NUMBER]
        return Change(
            side=np.full(len(rows), side, np.int64),
            before=notes[:, stepping.BEFORE : stepping.BEFORE + sides],
            after=batch.scores[rows],
            deal_before=notes[:, stepping.DEAL_BEFORE : stepping.DEAL_BEFORE + sides],
            dealer_before=notes[:, stepping.DEALER] % sides,
            dealer_after=after % sides,
            deal_over=stopped | new_deal,
            over=batch.over[rows],
            winner=batch.winner[rows],
            games=batch.states[rows],
        )

    def _room(self) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int64]]:
        """Fresh arrays for observations, masks and whose they are, by row."""
        size = len(self.rows)
        return (
            np.empty((size, self.batch.observation_size), np.float32),
            np.empty((size, N_CARDS), np.int8),
            np.empty(size, np.int64),
        )

    def look_again(
        self,
        rows: Rows,
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        observers: NDArray[np.int64],
    ) -> None:
        """Write what there is to see in some rows into arrays of all, as in `Outcome`."""
        batch = self.batch
        stepping.look(
            batch.states,
            self._notes,
            batch.rules_row,
            rows,
            self.seats,
            batch.offsets,
            observations,
            masks.view(np.uint32),
            observers,
        )

    def look(self) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int64]]:
        """What there is to see in all rows, fresh arrays.

        Returns:
            Observations float32 ``[size, D]``, masks int8 ``[size, 52]`` and whose they
            are, int64 ``[size]``.
        """
        room = self._room()
        self.look_again(self.rows, *room)
        return room

    def results(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """How episodes that are over ended; nothing in other rows.

        Returns:
            ``is_success`` bool ``[size]`` (won, or ahead on points in an unfinished game),
            ``margin`` int64 (points ahead of the best other side), ``skunk`` int64
            (0, 1 or 2 for a double; given or taken), ``scores`` int64 ``[size, sides]``. Where
            all seats decide the first three are by seat, ``[size, players]``.
        """
        size, seats = len(self.rows), len(self.seats)
        won = np.zeros((size, seats), np.bool_)
        margins = np.zeros((size, seats), np.int64)
        skunks = np.zeros((size, seats), np.int64)
        scores = np.zeros((size, self.rules.sides), np.int64)
        stepping.results(
            self.batch.states,
            self._notes,
            self.batch.rules_row,
            rows,
            self.seats,
            self._skunks,
            won,
            margins,
            skunks,
            scores,
        )
        if not self.all_seats:
            won, margins, skunks = won[:, 0], margins[:, 0], skunks[:, 0]
        return {"is_success": won, "margin": margins, "skunk": skunks, "scores": scores}
