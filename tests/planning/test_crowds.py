"""Crowds are told from chance on a sample, and an index that packs them needs fewer bands."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from lookalike.index.index import Index
from lookalike.planning import crowds
from lookalike.planning.bandings import AT_ONCE, STORED, cheapest
from lookalike.planning.crowds import crowded_shares
from lookalike.planning.sampling import Background, measure
from lookalike.sketches import minhash
from lookalike.text.shingles import Shingling
from made_documents import documents_of

WORDS = Shingling("words", 1)
MANY = 10**6


def page(number: int, *, template: int = 0, version: int = 0) -> str:
    """Make a page of 60 words, of which some are of a template, and few of a version."""
    common = [f"menu{place}" for place in range(template)]
    own = [f"w{number}x{place}" for place in range(60 - template - 6)]
    return " ".join([*common, *own, *(f"v{number}x{version}x{place}" for place in range(6))])


def bands_of(chosen: Any) -> int:
    """Count the bands of a banding or a plan."""
    assert chosen.bands is not None
    return int(chosen.bands)


@pytest.fixture(scope="module")
def mixed():
    """Give a sample of which one page in four stands on a template, and some have versions."""
    pages = [page(number, template=18 if number % 4 == 0 else 0) for number in range(300)]
    versions = [page(number, version=one) for number in range(1, 90, 4) for one in range(1, 4)]
    return documents_of([*pages, *versions])


def test_the_shares_are_those_of_a_twin(mixed):
    """Of one of each few that are close, bucket by bucket, by plain counting."""
    signatures, _ = minhash.sign_texts(mixed, WORDS, rows=128, seed=0)
    rows = [tuple(one) for one in signatures.tolist()]
    left: list[tuple[int, ...]] = []
    for one in rows:
        # Versions share 54 of 66 words, and pages of the template 18 of 102.
        if all(sum(map(int.__eq__, one, other)) < 0.5 * 128 for other in left):
            left.append(one)
    shares = crowded_shares(mixed, WORDS, MANY)
    assert len(left) == 300
    for width, share in enumerate(shares, 1):
        met = crowded = 0
        for band in range(min(128 // width, crowds.MOST_BANDS)):
            buckets = Counter(one[band * width : (band + 1) * width] for one in left)
            met += sum(size * (size - 1) for size in buckets.values())
            crowded += sum(size * (size - 1) for size in buckets.values() if size >= 3)
        assert share == pytest.approx(crowded / met if met else 0.0)
    assert min(shares[:3]) > 0.9


def test_versions_of_pages_are_no_crowd():
    """Of pages in five versions each bucket has five; in a larger corpus it has five as well."""
    sample = documents_of([page(number, version=one) for number in range(60) for one in range(5)])
    assert not any(crowded_shares(sample, WORDS, MANY))


def test_a_bucket_is_a_crowd_by_how_many_it_has_in_the_whole_corpus(mixed):
    """Of 369 sampled pages 75 share a template, which are a crowd among a million only."""
    assert crowded_shares(mixed, WORDS, MANY)[1] > 0.9
    assert not any(crowded_shares(mixed, WORDS, 370))


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["one"], ["one two", "one two"]])
def test_few_documents_are_no_crowd(texts):
    assert not any(crowded_shares(documents_of(texts), WORDS, MANY))


def test_crowds_make_a_stored_document_cheaper_by_fewer_bands_and_one_at_once_no_other(mixed):
    background = measure(mixed, np.arange(300), WORDS)
    known = Background(
        background.similarities, background.shingles, crowded=crowded_shares(mixed, WORDS, MANY)
    )
    loose, packed = (cheapest(0.8, 0.99, MANY, one, STORED) for one in (background, known))
    assert bands_of(packed) < bands_of(loose)
    assert packed.rows < loose.rows
    assert cheapest(0.8, 0.99, MANY, known, AT_ONCE) == cheapest(
        0.8, 0.99, MANY, background, AT_ONCE
    )


def test_beyond_the_rows_that_were_measured_no_meeting_is_taken_for_one_in_a_crowd(mixed):
    alike = measure(mixed, np.arange(300), WORDS)
    short, none = (
        cheapest(
            0.8, 0.99, MANY, Background(alike.similarities, alike.shingles, crowded=shares), STORED
        )
        for shares in ((1.0,), (1.0, *[0.0] * 15))
    )
    assert short == none


def test_an_index_is_planned_by_the_crowds_of_its_sample(tmp_path, monkeypatch):
    given: dict[str, Any] = {
        "like": [page(number, template=18 if number % 4 == 0 else 0) for number in range(300)],
        "documents": MANY,
        "shingle": "words:1",
    }
    with Index.create(tmp_path / "measured.lookalike", **given) as index:
        packed = index.plan
    monkeypatch.setattr("lookalike.recipe.choosing.crowded_shares", lambda *_: ())
    with Index.create(tmp_path / "not.lookalike", **given) as index:
        assert bands_of(packed) < bands_of(index.plan)
