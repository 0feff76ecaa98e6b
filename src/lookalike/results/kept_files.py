"""The kept documents of a corpus: taken as they were given, copied, or listed."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.read import Corpus
from lookalike.write.files import PART, beside, write_atomically, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.read.batches import Documents as Originals
    from lookalike.read.source import InMemory
    from lookalike.results.ids import Ids
    from lookalike.results.result import Progress

__all__ = ["KEPT", "Origin", "list_kept"]

KEPT = "kept"
BLOCK_IDS = 1 << 16
"""Ids that are listed at a time."""
BREAKS = re.compile("[\\\\\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Line breaks, of which shells know one and other readers more, and what they are escaped with."""


@dataclass(frozen=True)
class Origin:
    """The sources of a result, the corpus itself last, and where the documents stand in them."""

    sources: list[Corpus | InMemory]
    ids: Ids
    counts: list[int]
    """Documents of each source."""
    shards: Column = field(repr=False)
    records: Column = field(repr=False)
    skip_bad: bool = False
    """Files that could not be read were passed over, as asked."""

    @property
    def before(self) -> int:
        """Documents of a reference corpus, which come first."""
        return sum(self.counts[:-1])

    def as_given(self, rows: NDArray[np.int64]) -> Any:
        """Give some documents of the corpus in the kind that it was given in."""
        return self.sources[-1].as_given(self.ids.take(rows), *self._places(rows))

    def originals(self, rows: NDArray[np.int64], columns: Sequence[str] | None = ()) -> Originals:
        """Read some documents of the corpus again, as they were before they were normalised.

        Only what is near them is read. `columns` None stands for all but the text or vector.
        """
        return self.sources[-1].originals(*self._places(rows), columns)

    def _places(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return self.shards.read()[rows], self.records.read()[rows]

    def copy(self, rows: NDArray[np.int64], folder: Path, progress: Progress | None) -> None:
        """Copy the records of some documents, each file in its own format, to a file of its own."""
        corpus, target = self.sources[-1], folder / KEPT
        target.mkdir(exist_ok=True)
        if not isinstance(corpus, Corpus):
            self._write_table(rows, target)
            return
        read = np.unique(self.shards.read()[self.before :])
        # A file of which nothing could be read was passed over, as asked, and is so again.
        passed = set(range(len(corpus.shards))) - set(read.tolist()) if self.skip_bad else set()
        for shard, records in self._by_shard(rows, len(corpus.shards)):
            if shard in passed or (corpus.shards[shard].is_one_document and not len(records)):
                continue
            path = target / corpus.copied_name(shard)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                part = beside(path, PART)
                corpus.copy(shard, records, part)
                if not corpus.shards[shard].is_one_document:
                    _sync(part)
                part.replace(path)
            if progress is not None:
                progress("write", shard + 1, len(corpus.shards))

    def _write_table(self, rows: NDArray[np.int64], target: Path) -> None:
        """Write documents that came from memory as a table of their ids, texts and columns."""
        found = self.originals(rows, None)
        kind = "text" if pa.types.is_large_string(found.texts.type) else "document"
        columns = {"id": self.ids.take(rows), kind: found.texts}
        columns |= {name: values for name, values in found.columns.items() if name not in columns}
        table = pa.table(columns)
        path = target / "documents.parquet"
        write_atomically(path, lambda stream: write_table(table, stream, "parquet"))

    def _by_shard(
        self, rows: NDArray[np.int64], shards: int
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        of_row, records = self._places(rows)
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
