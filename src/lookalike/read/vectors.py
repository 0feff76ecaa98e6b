"""Vectors of every make as Arrow lists of floating-point numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.read.fields import SPARSE, VECTORS, WIDE_VECTORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "LISTS",
    "as_vectors",
    "byte_lengths",
    "float_type",
    "from_array",
    "from_sequences",
    "from_sparse",
    "holds_vectors",
]

LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
"""What tells the types of columns that hold a list in each row."""
NARROW = (pa.float16(), pa.float32(), pa.null())


def _stored(kind: pa.DataType) -> pa.DataType:
    """Give the plain type of one that another library gave a name, as a tensor a row."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def holds_vectors(kind: pa.DataType) -> bool:
    """Tell whether a column is one of lists of numbers."""
    kind = _stored(kind)
    if not any(is_one(kind) for is_one in LISTS):
        return False
    item = kind.value_type
    return item in NARROW or pa.types.is_float64(item) or pa.types.is_integer(item)


def as_vectors(column: pa.Array) -> pa.Array:
    """Make vectors of a column of lists of numbers, or of nulls; a null in a list becomes NaN."""
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), VECTORS)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = VECTORS if column.type.value_type in NARROW else WIDE_VECTORS
    # Of a slice, and without what may lie under a missing list.
    numbers = column.flatten().cast(kind.value_type, safe=False)
    if numbers.null_count:
        numbers = numbers.fill_null(np.nan)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    missing = column.is_null() if column.null_count else None
    return pa.LargeListArray.from_arrays(_offsets(lengths), numbers, type=kind, mask=missing)


def _offsets(lengths: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def byte_lengths(texts: pa.Array) -> NDArray[np.int64]:
    """Give the bytes of each text or vector, 8 for a token; 0 for one that is missing."""
    if pa.types.is_large_list(texts.type):
        width = 16 if texts.type == SPARSE else 8
        if texts.type in (VECTORS, WIDE_VECTORS):
            width = texts.type.value_type.bit_width // 8
        lengths = pc.multiply(pc.list_value_length(texts), width)
    else:
        lengths = pc.binary_length(texts)
    numbers = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.int64)


def float_type(kind: np.dtype[Any]) -> np.dtype[Any] | None:
    """Give the kind of float that holds the numbers of an array; None if they are none."""
    if kind.kind == "f" and kind.itemsize <= 4:
        return np.dtype(np.float32)
    if kind.kind in "iu" or (kind.kind == "f" and kind.itemsize == 8):
        return np.dtype(np.float64)
    return None


def from_array(array: NDArray[Any]) -> pa.Array:
    """Make a vector of each row of an array, without a copy where Arrow can do without."""
    kind = float_type(array.dtype)
    if kind is None or array.ndim != 2:
        raise SourceError(
            f"an array of {array.dtype} in {array.ndim} dimensions cannot be read: "
            "give one of floats or whole numbers in 2 dimensions, with a vector in each row"
        )
    rows, columns = array.shape
    numbers = np.ascontiguousarray(_filled(array, kind)).reshape(-1)
    offsets = np.arange(rows + 1, dtype=np.int64) * columns
    return _lists(offsets, numbers)


def _filled(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Give numbers as floats, NaN where they are masked."""
    numbers: NDArray[Any] = np.ma.filled(array.astype(kind, copy=False), np.nan)
    return numbers


def _lists(offsets: NDArray[np.int64], numbers: NDArray[Any], missing: Any = None) -> pa.Array:
    kind = VECTORS if numbers.dtype == np.float32 else WIDE_VECTORS
    return pa.LargeListArray.from_arrays(offsets, pa.array(numbers), type=kind, mask=missing)


def from_sequences(values: Sequence[Any], names: Sequence[Any]) -> pa.Array:
    """Make vectors of lists and arrays of one dimension, or say which is none."""
    rows = [_row(value, name) for value, name in zip(values, names, strict=True)]
    narrow = all(row.dtype == np.float32 for row in rows if row is not None)
    kind = np.dtype(np.float32 if narrow else np.float64)
    lengths = [0 if row is None else len(row) for row in rows]
    numbers = np.concatenate([np.empty(0, kind), *(row for row in rows if row is not None)])
    missing = np.array([row is None for row in rows], np.bool_)
    return _lists(_offsets(lengths), numbers, pa.array(missing) if missing.any() else None)


def _row(value: Any, name: Any) -> NDArray[Any] | None:
    if value is None:
        return None
    row = value if isinstance(value, np.ndarray) else np.empty((), object)
    with suppress(ValueError, OverflowError):  # lists in it differ in length, a number is endless
        if isinstance(value, (list, tuple)):
            row = np.asarray(value)
        if row.dtype == object and row.ndim == 1 and all(map(_is_number, row)):
            row = row.astype(np.float64)
    kind = float_type(row.dtype)
    if kind is None or row.ndim != 1:
        raise SourceError(
            f"document {quoted(name)} is not a vector: give a list or an array of one dimension, "
            "of floats or whole numbers, or None for an empty document"
        )
    return _filled(row, kind)


def _is_number(value: Any) -> bool:
    numbers = (int, float, np.integer, np.floating)
    return value is None or (isinstance(value, numbers) and not isinstance(value, bool))


def from_sparse(matrix: Any) -> pa.Array:
    """Make a sparse vector of each row of a SciPy matrix, which stays as it is."""
    if float_type(matrix.dtype) is None or matrix.ndim != 2:
        raise SourceError(
            f"a sparse array of {matrix.dtype} in {matrix.ndim} dimensions cannot be read: "
            "give one of floats or whole numbers in 2 dimensions, with a vector in each row"
        )
    rows = matrix.astype(np.float64, copy=True).tocsr()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    pairs = pa.StructArray.from_arrays(
        [pa.array(rows.indices.astype(np.int64)), pa.array(rows.data)],
        fields=list(SPARSE.value_type),
    )
    return pa.LargeListArray.from_arrays(rows.indptr.astype(np.int64), pairs, type=SPARSE)
