"""An exact cribbage game, fast enough to train on, and its Gymnasium environments.

>>> import crib_env
>>> crib_env.show_score("5H 5S 5D JC", starter="5C").total
29
"""

from gymnasium.envs.registration import register

from crib_env.cards import Card
from crib_env.errors import (
    CribbageError,
    IllegalActionError,
    InvalidCardError,
    InvalidRenderModeError,
    InvalidRulesError,
    InvalidViewError,
)
from crib_env.game import Event, Game
from crib_env.match import Match
from crib_env.rules import Rules, get_rules
from crib_env.scoring import pegging_score, show_score
from crib_env.view import SeatView

__version__ = "0.1.0"

register(
    id="crib_env/Cribbage-v0",
    entry_point="crib_env.env:CribbageEnv",
    vector_entry_point="crib_env.vector:CribbageVectorEnv",
)

__all__ = [
    "Card",
    "CribbageError",
    "Event",
    "Game",
    "IllegalActionError",
    "InvalidCardError",
    "InvalidRenderModeError",
    "InvalidRulesError",
    "InvalidViewError",
    "Match",
    "Rules",
    "SeatView",
    "get_rules",
    "pegging_score",
    "show_score",
]
