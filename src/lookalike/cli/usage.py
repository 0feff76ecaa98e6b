"""What is said of a command line that cannot be understood: one line, with what can."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lookalike.base.wording import either, quoted
from lookalike.cli.values import example_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["no_such_command", "usage_line"]

COMMAND_EXAMPLE = "lookalike find essays/ --threshold 0.7"


def usage_line(error: click.ClickException) -> str:
    """Say what is wrong with a command line, and where to read on."""
    context = getattr(error, "ctx", None)
    if context is None:
        return _on_one_line(error.format_message())
    problem = _problem(error, context)
    return f"{problem}{'' if problem.endswith('?') else ';'} see {context.command_path} --help"


def no_such_command(given: str, commands: Iterable[str]) -> str:
    """Say that there is no such command, and which may be meant."""
    if Path(given).exists():
        return f"{quoted(given)} is no command: to search it, lookalike find {given}"
    from difflib import get_close_matches

    meant = either(get_close_matches(given, [*commands], n=2))
    ask = f": did you mean {meant}?" if meant else ":"
    return f"there is no command {quoted(given)}{ask} lookalike --help lists them"


def _problem(error: click.ClickException, context: click.Context) -> str:
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error, context)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        name = str(error.param.metavar).rstrip(".")
        example = _example(context.command)
        return f"{name} is missing" + (f": as in {example}" if example else "")
    if isinstance(error, click.BadOptionUsage):
        name = error.option_name
        option = next((one for one in context.command.params if name in one.opts), None)
        if isinstance(option, click.Option):
            if option.is_flag:
                return f"{name} takes no value"
            example = example_of(option)
            return f"{name} needs a value" + (f", as {name} {example}" if example else "")
    return _on_one_line(error.format_message())


def _no_such_option(error: click.NoSuchOption, context: click.Context) -> str:
    name = quoted(error.option_name)
    if context.parent is None:
        return f"there is no option {name} before a command: as in {COMMAND_EXAMPLE}"
    from difflib import get_close_matches

    meant = get_close_matches(error.option_name, error.possibilities or (), n=1)
    return f"there is no option {name}" + (f": did you mean {meant[0]}?" if meant else "")


def _example(command: click.Command) -> str | None:
    """Give the example that the help of a command ends with."""
    found = re.search(r"^\s*Example: (.+)$", command.help or "", re.MULTILINE)
    return found[1] if found else None


def _on_one_line(message: str) -> str:
    """Write what Click says as the other messages are: on one line, and no sentence."""
    line = " ".join(message.split()).rstrip(".")
    return line[:1].lower() + line[1:]
