"""Plans keep the recall they promise, at the least cost, and say so."""

import math
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.base.errors import SettingsError
from lookalike.candidates.identical import Groups
from lookalike.planning.bandings import (
    AT_ONCE,
    BLOCK_COST,
    FILL_COST,
    MAX_ROWS,
    PAIR_COST,
    SHINGLE_COST,
    SPREAD_COST,
)
from lookalike.planning.curves import Cascade
from lookalike.planning.plan import plan
from lookalike.planning.sampling import (
    Background,
    choose_shingle,
    measure,
    sample,
    shingle_warnings,
)
from lookalike.read import read
from lookalike.text.normalise import normalise
from lookalike.text.shingles import Shingling, usual_size

THRESHOLDS = st.floats(0.3, 1.0)
RECALLS = st.floats(0.5, 0.9999)


@pytest.mark.long
@given(threshold=THRESHOLDS, recall=RECALLS, documents=st.integers(0, 10**8))
def test_a_pair_at_the_threshold_is_found_with_the_recall_asked_for(threshold, recall, documents):
    chosen = plan(threshold, recall, documents=documents)
    assert chosen.bands is not None
    assert chosen.rows is not None
    assert chosen.probability(threshold) >= recall
    # By the bands alone more would be found: the prefilter dismisses some.
    by_bands = 1 - (1 - threshold**chosen.rows) ** chosen.bands
    assert recall <= chosen.probability(threshold) <= by_bands + 1e-12
    assert chosen.candidate(threshold) == pytest.approx(by_bands, abs=1e-12)


@given(threshold=THRESHOLDS, recall=RECALLS)
def test_one_band_fewer_would_break_the_promise(threshold, recall):
    chosen = plan(threshold, recall)
    assert chosen.bands
    if chosen.bands > 1:
        fewer = plan(threshold, recall, bands=chosen.bands - 1, rows=chosen.rows)
        assert fewer.probability(threshold) < recall


@pytest.mark.parametrize(
    ("similarity", "recall", "printed"), [(0.8, 0.5, 0.609), (0.8, 0.9, 0.947)]
)
def test_the_stated_probability_is_that_of_bands_and_prefilter(similarity, recall, printed):
    """Measured on sets of 100 elements, for bands that alone find 0.640 and 0.960."""
    bands, rows = {0.5: (1, 2), 0.9: (2, 1)}[recall]
    chosen = plan(similarity, recall, bands=bands, rows=rows)
    assert chosen.candidate(similarity) == pytest.approx(0.64 if bands == 1 else 0.96)
    assert chosen.probability(similarity) == pytest.approx(printed, abs=0.02)
    assert chosen.probability(similarity) < chosen.candidate(similarity)


@cache
def passing(most: int, similarity: float) -> float:
    """Tell how likely signatures differ in so many of two bits of 128 rows each."""
    found = 0.0
    for rows in range(129):
        differ = math.comb(128, rows) * (1 - similarity) ** rows * similarity ** (128 - rows)
        bits = sum(math.comb(2 * rows, d) for d in range(min(most, 2 * rows) + 1)) / 4**rows
        found += differ * bits
    return found


@pytest.mark.parametrize("recall", [0.5, 0.99, 0.9999])
def test_the_prefilter_takes_a_fifth_of_the_misses_at_the_threshold(recall):
    allowed = (1 - recall) / 5
    for threshold in (0.3, 0.5, 0.8, 0.95):
        chosen = plan(threshold, recall)
        most = chosen.most_differing
        assert 1 - passing(most, threshold) <= allowed
        # Documents of some lengths differ in a bit more than those of very many shingles.
        assert 1 - passing(most - 3, threshold) > allowed
        assert chosen.bands
        assert chosen.rows
        missed = (1 - threshold**chosen.rows) ** chosen.bands + 1 - passing(most, threshold)
        assert missed <= (1 - recall) * 1.2
    assert plan(1.0, recall).most_differing == 4


@cache
def bands_needed(rows: int) -> int:
    """Count, one by one, the bands that find pairs at 0.8 with a recall of 0.99."""
    enough = (
        plan(0.8, bands=bands, rows=rows).probability(0.8) >= 0.99 for bands in range(1, 2000)
    )
    return 1 + next(bands for bands, found in enumerate(enough) if found)


