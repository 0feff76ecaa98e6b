"""Functions of the report's script, called from Python in a browser: values in, values out."""

from collections.abc import Iterable
from importlib import resources
from typing import Any

FOLDER = resources.files("lookalike.reports") / "page"


def call_all(page: Any, files: Iterable[str], expression: str, cases: list[Any]) -> list[Any]:
    """Evaluate an expression of `one` for each case, with these files and no others loaded."""
    source = "\n".join((FOLDER / name).read_text("utf-8") for name in files)
    found: list[Any] = page.evaluate(
        f"(cases) => {{ {source}\n return cases.map((one) => {expression}); }}", cases
    )
    return found
