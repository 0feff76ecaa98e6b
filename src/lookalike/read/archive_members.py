"""One file in an archive, by the path that leads through the archive to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.fields import ReadOptions
from lookalike.read.files import is_archive
from lookalike.read.listing import find_shards

if TYPE_CHECKING:
    import os

    from lookalike.read.encoding_names import Encodings
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds

__all__ = ["archive_above", "file_above", "member"]


def archive_above(path: str | os.PathLike[str]) -> Path | None:
    """Give the archive that a path leads through, as an id of `find` does; None where none is."""
    above = file_above(path)
    return above if above is not None and is_archive(above.name) else None


def file_above(path: str | os.PathLike[str]) -> Path | None:
    """Give the file that a path leads through; None where none is, or of what is no name."""
    try:
        return next((one for one in Path(path).parents if one.is_file()), None)
    except (OSError, ValueError):
        return None


def member(name: str, archive: Path, encodings: Encodings, bounds: Bounds) -> Shard:
    """Give the file that a path names in an archive."""
    inside = Path(name).relative_to(archive).as_posix()
    options = ReadOptions(None, None, (), skip_bad=False, bounds=bounds, encodings=encodings)
    chosen = ChosenFiles(all_files=True)
    found = find_shards([archive], spool=None, options=options, chosen=chosen)
    for shard in (*found.shards, *found.set_aside):
        if shard.path == inside:
            return shard
    shown = f"{archive}/{inside}"
    for one in found.unread:
        if one.path == shown:
            raise SourceError(f"{name} cannot be read: {one.reason}")
    raise SourceError(
        f"{name} does not exist: the archive {archive} holds no such file; find names those that "
        "it holds"
    )
