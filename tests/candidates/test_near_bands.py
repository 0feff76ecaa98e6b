"""Pairs near by their first bits, a band at a time: each once, and none that brute force lacks."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.candidates import near_bands
from lookalike.candidates.near_bands import NearPairs

pytestmark = pytest.mark.kernels

PLENTY = 1 << 30


@st.composite
def banded(draw):
    """Draw bands of keys of so many bits, sketches that are near each other, and bare documents."""
    documents = draw(st.integers(0, 14))
    bits = draw(st.sampled_from([1, 2, 10, 11, 12, 22, 23, 63, 64, 65, 200]))
    few = draw(st.lists(st.integers(0, (1 << min(bits, 64)) - 1), min_size=1, max_size=3))
    row = st.lists(st.sampled_from(few), min_size=documents, max_size=documents)
    bands = draw(st.lists(row, min_size=1, max_size=4))
    width = draw(st.sampled_from([2, 8]))
    base = [draw(st.integers(0, 2**32 - 1)) for _ in range(width)]
    sketches = []
    for _ in range(documents):
        changed = list(base)
        for place in draw(st.lists(st.integers(0, 32 * width - 1), max_size=6)):
            changed[place // 32] ^= 1 << place % 32
        sketches.append(changed)
    empty = draw(st.lists(st.booleans(), min_size=documents, max_size=documents))
    return bands, bits, sketches, empty


def apart(one, other):
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def by_brute_force(bands, sketches, empty, differing):
    """Give the near pairs, and how often two documents that are not near meet in a band."""
    there = [place for place, is_empty in enumerate(empty) if not is_empty]
    met = Counter(
        (i, j) for keys in bands for i, j in itertools.combinations(there, 2) if keys[i] == keys[j]
    )
    near = sorted(pair for pair in met if apart(*(sketches[i] for i in pair)) <= differing)
    return near, met.total() - sum(met[pair] for pair in near)


def by_bands(
    differing, bands, bits, sketches, empty, *, max_pairs=PLENTY, max_bucket_pairs=PLENTY, **options
):
    keys = np.array(bands, np.uint64).reshape(len(bands), len(empty))
    return near_bands.near_bands(
        lambda number: keys[number],
        len(bands),
        bits,
        np.array(sketches, np.uint32).reshape(len(empty), -1 if empty else 8),
        empty=np.array(empty, np.bool_),
        max_differing=differing,
        max_pairs=max_pairs,
        max_bucket_pairs=max_bucket_pairs,
        **options,
    )


def run(*drawn, max_pairs=PLENTY, **options):
    found = NearPairs(max_pairs)
    for band in by_bands(*drawn, max_pairs=max_pairs, **options):
        if not found.add(band):
            return None
    return found if len(found) <= max_pairs else None


def pairs_of(found):
    first, second = found.part(0, len(found))
    return list(zip(first.tolist(), second.tolist(), strict=True))


@given(drawn=banded(), differing=st.integers(0, 12), threads=st.integers(1, 3))
def test_pairs_that_share_a_key_and_are_near_are_given_once_and_in_order(drawn, differing, threads):
    bands, _, sketches, empty = drawn
    near, dismissed = by_brute_force(bands, sketches, empty, differing)
    found = run(differing, *drawn, threads=threads)
    assert pairs_of(found) == near
    assert found.dismissed == dismissed


@given(drawn=banded(), differing=st.integers(0, 12), room=st.integers(1, 3))
def test_little_room_changes_nothing(drawn, differing, room):
    bands, _, sketches, empty = drawn
    near, dismissed = by_brute_force(bands, sketches, empty, differing)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(near_bands, "BLOCK_PAIRS", room)
        found = run(differing, *drawn)
    assert pairs_of(found) == near
    assert found.dismissed == dismissed


@given(drawn=banded(), differing=st.integers(0, 12), room=st.sampled_from([1, 2, 1 << 16]))
def test_there_is_no_answer_from_one_pair_too_many(drawn, differing, room):
    bands, _, sketches, empty = drawn
    near, _ = by_brute_force(bands, sketches, empty, differing)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(near_bands, "BLOCK_PAIRS", room)
        assert pairs_of(run(differing, *drawn, max_pairs=len(near))) == near
        if near:
            assert run(differing, *drawn, max_pairs=len(near) - 1) is None


@given(drawn=banded(), differing=st.integers(0, 12))
def test_there_is_no_answer_where_a_band_brings_too_many_together(drawn, differing):
    bands, _, sketches, empty = drawn
    near, _ = by_brute_force(bands, sketches, empty, differing)
    filled = [
        Counter(k for k, is_empty in zip(keys, empty, strict=True) if not is_empty)
        for keys in bands
    ]
    fullest = max(sum(size * (size - 1) // 2 for size in one.values()) for one in filled)
    assert pairs_of(run(differing, *drawn, max_bucket_pairs=fullest)) == near
    if fullest:
        assert run(differing, *drawn, max_bucket_pairs=fullest - 1) is None


def test_more_documents_than_a_room_holds_pairs():
    choice = random.Random(5)
    documents, differing = 700, 40
    bands = [[choice.randrange(4) for _ in range(documents)] for _ in range(3)]
    sketches = [[choice.choice([0, 255, 2**31]) for _ in range(8)] for _ in range(documents)]
    empty = [choice.random() < 0.1 for _ in range(documents)]
    near, dismissed = by_brute_force(bands, sketches, empty, differing)
    assert len(near) > 20_000
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(near_bands, "BLOCK_PAIRS", 1000)
        found = run(differing, bands, 2, sketches, empty, threads=2)
    assert pairs_of(found) == near
    assert found.dismissed == dismissed


@given(drawn=banded(), differing=st.integers(0, 12))
def test_bands_come_one_by_one_each_with_its_own_pairs(drawn, differing):
    bands, _, sketches, empty = drawn
    blocks = by_bands(differing, *drawn)
    for keys in bands:
        near, dismissed = by_brute_force([keys], sketches, empty, differing)
        band = next(blocks)
        pairs = sorted(divmod(pair, 1 << 32) for pair in band.pairs.tolist())
        assert (pairs, band.dismissed, band.complete) == (near, dismissed, True)
    assert next(blocks, None) is None


def test_a_band_of_too_many_is_not_complete():
    drawn = [[0, 0, 0]], 1, [[0] * 8] * 3, [False] * 3
    for most, complete in ((3, True), (2, False)):
        (band,) = by_bands(0, *drawn, max_pairs=most)
        assert band.complete is complete
    (band,) = by_bands(0, *drawn, max_bucket_pairs=2)
    assert not band.complete


def test_no_band_is_searched_before_it_is_asked_for():
    asked = []

    def band(number):
        asked.append(number)
        return np.zeros(2, np.uint64)

    blocks = near_bands.near_bands(
        band,
        5,
        1,
        np.zeros((2, 8), np.uint32),
        empty=np.zeros(2, np.bool_),
        max_differing=0,
        max_pairs=PLENTY,
        max_bucket_pairs=PLENTY,
    )
    assert asked == []
    next(blocks)
    assert asked == [0]


@pytest.mark.parametrize("bits", [3, 11, 24, 64, 130])
def test_documents_stand_in_the_order_of_the_bits_that_tell(bits):
    choice = random.Random(bits)
    # Keys that differ in their highest bits alone, and others.
    high = min(bits, 64) - 3
    keys = [choice.getrandbits(3) << high for _ in range(200)]
    keys += [choice.getrandbits(min(bits, 64)) for _ in range(200)]
    sketches = [[0] * 8] * 400
    found = run(0, [keys], bits, sketches, [False] * 400)
    assert pairs_of(found) == by_brute_force([keys], sketches, [False] * 400, 0)[0]
    assert len(found) >= 200
