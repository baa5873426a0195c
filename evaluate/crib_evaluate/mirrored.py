"""Mirrored games: the same shuffles as often as there are players, the seats exchanged.

The unit of a match is the *pair*: two games on the same shuffles, in which each
player is first dealer once. The luck of the cards falls on both alike, so the
mean of a pair says more than that of two games.

With ``n`` players a pair would be a round of ``n`` games; the arrays here are
shaped for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import Bot, BotError
from crib_env import state as S
from crib_env.batch import GameBatch
from crib_env.cards import CARDS, N_CARDS
from crib_env.rules import Rules

Progress = Callable[[int], None]
"""Told how many games are over."""


@dataclass(frozen=True)
class Games:
    """What came of mirrored games. Players are counted 0, 1 as they were named.

    Attributes:
        scores: final points, int64 ``[pairs, games, players]``; in game ``g`` of a
            pair player ``g`` was first dealer.
        winners: the player that won, int64 ``[pairs, games]``.
        deals: deals begun, int64 ``[pairs, games]``.
        pegged: points pegged by player and `Source`, int64 ``[players, sources]``.
        pegged_in_whole_deals: the same without the last deal of each game, which
            is cut short by somebody's reaching the target.
        whole_deals_dealt: those deals by dealer, int64 ``[players]``.
    """

    scores: NDArray[np.int64]
    winners: NDArray[np.int64]
    deals: NDArray[np.int64]
    pegged: NDArray[np.int64]
    pegged_in_whole_deals: NDArray[np.int64]
    whole_deals_dealt: NDArray[np.int64]

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
        )


def _total(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.stack(arrays).sum(axis=0)


def play_mirrored(
    bots: Sequence[Bot],
    seeds: NDArray[np.int64],
    rules: Rules,
    progress: Progress | None = None,
) -> Games:
    """Play one pair of games for each seed.

    Args:
        bots: one for each seat.
        seeds: of the shuffles, int64 ``[pairs]``.
        rules: of all the games.
        progress: told how many of the games are over.

    Raises:
        BotError: when a bot fails, or answers with anything but a legal card.
    """
    players = rules.players
    batch = GameBatch(players * len(seeds), rules, one_deal=True)
    # Row by row: all the first games of the pairs, then all the second ones.
    turned = np.repeat(np.arange(players), len(seeds))
    whole_deals = np.zeros_like(batch.tally)
    batch.start(batch.all_rows, np.tile(seeds, players), np.zeros(len(turned), np.int64))
    batch.settle(batch.all_rows)
    live = batch.all_rows
    while len(live):
        seats = batch.to_act[live]
        batch.apply(live, _cards(bots, batch, live, seats, (seats + turned[live]) % players))
        ended = live[batch.stopped[live] & ~batch.over[live]]
        whole_deals[ended] = batch.tally[ended]
        batch.next_deal(ended)
        batch.settle(ended)
        live = live[~batch.over[live]]
        if progress is not None:
            progress(len(turned) - len(live))
    return _outcome(batch, turned, whole_deals)


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


def _outcome(batch: GameBatch, turned: NDArray[np.int64], whole_deals: NDArray[np.int64]) -> Games:
    """Count a batch that is over, seats turned back into players."""
    rules = batch.rules
    players = rules.players
    rows = batch.all_rows
    by_pair = (players, len(rows) // players)
    # In a game turned once, player 1 sits at seat 0 and deals first.
    seat_of = (np.arange(players)[None, :] - turned[:, None]) % players
    side_of_seat = np.array([rules.side(seat) for seat in range(players)])
    scores = batch.scores[rows[:, None], side_of_seat[seat_of]]
    deals = batch.states[:, S.DEAL_NUMBER]
    whole_dealt = (deals[:, None] - 1 - seat_of + players - 1) // players
    return Games(
        scores=scores.reshape(*by_pair, players).swapaxes(0, 1).copy(),
        winners=((batch.winner + turned) % players).reshape(by_pair).T.copy(),
        deals=deals.reshape(by_pair).T.copy(),
        pegged=batch.tally[rows[:, None], seat_of].sum(axis=0),
        pegged_in_whole_deals=whole_deals[rows[:, None], seat_of].sum(axis=0),
        whole_deals_dealt=whole_dealt.sum(axis=0),
    )
