"""Commands that stand together under a name, each loaded when it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from lookalike.base.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["WRONG_USAGE", "Group"]

WRONG_USAGE = 2


class Group(click.Group):
    """Commands, each in a module of its name."""

    def __init__(
        self,
        name: str,
        package: str,
        sentences: Mapping[str, str],
        unknown: Callable[[str], str],
        **attributes: Any,
    ) -> None:
        """Take the names of commands with a sentence each, and what is said of any other name."""
        context = {"help_option_names": ["-h", "--help"]}
        super().__init__(name, context_settings=context, **attributes)
        self._package = package
        self._sentences = sentences
        self._unknown = unknown

    def list_commands(self, _context: click.Context) -> list[str]:
        """Give the names of the commands."""
        return [*self._sentences]

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Load a command."""
        if name not in self._sentences:
            return None
        found: click.Command = getattr(import_module(f"{self._package}.{name}"), name)
        found.short_help = self._sentences[name]
        return found

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what there is, without loading it."""
        with formatter.section("Commands"):
            formatter.write_dl([*self._sentences.items()])

    def parse_args(self, context: click.Context, given: list[str]) -> list[str]:
        """Read a command line; one without a command gets the help, as wrong usage."""
        if not given and not context.resilient_parsing:
            print(self.get_help(context), file=sys.stderr)
            context.exit(WRONG_USAGE)
        try:
            return super().parse_args(context, given)
        except click.UsageError as error:
            error.ctx = context
            raise

    def resolve_command(
        self, context: click.Context, given: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first."""
        if given[0] not in self._sentences:
            raise SettingsError(self._unknown(given[0]))
        return super().resolve_command(context, given)
