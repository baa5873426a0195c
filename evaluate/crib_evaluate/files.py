"""Result files: whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before hours of work go into it.

    Raises:
        click.UsageError: in one line that says why.
    """
    if path.exists() and not path.is_file():
        raise _refusal(path, "it is not a regular file")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:50]}."):
            pass
    except OSError as error:
        raise _refusal(path, error.strerror or str(error)) from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and move it to its place.

    Raises:
        OSError: when it cannot be written; an older file of that name stays as it was.
    """
    part = path.with_name(f".{path.name[:50]}.{os.getpid()}.tmp")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write a JSON file, see `write_whole`."""
    write_whole(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())


def _refusal(path: Path, why: str) -> click.ClickException:
    return click.UsageError(f"cannot write {path}: {why}")
