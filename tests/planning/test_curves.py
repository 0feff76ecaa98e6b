import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta, betaincc

from lookalike.base.errors import SettingsError
from lookalike.planning import curves
from lookalike.planning.curves import Cascade, Distribution, errors

EPSILON = 2.0**-52

steps = st.tuples(st.sampled_from(["and", "or"]), st.integers(1, 6))
chains = st.lists(steps, min_size=1, max_size=4).filter(lambda c: exact_rows(c) <= 300)
short_chains = st.lists(steps, min_size=1, max_size=3).filter(lambda c: exact_rows(c) <= 40)
similarities = st.floats(0, 1)


def exact_rows(chain):
    return math.prod(n for _, n in chain)


def exact(chain, s):
    p = Fraction(s)
    for kind, n in chain:
        p = p**n if kind == "and" else 1 - (1 - p) ** n
    return p


def polynomial(chain):
    """The curve as whole coefficients of 1, s, s^2, ..."""
    curve = [0, 1]
    for kind, n in chain:
        base = curve if kind == "and" else [1 - curve[0], *(-c for c in curve[1:])]
        power = [1]
        for _ in range(n):
            product = [0] * (len(power) + len(base) - 1)
            for i, a in enumerate(power):
                for j, b in enumerate(base):
                    product[i + j] += a * b
            power = product
        curve = power if kind == "and" else [1 - power[0], *(-c for c in power[1:])]
    return curve


def exact_area(curve, low, high):
    def antiderivative(s):
        return sum(Fraction(c, i + 1) * s ** (i + 1) for i, c in enumerate(curve))

    return antiderivative(Fraction(high)) - antiderivative(Fraction(low))


@pytest.mark.parametrize(
    ("bands", "rows", "expected"),
    [
        (10, 3, ".0100 .0772 .2394 .4839 .7369 .9123 .9850 .9992 1.0000"),
        (20, 6, ".0000 .0013 .0145 .0788 .2702 .6154 .9182 .9977 1.0000"),
        (50, 5, ".0005 .0159 .1145 .4023 .7956 .9825 .9999 1.0000 1.0000"),
    ],
)
def test_the_textbook_table_of_s_curves(bands, rows, expected):
    listed = curves.table(Cascade.banding(bands, rows))
    assert [s for s, _ in listed] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert [f"{p:.4f}".removeprefix("0") for _, p in listed] == expected.split()
    assert [curves.probability(s, bands, rows) for s, _ in listed] == [p for _, p in listed]


@pytest.mark.parametrize(
    ("bands", "rows", "half", "estimate"),
    [(10, 3, 0.406088, 0.464159), (20, 6, 0.569353, 0.606962), (50, 5, 0.424394, 0.457305)],
)
def test_the_textbook_thresholds_and_their_estimates(bands, rows, half, estimate):
    cascade = Cascade.banding(bands, rows)
    assert cascade.estimate
    assert round(curves.threshold_half(bands, rows), 6) == round(cascade.half, 6) == half
    assert round(curves.threshold_estimate(bands, rows), 6) == round(cascade.estimate, 6)
    assert round(cascade.estimate, 6) == estimate


def test_twenty_bands_of_five_miss_few_alike_and_pass_few_others():
    assert round(curves.miss(0.8, bands=20, rows=5), 6) == 0.000356
    assert round(curves.probability(0.3, bands=20, rows=5), 4) == 0.0475


def test_three_bands_of_four_find_a_pair_at_080_with_less_than_that():
    assert curves.probability(0.8, bands=3, rows=4) == pytest.approx(1 - 0.5904**3, rel=1e-14)
    assert round(curves.probability(0.8, bands=3, rows=4), 6) == 0.794203
    assert round(curves.miss(0.8, bands=3, rows=4), 6) == 0.205797
    assert round(curves.probability(0.1, bands=3, rows=4), 6) == 0.0003


