"""Two documents compared: the numbers are the textbook's."""

import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.base.errors import SettingsError, SourceError
from lookalike.learn import textbook

ROOT = Path(__file__).parent.parent.parent

# The textbook knows the Unicode of this Python, which may be older than the tables'.
ASSIGNED = st.characters(exclude_categories=["Cn", "Cs"])
any_text = st.one_of(
    st.text(ASSIGNED),
    st.lists(st.sampled_from(["rose", "Rose", "is", "a", "日", "本", "!", "é"]), max_size=12).map(
        " ".join
    ),
)
shinglings = st.sampled_from(["chars:1", "chars:3", "chars:5", "words:1", "words:2", "words:3"])


def expected(a, b, shingle, *, multiset=False):
    unit, _, size = shingle.partition(":")
    gather: Any = textbook.shingle_multiset if multiset else textbook.shingle_set
    first, second = (gather(textbook.canonical(text), int(size), unit) for text in (a, b))
    jaccard: Any = textbook.multiset_jaccard if multiset else textbook.jaccard
    return jaccard(first, second), first, second


@given(any_text, any_text, shinglings)
def test_similarity_and_containment_are_those_of_the_textbook(a, b, shingle):
    found = lookalike.compare(a, b, shingle=shingle)
    similarity, first, second = expected(a, b, shingle)
    assert found.similarity == similarity
    assert found.containment.a_in_b == textbook.containment(first, second)
    assert found.containment.b_in_a == textbook.containment(second, first)
    assert found.shingles == (len(first), len(second))
    assert found.shingle == shingle


@given(any_text, any_text, shinglings)
def test_similarity_of_multisets_is_that_of_the_textbook(a, b, shingle):
    found = lookalike.compare(a, b, shingle=shingle, multiset=True)
    assert found.similarity == expected(a, b, shingle, multiset=True)[0]


@given(any_text, shinglings, st.booleans())
def test_a_text_is_wholly_similar_to_itself_unless_it_is_empty(text, shingle, multiset):
    found = lookalike.compare(text, text, shingle=shingle, multiset=multiset)
    share = 1.0 if textbook.canonical(text) else 0.0
    assert found.similarity == share
    assert tuple(found.containment) == (share, share)
    assert found.identical


@given(any_text, any_text, shinglings)
def test_comparison_is_symmetric(a, b, shingle):
    forward = lookalike.compare(a, b, shingle=shingle)
    backward = lookalike.compare(b, a, shingle=shingle)
    assert forward.similarity == backward.similarity
    assert tuple(forward.containment) == tuple(backward.containment)[::-1]
    assert forward.identical == backward.identical


@given(any_text)
def test_composed_and_decomposed_text_are_identical(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert lookalike.compare(composed, decomposed, shingle="words:2").identical


@pytest.mark.parametrize("shingle", ["words:3", "chars:5", "auto"])
def test_marks_without_words_are_one_shingle(shingle):
    assert lookalike.compare("!!!", "!!!", shingle=shingle).similarity == 1
    assert lookalike.compare("!!!", "???", shingle=shingle).similarity == 0


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "some words"), ("some words", " \n\t")])
def test_an_empty_document_is_similar_to_nothing(a, b):
    found = lookalike.compare(a, b)
    assert found.similarity == 0
    assert tuple(found.containment) == (0, 0)
    assert found.passages == []


def test_case_and_white_space_do_not_matter_unless_they_are_kept():
    a, b = "The  Quick\nBrown Fox", " the quick brown fox "
    assert lookalike.compare(a, b).identical
    assert not lookalike.compare(a, b, normalise="keep-case").identical
    assert lookalike.compare(a, b, normalise="none").similarity < 1


def test_a_quotation_is_contained_and_not_similar():
    folder = ROOT / "examples" / "documents" / "tides"
    whole = (folder / "harbour-almanac.txt").read_text("utf-8")
    quote = " ".join(whole.split()[200:260])
    found = lookalike.compare(quote, whole)
    assert found.containment.a_in_b == 1
    assert found.containment.b_in_a < 0.2
    assert found.similarity < 0.2
    (passage,) = found.passages
    assert " ".join(whole[passage.b_start : passage.b_end].split()) in quote


@pytest.mark.parametrize(
    ("a", "b", "shingle"),
    [
        ("老茶馆里的下雨天很安静", "老茶馆里的晴天很热闹", "chars:2"),
        ("ふるい提灯の小道", "ふるい提灯の町", "chars:2"),
        ("the old tea house", "an old tea house", "chars:5"),
        ("", "", "chars:5"),
    ],
)
def test_the_automatic_shingle_follows_the_script(a, b, shingle):
    found = lookalike.compare(a, b, shingle="auto")
    assert found.shingle == shingle
    assert found.similarity == expected(a, b, shingle)[0]


