"""Passages that two texts share, against a slow search that shares no code with the fast one."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.learn import textbook
from lookalike.text.normalise import Normalisation
from lookalike.text.passages import MAX_PLACES, shared_passages, word_spans

# The textbook knows the Unicode of this Python, which may be older than the tables'.
ASSIGNED = st.characters(exclude_categories=["Cn", "Cs"])
VOCABULARY = [
    "a",
    "b",
    "c",
    "Ä",
    "A\u0308",
    "ä",
    "日",
    "本",
    "語",
    "が",
    "か\u3099",
    "😀",
    "x1",
    "Ω",
]
GLUE = [" ", "  ", "\n", ", ", " 😀 ", "-", "\u3000", "! "]

texts = st.lists(st.tuples(st.sampled_from(VOCABULARY), st.sampled_from(GLUE)), max_size=25).map(
    lambda parts: "".join(word + glue for word, glue in parts)
)


def words(text):
    """Give the words of a text in canonical form, by the textbook."""
    return textbook.words(textbook.canonical(text))


def pieces(a, b, **options):
    """Give what the passages cut out of each text."""
    found = shared_passages(a, b, **options)
    return [(a[p.a_start : p.a_end], b[p.b_start : p.b_end]) for p in found]


def oracle(first, second, shortest):
    """From each word of the second on, take the longest run that stands in the first."""
    found, at = [], 0
    while at < len(second):
        runs = []
        for start in range(len(first)):
            length = 0
            while (
                start + length < len(first)
                and at + length < len(second)
                and first[start + length] == second[at + length]
            ):
                length += 1
            runs.append((length, -start))
        length, start = max(runs, default=(0, 0))
        if length >= shortest:
            found.append((-start, at, length))
        at += length if length >= shortest else 1
    return found


@given(texts, texts, st.integers(1, 4))
def test_every_passage_is_that_of_the_slow_search(a, b, shortest):
    found = shared_passages(a, b, shortest=shortest)
    expected = oracle(words(a), words(b), shortest)
    assert [p.words for p in found] == [length for _, _, length in expected]
    for passage, (start, at, length) in zip(found, expected, strict=True):
        assert words(a[passage.a_start : passage.a_end]) == words(a)[start : start + length]
        assert words(b[passage.b_start : passage.b_end]) == words(b)[at : at + length]
        assert len(words(b[: passage.b_start])) == at
        assert len(words(a[: passage.a_start])) == start


@given(texts, texts, st.integers(1, 4))
def test_passages_are_equal_in_canonical_form_and_do_not_overlap_in_b(a, b, shortest):
    found = shared_passages(a, b, shortest=shortest)
    for p in found:
        assert 0 <= p.a_start < p.a_end <= len(a)
        assert words(a[p.a_start : p.a_end]) == words(b[p.b_start : p.b_end])
        assert len(words(a[p.a_start : p.a_end])) == p.words >= shortest
    assert all(left.b_end <= right.b_start for left, right in pairwise(found))


@given(st.text(ASSIGNED))
def test_spans_are_the_words_of_the_text_as_given(text):
    composed = unicodedata.normalize("NFC", text)
    spans = word_spans(composed).tolist()
    assert [composed[start:end] for start, end in spans] == textbook.words(composed)


@given(st.text(ASSIGNED, min_size=1))
def test_a_text_shares_all_its_words_with_itself(text):
    found = shared_passages(text, text, shortest=1)
    assert sum(passage.words for passage in found) == len(word_spans(text))
    assert all((p.a_start, p.a_end) == (p.b_start, p.b_end) for p in found)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "😀😀😀 ",
        "一二三。",
        "e\u0301e\u0301 cafe\u0301: ",
        "\U0001f469\u200d\U0001f680 — ",
        "\ufeff\r\n\t",
    ],
)
def test_offsets_count_characters_of_the_text_as_given(before):
    quote = "the tide comes in twice"
    assert pieces(f"{before}{quote}.", f"He said: {quote.upper()}!") == [(quote, quote.upper())]
    (found,) = shared_passages(f"{before}{quote}.", quote)
    assert (found.a_start, found.a_end) == (len(before), len(before) + len(quote))


@pytest.mark.parametrize(
    "text",
    [
        "déjà vu à Orléans été",
        "がぎぐげござじず",
        "パピプペポバビブ",
        "한국어 문장 하나 둘 셋",
        "ἀρχὴ τοῦ λόγου ἦν ὁ",
    ],
)
def test_composed_and_decomposed_text_share_their_words(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    assert pieces(text, decomposed) == [(text, decomposed)]
    assert pieces(decomposed, text) == [(decomposed, text)]


def test_what_stands_between_words_does_not_matter():
    a, b = "one, two; three\n\nfour -- FIVE", "… One two (three) four/five?"
    assert pieces(a, b) == [("one, two; three\n\nfour -- FIVE", "One two (three) four/five")]


def test_chinese_is_matched_by_characters():
    assert pieces("昨天我去了老茶馆喝茶。", "他说老茶馆喝茶很好") == [("老茶馆喝茶", "老茶馆喝茶")]


def test_shorter_passages_than_asked_are_not_given():
    a, b = "one two three four FIVE", "one two three four six"
    assert pieces(a, b) == []
    assert pieces(a, b, shortest=4) == [("one two three four", "one two three four")]
    assert pieces("", "") == pieces("one", "") == pieces("", "one", shortest=1) == []
    assert pieces("!!! ...", "!!! ...", shortest=1) == []


@pytest.mark.parametrize("shortest", [0, -1])
def test_passages_of_no_words_are_refused(shortest):
    with pytest.raises(ValueError, match="1"):
        shared_passages("a b c", "a b c", shortest=shortest)


def test_of_several_places_the_longest_and_then_the_first_is_given():
    run = "one two three four five"
    a, b = f"{run} x {run} six y {run} six z", f"{run} six"
    (found,) = shared_passages(a, b)
    assert found.words == 6
    assert found.a_start == a.index(f"{run} six")


def test_moved_passages_are_found_in_the_order_of_b():
    first, second = "alpha beta gamma delta epsilon", "red green blue white black"
    assert pieces(f"{first}. {second}.", f"{second}! {first}!") == [
        (second, second),
        (first, first),
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("rose " * 10_000, "rose " * 10_000),
        ("rose " * 10_000, "rose " * 9_999 + "tulip"),
        ("rose rose rose rose rose tulip " * 1500, "rose rose rose rose rose lily " * 1500),
        ("a b " * 5000, "b a " * 5000),
    ],
)
def test_text_that_repeats_itself_is_followed_to_its_end(a, b):
    found = shared_passages(a, b)
    assert sum(passage.words for passage in found) >= len(words(b)) * 5 // 6 - 5


def test_a_passage_that_begins_as_many_others_do_is_found_whole_or_in_pieces():
    run = "at the end of the day"
    a = " ".join(f"{run} n{place}" for place in range(2 * MAX_PLACES))
    b = f"{run} n{2 * MAX_PLACES - 1}"
    assert sum(passage.words for passage in shared_passages(a, b)) >= 6


STRIP_DIGITS = Normalisation.parse("strip-digits")


def test_words_with_stripped_digits_do_not_shift_the_others():
    a, b = "x1y alpha beta gamma delta epsilon 7", "alpha beta gamma delta epsilon"
    assert pieces(a, b, options=STRIP_DIGITS) == [(b, b)]


def test_words_of_which_nothing_is_left_are_no_passage():
    assert pieces("1 2 3 4 5 6", "7 8 9 10 11 12", options=STRIP_DIGITS) == []


def test_options_of_normalisation_decide_what_is_equal():
    plain, other = "eins zwei drei vier fünf", "Eins Zwei Drei Vier Funf"
    assert pieces(plain, other) == []
    assert pieces(plain, other, options=Normalisation.parse("strip-accents")) == [(plain, other)]
    kept = Normalisation.parse("keep-case,strip-accents")
    assert pieces(plain, other, options=kept) == []
    assert pieces(plain, plain.title(), options=Normalisation.parse("none")) == []
    assert pieces(plain, plain, options=Normalisation.parse("none")) == [(plain, plain)]
