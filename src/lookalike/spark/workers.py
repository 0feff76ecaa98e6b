"""What runs on the workers: batches of rows in, batches of rows out, by the recipe of the job.

Each function is given to `mapInArrow`. The recipe travels as the text of its dump, and a worker
reads it once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from lookalike.base.errors import InvalidTextError, InvalidVectorError
from lookalike.recipe import Recipe
from lookalike.spark.arrow import (
    bytes_column,
    fixed_column,
    nodes_of_fingerprints,
    packed_rows,
    shortened,
)
from lookalike.spark.first_pass import (
    FirstDocuments,
    distinct_rows,
    packed_documents,
    sampled_documents,
    sketches_packed,
    sketches_unpacked,
)
from lookalike.spark.packing import Keyed, packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import CanonicalForm
    from lookalike.text.normalise import Canonical

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "NAMED",
    "encode",
    "encode_packed",
    "identify",
    "loaded",
    "pack_sketches",
    "problems",
    "texts",
]

CONTENT = "content"
NAMED = (
    "rows bigint, empty bigint, unnamed bigint, problems bigint, id_bytes bigint, "
    "counted boolean, named binary, sketches binary, texts binary"
)
"""What the first pass makes of a batch: how many documents it has, are empty, have no id and cannot
be read, the bytes of ids that are text, whether all are digits, and the documents, packed."""
NAMED_TYPES = {
    **dict.fromkeys(("rows", "empty", "unnamed", "problems", "id_bytes"), pa.int64()),
    "counted": pa.bool_(),
    **dict.fromkeys(("named", "sketches", "texts"), pa.binary()),
}


@lru_cache(maxsize=4)
def loaded(recipe: str) -> Recipe:
    """Read a recipe, once in a worker."""
    return Recipe.load(recipe)


def identify(
    form: CanonicalForm, with_characters: bool, guess: str | None, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Give a row for each batch of documents, and one for the task.

    In `named` are the names of the documents and their canonical bytes, which are null of one that
    cannot be read, and all columns but the document; in `sketches` what the recipe makes of
    them that was guessed, if one was. The row of the task holds the `texts` that the sample may
    need of the documents that it has seen.
    """
    task = TaskContext.get()
    first = FirstDocuments(sampled_documents(task.partitionId() if task else 0))
    for batch in batches:
        if not len(batch):
            continue
        documents = batch.column(CONTENT)
        canonical, problems = _canonical(form, documents)
        distinct = distinct_rows(canonical)
        first.add(canonical, distinct)
        wrong = np.zeros(len(documents), np.bool_)
        wrong[list(problems)] = True
        found = {name: batch.column(name) for name in batch.schema.names if name != CONTENT}
        found["node"] = fixed_column(nodes_of_fingerprints(canonical.fingerprints))
        found["bytes"] = pa.array(np.diff(canonical.offsets), mask=wrong)
        if with_characters:
            counted = canonical.characters
            if counted is None:
                lengths = pc.fill_null(pc.list_value_length(documents), 0)
                counted = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
            found["characters"] = pa.array(counted)
        ids = batch.column("id")
        digits, id_bytes = None, 0
        if not pa.types.is_integer(ids.type):
            digits = pc.all(pc.match_substring_regex(ids, "^[0-9]+$")).as_py()
            id_bytes = pc.sum(pc.binary_length(ids)).as_py() or 0
        yield _first_pass(
            rows=len(batch),
            empty=pc.sum(pc.equal(found["bytes"], 0)).as_py() or 0,
            unnamed=ids.null_count,
            problems=len(problems),
            id_bytes=id_bytes,
            counted=digits,
            named=packed_rows(pa.RecordBatch.from_pydict(found), compression=None),
            sketches=None if guess is None else sketches_packed(loaded(guess), canonical, distinct),
        )
    if (held := first.held()) is not None:
        yield _first_pass(texts=packed_documents(held))


def _first_pass(**values: Any) -> pa.RecordBatch:
    """Give one row of what the first pass makes."""
    columns = {name: pa.array([values.get(name)], kind) for name, kind in NAMED_TYPES.items()}
    return pa.RecordBatch.from_pydict(columns)