def test_a_multiset_counts_how_often():
    a, b = "na na na na", "na"
    assert lookalike.compare(a, b, shingle="words:1").similarity == 1
    assert lookalike.compare(a, b, shingle="words:1", multiset=True).similarity == 0.25


def test_passages_are_those_of_the_texts_as_given():
    a, b = "😀 One two three four five.", "e\u0301: one TWO three four five"
    (passage,) = lookalike.compare(a, b).passages
    assert a[passage.a_start : passage.a_end] == "One two three four five"
    assert b[passage.b_start : passage.b_end] == "one TWO three four five"
    assert lookalike.compare(a, b, shortest=6).passages == []


def test_a_long_text_of_one_word_is_compared_with_itself():
    text = "rose " * 10_000
    found = lookalike.compare(text, text, multiset=True)
    assert found.similarity == 1
    assert [passage.words for passage in found.passages] == [10_000]


@pytest.mark.parametrize(
    ("a", "message"),
    [
        (5, "document 'a' is of type int"),
        (b"one two", "document 'a' is of type bytes"),
        (["one"], "document 'b' is of type str where others are lists of tokens"),
        ("a\ud800", "document 'a' holds a lone surrogate"),
    ],
)
def test_what_is_no_text_is_refused(a, message):
    with pytest.raises(SourceError, match=message):
        lookalike.compare(a, "one")


TOKENS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8)


@given(TOKENS, TOKENS, st.sampled_from(["jaccard", "multiset", "cosine"]))
def test_lists_of_tokens_are_compared_as_find_does(a, b, how):
    options: Any = {"multiset": {"multiset": True}, "cosine": {"metric": "cosine"}}.get(how, {})
    found = lookalike.compare(a, b, **options)
    pairs = lookalike.find([a, b], threshold=1e-9, recall=1, **options).pairs["similarity"]
    assert [found.similarity] == (pairs.to_pylist() or [0.0])
    assert found.shingle == "tokens"
    assert (found.a, found.b) == (a, b)
    shared = {*a} & {*b}
    if how == "jaccard":
        assert found.shingles == (len({*a}), len({*b}))
        assert found.containment == (len(shared) / len({*a}), len(shared) / len({*b}))


def test_passages_of_tokens_are_slices_of_the_lists():
    a, b = list("xyabcdez"), list("qabcde")
    (passage,) = lookalike.compare(a, (*b,), shortest=4).passages
    assert a[passage.a_start : passage.a_end] == b[passage.b_start : passage.b_end] == b[1:]
    assert passage.words == 5


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (["a"], "a", {}, "document 'b' is of type str where others are lists of tokens"),
        (["a", None], ["a"], {}, "token 2 of document 'a' is of type NoneType"),
        (["a\ud800"], ["a"], {}, "a token of document 'a' holds a lone surrogate"),
        ([1.5], [2.5], {}, "lists of numbers are vectors, which compare does not take"),
        ([1, 2], [1, 3], {}, "lists of numbers are vectors, which compare does not take"),
        (["a"], ["b"], {"shingle": "words:1"}, "are compared as they are: leave out shingle="),
        (["a"], ["b"], {"normalise": "none"}, "are compared as they are: leave out normalise="),
    ],
    ids=str,
)
def test_lists_that_are_no_tokens_are_refused(a, b, options, message):
    with pytest.raises(lookalike.LookalikeError, match=message):
        lookalike.compare(a, b, **options)


def test_a_list_without_tokens_is_an_empty_document():
    assert lookalike.compare([], ["a"]).similarity == 0
    assert lookalike.compare(["a"], None).shingles == (1, 0)
    assert lookalike.compare([], None).shingles == (0, 0)


@pytest.mark.parametrize("shortest", [0, -1, 2.5, "5", None, True])
def test_a_length_of_passages_that_cannot_be_is_named(shortest):
    with pytest.raises(SettingsError, match=r"^shortest=.*: use a whole number of words from 1"):
        lookalike.compare("one two", "one two", shortest=shortest)


def test_none_is_an_empty_document():
    assert lookalike.compare(None, "one two").similarity == 0


@pytest.mark.parametrize(
    "options",
    [
        {"shingle": "chars:0"},
        {"shingle": "letters:3"},
        {"shingle": "words"},
        {"normalise": "loudly"},
        {"normalise": "none,keep-case"},
        {"shortest": 0},
    ],
)
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(SettingsError):
        lookalike.compare("one", "two", **options)


def test_no_public_name_turns_into_the_module_that_holds_it():
    code = (
        "import types, lookalike; values = {n: getattr(lookalike, n) for n in lookalike.__all__}; "
        "print([n for n, v in values.items() if isinstance(v, types.ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    # That of Spark is one, by its name: lookalike.spark.find.
    assert done.stdout.decode().strip() == "['spark']"
