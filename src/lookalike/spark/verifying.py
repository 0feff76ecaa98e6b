"""Documents scored on the workers, a chunk of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import COMPARED_MEMBERS
from lookalike.spark.arrow import (
    bytes_of,
    every_two,
    fingerprints_of_nodes,
    fixed_column,
    fixed_of,
    numbers_of,
    places_of,
    ranks,
    unpacked_rows,
)
from lookalike.spark.links import pack_links
from lookalike.spark.placing import pairs_of_chunk
from lookalike.spark.workers import loaded
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import Recipe, Scored

    Batches = Iterable[pa.RecordBatch]

__all__ = ["PAIRS", "TEXTS", "score_all", "score_pairs"]

TEXTS, PAIRS = range(2)
"""Kinds of what comes for a chunk: texts first, then the pairs of them."""
SCORED_TEXTS = 4096
"""Documents of small chunks that are scored in one call."""
OUT_LINKS = 1 << 16
"""Links that are packed into one value."""
HELD_LINKS = 1 << 20
"""Links of a chunk that are held until all are there; of more it is not told what they link."""


class Links(NamedTuple):
    """The similar pairs of a chunk, by the places of its documents."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]


class Chunk(NamedTuple):
    """The documents that are scored with each other."""

    recipe: Recipe
    nodes: NDArray[np.uint8]
    ids: pa.Array
    documents: Canonical | NDArray[np.uint32]

    @classmethod
    def of(cls, recipe: Recipe, held: list[pa.RecordBatch]) -> Chunk:
        """Put the texts of a chunk together."""
        nodes, documents = _documents(recipe, held)
        return cls(recipe, nodes, pa.concat_arrays([rows.column("id") for rows in held]), documents)

    def links(self, values: pa.Array) -> Links:
        """Score packed pairs, and give those at or above the threshold."""
        a, b = pairs_of_chunk(values)
        places = places_of(a, self.nodes), places_of(b, self.nodes)
        found = _scored(self.recipe, self.documents, *places)
        return Links(found.first, found.second, found.similarity)

    def ended(self, links: list[Links], *, waits: bool) -> Iterator[pa.RecordBatch]:
        """Give the links that were found; where these are all, with what they link."""
        if not links:
            return
        columns: list[Any] = [np.concatenate(column) for column in zip(*links, strict=True)]
        every = Links(*columns)
        rows = self.batch(every, _groups(self, every) if waits else None)
        for start in range(0, max(len(rows), 1), OUT_LINKS):
            yield pack_links(rows.slice(start, OUT_LINKS))

    def batch(self, links: Links, groups: tuple[pa.Array, pa.Array] | None) -> pa.RecordBatch:
        """Give a row for each link."""
        first, second, similarity = links
        members, lowest = groups or (pa.nulls(len(first), kind) for kind in GROUP_TYPES)
        return pa.RecordBatch.from_pydict(
            {
                "a": fixed_column(self.nodes[first]),
                "b": fixed_column(self.nodes[second]),
                "a_id": self.ids.take(pa.array(first)),
                "b_id": self.ids.take(pa.array(second)),
                "similarity": pa.array(similarity),
                "members": members,
                "lowest": lowest,
            }
        )


GROUP_TYPES = pa.int64(), pa.float64()


def score_pairs(recipe: str, whole: bool, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the pairs at or above the threshold, packed.

    With `whole` they tell of the documents that are linked with them in a chunk. Rows come sorted
    by chunk: those of texts first, then the pairs of them.
    """
    known = loaded(recipe)
    held: list[pa.RecordBatch] = []
    chunk: Chunk | None = None
    links: list[Links] = []
    waits = whole
    for _, kind, rows in _runs(batches, ("chunk", "kind")):
        if kind == TEXTS:
            if chunk is not None:
                yield from chunk.ended(links, waits=waits)
                held, chunk, links, waits = [], None, [], whole
            held += map(unpacked_rows, rows.column("rows"))
            continue
        if chunk is None:
            chunk = Chunk.of(known, held)
        links.append(chunk.links(rows.column("rows")))
        waits = waits and sum(len(one.first) for one in links) <= HELD_LINKS
        if not waits:
            yield from chunk.ended(links, waits=False)
            links = []
    if chunk is not None:
        yield from chunk.ended(links, waits=waits)


def _groups(chunk: Chunk, links: Links) -> tuple[pa.Array, pa.Array]:
    """Give of each link how many documents are linked with it, and how alike any two are at least.

    Of a group of many, that is of those that are linked, and of those with the smallest names.
    """
    first, second, similarity = links
    forest = UnionFind(len(chunk.nodes))
    forest.unite(first, second)
    labels = forest.labels()
    members = np.bincount(labels)
    linked = np.bincount(labels[first], minlength=len(members))
    lowest = np.ones(len(members))
    np.minimum.at(lowest, labels[first], similarity)
    loose = linked < members * (members - 1) // 2
    if loose.any():
        rows = np.flatnonzero(loose[labels])
        rows = rows[np.lexsort((numbers_of(chunk.nodes[rows]), labels[rows]))]
        rows = rows[ranks(labels[rows]) < COMPARED_MEMBERS]
        np.minimum(lowest, _lowest(chunk, links, labels, rows), out=lowest)
    of_link = labels[first]
    return pa.array(members[of_link]), pa.array(lowest[of_link])


def _lowest(
    chunk: Chunk, links: Links, labels: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Give the smallest similarity of any two of some rows of one label that are not linked.

    Rows of a label are together.
    """
    first, second = (rows[end] for end in every_two(labels[rows]))
    count = len(labels)
    known = np.minimum(links.first, links.second) * count + np.maximum(links.first, links.second)
    fresh = ~np.isin(np.minimum(first, second) * count + np.maximum(first, second), known)
    found = _scored(chunk.recipe, chunk.documents, first[fresh], second[fresh], chunk.recipe.lowest)
    lowest = np.ones(int(labels.max()) + 1)
    np.minimum.at(lowest, labels[found.first], found.similarity)
    return lowest


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
    new = np.append(False, (labels[1:] != labels[:-1]).any(axis=1))
    groups = np.cumsum(new)
    first, second = every_two(groups)
    found = _scored(recipe, documents, once[first], once[second], recipe.lowest)
    smallest = np.ones(int(groups[-1]) + 1)
    of_chunk = np.empty(len(nodes), np.int64)
    of_chunk[once] = groups
    np.minimum.at(smallest, of_chunk[found.first], found.similarity)
    return pa.RecordBatch.from_pydict(
        {
            "component": fixed_column(labels[np.append(True, new[1:])]),
            "similarity": pa.array(smallest),
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
