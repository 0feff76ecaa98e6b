"""What Spark and its kin write beside the part files of a table, and hide when they read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["folders_of_parts", "holds_parts", "is_beside_parts", "is_marker"]

MARKER = re.compile(
    r"_(SUCCESS|(committed|started)_\d+|(common_|spark_)?metadata|delta_log|temporary)\Z"
)
"""Files and folders of which nothing is a document, wherever they stand."""
PART = re.compile(r"part-([rm]-)?\d{5}")
PARTITION = re.compile(r"[^=]+=")


def is_marker(name: str) -> bool:
    """Tell a file or folder that describes a table, as `_SUCCESS` and `_delta_log`."""
    return name.startswith("_") and MARKER.match(name) is not None


def is_beside_parts(name: str) -> bool:
    """Tell what is hidden where it stands beside the parts of a table; elsewhere it is a name."""
    return name.startswith("_")


def holds_parts(files: Iterable[str], folders: Iterable[str] = ()) -> bool:
    """Tell a folder of part files, or of partitions as `lang=en`."""
    return any(map(PART.match, files)) or any(map(PARTITION.match, folders))


def folders_of_parts(paths: Iterable[str]) -> set[str]:
    """Give the folders of part files, or of partitions, among those that paths lead through."""
    found = set()
    for path in paths:
        *folders, name = path.split("/")
        for depth, folder in enumerate(folders):
            if PARTITION.match(folder):
                found.add("/".join(folders[:depth]))
        if PART.match(name):
            found.add("/".join(folders))
    return found
