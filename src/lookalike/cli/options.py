"""The options of the commands, made of the fields in `settings`."""

from __future__ import annotations

import functools
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.base.options import option_of
from lookalike.cli.command import Command, file_name
from lookalike.cli.values import SHARE, Number, OneOf, Share, Whole

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["command"]

TYPES: dict[str, Any] = {"float": Number, "int": Whole}


def command(options: Any, *own: click.Parameter) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function: it takes the options of a class, and its own parameters.

    The function gets the options of the class as `options`, a dict; without a class, nothing. They
    stand after the arguments of the command, and before its own options.
    """
    every = () if options is None else fields(options)
    shown = [found for found in every if not option_of(found).python_only]
    arguments = [one for one in own if isinstance(one, click.Argument)]
    rest = [one for one in own if one not in arguments]

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(**given: Any) -> None:
            chosen = {found.name: _value(found, given.pop(found.name)) for found in shown}
            function(**given, **({} if options is None else {"options": chosen}))

        return Command(
            function.__name__,
            callback=run,
            help=function.__doc__,
            params=[*arguments, *map(_option, shown), *rest],
            context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
        )

    return decorate


def _option(found: Any) -> click.Option:
    """Make the option of a field."""
    option = option_of(found)
    names = [f"--{name}" for name in (found.name.replace("_", "-"), *option.also)]
    if option.short:
        names.append(option.short)
    # Text where annotations are not evaluated, which they are in other modules.
    told = getattr(found.type, "__name__", str(found.type)).partition(" ")[0]
    if told == "bool":
        return click.Option([found.name, *names], is_flag=True, default=False, help=option.help)
    kind: Any = click.STRING
    metavar = option.metavar or f"<{told}>"
    if option.is_path:
        kind = file_name(Path)
    elif option.choices:
        kind, metavar = OneOf(option.choices), f"<{'|'.join(option.choices)}>"
    elif told in TYPES:
        typed = Share if option.is_share else TYPES[told]
        if option.is_share:
            metavar = option.metavar or SHARE
        kind = typed(found.default if option.example is None else option.example)
    return click.Option(
        [found.name, *names],
        type=kind,
        multiple=option.is_list,
        default=found.default,
        metavar=metavar,
        help=option.help,
    )


def _value(found: Any, given: Any) -> Any:
    """Give an option that may be given several times as a list, and as its default if it is not."""
    if option_of(found).is_list:
        return [*given] if given else found.default
    return given
