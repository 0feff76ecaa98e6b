"""Names of documents that travel packed: each content once, by the first of its ids."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.spark import naming
from lookalike.spark.arrow import packed_rows, unpacked_rows

Document = tuple[Any, int]
"""An id, and the number of a content; the content 0 is empty."""
numbers = st.integers(-3, 40)
digits = st.sampled_from(["0", "00", "7", "07", "10", "9", "010", "100"])
texts = st.text("ab0é", max_size=3)


def name(content: int) -> bytes:
    return (content * 977 % 1009).to_bytes(16, "big")


def named(documents: list[Document], kind: pa.DataType, rows: int) -> list[pa.RecordBatch]:
    """Give documents as the first pass packs them."""
    batch = pa.RecordBatch.from_pydict(
        {
            "id": pa.array([one for one, _ in documents], kind),
            "node": pa.array([name(content) for _, content in documents], pa.binary()),
            "bytes": pa.array([3 * content for _, content in documents], pa.int64()),
        }
    )
    parts = [batch.slice(start, rows) for start in range(0, len(batch), rows)]
    values = pa.array([packed_rows(part, compression=None) for part in parts], pa.binary())
    return [pa.RecordBatch.from_pydict({"named": values})]


def gathered(
    documents: list[Document], kind: pa.DataType, rows: int, slices: int, *, counted: bool
) -> pa.Table:
    packed = [*naming.slice_named(slices, counted, True, named(documents, kind, rows))]
    if not packed:
        return pa.table({"contents": pa.array([], pa.binary())})
    together = pa.Table.from_batches(packed).sort_by(
        [("slice", "ascending"), ("kind", "ascending")]
    )
    key = "i8" if pa.types.is_integer(kind) else "S16"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(naming, "HELD_VALUES", 3)
        batches = together.to_batches(max_chunksize=3)
        return pa.Table.from_batches(naming.gather(counted, key, True, batches))


def order_of(counted: bool) -> Any:
    def key(one: Any) -> Any:
        if not counted:
            return one.encode() if isinstance(one, str) else one
        short = one.lstrip("0")
        return len(short), short, one

    return key


@given(
    st.data(), st.sampled_from(["numbers", "digits", "texts"]), st.integers(1, 7), st.integers(1, 4)
)
def test_each_content_comes_once_with_the_first_id_and_all_copies(data, ids, rows, slices) -> None:
    kind = pa.int64() if ids == "numbers" else pa.string()
    counted = ids == "digits"
    of_kind = {"numbers": numbers, "digits": digits, "texts": texts}[ids]
    documents = data.draw(st.lists(st.tuples(of_kind, st.integers(0, 6)), max_size=30))
    found = gathered(documents, kind, rows, slices, counted=counted)
    expected = {}
    for content in range(1, 7):
        mine = sorted((one for one, of in documents if of == content), key=order_of(counted))
        if mine:
            expected[name(content)] = (mine[0], len(mine), 3 * content)
    batches = found.to_batches()
    rows_of = [row for one in naming.unpack_contents(False, batches) for row in one.to_pylist()]
    assert len(rows_of) == len(expected)
    assert {r["node"]: (r["id"], r["copies"], r["bytes"]) for r in rows_of} == expected
    several = [row for one in naming.unpack_contents(True, batches) for row in one.to_pylist()]
    assert {row["node"] for row in several} == {n for n, (_, c, _) in expected.items() if c > 1}
    if documents:
        assert sum(found["distinct"].to_pylist()) == len(expected)
        assert max(found["most_copies"].to_pylist()) == max(
            (copies for _, copies, _ in expected.values()), default=0
        )
    again = Counter(one for one, _ in documents)
    repeated = sum(found["repeated"].to_pylist()) if documents else 0
    assert repeated == len(documents) - len(again)


@given(st.sets(st.integers(1, 500)), st.integers(1, 20), st.integers(1, 4), st.booleans())
def test_the_first_names_are_those_of_all_slices(contents, most, slices, bounded) -> None:
    documents = [(one, one) for one in sorted(contents)]
    found = gathered(documents, pa.int64(), 9, slices, counted=False)
    names = sorted(map(name, contents))
    below = names[len(names) // 2] if bounded and names else None
    given_names = sorted(
        row["node"]
        for one in naming.first_names(below, most, found.to_batches())
        for row in one.to_pylist()
    )
    wanted = [one for one in names if below is None or one < below]
    assert given_names[:most] == wanted[:most]
    assert len(given_names) <= most * slices


@given(st.sets(st.integers(1, 60), min_size=1), st.data(), st.integers(1, 4))
def test_what_chunks_need_finds_its_ids_by_name(contents, data, slices) -> None:
    documents = [(f"id {one}", one) for one in sorted(contents)]
    asked = data.draw(st.sets(st.tuples(st.sampled_from(sorted(contents)), st.integers(0, 5))))
    found = gathered(documents, pa.string(), 9, slices, counted=False)
    kinds = pa.array(np.full(len(found), naming.NAMES, np.int32))
    of_slice = found["slice"].combine_chunks()
    rows = pa.table({"slice": of_slice, "kind": kinds, "rows": found["contents"]})
    batch = pa.RecordBatch.from_pydict(
        {
            "node": pa.array([name(one) for one, _ in asked], pa.binary()),
            "chunk": pa.array([chunk for _, chunk in asked], pa.int64()),
        }
    )
    needed = [one for one in naming.pack_needed(slices, [batch]) if len(one)]
    together = pa.concat_tables([rows, pa.Table.from_batches(needed, rows.schema)])
    together = together.sort_by([("slice", "ascending"), ("kind", "ascending")])
    given_ids = [
        (row["node"], row["chunk"], row["id"])
        for one in naming.ids_of_needed(together.to_batches(max_chunksize=2))
        for row in one.to_pylist()
    ]
    assert sorted(given_ids) == sorted((name(one), chunk, f"id {one}") for one, chunk in asked)


def test_ids_that_are_null_are_left_to_those_who_count_them() -> None:
    found = gathered([(None, 1), (None, 2), (3, 2)], pa.int64(), 9, 2, counted=False)
    assert sum(found["repeated"].to_pylist()) == 0


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 9), st.integers(1, 3))
def test_documents_of_contents_that_several_have_are_listed_unless_many(contents, rows, slices):
    documents = [(number, content) for number, content in enumerate(contents)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(naming, "LISTED_COPIES", 3)
        patched.setattr(naming, "HELD_DOCUMENTS", 7)
        found = gathered(documents, pa.int64(), rows, slices, counted=False)
    copies = Counter(of for of in contents if of)
    listed = [
        (row["node"], row["id"])
        for value in (found["copied"].drop_null() if documents else [])
        for row in unpacked_rows(value).to_pylist()
    ]
    assert sorted(listed) == sorted(
        (name(of), number) for number, of in documents if 2 <= copies[of] <= 3
    )
    if documents:
        assert max(found["most_copies"].to_pylist()) == max(copies.values(), default=0)