@pytest.mark.parametrize(
    ("spec", "s", "expected", "rows"),
    [
        ("and:4 or:4", 0.8, 0.878497, 16),
        ("or:4 and:4", 0.8, 0.993615, 16),
        ("or:4 and:4 or:4 and:4", 0.2, 0.026742, 256),
    ],
)
def test_cascades_of_the_textbook(spec, s, expected, rows):
    assert round(Cascade.parse(spec).probability(s), 6) == expected
    assert Cascade.parse(spec).rows == rows


def test_signatures_of_100000_documents_and_100_rows_take_40_megabytes():
    assert curves.signature_bytes(100_000, 100) == 40_000_000
    assert curves.signature_bytes(0, 100) == 0


@given(chains, similarities)
@settings(deadline=None)
def test_probability_and_miss_keep_their_digits(chain, s):
    p, cascade = exact(chain, s), Cascade(tuple(chain))
    close: dict[str, Any] = {"rel": 8 * cascade.rows * EPSILON, "abs": 1e-300}
    assert cascade.probability(s) == pytest.approx(float(p), **close)
    assert cascade.miss(s) == pytest.approx(float(1 - p), **close)


@pytest.mark.parametrize("s", [1e-5, 1e-3, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9])
def test_the_tails_of_a_banding_are_right_to_twelve_digits(s):
    p = exact([("and", 6), ("or", 20)], s)
    assert curves.probability(s, bands=20, rows=6) == pytest.approx(float(p), rel=1e-12, abs=0)
    assert curves.miss(s, bands=20, rows=6) == pytest.approx(float(1 - p), rel=1e-12, abs=0)


@given(chains, similarities, similarities)
def test_more_similar_pairs_are_never_less_likely_candidates(chain, a, b):
    cascade = Cascade(tuple(chain))
    low, high = sorted((a, b))
    assert cascade.probability(low) <= cascade.probability(high) * (1 + 8 * cascade.rows * EPSILON)


@given(chains)
def test_nothing_in_common_is_never_a_candidate_and_equals_always_are(chain):
    cascade = Cascade(tuple(chain))
    ends = np.array([0.0, 1.0])
    assert cascade.probability(ends).tolist() == [0, 1]
    assert cascade.miss(ends).tolist() == [1, 0]
    assert cascade.similarity_at(ends).tolist() == [0, 1]


@given(chains)
@settings(deadline=None)
def test_half_of_the_pairs_are_found_at_half(chain):
    low, high = Fraction(0), Fraction(1)
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if exact(chain, middle) > Fraction(1, 2) else (middle, high)
    assert Cascade(tuple(chain)).half == pytest.approx(float(low), rel=0, abs=1e-12)


@given(chains, st.floats(0.001, 0.999))
@settings(deadline=None)
def test_similarity_at_undoes_probability(chain, chance):
    cascade = Cascade(tuple(chain))
    found = float(exact(chain, cascade.similarity_at(chance)))
    assert found == pytest.approx(chance, rel=1e-10)


@pytest.mark.parametrize(("bands", "rows"), [(20, 5), (10, 3), (1000, 50), (1, 4), (7, 1), (2, 2)])
def test_the_steepest_point_is_where_the_second_derivative_vanishes(bands, rows):
    expected = ((rows - 1) / (rows * bands - 1)) ** (1 / rows)
    assert Cascade.banding(bands, rows).steepest() == pytest.approx(expected, abs=1e-6)


def test_the_steepest_point_of_a_cascade_and_of_its_mirror_image_mirror_each_other():
    there = Cascade.parse("and:4 or:4 and:4 or:4").steepest()
    assert there + Cascade.parse("or:4 and:4 or:4 and:4").steepest() == pytest.approx(1, abs=1e-6)
    assert there == pytest.approx(0.695822, abs=1e-6)


