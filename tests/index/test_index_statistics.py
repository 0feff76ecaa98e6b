"""What is stored of documents keeps its promises on average, by twins that share no code."""

import itertools
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from index_model import jaccard
from lookalike.index.index import Index
from lookalike.recipe import StoredSketches
from lookalike.sketches.minhash import (
    maybe_similar,
    row_bytes,
    sign_sets,
    similarity_by_bytes,
    two_bits,
)
from made_documents import sets_of

words = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9)


@given(rows=words)
def test_the_byte_of_a_row_is_that_of_its_twin(rows):
    expected = [(row * 0x9E3779B1 % 2**32) >> 24 for row in rows]
    assert row_bytes(np.array([rows], np.uint32)).tolist() == [expected]


def test_rows_that_differ_share_a_byte_in_one_case_of_256():
    numbers = np.random.default_rng(3)
    # Minima of large sets are small numbers, in which the high bits do not differ.
    for highest in (2**32, 2**24, 2**12):
        first, second = numbers.integers(0, highest, (2, 1 << 20), dtype=np.uint32)
        differing = first != second
        same = (row_bytes(first) == row_bytes(second))[differing]
        error = (1 / 256 * 255 / 256 / len(same)) ** 0.5
        assert abs(same.mean() - 1 / 256) < 5 * error


def test_the_estimate_is_that_of_its_twin():
    numbers = np.random.default_rng(4)
    first, second = numbers.integers(0, 3, (2, 200, 64), dtype=np.uint8)
    for a, b, found in zip(first, second, similarity_by_bytes(first, second), strict=True):
        equal = sum(x == y for x, y in zip(a.tolist(), b.tolist(), strict=True)) / 64
        assert found == pytest.approx(max(0.0, (256 * equal - 1) / 255), abs=1e-12)
    assert similarity_by_bytes(first, first).tolist() == [1.0] * 200


PAIRS = [({1}, {1}), ({1}, {2}), ({1}, {1, 2}), ({1, 2}, {2, 3}), ({1, 2, 3}, {1, 2, 4})]


