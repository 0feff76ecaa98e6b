"""Write docs/command-line.md from the commands themselves.

    python tools/command_reference.py

A test fails when the page and the commands differ.
"""

import os
import subprocess
import sys
from pathlib import Path

from lookalike.cli.app import app

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"

INTRODUCTION = """# The command line

Results go to standard output or to `--out`; the plan, progress and the summary go to standard
error. The exit status is 0 when a command is done, 1 on an error (one line on standard error says
what, where and what to do), 2 on wrong usage and 130 after Ctrl-C. This page is made by
`tools/command_reference.py`.
"""


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", *command, "--help"],
        env={**os.environ, "COLUMNS": "88", "TERMINAL_WIDTH": "88", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.rstrip() for line in done.stdout.splitlines())
    return "\n".join(lines).strip().replace("python -m lookalike", "lookalike")


def page() -> str:
    names = [command.name for command in app.registered_commands if command.name]
    parts = [INTRODUCTION]
    parts += [f"## lookalike {name}\n\n```\n{help_of(name)}\n```\n" for name in names]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
