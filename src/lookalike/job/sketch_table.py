"""The sketches of documents as a table, for those who want nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.threads import in_order, pieces
from lookalike.recipe import SketchColumns
from lookalike.settings import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.job.job import Job
    from lookalike.recipe import ColumnChoice

__all__ = ["sketch_tables"]

TABLE_BYTES = 1 << 20
"""Bytes of documents, and of their sketches, that make one table."""


def sketch_tables(job: Job, choice: ColumnChoice) -> Iterator[pa.Table]:
    """Give the sketches in the order of the source, a table at a time; the first is empty.

    `simhash` is a 64-bit fingerprint, `minhash` the rows of a signature, `bits` those of
    hyperplanes, 32 to a word. An empty document has none: they are null.
    """
    job.prepare("sketch")
    columns = SketchColumns(job.recipe, choice, job.settings.weights)
    metadata = {"lookalike.fingerprint": _fingerprint(job, columns), **columns.descriptions()}
    every = np.arange(len(job.collection), dtype=np.int64)
    yield _table(job, columns, every[:0], metadata)
    # Of short texts the sketches take more than the texts do.
    cut = pieces(job.texts.lengths(every) + columns.bytes_each(), TABLE_BYTES)
    done = 0
    for table in in_order(
        lambda piece: _table(job, columns, every[piece], metadata), cut, job.running.threads
    ):
        done += len(table)
        job.running.progress("sketch", done, len(every))
        yield table


def _fingerprint(job: Job, columns: SketchColumns) -> str:
    """Name in 16 hexadecimal digits all that decides the columns, and nothing that does not."""
    settings = job.resolved().as_dict()
    names = ("shingle", "weights", "normalise", "seed", "ignore", "max_df")
    plain = {name: settings[name] for name in names} | columns.decides()
    if settings["weights"] == "tf-idf" or settings["max_df"] is not None:
        # Then a sketch depends on the other documents too.
        prints = np.sort(job.texts.fingerprints[job.rows, 0])
        plain |= {"corpus": hashlib.sha256(prints.tobytes()).hexdigest()}
    text = json.dumps({"format": FORMAT, **plain}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _table(
    job: Job, columns: SketchColumns, rows: NDArray[np.int64], metadata: dict[str, str]
) -> pa.Table:
    """Make the sketches of some documents."""
    filled = job.texts.lengths(rows) > 0
    part, mine = job.texts.part(rows[filled])
    made = {"id": job.collection.ids.take(rows)}
    for name in columns.names:
        values, empty = columns.make(name, part, mine)
        present = filled.copy()
        present[filled] = ~empty
        made[name] = _with_nulls(values[~empty], present)
    return pa.table(made, metadata=metadata)


def _with_nulls(values: NDArray[Any], present: NDArray[np.bool_]) -> pa.Array:
    """Make a column of values, with a null wherever there is none."""
    places = np.where(present, np.cumsum(present) - 1, 0)
    absent = pa.array(places, mask=~present)
    if values.ndim == 1:
        return pa.array(values).take(absent)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1]).take(absent)
