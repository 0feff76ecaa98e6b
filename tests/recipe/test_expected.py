"""A sample that stands for many more documents than it has."""

import random

import pyarrow as pa
import pytest

from lookalike.recipe import Sample, choose, choose_unseen
from lookalike.settings import Settings

WORDS = [f"w{number}" for number in range(3000)]


def texts(count: int, copies: int) -> pa.Array:
    chance = random.Random(5)
    made = [" ".join(chance.choices(WORDS, k=120)) for _ in range(count)]
    for text in made[:copies]:
        kept = text.split()[:90]
        made.append(" ".join([*kept, *chance.choices(WORDS, k=30)]))  # some 0.6 similar
    return pa.array(made)


def rows_of_plan(documents: pa.Array, expected: int) -> int:
    settings = Settings(shingle="words:2")
    _, plan, _ = choose(settings, Sample.of_array(documents, settings), expected=expected)
    return plan.signature


@pytest.mark.parametrize("copies", [1, 5, 15])
def test_copies_in_a_small_sample_are_not_taken_for_the_share_of_all_pairs(copies):
    # Of 30 documents with 15 copies one pair in thirty is similar: of a million that would be
    # thirty thousand for each document.
    assert rows_of_plan(texts(15, copies), 1_000_000) <= 2 * rows_of_plan(texts(15, 0), 1_000_000)


def test_the_plan_is_for_as_many_as_are_expected():
    settings = Settings(shingle="words:2")
    sample = Sample.of_array(texts(15, 0), settings)
    assert choose(settings, sample, expected=5_000_000).plan.documents == 5_000_000
    assert choose(settings, sample, expected=3).plan.documents == 15
    assert choose_unseen(settings, expected=7).plan.documents == 7
