"""Games into matches: what a game is worth, who deals first in the next, who has won."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from crib_env.errors import IllegalActionError, InvalidViewError
from crib_env.game import Game, is_version, whole_number
from crib_env.rules import Rules, get_rules

DEFAULT_TARGET = 7
"""Match points that win where the rules name no number."""
_SAVED_VERSION = 1


def game_worth(game: Game) -> int:
    """Match points that a finished game gives its winner, see `Rules.worth`.

    Raises:
        IllegalActionError: when the game is not over.
    """
    if game.winner is None:
        raise IllegalActionError("the game is not over")
    return game.rules.worth(game.scores)


class Match:
    """Games until a side has enough match points.

    Play `game`; when it is over, `next_game` goes on.

    Args:
        rules: the rules of every game, and what a skunk is worth.
        target: match points that win; None for the rules' own, or 7.
        seed: of all the games; None for a new one.

    >>> match = Match("boite-a-jeux", seed=3)
    >>> match.target, match.points, match.winner
    (7, (0, 0), None)
    """

    def __init__(
        self, rules: str | Rules = "six-card", target: int | None = None, seed: int | None = None
    ) -> None:
        self.rules = get_rules(rules)
        wanted = self.rules.match_target if target is None else target
        self.target = whole_number(DEFAULT_TARGET if wanted is None else wanted, "target")
        if self.target < 1:
            raise InvalidViewError("a match goes to at least one point")
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
        self.seed = whole_number(seed, "seed")
        self.games: list[Game] = [self._new_game(None)]

    def _new_game(self, dealer: int | None) -> Game:
        number = len(self.games) if hasattr(self, "games") else 0
        word = np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0]
        return Game(self.rules, seed=int(word >> np.uint64(1)), dealer=dealer)

    @property
    def game(self) -> Game:
        """The game at hand, or the last one."""
        return self.games[-1]

    @property
    def points(self) -> tuple[int, ...]:
        """Match points by side, of all games that are over."""
        points = [0] * self.rules.sides
        for game in self.games:
            if game.winner is not None:
                points[game.winner] += game_worth(game)
        return tuple(points)

    @property
    def winner(self) -> int | None:
        """The side that has won the match."""
        points = self.points
        return points.index(max(points)) if max(points) >= self.target else None

    def next_dealer(self) -> int | None:
        """Who deals first in the next game; None where it is decided anew.

        Raises:
            IllegalActionError: when the game at hand is not over.
        """
        game = self.game
        if game.winner is None:
            raise IllegalActionError("the game is not over")
        players = self.rules.players
        following = (game.first_dealer + 1) % players
        if self.rules.next_dealer == "anew":
            return None
        if self.rules.next_dealer == "alternate":
            return following
        lowest = min(game.scores)
        seats = [(following + step) % players for step in range(players)]
        return next(seat for seat in seats if game.scores[self.rules.side(seat)] == lowest)

    def next_game(self) -> Game:
        """Begin the next game.

        Raises:
            IllegalActionError: when the game at hand is not over, or the match is.
        """
        dealer = self.next_dealer()
        if self.winner is not None:
            raise IllegalActionError("the match is over")
        self.games.append(self._new_game(dealer))
        return self.game

    def to_json(self) -> str:
        """The match as text, with every card of every game."""
        return json.dumps(
            {
                "version": _SAVED_VERSION,
                "rules": self.rules.to_json(),
                "target": self.target,
                "seed": self.seed,
                "games": [json.loads(game.to_json()) for game in self.games],
            }
        )

    @classmethod
    def from_json(cls, saved: str) -> Match:
        """A match from `to_json`; every game is played again.

        Raises:
            InvalidViewError: when the text is damaged or its games do not follow
                one another.
            IllegalActionError: when a card in it was not legal.
        """
        try:
            data: Any = json.loads(saved)
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidViewError(f"this is no saved match: {error}") from None
        if not isinstance(data, dict) or not is_version(data.get("version"), _SAVED_VERSION):
            raise InvalidViewError(f"this is no saved match of version {_SAVED_VERSION}")
        if missing := {"rules", "target", "seed", "games"} - data.keys():
            raise InvalidViewError(f"the saved match lacks {', '.join(sorted(missing))}")
        target = whole_number(data["target"], "target")
        match = cls(data["rules"], target, whole_number(data["seed"], "seed"))
        if not isinstance(data["games"], list) or not data["games"]:
            raise InvalidViewError("a saved match has a list of games")
        for number, saved_game in enumerate(data["games"]):
            if number:
                match.next_game()
            game = Game.from_json(json.dumps(saved_game))
            beginning = game.copy()
            for _ in game.actions:
                beginning.undo()
            if beginning != match.game:
                raise InvalidViewError(f"game {number + 1} of the saved match is not of this match")
            match.games[-1] = game
        return match

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        mine = (self.rules, self.target, self.seed, self.games)
        return mine == (other.rules, other.target, other.seed, other.games)

    __hash__ = None  # type: ignore[assignment]  # a match changes

    def __repr__(self) -> str:
        name = "side" if self.rules.teams else "seat"
        standing = ", ".join(f"{name} {side}: {n}" for side, n in enumerate(self.points))
        if self.winner is not None:
            return f"<Match to {self.target}, won by {name} {self.winner} ({standing})>"
        score = "-".join(str(points) for points in self.game.scores)
        return f"<Match to {self.target}, {standing}; game {len(self.games)} at {score}>"
