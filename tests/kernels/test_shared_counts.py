"""How many elements every two sets share, against Python's sets."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels import shared_counts as kernels
from lookalike.text import shared_counts as counting
from made_documents import sets_of

pytestmark = pytest.mark.kernels

ELEMENTS = st.one_of(
    st.integers(0, 12),
    st.sampled_from([(1 << 64) - 1, 1 << 63, (1 << 61) - 1]),
    st.integers(0, 300),
)


def by_hand(sets: list[set[int]]) -> list[list[int]]:
    return [
        [len(one & other) if i < j else 0 for j, other in enumerate(sets)]
        for i, one in enumerate(sets)
    ]


@given(
    sets=st.lists(st.sets(ELEMENTS, max_size=40), max_size=9),
    stretch=st.sampled_from([1, 2, 5, 1 << 12]),
    some=st.sampled_from([1, 3, 1 << 14]),
)
def test_it_is_the_size_of_every_intersection(sets, stretch, some):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "STRETCH_ELEMENTS", stretch)
        patched.setattr(counting, "BOUNDS_SAMPLE", some)
        assert counting.shared_counts(sets_of(sets)).tolist() == by_hand(sets)


@given(
    sets=st.lists(st.sets(ELEMENTS, max_size=40), max_size=9),
    bounds=st.sets(ELEMENTS, max_size=6),
)
def test_the_largest_stretch_is_that_between_two_bounds(sets, bounds):
    edges = [-1, *sorted(bounds), 1 << 64]
    counts = [
        sum(low < element <= high for one in sets for element in one)
        for low, high in itertools.pairwise(edges)
    ]
    laid_out = sets_of(sets)
    given_bounds = np.array(sorted(bounds), np.uint64)
    found = kernels.largest_stretch(laid_out.elements, laid_out.offsets, given_bounds)
    assert found == max(counts)


def test_two_hundred_sets_that_share_all():
    sets = [set(range(50)) | {1000 + i} for i in range(200)]
    found = counting.shared_counts(sets_of(sets))
    assert (found[np.triu_indices(200, 1)] == 50).all()
    assert found.sum() == 50 * 199 * 100