@pytest.mark.parametrize("shared", range(len(PAIRS) + 3))
def test_estimates_are_right_on_average_from_one_element_on(shared):
    """Over many seeds the mean is the Jaccard similarity, within what chance leaves."""
    if shared < len(PAIRS):
        a, b = PAIRS[shared]
    else:
        size = (20, 100, 400)[shared - len(PAIRS)]
        a, b = set(range(size)), set(range(size // 3, size + size // 3))
    true, rows, seeds = float(jaccard(a, b)), 128, 300
    hashed = [{twins.mix(one) for one in each} for each in (a, b)]
    found = []
    for seed in range(seeds):
        short = row_bytes(sign_sets(sets_of(hashed), rows=rows, seed=seed))
        equal = np.mean(short[0] == short[1])
        found.append((equal - 1 / 256) / (1 - 1 / 256))
    share = true + (1 - true) / 256
    error = (share * (1 - share) / (rows * seeds)) ** 0.5 / (1 - 1 / 256)
    assert abs(np.mean(found) - true) <= 5 * error + 1e-12


def recipe_of(tmp_path: Any, **options: Any) -> StoredSketches:
    path = tmp_path / "a.lookalike"
    path.unlink(missing_ok=True)
    defaults: dict[str, Any] = {"shingle": "chars:3", "threshold": 0.5, "bands": 20, "rows": 3}
    with Index.create(path, **defaults | options) as index:
        return StoredSketches(index.recipe)


TEXTS = ["", "a", "abc", "the same", "the same", "another text", "a third one, rather longer"]


def mixed(word: int) -> int:
    """Mix a word, as SplitMix64 ends."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def test_the_keys_are_those_of_their_twin_and_have_48_bits_and_a_sign(tmp_path):
    sketches = recipe_of(tmp_path)
    recipe = sketches.recipe
    stored = sketches.of(recipe.canonical(pa.array(TEXTS, pa.large_string())))
    for text, keys, empty in zip(TEXTS, stored.keys.tolist(), stored.empty.tolist(), strict=True):
        elements = twins.elements(twins.char_hashes(twins.canonical(text), 3), multiset=False)
        assert empty == (not elements)
        if empty:
            continue
        signature = twins.signature(elements, recipe.metric.seed, 60)
        step = 0x9E3779B97F4A7C15
        expected = [
            (mixed((key + band * step) % 2**64) >> 16) - 2**47
            for band, key in enumerate(twins.band_keys(signature, 20, 3), 1)
        ]
        assert keys == expected
        assert all(-(2**47) <= key < 2**47 for key in keys)
    assert any(key < 0 for key in stored.keys.ravel().tolist())
    assert any(key >= 0 for key in stored.keys.ravel().tolist())


def test_keys_of_different_bands_are_never_mixed_up(tmp_path):
    """A document of one character has the same row in many bands, and a key for each of them."""
    sketches = recipe_of(tmp_path, bands=100, rows=1)
    letters = [chr(97 + place) for place in range(26)]
    stored = sketches.of(sketches.recipe.canonical(pa.array(letters, pa.large_string())))
    by_key: dict[int, set[int]] = {}
    for keys in stored.keys.tolist():
        for band, key in enumerate(keys):
            by_key.setdefault(key, set()).add(band)
    assert {len(bands) for bands in by_key.values()} == {1}
    assert len(by_key) > 2000


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
def test_what_is_stored_without_texts_gives_its_keys_back(tmp_path, metric):
    sketches = recipe_of(tmp_path, no_text=True, metric=metric)
    stored = sketches.of(sketches.recipe.canonical(pa.array(TEXTS, pa.large_string())))
    again = sketches.again(stored.sketches, stored.empty)
    assert again.keys.tolist() == stored.keys.tolist()
    assert again.sketches.tolist() == stored.sketches.tolist()
    assert again.empty.tolist() == stored.empty.tolist()


def pair_of(size: int, extra: int, choice: random.Random) -> tuple[str, str]:
    """Make two texts of distinct words, of which one has some more."""
    chosen = choice.sample(range(10**6), size + extra)
    return " ".join(map(str, chosen[:size])), " ".join(map(str, chosen))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 20, 100])
def test_the_recall_at_the_threshold_is_as_stated_from_one_word_on(tmp_path, size):
    """Many pairs just at the threshold, over several seeds of the hash functions."""
    extra = max(1, size // 4)
    threshold, asked = size / (size + extra), 0.9
    found = total = 0
    choice = random.Random(size)
    for seed in range(5):
        path = tmp_path / f"{seed}.lookalike"
        options: dict[str, Any] = {
            "threshold": threshold,
            "recall": asked,
            "shingle": "words:1",
            "seed": seed,
        }
        with Index.create(path, **options) as index:
            pairs = [pair_of(size, extra, choice) for _ in range(200)]
            index.add_all([first for first, _ in pairs])
            rows = index.query_all([second for _, second in pairs]).to_pylist()
            stated = index.plan.probability(threshold)
        found += sum(row["id"] == row["match"] for row in rows)
        total += len(pairs)
        assert all(row["similarity"] == threshold for row in rows if row["id"] == row["match"])
    assert stated >= asked
    # Four standard deviations of chance below what was asked for.
    assert found / total >= asked - 4 * (asked * (1 - asked) / total) ** 0.5


def test_no_two_of_many_documents_share_a_key_by_chance(tmp_path):
    sketches = recipe_of(tmp_path, shingle="words:1", bands=20, rows=6)
    choice = random.Random(6)
    texts = [" ".join(str(choice.random()) for _ in range(8)) for _ in range(3000)]
    stored = sketches.of(sketches.recipe.canonical(pa.array(texts, pa.large_string())))
    assert len(np.unique(stored.keys)) == stored.keys.size
    assert len({*itertools.chain.from_iterable(stored.keys.tolist())}) == 60_000


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_the_brief_of_a_sketch_dismisses_none_that_the_whole_one_puts_at_the_threshold(
    tmp_path, metric, threshold
):
    """Sketches from equal to unrelated, many of them just at the threshold."""
    sketches = recipe_of(tmp_path, no_text=True, metric=metric)
    width = sketches.of(sketches.recipe.canonical(pa.array(["a"]))).sketches.shape[1]
    numbers = np.random.default_rng(5)
    asked = numbers.integers(0, 256, (1, width), dtype=np.uint8)
    stored = np.repeat(asked, 4000, axis=0)
    changed = numbers.random(stored.shape) < numbers.random((len(stored), 1)) ** 0.5
    stored[changed] = numbers.integers(0, 256, stored.shape, dtype=np.uint8)[changed]
    stored[0] = asked
    first, second = np.zeros(len(stored), np.int64), np.arange(len(stored))
    similar, _ = sketches.judged(asked, stored, first, second, threshold)
    brief = sketches.brief(asked), sketches.brief(stored)
    left = sketches.maybe_similar(*brief, threshold)
    assert len(similar) > (0 if threshold == 1 else 20)
    assert set(similar.tolist()) <= set(left.tolist())
    assert len(left) < len(stored) / 2
    assert brief[1].shape[1] < width


def test_the_rows_that_differ_are_those_of_their_twin():
    numbers = np.random.default_rng(6)
    for rows in (1, 15, 16, 100, 128):
        stored = numbers.choice(np.array([0, 63, 64, 128, 200, 255], np.uint8), (50, rows))
        asked = stored[:1].copy()
        asked[0, numbers.random(rows) < 0.3] ^= 0b01000000
        mine, theirs = (np.ascontiguousarray(two_bits(one)).view("<u4") for one in (asked, stored))
        equal = [
            sum(a >> 6 == b >> 6 for a, b in zip(asked[0].tolist(), one, strict=True))
            for one in stored.tolist()
        ]
        for least in range(rows + 1):
            similarity = (least / rows - 1 / 256) / (1 - 1 / 256)
            expected = [place for place, one in enumerate(equal) if one >= least]
            assert maybe_similar(mine, theirs, rows, similarity).tolist() == expected
