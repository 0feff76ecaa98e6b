"""Whether bits of sketches are equal as often as the angle says: 1 - angle/pi.

Every seed is fixed, so that these tests pass always or never. What is averaged for one seed is
one number, seeds are independent, and a mean may lie Z of its standard errors, as measured over
the seeds, from the truth. A sound sketch passes one such check but 2 times in 10^9, and all of
this file but once in 10^6. That each check would see a sketch that is not sound is checked too.
"""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from lookalike.kernels import weighted_shingles
from lookalike.planning.plan import plan
from lookalike.sketches import hyperplanes
from lookalike.sketches.hyperplanes import (
    WORD_BITS,
    bit_keys,
    differing,
    sketch_texts,
    sketch_vectors,
    sketch_weighted_sets,
)
from lookalike.text.normalise import normalise
from lookalike.text.shingles import Shingling
from lookalike.text.weighted_shingles import WeightedSets, Weighting, weighted_sets_of
from made_documents import documents_of

pytestmark = pytest.mark.long

Z = 6
PAIRS = 16
"""Pairs that stand side by side for each seed; with their halves they fill the lanes."""
VARIANCE = 1.15
"""Of the binomial's; the hyperplanes of a block are orthogonal, which rather lowers it."""
FOLDING = 1e-4
"""What the folding of many shingles into 4096 places may add to the chance of an equal bit."""
BANDS = 0.02
"""How far the chance of an equal band may be from p^r, as a share of it."""

ANGLES = (0.02, 0.1, 0.3, math.acos(0.8), 1.0, math.pi / 2, 2.0, 2.8, 3.1)


def rotated(seed, dimension, angle):
    """Random vectors of length 1, and each turned by an angle."""
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((2, PAIRS, dimension))
    x /= np.linalg.norm(x, axis=1)[:, None]
    y -= (x * y).sum(axis=1)[:, None] * x
    y /= np.linalg.norm(y, axis=1)[:, None]
    return x, math.cos(angle) * x + math.sin(angle) * y


def places(dimension, count):
    """For each pair, some places of a vector at random."""
    generator = np.random.default_rng(dimension)
    return [generator.choice(dimension, count, replace=False) for _ in range(PAIRS)]


def ones_at(dimension, first, second):
    """Vectors of ones at the given places of the first, and of the second."""
    vectors = np.zeros((2, PAIRS, dimension))
    for pair in range(PAIRS):
        vectors[0, pair, first[pair]] = 1
        vectors[1, pair, second[pair]] = 1
    return vectors


def one_against_two(dimension):
    at = places(dimension, 2)
    return ones_at(dimension, [a[:1] for a in at], at)


def two_against_three(dimension):
    at = places(dimension, 3)
    return ones_at(dimension, [a[:2] for a in at], at)


def four_of_five(dimension):
    at = places(dimension, 6)
    return ones_at(dimension, [a[:5] for a in at], [a[1:] for a in at])


def one_in_a_hundred(dimension):
    at = places(dimension, 101)
    return ones_at(dimension, [a[:100] for a in at], [a[1:] for a in at])


def a_run_of_ones(dimension):
    start = [range(i, i + 64) for i in range(PAIRS)]
    return ones_at(dimension, start, [run[:-8] for run in start])


def one_heavy(dimension):
    x, y = rotated(7, dimension, 1.0)
    x[:, 5] += 3
    y[:, 5] += 3
    return x, y


HARD = [
    one_against_two,
    two_against_three,
    four_of_five,
    one_in_a_hundred,
    a_run_of_ones,
    one_heavy,
]


def chance(x, y):
    """How likely a bit of each pair is equal, from the vectors as they are sketched."""
    x, y = (np.asarray(one, np.float32).astype(np.float64) for one in (x, y))
    cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    return 1 - np.arccos(np.clip(cosine, -1, 1)) / np.pi


def sketches_of(x, y, seed, words):
    both = np.concatenate([x, y]).astype(np.float32)
    return sketch_vectors(both, words=words, seed=seed)


