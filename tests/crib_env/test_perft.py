"""How many ways there are to play hands out, who acts in each, and what they peg."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from crib_env import Game, Rules, engine
from crib_env import state as S
from crib_env.bits import lowest
from crib_env.cards import CARDS
from tests.crib_env import brute
from tests.crib_env.support import game_in_play

PAIRS = {
    # (pone, dealer): ways to play out, points pegged over all of them by pone and by dealer
    ("5H 5S 5D JC", "TC TD TH TS"): (576, 1440, 2304),
    ("AC AD AH AS", "2C 2D 2H 2S"): (576, 0, 576),
    ("KC KD KH KS", "QC QD QH QS"): (576, 576, 1152),
    ("KC KD KH KS", "AC AD AH AS"): (576, 1728, 5184),
    ("AC AD AH AS", "KC KD KH KS"): (576, 1728, 1728),
    ("TC 9D 6H KS", "KC AD 5H JS"): (320, 376, 1024),
    ("TC 7D AH AS", "8C AD QH 6S"): (376, 864, 1300),
    ("4C 4D 7H 9S", "7C JD 5H 8S"): (416, 448, 1168),
    ("KC TD 5H 2S", "9C AD 8H 6S"): (336, 456, 484),
    ("AC AD 6H 8S", "2C 5D JH KS"): (444, 568, 816),
    ("6C 7D 9H JS", "7C 8D 9C 9S"): (416, 1466, 1836),
    ("4C 5D 6C 6D", "5C TD JC QD"): (456, 1200, 1224),
    ("7C 7D 8H 8S", "7H 7S 8C 8D"): (560, 1744, 5344),
    ("3C 4D 5H 6S", "3D 4H 5S 6C"): (576, 2928, 3384),
    ("AC 2D 3H 4S", "JC QD KH TS"): (576, 960, 576),
    ("2C 3C 4C 5C", "AC AD 2D 3D"): (576, 2808, 3472),
    ("9C TD JH QS", "6C 7D 8H 9S"): (576, 1116, 1740),
    ("5C 5D TH JS", "5H 5S QC KD"): (416, 1400, 2888),
    ("AC 5D 9H KS", "2C 6D TH QS"): (336, 384, 664),
    ("8C 8D 9H TS", "AC 2D 7H 7S"): (344, 792, 800),
    ("3C 3D 3H 9S", "3S 6C 6D KH"): (468, 1752, 1884),
    ("AC 2C 2D 3C", "AD AH 3D 4C"): (576, 2664, 4176),
    ("TC TD 5C AD", "JC JD 4C AC"): (272, 272, 976),
    ("6C 6D 4H 5S", "9C 9D 7H 8S"): (488, 984, 1520),
}

TABLES = {
    # Three and four seats, the dealer last: ways, points pegged by seat
    ("TC 9D 2H", "KC AD 5H", "7C 8D 3S"): (120, (74, 150, 270)),
    ("AC AD 4H", "9C 9D 9H", "KC QD JH"): (216, (288, 288, 216)),
    ("5C TD AH", "TC TH AS", "5D 6D 7D"): (152, (120, 456, 228)),
    ("TC 2D", "KC 3D", "QC AD", "JC 4D"): (14, (5, 16, 22, 20)),
    ("7C 8D 6C", "9C TD 8H", "4C 5D 7D", "AC 2D JD"): (720, (606, 1352, 1185, 1494)),
}


def engine_playouts(
    row: np.ndarray, rules: np.ndarray, line: brute.Line = ()
) -> Iterator[tuple[brute.Line, tuple[int, ...]]]:
    """Every way to play on from a game row, by the engine, and the points pegged by seat."""
    if row[S.PHASE] != S.Phase.PLAY:
        tally = row[S.TALLY :].reshape(S.MAX_SEATS, S.N_SOURCES)
        play = tally[:, S.Source.PLAY_DEALER] + tally[:, S.Source.PLAY_PONE]
        yield line, tuple(play.tolist())
        return
    rest = int(engine.legal(row))
    while rest:
        card = int(lowest(rest))
        rest &= rest - 1
        after = row.copy()
        engine.apply(after, rules, card, engine.NO_EVENTS)
        step = (int(row[S.TO_ACT]), str(CARDS[card]))
        yield from engine_playouts(after, rules, (*line, step))


def compare(game: Game, hands: list[list[str]], leader: int) -> tuple[int, tuple[int, ...]]:
    """The lines and points of both walks must be the same; their number and sums."""
    seats = len(hands)
    found = {
        line: points[:seats]
        for line, points in engine_playouts(game.state(), game.rules.to_array())
    }
    expected = dict(brute.playouts(hands, leader))
    assert found == expected
    sums = tuple(sum(points[seat] for points in found.values()) for seat in range(seats))
    return len(found), sums


@pytest.mark.parametrize(("hands", "numbers"), PAIRS.items())
@pytest.mark.parametrize("dealer", [0, 1])
def test_two_hands(hands: tuple[str, str], numbers: tuple[int, int, int], dealer: int) -> None:
    pone = 1 - dealer
    kept = {pone: hands[0].split(), dealer: hands[1].split()}
    ways, sums = compare(game_in_play(kept, dealer), [kept[0], kept[1]], pone)
    assert (ways, sums[pone], sums[dealer]) == numbers


@pytest.mark.parametrize(("hands", "numbers"), TABLES.items())
def test_more_hands(hands: tuple[str, ...], numbers: tuple[int, tuple[int, ...]]) -> None:
    seats = len(hands)
    kept = [hand.split() for hand in hands]
    rules = Rules(players=seats, dealt=len(kept[0]), thrown=0)
    game = game_in_play(dict(enumerate(kept)), seats - 1, rules=rules)
    assert compare(game, kept, 0) == numbers
