"""Chosen records of a shard, written as they are."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.read import delimited, json_arrays, npy, streams
from lookalike.read.arrow_files import ArrowTable
from lookalike.read.blocks import Block, Cut, Lines, blocks
from lookalike.read.encodings import table_encoding
from lookalike.read.mbox import Messages
from lookalike.read.orc import OrcTable, open_orc
from lookalike.read.parquet import open_parquet, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.read.fields import ReadOptions
    from lookalike.read.files import Shard

__all__ = [
    "chosen_groups",
    "copied_table",
    "copy_file",
    "copy_records",
    "distinct_names",
    "packed_as",
    "parquet_options",
]

PIECE_BYTES = 8 << 20


def distinct_names(shards: Sequence[Shard]) -> list[PurePosixPath]:
    """Give each shard a path of its own below any folder, also where case does not count."""
    if len(shards) == 1 and not shards[0].within:
        return [_distinct(_below(shards[0])[-1:], set(), set())]
    paths = [_below(shard) for shard in shards]
    rooted = [_is_rooted(shard.label) for shard in shards]
    # Where a tree of folders is given by its full path, the way to it is left out.
    ways = [path[:-1] for path, root in zip(paths, rooted, strict=True) if root]
    levels = zip(*ways, strict=False)  # as deep as the shortest way
    shared = len(list(itertools.takewhile(lambda level: len(set(level)) == 1, levels)))
    below = [path[shared if root else 0 :] for path, root in zip(paths, rooted, strict=True)]
    files: set[str] = set()
    folders: set[str] = set()
    return [_distinct(parts, files, folders) for parts in below]


def _is_rooted(label: str) -> bool:
    """Tell a full path or address."""
    return (
        "://" in label or PurePosixPath(label).is_absolute() or PureWindowsPath(label).drive != ""
    )


def _below(shard: Shard) -> list[str]:
    """Give the parts of a path that leads nowhere but down."""
    if shard.name == "-":
        return ["stdin.jsonl"]
    parts = re.split(r"[/\\]", shard.label.partition("://")[2] or shard.label)
    parts = [re.sub(r"[:\0]", "_", part) for part in parts if part not in ("", ".", "..")]
    return parts or ["file"]


def _distinct(parts: list[str], files: set[str], folders: set[str]) -> PurePosixPath:
    first, dot, rest = parts[0].partition(".")
    again = 1
    while True:
        name = PurePosixPath(*parts)
        key = str(name).casefold()
        above = {str(folder).casefold() for folder in name.parents if folder.parts}
        if key not in files and key not in folders and not above & files:
            break
        again += 1
        parts = [f"{first}-{again}{dot}{rest}", *parts[1:]]
    files.add(key)
    folders |= above
    return name


def copy_records(
    shard: Shard, records: NDArray[np.int64], target: Path, options: ReadOptions
) -> None:
    """Write records of a shard, by their sorted numbers, in its own format.

    `options` tell how it was read, and which sheets of a workbook hold records at all. What is
    wrong with the source is a `SourceError`; what is wrong with the target an `OSError`.
    """
    copy = {
        "parquet": _copy_rows,
        "arrow": _copy_batches,
        "orc": _copy_batches,
        "npy": _copy_array,
        "warc": _copy_captures,
    }.get(shard.kind)
    if copy is not None:
        copy(shard, records, target)
        return
    if shard.kind == "xlsx":
        from lookalike.read.xlsx_copies import copy_workbook

        copy_workbook(shard, records, target, options)
        return
    with streams.opened(shard) as stream, packed_as(shard, target) as written:
        if shard.is_one_document:
            pieces: Iterator[memoryview | bytes] = stream.rest()
        elif shard.kind in ("json", "object"):
            pieces = _chosen_elements(stream, records, options)
        else:
            pieces = _chosen(stream, records, options)
        for piece in pieces:
            written.write(piece)


def copy_file(shard: Shard, target: Path) -> None:
    """Write a file as it is stored, also one that its reader refuses."""
    plain = replace(shard, packed=None, problem="")
    with streams.opened(plain) as stream, target.open("wb") as written:
        for piece in stream.rest():
            written.write(piece)


@contextmanager
def packed_as(shard: Shard, target: Path) -> Iterator[Any]:
    """Open a file to write to, packed as a shard is."""
    with target.open("wb") as written:
        if shard.packed is None:
            yield written
            return
        with pa.CompressedOutputStream(written, shard.packed) as packed:
            yield packed


def _chosen(
    stream: streams.Stream, records: NDArray[np.int64], options: ReadOptions
) -> Iterator[memoryview | bytes]:
    """Give the bytes of chosen lines or records, with the mark and the header before them."""
    shard = stream.shard
    head = stream.head()
    encoding, mark = ("utf-8", 0)
    if shard.kind != "mbox":
        encoding, mark = table_encoding(stream, options.encodings)
    yield head[:mark]
    cut: Cut = Messages() if shard.kind == "mbox" else Lines(encoding)
    first = 1
    if shard.kind in delimited.DELIMITERS:
        cut = delimited.read_layout(shard, options).cut
        if not options.no_header:
            records = np.concatenate([[0], records])
            first = 0
    last = int(records[-1]) if len(records) else 0
    for block in blocks(stream, cut, mark, first - 1, PIECE_BYTES, skip_bad=True):
        yield from _runs(block, cut, records)
        if block.first + block.count > last:
            break  # what is damaged further on was skipped by the reader, too
    stream.check()


def _chosen_elements(
    stream: streams.Stream, records: NDArray[np.int64], options: ReadOptions
) -> Iterator[memoryview | bytes]:
    """Give an array of chosen elements, as it is but for the others; one object as it is."""
    opening = json_arrays.read_opening(stream, options.encodings)
    if not opening.is_array:
        yield from stream.rest()
        return
    last = int(records[-1]) if len(records) else 0
    yield stream.head(opening.start)
    cut, comma = json_arrays.Elements(opening.encoding), ",".encode(opening.encoding)
    is_first, end, passed = True, opening.start, 0
    try:
        for block in json_arrays.elements(stream, opening, 0, 0, PIECE_BYTES, skip_bad=True):
            end, passed = block.end, block.first + block.count - 1
            for run in _runs(block, cut, records):
                yield b"" if is_first else comma
                yield bytes(run).removesuffix(comma)
                is_first = False
    except SourceError:
        if passed < last:
            raise
        # What is damaged further on was skipped by the reader, too.
        yield "]".encode(opening.encoding)
        return
    with streams.opened(stream.shard) as again:
        again.skip_to(end)
        yield from again.rest()  # the bracket, and the blanks around it


def _runs(block: Block, cut: Cut, records: NDArray[np.int64]) -> Iterator[memoryview | bytes]:
    """Give the bytes of the chosen records of a block, those side by side in one run."""
    low, high = np.searchsorted(records, [block.first, block.first + block.count])
    if high - low == block.count:
        yield block.data
    elif high > low:
        ends = cut.ends(block.data)
        starts = np.concatenate([[0], ends[:-1]])
        chosen = records[low:high] - block.first
        breaks = np.flatnonzero(np.diff(chosen) > 1) + 1
        view = memoryview(block.data)
        for run in np.split(chosen, breaks):
            yield view[int(starts[run[0]]) : int(ends[run[-1]])]


def _copy_rows(shard: Shard, records: NDArray[np.int64], target: Path) -> None:
    """Write rows of a Parquet file with its schema, its metadata and its compression."""
    from pyarrow import parquet as pq

    with streams.opened(shard) as stream:
        file = open_parquet(stream)
        with (
            target.open("wb") as written,
            pq.ParquetWriter(written, file.schema_arrow, **parquet_options(file)) as writer,
        ):
            start = 0
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                low, high = np.searchsorted(records, [start + 1, start + rows + 1])
                if high > low:
                    table = read_rows(shard, file, group, int(records[high - 1]) - start)
                    if high - low < len(table):
                        table = table.take(pa.array(records[low:high] - start - 1))
                    writer.write_table(table, row_group_size=max(len(table), 1))
                start += rows
        stream.check()


def _copy_batches(shard: Shard, records: NDArray[np.int64], target: Path) -> None:
    """Write rows of an Arrow or ORC file as one, with its columns and compression."""
    with streams.opened(shard) as stream, target.open("wb") as written:
        table, opened = copied_table(shard, stream)
        with opened(written, table.schema) as writer:
            for batch in chosen_groups(table, stream, records):
                writer.write(pa.Table.from_batches([batch]))


def copied_table(
    shard: Shard, stream: streams.Stream
) -> tuple[ArrowTable | OrcTable, Callable[[Any, pa.Schema], AbstractContextManager[Any]]]:
    """Open an Arrow or ORC file, with what opens another that is written in the same way."""
    if shard.kind == "orc":
        return OrcTable(shard, bounds=None), partial(_new_orc, open_orc(stream).compression)
    table = ArrowTable(shard, bounds=None)
    new = pa.ipc.new_stream if table.is_stream else pa.ipc.new_file
    return table, partial(new, options=pa.ipc.IpcWriteOptions(compression=table.codec))


@contextmanager
def _new_orc(compression: str, written: Any, schema: pa.Schema) -> Iterator[Any]:
    from pyarrow import orc

    with orc.ORCWriter(written, compression=compression) as writer:
        writer.write(schema.empty_table())
        yield writer


def chosen_groups(
    table: ArrowTable | OrcTable, stream: streams.Stream, records: NDArray[np.int64]
) -> Iterator[Any]:
    """Give the chosen rows of each batch or stripe that holds any."""
    for group, start, rows in table.groups(0):
        low, high = np.searchsorted(records, [start + 1, start + rows + 1])
        if high > low:
            batch = table.read(stream, group)
            yield (
                batch if high - low == rows else batch.take(pa.array(records[low:high] - start - 1))
            )
    stream.check()


def _copy_array(shard: Shard, records: NDArray[np.int64], target: Path) -> None:
    """Write rows of a NumPy file as an array of the same kind."""
    last = int(records[-1]) if len(records) else 0
    with streams.opened(shard) as stream:
        layout = npy.read_layout(stream)
        with target.open("wb") as written:
            npy.write_header(written, layout, len(records))
            for before, rows, data in npy.stretches(stream, layout, 0, PIECE_BYTES):
                if before >= last:
                    break
                low, high = np.searchsorted(records, [before + 1, before + rows + 1])
                array = np.frombuffer(data, np.uint8).reshape(rows, layout.width)
                written.write(array[records[low:high] - before - 1].tobytes())
        stream.check()


def _copy_captures(shard: Shard, records: NDArray[np.int64], target: Path) -> None:
    """Write a WARC file without the documents that are not among the records."""
    from lookalike.read.warc import kept_stretches

    shard, stretches = kept_stretches(shard, set(records.tolist()))
    with streams.opened(shard) as stream, packed_as(shard, target) as written:
        for begin, end in stretches:
            stream.skip_to(begin)
            while piece := stream.read(min(end - stream.place, PIECE_BYTES)):
                written.write(piece)
        stream.check()


def parquet_options(file: Any) -> dict[str, Any]:
    """Give the settings by which a file was written, as far as it tells them."""
    metadata = file.metadata
    options: dict[str, Any] = {"store_schema": b"ARROW:schema" in (metadata.metadata or {})}
    if not metadata.num_row_groups or not metadata.num_columns:
        return options
    group = metadata.row_group(0)
    chunks = [group.column(place) for place in range(metadata.num_columns)]
    codecs = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}
    options["compression"] = {
        chunk.path_in_schema: codecs.get(chunk.compression, chunk.compression) for chunk in chunks
    }
    if any(chunk.physical_type == "INT96" for chunk in chunks):
        options["use_deprecated_int96_timestamps"] = True
    return options