@pytest.mark.parametrize("spec", ["and:3 or:5", "or:3 and:5", "and:2 or:3 and:2 or:2", "or:6"])
@pytest.mark.parametrize("s", [0.25, 0.6])
def test_random_rows_become_candidates_as_often_as_computed(spec, s):
    cascade, trials = Cascade.parse(spec), 40_000
    agree = np.random.default_rng(7).random((trials, cascade.rows)) < s
    for kind, n in cascade.steps:
        groups = agree.reshape(trials, -1, n)
        agree = groups.all(axis=2) if kind == "and" else groups.any(axis=2)
    p = cascade.probability(s)
    assert agree.mean() == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / trials))


def test_the_approximation_holds_where_a_band_rarely_agrees_and_stays_below():
    s = np.linspace(0, 1, 101)
    close, true = curves.approximation(s, 20, 6), curves.probability(s, 20, 6)
    assert (close <= true).all()
    assert close[:31] == pytest.approx(true[:31], rel=1e-3)
    assert curves.approximation(0.5, 20, 6) == pytest.approx(1 - math.exp(-20 / 64), rel=1e-14)


@given(short_chains, similarities)
@settings(deadline=None)
def test_the_areas_of_error_are_those_of_the_exact_polynomial(chain, threshold):
    curve = polynomial(chain)
    opposite = [1 - curve[0], *(-c for c in curve[1:])]
    found = errors(Cascade(tuple(chain)), threshold)
    missed, false = exact_area(opposite, threshold, 1), exact_area(curve, 0, threshold)
    close: dict[str, Any] = {"rel": 1e-11, "abs": 1e-290}
    assert found.missed == pytest.approx(float(missed), rel=1e-11, abs=1e-15)
    assert found.false_candidates == pytest.approx(float(false), **close)
    assert found.candidates == pytest.approx(float(exact_area(curve, 0, 1)), **close)
    assert found.false_share == pytest.approx(float(false / exact_area(curve, 0, 1)), **close)
    if 1e-9 < threshold < 1 - 1e-9:
        shares = (float(missed / (1 - Fraction(threshold))), float(false / Fraction(threshold)))
        assert (found.missed_share, found.passed_share) == pytest.approx(shares, rel=1e-9)


@pytest.mark.parametrize(("bands", "rows"), [(20, 5), (100, 100), (1, 1000), (450, 20), (500, 1)])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.8, 0.95])
def test_the_areas_of_large_bandings_are_those_of_the_beta_function(bands, rows, threshold):
    over = beta(1 / rows, bands + 1) / rows * betaincc(1 / rows, bands + 1, threshold**rows)
    under = 1 - beta(1 / rows, bands + 1) / rows
    found = errors(Cascade.banding(bands, rows), threshold)
    assert found.missed == pytest.approx(over, rel=1e-10, abs=1e-300)
    assert found.candidates == pytest.approx(under, rel=0, abs=1e-10)


def test_errors_over_counted_pairs_are_expected_counts():
    counted = Distribution([0.3, 0.8, 0.9], [1000, 10, 5])  # type: ignore[arg-type]
    found = errors(Cascade.banding(20, 5), 0.8, counted)
    p = [float(exact([("and", 5), ("or", 20)], s)) for s in (0.3, 0.8, 0.9)]
    missed = 10 * (1 - p[1]) + 5 * (1 - p[2])
    assert found.missed == pytest.approx(missed, rel=1e-9)
    assert found.missed_share == pytest.approx(missed / 15, rel=1e-9)
    assert found.false_candidates == pytest.approx(1000 * p[0])
    assert found.candidates == pytest.approx(1000 * p[0] + 10 * p[1] + 5 * p[2])
    assert found.false_share == pytest.approx(found.false_candidates / found.candidates)
    assert found.passed_share == pytest.approx(p[0])


def test_a_pair_at_the_threshold_is_a_true_pair():
    found = errors(Cascade.banding(20, 5), 0.8, Distribution.from_samples([0.8]))
    assert found.missed == found.missed_share == curves.miss(0.8, 20, 5)
    assert found.false_candidates == 0


