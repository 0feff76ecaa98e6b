"""Pairs in buckets, as sorted rows pass through a task; without Spark itself."""

from collections import Counter
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.recipe import Recipe, Sample, choose
from lookalike.settings import Settings
from lookalike.spark import components, pairing, thinning
from lookalike.spark.arrow import fixed_column

BITS = 32
BLOCK = 2


@cache
def recipe_of(**options: Any) -> Recipe:
    """Choose a recipe, when it is first used: tests are collected without the compiler too."""
    texts = pa.array([f"some text number {i}" for i in range(30)], pa.large_string())
    settings = Settings(bands=3, rows=2, **options)
    return choose(settings, Sample.of_array(texts, settings)).recipe


def name(number: int) -> bytes:
    return number.to_bytes(16, "big")


def rows_of(members: list[tuple[int, int, int]], checks: dict[int, bytes]) -> pa.RecordBatch:
    """Lay out (band, key, document), sorted."""
    members = sorted(members)
    nodes = np.frombuffer(b"".join(name(one) for *_, one in members), np.uint8).reshape(-1, 16)
    bits = [checks.get(one, bytes(BITS)) for *_, one in members]
    return pa.RecordBatch.from_pydict(
        {
            "band": pa.array([band for band, *_ in members], pa.int32()),
            "key": pa.array([key for _, key, _ in members], pa.int64()),
            "node": fixed_column(nodes),
            "bytes": pa.array([one for *_, one in members], pa.int64()),
            "check": pa.array(bits, pa.binary()),
        }
    )


def cut(batch: pa.RecordBatch, size: int) -> list[pa.RecordBatch]:
    return [batch.slice(start, size) for start in range(0, len(batch), size)]


def pairs_in(batches: Any) -> Counter[tuple[int, int]]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    return Counter((int.from_bytes(row["a"]), int.from_bytes(row["b"])) for row in rows)


def cells_of(large: pa.Table) -> list[pa.RecordBatch]:
    """Give each row of a bucket to every two blocks of which one holds it, by plain Python."""
    rows = large.to_pylist()
    last: dict[tuple[int, int], int] = {}
    for row in rows:
        row["block"] = row["place"] // BLOCK
        bucket = row["band"], row["key"]
        last[bucket] = max(last.get(bucket, 0), row["block"])
    found = [
        (
            *(row["band"], row["key"], *sorted((row["block"], other))),
            *(row["a"], row["a_bytes"], row["block"], row["check"], row["home"]),
        )
        for row in rows
        for other in range(last[row["band"], row["key"]] + 1)
    ]
    names = ["band", "key", "left", "right", "node", "a_bytes", "block", "check", "home"]
    types = [pa.int32(), pa.int64(), pa.int32(), pa.int32(), pa.binary(), pa.int64(), pa.int32()]
    columns = list(zip(*sorted(found), strict=True))
    kinds = [*types, pa.binary(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return cut(pa.RecordBatch.from_arrays(arrays, names), 7)


members = st.sets(
    st.tuples(st.integers(0, 1), st.integers(-1, 0), st.integers(0, 25)), max_size=60
).map(list)


@given(members, st.integers(1, 40))
def test_every_pair_of_a_bucket_is_made_once_however_it_is_cut(members, size):
    expected: Counter[tuple[int, int]] = Counter()
    for band, key in {one[:2] for one in members}:
        documents = sorted(d for b, k, d in members if (b, k) == (band, key))
        expected.update(combinations(documents, 2))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pairing, "CROSS_ROWS", 3)
        found = pa.Table.from_batches(
            pairing.pair_buckets(recipe_of().dump(), BLOCK, cut(rows_of(members, {}), size))
        )
        kinds = found["kind"].to_numpy()
        small = found.filter(pa.array(kinds == 0))
        large = found.filter(pa.array(kinds == 1))
        pairs = pairs_in(small.to_batches())
        if len(large):
            pairs += pairs_in(pairing.pair_blocks(recipe_of().dump(), cells_of(large)))
    assert pairs == expected
    met = found.filter(pa.array(kinds == 2)).to_pylist()
    assert sum(row["key"] for row in met) == sum(pairs_in(small.to_batches()).values())


def test_no_task_holds_more_of_a_bucket_than_a_block_and_a_batch(monkeypatch):
    members = [(0, 1, document) for document in range(1000)]
    sizes = []
    joined = pairing.Rows.after
    monkeypatch.setattr(
        pairing.Rows,
        "after",
        lambda self, before: sizes.append(len(before.keys)) or joined(self, before),
    )
    found = list(pairing.pair_buckets(recipe_of().dump(), 10, cut(rows_of(members, {}), 7)))
    assert max(sizes) <= 10
    places = [place for one in found for place in one["place"].to_pylist()]
    assert sorted(place for place in places if place is not None) == list(range(1000))


def test_bits_that_travel_with_the_keys_dismiss_candidates():
    far, near = bytes([255] * BITS), bytes([1] + [0] * (BITS - 1))
    assert 1 <= recipe_of().most_differing < 8 * BITS
    rows = rows_of([(0, 5, one) for one in (1, 2, 3)], {2: far, 3: near})
    found = pa.Table.from_batches(pairing.pair_buckets(recipe_of().dump(), len(rows), [rows]))
    assert pairs_in(found.filter(pa.array(found["kind"].to_numpy() == 0)).to_batches()) == {
        (1, 3): 1
    }


links = st.sets(
    st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda one: one[0] < one[1])
)


