"""Figures as files: PNG or SVG, the same bytes each time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg")
_STAMPS = {"png": "Software", "svg": "Date"}
"""What a picture would tell of when and with what it was drawn; left out."""


def check_picture(
    context: click.Context, option: click.Parameter, value: Path | None
) -> Path | None:
    """Refuse a kind of picture that is not drawn.

    Raises:
        click.BadParameter: for a name that does not end in one of `KINDS`.
    """
    if value is not None and value.suffix not in KINDS:
        raise click.BadParameter(f"a plot ends in {' or '.join(KINDS)}, not {value.name!r}")
    return value


def draw(figure: Figure, kind: str) -> bytes:
    """The figure as a picture, ``png`` or ``svg``."""
    picture = io.BytesIO()
    figure.savefig(picture, format=kind, dpi=110, metadata={_STAMPS[kind]: None})
    return picture.getvalue()
