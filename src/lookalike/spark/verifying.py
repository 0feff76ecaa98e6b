"""Documents scored on the workers, a chunk of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.spark.arrow import (
    NODE_BYTES,
    bytes_of,
    fingerprints_of_nodes,
    fixed_column,
    fixed_of,
    places_of,
    unpacked_rows,
)
from lookalike.spark.workers import loaded
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import Recipe, Scored

    Batches = Iterable[pa.RecordBatch]

__all__ = ["score_all", "score_pairs"]

SCORED_TEXTS = 4096
"""Documents of small chunks that are scored in one call."""


def score_pairs(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the pairs at or above the threshold.

    Rows come sorted by chunk: those of texts first, then the pairs of them.
    """
    known = loaded(recipe)
    held: list[pa.RecordBatch] = []
    nodes, documents = np.empty((0, NODE_BYTES), np.uint8), None
    ids = pa.array([], pa.null())
    for _, kind, rows in _runs(batches, ("chunk", "kind")):
        if kind == 0:
            if documents is not None:
                held, documents = [], None
            held += map(unpacked_rows, rows.column("texts"))
            continue
        if documents is None:
            nodes, documents = _documents(known, held)
            ids = pa.concat_arrays([rows.column("id") for rows in held])
        a, b = (fixed_of(rows.column(name), np.uint8) for name in ("a", "b"))
        found = _scored(known, documents, places_of(a, nodes), places_of(b, nodes))
        yield pa.RecordBatch.from_pydict(
            {
                "a": fixed_column(nodes[found.first]),
                "b": fixed_column(nodes[found.second]),
                "a_id": ids.take(pa.array(found.first)),
                "b_id": ids.take(pa.array(found.second)),
                "similarity": pa.array(found.similarity),
            }
        )


def score_all(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the smallest similarity of any two documents of each chunk; rows come sorted by it.

    Many small chunks are scored at a time.
    """
    known = loaded(recipe)
    held: list[pa.RecordBatch] = []
    current = None
    for chunk, rows in _runs(batches, ("chunk",)):
        if chunk != current and sum(map(len, held)) >= SCORED_TEXTS:
            yield _smallest(known, held)
            held = []
        current = chunk
        held.append(rows)
    if held:
        yield _smallest(known, held)


def _smallest(recipe: Recipe, held: list[pa.RecordBatch]) -> pa.RecordBatch:
    nodes, documents = _documents(recipe, held)
    chunks = pa.concat_arrays([rows.column("chunk") for rows in held])
    # A document that several chunks needed comes as often, and one of these is compared.
    names = np.column_stack([fixed_of(chunks, np.uint8), nodes])
    once = np.unique(names.view(f"S{names.shape[1]}"), return_index=True)[1]
    labels = fixed_of(chunks.take(pa.array(once)), np.uint8)
    starts = np.flatnonzero(np.append(True, (labels[1:] != labels[:-1]).any(axis=1)))
    sizes = np.diff(np.append(starts, len(once)))
    ends = [np.triu_indices(size, 1) for size in sizes]
    first, second = (
        np.concatenate([start + end[i] for start, end in zip(starts, ends, strict=True)])
        for i in (0, 1)
    )
    found = _scored(recipe, documents, once[first], once[second], recipe.lowest)
    smallest = np.ones(len(starts))
    of_chunk = np.empty(len(nodes), np.int64)
    of_chunk[once] = np.repeat(np.arange(len(starts)), sizes)
    np.minimum.at(smallest, of_chunk[found.first], found.similarity)
    return pa.RecordBatch.from_pydict(
        {"component": fixed_column(labels[starts]), "similarity": pa.array(smallest)}
    )


def _runs(batches: Batches, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Cut batches where one of some columns changes, and give its values and the rows."""
    for batch in batches:
        if not len(batch):
            continue
        new = np.zeros(len(batch), np.bool_)
        new[0] = True
        columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in names]
        for column in columns:
            new[1:] |= column[1:] != column[:-1]
        starts = np.flatnonzero(new)
        for start, stop in zip(starts, np.append(starts[1:], len(batch)), strict=True):
            values = (column[start] for column in columns)
            yield *values, batch.slice(int(start), int(stop - start))


def _documents(
    recipe: Recipe, held: list[pa.RecordBatch]
) -> tuple[NDArray[np.uint8], Canonical | NDArray[np.uint32]]:
    """Put documents together: texts, or sketches."""
    nodes = fixed_of(pa.concat_arrays([rows.column("node") for rows in held]), np.uint8)
    column = pa.concat_arrays([rows.column("data") for rows in held])
    if recipe.by_sketches:
        return nodes, fixed_of(column, np.uint32)
    return nodes, Canonical(*bytes_of(column), fingerprints_of_nodes(nodes))


def _scored(
    recipe: Recipe,
    documents: Canonical | NDArray[np.uint32],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    threshold: float | None = None,
) -> Scored:
    if isinstance(documents, Canonical):
        return recipe.score(documents, first, second, threshold=threshold)
    words = np.ascontiguousarray(documents[:, : recipe.estimated_words])
    return recipe.estimate(words, first, second, threshold=threshold)
