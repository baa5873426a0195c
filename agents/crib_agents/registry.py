"""Bots by name: ours, other people's, and trained ones in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

from crib_agents.bot import Bot, BotError
from crib_agents.composed import BLIND, BlindBot, ComposedBot, parts_of
from crib_env.rules import Rules, get_rules

GROUP = "crib_agents.bots"
"""Entry points of this group are bots: ``make(rules=..., seed=..., **options) -> Bot``."""


def bot_names() -> tuple[str, ...]:
    """The names that `make_bot` knows, beside paths of bundles."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def make_bot(
    name: str | Path | Bot,
    *,
    rules: str | Rules | Mapping[str, Any] = "six-card",
    seed: int = 0,
    **options: Any,
) -> Bot:
    """A player by name.

    Args:
        name: ``random``, ``easy``, ``medium``, ``hard``, ``search``, a bot that another package
            registered under `GROUP`, the folder of an exported bundle, or made of these:
            ``discard:A+play:B`` throws as A and lays as B, ``blind:A`` is A told that the
            score is 0-0. A bot is returned as it is.
        rules: the game that it is to play.
        seed: for bots that draw by chance.
        options: settings of that bot, or of the one that is told so; two as one have none.

    Raises:
        BotError: when there is no such bot, its bundle is damaged or does not fit the rules.

    >>> make_bot("medium").name
    'medium'
    >>> make_bot("discard:medium+play:easy").name
    'discard:medium+play:easy'
    >>> make_bot("blind:search").name
    'blind:search'
    """
    if not isinstance(name, str | Path):
        return name
    if not str(name).strip():
        raise BotError(f"a bot has a name: there are {', '.join(bot_names())}")
    wanted = get_rules(rules)
    for point in entry_points(group=GROUP):
        if point.name == str(name):
            try:
                return cast(Bot, point.load()(rules=wanted, seed=seed, **options))
            except TypeError as error:
                raise BotError(f"bot {name}: {error}") from None
    if str(name).startswith(BLIND):
        player = str(name).removeprefix(BLIND)
        return BlindBot(make_bot(player, rules=wanted, seed=seed, **options), wanted)
    parts = parts_of(str(name))
    if parts is not None:
        if options:
            raise BotError(f"bot {name}: two players as one take no options")
        throws, lays = (make_bot(part, rules=wanted, seed=seed) for part in parts)
        return ComposedBot(throws, lays, wanted)
    path = Path(name)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError:  # a name that is too long for one
        is_folder = is_there = False
    if is_folder:
        from crib_agents.bundle import load_bundle

        return load_bundle(path, rules=wanted, seed=seed, **options)
    if is_there:
        raise BotError(f"{name} is a file; a trained player is the folder that `crib export` makes")
    raise BotError(
        f"no bot {str(name)!r}: there are {', '.join(bot_names())}, or a bundle's folder"
    )
