"""Scores of a chunk, and what is told of the documents that they link."""

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.recipe import Recipe, Sample, choose
from lookalike.settings import Settings
from lookalike.spark import verifying
from lookalike.spark.links import unpack_links
from lookalike.spark.placing import asked_in_chunks
from lookalike.spark.text_packing import pack_texts

THRESHOLD = 0.5
texts = st.lists(st.text("abc", min_size=2, max_size=6), min_size=2, max_size=9, unique=True)


def recipe() -> Recipe:
    some = pa.array(["a rose is a rose", "another one"])
    settings = Settings(shingle="chars:2", threshold=THRESHOLD)
    return choose(settings, Sample.of_array(some, settings)).recipe


def shingles(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}


def likeness(a: str, b: str) -> float:
    return len(shingles(a) & shingles(b)) / len(shingles(a) | shingles(b))


def name(chunk: int, place: int) -> bytes:
    return ((place * 7 + 3) % 11).to_bytes(8, "big") + chunk.to_bytes(8, "big")


def scored(chunks: list[tuple[list[str], set[tuple[int, int]]]], rows: int, *, whole: bool) -> Any:
    """Score chunks of texts and pairs of their places."""
    parts = []
    for chunk, (documents, pairs) in enumerate(chunks):
        ordered = sorted(pairs)
        batch = pa.RecordBatch.from_pydict(
            {
                "chunk": pa.array([chunk] * len(documents), pa.int64()),
                "node": pa.array([name(chunk, i) for i in range(len(documents))], pa.binary()),
                "id": pa.array([100 * chunk + i for i in range(len(documents))], pa.int64()),
                "data": pa.array([one.encode() for one in documents], pa.binary()),
            }
        )
        for one in pack_texts([batch.slice(0, 3), batch.slice(3)]):
            kinds = pa.array(np.full(len(one), verifying.TEXTS, np.int32))
            parts.append(pa.table({"chunk": one["chunk"], "kind": kinds, "rows": one["texts"]}))
        for start in range(0, len(ordered), 4):
            some = ordered[start : start + 4]
            ends = (
                np.frombuffer(b"".join(name(chunk, pair[end]) for pair in some), np.uint8)
                for end in (0, 1)
            )
            one = asked_in_chunks(np.full(len(some), chunk), *(e.reshape(-1, 16) for e in ends))
            kinds = pa.array(np.full(len(one), verifying.PAIRS, np.int32))
            parts.append(pa.table({"chunk": one["chunk"], "kind": kinds, "rows": one["rows"]}))
    batches = pa.concat_tables(parts).combine_chunks().to_batches(max_chunksize=rows)
    return [
        row
        for batch in unpack_links(verifying.score_pairs(recipe().dump(), whole, batches))
        for row in batch.to_pylist()
    ]


@st.composite
def chunk(draw: Any) -> tuple[list[str], set[tuple[int, int]]]:
    documents = draw(texts)
    every = [*combinations(range(len(documents)), 2)]
    return documents, set(draw(st.lists(st.sampled_from(every), min_size=1)))


@given(st.lists(chunk(), min_size=1, max_size=3), st.integers(1, 4), st.sampled_from([2, 3, 200]))
def test_links_tell_how_many_they_link_and_how_alike_these_are(chunks, rows, most) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verifying, "COMPARED_MEMBERS", most)
        found = scored(chunks, rows, whole=True)
    expected = []
    for number, (documents, pairs) in enumerate(chunks):
        links = {
            pair: likeness(*(documents[i] for i in pair))
            for pair in pairs
            if likeness(*(documents[i] for i in pair)) >= THRESHOLD
        }
        groups: dict[int, set[int]] = defaultdict(set)
        for place in range(len(documents)):
            groups[place] = {place}
        for a, b in links:
            joined = groups[a] | groups[b]
            for one in joined:
                groups[one] = joined
        for (a, b), similarity in links.items():
            group = sorted(groups[a], key=lambda one: name(number, one))
            every = [*combinations(group, 2)]
            linked = {tuple(sorted(pair)) for pair in every} & set(links)
            lowest = min(links[pair] for pair in linked)
            if len(linked) < len(every):
                some = combinations(group[:most], 2)
                lowest = min(lowest, *(likeness(documents[i], documents[j]) for i, j in some))
            ids = 100 * number + a, 100 * number + b
            expected.append((*ids, similarity, len(group), lowest))
    columns = ("a_id", "b_id", "similarity", "members", "lowest")
    assert sorted(tuple(row[one] for one in columns) for row in found) == sorted(expected)


@given(st.lists(chunk(), min_size=1, max_size=2), st.sampled_from([0, 2]))
def test_of_many_links_it_is_not_told_what_they_link(chunks, held) -> None:
    every = scored(chunks, 2, whole=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verifying, "HELD_LINKS", held)
        found = scored(chunks, 2, whole=True)
    columns = ("a_id", "b_id", "similarity")
    assert sorted(tuple(row[one] for one in columns) for row in found) == sorted(
        tuple(row[one] for one in columns) for row in every
    )
    links: dict[int, int] = defaultdict(int)
    for row in found:
        links[row["a_id"] // 100] += 1
    for row in found:
        few = links[row["a_id"] // 100] <= held
        assert (row["members"] is not None) == few
    assert all(row["members"] is None for row in scored(chunks, 2, whole=False))
