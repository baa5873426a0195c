"""What a match says about its players."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import crib_env
from crib_env.rules import Rules
from crib_env.state import Source
from crib_evaluate.mirrored import Games, seatings
from crib_evaluate.statistics import CONFIDENCE, Estimate, estimate

_AS_PONE = (Source.PLAY_PONE, Source.HAND_PONE)


@dataclass(frozen=True)
class PlayerResult:
    """How one player did. Rates and means come with their interval over rounds.

    Attributes:
        name: what to call it; the two of a match differ.
        options: its settings, where it has any.
        wins: games won.
        win_rate: part of the games, 0 to 1.
        match_points: points a game won for the match, see `Rules.worth`.
        margin: own points less the opponent's, points a game; of several sides the mean.
        skunks, double_skunks: games won so; a double skunk is not a skunk as well. Where
            more than two play for themselves, losers skunked in games won.
        skunks_taken, double_skunks_taken: games lost so; then sides that were skunked.
        points: pegged in the whole match, by source.
        points_per_deal: mean points a deal and seat by source, over the deals played
            to their end in which a seat of the player had the role that the source
            belongs to; None without such a deal. The last deal of a game would pull
            the means down by up to half a point, since it stops before all is counted.
        deals_as_dealer, deals_as_pone: how many such deals; whoever does not deal is pone.
    """

    name: str
    options: Mapping[str, Any]
    wins: int
    win_rate: Estimate
    match_points: Estimate
    margin: Estimate
    skunks: int
    double_skunks: int
    skunks_taken: int
    double_skunks_taken: int
    points: Mapping[Source, int]
    points_per_deal: Mapping[Source, float | None]
    deals_as_dealer: int
    deals_as_pone: int

    def to_json(self) -> dict[str, Any]:
        """Everything by name, ready for `json.dumps`."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, Estimate):
                found[name] = value.to_json()
            elif name in ("points", "points_per_deal"):
                found[name] = {source.name.lower(): points for source, points in value.items()}
            else:
                found[name] = value
        return found


@dataclass(frozen=True)
class MatchResult:
    """A measured match.

    Attributes:
        players: the two, as they were named.
        games: played.
        deals: begun.
        first_dealer: part of the games that the first dealer, or his side, won.
        seed: of the shuffles and of the players' chance.
        rules: of all the games.
        command: that plays this match again; None when it cannot be written as one.
        round_scores: first player's mean win of each round (of a pair of games 0, 0.5
            or 1), float64 ``[rounds]``, in the order of the shuffles.
    """

    players: tuple[PlayerResult, PlayerResult]
    games: int
    deals: int
    first_dealer: Estimate
    seed: int
    rules: Rules
    command: str | None
    round_scores: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def rounds(self) -> int:
        """Rounds of mirrored games."""
        return len(self.round_scores)

    @property
    def deals_per_game(self) -> float:
        """Mean number of deals, the last one included."""
        return self.deals / self.games

    def to_json(self) -> dict[str, Any]:
        """Everything but the rounds one by one, ready for `json.dumps`."""
        return {
            "command": self.command,
            "versions": versions(),
            "seed": self.seed,
            "rules": self.rules.to_json(),
            "games": self.games,
            "rounds": self.rounds,
            "deals": self.deals,
            "deals_per_game": self.deals_per_game,
            "confidence": CONFIDENCE,
            "first_dealer_win_rate": self.first_dealer.to_json(),
            "players": [player.to_json() for player in self.players],
        }


def versions() -> dict[str, str]:
    """Of what computed a result."""
    return {
        "crib_env": crib_env.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def summarize(
    games: Games,
    rules: Rules,
    names: Sequence[str],
    options: Sequence[Mapping[str, Any]],
    seed: int,
    command: str | None,
) -> MatchResult:
    """Work out the result of a match of two players."""
    facts = _Facts.of(games, rules)
    first, second = (_player(facts, player, names[player], options[player]) for player in (0, 1))
    return MatchResult(
        players=(first, second),
        games=int(games.winners.size),
        deals=int(games.deals.sum()),
        first_dealer=estimate((games.winners == rules.side(0)).mean(axis=1), 0.0, 1.0),
        seed=seed,
        rules=rules,
        command=command,
        round_scores=(facts.winners == 0).mean(axis=1),
    )


@dataclass(frozen=True)
class _Facts:
    """What the results of both players are worked out from.

    Attributes:
        games: as they were played.
        owners: whose a side is, int64 ``[games, sides]``.
        winners: the player that won, int64 ``[rounds, games]``.
        grades: how badly each side was skunked, int64 ``[rounds, games, sides]``.
        worths: match points of each game, int64 ``[rounds, games]``.
        highest: the most that a game can be worth.
    """

    games: Games
    owners: NDArray[np.int64]
    winners: NDArray[np.int64]
    grades: NDArray[np.int64]
    worths: NDArray[np.int64]
    highest: int

    @classmethod
    def of(cls, games: Games, rules: Rules) -> _Facts:
        owners = seatings(rules)[:, : rules.sides]  # the first seats are one of each side
        shape = games.winners.shape
        rows = games.scores.reshape(-1, rules.sides).tolist()
        grade = np.array([rules.skunk(points) for points in range(rules.target + 1)])
        return cls(
            games=games,
            owners=owners,
            winners=owners[np.arange(shape[1]), games.winners],
            grades=grade[games.scores],
            worths=np.array([rules.worth(scores) for scores in rows]).reshape(shape),
            highest=rules.worth([rules.target] + [0] * (rules.sides - 1)),
        )


def _player(facts: _Facts, player: int, name: str, options: Mapping[str, Any]) -> PlayerResult:
    games = facts.games
    won = facts.winners == player
    own = facts.owners == player
    skunked = [(facts.grades == grade) for grade in (1, 2)]
    margin = _mean_of(games.scores, own) - _mean_of(games.scores, ~own)
    as_dealer = int(games.whole_deals_dealt[player])
    as_pone = int(games.whole_deals_not_dealt[player])
    whole = games.pegged_in_whole_deals[player]
    return PlayerResult(
        name=name,
        options=options,
        wins=int(won.sum()),
        win_rate=estimate(won.mean(axis=1), 0.0, 1.0),
        match_points=estimate(
            np.where(won, facts.worths, 0).mean(axis=1), 0.0, float(facts.highest)
        ),
        margin=estimate(margin.mean(axis=1)),
        skunks=int(skunked[0][won].sum()),
        double_skunks=int(skunked[1][won].sum()),
        skunks_taken=int((skunked[0] & own).sum()),
        double_skunks_taken=int((skunked[1] & own).sum()),
        points={source: int(games.pegged[player, source]) for source in Source},
        points_per_deal={
            source: _quotient(int(whole[source]), as_pone if source in _AS_PONE else as_dealer)
            for source in Source
        },
        deals_as_dealer=as_dealer,
        deals_as_pone=as_pone,
    )


def _mean_of(scores: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean points of some sides: float64 ``[rounds, games]``, ``which`` is ``[games, sides]``."""
    return np.asarray((scores * which).sum(axis=-1) / which.sum(axis=-1))


def _quotient(points: int, deals: int) -> float | None:
    return points / deals if deals else None
