"""One text by itself: all that is stored of it is what it would be among thousands."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.planning.curves import Cascade
from lookalike.recipe import Recipe, Sample, StoredSketches, choose
from lookalike.recipe.metrics import Jaccard
from lookalike.settings import Settings
from lookalike.text.shingles import Shingling, ignoring
from made_documents import near_duplicates
from text_strategies import EVERY_OPTION, any_text

pytestmark = pytest.mark.kernels

SOME = pa.array(near_duplicates(60, seed=5), pa.large_string())
WORDS = ["a", "b", "ab", "cd e", "the", "to be"]
SIMPLE_TEXTS = [
    "",
    " ",
    "a",
    "?!",
    "ab",
    "abc",
    "To be, or NOT to be: to be!",
    "à la claire fontaine M'EN ALLANT promener",
    "床前明月光 疑是地上霜",
    "the quick brown fox jumps over the lazy dog " * 60,
    "x" * 5000,
]


@cache
def recipe_of(*, estimate: bool = False) -> Recipe:
    given = Settings(shingle="chars:3", threshold=0.5, bands=6, rows=2, estimate=estimate)
    return choose(given, Sample.of_array(SOME, given)).recipe


SOME_HASHES = np.array([*twins.char_hashes("the", 3), 1], np.uint64)
shinglings = st.builds(
    Shingling,
    st.sampled_from(["chars", "words"]),
    st.integers(1, 6),
    ignored=st.sampled_from([None, ignoring(SOME_HASHES)]),
)
bands = st.sampled_from(["and:1", "or:2", "and:2 or:5", "and:7 or:30"]).map(Cascade.parse)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    recipe, cascade = recipe_of(estimate=draw(st.booleans())), draw(bands)
    metric = Jaccard(draw(shinglings), seed=draw(st.integers(0, 2**64 - 1)))
    form = replace(recipe.form, normalisation=draw(st.sampled_from(EVERY_OPTION)))
    rows = max(recipe.rows, cascade.rows)
    return replace(recipe, form=form, metric=metric, cascade=cascade, rows=rows)


def assert_as_among_others(sketches: StoredSketches, text: str) -> bool:
    """Compare what is made of one text with what is made of many; tell whether there was any."""
    made = sketches.of_text(text)
    if made is None:
        return False
    canonical, stored = made
    others = ["another", text, "one more"]
    documents = sketches.recipe.canonical(pa.array(others, pa.large_string()))
    expected = sketches.of(documents)
    assert canonical.text(0) == documents.text(1)
    assert canonical.fingerprints.tolist() == documents.fingerprints[1:2].tolist()
    assert canonical.offsets.tolist() == [0, len(canonical.data)]
    for mine, theirs in zip(stored, expected, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs[1:2].tolist()
    return True


@given(recipes(), any_text | st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_one_text_is_what_it_is_among_others(recipe, text):
    made = assert_as_among_others(StoredSketches(recipe), text)
    if recipe.form.normalisation.raw:
        assert not made
    elif text.isascii():
        assert made


@pytest.mark.parametrize("text", SIMPLE_TEXTS)
@pytest.mark.parametrize("estimate", [False, True])
def test_texts_of_any_length_are_made_in_one_step(estimate, text):
    assert assert_as_among_others(StoredSketches(recipe_of(estimate=estimate)), text)


@pytest.mark.parametrize("text", SIMPLE_TEXTS)
def test_they_are_those_of_the_twin(text):
    recipe = recipe_of()
    made = StoredSketches(recipe).of_text(text)
    assert made is not None
    canonical, stored = made
    plain = twins.canonical(text)
    assert canonical.text(0) == plain
    assert tuple(canonical.fingerprints[0].tolist()) == twins.content_fingerprint(plain)
    elements = twins.elements(twins.char_hashes(plain, 3), multiset=False)
    assert stored.empty.tolist() == [not elements]
    if elements:
        signature = twins.signature(elements, recipe.metric.seed, recipe.words)
        bits = np.array(twins.prefilter_bits(signature), "<u4")
        assert stored.sketches.tobytes() == bits.tobytes()


@pytest.mark.parametrize("text", ["e\u0323\u0301", "\u1112\u1161\u11ab", "lone \ud800"])
def test_what_takes_more_than_tables_goes_the_long_way(text):
    assert StoredSketches(recipe_of()).of_text(text) is None


@pytest.mark.parametrize(
    "settings",
    [{"normalise": "none"}, {"multiset": True}, {"metric": "cosine"}, {"simhash": 3}],
    ids=str,
)
def test_other_recipes_go_the_long_way(settings):
    given = Settings(shingle="chars:3", **settings)
    recipe = choose(given, Sample.of_array(SOME, given)).recipe
    assert recipe.cascade is not None
    if not recipe.layout.filtered:
        assert StoredSketches(recipe).of_text("a text") is None