def test_samples_count_one_each_or_stand_for_more_pairs():
    samples = [0.1, 0.2, 0.9, 0.95]
    one = errors(Cascade.banding(20, 5), 0.8, Distribution.from_samples(samples))
    many = errors(Cascade.banding(20, 5), 0.8, Distribution.from_samples(samples, pairs=4000))
    assert many.candidates == pytest.approx(1000 * one.candidates)
    assert many.false_share == pytest.approx(one.false_share)


def test_a_flat_histogram_is_the_uniform_distribution():
    flat = Distribution.from_histogram(np.full(10, 0.1), np.linspace(0, 1, 11))
    found, uniform = errors(Cascade.banding(20, 5), 0.8, flat), errors(Cascade.banding(20, 5), 0.8)
    assert found.candidates == pytest.approx(uniform.candidates, rel=1e-4)
    assert found.false_share == pytest.approx(uniform.false_share, rel=1e-4)
    assert found.missed_share == pytest.approx(uniform.missed_share, rel=1e-2)


def test_a_histogram_agrees_with_the_samples_it_was_drawn_from():
    samples = np.random.default_rng(3).beta(1, 6, 20_000)
    drawn = Distribution.from_histogram(*np.histogram(samples, bins=20, range=(0, 1)))
    found = errors(Cascade.banding(20, 5), 0.6, drawn)
    measured = errors(Cascade.banding(20, 5), 0.6, Distribution.from_samples(samples))
    assert found.candidates == pytest.approx(measured.candidates, rel=0.02)
    assert drawn.weights.sum() == pytest.approx(20_000)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_a_share_of_nothing_is_nothing(threshold):
    empty = errors(Cascade.banding(20, 5), threshold, Distribution.from_samples([], pairs=10))
    assert empty == curves.Errors(0, 0, 0, 0, 0, 0)
    assert errors(Cascade.banding(20, 5), 1.0).missed_share == 0
    assert errors(Cascade.banding(20, 5), 0.0).passed_share == 0


def test_a_distribution_keeps_its_own_copy():
    points, weights = np.array([0.2, 0.9]), np.array([3.0, 1.0])
    kept = Distribution(points, weights)
    points[:] = weights[:] = 0
    assert (kept.similarities.tolist(), kept.weights.tolist()) == ([0.2, 0.9], [3, 1])
    with pytest.raises(ValueError, match="read-only"):
        kept.weights[0] = 7


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (0,), (6,), (2, 3)])
def test_dtype_and_shape_are_kept_and_the_array_is_left_alone(dtype, shape):
    s = np.linspace(0, 1, math.prod(shape), dtype=dtype).reshape(shape)
    before = s.copy()
    cascade = Cascade.parse("or:3 and:3")
    for curve in (cascade.probability, cascade.miss, cascade.similarity_at):
        assert (curve(s).dtype, curve(s).shape) == (s.dtype, s.shape)
    assert curves.approximation(s, 20, 5).dtype == s.dtype
    assert not s.size or not np.shares_memory(s, Cascade.parse("and:1").probability(s))
    np.testing.assert_array_equal(s, before)


def test_numbers_give_floats_and_whole_numbers_are_similarities_too():
    for s in (1, 0.5, np.float64(0.5), np.float32(0.5)):
        assert type(curves.probability(s, 20, 5)) is float  # type: ignore[type-var]
    assert curves.probability(np.array([0, 1]), 20, 5).tolist() == [0, 1]
    listed: Any = [0, 1]
    assert curves.probability(listed, 20, 5).tolist() == [0, 1]


@given(chains)
def test_a_cascade_reads_what_it_spells(chain):
    cascade = Cascade(tuple(chain))
    assert Cascade.parse(str(cascade)) == cascade
    assert Cascade.parse(" , ".join(f"{kind}:{n}" for kind, n in chain)) == cascade
    assert cascade.rows == exact_rows(chain)


