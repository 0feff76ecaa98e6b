"""Components and what stays, each by itself, on Spark."""

import random
from itertools import pairwise

import pytest

from lookalike.spark import components, thinning
from lookalike.spark.frames import Frames


def name(number: int) -> bytearray:
    return bytearray(number.to_bytes(16, "big"))


def number(given: bytes) -> int:
    return int.from_bytes(given)


@pytest.fixture(scope="module")
def links() -> list[tuple[int, int]]:
    """Give a chain, a clique, a star and random links, in names of no order."""
    drawn = random.Random(5)
    names = drawn.sample(range(10_000), 400)
    chain, rest = names[:24], names[60:]
    found = set(pairwise(chain))
    found |= {(a, b) for a in rest[:9] for b in rest[:9] if a < b}
    found |= {(rest[10], other) for other in rest[11:40]}
    found |= {
        (a, b) for a, b in zip(rest[50:], drawn.sample(rest[50:], 290), strict=True) if a != b
    }
    return sorted({(min(pair), max(pair)) for pair in found})


@pytest.mark.parametrize("max_rounds", [None, 2])
def test_stars_join_what_is_linked(spark, links, monkeypatch, max_rounds):
    monkeypatch.setattr(components, "ONE_TASK_LINKS", 0)
    frame = spark.createDataFrame([(name(a), name(b)) for a, b in links], "a binary, b binary")
    found = components.components(frame, Frames(spark), max_rounds).toArrow().to_pylist()
    expected = {one: one for pair in links for one in pair}
    changed = True
    while changed:
        changed = False
        for pair in links:
            least = min(expected[one] for one in pair)
            changed |= any(expected[one] != least for one in pair)
            expected.update(dict.fromkeys(pair, least))
    assert len(found) == len(expected)
    assert {number(row["node"]): number(row["component"]) for row in found} == expected


@pytest.mark.parametrize("max_rounds", [None, 2])
def test_rounds_keep_what_keeping_in_order_does(spark, links, monkeypatch, max_rounds):
    monkeypatch.setattr(thinning, "ONE_TASK_LINKS", 0)
    rows = [(name(a), name(b), a, b, 0.5 + (a * b % 7) / 20) for a, b in links]
    schema = "first binary, second binary, first_place int, second_place int, similarity double"
    edges = spark.createDataFrame(rows, schema)
    gone = thinning.removed(edges, Frames(spark), max_rounds).persist()
    kept: set[int] = set()
    nearest = {}
    for one in sorted({one for pair in links for one in pair}):
        before = [(-0.5 - (a * b % 7) / 20, a) for a, b in links if b == one and a in kept]
        if before:
            nearest[one] = min(before)
        else:
            kept.add(one)
    assert sorted(number(row["node"]) for row in gone.toArrow().to_pylist()) == sorted(nearest)
    found = thinning.nearest_kept(edges, gone).toArrow().to_pylist()
    assert {
        number(row["node"]): (-row["similarity"], number(row["kept"])) for row in found
    } == nearest
    gone.unpersist()
