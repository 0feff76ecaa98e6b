"""The kept documents of a corpus: taken as they were given, copied, or listed."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.read import Corpus
from lookalike.read.annotated_copies import refuse_taken
from lookalike.write.files import PART, beside, write_atomically, write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.results.ids import Ids
    from lookalike.results.origin import Origin
    from lookalike.results.result import Progress

__all__ = ["KEPT", "by_shard", "copied", "copy_kept", "list_kept", "table_of", "wholly_bad"]

KEPT = "kept"
BLOCK_IDS = 1 << 16
"""Ids that are listed at a time."""
BREAKS = re.compile("[\\\\\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Line breaks, of which shells know one and other readers more, and what they are escaped with."""


def copy_kept(
    origin: Origin,
    rows: NDArray[np.int64],
    folder: Path,
    progress: Progress | None,
    unread: Set[str] | None = None,
    *,
    bad: Set[str] = frozenset(),
) -> None:
    """Copy the records of some documents, each file in its own format, to a file of its own.

    `unread` names files that turned out to be no text: these, those set aside before and those of
    which nothing could be read are copied too, and none where it is None. `bad` names files of
    which something could not be read.
    """
    corpus, target = origin.sources[-1], folder / KEPT
    target.mkdir(exist_ok=True)
    if not isinstance(corpus, Corpus):
        table = table_of(origin, rows)
        path = target / "documents.parquet"
        write_atomically(path, lambda stream: write_table(table, stream, "parquet"))
        return
    passed = wholly_bad(origin, corpus, bad)
    for shard, records in by_shard(origin, rows, len(corpus.shards)):
        if shard in passed or (corpus.shards[shard].is_one_record and not len(records)):
            continue
        _copy(corpus, shard, records, target)
        if progress is not None:
            progress("write", shard + 1, len(corpus.shards))
    if unread is None:
        return
    for file in sorted(passed):
        with suppress(SourceError):  # one that went away, or is locked, is named as bad
            _copy_whole(corpus, file, target)
    for file in corpus.unread_files(unread):
        _copy_whole(corpus, file, target)


def wholly_bad(origin: Origin, corpus: Corpus, bad: Set[str]) -> set[int]:
    """Give the files of which nothing could be read: skipped as asked, they are so again."""
    if not origin.skip_bad:
        return set()
    read = np.unique(origin.shards.read()[origin.before :])
    others = set(range(len(corpus.shards))) - set(read.tolist())
    return {one for one in others if corpus.shards[one].name in bad}


def _copy(corpus: Corpus, shard: int, records: NDArray[np.int64], target: Path) -> None:
    """Copy records of a file, or one that is a document as it is, unless an earlier try did."""
    of_records = not corpus.shards[shard].is_one_document
    path = target / corpus.copied_name(shard)
    copied(path, lambda part: corpus.copy(shard, records, part), sync=of_records)


def _copy_whole(corpus: Corpus, shard: int, target: Path) -> None:
    """Copy a file that cannot be read as it is, unless an earlier try did."""
    path = target / corpus.copied_name(shard)
    copied(path, lambda part: corpus.copy_whole(shard, part), sync=False)


def copied(path: Path, write: Callable[[Path], None], *, sync: bool = True) -> None:
    """Let a file be written, and put it in its place when it is whole, unless one is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = beside(path, PART)
    write(part)
    if sync:
        _sync(part)
    part.replace(path)


def table_of(origin: Origin, rows: NDArray[np.int64], added: pa.Table | None = None) -> pa.Table:
    """Give documents that came from memory as a table of their ids, texts and columns.

    Columns that are added must not be there already.
    """
    found = origin.originals(rows, None)
    kind = "text" if pa.types.is_large_string(found.texts.type) else "document"
    columns = {"id": origin.ids.take(rows), kind: found.texts}
    columns |= {name: values for name, values in found.columns.items() if name not in columns}
    if added is not None:
        refuse_taken(list(columns), added.schema, "the source")
        columns |= dict(zip(added.column_names, added.columns, strict=True))
    return pa.table(columns)


def by_shard(
    origin: Origin, rows: NDArray[np.int64], shards: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Give the numbers of the records of each shard, in order."""
    of_row, records = origin.places(rows)
    ends = np.searchsorted(of_row, np.arange(shards), side="right")
    begin = 0
    for shard, end in enumerate(ends.tolist()):
        yield shard, records[begin:end]
        begin = end


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def list_kept(ids: Ids, rows: NDArray[np.int64], folder: Path) -> None:
    """Write the ids of some documents, one a line."""

    def write(stream: IO[bytes]) -> None:
        for start in range(0, len(rows), BLOCK_IDS):
            names = ids.take(rows[start : start + BLOCK_IDS]).to_pylist()
            stream.write("".join(f"{on_one_line(name)}\n" for name in names).encode())

    write_atomically(folder / f"{KEPT}.txt", write)


def on_one_line(name: object) -> str:
    r"""Escape what ends a line to any reader, as `\n` or `\u2028`, and the backslash."""
    return BREAKS.sub(lambda found: json.dumps(found[0])[1:-1], str(name))
