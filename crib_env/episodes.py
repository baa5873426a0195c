"""Episodes of one player against others, in batches: what both environments step.

No Gymnasium here: arrays in, arrays out. Opponents act in batches through their
`actions` method; they are handed in as objects, or resolved by name only when
an environment is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from crib_env import state as S
from crib_env._jit import njit
from crib_env.batch import GameBatch, Rows
from crib_env.engine import next_random
from crib_env.errors import InvalidRulesError, InvalidViewError
from crib_env.game import check_dealer, check_deck, check_scores
from crib_env.rewards import Change, Reward, get_reward
from crib_env.rules import Rules
from crib_env.win_probability import deal_starts, supports

_OVER = int(S.Phase.OVER)


class Opponent(Protocol):
    """What an environment needs of a player."""

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
    """``size`` games in which one player decides and the others answer.

    Args:
        size: how many games.
        opponents: players of the other seats; row ``i`` meets number ``i`` modulo
            their number.
        reward: a name or a callable, see `crib_env.rewards`.
        episode: ``"game"``, or one ``"deal"`` from drawn or given scores.
        rules: the rules.
        seat: the player's seat.
        skip_forced: single legal cards are laid without asking.
    """

    def __init__(
        self,
        size: int,
        opponents: Sequence[str | Opponent],
        reward: str | Reward,
        episode: Literal["game", "deal"],
        rules: Rules,
        seat: int,
        skip_forced: bool,
    ) -> None:
        if episode not in ("game", "deal"):
            raise InvalidRulesError(f"an episode is a game or a deal, not {episode!r}")
        if isinstance(seat, bool) or seat not in range(rules.players):
            raise InvalidRulesError(f"seats go from 0 to {rules.players - 1}, not {seat!r}")
        if not isinstance(skip_forced, bool):
            raise InvalidRulesError(f"skip_forced is true or false, not {skip_forced!r}")
        if not opponents:
            raise InvalidRulesError("there must be an opponent")
        # Points are counted by the engine, whatever the rules say of the players' claims.
        self.rules = rules = replace(rules, counting="automatic", muggins=False)
        self.seat = int(seat)
        self.side = rules.side(self.seat)
        self.one_deal = episode == "deal"
        self.opponents = [resolve_opponent(opponent, rules) for opponent in opponents]
        self.reward = get_reward(reward, rules)
        self.batch = GameBatch(size, rules, one_deal=self.one_deal, skip_forced=skip_forced)
        self.rows: Rows = self.batch.all_rows
        self._chains = np.zeros(size, np.int64)
        self._which = self.rows % len(self.opponents)
        self._scores = np.zeros((size, rules.sides), np.int64)
        self._deal_scores = np.zeros((size, rules.sides), np.int64)
        self._deal_dealer = np.zeros(size, np.int64)
        self._deal_number = np.zeros(size, np.int64)
        self._draws_scores = self.one_deal and supports(rules)

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
            rows = rows[self.batch.stopped[rows]]  # over before the player was asked

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
        self._note_deal(rows)
        self.batch.settle(rows)
        self._answer(rows)
        self._scores[rows] = self.batch.scores[rows]

    def _note_deal(self, rows: Rows) -> None:
        self._deal_scores[rows] = self.batch.scores[rows]
        self._deal_dealer[rows] = self.batch.dealer[rows]
        self._deal_number[rows] = self.batch.states[rows, S.DEAL_NUMBER]

    def _answer(self, rows: Rows) -> None:
        """The opponents act until the player has to, or nobody."""
        batch = self.batch
        while True:
            rows = rows[~batch.stopped[rows] & (batch.to_act[rows] != self.seat)]
            if not len(rows):
                return
            observations, masks = batch.observe(rows, batch.to_act[rows])
            if len(self.opponents) == 1:
                cards = self.opponents[0].actions(observations, masks)
            else:
                cards = np.empty(len(rows), np.int64)
                which = self._which[rows]
                for number, opponent in enumerate(self.opponents):
                    its = which == number
                    if its.any():
                        cards[its] = opponent.actions(observations[its], masks[its])
            batch.apply(rows, np.asarray(cards, np.int64))

    def legal(self, rows: Rows, cards: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each card may be laid, bool ``[n]``."""
        return self.batch.legal(rows, cards)

    def step(
        self, rows: Rows, cards: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The player lays a legal card in each row and the others answer.

        Returns:
            Rewards float64 ``[n]`` and whether the episode is over, bool ``[n]``.
        """
        self.batch.apply(rows, cards)
        self._answer(rows)
        rewards = self.reward(self._change(rows))
        self._after(rows)
        return np.asarray(rewards, np.float64), self.batch.stopped[rows]

    def forfeit(self, rows: Rows) -> NDArray[np.float64]:
        """End some games as lost: the next side is taken to have reached the target.

        Returns:
            Rewards, float64 ``[n]``.
        """
        winner = (self.side + 1) % self.rules.sides
        self.batch.scores[rows, winner] = self.rules.target
        self.batch.states[rows, S.WINNER] = winner
        self.batch.states[rows, S.PHASE] = _OVER
        rewards = self.reward(self._change(rows))
        self._after(rows)
        return np.asarray(rewards, np.float64)

    def _change(self, rows: Rows) -> Change:
        batch = self.batch
        dealer = batch.dealer[rows]
        stopped = batch.stopped[rows]
        after = np.where(stopped, (dealer + 1) % self.rules.players, dealer)
        sides = self.rules.sides
        # A deal that began since the last decision has pegged nothing yet: nobody has
        # scored before the player's first discard.
        new_deal = batch.states[rows, S.DEAL_NUMBER] != self._deal_number[rows]
        return Change(
            side=np.full(len(rows), self.side, np.int64),
            before=self._scores[rows],
            after=batch.scores[rows],
            deal_before=self._deal_scores[rows],
            dealer_before=self._deal_dealer[rows] % sides,
            dealer_after=after % sides,
            deal_over=stopped | new_deal,
            over=batch.over[rows],
            winner=batch.winner[rows],
            games=batch.states[rows],
        )

    def _after(self, rows: Rows) -> None:
        self._scores[rows] = self.batch.scores[rows]
        changed = self.batch.states[rows, S.DEAL_NUMBER] != self._deal_number[rows]
        self._note_deal(rows[changed])

    def observe(self, rows: Rows) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """The player's observations float32 ``[n, D]`` and masks int8 ``[n, 52]``, fresh."""
        return self.batch.observe(rows, np.full(len(rows), self.seat, np.int64))

    def results(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """How episodes that are over ended.

        Returns:
            ``is_success`` bool ``[n]`` (won, or ahead on points in an unfinished game),
            ``margin`` int64 (points ahead of the best other side), ``skunk`` int64
            (0, 1 or 2 for a double; given or taken), ``scores`` int64 ``[n, sides]``.
        """
        scores = self.batch.scores[rows].copy()
        own = scores[:, self.side]
        others = np.delete(scores, self.side, axis=1)
        ahead = own - others.max(axis=1)
        won = self.batch.winner[rows] == self.side
        over = self.batch.over[rows]
        gained = ahead - self._deal_lead(rows)
        success = np.where(over, won, gained > 0)
        losing = np.where(won, others.min(axis=1), own)
        skunk = np.where(over, self._skunk(losing), 0)
        return {"is_success": success, "margin": ahead, "skunk": skunk, "scores": scores}

    def _deal_lead(self, rows: Rows) -> NDArray[np.int64]:
        scores = self._deal_scores[rows]
        others = np.delete(scores, self.side, axis=1)
        return np.asarray(scores[:, self.side] - others.max(axis=1))

    def _skunk(self, losing: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self.rules.skunk(int(points)) for points in losing], np.int64)
