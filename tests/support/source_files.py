"""Files of every kind for the tests of the readers, and what is read from them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

from lookalike.read import open_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lookalike.read import Corpus

BINARY = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
"""The first bytes of a picture."""
PACKINGS = ("", ".gz", ".zst")
PACKABLE_KINDS = (".jsonl", ".json", ".csv", ".tsv")
RECORD_KINDS = [f"{kind}{packing}" for kind in PACKABLE_KINDS for packing in PACKINGS]
RECORD_KINDS += [".parquet", ".arrow", ".feather", ".ipc", ".orc"]


def pack(data: bytes, name: str) -> bytes:
    """Compress as the end of a name says."""
    if name.endswith(".gz"):
        return gzip.compress(data)
    if name.endswith(".zst"):
        packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
        return packed
    return data


def unpack(data: bytes, name: str) -> bytes:
    """Undo `pack`."""
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".zst"):
        unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
        return unpacked
    return data


def as_lines(records: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def as_separated(records: Sequence[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Write records in the format that the name of a file says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".parquet", ".arrow", ".feather", ".ipc", ".orc"):
        write_table(path, pa.Table.from_pylist(list(records)))
    elif ".json" in path.suffixes:
        path.write_bytes(pack(json.dumps(records, indent=1).encode(), path.name))
    elif ".jsonl" in path.name:
        path.write_bytes(pack(as_lines(records), path.name))
    else:
        delimiter = "\t" if ".tsv" in path.name else ","
        path.write_bytes(pack(as_separated(records, delimiter), path.name))
    return path


def write_table(path: Path, table: pa.Table, rows: int = 3) -> Path:
    """Write a table in groups of a few rows: .ipc as a stream, .feather packed."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=rows)
    elif path.suffix == ".orc":
        # The least that a writer makes a stripe of are a thousand rows.
        with orc.ORCWriter(path, stripe_size=1) as writer:
            writer.write(table)
    else:
        opened = pa.ipc.new_stream if path.suffix == ".ipc" else pa.ipc.new_file
        packed = "lz4" if path.suffix == ".feather" else None
        options = pa.ipc.IpcWriteOptions(compression=packed)
        with opened(path, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


def documents(corpus: Corpus, start: Any = None, **options: Any) -> list[tuple[Any, Any, str]]:
    """Give id, text and place of every document."""
    return [
        (name, text, corpus.place(int(shard), int(record)))
        for batch in corpus.batches(start, **options)
        for name, text, shard, record in zip(
            batch.ids.to_pylist(), batch.texts.to_pylist(), batch.shards, batch.records, strict=True
        )
    ]


def ids_and_texts(*paths: Any, **names: Any) -> list[tuple[Any, Any]]:
    """Give id and text of every document below some paths."""
    return [(name, text) for name, text, _ in documents(open_corpus(list(paths), **names))]


def bad_of(corpus: Corpus) -> list[str]:
    """Give what was skipped as bad."""
    return [line for batch in corpus.batches(batch_bytes=64) for line in batch.bad]
