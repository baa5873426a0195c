"""What can be wrong with what a caller hands in. All are ``ValueError``s."""

from __future__ import annotations


class CribbageError(ValueError):
    """Base class: something handed in does not fit the game."""


class InvalidCardError(CribbageError):
    """A text or number that names no card, or a card named twice."""


class InvalidRulesError(CribbageError):
    """Rules that contradict each other, or an unknown preset."""


class InvalidRenderModeError(InvalidRulesError, TypeError):
    """A way to render that an environment does not have.

    A ``TypeError`` too, as if there were no such argument: ``make_vec_env`` of
    Stable-Baselines3 asks every environment for ``rgb_array`` first, and on a
    ``TypeError`` does without.
    """


class IllegalActionError(CribbageError):
    """A card that may not be laid down now."""


class InvalidViewError(CribbageError):
    """A view that no real game can produce."""
