"""The one place that compiles: ``njit`` with a cache that cannot go stale.

Numba's own cache notices an edit of the file that holds a function, but not
an edit of a file whose functions it calls or whose constants it froze. Every
kernel here calls across files, so the compiled code is kept in a folder named
after the content of all sources that are compiled.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

config: Any = numba.config  # its settings appear at run time
Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_PACKAGES = ("crib_env", "crib_agents", "crib_evaluate")
"""Packages that hold ``njit`` functions: their sources name the cache folder."""

_FROZEN = ("cards.py", "rules.py", "state.py", "expectation.py")
"""Sources of constants that compiled code freezes, beside those that it is made from."""


def _package_folders() -> list[Path]:
    folders = [Path(__file__).parent]
    for name in COMPILED_PACKAGES[1:]:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            folders.append(Path(next(iter(spec.submodule_search_locations))))
    return folders


def _source_digest() -> str:
    digest = hashlib.sha256()
    for folder in _package_folders():
        for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.csv"))):
            content = path.read_bytes()
            if b"njit" in content or path.name in _FROZEN or path.suffix == ".csv":
                digest.update(path.name.encode() + content)
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    """Where compiled code is kept: ``NUMBA_CACHE_DIR`` or the user's cache folder."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "crib_env"


def _usable(folder: Path) -> bool:
    """Whether files can be written there; the folder is made where it can be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_dir() -> Path | None:
    """Where compiled code is kept: the first place that can be written, None for nowhere."""
    digest = _source_digest()
    user = os.environ.get("USER") or os.environ.get("USERNAME") or "user"
    for home in (_cache_home(), Path(tempfile.gettempdir()) / f"crib_env-{user}"):
        if _usable(home / digest):
            return home / digest
    return None


CACHE_DIR = None if config.DISABLE_JIT else _cache_dir()


class _ForgivingCache:
    """Numba's cache of one function, for which damaged files are as good as none."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for some types; None where it has to be compiled."""
        try:
            return self._cache.load_overload(sig, target_context)
        except Exception:  # a file that is cut short can raise anything
            self._cache.flush()
            return None


def njit(function: Function) -> Function:
    """Compile ``function`` on its first call and keep the machine code on disk.

    With ``NUMBA_DISABLE_JIT=1`` the function stays plain Python.
    """
    # Said aloud, since a function otherwise does as the one that calls it.
    return _compiled(function, _nrt=True)


def lean_njit(function: Function) -> Function:
    """As `njit`, for a function that makes no arrays.

    It does not count the references to the arrays that it is handed: its caller holds
    them. (Counting is atomic, and took half of the time of a kernel that lays a card.)
    """
    return _compiled(function, _nrt=False)


def small_njit(function: Function) -> Function:
    """As `lean_njit`, for a small function: its code is put where it is called.

    An array is seven machine words to hand over and a buffer of events nine, so that a call
    costs more than most of what is called.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    if CACHE_DIR is None:
        return cast(Function, numba.njit(**options)(function))
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_DIR)
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    compiled._cache = _ForgivingCache(compiled._cache)
    return cast(Function, compiled)


class _FirstCompilation(event.Listener):
    """Says once, on stderr, that code is being compiled."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", "") or ""
        if self.told or module.partition(".")[0] not in COMPILED_PACKAGES:
            return
        self.told = True
        print(
            "crib_env: compiling for this machine; each part once, a minute in all",
            file=sys.stderr,
            flush=True,
        )

    def on_end(self, event: event.Event) -> None:
        """Nothing to do: only the start is told."""


if config.DISABLE_JIT:
    # Machine integers wrap around; NumPy's scalars do too, but warn of it.
    np.seterr(over="ignore")
else:
    if CACHE_DIR is None:
        print(
            "crib_env: nowhere to keep compiled code, so every start compiles; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            file=sys.stderr,
        )
    event.register("numba:compile", _FirstCompilation())  # type: ignore[no-untyped-call]
