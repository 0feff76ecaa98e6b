"""Similar pairs that travel packed, those of a chunk in one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.arrow import packed_rows, unpacked_rows
from lookalike.spark.frames import collected, mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from lookalike.spark.columns import Ids

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "LINKS",
    "counted_links",
    "pack_links",
    "unpack_links",
    "unpacked_links",
]

LINKS = "links bigint, rows binary"
"""How many links there are, and they: a, b, a_id, b_id, similarity, members, lowest. The ids are
those of the first documents of both contents. Of the documents that are linked with these, where
all of them met in one chunk, `members` is how many, and `lowest` the smallest similarity of two."""


def pack_links(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Pack links into one row."""
    value = packed_rows(rows, compression=None)
    return pa.RecordBatch.from_pydict({"links": pa.array([len(rows)]), "rows": pa.array([value])})


def unpacked_links(links: DataFrame, ids: Ids) -> DataFrame:
    """Give links one by one."""
    kind, group = ids.type_name, "members bigint, lowest double"
    schema = f"a binary, b binary, a_id {kind}, b_id {kind}, similarity double, {group}"
    return mapped(links, unpack_links, schema)


def counted_links(links: DataFrame) -> int:
    """Count packed links."""
    (found,) = collected(links.agg(F.sum("links").alias("links")))
    return found["links"] or 0


def unpack_links(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give packed links one by one."""
    for batch in batches:
        yield from map(unpacked_rows, batch.column("rows"))