def shares(sketches):
    """The share of equal bits of sketch i and sketch i + half, for each i."""
    half = len(sketches) // 2
    own = np.arange(half)
    return 1 - differing(sketches, own, own + half) / (sketches.shape[1] * WORD_BITS)


def shares_over_seeds(x, y, seeds, words=64, make=sketches_of):
    """A row a seed, a column a pair."""
    return np.array([shares(make(x, y, seed, words)) for seed in seeds])


def deviation(by_seed, truth):
    """How far the mean over the seeds is from the truth, and its standard error."""
    by_seed = np.asarray(by_seed)
    return by_seed.mean() - truth, by_seed.std(ddof=1) / math.sqrt(len(by_seed))


def variance(equal, p, bits, folding=0.0):
    """The variance of the shares of equal bits, by that of as many independent ones."""
    return ((equal - p) ** 2).mean() / (p * (1 - p) / bits + folding).mean()


def check(equal, p, bits, allowed=0.0, folding=0.0):
    """Check the mean of the shares of equal bits, and their variance."""
    away, error = deviation(equal.mean(axis=1), p.mean())
    # So that a bias of three in a thousand is seen.
    assert error < 0.0005
    assert abs(away) < Z * error + allowed
    assert variance(equal, p, bits, folding) < VARIANCE


class TestOnVectors:
    @pytest.mark.parametrize("dimension", [3, 384, 2048])
    @pytest.mark.parametrize("angle", ANGLES)
    def test_bits_are_equal_as_often_as_the_angle_says(self, angle, dimension):
        x, y = rotated(dimension, dimension, angle)
        p = chance(x, y)
        assert p == pytest.approx(1 - angle / math.pi, abs=1e-5)
        check(shares_over_seeds(x, y, range(200)), p, 2048)

    @pytest.mark.parametrize("hard", HARD)
    def test_vectors_of_few_or_unequal_numbers_are_no_exception(self, hard):
        x, y = hard(2048)
        check(shares_over_seeds(x, y, range(400)), chance(x, y), 2048)

    @pytest.mark.parametrize("words", [1, 8])
    def test_the_first_bits_alone_are_as_good(self, words):
        x, y = four_of_five(300)
        equal = shares_over_seeds(x, y, range(3000), words)
        check(equal, chance(x, y), words * WORD_BITS)

    def test_larger_transforms_and_further_blocks_are_as_good(self):
        x, y = rotated(1, 3000, 0.9)
        check(shares_over_seeds(x, y, range(100), 128), chance(x, y), 4096)
        x, y = rotated(2, 100, 0.9)
        equal = np.array(
            [shares(sketches_of(x, y, seed, 192)[:, 128:]) for seed in range(1000, 1100)]
        )
        check(equal, chance(x, y), 2048)

    @pytest.mark.parametrize("angle", ANGLES)
    def test_the_estimated_angle_has_no_bias(self, angle):
        x, y = rotated(9, 200, angle)
        estimated = math.pi * (1 - shares_over_seeds(x, y, range(300, 500), 8))
        away, error = deviation(estimated.mean(axis=1), angle)
        assert error < 0.004
        assert abs(away) < Z * error

    def test_half_of_all_bits_are_ones(self):
        for x, _ in (rotated(1, 50, 1.0), one_against_two(2048), a_run_of_ones(2048)):
            ones = [
                np.bitwise_count(sketch_vectors(x.astype(np.float32), words=64, seed=s)).mean() / 32
                for s in range(200)
            ]
            away, error = deviation(ones, 0.5)
            # Small whole numbers cancel out now and then, and a sum of 0 is a bit of 1.
            assert abs(away) < Z * error + 0.001

    def test_opposite_vectors_differ_in_every_bit_and_equal_ones_in_none(self):
        x, _ = rotated(3, 100, 1.0)
        assert (shares(sketches_of(x, -x, 5, 64)) == 0).all()
        assert (shares(sketches_of(x, 2 * x, 5, 64)) == 1).all()


