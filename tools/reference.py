"""Write the reference of the options, of the command line and of Python, from their declarations.

    python tools/reference.py

docs/command-line.md is made as a whole, of docs/python.md the table of options. A test fails when
the pages and the declarations differ.
"""

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from lookalike import settings
from lookalike.base.options import option_of
from lookalike.cli.app import COMMANDS
from lookalike.cli.index import COMMANDS as INDEX_COMMANDS
from lookalike.settings import index_options

FUNCTIONS = {
    "find": settings.FindOptions,
    "dedup": settings.DedupOptions,
    "contained": settings.ContainedOptions,
    "boilerplate": settings.BoilerplateOptions,
    "sketch": settings.SketchOptions,
    "report": settings.ReportOptions,
    "compare": settings.CompareOptions,
    "compare_all": settings.CompareAllOptions,
    "plan": settings.PlanOptions,
    "plan_corpus": settings.PlanCorpusOptions,
    "Index.create": index_options.IndexCreateOptions,
    "Index.add_all": index_options.IndexAddOptions,
    "Index.query_all": index_options.IndexQueryOptions,
    "lesson": settings.LessonOptions,
    "matrix_lesson": settings.MatrixLessonOptions,
}
PYTHON = Path(__file__).parent.parent / "docs" / "python.md"
BEGIN, END = "<!-- options: made by tools/reference.py -->", "<!-- end of options -->"
PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"

INTRODUCTION = """# The command line

Results go to standard output or to `--out`; the plan, progress and the summary go to standard
error. The exit status is 0 when a command is done, 1 on an error (one line on standard error says
what, where and what to do), 2 on wrong usage, 3 when a command is done and `--fail-on` was met, and
130 after Ctrl-C. `--json` gives the facts of a command to a program, as one object.

What is a number from 0 to 1 may be given as a percentage: `-t 80%` is `-t 0.8`. In Python it is a
number, as whatever computes with it has it. This page is made by `tools/reference.py`.
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
    parts = [INTRODUCTION]
    for name in COMMANDS:
        parts.append(section(name))
        if name == "index":
            parts += [section(name, inner) for inner in INDEX_COMMANDS]
    return "\n".join(parts)


def section(*command: str) -> str:
    return f"## lookalike {' '.join(command)}\n\n```\n{help_of(*command)}\n```\n"


def options_table() -> str:
    """List every option once, with its default and the functions that take it."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for function, options in FUNCTIONS.items():
        for one in fields(options):
            key = one.name, repr(one.default), option_of(one).help
            rows.setdefault(key, []).append(function)
    lines = ["| Option | Default | What it does | Of |", "|---|---|---|---|"]
    for (name, default, told), functions in rows.items():
        cells = (f"`{name}`", f"`{default}`", told.replace("|", "\\|"), ", ".join(functions))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def python_page(before: str) -> str:
    """Put the table of options where the page has its place."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{options_table()}\n\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page())
    PYTHON.write_text(python_page(PYTHON.read_text()))
