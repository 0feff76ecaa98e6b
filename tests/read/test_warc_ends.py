"""Where stored records end, against what wrote them."""

import gzip
import random

import pyarrow as pa
import pytest

from lookalike.read import open_corpus
from lookalike.read.warc_ends import end_of_record
from warc_files import record

RECORDS = {
    "short": record("metadata", b"x: y"),
    "empty": record("metadata", b""),
    "repeated": record("resource", b"a" * 400_000),
    "noise": record("resource", random.Random(1).randbytes(300_000)),
    "mixed": record("resource", b"ab" * 200_000 + random.Random(2).randbytes(9) + bytes(200_000)),
}


def streamed(data: bytes) -> bytes:
    """Pack as a writer does that does not know how long its content is."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(data)
    return sink.getvalue().to_pybytes()


def with_checksum(data: bytes) -> bytes:
    """Pack as a writer does that adds a checksum, whatever that would be."""
    stored = bytearray(streamed(data))
    stored[4] |= 4
    return bytes(stored) + b"1234"


STORED = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
    "zstd stream": streamed,
    "zstd with a checksum": with_checksum,
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("how", STORED)
def test_the_end_of_a_record_is_where_the_next_begins(tmp_path, how, name):
    stored = STORED[how](RECORDS[name])
    path = tmp_path / "a.warc"
    path.write_bytes(stored * 2)
    (shard,) = open_corpus([path]).shards
    assert end_of_record(shard, 0) == len(stored)
    assert end_of_record(shard, len(stored)) == 2 * len(stored)
    for cut in {5, 6, 9, len(stored) // 2, len(stored) - 5}:
        if cut < len(stored) - 4:  # what ends a plain one may be cut
            path.write_bytes(stored + stored[:cut])
            (shard,) = open_corpus([path]).shards
            assert end_of_record(shard, 0) == len(stored)
            assert end_of_record(shard, len(stored)) is None
