"""How `find` and `compare` lead to each other: the command that shows what two documents share."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lookalike.results import FindResult

__all__ = ["compare_hint"]


def compare_hint(
    source: Sequence[str], a: Any, b: Any, result: FindResult, width: int
) -> str | None:
    """Give the command that compares two files as `find` did; None where there is none.

    It names the two where they fit in such a width.
    """
    from lookalike.base.wording import visible

    options = _options(result)
    read = {one[0] for one in (*result.run.sources, *result.run.against)}
    paths = _file(source, a, read), _file(source, b, read)
    if options is None or paths[0] is None or paths[1] is None:
        return None
    first, second = (visible(shlex.quote(str(path))) for path in paths)
    given = " ".join(options)
    whole = f"lookalike compare {first} {second} {given}"
    lines = [whole]
    if len(whole) > width:
        lines = ["lookalike compare \\", f"  {first} \\", f"  {second} {given}"]
    if max(map(len, lines)) > width:
        return f"To see what two of them share: lookalike compare A B {given}"
    return "\n".join(["To see what the first two share:", *lines])


def _options(result: FindResult) -> list[str] | None:
    """Give the options by which `compare` comes to the same number, where it has them."""
    settings = result.settings
    only_of_corpora = (settings.ignore, settings.max_df, settings.simhash)
    if any(one is not None for one in only_of_corpora) or settings.weights == "tf-idf":
        return None
    if settings.shingle in ("auto", "tokens"):
        return None
    options = ["-s", settings.shingle]
    if settings.multiset:
        options.append("--multiset")
    if settings.metric != "jaccard":
        options += ["--metric", settings.metric, "--weights", settings.weights or "counts"]
    if settings.normalise != "default":
        options += ["--normalise", settings.normalise]
    return options


def _file(source: Sequence[str], name: Any, read: set[str]) -> Path | None:
    """Give the file that an id names: itself, or one in a folder or archive that was searched."""
    from pathlib import Path

    if not isinstance(name, str):
        return None
    for one in source:
        path = Path(one)
        for found in (path / name, path if path.name == name else Path(name), path.parent / name):
            if found.is_file() or str(found) in read:
                return found
    return None
