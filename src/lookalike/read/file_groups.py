"""Files by the folders they stand in: a folder for each student, say, and whatever is below it."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["first_folders"]


def first_folders(names: Sequence[str], sources: Sequence[int]) -> list[str | None]:
    """Give for each file the first folder below its source; None of one directly in the source.

    `names` are paths or addresses, and `sources` number what they were found in. A folder that
    holds all files of a source does not count: it tells nothing of them, and archives often have
    one.
    """
    # An address is no path of this system, and has slashes on every one.
    ways = [name.replace(os.sep, "/").split("/")[:-1] for name in names]
    shared = _shared(ways, sources)
    depths = (shared[source] for source in sources)
    return [
        "/".join(way[: depth + 1]) if len(way) > depth else None
        for way, depth in zip(ways, depths, strict=True)
    ]


def _shared(ways: Sequence[list[str]], sources: Sequence[int]) -> dict[int, int]:
    """Count for each source the folders that lead to all of its files."""
    found: dict[int, list[str]] = {}
    for way, source in zip(ways, sources, strict=True):
        shared = found.setdefault(source, way)
        if way[: len(shared)] != shared:
            pairs = zip(shared, way, strict=False)
            found[source] = [
                a for a, b in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
            ]
    return {source: len(shared) for source, shared in found.items()}
