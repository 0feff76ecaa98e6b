"""Cells of texts kept so that every other is similar to a kept one of another group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.cluster.components import grouped_stars

pytestmark = pytest.mark.kernels


@st.composite
def cells(draw):
    """Cells in an order, each of a text and a label, fixed ones, and scored pairs of texts."""
    texts = draw(st.integers(1, 5))
    every = [(text, label) for text in range(texts) for label in range(3)]
    chosen = draw(st.lists(st.sampled_from(every), unique=True, max_size=12))
    pairs = [(i, j) for i in range(texts) for j in range(texts) if i != j]
    some = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10)) if pairs else []
    scores = [draw(st.sampled_from([0.5, 0.75, 1.0])) for _ in some]
    fixed = draw(st.integers(0, len(chosen)))
    return chosen, fixed, dict(zip(some, scores, strict=True))


def brute_force(chosen, fixed, links, *, directed):
    kept: list[int] = []
    named = {}

    def scores(cell):
        text, label = chosen[cell]
        for other in kept:
            other_text, other_label = chosen[other]
            if other_label == label:
                continue
            found = [1.0] if text == other_text else []
            found += [links[pair] for pair in [(text, other_text)] if pair in links]
            if not directed:
                found += [links[pair] for pair in [(other_text, text)] if pair in links]
            if found:
                yield max(found), -other

    for cell in range(len(chosen)):
        best = max(scores(cell), default=None)
        if best is None or cell < fixed:
            kept.append(cell)
        else:
            named[cell] = (-best[1], best[0])
    return kept, named


@pytest.mark.parametrize("directed", [False, True])
@given(made=cells())
def test_cells_are_kept_as_by_brute_force(directed, made):
    chosen, fixed, links = made
    columns = np.array(chosen, np.int64).reshape(-1, 2)
    ends = np.array(list(links), np.int64).reshape(-1, 2)
    # Texts without a cell may be linked.
    count = max([*columns[:, 0].tolist(), -1]) + 1
    mine = (ends < count).all(axis=1)
    ends, scores = ends[mine], np.array(list(links.values()), np.float64)[mine]
    found = grouped_stars(
        np.arange(len(chosen)),
        fixed,
        columns[:, 0].copy(),
        columns[:, 1].copy(),
        ends[:, 0].copy(),
        ends[:, 1].copy(),
        scores,
        directed=directed,
    )
    known = {tuple(pair): score for pair, score in zip(ends.tolist(), scores.tolist(), strict=True)}
    kept, named = brute_force(chosen, fixed, known, directed=directed)
    assert np.flatnonzero(found.kept).tolist() == kept
    for cell, (other, score) in named.items():
        assert (found.nearest[cell], found.similarity[cell]) == (other, score)
