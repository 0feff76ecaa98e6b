"""All documents of a corpus, with what was decided of each beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.read import Corpus
from lookalike.results.kept_files import by_shard, copied, table_of, wholly_bad
from lookalike.write.files import write_atomically, write_table, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Set
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.results.origin import Origin
    from lookalike.results.result import Progress

__all__ = ["ANNOTATED", "Annotations", "annotated_tables", "write_annotated"]

ANNOTATED = "annotated"
BLOCK_ROWS = 1 << 16
"""Rows that are laid out at a time."""


@dataclass(frozen=True)
class Annotations:
    """What was decided of each document, by its number."""

    cluster: NDArray[np.int64]
    """From 1; 0 of a document that is in none."""
    size: NDArray[np.int64]
    """Documents of its cluster."""
    kept: NDArray[np.bool_]
    score: NDArray[np.float64]
    """With the kept document of its cluster; NaN of a kept one."""
    score_name: str

    def table(self, rows: NDArray[np.int64]) -> pa.Table:
        """Give the columns of some documents."""
        cluster = self.cluster[rows]
        return pa.table(
            {
                "cluster": pa.array(cluster, mask=cluster == 0),
                "cluster_size": pa.array(self.size[rows]),
                "kept": pa.array(self.kept[rows]),
                self.score_name: pa.array(self.score[rows], from_pandas=True),
            }
        )


def annotated_tables(
    origin: Origin, rows: NDArray[np.int64], annotations: Annotations
) -> Iterator[pa.Table]:
    """Give the ids of some documents with what was decided of them, some at a time."""
    for start in range(0, max(len(rows), 1), BLOCK_ROWS):
        some = rows[start : start + BLOCK_ROWS]
        yield annotations.table(some).add_column(0, "id", origin.ids.take(some))


def write_annotated(
    origin: Origin,
    annotations: Annotations,
    folder: Path,
    progress: Progress | None,
    bad: Set[str] = frozenset(),
) -> None:
    """Write every document: records with columns added, of other files a table of their ids.

    Records go to files of their own names and formats in `annotated/`; files that are one document,
    and arrays of vectors, are rows of `annotated.jsonl`.
    """
    corpus, target = origin.sources[-1], folder / ANNOTATED
    rows = np.arange(origin.before, len(origin.ids))
    if not isinstance(corpus, Corpus):
        target.mkdir(exist_ok=True)
        whole = table_of(origin, rows, annotations.table(rows))
        path = target / "documents.parquet"
        write_atomically(path, lambda stream: write_table(whole, stream, "parquet"))
        return
    passed = wholly_bad(origin, corpus, bad)
    single = [np.empty(0, np.int64)]
    begin = 0
    for shard, records in by_shard(origin, rows, len(corpus.shards)):
        mine = rows[begin : begin + len(records)]
        begin += len(records)
        if not corpus.has_fields(shard):
            single.append(mine)
        elif shard not in passed:
            path = target / corpus.copied_name(shard)
            copied(path, partial(_annotate, corpus, shard, records, mine, annotations))
        if progress is not None:
            progress("write", shard + 1, len(corpus.shards))
    others = np.concatenate(single)
    if len(others):
        tables = annotated_tables(origin, others, annotations)
        path = folder / f"{ANNOTATED}.jsonl"
        write_atomically(path, lambda stream: write_tables(tables, stream, "jsonl"))


def _annotate(
    corpus: Corpus,
    shard: int,
    records: NDArray[np.int64],
    rows: NDArray[np.int64],
    annotations: Annotations,
    target: Path,
) -> None:
    """Write the records of a shard, which are these documents."""
    corpus.annotate(shard, records, lambda low, high: annotations.table(rows[low:high]), target)
