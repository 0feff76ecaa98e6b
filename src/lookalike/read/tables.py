"""Tables and records of other libraries, held so that they can be read twice, and as Arrow.

No library is loaded here: what a source is, its methods or the name of its module tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.index_files import NO_DOCUMENT, Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "are_records",
    "arrow_of_dataset",
    "chosen_of_splits",
    "hold",
    "is_dataset",
    "is_splits",
    "package_of",
    "unknown",
]

COLLECTIONS = (str, bytes, bytearray, list, tuple, Mapping, Set, np.ndarray, pa.Array)


def package_of(source: Any) -> str:
    """Name the package that the type of a source is of."""
    return type(source).__module__.partition(".")[0]


def hold(source: Any) -> Any:
    """Give a source that can be read again and taken rows of: most as they are.

    Streams, queries and what only an Arrow stream is known of become Arrow tables, frames that are
    not computed yet are computed, and an iterable of records becomes a list.
    """
    if isinstance(source, Opened):
        # It can be gone through, by its ids.
        raise SourceError(f"{source!r} {NO_DOCUMENT}")
    package = package_of(source)
    if package == "polars" and hasattr(source, "collect"):
        return source.collect()
    if package in ("pandas", "polars", "scipy") or is_dataset(source) or is_splits(source):
        return source
    if isinstance(source, (*COLLECTIONS, pa.ChunkedArray, pa.Table, pa.RecordBatch)):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return _unnested(pa.chunked_array(source))
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(source)
    return _listed(source) if isinstance(source, Iterable) else source


def _unnested(column: pa.ChunkedArray) -> Any:
    """Give the table whose rows came as structures; a column as it is."""
    if not pa.types.is_struct(column.type):
        return column
    batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in column.chunks]
    return pa.Table.from_batches(batches, pa.schema(list(column.type)))


def _listed(source: Iterable[Any]) -> Any:
    """Hold an iterable of records; of others an iterator, which lets go of what it has given."""
    try:
        values = list(source)
    except TypeError:
        raise unknown(source) from None
    return values if are_records(values) else iter(values)


def are_records(values: Any) -> bool:
    """Tell a list of records, which the first that is not missing does."""
    if not isinstance(values, (list, tuple)):
        return False
    return isinstance(next((value for value in values if value is not None), None), Mapping)


def is_dataset(source: Any) -> bool:
    """Tell a `Dataset` of Hugging Face's."""
    return package_of(source) == "datasets" and hasattr(source, "select")


def is_splits(source: Any) -> bool:
    """Tell a `DatasetDict`: several datasets by the names of the splits."""
    return (
        package_of(source) == "datasets"
        and isinstance(source, Mapping)
        and all(is_dataset(split) for split in source.values())
    )


def arrow_of_dataset(dataset: Any) -> pa.Table:
    """Give the rows of a dataset, those that were selected of it, as a table."""
    return dataset.with_format("arrow")[:]


def chosen_of_splits(splits: Any, rows: NDArray[np.int64]) -> Any:
    """Give some rows of datasets, counted through all of them, as the datasets that hold them."""
    chosen, before = {}, 0
    for name, dataset in splits.items():
        inside = rows[(rows >= before) & (rows < before + len(dataset))]
        chosen[name] = dataset.select(inside - before)
        before += len(dataset)
    return type(splits)(chosen)


def unknown(source: Any) -> SourceError:
    """Say that documents cannot be read from a source, and what they can be read from."""
    return SourceError(
        f"documents cannot be read from a {type(source).__name__}: give a list or dict of texts, "
        "tokens or vectors, a list of dicts, a column, table or data frame of Arrow, pandas, "
        "polars, DuckDB or datasets, or of any library with __arrow_c_stream__ or __dataframe__, "
        "an array, or a path"
    )