def table_of(names: tuple[str, str], pairs: list[tuple[int, int]]) -> list[pa.RecordBatch]:
    columns = [pa.array([name(pair[end]) for pair in pairs], pa.binary()) for end in (0, 1)]
    return cut(pa.RecordBatch.from_arrays(columns, list(names)), 3)


@given(links)
def test_links_joined_at_once_are_components(links):
    batches = table_of(("parent", "node"), sorted(links))
    found = {
        int.from_bytes(row["node"]): int.from_bytes(row["component"])
        for batch in components.join_at_once(batches)
        for row in batch.to_pylist()
    }
    expected = {one: one for pair in links for one in pair}
    for _ in expected:
        for pair in links:
            least = min(expected[one] for one in pair)
            expected.update(dict.fromkeys(pair, least))
    assert found == expected


@given(links)
def test_links_settled_at_once_keep_greedily(links):
    ordered = sorted(links, key=lambda one: one[1])
    batches = table_of(("first", "second"), ordered)
    found = {
        int.from_bytes(row["node"])
        for batch in thinning.settle_at_once(batches)
        for row in batch.to_pylist()
    }
    kept: set[int] = set()
    for one in range(15):
        if not any((before, one) in links for before in kept):
            kept.add(one)
    assert found == set(range(15)) - kept


@given(links, st.sets(st.integers(0, 14)))
def test_links_of_which_some_are_unknown_settle_what_is_certain(links, open_ones):
    # What is certain holds whatever further links the open documents have.
    ordered = sorted(links, key=lambda one: one[1])
    batch = table_of(("first", "second"), ordered)
    columns = (
        ("first_open", [a in open_ones for a, _ in ordered]),
        (
            "second_open",
            [b in open_ones for _, b in ordered],
        ),
    )
    table = pa.Table.from_batches(batch) if batch else None
    if table is None:
        return
    for column, values in columns:
        table = table.append_column(column, pa.array(values))
    fates = {
        int.from_bytes(row["node"]): row["goes"]
        for one in thinning.settle_partly(table.to_batches())
        for row in one.to_pylist()
    }
    linked = {one for pair in links for one in pair}
    for more in (set(), {(a, b) for b in open_ones for a in range(b)}):
        kept: set[int] = set()
        for one in range(15):
            if not any((before, one) in links | more for before in kept):
                kept.add(one)
        for one in linked:
            if one not in fates:
                assert one in kept
            elif fates[one]:
                assert one not in kept


@given(members, st.integers(1, 30), st.integers(1, 3), st.booleans())
def test_centres_meet_all_that_stand_after_them(members, size, most, among):
    batch = rows_of(members, {})
    places: Counter[tuple[int, int]] = Counter()
    flags = []
    expected: Counter[tuple[int, int]] = Counter()
    held: dict[tuple[int, int], list[int]] = {}
    for band, key, document in sorted(members):
        places[band, key] += 1
        is_centre = places[band, key] <= most
        if among or not is_centre:
            expected.update((one, document) for one in held.get((band, key), []))
        if is_centre:
            held.setdefault((band, key), []).append(document)
        flags.append(is_centre)
    table = pa.Table.from_batches([batch]).append_column("centre", pa.array(flags, pa.bool_()))
    batches = [one for whole in table.to_batches() for one in cut(whole, size)]
    assert pairs_in(pairing.pair_with_centres(recipe_of().dump(), among, batches)) == expected
