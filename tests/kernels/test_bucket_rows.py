"""Rows of buckets laid out by slice, against plain Python and `struct`."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels import bucket_rows as kernels

pytestmark = pytest.mark.kernels

GOLDEN = 0x9E3779B97F4A7C15
words = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]) | st.integers(0, 50)
Document = tuple[list[int], list[int], bytes, int, bytes]


@st.composite
def documents(draw) -> list[Document]:
    bands, width = draw(st.integers(1, 3)), 4 * draw(st.integers(0, 3))
    one = st.tuples(
        st.lists(st.integers(0, 20), min_size=bands, max_size=bands),
        st.lists(words, min_size=bands, max_size=bands),
        st.binary(min_size=16, max_size=16),
        st.integers(0, 1 << 40),
        st.binary(min_size=width, max_size=width),
    )
    return draw(st.lists(one, min_size=1, max_size=9))


def slice_of(key: int, band: int, slices: int) -> int:
    return ((key + band) * GOLDEN % (1 << 64) >> 32) % slices


def by_hand(some: list[Document], slices: int) -> list[list[bytes]]:
    found: list[list[bytes]] = [[] for _ in range(slices)]
    for bands, keys, node, size, check in some:
        for band, key in zip(bands, keys, strict=True):
            row = struct.pack("<iQ16sq", band, key, node, size) + check
            found[slice_of((key), band, slices)].append(row)
    return found


@given(documents(), st.integers(1, 5))
def test_rows_are_laid_out_by_slice_and_in_order(some, slices):
    bands = np.array([one[0] for one in some], np.int32)
    keys = np.array([one[1] for one in some], np.uint64)
    nodes, checks = (
        np.frombuffer(b"".join(one[i] for one in some), np.uint32).reshape(len(some), -1)
        for i in (2, 4)
    )
    sizes = np.array([one[3] for one in some], np.int64)
    expected = by_hand(some, slices)
    counts = np.zeros(slices, np.int64)
    kernels.count_by_slice(bands, keys, counts)
    assert counts.tolist() == [len(rows) for rows in expected]
    out = np.empty((keys.size, 9 + checks.shape[1]), np.uint32)
    starts = np.cumsum(counts) - counts
    kernels.lay_out(bands, keys, nodes, sizes, checks, starts, out)
    assert [row.tobytes() for row in out] == [row for rows in expected for row in rows]
    assert starts.tolist() == np.cumsum(counts).tolist()
