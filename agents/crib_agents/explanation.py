"""Why a bot plays what it plays: every legal choice with what it is worth.

A bot that has an opinion of its own offers it by a method
``explain(view: SeatView) -> Explanation | None``; for the others, and where it
answers None, `crib_agents.serve.explain` makes one.
"""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.cards import Card


@dataclass(frozen=True)
class Option:
    """One legal choice.

    Attributes:
        cards: the cards thrown, or the one card laid.
        value: P(win) when it is chosen, 0 to 1; None where that is not known.
        hand: points that the cards kept are expected to show; None in the play.
        crib: points expected of the crib, below zero where it is the other side's;
            None in the play, or where the cards thrown do not say.
        play: points expected in the play from here to the end of the deal, less those
            of the other side.
    """

    cards: tuple[Card, ...]
    value: float | None
    hand: float | None = None
    crib: float | None = None
    play: float | None = None


@dataclass(frozen=True)
class Explanation:
    """What a decision is about.

    Attributes:
        value: P(win) with the best choice, 0 to 1; None where that is not known.
        options: every legal choice, best first; empty where the hand has to pass.
    """

    value: float | None
    options: tuple[Option, ...]
