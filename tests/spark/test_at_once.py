"""Pairs and clusters of documents by one task, against plain Python."""

from itertools import combinations, product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.spark import at_once
from lookalike.spark.arrow import packed_rows
from lookalike.spark.links import pack_links

KINDS = {"numbers": pa.int64(), "digits": pa.string(), "texts": pa.string()}


def name(content: int) -> bytes:
    return (content * 977 % 1009).to_bytes(16, "big")


def id_of(content: int, copy: int, kind: str) -> Any:
    number = (content * 31 + copy * 7) % 101
    return {"numbers": number - 9, "digits": f"{number}", "texts": f"x{number}"}[kind]


def sort_key(kind: str) -> Any:
    return (lambda one: (len(one), one)) if kind == "digits" else None


@st.composite
def corpus(draw: Any) -> tuple[list[int], dict[tuple[int, int], float]]:
    """Draw how many documents each content has, and which contents are similar."""
    copies = draw(st.lists(st.integers(1, 3), min_size=1, max_size=9))
    every = [*combinations(range(len(copies)), 2)]
    chosen = draw(st.sets(st.sampled_from(every))) if every else set()
    return copies, {pair: 0.5 + (pair[0] * 3 + pair[1]) % 7 / 20 for pair in sorted(chosen)}


def rows_of(
    copies: list[int],
    links: dict[tuple[int, int], float],
    kind: str,
    group: dict[tuple[int, int], tuple[int, float]] | None = None,
) -> list[pa.RecordBatch]:
    """Give links and copies as they come to the task, in several values."""

    def first(content: int) -> Any:
        mine = [id_of(content, copy, kind) for copy in range(copies[content])]
        return min(mine, key=sort_key(kind))

    found = []
    pairs = sorted(links)
    for start in range(0, len(pairs), 3):
        some = pairs[start : start + 3]
        told = [(group or {}).get(pair, (None, None)) for pair in some]
        members, lowest = zip(*told, strict=True)
        batch = pa.RecordBatch.from_pydict(
            {
                "a": pa.array([name(a) for a, _ in some], pa.binary()),
                "b": pa.array([name(b) for _, b in some], pa.binary()),
                "a_id": pa.array([first(a) for a, _ in some], KINDS[kind]),
                "b_id": pa.array([first(b) for _, b in some], KINDS[kind]),
                "similarity": pa.array([links[pair] for pair in some]),
                "members": pa.array(members, pa.int64()),
                "lowest": pa.array(lowest, pa.float64()),
            }
        )
        found.append(pack_links(batch).select(["rows"]))
    listed = [
        (name(content), id_of(content, copy, kind))
        for content, count in enumerate(copies)
        for copy in range(count)
        if count > 1
    ]
    for start in range(0, len(listed), 2):
        few = listed[start : start + 2]
        columns = {
            "node": pa.array([one for one, _ in few], pa.binary()),
            "id": pa.array([one for _, one in few], KINDS[kind]),
        }
        value = packed_rows(pa.RecordBatch.from_pydict(columns), compression=None)
        found.append(pa.RecordBatch.from_pydict({"rows": pa.array([value], pa.binary())}))
    return found


def documents(copies: list[int], content: int, kind: str) -> list[Any]:
    return [id_of(content, copy, kind) for copy in range(copies[content])]


@given(corpus(), st.sampled_from(sorted(KINDS)), st.sampled_from([1, 4, 1 << 18]))
def test_every_pair_of_documents_is_listed_once(drawn, kind, most):
    copies, links = drawn
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(at_once, "OUT_PAIRS", most)
        batches = at_once.list_pairs(kind == "digits", "estimated", rows_of(copies, links, kind))
        found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    expected = [
        (*sorted(pair, key=sort_key(kind)), similarity, "estimated")
        for (a, b), similarity in links.items()
        for pair in product(documents(copies, a, kind), documents(copies, b, kind))
    ]
    expected += [
        (*sorted(pair, key=sort_key(kind)), 1.0, "exact")
        for content in range(len(copies))
        for pair in combinations(documents(copies, content, kind), 2)
    ]
    assert sorted(found) == sorted(expected)


@given(corpus(), st.sampled_from(sorted(KINDS)), st.sampled_from([2, 200]), st.booleans())
def test_clusters_are_numbered_and_tell_what_is_known(drawn, kind, most, told):
    copies, links = drawn
    components = [{one} for one in range(len(copies))]
    for pair in links:
        joined = set().union(*(one for one in components if one & set(pair)))
        components = [one for one in components if not one & joined] + [joined]
    of = {one: frozenset(component) for component in components for one in component}
    # Of every second component all members met in one chunk; of others fewer did.
    group = {pair: (len(of[pair[0]]) - min(of[pair[0]]) % 2, 0.55) for pair in links if told}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(at_once, "COMPARED_MEMBERS", most)
        batches = [*at_once.list_clusters(kind == "digits", rows_of(copies, links, kind, group))]
    found = [row for batch in batches for row in batch.to_pylist()]
    clusters = []
    for component in set(of.values()):
        ids = [one for content in component for one in documents(copies, content, kind)]
        if len(ids) > 1:
            clusters.append((component, sorted(ids, key=sort_key(kind))))
    key = sort_key(kind) or (lambda one: one)
    clusters.sort(key=lambda one: (-len(one[1]), key(one[1][0])))
    assert len(found) == sum(len(ids) for _, ids in clusters)
    for number, (component, ids) in enumerate(clusters, 1):
        rows = [row for row in found if row["cluster"] == number]
        assert sorted((row["id"] for row in rows), key=sort_key(kind)) == ids
        assert {row["size"] for row in rows} == {len(ids)}
        mine = [pair for pair in links if pair[0] in component]
        whole = told and len(component) > 1 and min(component) % 2 == 0
        compared = sorted(map(name, component))[:most]
        similarity = min((links[pair] for pair in mine), default=1.0)
        if whole:
            similarity = min(similarity, 0.55)
        assert {row["similarity"] for row in rows} == {similarity}
        loose = not whole and len(mine) < len(component) * (len(component) - 1) // 2
        nodes = [row["node"] for row in rows if row["compared"]]
        assert sorted(nodes) == (compared if loose else [])
        labels = {row["label"] for row in rows}
        assert labels == ({min(map(name, component))} if loose else {None})


def test_no_links_and_no_copies_are_no_clusters() -> None:
    assert [*at_once.list_pairs(False, "exact", [])] == []
    assert [*at_once.list_clusters(False, [])] == []
