"""Mirrored games: the same shuffles again and again, the two players exchanged.

The unit of a match is the *round*: games on the same shuffles, one for every way
to seat both players (`seatings`). For two, and for partners, that is a pair of
games in which each side deals first once. The luck of the cards falls on both
players alike, so the mean of a round says more than that of as many games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot, BotError
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.cards import CARDS, N_CARDS
from crib_env.rules import Rules

Progress = Callable[[int], None]
"""Told how many games are over."""


PLAYERS = 2
"""Those of a match: A and B, here 0 and 1, whatever the number of seats."""


def seatings(rules: Rules) -> NDArray[np.int64]:
    """Who sits where in the games of a round: every way to give the sides to both players.

    Since players exchanged is another of the ways, equal players win half of a round.

    Returns:
        Players 0 and 1 by seat, int64 ``[games, seats]``; seat 0 deals first.

    >>> from crib_env.rules import FOUR_PLAYER, SIX_CARD, THREE_PLAYER
    >>> seatings(SIX_CARD).tolist(), seatings(FOUR_PLAYER).tolist()
    ([[0, 1], [1, 0]], [[0, 1, 0, 1], [1, 0, 1, 0]])
    >>> seatings(THREE_PLAYER).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]]
    """
    ways = [way for way in product(range(PLAYERS), repeat=rules.sides) if len(set(way)) > 1]
    side_of_seat = [rules.side(seat) for seat in range(rules.players)]
    return np.array(ways, np.int64)[:, side_of_seat]


@dataclass(frozen=True)
class Games:
    """What came of mirrored games. Games of a round are in the order of `seatings`.

    Attributes:
        scores: final points by side, int64 ``[rounds, games, sides]``.
        winners: the side that won, int64 ``[rounds, games]``.
        deals: deals begun, int64 ``[rounds, games]``.
        pegged: points pegged by player and `Source`, int64 ``[2, sources]``, those of
            all his seats together.
        pegged_in_whole_deals: the same without the last deal of each game, which
            is cut short by somebody's reaching the target.
        whole_deals_dealt: how often a seat of the player dealt one of those, int64 ``[2]``.
        whole_deals_not_dealt: how often a seat of his played one and did not deal.
    """

    scores: NDArray[np.int64]
    winners: NDArray[np.int64]
    deals: NDArray[np.int64]
    pegged: NDArray[np.int64]
    pegged_in_whole_deals: NDArray[np.int64]
    whole_deals_dealt: NDArray[np.int64]
    whole_deals_not_dealt: NDArray[np.int64]

    @classmethod
    def merge(cls, parts: Sequence[Games]) -> Games:
        """Several lots of games as one, in order."""
        return cls(
            scores=np.concatenate([part.scores for part in parts]),
            winners=np.concatenate([part.winners for part in parts]),
            deals=np.concatenate([part.deals for part in parts]),
            pegged=_total([part.pegged for part in parts]),
            pegged_in_whole_deals=_total([part.pegged_in_whole_deals for part in parts]),
            whole_deals_dealt=_total([part.whole_deals_dealt for part in parts]),
            whole_deals_not_dealt=_total([part.whole_deals_not_dealt for part in parts]),
        )


def _total(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.stack(arrays).sum(axis=0)


def play_mirrored(
    bots: Sequence[Bot],
    seeds: NDArray[np.int64],
    rules: Rules,
    progress: Progress | None = None,
) -> Games:
    """Play one round of games for each seed.

    Args:
        bots: the two players; each is asked for all of its seats.
        seeds: of the shuffles, int64 ``[rounds]``.
        rules: of all the games.
        progress: told how many of the games are over.

    Raises:
        BotError: when a bot fails, or answers with anything but a legal card.
    """
    ways = seatings(rules)
    # Row by row: all the first games of the rounds, then all the second ones, and so on.
    player_at = np.repeat(ways, len(seeds), axis=0)
    games = len(player_at)
    batch = GameBatch(games, rules, one_deal=True)
    whole_deals = np.zeros_like(batch.tally)
    batch.start(batch.all_rows, np.tile(seeds, len(ways)), np.zeros(games, np.int64))
    batch.settle(batch.all_rows)
    live = batch.all_rows
    while len(live):
        seats = batch.to_act[live]
        batch.apply(live, _cards(bots, batch, live, seats, player_at[live, seats]))
        ended = live[batch.stopped[live] & ~batch.over[live]]
        whole_deals[ended] = batch.tally[ended]
        batch.next_deal(ended)
        batch.settle(ended)
        live = live[~batch.over[live]]
        if progress is not None:
            progress(games - len(live))
    return _outcome(batch, player_at, whole_deals, len(ways))


def _cards(
    bots: Sequence[Bot],
    batch: GameBatch,
    rows: NDArray[np.int64],
    seats: NDArray[np.int64],
    asked: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The card laid in each row, each player asked once for all of its rows."""
    cards = np.empty(len(rows), np.int64)
    for player, bot in enumerate(bots):
        mine = np.flatnonzero(asked == player)
        if len(mine):
            cards[mine] = ask(bot, *batch.observe(rows[mine], seats[mine]))
    return cards


