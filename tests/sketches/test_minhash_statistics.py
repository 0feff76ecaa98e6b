"""Whether signatures estimate as they should: without bias, with a variance of J(1-J)/K at most.

Every seed is fixed, so that these tests pass always or never. A bound of four standard errors is
passed by a sound estimator 9,999 times in 10,000.
"""

import json
import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from lookalike.sketches import minhash
from lookalike.text.normalise import normalise
from lookalike.text.shingles import Sets, Shingling, element_sets
from made_documents import documents_of, random_pairs

pytestmark = pytest.mark.long

ROWS = 128
BOUND = 4
SIMILARITIES = (0.05, 0.2, 0.5, 0.8, 0.95)
UNIONS = {5: (1, 2, 4), 10: (2, 5, 8), 40: (8, 20, 32, 38), 160: (32, 80, 128, 152)}
UNIONS[1000] = (200, 500, 800, 950)


def estimates(sets, seed, rows=ROWS):
    """The estimated similarity of set i and set i + half, for each i."""
    half = len(sets) // 2
    signatures = minhash.sign_sets(sets, rows=rows, seed=seed)
    return minhash.similarity(signatures[:half], signatures[half:])


def estimates_over_seeds(sets, seeds, rows=ROWS):
    """A row a seed, a column a pair."""
    return np.array([estimates(sets, seed, rows) for seed in seeds])


def bias_in_standard_errors(estimated, similarity, rows):
    standard_error = np.sqrt(similarity * (1 - similarity) / rows / estimated.size)
    return (estimated.mean() - similarity) / standard_error


def variance_ratio(estimated, similarity, rows):
    return np.mean((estimated - similarity) ** 2) / (similarity * (1 - similarity) / rows)


def is_at_most_the_stated(variance_ratio, count):
    """Whether a variance, found from so many estimates, is J(1-J)/K or less, but not nothing."""
    return 0.5 < variance_ratio < 1 + BOUND * np.sqrt(2 / count)


def is_chi_square(squares):
    """Whether a sum of independent squared normal errors is as large as it should be."""
    return chi2.ppf(1e-5, squares.size) < squares.sum() < chi2.ppf(1 - 1e-5, squares.size)


