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
)
from lookalike.spark.workers import loaded
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import Recipe, Scored

    Batches = Iterable[pa.RecordBatch]

__all__ = ["score_all", "score_pairs"]


def score_pairs(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the pairs at or above the threshold.

    Rows come sorted by chunk: those of texts first, then the pairs of them.
    """
    known = loaded(recipe)
    held: list[pa.RecordBatch] = []
    nodes, documents = np.empty((0, NODE_BYTES), np.uint8), None
    for _, kind, rows in _runs(batches, ("chunk", "kind")):
        if kind == 0:
            if documents is not None:
                held, documents = [], None
            held.append(rows)
            continue
        if documents is None:
            nodes, documents = _documents(known, held)
        a, b = (fixed_of(rows.column(name), np.uint8) for name in ("node", "b"))
        found = _scored(known, documents, places_of(a, nodes), places_of(b, nodes))
        yield pa.RecordBatch.from_pydict(
            {
                "a": fixed_column(nodes[found.first]),
                "b": fixed_column(nodes[found.second]),
                "similarity": pa.array(found.similarity),
            }
        )


def score_all(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the smallest similarity of any two documents of each chunk; rows come sorted by it."""
    known = loaded(recipe)
    held: list[pa.RecordBatch] = []
    current = None
    for chunk, rows in _runs(batches, ("chunk",)):
        if held and chunk != current:
            yield _smallest(known, current, held)
            held = []
        current = chunk
        held.append(rows)
    if held:
        yield _smallest(known, current, held)


def _smallest(recipe: Recipe, chunk: Any, held: list[pa.RecordBatch]) -> pa.RecordBatch:
    nodes, documents = _documents(recipe, held)
    first, second = np.triu_indices(len(nodes), 1)
    found = _scored(recipe, documents, first, second, recipe.lowest)
    smallest = float(found.similarity.min(initial=1.0))
    return pa.RecordBatch.from_pydict(
        {
            "component": pa.array([chunk], pa.binary()),
            "similarity": pa.array([smallest], pa.float64()),
        }
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
    """Put the documents of a chunk together: texts, or sketches."""
    whole = pa.Table.from_batches(held).combine_chunks()
    nodes = fixed_of(pa.concat_arrays(whole["node"].chunks), np.uint8)
    column = pa.concat_arrays(whole["data"].chunks)
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
