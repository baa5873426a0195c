"""`crib`: the command, a table of sub-commands each loaded only when it is asked for."""

from __future__ import annotations

import io
import os
import signal
import sys
from importlib import import_module
from typing import Any

import click

from crib_env import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "evaluate": ("crib_evaluate.command:evaluate", "Play a measured match between two players."),
    "discards": ("crib_evaluate.discards_command:discards", "Measure a player's discards."),
    "rules": ("crib_env.rules_command:rules", "Print the rules of a preset in words."),
    "bot": ("crib_agents.serve.command:bot", "Answer a front end, one JSON message a line."),
    "train": ("crib_train.command:train", "Train a player."),
    "export": ("crib_train.command:export", "Export a trained player as a bundle."),
    "curves": ("crib_train.curves:curves", "Draw the curves of training runs."),
    "tables": ("crib_evaluate.tables_command:tables", "Measure the tables the library reads."),
}
"""Sub-command to where it lives and what it does."""

_EXTRA = {"torch": "train", "stable_baselines3": "train", "sb3_contrib": "train", "onnx": "train"}
_EXTRA |= {"tensorboard": "train", "matplotlib": "train"}


class _Commands(click.Group):
    """Loads a sub-command when it is used, not when the help is shown."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, what) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crib")
def crib() -> None:
    """Cribbage: measure players, train them, and plug them into other games."""


def main(arguments: list[str] | None = None) -> None:
    """Run `crib`. A user's error is one line on stderr and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Where the output cannot hold a sign there is a question mark, and no traceback.
        sys.stdout.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code: Any = crib.main(arguments, prog_name="crib", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort:
        _fail("stopped", 130)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except BrokenPipeError:
        # Whoever read the output has gone; Python would complain again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except ModuleNotFoundError as error:
        extra = _EXTRA.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        _fail(f"this needs {error.name}: pip install 'cribbage-env[{extra}]'")
    except ValueError as error:
        if type(error).__module__.partition(".")[0] not in ("crib_env", "crib_agents"):
            raise
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _terminated(number: int, frame: object) -> None:
    """End as after an error, so that worker processes and temporary files are cleared away."""
    sys.exit(128 + number)


def _fail(message: str, code: int = 2) -> None:
    print(f"crib: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
