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
from lookalike.spark import components, packing, pair_packing, pairing, thinning
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


def once(packed: list[pa.RecordBatch]) -> Counter[tuple[int, int]]:
    """Give the pairs that are told apart, which are packed again, and counted."""
    candidates = [*pair_packing.unique_pairs(packed)]
    found = pairs_in(pair_packing.unpack_pairs(candidates))
    assert sum(batch["pairs"][0].as_py() for batch in candidates) == found.total()
    assert sum(batch["bytes"][0].as_py() for batch in candidates) == sum(map(sum, found))
    again = pair_packing.pack_pairs(pair_packing.unpack_pairs(candidates))
    assert pairs_in(pair_packing.unpack_pairs(again)) == found
    return found


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
            *(row["node"], row["bytes"], row["block"], row["check"], row["home"]),
        )
        for row in rows
        for other in range(last[row["band"], row["key"]] + 1)
    ]
    names = ["band", "key", "left", "right", "node", "a_bytes", "block", "check", "home"]
    types = [pa.int32(), pa.int64(), pa.int32(), pa.int32(), pa.binary(), pa.int64(), pa.int32()]
    columns = list(zip(*sorted(found), strict=True))
    kinds = [*types, pa.binary(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return cut(pa.RecordBatch.from_arrays(arrays, names), 7)


members = st.sets(
    st.tuples(st.integers(0, 1), st.integers(-1, 0), st.integers(0, 25)), max_size=60
).map(list)


def met(
    rows: list[pa.RecordBatch], slices: int = 2, block: int | pairing.Limits = BLOCK
) -> pa.Table:
    """Pack rows of several tasks, and pair them in one."""
    parts = [part for one in rows for part in packing.pack(slices, [one])]
    table = pa.Table.from_batches(parts, parts[0].schema if parts else NO_ROWS).sort_by("slice")
    limits = pairing.Limits(block) if isinstance(block, int) else block
    found = pairing.pair_buckets(recipe_of().dump(), limits, slices, table.to_batches())
    return pa.Table.from_batches(found)


def of_kind(found: pa.Table, kind: int) -> pa.Table:
    return found.filter(pa.array(found["kind"].to_numpy() == kind))


def packed_in(found: pa.Table) -> list[pa.RecordBatch]:
    """Give the packed pairs as they come to the task that tells them apart."""
    packed = of_kind(found, pairing.PAIR).select(["key", "check"])
    return packed.rename_columns(["slice", "rows"]).sort_by("slice").to_batches()


PACKED_PAIRS = pa.schema({"slice": pa.int64(), "rows": pa.binary()})
NO_ROWS = pa.schema({"slice": pa.int32(), "width": pa.int32(), "rows": pa.binary()})


@given(members, st.integers(1, 40), st.integers(1, 5), st.sampled_from([4, 1000]))
def test_every_pair_of_a_bucket_is_made_once_however_it_is_cut(members, size, slices, held):
    expected: Counter[tuple[int, int]] = Counter()
    for band, key in {one[:2] for one in members}:
        documents = sorted(d for b, k, d in members if (b, k) == (band, key))
        expected.update(combinations(documents, 2))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pairing, "CROSS_ROWS", 3)
        patched.setattr(pairing, "HELD_ROWS", held)
        found = met(cut(rows_of(members, {}), size), slices)
        large = of_kind(found, pairing.LARGE)
        small = pairs_in(pair_packing.unpack_pairs(packed_in(found)))
        pairs = small
        if len(large):
            blocks = pairing.pair_blocks(recipe_of().dump(), slices, cells_of(large))
            pairs = small + pairs_in(pair_packing.unpack_pairs(blocks))
    assert pairs == expected
    counted = of_kind(found, pairing.COUNTED).to_pylist()
    assert sum(row["key"] for row in counted) == small.total()
    assert sum(row["bytes"] for row in counted) == small.total()
    assert once(packed_in(found)) == Counter(set(small))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2), st.integers(0, 9)), max_size=40))
def test_rows_are_sorted_by_bucket_and_document_each_once(members):
    # As they come, with copies among them; the bytes of a row tell which one it is.
    rows = [rows_of([one], {}) for one in members]
    parts = [packing.Rows.of(one) for one in rows]
    if not parts:
        return
    whole = packing.Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    found = whole.sorted_once()
    expected = sorted({(key, band, name(document), document) for band, key, document in members})
    columns = found.keys, found.bands, map(bytes, found.nodes), found.sizes
    assert [*zip(*columns, strict=True)] == expected