def test_a_cascade_is_spelled_as_it_was_written():
    assert str(Cascade.parse("and:4 or:4 and:4 or:4")) == "and:4 or:4 and:4 or:4"
    assert str(Cascade.parse("OR:4,and:04")) == "or:4 and:4"
    assert str(Cascade.banding(bands=20, rows=5)) == "and:5 or:20"


def test_neighbours_of_one_kind_are_one_step():
    assert Cascade.parse("and:2 and:3") == Cascade.parse("and:6")
    assert Cascade.parse("and:2 and:3 or:2 or:5") == Cascade.banding(bands=10, rows=6)


def test_only_and_then_or_is_a_banding():
    banding = Cascade.parse("and:5 or:20")
    assert (banding.is_banding, banding.bands, banding.rows_per_band) == (True, 20, 5)
    for spec in ("or:20 and:5", "and:5", "or:20", "and:5 or:20 and:2"):
        other = Cascade.parse(spec)
        assert (other.is_banding, other.bands, other.rows_per_band) == (False, None, None)
        assert other.estimate is None


@pytest.mark.parametrize(
    "token", ["xor:3", "and", "and:", ":4", "and:0", "or:-1", "and:2.5", "and:4:4", "and:²", "or:x"]
)
def test_a_step_that_cannot_be_is_named_with_an_example(token):
    with pytest.raises(
        SettingsError, match=f"^'{token}' is not a step .* for example 'and:5 or:20'$"
    ):
        Cascade.parse(f"and:3 {token}")


@pytest.mark.parametrize("step", ["and", ("and",), ("nor", 2), ("and", True), ("or", 2.0), 4])
def test_steps_are_pairs_of_a_kind_and_a_whole_number(step):
    with pytest.raises(SettingsError, match=r"is not a step of a cascade: .* 'and:5 or:20'$"):
        Cascade((step,))


@pytest.mark.parametrize("spec", ["", " , "])
def test_a_cascade_has_a_step(spec):
    with pytest.raises(SettingsError, match=r"a step or more, for example 'and:5 or:20'$"):
        Cascade.parse(spec)


def test_a_cascade_of_more_rows_than_could_be_is_refused():
    with pytest.raises(SettingsError, match=r"needs 10000000000 rows, .* example 'and:5 or:20'$"):
        Cascade.parse("and:100000 or:100000")
    with pytest.raises(SettingsError, match="is not a step"):
        Cascade.parse("and:" + "9" * 5000)


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "5", True, None])
def test_bands_and_rows_are_named_when_wrong(wrong):
    with pytest.raises(
        SettingsError, match=rf"^bands={wrong!r}: use a whole number from 1 upward, as"
    ):
        curves.probability(0.5, bands=wrong, rows=5)
    with pytest.raises(
        SettingsError, match=rf"^rows={wrong!r}: use a whole number from 1 upward, as"
    ):
        curves.threshold_half(bands=20, rows=wrong)
    with pytest.raises(SettingsError, match=rf"^rows={wrong!r}: use a whole number"):
        curves.signature_bytes(10, wrong)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan, math.inf])
def test_similarities_lie_between_0_and_1(wrong):
    cascade = Cascade.banding(20, 5)
    for call in (cascade.probability, cascade.miss, Distribution.from_samples):
        with pytest.raises(SettingsError, match=r"^a similarity lies between 0 and 1, .* not "):
            call(np.array([0.5, wrong]))
    with pytest.raises(SettingsError, match=r"^a threshold lies between 0 and 1"):
        errors(cascade, wrong)
    with pytest.raises(SettingsError, match=r"^a probability lies between 0 and 1"):
        cascade.similarity_at(wrong)


