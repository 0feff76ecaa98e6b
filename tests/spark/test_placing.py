"""Chunks in which candidates are scored: each pair in one, with its texts, and components whole."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.spark import placing
from lookalike.spark.naming import NEED, NEEDED
from lookalike.spark.pair_packing import CANDIDATES, Pairs, pack_pairs

SLICES = 3
Pair = tuple[int, int]
pairs = st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda p: p[0] < p[1]))


def name(number: int) -> bytes:
    return (number * 977 % 1009).to_bytes(16, "big")


NUMBERS = {name(number): number for number in range(31)}


def candidates_of(some: list[Pair], homes: dict[Pair, int], sizes: list[int]) -> list[pa.Table]:
    """Give pairs as the workers pack them, in several batches."""
    a, b = (
        np.frombuffer(b"".join(name(pair[end]) for pair in some), np.uint8).reshape(-1, 16)
        for end in (0, 1)
    )
    near = np.array([homes[pair] for pair in some], np.int64)
    lengths = (np.array([sizes[pair[end]] for pair in some], np.int64) for end in (0, 1))
    batch = Pairs(a, b, near, *lengths).batch()
    return [*pack_pairs(batch.slice(start, 5) for start in range(0, len(batch), 5))]


def places_of(some: list[Pair], homes: dict[Pair, int], sizes: list[int]):
    """Give the pairs and the texts of each chunk, and how much is needed in all."""
    asked, needed = defaultdict(list), defaultdict(list)
    texts = total = 0
    for batch in placing.place_at_once(SLICES, candidates_of(some, homes, sizes)):
        for row in batch.to_pylist():
            if row["kind"] == NEEDED:
                texts, total = texts + row["texts"], total + row["bytes"]
                for one in np.frombuffer(row["rows"], NEED):
                    head = np.frombuffer(bytes(one["node"])[:8], np.uint64)[0]
                    assert int(head) % SLICES == row["slice"]
                    needed[int(one["chunk"])].append(NUMBERS[bytes(one["node"])])
            else:
                ends = placing.pairs_of_chunk(pa.array([row["rows"]], pa.binary()))
                found = zip(*(map(bytes, end) for end in ends), strict=True)
                asked[row["chunk"]] += [(NUMBERS[a], NUMBERS[b]) for a, b in found]
    return asked, needed, texts, total


def components_of(some: set[Pair]) -> list[set[int]]:
    found: list[set[int]] = []
    for pair in some:
        touched = [one for one in found if one & set(pair)]
        found = [one for one in found if one not in touched]
        found.append(set(pair).union(*touched))
    return found


@given(pairs, st.data(), st.integers(1, 12), st.integers(1, 400), st.integers(1, 4))
def test_each_pair_is_in_one_chunk_with_its_texts(some, data, most_texts, most_bytes, chunks):
    sizes = data.draw(st.lists(st.integers(1, 100), min_size=31, max_size=31))
    homes = {pair: data.draw(st.integers(-2, 2)) for pair in sorted(some)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(placing, "CHUNK_TEXTS", most_texts)
        patched.setattr(placing, "CHUNK_BYTES", most_bytes)
        patched.setattr(placing, "CHUNKS", chunks)
        asked, needed, texts, total = places_of(sorted(some), homes, sizes)
    placed = [pair for one in asked.values() for pair in one]
    assert sorted(placed) == sorted(some)
    assert {
        chunk: sorted({end for pair in one for end in pair}) for chunk, one in asked.items()
    } == {chunk: sorted(one) for chunk, one in needed.items()}
    assert texts == sum(map(len, needed.values()))
    assert total == sum(sizes[one] for chunk in needed.values() for one in chunk)
    ends = {end for pair in some for end in pair}
    most = min(most_bytes, sum(sizes[one] for one in ends) // chunks + 1)
    chunk_of = {pair: chunk for chunk, one in asked.items() for pair in one}
    for component in components_of(some):
        room = sum(sizes[one] / most + 1 / most_texts for one in component)
        mine = {chunk_of[pair] for pair in some if set(pair) <= component}
        assert len(mine) == 1 or room > 1 - 1e-9


@pytest.mark.parametrize("homes", [1, 7])
def test_a_component_of_many_texts_is_cut_into_chunks_of_bounded_size(homes, monkeypatch) -> None:
    monkeypatch.setattr(placing, "CHUNK_TEXTS", 10)
    monkeypatch.setattr(placing, "CHUNKS", 1)
    some = [*combinations(range(31), 2)]
    asked, needed, _, _ = places_of(some, {pair: sum(pair) % homes for pair in some}, [1] * 31)
    assert sorted(pair for one in asked.values() for pair in one) == some
    assert len(asked) > 3
    # A chunk is filled up to twice, and what comes last to it has two sides of a grid.
    assert max(map(len, needed.values())) < 2 * 10 + 2


def test_no_candidates_are_placed_nowhere() -> None:
    assert [*placing.place_at_once(SLICES, [])] == []
    assert (
        CANDIDATES.count(",") == len(candidates_of([(1, 2)], {(1, 2): 0}, [1] * 31)[0].schema) - 1
    )