class TestOnRandomSets:
    @pytest.mark.parametrize("similarity", SIMILARITIES)
    @pytest.mark.parametrize("union", [20, 200, 2000])
    def test_the_estimate_has_no_bias_whatever_the_seed_and_the_pair(self, union, similarity):
        generator = np.random.default_rng(union)
        sets, exact = random_pairs(generator, 100, union, round(similarity * union))
        assert exact == similarity
        estimated = estimates_over_seeds(sets, range(100))
        # A bias of 0.003 would be six standard errors, or more, and seen.
        assert np.sqrt(exact * (1 - exact) / ROWS / estimated.size) < 0.003 / 6
        assert abs(bias_in_standard_errors(estimated, exact, ROWS)) < BOUND
        ratio = variance_ratio(estimated, exact, ROWS)
        assert is_at_most_the_stated(ratio, estimated.size)
        # No seed errs for all pairs alike, and no pair for all seeds.
        for axis in (0, 1):
            means = estimated.mean(axis=axis)
            error = ratio * exact * (1 - exact) / ROWS / estimated.shape[axis]
            assert is_chi_square((means - exact) ** 2 / error)

    @pytest.mark.parametrize("rows", [60, 128, 300])
    @pytest.mark.parametrize(
        ("union", "shared"), [(union, one) for union, some in UNIONS.items() for one in some]
    )
    def test_its_variance_is_less_than_that_of_rows_on_their_own(self, union, shared, rows):
        pairs = 1500 if union > 500 else 4000
        sets, exact = random_pairs(np.random.default_rng(union + shared), pairs, union, shared)
        estimated = estimates_over_seeds(sets, range(10), rows)
        assert abs(bias_in_standard_errors(estimated, exact, rows)) < BOUND
        assert 0.5 < variance_ratio(estimated, exact, rows) < 1
        if union in (40, 160) and rows > 100:
            # A block of rows rarely asks the same element twice, where there are enough of them.
            assert variance_ratio(estimated, exact, rows) < 0.65

    @pytest.mark.parametrize("rows", [1, 2, 64, 100, 129])
    def test_signatures_of_other_lengths_are_as_good(self, rows):
        sets, exact = random_pairs(np.random.default_rng(7), 500, 50, 30)
        estimated = estimates_over_seeds(sets, range(1000, 1080), rows)
        assert abs(bias_in_standard_errors(estimated, exact, rows)) < BOUND
        assert is_at_most_the_stated(variance_ratio(estimated, exact, rows), estimated.size)

    @pytest.mark.parametrize(("union", "shared"), [(2, 1), (3, 1), (3, 2), (5, 1)])
    def test_the_smallest_sets_are_estimated_as_well(self, union, shared):
        sets, exact = random_pairs(np.random.default_rng(union), 100, union, shared)
        estimated = estimates_over_seeds(sets, range(200, 300))
        assert abs(bias_in_standard_errors(estimated, exact, ROWS)) < BOUND
        assert is_at_most_the_stated(variance_ratio(estimated, exact, ROWS), estimated.size)

    @pytest.mark.parametrize(("size", "part"), [(50, 1), (100, 63), (300, 30), (2000, 40)])
    def test_a_small_set_inside_a_large_one_is_estimated_without_bias(self, size, part):
        # Many rows of the small one hold a later throw, or a line, where the large has the first.
        pairs = 200
        large = np.random.default_rng(size).integers(0, 2**64, (pairs, size), np.uint64)
        offsets = np.concatenate([[0], np.repeat([size, part], pairs)]).cumsum()
        sets = Sets(np.concatenate([large.ravel(), large[:, :part].ravel()]), offsets)
        estimated = estimates_over_seeds(sets, range(50))
        assert abs(bias_in_standard_errors(estimated, part / size, ROWS)) < BOUND
        assert is_at_most_the_stated(variance_ratio(estimated, part / size, ROWS), estimated.size)

    @pytest.mark.parametrize("size", [1, 20, 2000])
    def test_equal_sets_agree_in_every_row_and_disjoint_ones_in_none(self, size):
        generator = np.random.default_rng(size)
        for similarity in (0, 1):
            union = size if similarity else 2 * size
            sets, exact = random_pairs(generator, 50, union, similarity * union)
            assert exact == similarity
            assert (estimates_over_seeds(sets, range(10)) == similarity).all()

    @pytest.mark.parametrize("similarity", SIMILARITIES)
    def test_large_sets_have_no_bias(self, similarity):
        generator = np.random.default_rng(100_000)
        sets, exact = random_pairs(generator, 8, 100_000, round(similarity * 100_000))
        estimated = estimates_over_seeds(sets, range(12), rows=1024)
        assert abs(bias_in_standard_errors(estimated, exact, 1024)) < BOUND
        assert is_chi_square((estimated - exact) ** 2 / (exact * (1 - exact) / 1024))

    def test_sets_of_a_million_have_no_bias(self):
        sets, exact = random_pairs(np.random.default_rng(1), 1, 1_500_000, 500_000)
        assert sets.sizes().tolist() == [1_000_000, 1_000_000]
        rows = 8192
        estimated = estimates_over_seeds(sets, [1], rows)
        assert abs(bias_in_standard_errors(estimated, exact, rows)) < BOUND

    @pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
    def test_rows_agree_apart_in_a_block_and_independently_between_blocks(self, seed):
        pairs = 20_000
        sets, exact = random_pairs(np.random.default_rng(20), pairs, 40, 20)
        signatures = minhash.sign_sets(sets, rows=256, seed=seed)
        agree = signatures[:pairs] == signatures[pairs:]
        error = np.sqrt(exact * (1 - exact) / pairs)
        assert is_chi_square(((agree.mean(axis=0) - exact) / error) ** 2)
        scores = np.corrcoef(agree.astype(float), rowvar=False) * np.sqrt(pairs)
        between = scores[:128, 128:]
        assert np.abs(between).max() < 5.5
        assert is_chi_square(between**2)
        within = scores[:128, :128][np.triu_indices(128, 1)]
        assert np.abs(within).max() < 5.5
        # Where one row agrees, another does so a little less often: it asked another element.
        assert within.mean() < -BOUND / np.sqrt(within.size)

    def test_rows_do_not_agree_together_over_seeds(self):
        seeds = 20_000
        sets, exact = random_pairs(np.random.default_rng(21), 1, 40, 20)
        agree = np.empty((seeds, 32))
        for seed in range(seeds):
            first, second = minhash.sign_sets(sets, rows=32, seed=seed)
            agree[seed] = first == second
        error = np.sqrt(exact * (1 - exact) / seeds)
        assert is_chi_square(((agree.mean(axis=0) - exact) / error) ** 2)
        together = np.asarray(np.corrcoef(agree, rowvar=False))
        scores = together[np.triu_indices(32, 1)] * np.sqrt(seeds)
        assert np.abs(scores).max() < 5.5
        assert scores.mean() < BOUND / np.sqrt(scores.size)

    @pytest.mark.parametrize("size", [1, 5, 50, 64, 400])
    def test_each_row_s_minimum_is_spread_as_that_of_random_numbers(self, size):
        count = 4000
        elements = np.random.default_rng(50).integers(0, 2**64, size * count, np.uint64)
        sets = Sets(elements, np.arange(0, len(elements) + 1, size))
        minima = minhash.sign_sets(sets, rows=ROWS, seed=3)
        turn, value = minima >> np.uint32(30), minima % 2**30 / 2**30
        # The chance that no element has less in the row, if all were drawn at random: a throw puts
        # one in 128 there, and only where none of three put any is each asked for its line.
        greater = np.where(turn < 3, (1 - value / 128), (1 - value)) ** size
        chances = greater * (127 / 128) ** (size * turn.astype(float))
        scores = (chances.mean(axis=0) - 1 / 2) / np.sqrt(1 / 12 / count)
        assert abs(scores.sum()) < BOUND * np.sqrt(ROWS)
        assert is_chi_square(scores**2)
        expected = chances.size / 32
        found = np.bincount((chances * 32).astype(int).ravel().clip(0, 31), minlength=32)
        assert is_chi_square((found - expected) ** 2 / expected)


