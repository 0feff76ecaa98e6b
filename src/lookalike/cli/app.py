"""The program `lookalike`: its commands, and how it ends."""

from __future__ import annotations

import errno
import os
import sys
from typing import NoReturn

import click

from lookalike import __version__
from lookalike.base.errors import LookalikeError, QuadraticError, SettingsError
from lookalike.base.wording import shortened, visible
from lookalike.cli import completion
from lookalike.cli.group import WRONG_USAGE, Group
from lookalike.cli.usage import no_such_command, usage_line

__all__ = ["COMMANDS", "main", "program"]

STOPPED = 130
"""The exit status after Ctrl-C."""
WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
SAID_CHARACTERS = 200
"""Of what another library says, which may quote a document."""
VERSIONS = ("NumPy", "Numba", "pyarrow", "SciPy")
"""Packages whose versions matter where something goes wrong."""
OUT_OF_MEMORY_MESSAGE = (
    "there is not enough memory: use fewer documents, or fewer bands and rows, or raise the limit "
    "of this process if it has one (ulimit -v)"
)

COMMANDS = {
    "find": "Find similar pairs and clusters.",
    "dedup": "Write the corpus without near-duplicates.",
    "contained": "Find which documents are inside others.",
    "boilerplate": "List the passages that many documents share.",
    "index": "Keep documents in an index, and ask it for similar ones.",
    "sketch": "Write fingerprints and signatures of documents.",
    "report": "Write a result as one page to look at and to send.",
    "plot": "Draw the pairs of a result by similarity, or its clusters by size.",
    "compare": "Say how similar two documents are, and where.",
    "plan": "Choose bands and rows, and show the curve.",
    "curve": "Show the curve of any banding or cascade.",
    "learn": "Walk through the textbook method, table by table.",
}
"""Each stands in a module of its name, which is loaded when it is asked for."""


def program() -> click.Group:
    """Make the program."""
    return Group(
        "lookalike",
        "lookalike.cli",
        COMMANDS,
        lambda given: no_such_command(given, COMMANDS),
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_say_versions,
                help="Say the versions.",
            ),
            *completion.OPTIONS,
        ],
        help="Find the documents in a pile that are the same or nearly the same.",
        epilog="Example: lookalike find essays/ --threshold 0.7",
    )


def _say_versions(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        python = ".".join(map(str, sys.version_info[:3]))
        others = ", ".join(f"{name} {version(name.lower())}" for name in VERSIONS)
        click.echo(f"lookalike {__version__}\nPython {python}, {others}")
        context.exit()


def main() -> None:
    """Run the program; an error is one line on standard error, and status 1, or 2 for usage."""
    try:
        _run(sys.argv[1:])
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.ClickException as error:
        _end(usage_line(error), error.exit_code)
    except KeyboardInterrupt:
        from lookalike.cli.screen import stopped

        _end(stopped(), STOPPED)
    except BrokenPipeError:
        # A reader of the output that has enough is no error.
        from lookalike.cli.output import discard_rest

        discard_rest()
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
            if not where and error.errno in WRITE_ERRORS:
                # Files are written where their names are known.
                where = "standard output cannot be written: "
            _end(f"{where}{error.strerror or error}")
        if os.environ.get("LOOKALIKE_DEBUG"):
            raise
        said = shortened(" ".join(str(error).split()), SAID_CHARACTERS)
        _end(
            f"unexpected error, {type(error).__name__}: {said}; this is a bug in Lookalike: run "
            "again with LOOKALIKE_DEBUG=1 to see where, and report it"
        )
    sys.exit(0)


def _run(arguments: list[str]) -> None:
    made = program()
    completion.answer(made)
    # What Click has for whole programs would end them in its own ways, and expand patterns.
    with made.make_context("lookalike", arguments) as context:
        made.invoke(context)


def _lacks_memory(error: Exception) -> bool:
    """Tell whether memory was refused to an object, a call of the system, a library or a thread."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    text = str(error).lower()
    return any(sign in text for sign in ("failed to map segment", "can't start new thread"))


def _end(message: str, status: int = 1) -> NoReturn:
    print(f"lookalike: {visible(message)}", file=sys.stderr)
    sys.exit(status)