def by_one_round(monkeypatch):
    monkeypatch.setattr(hyperplanes, "ROUNDS", 1)
    return sketches_of


def by_two_signs(_):
    """Hyperplanes of components 1 and -1, as those of hashed features are."""

    def make(x, y, seed, words):
        generator = np.random.default_rng(seed)
        planes = generator.choice([-1.0, 1.0], (x.shape[1], words * WORD_BITS))
        bits = np.concatenate([x, y]) @ planes >= 0
        return np.packbits(bits, axis=1, bitorder="little").view("<u4")

    return make


def by_the_same_block_again(_):
    def make(x, y, seed, words):
        return np.tile(sketches_of(x, y, seed, words // 8), 8)

    return make


class TestTheChecks:
    """What is not sound is seen."""

    @pytest.mark.parametrize("hard", [two_against_three, four_of_five])
    @pytest.mark.parametrize("wrong", [by_one_round, by_two_signs])
    def test_hyperplanes_of_two_signs_are_caught_by_few_ones(self, wrong, hard, monkeypatch):
        make = wrong(monkeypatch)
        x, y = hard(256)
        equal = shares_over_seeds(x, y, range(60), make=make)
        away, error = deviation(equal.mean(axis=1), chance(x, y).mean())
        assert abs(away) > 2 * Z * error + 0.01

    def test_bits_that_repeat_are_caught_by_their_variance(self):
        x, y = rotated(1, 384, 0.6)
        make = by_the_same_block_again(None)
        equal = shares_over_seeds(x, y, range(60), make=make)
        assert variance(equal, chance(x, y), 2048) > 4 * VARIANCE

    @pytest.mark.parametrize("wrong", [by_one_round, by_two_signs])
    def test_bands_of_bits_that_depend_on_each_other_are_caught(self, wrong, monkeypatch):
        make = wrong(monkeypatch)
        x, y = four_of_five(256)
        away, error = bands_measured(x, y, range(60), 64, 16, make)
        assert abs(away) > 2 * (Z * error + BANDS)


def bands_measured(x, y, seeds, words, rows, make=sketches_of):
    """How much more often than p^r bands are equal, as a share of it, and the standard error."""
    expected = (chance(x, y) ** rows).mean()
    found = []
    for seed in seeds:
        keys = bit_keys(make(x, y, seed, words), bands=words * WORD_BITS // rows, rows=rows)
        found.append((keys[:, :PAIRS] == keys[:, PAIRS:]).mean() / expected)
    return deviation(found, 1)


def check_bands(x, y, seeds, words, rows):
    """Check how often bands are equal."""
    away, error = bands_measured(x, y, seeds, words, rows)
    assert error < 0.02
    assert abs(away) < Z * error + BANDS


class TestBands:
    @pytest.mark.parametrize("rows", [16, 20, 24])
    @pytest.mark.parametrize(("dimension", "words"), [(384, 64), (4096, 128)])
    @pytest.mark.parametrize("angle", [0.3, math.acos(0.8)])
    def test_a_band_is_equal_as_often_as_independent_bits_would_be(
        self, angle, dimension, words, rows
    ):
        x, y = rotated(dimension, dimension, angle)
        check_bands(x, y, range(600 if words == 64 else 300), words, rows)

    @pytest.mark.parametrize("hard", [four_of_five, one_in_a_hundred, one_heavy])
    def test_vectors_of_few_or_unequal_numbers_are_no_exception(self, hard):
        x, y = hard(2048)
        for rows in (16, 20):
            check_bands(x, y, range(600), 64, rows)

    @pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95])
    def test_a_pair_at_the_threshold_is_found_with_the_recall_asked_for(self, threshold):
        x, y = rotated(11, 384, math.acos(threshold))
        check_recall(lambda seed, words: sketches_of(x, y, seed, words), threshold, 0.9, range(250))


def check_recall(make, threshold, recall, seeds):
    """Check how many pairs share a band and pass the check of their first bits."""
    chosen = plan(threshold, recall, metric="cosine")
    words = max(-(-chosen.signature // WORD_BITS), 8)
    own = np.arange(PAIRS)
    found = []
    for seed in seeds:
        sketches = make(seed, words)
        assert chosen.bands
        assert chosen.rows
        keys = bit_keys(sketches, bands=chosen.bands, rows=chosen.rows)
        met = (keys[:, :PAIRS] == keys[:, PAIRS:]).any(axis=0)
        near = differing(sketches, own, own + PAIRS, words=8) <= chosen.most_differing
        found.append((met & near).mean())
    away, error = deviation(found, recall)
    assert error < 0.01
    # At most as much more is found as the whole band that a plan may have to spare.
    assert -Z * error < away < Z * error + 0.02


def random_weighted_sets(seed, size, shared):
    """Bags of ones that have some features in common: bag i and bag i + PAIRS are a pair."""
    generator = np.random.default_rng(seed)
    features = generator.integers(0, 2**64, (PAIRS, 2 * size - shared), np.uint64)
    first, second = np.sort(features[:, :size]), np.sort(features[:, size - shared :])
    every = np.concatenate([first.ravel(), second.ravel()])
    return WeightedSets(every, np.ones(len(every)), np.arange(0, len(every) + 1, size))


def folding_variance(cosine):
    """What is added to the variance of a share: the angle of folded bags is itself an estimate."""
    return (1 - cosine**2) / 4096 / math.pi**2


class TestOnBags:
    @pytest.mark.parametrize("size", [5, 50, 3000])
    @pytest.mark.parametrize("cosine", [0.2, 0.6, 0.8])
    def test_bits_are_equal_as_often_as_the_angle_says(self, cosine, size):
        weighted_sets = random_weighted_sets(size, size, round(cosine * size))
        p = np.full(PAIRS, 1 - math.acos(cosine) / math.pi)
        equal = np.array(
            [
                shares(sketch_weighted_sets(weighted_sets, words=128, seed=seed))
                for seed in range(200)
            ]
        )
        check(equal, p, 4096, FOLDING, folding_variance(cosine))

    @pytest.mark.parametrize(("threshold", "size"), [(0.5, 1000), (0.8, 20), (0.8, 1000)])
    def test_a_pair_at_the_threshold_is_found_with_the_recall_asked_for(self, threshold, size):
        weighted_sets = random_weighted_sets(3, size, round(threshold * size))
        check_recall(
            lambda seed, words: sketch_weighted_sets(weighted_sets, words=words, seed=seed),
            threshold,
            0.9,
            range(250),
        )

    def test_one_heavy_shingle_among_many_is_folded_as_well(self):
        weighted_sets = random_weighted_sets(4, 200, 100)
        for start in weighted_sets.offsets[:-1].tolist():
            weighted_sets.weights[start] = 10.0
        cosine = exact_cosines(weighted_sets)
        p = 1 - np.arccos(cosine) / math.pi
        equal = np.array(
            [
                shares(sketch_weighted_sets(weighted_sets, words=128, seed=seed))
                for seed in range(200)
            ]
        )
        check(equal, p, 4096, FOLDING, folding_variance(cosine))


def exact_cosines(weighted_sets, first=None, second=None):
    """The cosine of bag i and bag i + half, or of the given pairs, by dictionaries."""
    pairs = list(zip(weighted_sets.features.tolist(), weighted_sets.weights.tolist(), strict=True))
    ends = weighted_sets.offsets.tolist()
    dicts = [dict(pairs[ends[i] : ends[i + 1]]) for i in range(len(weighted_sets))]
    lengths = [math.sqrt(math.fsum(w * w for w in one.values())) for one in dicts]
    if first is None:
        first, second = (
            range(len(weighted_sets) // 2),
            range(len(weighted_sets) // 2, len(weighted_sets)),
        )
    return np.array(
        [
            math.fsum(dicts[i][h] * dicts[j][h] for h in dicts[i].keys() & dicts[j].keys())
            / (lengths[i] * lengths[j])
            for i, j in zip(first, second, strict=True)
        ]
    )


def check_texts(documents, first, second, shingling, weighting, seeds, words):
    """Check the mean error and the total variance for pairs of texts."""
    weighted_sets = weighted_sets_of(documents, shingling, weighting)
    cosine = np.clip(exact_cosines(weighted_sets, first.tolist(), second.tolist()), 0, 1)
    p = 1 - np.arccos(cosine) / math.pi
    bits = words * WORD_BITS
    equal = np.empty((len(seeds), len(p)))
    for row, seed in enumerate(seeds):
        sketches, _ = sketch_texts(documents, shingling, weighting, words=words, seed=seed)
        equal[row] = 1 - differing(sketches, first, second) / bits
    check(equal, p, bits, FOLDING, folding_variance(cosine))


class TestOnTexts:
    @pytest.mark.parametrize("count", [4, 40, 1000])
    @pytest.mark.parametrize("kind", ["counts", "log"])
    def test_texts_of_few_and_of_many_words(self, kind, count):
        generator = np.random.default_rng(count)
        vocabulary = [f"word{i}" for i in range(5 * count)]
        some, others = [], []
        for _ in range(PAIRS):
            drawn = generator.choice(vocabulary, count)
            changed = np.where(generator.random(count) < 0.3, vocabulary[0], drawn)
            some.append(" ".join(drawn))
            others.append(" ".join(changed))
        documents = documents_of(some + others)
        own = np.arange(PAIRS)
        shingling, weighting = Shingling("words", 1), Weighting(kind)
        check_texts(documents, own, own + PAIRS, shingling, weighting, range(200), 128)

    @pytest.mark.parametrize("spec", ["chars:5", "words:1", "words:3"])
    def test_bible_chapters_are_no_exception(self, corpora, spec):
        lines = (corpora / "bible" / "docs.jsonl").read_text(encoding="utf-8").splitlines()
        chapters = {one["id"]: one["text"] for one in map(json.loads, lines)}
        ids = sorted(chapters)[::8]
        ids += [one.replace("ASV|", "KJV|") for one in ids if one.startswith("ASV|")]
        ids = sorted({one for one in ids if one in chapters})
        place = {one: row for row, one in enumerate(ids)}
        pairs = [
            (place[one], place[one.replace("ASV|", "KJV|")])
            for one in ids
            if one.startswith("ASV|") and one.replace("ASV|", "KJV|") in place
        ]
        pairs += [(row, row + 1) for row in range(0, len(ids) - 1, 2)]
        first, second = np.array(pairs, np.int64).T.copy()
        documents = normalise(pa.array([chapters[one] for one in ids], pa.large_string()))
        assert len(pairs) > 250
        shingling = Shingling.parse(spec)
        check_texts(documents, first, second, shingling, Weighting("counts"), range(60), 128)

    def test_fingerprints_of_many_shingles_differ_as_the_angle_says(self):
        # The hashes of the shingles are the hyperplanes: their signs are independent of each other.
        size, shared = 501, 401
        p = 1 - math.acos(shared / size) / math.pi
        equal = []
        for seed in range(300):
            weighted_sets = random_weighted_sets(seed, size, shared)
            prints = np.empty(2 * PAIRS, np.uint64)
            weighted_shingles.fingerprints(
                weighted_sets.features, weighted_sets.weights, weighted_sets.offsets, prints
            )
            apart = np.bitwise_count(prints[:PAIRS] ^ prints[PAIRS:])
            equal.append(1 - apart / 64)
        shares = np.array(equal)
        away, error = deviation(shares.mean(axis=1), p)
        assert error < 0.001
        assert abs(away) < Z * error
        assert ((shares - p) ** 2).mean() < VARIANCE * p * (1 - p) / 64