def expected_cost(bands: int, rows: int, documents: int, background: Background) -> float:
    """Count the cost of a banding in the open, as the plan weighs it."""
    most = plan(0.8).most_differing
    met = [1 - (1 - s**rows) ** bands for s in background.similarities if s < 0.8]
    near = [passing(most, s) for s in background.similarities if s < 0.8]
    compared = sum(p * q for p, q in zip(met, near, strict=True))
    pairs = documents * (documents - 1) / 2 / len(background.similarities)
    blocks = math.ceil(max(bands * rows, 128) / 128)
    filled = bands * rows * math.exp(-background.shingles / 128)
    sketch = background.shingles * (SPREAD_COST * blocks + FILL_COST * filled)
    sketch += BLOCK_COST * blocks + AT_ONCE.band * bands
    compare = PAIR_COST + SHINGLE_COST * background.shingles
    return documents * sketch + pairs * (sum(met) * AT_ONCE.meeting + compared * compare)


@pytest.mark.long
@given(
    documents=st.integers(2, 10**8),
    similarities=st.lists(st.floats(0, 0.6), min_size=1, max_size=5),
    shingles=st.floats(10, 10_000),
)
def test_no_other_banding_that_keeps_the_promise_costs_less(documents, similarities, shingles):
    background = Background(np.array(similarities), shingles)
    chosen = plan(0.8, 0.99, documents=documents, background=background)
    assert chosen.bands
    assert chosen.rows
    best = expected_cost(chosen.bands, chosen.rows, documents, background)
    for rows in range(1, 20):
        bands = bands_needed(rows)
        if bands * rows <= MAX_ROWS:
            assert best <= expected_cost(bands, rows, documents, background) * (1 + 1e-9)


def rows_of(**given):
    rows = plan(**given).rows
    assert rows
    return rows


def test_more_documents_make_stricter_bands():
    rows = [rows_of(documents=10**power) for power in range(2, 10)]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


def test_a_corpus_that_is_alike_by_nature_makes_stricter_bands():
    assert rows_of(background=0.3) > rows_of(background=0.01)


def test_the_usual_optimiser_misses_most_pairs_at_the_threshold_and_the_plan_does_not():
    usual = plan(0.8, signature=128)
    assert (usual.bands, usual.rows) == (9, 13)
    assert usual.candidate(0.8) == pytest.approx(0.40, abs=0.005)
    assert 0.35 < usual.probability(0.8) < 0.40
    assert plan(0.8, 0.99).probability(0.8) >= 0.99


def test_weight_on_misses_lowers_the_curve_and_weight_on_false_candidates_raises_it():
    fitted = [plan(0.8, signature=128, miss_weight=w).cascade for w in (0.05, 0.5, 0.95)]
    halves = [cascade.half for cascade in fitted if cascade]
    assert len(halves) == 3
    assert halves == sorted(halves, reverse=True)
    assert halves[0] > halves[-1]


