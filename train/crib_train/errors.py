"""What can be wrong with what a trainer hands in."""

from __future__ import annotations


class TrainingError(ValueError):
    """Settings, a run or a checkpoint that cannot be used; the text says why in one line."""
