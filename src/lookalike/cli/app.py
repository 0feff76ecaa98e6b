"""The program `lookalike`: its commands, and how it ends."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from lookalike import __version__
from lookalike.base.errors import LookalikeError, QuadraticError, SettingsError
from lookalike.base.wording import visible, visible_lines

__all__ = ["COMMANDS", "main", "program"]

WRONG_USAGE = 2
STOPPED = 130
"""Exit statuses; the second after Ctrl-C."""
VERSIONS = ("NumPy", "Numba", "pyarrow", "SciPy")
"""Packages whose versions matter where something goes wrong."""
USAGE_ERROR: Any = typer.BadParameter.__base__
"""All that wrong usage raises, for which Typer has no public name."""
OUT_OF_MEMORY_MESSAGE = (
    "there is not enough memory: use fewer documents, or fewer bands and rows, or raise the limit "
    "of this process if it has one (ulimit -v)"
)

COMMANDS = {
    "find": None,
    "dedup": None,
    "contained": "Find which documents are inside others.",
    "boilerplate": "List the passages that many documents share.",
    "sketch": "Write fingerprints and signatures of documents.",
    "compare": "Say how similar two documents are, and where.",
    "plan": "Choose bands and rows, and show the curve.",
    "curve": "Show the curve of any banding or cascade.",
    "learn": "Walk through the textbook method, table by table.",
}
"""Each is a function in a module of its name; here with a shorter help where it has one."""


def program(*names: str) -> typer.Typer:
    """Make the program with some of its commands, by default all."""
    made = typer.Typer(
        name="lookalike",
        no_args_is_help=True,
        # Plain help takes half the time to appear, and reads the same in a pipe.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Find the documents in a pile that are the same or nearly the same.",
        epilog="Example: lookalike find essays/ --threshold 0.7",
    )
    made.callback()(_root)
    for name in names or COMMANDS:
        command = getattr(import_module(f"lookalike.cli.{name}"), name)
        made.command(name, short_help=COMMANDS[name])(command)
    return made


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        python = ".".join(map(str, sys.version_info[:3]))
        others = ", ".join(f"{name} {version(name.lower())}" for name in VERSIONS)
        typer.echo(f"lookalike {__version__}\nPython {python}, {others}")
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say the versions."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program; an error is one line on standard error, and status 1, or 2 for usage."""
    try:
        # The options of other commands take longer to make than some commands run.
        named = [name for name in sys.argv[1:2] if name in COMMANDS]
        status = program(*named)(prog_name="lookalike", standalone_mode=False)
    except SystemExit as end:
        _quiet_if_cut_off(end)
        raise
    except USAGE_ERROR as error:
        _explain_usage(error)
    except QuadraticError as error:
        _end(error.for_command_line())
    except SettingsError as error:
        _end(error.for_command_line(), WRONG_USAGE)
    except LookalikeError as error:
        _end(error.for_command_line())
    except Exception as error:
        if _lacks_memory(error):
            _end(OUT_OF_MEMORY_MESSAGE)
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            _end(f"{where}{error.strerror or error}")
        if os.environ.get("LOOKALIKE_DEBUG"):
            raise
        _end(
            f"an error of Lookalike's own, {type(error).__name__}: {' '.join(str(error).split())}; "
            "run again with LOOKALIKE_DEBUG=1 for its place, and report it"
        )
    if status == STOPPED:
        from lookalike.cli.screen import stopped

        _end(stopped(), STOPPED)
    sys.exit(status or 0)


def _lacks_memory(error: Exception) -> bool:
    """Tell whether memory was refused to an object, a call of the system, a library or a thread."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    text = str(error).lower()
    return any(sign in text for sign in ("failed to map segment", "can't start new thread"))


def _quiet_if_cut_off(end: SystemExit) -> None:
    """Let a reader of the output that has enough be no error."""
    if isinstance(end.__context__, BrokenPipeError):
        # Keep Python from trying, and failing, to write the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        end.code = 0


def _explain_usage(error: Any) -> NoReturn:
    """Show how the command is used and what was wrong, which may quote any argument."""
    buffer = io.StringIO()
    error.show(file=buffer)
    print(visible_lines(buffer.getvalue()), end="", file=sys.stderr)
    sys.exit(error.exit_code)


def _end(message: str, status: int = 1) -> NoReturn:
    print(f"lookalike: {visible(message)}", file=sys.stderr)
    sys.exit(status)