def test_a_fitted_plan_has_the_least_weighted_error_of_all_bandings():
    chosen = plan(0.6, signature=40, miss_weight=0.7).cascade
    grid = np.linspace(0, 1, 20_001)

    def cost(bands: int, rows: int) -> float:
        found = 1 - (1 - grid**rows) ** bands
        missed = np.where(grid >= 0.6, 1 - found, 0).mean()
        false = np.where(grid < 0.6, found, 0).mean()
        return 0.7 * missed + 0.3 * false

    costs = {rows: cost(40 // rows, rows) for rows in range(1, 41)}
    assert chosen
    assert chosen.rows_per_band
    assert costs[chosen.rows_per_band] == pytest.approx(min(costs.values()), rel=1e-3)


def test_bands_and_rows_are_taken_as_given():
    given_plan = plan(0.8, bands=20, rows=5)
    assert (given_plan.bands, given_plan.rows, given_plan.signature) == (20, 5, 100)
    assert given_plan.cascade == Cascade.banding(20, 5)


def test_a_cascade_is_taken_as_given():
    chosen = plan(0.8, cascade="or:4 and:4 or:4 and:4")
    assert chosen.signature == 256
    assert chosen.candidate(0.2) == pytest.approx(0.026742, abs=5e-7)


def test_recall_one_is_the_exact_join():
    chosen = plan(0.7, recall=1)
    assert chosen.cascade is None
    assert chosen.probability(0.7) == 1
    assert chosen.probability(0.69) == 0
    assert "every pair" in chosen.sentence()


def test_a_plan_reads_as_a_sentence_and_a_small_table():
    chosen = plan(0.8, bands=20, rows=5, documents=1000)
    assert chosen.sentence().startswith("20 bands of 5 rows, signatures of 100 rows: a pair at 0.8")
    assert "1,000 documents" in chosen.sentence()
    table = {point.similarity: point for point in chosen.table()}
    assert table[0.3].candidate == pytest.approx(0.0475, abs=5e-5)
    assert table[0.8].candidate == pytest.approx(1 - 0.000356, abs=5e-7)
    assert 0.000356 < table[0.8].missed < 0.000356 + 0.002
    assert f"{math.floor(1e6 * table[0.8].found) / 1e6}" in chosen.sentence()


@pytest.mark.parametrize("given_bands", [{"bands": 20, "rows": 5}, {"cascade": "and:4 or:2"}])
def test_a_plan_of_given_bands_speaks_of_no_recall(given_bands):
    sentence = plan(0.8, **given_bands).sentence()
    assert "asked" not in sentence
    assert "recall" not in sentence
    assert "(0.99 asked)" in plan(0.8).sentence()


def test_a_fitted_plan_says_why_and_which_bands_have_the_recall():
    fitted, planned = plan(0.8, signature=100), plan(0.8, 0.99)
    assert (fitted.bands, fitted.rows) == (8, 12)
    assert (planned.bands, planned.rows) == (9, 4)
    sentence = fitted.sentence()
    assert "(below the 0.99 asked)" in sentence
    assert sentence.endswith(
        " It has the fewest weighted errors, by area, that so many rows allow: misses from 0.8 up, "
        "and false candidates below. "
        "A recall of 0.99 takes 9 bands of 4 rows, signatures of 36 rows: bands of fewer rows, "
        "with more false candidates, and no length given."
    )


@pytest.mark.parametrize(
    ("given_plan", "end"),
    [
        ({"recall": 1}, "A recall of 1 takes the exact join."),
        ({"threshold": 0.001}, "A recall of 0.99 takes more than 4,096 rows."),
        ({"miss_weight": 1}, "and false candidates below."),
    ],
)
def test_a_fitted_plan_names_no_bands_where_none_has_the_recall_or_its_own_have(given_plan, end):
    assert plan(**{"signature": 100, **given_plan}).sentence().endswith(end)


def test_a_fitted_plan_of_bits_names_the_bits_that_have_the_recall():
    planned = plan(0.8, 0.99, metric="cosine")
    told = f"{planned.bands} bands of {planned.rows} bits, sketches of {planned.signature:,} bits."
    assert plan(0.8, metric="cosine", signature=100).sentence().endswith(f"takes {told}")


def test_a_stated_probability_is_never_above_the_true_one():
    chosen = plan(0.8, bands=12, rows=5)
    stated = float(chosen.sentence().split("probability ")[1].split()[0])
    assert stated <= chosen.probability(0.8) < stated + 1e-6


def test_the_expected_false_candidates_follow_the_measured_background():
    background = Background(np.array([0.0, 0.2]), 100.0)
    chosen = plan(0.8, bands=10, rows=2, documents=101, background=background)
    expected = 101 * 100 / 2 * 0.5 * (1 - (1 - 0.04) ** 10)
    assert chosen.false_candidates == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.5}, "threshold=1.5: use a number from 0 to 1"),
        ({"threshold": 0}, "every pair similar"),
        ({"threshold": "0.8"}, "threshold='0.8' is not a number"),
        ({"threshold": True}, "is not a number"),
        ({"recall": -0.1}, "recall=-0.1"),
        ({"bands": 5}, "bands= and rows= go together"),
        ({"bands": 0, "rows": 5}, "bands=0"),
        ({"bands": 5, "rows": 5, "cascade": "and:2"}, "cannot be used together"),
        ({"documents": -1}, "documents=-1"),
        ({"background": 2}, "background=2"),
        ({"signature": 0}, "signature=0"),
        ({"signature": 128, "miss_weight": 2}, "miss_weight=2"),
        ({"signature": 128, "bands": 5, "rows": 5}, "leave out bands=, rows= and cascade="),
        ({"threshold": 0.0001}, "needs more than 4,096 rows"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(arguments, message):
    with pytest.raises(SettingsError, match=message) as error:
        plan(**arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("corpus", "size"), [("articles", 6), ("bible", 7), ("licenses", 5), ("poetry", 2)]
)
def test_the_shingle_is_the_smallest_that_random_documents_rarely_share(corpora, corpus, size):
    documents = normalise(read(corpora / corpus / "docs.jsonl").texts)
    chosen = sample(documents, Groups.of(documents).representatives)
    smallest = usual_size(documents, chosen)
    shingling, background, reason = choose_shingle(
        documents, chosen, multiset=False, smallest=smallest
    )
    assert (shingling.unit, shingling.size) == ("chars", size)
    assert background.mean < 0.05
    assert "similar" in reason


def test_the_sample_depends_on_what_documents_say_and_not_on_their_order():
    texts = [f"document number {i} of the pile" for i in range(500)]
    forward, backward = (normalise(pa.array(each)) for each in (texts, texts[::-1]))
    chosen = [
        {documents.text(row) for row in sample(documents, Groups.of(documents).representatives)}
        for documents in (forward, backward)
    ]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 200


def test_a_sample_of_long_documents_stays_small():
    texts = [f"{i} " + "long " * 500_000 for i in range(4)]
    documents = normalise(pa.array(texts))
    assert len(sample(documents, np.arange(4))) == 1
    longer = normalise(pa.array([text * 2 for text in texts]))
    assert len(sample(longer, np.arange(4))) == 0


def test_documents_too_long_to_measure_get_the_usual_shingle():
    texts = ["中文字" * 500_000 + str(i) for i in range(2)]
    result = lookalike.find(texts, threshold=0.3)
    assert result.plan.shingle == "chars:2"
    assert result.pair_count == 1


def test_one_document_or_none_gets_the_usual_shingle():
    assert lookalike.find(["only this"]).plan.shingle == "chars:5"
    assert lookalike.find([]).plan.shingle == "chars:5"
    assert lookalike.find(["只有一首诗在这里"]).plan.shingle == "chars:2"


def test_a_pile_of_near_copies_does_not_pass_for_the_background():
    prose = "the tide tables hung on the wall of the harbour office beside the barometer "
    texts = [prose + str(i) for i in range(6)] + ["quite another matter: bread, rye and salt"]
    assert lookalike.find(texts).plan.shingle == "chars:5"
    reason = lookalike.find(texts[:6]).plan.shingle_reason
    assert reason
    assert "too few unrelated documents to measure by" in reason


def test_a_shingle_that_makes_random_documents_alike_is_doubted():
    texts = [" ".join(f"{w} {i}" for w in ("salt", "bread", "rye", "oven")) for i in range(20)]
    texts = [f"{text} {chr(97 + i)} some letters here" for i, text in enumerate(texts)]
    (warning,) = lookalike.find(texts, shingle="chars:1", threshold=0.99).summary.warnings
    assert "use a longer shingle=" in warning
    documents = normalise(pa.array(["first of all", "entirely different words"]))
    rows = np.arange(2)
    shingling = Shingling("chars", 5)
    assert shingle_warnings(documents, rows, shingling, measure(documents, rows, shingling)) == []


def test_words_that_are_whole_phrases_are_doubted():
    thai = "สวัสดีครับวันนี้อากาศดีมากและเราจะไปเดินเล่นริมแม่น้ำด้วยกัน"
    result = lookalike.find([thai, thai[::-1]], shingle="words:2")
    (warning,) = result.summary.warnings
    assert "without spaces; use characters, as shingle='chars:5'" in warning
    assert lookalike.find([thai, "x"], shingle="chars:5").summary.warnings == ()