def exact_similarities(sets, pairs):
    together = [len(np.intersect1d(sets[i], sets[j], assume_unique=True)) for i, j in pairs]
    sizes = sets.sizes()
    union = [sizes[i] + sizes[j] for i, j in pairs]
    return np.array([both / (all_ - both) for both, all_ in zip(together, union, strict=True)])


def check_on_pairs(sets, pairs, seeds):
    """Check the mean error, and the total variance, of the estimates for pairs of real texts."""
    exact = exact_similarities(sets, pairs)
    inside = (exact > 0) & (exact < 1)
    pairs, exact = np.array(pairs)[inside], exact[inside]
    expected = exact * (1 - exact) / ROWS
    errors = np.empty((len(seeds), len(pairs)))
    for row, seed in enumerate(seeds):
        signatures = minhash.sign_sets(sets, rows=ROWS, seed=seed)
        estimated = minhash.similarity(signatures[pairs[:, 0]], signatures[pairs[:, 1]])
        errors[row] = estimated - exact
    # Seeds are independent of each other, pairs that share a document are not.
    means = errors.mean(axis=1)
    assert abs(means.mean()) < BOUND * means.std(ddof=1) / np.sqrt(len(seeds))
    assert abs(means.mean()) < 0.003
    assert 0.5 < (errors**2).sum() / (expected.sum() * len(seeds)) < 1.1
    assert 0.5 < np.mean(errors**2 / expected) < 1.1


