"""Drawings: the same data in the same place, similar things near each other."""

import math
import random

import pytest

pytest.importorskip("playwright")
from javascript import call_all


def distance(one, other):
    return math.hypot(one["x"] - other["x"], one["y"] - other["y"])


def test_a_graph_is_drawn_within_its_frame_and_always_the_same(page):
    chance = random.Random(1)
    cases = []
    for size in (1, 2, 3, 7, 30):
        edges = [[chance.randrange(size), chance.randrange(size), 0.9] for _ in range(2 * size)]
        cases.append({"n": size, "edges": [edge for edge in edges if edge[0] != edge[1]]})
    call = "[graphLayout(one.n, one.edges), graphLayout(one.n, one.edges)]"
    for case, (first, second) in zip(
        cases, call_all(page, ["layout.js"], call, cases), strict=True
    ):
        assert first == second
        assert len(first) == case["n"]
        assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in first)
        for place, node in enumerate(first):
            assert all(distance(node, other) > 0.01 for other in first[:place])


def test_groups_that_are_linked_stand_together(page):
    groups = [range(5), range(5, 10)]
    edges = [[a, b, 0.9] for group in groups for a in group for b in group if a < b] + [[0, 9, 0.5]]
    (nodes,) = call_all(page, ["layout.js"], "graphLayout(10, one)", [edges])
    inside = [
        distance(nodes[a], nodes[b]) for group in groups for a in group for b in group if a < b
    ]
    between = [distance(nodes[a], nodes[b]) for a in groups[0] for b in groups[1]]
    assert sum(inside) / len(inside) < 0.7 * sum(between) / len(between)


def test_neighbours_in_a_heat_map_are_similar(page):
    group = [0, 1, 0, 1, 2, 0, 2, 1]
    matrix = [
        [1.0 if a == b else 0.9 if one == other else 0.1 for b, other in enumerate(group)]
        for a, one in enumerate(group)
    ]
    orders = call_all(
        page, ["layout.js"], "neighbourOrder(one)", [matrix, [[1]], [[1, 0], [0, 1]], []]
    )
    assert sorted(orders[0]) == list(range(8))
    changes = sum(group[a] != group[b] for a, b in zip(orders[0], orders[0][1:], strict=False))
    assert changes == 2
    assert orders[1:] == [[0], [0, 1], []]


def test_ticks_are_round_and_reach_over_the_largest(page):
    most = [0, 1, 3, 7, 10, 229, 325, 1e6, 123456789]
    linear = call_all(page, ["layout.js"], "linearTicks(one)", most)
    for value, ticks in zip(most, linear, strict=True):
        assert ticks[0] == 0
        assert ticks[-1] >= value
        assert 2 <= len(ticks) <= 6
    assert linear[5] == [0, 100, 200, 300]
    assert call_all(page, ["layout.js"], "logTicks(one)", [1, 10, 11]) == [
        [1, 10],
        [1, 10],
        [1, 10, 100],
    ]


def test_what_nothing_links_leaves_space_for_the_others(page):
    linked = 60
    edges = [[one, (one + step) % linked, 0.9] for one in range(linked) for step in (1, 7)]
    (nodes,) = call_all(page, ["layout.js"], f"graphLayout({linked + 3}, one)", [edges])
    for axis in ("x", "y"):
        places = [node[axis] for node in nodes[:linked]]
        assert max(places) - min(places) > 0.4
