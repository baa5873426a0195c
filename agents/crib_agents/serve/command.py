"""The command ``crib bot``."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("name")
@click.option(
    "--rules",
    default="six-card",
    show_default=True,
    help="The game, where a message does not name its rules.",
)
def bot(name: str, rules: str) -> None:
    r"""Let the bot NAME answer JSON messages, one a line, from standard input.

    NAME is random, easy, medium, or the folder of an exported bundle. The messages
    are described in docs/protocol.md. Try:

    \b
    echo '{"type": "hello"}' | crib bot medium
    """
    from crib_agents.serve.stdio import run

    sys.exit(run(name, rules))
