"""Completion in bash, zsh and fish: what a shell asks while a user types, and how it learns to.

A shell asks by starting the program with a variable of the environment set, as Click has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from lookalike.base.errors import OutputError, SettingsError

__all__ = ["OPTIONS", "answer"]

NAME = "lookalike"
VARIABLE = "_LOOKALIKE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
THIS_SHELL = ""
BASH_LINE = "source ~/.bash_completions/lookalike.sh"
ZSH_LINE = "fpath+=~/.zfunc; autoload -Uz compinit; compinit"


def answer(program: click.Group) -> None:
    """Tell a shell what may follow, if it is one that asks, and end."""
    asked = os.environ.get(VARIABLE)
    if asked:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(program, {}, NAME, VARIABLE, asked))


def _install(context: click.Context, _option: click.Parameter, shell: str | None) -> None:
    """Write the script where the shell finds it when it starts."""
    if shell is None:
        return
    shell = _known(shell, "--install-completion")
    home = Path.home()
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    place, started_by, line = {
        "bash": (home / ".bash_completions" / f"{NAME}.sh", home / ".bashrc", BASH_LINE),
        "zsh": (home / ".zfunc" / f"_{NAME}", home / ".zshrc", ZSH_LINE),
        "fish": (configuration / "fish" / "completions" / f"{NAME}.fish", None, ""),
    }[shell]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_script(context, shell), encoding="utf-8")
        if started_by is not None:
            _add_line(started_by, line)
    except OSError as error:
        raise OutputError(
            f"{error.filename}: {error.strerror}; --show-completion {shell} prints the script"
        ) from None
    click.echo(f"{shell} completes {NAME} when it is started again, by {place}")
    context.exit()


def _show(context: click.Context, _option: click.Parameter, shell: str | None) -> None:
    """Print the script, for whoever keeps such files elsewhere."""
    if shell is not None:
        click.echo(_script(context, _known(shell, "--show-completion")))
        context.exit()


def _add_line(path: Path, line: str) -> None:
    """Add a line to a file that a shell starts with, unless it is there."""
    before = path.read_bytes().decode(errors="surrogateescape") if path.exists() else ""
    if line not in before.splitlines():
        begun = "" if before.endswith("\n") or not before else "\n"
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{begun}{line}\n")


def _script(context: click.Context, shell: str) -> str:
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise SettingsError(f"Click, as it is installed, knows nothing of {shell}")
    return made(context.command, {}, NAME, VARIABLE).source().strip()


def _known(shell: str, option: str) -> str:
    """Give the shell that was named, or the one that started the program."""
    if shell == THIS_SHELL:
        shell = _parent() or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        which = f"{shell!r} is none of them" if shell else "this shell is not known"
        raise SettingsError(f"completion is for {', '.join(SHELLS)}: {which}; name one by {option}")
    return shell


def _parent() -> str | None:
    """Give the shell that started the program, where the system tells."""
    try:
        done = subprocess.run(  # noqa: S603 - a number of our own
            ["ps", "-p", str(os.getppid()), "-o", "comm="],  # noqa: S607 - wherever it is
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    name = Path(done.stdout.strip().removeprefix("-")).name
    return name if name in SHELLS else None


def _option(name: str, sentence: str, callback: Any) -> click.Option:
    return click.Option(
        [name],
        is_flag=False,
        flag_value=THIS_SHELL,
        is_eager=True,
        expose_value=False,
        metavar=f"[{'|'.join(SHELLS)}]",
        help=sentence,
        callback=callback,
    )


OPTIONS = (
    _option("--install-completion", "Let this shell, or the one named, complete.", _install),
    _option("--show-completion", "Print what a shell needs to complete.", _show),
)
