"""Texts that travel packed: each comes back with its name, and those that are wanted are found."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lookalike.spark.arrow import unpacked_rows
from lookalike.spark.text_packing import LABEL, Wanted, pack_texts, pick_sampled, pick_texts

NODES = [bytes([number]) * 16 for number in range(8)]
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7), st.binary(max_size=20)))
Row = tuple[int, int, bytes]


def batches_of(some: list[Row]) -> list[pa.RecordBatch]:
    """Give rows in batches of five."""
    columns = {
        "chunk": pa.array([chunk for chunk, _, _ in some], pa.int64()),
        "node": pa.array([NODES[node] for _, node, _ in some], pa.binary()),
        "data": pa.array([data for _, _, data in some], pa.binary()),
    }
    batch = pa.RecordBatch.from_pydict(columns)
    return [batch.slice(start, 5) for start in range(0, len(batch) + 1, 5)]


@given(rows)
def test_packed_texts_come_back_in_their_chunks(some: list[Row]) -> None:
    found = [
        (chunk, row["node"], row["data"])
        for batch in pack_texts(batches_of(some))
        for chunk, value in zip(batch["chunk"].to_pylist(), batch["texts"], strict=True)
        for row in unpacked_rows(value).to_pylist()
    ]
    assert sorted(found) == sorted((chunk, NODES[node], data) for chunk, node, data in some)


@given(rows, st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1))
def test_wanted_texts_are_picked_for_each_of_their_labels(
    some: list[Row], asked: set[tuple[int, int]]
) -> None:
    ordered = sorted(asked)
    nodes, labels = (
        np.frombuffer(b"".join(NODES[one[i]] for one in ordered), np.uint8).reshape(-1, 16)
        for i in (0, 1)
    )
    found = [
        (row["chunk"], row["node"], row["data"])
        for batch in pick_texts(Wanted(nodes, labels), pack_texts(batches_of(some)))
        for row in batch.to_pylist()
    ]
    expected = [
        (NODES[label], NODES[node], data)
        for _, node, data in some
        for wanted, label in asked
        if wanted == node
    ]
    assert sorted(found) == sorted(expected)


@given(rows, st.lists(st.integers(0, 25), min_size=8, max_size=8))
def test_of_sampled_texts_no_more_is_given_than_is_looked_at(some: list[Row], most: list[int]):
    places = np.arange(8, dtype=np.int64)
    nodes = np.frombuffer(b"".join(NODES), np.uint8).reshape(8, -1)
    wanted = Wanted(nodes, places.astype(LABEL).view(np.uint8).reshape(8, -1))
    found = [
        (row["node"], row["data"])
        for batch in pick_sampled(wanted, np.array(most), pack_texts(batches_of(some)))
        for row in batch.to_pylist()
    ]
    expected = [(NODES[node], data[: most[node]]) for _, node, data in some]
    assert sorted(found) == sorted(expected)