def test_a_distribution_that_cannot_be_is_refused():
    with pytest.raises(SettingsError, match="one weight for each similarity"):
        Distribution([0.1, 0.2], [1])  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="one weight for each similarity"):
        Distribution.from_samples([[0.1, 0.2]])
    for weight in (-1, math.nan, math.inf):
        with pytest.raises(SettingsError, match="numbers from 0 upward"):
            Distribution([0.1], [weight])  # type: ignore[arg-type]
    for edges in ([0, 1], [0, 0.5, 0.5], [1, 0.5, 0]):
        with pytest.raises(SettingsError, match="rising edges, one more than its counts"):
            Distribution.from_histogram([1, 2], edges)


def test_no_logarithm_of_zero_is_reported_even_where_numpy_raises():
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        for spec in ("and:300 or:2", "or:300 and:2"):
            errors(Cascade.parse(spec), 0.5)
            Cascade.parse(spec).probability(np.array([0, 1e-300, 0.5, 1 - 1e-16, 1]))


class TestBits:
    """A random hyperplane has two vectors on one side with probability 1 - angle/pi."""

    @pytest.mark.parametrize(
        ("cosine", "expected"),
        [(1, 1), (math.sqrt(3) / 2, 5 / 6), (math.sqrt(0.5), 3 / 4), (0.5, 2 / 3), (0, 1 / 2)],
    )
    def test_well_known_angles(self, cosine, expected):
        assert curves.equal_bits(cosine) == pytest.approx(expected, abs=1e-15)
        assert curves.equal_bits(-cosine) == pytest.approx(1 - expected, abs=1e-15)
        assert curves.cosine_of_bits(expected) == pytest.approx(cosine, abs=1e-15)

    @given(st.floats(-1, 1))
    def test_it_is_one_less_the_angle(self, cosine):
        expected = 1 - math.acos(cosine) / math.pi
        # Next to -1, where nothing is planned, eight digits are enough.
        close = 1e-15 if cosine > -0.9 else 1e-8
        assert curves.equal_bits(cosine) == pytest.approx(expected, abs=close)

    @given(st.floats(0, 1))
    def test_each_undoes_the_other(self, share):
        assert curves.equal_bits(curves.cosine_of_bits(share)) == pytest.approx(share, abs=1e-7)

    @pytest.mark.parametrize("below", [2.0**-53, 2.0**-40, 1e-9, 1e-6, 1e-3])
    def test_near_1_no_digits_are_lost(self, below):
        cosine = 1 - below
        exact_below = float(1 - Fraction(cosine))
        # cos a = 1 - a^2/2 + a^4/24 - ..., turned around: a^2 = 2b (1 + b/6 + 4b^2/90 + ...).
        series = 1 + exact_below / 6 + 2 * exact_below**2 / 45 + exact_below**3 / 70
        angle = math.sqrt(2 * exact_below * series)
        missing = 1 - curves.equal_bits(cosine)
        assert missing == pytest.approx(angle / math.pi, rel=1e-9, abs=2.0**-52)
        assert missing > 0

    @given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
    def test_more_similar_vectors_agree_in_more_bits(self, cosines):
        ordered = np.sort(np.array(cosines))
        found = curves.equal_bits(ordered)
        assert found.shape == ordered.shape
        assert (np.diff(found) >= 0).all()
        assert found.tolist() == [curves.equal_bits(cosine) for cosine in ordered.tolist()]

    @pytest.mark.parametrize("cosine", [1.0000001, -1.1, float("nan")])
    def test_what_is_no_cosine_is_refused(self, cosine):
        with pytest.raises(SettingsError, match="a cosine lies between -1 and 1, for"):
            curves.equal_bits(cosine)

    @pytest.mark.parametrize("share", [1.1, -0.1, float("nan")])
    def test_what_is_no_share_of_bits_is_refused(self, share):
        with pytest.raises(SettingsError, match="a share of bits"):
            curves.cosine_of_bits(share)
