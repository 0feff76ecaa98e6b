"""Documents in memory as a corpus like another, and some of them in the kind they came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.threads import pieces
from lookalike.base.wording import quoted
from lookalike.read.batches import Batch, Documents, listed
from lookalike.read.fields import as_column, taken
from lookalike.read.tables import chosen_of_splits, is_dataset, is_splits, package_of
from lookalike.read.vectors import byte_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.read.batches import Position
    from lookalike.read.files import Unread

__all__ = ["InMemory"]


class InMemory:
    """Documents that are in memory already."""

    def __init__(
        self, documents: Documents, columns: Mapping[str, str] | None = None, *, source: Any = None
    ) -> None:
        """Take documents, other columns and what each is for, and what holds the documents."""
        # Where there is no document, there may be no column either.
        asked = columns or {}
        for name, purpose in asked.items():
            if name not in documents.columns and (len(documents) or purpose == "keep"):
                raise SourceError(
                    f"there is no column {quoted(name)} to {purpose} by: there are "
                    f"{listed(list(documents.columns))}"
                )
        self._documents = documents
        self._source = source
        self._lengths = byte_lengths(documents.texts)
        self._columns = [name for name in asked if name in documents.columns]
        self.size = int(self._lengths.sum())
        self.unread: Sequence[Unread] = documents.unread

    names: Sequence[str] = ()
    """Nothing in memory has the name of a file."""
    is_found = False
    """Nothing in memory is found: it was given."""

    def identity(self) -> None:
        """Say that a job on these cannot be taken up by another process."""

    def place(self, _shard: int, record: int) -> str:
        """Say where a document stands."""
        return f"document {quoted(self._documents.ids[record - 1].as_py())}"

    def folder(self, _shard: int) -> None:
        """Say that what is in memory stands in no folder."""

    def drop_cached(self, _begin: int, _end: int) -> None:
        """Do nothing: what is in memory is the caller's."""

    def batches(
        self, start: Position | None = None, *, threads: int = 1, batch_bytes: int = 8 << 20
    ) -> Iterator[Batch]:
        """Give the documents in slices that share their memory."""
        del start, threads  # in memory, nothing is taken up again and nothing is read
        documents = self._documents
        read = 0
        for piece in pieces(self._lengths, batch_bytes):
            begin, end = piece.start, piece.stop
            read += int(self._lengths[piece].sum())
            columns = {name: documents.columns[name][begin:end] for name in self._columns}
            yield Batch(
                ids=documents.ids[begin:end],
                texts=documents.texts[begin:end],
                shards=np.zeros(end - begin, np.int32),
                records=np.arange(begin + 1, end + 1),
                columns=columns,
                unread=(),
                broken=(),
                notes=documents.notes if begin == 0 else (),
                next=(0, 0, end),
                read=read,
            )

    def with_columns(self) -> InMemory:
        """Give the same documents with all their columns, not only those asked for before."""
        return InMemory(self._documents, dict.fromkeys(self._documents.columns, "show"))

    def originals(
        self,
        _shards: NDArray[np.int32],
        records: NDArray[np.int64],
        columns: Sequence[str] | None = (),
    ) -> Documents:
        """Give documents by their places in a batch, in any order; `columns` None for all."""
        rows, known = records - 1, self._documents.columns
        named = known if columns is None else columns
        return Documents(
            taken(self._documents.ids, rows),
            taken(self._documents.texts, rows),
            {name: _chosen_values(known.get(name), rows) for name in named},
        )

    def as_given(
        self, _ids: pa.Array, _shards: NDArray[np.int32], records: NDArray[np.int64]
    ) -> Any:
        """Give documents by their places in the kind of the source; of an iterable, a list."""
        source, rows = self._source, records - 1
        package = package_of(source)
        if package == "pandas":
            return source.iloc[rows] if hasattr(source, "iloc") else source[rows]
        if package == "polars":
            return source[rows]
        if is_splits(source):
            return chosen_of_splits(source, rows)
        if is_dataset(source):
            return source.select(rows)
        if isinstance(source, (pa.Array, pa.ChunkedArray)):
            return taken(source, rows)
        if isinstance(source, (pa.Table, pa.RecordBatch)):
            chosen = [taken(column, rows) for column in source.columns]
            return type(source).from_arrays(chosen, schema=source.schema)
        if isinstance(source, Mapping):
            names = list(source)
            return {names[row]: source[names[row]] for row in rows.tolist()}
        if isinstance(source, np.ndarray) and source.ndim > 1:
            return source[rows]
        if package == "scipy":
            return source.tocsr()[rows]
        if isinstance(source, (list, tuple)):
            return [source[row] for row in rows.tolist()]
        return taken(self._documents.texts, rows).to_pylist()


def _chosen_values(column: Any, rows: NDArray[np.int64]) -> pa.Array:
    """Give some values of a column of any make; null where there is no such column."""
    if column is None:
        return pa.nulls(len(rows))
    if isinstance(column, pa.ChunkedArray):
        return taken(column, rows).combine_chunks()
    return as_column([column[row] for row in rows.tolist()])
