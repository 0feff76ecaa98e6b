"""Text of which each line is a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import setting
from lookalike.read.batches import NO_ID
from lookalike.read.blocks import Lines
from lookalike.read.encodings import not_text
from lookalike.read.fields import TEXT, Piece, ReadOptions, no_vectors, numbered
from lookalike.read.files import Unread
from lookalike.read.streams import as_utf8, is_utf8

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.read.blocks import Block
    from lookalike.read.files import Shard

__all__ = ["NOTE", "check_names", "parse_lines"]

NOTE = "each line is a document, ids are file:line"


def check_names(shard: Shard, options: ReadOptions) -> None:
    """Refuse names of fields for lines, which have none."""
    if options.vector is not None:
        raise no_vectors(shard.name)
    given = {"text": options.text, "id": None if options.id == NO_ID else options.id}
    named = [setting(name, value) for name, value in given.items() if value is not None]
    if named:
        raise SourceError(
            f"{shard.name} has no fields, its lines are the documents: leave out "
            f"{' and '.join(named)}, or {setting('lines')}"
        )


def parse_lines(
    shard: Shard, number: int, block: Block, encoding: str, options: ReadOptions
) -> Piece:
    """Give each line of a block as a document, without its end; an empty one is an empty one."""
    records = np.arange(block.first, block.first + block.count)
    broken: list[Unread] = []
    try:
        data = as_utf8(block.data, encoding)
        is_text = is_utf8(data)
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        data, kept = _sound_lines(shard, block, encoding, options, broken)
        records = records[kept]
    texts = _texts(data)
    return Piece(
        numbered(shard.label, records),
        texts,
        np.full(len(records), number, np.int32),
        records,
        {name: pa.nulls(len(records)) for name in options.columns or ()},
        broken=tuple(broken),
    )


def _texts(data: bytes) -> pa.Array:
    """Make a column of lines, without looking at one by one."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    ends = Lines().ends(data)
    breaks = np.arange(1, len(ends) + 1)
    if data and not data.endswith(b"\n"):
        breaks[-1] -= 1
    offsets = np.concatenate([[0], ends - breaks])
    content = pa.py_buffer(data.replace(b"\n", b""))
    return pa.Array.from_buffers(TEXT, len(ends), [None, pa.py_buffer(offsets), content])


def _sound_lines(
    shard: Shard, block: Block, encoding: str, options: ReadOptions, broken: list[Unread]
) -> tuple[bytes, NDArray[np.int64]]:
    """Give the lines that are text as UTF-8, and which they are; name the others."""
    lines, kept, start = [], [], 0
    for place, end in enumerate(Lines(encoding).ends(block.data).tolist()):
        line, start = block.data[start:end], end
        try:
            lines.append(line.decode(encoding).encode())
            kept.append(place)
        except UnicodeDecodeError as error:
            where = f"{shard.name}:{block.first + place}"
            sample = None if options.skip_bad else block.data
            problem = not_text(where, error, encoding, sample)
            if not options.skip_bad:
                raise problem from None
            broken.append(Unread(shard.name, problem.raw))
    return b"".join(lines), np.array(kept, np.int64)
