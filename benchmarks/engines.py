"""Whole games at random: inside our engine, from Python, and in OpenSpiel."""

from __future__ import annotations

import random

import numpy as np

import crib_env
from benchmarks.measure import Done, Work
from crib_env import engine
from crib_env import state as S
from crib_env._jit import njit
from crib_env.bits import lowest, popcount
from crib_env.randomness import next_random
from crib_env.rules import SIX_CARD

_OVER = int(S.Phase.OVER)
_DEAL_OVER = int(S.Phase.DEAL_OVER)
_GAMES_AT_ONCE = 500
"""Games inside the engine between two looks at the clock."""


@njit
def _random_games(
    number: int, seed: int, s: np.ndarray, r: np.ndarray, deck: np.ndarray, ev: engine.Events
) -> int:
    """Play whole games at random inside the engine; returns the cards laid down."""
    chance = np.zeros(S.STATE_SIZE, np.int64)
    chance[S.RANDOM] = seed
    cards_laid = 0
    for _ in range(number):
        engine.start(s, r, next_random(chance), -1, deck, ev)
        while s[S.PHASE] != _OVER:
            if s[S.PHASE] == _DEAL_OVER:
                engine.next_deal(s, r, deck, ev)
                continue
            cards = engine.legal(s)
            skip = ((next_random(chance) >> 8) & 0xFFFFFFFF) * popcount(cards) >> 32
            while skip > 0:
                cards &= cards - 1
                skip -= 1
            engine.apply(s, r, lowest(cards), ev)
            cards_laid += 1
    return cards_laid


def engine_alone() -> Work:
    """Games inside the compiled engine."""
    row = np.zeros(S.STATE_SIZE, np.int64)
    settings = SIX_CARD.to_array()
    deck = np.zeros(0, np.int64)
    seed = 0
    while True:
        seed += 1
        laid = _random_games(_GAMES_AT_ONCE, seed, row, settings, deck, engine.NO_EVENTS)
        yield Done(_GAMES_AT_ONCE, int(laid))


def openspiel_from_python() -> Work:
    """OpenSpiel's cribbage stepped from Python.

    All outcomes of its chance nodes are equally likely, so a card is drawn from the legal
    actions, as a move is: to ask for the odds of 52 cards at every deal would take longer
    than all the rest.
    """
    import pyspiel

    game = pyspiel.load_game("cribbage")
    chance = random.Random(0)
    while True:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            state.apply_action(chance.choice(state.legal_actions()))
        yield Done(1, decisions)


def openspiel_inside() -> Work:
    """OpenSpiel's cribbage between its own random players, all of it in C++.

    Python begins each game and does not see its moves, so they are not counted.
    """
    import pyspiel

    game = pyspiel.load_game("cribbage")
    bots = [pyspiel.make_uniform_random_bot(seat, seat + 1) for seat in range(game.num_players())]
    seed = 0
    while True:
        seed += 1
        pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        yield Done(1, 0)


def game_object() -> Work:
    """`Game.legal_actions` and `Game.apply` from Python."""
    chance = random.Random(0)
    seed = 0
    while True:
        seed += 1
        game = crib_env.Game(seed=seed)
        decisions = 0
        while not game.is_over:
            game.apply(chance.choice(game.legal_actions()))
            decisions += 1
        yield Done(1, decisions)
