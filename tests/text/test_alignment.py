"""Two texts side by side: nothing is lost, and as many shared words as can be stand together."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.text.alignment import aligned_blocks, in_order
from lookalike.text.passages import Passage, shared_passages

WORDS = st.lists(st.sampled_from(["sea", "tide", "moon.", "(ebb)", "\n\n", "潮", "é"]), max_size=40)


def follow_each_other(chosen):
    return all(
        one.a_end <= other.a_start and one.b_end <= other.b_start for one, other in pairwise(chosen)
    )


@st.composite
def passages(draw):
    """Give passages in the order of the second text, anywhere in the first."""
    lengths = draw(st.lists(st.integers(1, 5), max_size=8))
    found, at = [], 0
    for words in lengths:
        start = draw(st.integers(0, 20))
        found.append(Passage(start, start + words, at, at + words, words))
        at += words + draw(st.integers(0, 2))
    return found


@given(passages())
def test_no_other_passages_in_order_have_more_words(given_passages):
    chosen = in_order(given_passages)
    assert chosen == sorted(chosen)
    assert follow_each_other([given_passages[at] for at in chosen])
    most = max(
        sum(one.words for one in some)
        for size in range(len(given_passages) + 1)
        for some in combinations(given_passages, size)
        if follow_each_other(some)
    )
    assert sum(given_passages[at].words for at in chosen) == most


@given(WORDS, WORDS)
def test_blocks_have_every_word_of_both_in_order(first, second):
    a, b = " ".join(first), " ".join(second)
    found = shared_passages(a, b, shortest=2)
    blocks = aligned_blocks(a, b, found)
    for text, spans in (
        (a, [(one.a_start, one.a_end) for one in blocks]),
        (b, [(one.b_start, one.b_end) for one in blocks]),
    ):
        assert "".join(text[start:end] for start, end in spans).split() == text.split()
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for block in blocks:
        if block.passage is not None:
            passage = found[block.passage]
            assert block.a_start <= passage.a_start < passage.a_end <= block.a_end
            assert block.b_start <= passage.b_start < passage.b_end <= block.b_end


def test_signs_around_a_passage_stand_with_it():
    a, b = 'He said: "the sea is very deep." Then', "and (the sea is very deep)!"
    before, shared, after = lookalike.compare(a, b).aligned()
    assert a[shared.a_start : shared.a_end] == '"the sea is very deep."'
    assert b[shared.b_start : shared.b_end] == "(the sea is very deep)!"
    assert (before.passage, shared.passage, after.passage) == (None, 0, None)


def test_lists_of_tokens_have_no_columns():
    assert lookalike.compare(["a"] * 9, ["a"] * 9).aligned() == []
