"""NumPy files: a header and the rows of one array, read some at a time and never unpickled."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.wording import count, quoted, setting
from lookalike.read import streams
from lookalike.read.batches import NO_ID
from lookalike.read.fields import Piece, ReadOptions, numbered
from lookalike.read.streams import ANY_MEMORY, Bounds
from lookalike.read.vectors import float_type, from_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.files import Shard
    from lookalike.read.streams import Stream

__all__ = ["Layout", "check_names", "parse_rows", "read_layout", "stretches", "write_header"]

MAGIC = b"\x93NUMPY"
LENGTHS = {b"\1": 2, b"\2": 4, b"\3": 4}
"""Bytes that tell the length of the header, by the version of the format."""
HEADER_LIMIT_BYTES = 1 << 16
NUMBERS = re.compile(r"[<>|](?:f[248]|[iu][1248])")


@dataclass(frozen=True)
class Layout:
    """What the header of a file says."""

    kind: np.dtype[Any]
    rows: int
    columns: int
    start: int
    """Of the first row, in bytes."""

    @property
    def width(self) -> int:
        """Bytes of a row."""
        return self.columns * self.kind.itemsize


def _damaged(shard: Shard, reason: str) -> SourceError:
    return SourceError(f"{shard.name} is not a whole .npy file: {reason}; make the file again")


def check_names(shard: Shard, options: ReadOptions) -> None:
    """Refuse names of columns for a file that has none."""
    # A vector may be named for other files of the same job.
    given = {"text": options.text, "id": None if options.id == NO_ID else options.id}
    named = [setting(name, value) for name, value in given.items() if value is not None]
    if named:
        raise SourceError(
            f"{shard.name} has no columns, its rows are the vectors: "
            f"leave out {' and '.join(named)}"
        )


def read_layout(stream: Stream, bounds: Bounds = ANY_MEMORY) -> Layout:
    """Read the header, and refuse an array that is not one of vectors."""
    shard = stream.shard
    fields, start = _header(stream)
    shape, kind = fields["shape"], fields["descr"]
    if not isinstance(kind, str) or not NUMBERS.fullmatch(kind):
        raise SourceError(
            f"{shard.name} holds an array of {quoted(str(kind))}: "
            "save one of floats or whole numbers"
        )
    if len(shape) != 2:
        raise SourceError(
            f"{shard.name} holds an array of {count(len(shape), 'dimension')}: "
            "save one of 2, with a vector in each row"
        )
    if fields["fortran_order"]:
        raise SourceError(
            f"{shard.name} is stored by columns (in Fortran order): "
            "save numpy.ascontiguousarray of it"
        )
    layout = Layout(np.dtype(kind), rows=shape[0], columns=shape[1], start=start)
    limit = min(bounds.part, streams.RECORD_LIMIT_BYTES)
    if layout.width > limit:
        raise bounds.too_long(f"a row of {shard.name}", limit)
    expected = start + layout.rows * layout.width
    if expected != shard.size:
        found = f"it has {shard.size:,} bytes, where its header tells of {expected:,}"
        raise _damaged(shard, found)
    return layout


def _header(stream: Stream) -> tuple[dict[str, Any], int]:
    """Give what the header says, and where it ends."""
    shard = stream.shard
    begin = stream.read(len(MAGIC) + 2)
    version = begin[len(MAGIC) : -1]
    if not begin.startswith(MAGIC) or version not in LENGTHS:
        raise _damaged(shard, "it does not begin as one")
    length = stream.read(LENGTHS[version])
    size = int.from_bytes(length, "little")
    if size > HEADER_LIMIT_BYTES:
        raise _damaged(shard, f"its header of {size:,} bytes is too long")
    try:
        fields = ast.literal_eval(stream.read(size).decode("latin-1").strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        fields = None
    if not _is_header(fields):
        raise _damaged(shard, "its header cannot be read")
    return fields, len(begin) + len(length) + size


def _is_header(fields: Any) -> bool:
    if not isinstance(fields, dict) or set(fields) != {"descr", "fortran_order", "shape"}:
        return False
    shape, order = fields["shape"], fields["fortran_order"]
    whole = isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)
    return whole and isinstance(order, bool)


def stretches(
    stream: Stream, layout: Layout, before: int, size: int
) -> Iterator[tuple[int, int, bytes]]:
    """Give rows before it, rows and bytes of each stretch of about a size, from a row on."""
    stream.skip_to(layout.start + before * layout.width)
    number = float_type(layout.kind) or layout.kind
    at_once = max(size // max(layout.columns * number.itemsize, 8), 1)
    while before < layout.rows:
        rows = min(at_once, layout.rows - before)
        data = stream.read(rows * layout.width)
        if len(data) < rows * layout.width:
            raise _damaged(stream.shard, f"it breaks off at row {before + 1:,}")
        yield before, rows, data
        before += rows


def parse_rows(
    shard: Shard, number: int, layout: Layout, before: int, rows: int, data: bytes
) -> Piece:
    """Make documents of a stretch of rows."""
    array = np.frombuffer(data, layout.kind).reshape(rows, layout.columns)
    vectors = from_array(array)
    records = np.arange(before + 1, before + 1 + rows)
    shards = np.full(rows, number, np.int32)
    ids = numbered(shard.label, records)
    return Piece(ids, vectors, shards, records, weight=vectors.nbytes)


def write_header(target: BinaryIO, layout: Layout, rows: int) -> None:
    """Begin a file of some rows of the same kind."""
    np.lib.format.write_array_header_1_0(
        target,
        {"descr": layout.kind.str, "fortran_order": False, "shape": (rows, layout.columns)},
    )