def problems(form: CanonicalForm, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the documents that cannot be read, and why."""
    for batch in batches:
        _, found = _canonical(form, batch.column(CONTENT))
        yield pa.RecordBatch.from_pydict(
            {
                "id": batch.column("id").take(pa.array(list(found), pa.int64())),
                "problem": pa.array(found.values(), pa.string()),
            }
        )


def _canonical(form: CanonicalForm, documents: pa.Array) -> tuple[Canonical, dict[int, str]]:
    """Make documents canonical; those that cannot be are empty, and why is said by their rows."""
    problems: dict[int, str] = {}
    while True:
        try:
            return form.canonical(documents), problems
        except (InvalidTextError, InvalidVectorError) as error:
            problems.update({int(row): reason for row, reason in error.wrong})
            good = np.ones(len(documents), np.bool_)
            good[list(problems)] = False
            documents = pc.if_else(pa.array(good), documents, pa.nulls(1, documents.type)[0])


def encode(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the band keys and the sketches of each document that has any.

    Of identical documents of a batch one is encoded.
    """
    for encoded in _encoded(recipe, batches):
        keys = encoded.keys
        ends = np.arange(len(keys) + 1, dtype=np.int32) * keys.shape[1]
        yield pa.RecordBatch.from_pydict(
            {
                "node": fixed_column(encoded.nodes),
                "bytes": pa.array(encoded.sizes),
                "keys": pa.ListArray.from_arrays(pa.array(ends), pa.array(keys.reshape(-1))),
                "check": fixed_column(encoded.checks),
                "data": fixed_column(encoded.sketches),
            }
        )


def encode_packed(recipe: str, slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the rows of buckets in which documents are, packed by slice."""
    yield from packed(slices, map(_keyed, _encoded(recipe, batches)))


class _Encoded(NamedTuple):
    nodes: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    keys: NDArray[np.int64]
    checks: NDArray[np.uint8]
    """The bits that dismiss candidates. Where the cascade asks for more than a shared bucket, all
    keys follow them."""
    sketches: NDArray[np.uint32]


def _encoded(recipe: str, batches: Batches) -> Iterator[_Encoded]:
    known = loaded(recipe)
    for batch in batches:
        canonical = known.canonical(batch.column(CONTENT))
        filled = distinct_rows(canonical)
        made = known.encode(canonical, filled)
        counted = np.flatnonzero(~made.empty)
        rows = filled[counted]
        keys, check = _keys(known, made.keys[:, counted], made.prefilter[counted])
        yield _Encoded(
            nodes_of_fingerprints(canonical.fingerprints[rows]),
            canonical.lengths(rows),
            keys,
            check,
            made.sketches[counted],
        )


def _keys(
    recipe: Recipe, keys: NDArray[np.uint64], prefilter: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Give the keys of the bands that make candidates, and what dismisses these."""
    check = np.ascontiguousarray(prefilter).view(np.uint8)
    if recipe.by_sketches:
        check = check[:, :0]
    if recipe.layout.filtered:
        every = np.ascontiguousarray(keys.T).view(np.uint8)
        check = np.concatenate([check, every], axis=1)
    return np.ascontiguousarray(keys[recipe.layout.generators].T).view(np.int64), check


def pack_sketches(recipe: str, slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give what `encode_packed` gives, of the sketches that the first pass made."""
    yield from packed(slices, map(_keyed, _of_sketches(recipe, batches)))


def _of_sketches(recipe: str, batches: Batches) -> Iterator[_Encoded]:
    known = loaded(recipe)
    for batch in batches:
        for value in batch.column("sketches"):
            made = sketches_unpacked(value)
            # Copies, since kernels are compiled once more for arrays that are read alone.
            rows = np.array(made["rows"])
            keys, check = _keys(known, known.keys(rows), made["bits"])
            nodes = np.array(made["node"])
            yield _Encoded(nodes, made["bytes"], keys, check, rows)


def _keyed(encoded: _Encoded) -> Keyed:
    """Give the keys of documents with their bands."""
    count, bands = encoded.keys.shape
    of_keys = np.tile(np.arange(bands, dtype=np.int32), (count, 1))
    return Keyed(of_keys, encoded.keys, encoded.nodes, encoded.sizes, encoded.checks)


def texts(form: CanonicalForm, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the canonical bytes of documents; the other columns go through as they are.

    Where a batch has a column `most`, no more bytes than that of each are given.
    """
    for batch in batches:
        canonical = form.canonical(batch.column(CONTENT))
        data, offsets = canonical.data, canonical.offsets
        names = [name for name in batch.schema.names if name not in (CONTENT, "most")]
        if "most" in batch.schema.names:
            data, offsets = shortened(data, offsets, batch.column("most").to_numpy())
        yield pa.RecordBatch.from_pydict(
            {**{name: batch.column(name) for name in names}, "data": bytes_column(data, offsets)}
        )
