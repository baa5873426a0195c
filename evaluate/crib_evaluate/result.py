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
from crib_evaluate.mirrored import Games
from crib_evaluate.statistics import CONFIDENCE, Estimate, estimate

MATCH_POINTS = (1, 2, 3)
"""What a win counts in a match: a plain one, a skunk, a double skunk."""

_AS_PONE = (Source.PLAY_PONE, Source.HAND_PONE)


@dataclass(frozen=True)
class PlayerResult:
    """How one player did. Rates and means come with their interval over pairs.

    Attributes:
        name: what to call it; the two of a match differ.
        options: its settings, where it has any.
        wins: games won.
        win_rate: part of the games, 0 to 1.
        match_points: points a game won for the match, see `MATCH_POINTS`.
        margin: mean of own points less the opponent's, points a game.
        skunks, double_skunks: games won so; a double skunk is not a skunk as well.
        skunks_taken, double_skunks_taken: games lost so.
        points: pegged in the whole match, by source.
        points_per_deal: mean points a deal by source, over the deals played to
            their end in which the player had the role that the source belongs
            to; None without such a deal. The last deal of a game would pull the
            means down by up to half a point, since it stops before all is counted.
        deals_as_dealer, deals_as_pone: how many such deals.
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
        games: played, two for each pair.
        deals: begun.
        first_dealer: part of the games that the first dealer won.
        seed: of the shuffles and of the players' chance.
        rules: of all the games.
        command: that plays this match again; None when it cannot be written as one.
        pair_scores: first player's mean win of each pair (0, 0.5 or 1), float64
            ``[pairs]``, in the order of the shuffles.
    """

    players: tuple[PlayerResult, PlayerResult]
    games: int
    deals: int
    first_dealer: Estimate
    seed: int
    rules: Rules
    command: str | None
    pair_scores: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def pairs(self) -> int:
        """Pairs of mirrored games."""
        return len(self.pair_scores)

    @property
    def deals_per_game(self) -> float:
        """Mean number of deals, the last one included."""
        return self.deals / self.games

    def to_json(self) -> dict[str, Any]:
        """Everything but the pairs one by one, ready for `json.dumps`."""
        return {
            "command": self.command,
            "versions": {
                "crib_env": crib_env.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "seed": self.seed,
            "rules": self.rules.to_json(),
            "games": self.games,
            "pairs": self.pairs,
            "deals": self.deals,
            "deals_per_game": self.deals_per_game,
            "confidence": CONFIDENCE,
            "first_dealer_win_rate": self.first_dealer.to_json(),
            "players": [player.to_json() for player in self.players],
        }


def summarize(
    games: Games,
    rules: Rules,
    names: Sequence[str],
    options: Sequence[Mapping[str, Any]],
    seed: int,
    command: str | None,
) -> MatchResult:
    """Work out the result of a match of two."""
    losing = np.take_along_axis(games.scores, 1 - games.winners[..., None], axis=-1)[..., 0]
    grade = np.array([rules.skunk(points) for points in range(rules.target)])[losing]
    dealt_first = np.arange(games.winners.shape[1])
    first_dealer = (games.winners == dealt_first).mean(axis=1)
    first, second = (
        _player(games, grade, player, names[player], options[player]) for player in (0, 1)
    )
    return MatchResult(
        players=(first, second),
        games=int(games.winners.size),
        deals=int(games.deals.sum()),
        first_dealer=estimate(first_dealer, 0.0, 1.0),
        seed=seed,
        rules=rules,
        command=command,
        pair_scores=(games.winners == 0).mean(axis=1),
    )


def _player(
    games: Games,
    grade: NDArray[np.int64],
    player: int,
    name: str,
    options: Mapping[str, Any],
) -> PlayerResult:
    won = games.winners == player
    lost = ~won
    margin = games.scores[..., player] - games.scores[..., 1 - player]
    match_points = np.where(won, np.array(MATCH_POINTS)[grade], 0)
    as_dealer = int(games.whole_deals_dealt[player])
    as_pone = int(games.whole_deals_dealt.sum()) - as_dealer
    whole = games.pegged_in_whole_deals[player]
    return PlayerResult(
        name=name,
        options=options,
        wins=int(won.sum()),
        win_rate=estimate(won.mean(axis=1), 0.0, 1.0),
        match_points=estimate(match_points.mean(axis=1), 0.0, float(MATCH_POINTS[-1])),
        margin=estimate(margin.mean(axis=1)),
        skunks=int((won & (grade == 1)).sum()),
        double_skunks=int((won & (grade == 2)).sum()),
        skunks_taken=int((lost & (grade == 1)).sum()),
        double_skunks_taken=int((lost & (grade == 2)).sum()),
        points={source: int(games.pegged[player, source]) for source in Source},
        points_per_deal={
            source: _quotient(int(whole[source]), as_pone if source in _AS_PONE else as_dealer)
            for source in Source
        },
        deals_as_dealer=as_dealer,
        deals_as_pone=as_pone,
    )


def _quotient(points: int, deals: int) -> float | None:
    return points / deals if deals else None