def test_a_document_that_comes_again_counts_once():
    once = rows_of([(0, 5, one) for one in (1, 2, 3)], {})
    found = met([once, once, once], block=3)
    pairs = pairs_in(pair_packing.unpack_pairs(packed_in(found)))
    assert pairs == {(1, 2): 1, (1, 3): 1, (2, 3): 1}
    assert of_kind(found, pairing.COUNTED)["key"].to_pylist() == [3]


def test_a_pair_that_meets_in_several_bands_is_given_once():
    rows = rows_of([(band, 5 + band, one) for band in range(3) for one in (1, 2)], {})
    found = met([rows])
    assert pairs_in(pair_packing.unpack_pairs(packed_in(found))) == {(1, 2): 3}
    assert once(packed_in(found)) == {(1, 2): 1}


def test_no_task_holds_more_of_a_bucket_than_a_block_and_what_came_last(monkeypatch):
    monkeypatch.setattr(pairing, "HELD_ROWS", 20)
    members = [(0, 1, document) for document in range(1000)]
    sizes = []
    sorted_once = packing.Rows.sorted_once
    monkeypatch.setattr(
        packing.Rows,
        "sorted_once",
        lambda self: sizes.append(len(self.keys)) or sorted_once(self),
    )
    found = met(cut(rows_of(members, {}), 7), block=10)
    assert len(sizes) > 10
    assert max(sizes) <= 20 + 7
    places = of_kind(found, pairing.LARGE)["place"].to_pylist()
    assert sorted(places) == list(range(1000))


def test_of_crowded_buckets_the_pairs_are_left_for_later_and_of_others_made():
    limits = pairing.Limits(100, 4, 32.0)
    crowd = [(0, 1, document) for document in range(90)]
    few = [(0, key, 100 + 10 * key + place) for key in (2, 3) for place in range(4)]
    found = met([rows_of(crowd + few, {})], slices=1, block=limits)
    large = of_kind(found, pairing.LARGE)
    assert {*large["key"].to_pylist()} == {1}
    assert len(large) == 90
    assert pairs_in(pair_packing.unpack_pairs(packed_in(found))).total() == 12
    # Where buckets are not crowded on the whole, a larger one among them is paired.
    found = met([rows_of(crowd[:20] + few, {})], slices=1, block=limits)
    assert not len(of_kind(found, pairing.LARGE))
    assert pairs_in(pair_packing.unpack_pairs(packed_in(found))).total() == 190 + 12


def test_bits_that_travel_with_the_keys_dismiss_candidates():
    far, near = bytes([255] * BITS), bytes([1] + [0] * (BITS - 1))
    assert 1 <= recipe_of().most_differing < 8 * BITS
    rows = rows_of([(0, 5, one) for one in (1, 2, 3)], {2: far, 3: near})
    found = met([rows], block=len(rows))
    assert pairs_in(pair_packing.unpack_pairs(packed_in(found))) == {(1, 3): 1}


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


@given(links, st.integers(1, 5))
def test_links_settled_at_once_name_the_nearest_kept_one(links, size):
    ordered = sorted(links, key=lambda one: (one[1], one[0]))
    similarity = {(a, b): 0.5 + (a * b % 3) / 10 for a, b in links}
    table = pa.table(
        {
            "first": pa.array([name(a) for a, _ in ordered], pa.binary()),
            "second": pa.array([name(b) for _, b in ordered], pa.binary()),
            "kept_id": pa.array([f"id {a}" for a, _ in ordered], pa.string()),
            "similarity": pa.array([similarity[one] for one in ordered], pa.float64()),
        }
    )
    found = {
        int.from_bytes(row["node"]): (row["kept_id"], row["similarity"])
        for batch in thinning.settle_and_name(table.to_batches(max_chunksize=size))
        for row in batch.to_pylist()
    }
    kept: list[int] = []
    expected = {}
    for one in range(15):
        before = [(-similarity[a, one], a) for a in kept if (a, one) in links]
        if before:
            expected[one] = f"id {min(before)[1]}", -min(before)[0]
        else:
            kept.append(one)
    assert found == expected


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
    packed = [*pairing.pair_with_centres(recipe_of().dump(), among, 3, batches)]
    assert pairs_in(pair_packing.unpack_pairs(packed)) == expected
    ordered = pa.Table.from_batches(packed, PACKED_PAIRS).sort_by("slice").to_batches()
    assert once(ordered) == Counter(set(expected))