def name_of(bot: Bot) -> str:
    """What to call a bot, even one that lacks its name."""
    return str(getattr(bot, "name", type(bot).__name__))


def blame(name: str, error: Exception) -> BotError:
    """An error that came out of a bot, as that bot's fault and in one line."""
    what = " ".join(str(error).split())
    if not isinstance(error, BotError):
        what = f"it failed with {type(error).__name__}" + (f": {what}" if what else "")
    return BotError(f"bot {name}: {what}")


def ask(bot: Bot, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """A bot's cards, checked; whatever goes wrong is reported as that bot's fault.

    Args:
        bot: whom to ask.
        observations: float32 ``[B, D]``.
        masks: int8 ``[B, 52]``.

    Returns:
        int64 ``[B]``, legal cards.

    Raises:
        BotError: in one line that names the bot.
    """
    name = name_of(bot)
    legal = masks.copy()  # the bot may write into what it is handed
    try:
        answer = np.asarray(bot.actions(observations, masks))
    except Exception as error:  # it is somebody else's code
        raise blame(name, error) from error
    if answer.shape != (len(legal),) or answer.dtype.kind not in "iu":
        raise BotError(
            f"bot {name}: it answered with {answer.dtype} of shape {answer.shape}, "
            f"not with {len(legal)} whole numbers"
        )
    outside = answer[(answer < 0) | (answer >= N_CARDS)]
    if len(outside):
        raise BotError(f"bot {name}: it answered with {outside[0]}, which is no card")
    cards = answer.astype(np.int64)
    wrong = np.flatnonzero(legal[np.arange(len(cards)), cards] == 0)
    if len(wrong):
        may = " ".join(str(CARDS[card]) for card in np.flatnonzero(legal[wrong[0]]))
        raise BotError(
            f"bot {name}: it answered with {CARDS[cards[wrong[0]]]}, where only {may} may be laid"
        )
    return cards


def _outcome(
    batch: GameBatch, player_at: NDArray[np.int64], whole_deals: NDArray[np.int64], ways: int
) -> Games:
    """Count a batch that is over, by round and by player."""
    players = batch.rules.players
    by_game = (ways, len(player_at) // ways)
    deals = batch.states[:, S.DEAL_NUMBER]
    whole = deals[:, None] - 1
    # The deal passes to the left from seat 0.
    dealt = (whole - np.arange(players) + players - 1) // players
    mine = [player_at == player for player in range(PLAYERS)]
    return Games(
        scores=batch.scores.reshape(*by_game, -1).swapaxes(0, 1).copy(),
        winners=batch.winner.reshape(by_game).T.copy(),
        deals=deals.reshape(by_game).T.copy(),
        pegged=np.stack([batch.tally[seats].sum(axis=0) for seats in mine]),
        pegged_in_whole_deals=np.stack([whole_deals[seats].sum(axis=0) for seats in mine]),
        whole_deals_dealt=np.array([dealt[seats].sum() for seats in mine]),
        whole_deals_not_dealt=np.array([(whole - dealt)[seats].sum() for seats in mine]),
    )