class TestOnRealText:
    @pytest.mark.parametrize("spec", ["chars:5", "chars:2", "words:2"])
    @pytest.mark.parametrize("multiset", [False, True])
    def test_the_shipped_documents_are_estimated_without_bias(
        self, sample_documents, spec, multiset
    ):
        paths = sorted(p for p in sample_documents.rglob("*") if p.suffix in (".txt", ".md"))
        texts = [path.read_text(encoding="utf-8") for path in paths]
        assert len(texts) > 10
        documents = normalise(pa.array(texts, pa.large_string()))
        sets = element_sets(documents, Shingling.parse(spec, multiset=multiset))
        check_on_pairs(sets, list(combinations(range(len(texts)), 2)), range(400))

    @pytest.mark.parametrize("spec", ["chars:5", "chars:9", "words:3"])
    def test_bible_chapters_are_estimated_without_bias(self, corpora, spec):
        lines = (corpora / "bible" / "docs.jsonl").read_text(encoding="utf-8").splitlines()
        chapters = {one["id"]: one["text"] for one in map(json.loads, lines)}
        ids = sorted(chapters)
        # Each chapter of one translation with the same one of the other, and with its neighbour.
        other = {one: one.replace("ASV|", "KJV|") for one in ids if one.startswith("ASV|")}
        places = {one: place for place, one in enumerate(ids)}
        pairs = [(places[a], places[b]) for a, b in other.items() if b in places]
        pairs += [(place, place + 1) for place in range(0, len(ids) - 1, 2)]
        documents = normalise(pa.array([chapters[one] for one in ids], pa.large_string()))
        sets = element_sets(documents, Shingling.parse(spec))
        assert len(pairs) > 2000
        check_on_pairs(sets, pairs, range(30))


@pytest.mark.parametrize(
    ("first", "second", "shingle"),
    [
        ("abcdefghij", "bcdefghijk", "chars:1"),
        ("abcdefghijklmnop", "ijklmnopqrstuvwx", "chars:1"),
        ("一丁丂七丄丅丆万丈", "丁丂七丄丅丆万丈三", "chars:1"),
        ("abcdefghijklmnop", "bcdefghijklmnopq", "chars:2"),
        ("a b c d e f g h i j", "b c d e f g h i j k", "words:1"),
    ],
)
def test_neighbours_in_the_alphabet_are_as_good_as_any(first, second, shingle):
    sets = element_sets(normalise(pa.array([first, second])), Shingling.parse(shingle))
    exact = exact_similarities(sets, [(0, 1)])[0]
    estimated = estimates_over_seeds(sets, range(6000))
    assert abs(bias_in_standard_errors(estimated, exact, ROWS)) < BOUND


@pytest.mark.parametrize("count", [3, 6, 9])
@pytest.mark.parametrize("prefix", ["ab", "the same ab", "床前ab"])
def test_of_shingles_that_differ_in_one_character_each_is_as_often_the_least(count, prefix):
    """Neighbours in the alphabet are evenly spaced before they are mixed."""
    texts = [prefix + chr(0x30 + i) for i in range(count)]
    hashes = np.unique(element_sets(documents_of(texts), Shingling("chars", 12)).elements)
    assert len(hashes) == count
    sets = Sets(np.concatenate([hashes, hashes]), np.append(np.arange(count + 1), 2 * count))
    least = np.zeros(count)
    seeds = 1000
    for seed in range(seeds):
        signatures = minhash.sign_sets(sets, rows=128, seed=seed)
        least += (signatures[:count] == signatures[count]).sum(axis=1)
    share = least / (128 * seeds) * count
    # Affine functions of evenly spaced numbers would be off by a tenth and more.
    assert np.abs(share - 1).max() < 5 * math.sqrt((count - 1) / (128 * seeds))
