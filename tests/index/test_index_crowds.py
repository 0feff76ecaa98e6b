"""Buckets that very many documents share cost a query little, and no answer."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from index_model import answers
from lookalike.index.index import Index
from processes import environment

RECIPE: dict[str, Any] = {"shingle": "words:1", "threshold": 0.6, "bands": 6, "rows": 1}
MANY = 6000


def page(number: int) -> str:
    """Make a page of which a third is on every other: most share a band, and none is similar."""
    common = [f"menu{place}" for place in range(10)]
    return " ".join([*common, *(f"w{number}x{place}" for place in range(20))])


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Give an index in which nearly all documents meet in some buckets."""
    path = tmp_path_factory.mktemp("crowded") / "a.lookalike"
    index = Index.create(path, **RECIPE)
    index.add_all([page(number) for number in range(MANY)])
    yield index
    index.close()


def blocks(index: Index) -> list[Any]:
    with index._store.read() as reader:
        keys = np.array([key for key, _ in reader.largest_buckets(20)], np.int64)
        return [*reader.blocks(keys)]


def test_a_crowd_is_packed_and_said_in_info(crowded):
    packed = sum(len(one.entries) for one in blocks(crowded))
    info = crowded.info()
    largest = info["largest_buckets"][0]
    assert largest > MANY / 10
    assert packed > 0.9 * largest
    assert info["worst_query"]["sketches"] >= largest
    assert info["worst_query"]["bytes"] > 8 * info["worst_query"]["sketches"]
    assert info["bytes_by_part"]["crowds"] > 0
    with crowded._store.read() as reader:
        assert reader.counts()["loose"] < RECIPE["bands"] * MANY - 0.9 * largest


def test_a_crowd_costs_no_answer(crowded):
    for number in range(0, MANY, 397):
        near = page(number).replace("menu3", "menu")
        assert answers(crowded, page(number)) == [(number, 1)]
        assert answers(crowded, near) == [(number, 29 / 31)]
        assert not crowded.admit(MANY, near).added
    assert answers(crowded, " ".join(f"menu{place}" for place in range(10))) == []


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
def test_without_texts_a_crowd_answers_as_loose_rows_do(tmp_path, monkeypatch, metric):
    recipe = RECIPE | {"no_text": True, "metric": metric}
    found = []
    for crowd in (20, 10**6):
        monkeypatch.setattr("lookalike.index.crowded.CROWD_ROWS", crowd)
        with Index.create(tmp_path / f"{crowd}.lookalike", **recipe) as index:
            index.add_all([page(number) for number in range(400)])
            index.remove(range(0, 400, 3))
            assert bool(blocks(index)) == (crowd == 20)
            near = [page(number).replace("menu3", "menu") for number in range(0, 400, 40)]
            found.append([index.query(text) for text in near])
    assert found[0] == found[1]
    assert sum(map(bool, found[0])) >= 6


def test_documents_are_removed_from_crowds_and_come_again(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.index.crowded.BLOCK_ENTRIES", 300)
    with Index.create(tmp_path / "a.lookalike", **RECIPE) as index:
        index.add_all([page(number) for number in range(2000)])
        assert len(blocks(index)) > 3
        assert index.remove(range(0, 2000, 2)) == 1000
        for number in (0, 1, 998, 999):
            assert answers(index, page(number)) == ([(number, 1)] if number % 2 else [])
            assert (index.query(page(number).replace("menu3", "menu")) == []) == (number % 2 == 0)
        before = sum(len(one.entries) for one in blocks(index))
        index.compact()
        assert sum(len(one.entries) for one in blocks(index)) < 0.6 * before
        for number in range(0, 2000, 100):
            assert answers(index, page(number + 1)) == [(number + 1, 1)]
            assert index.admit(number, page(number)).added
            assert answers(index, page(number)) == [(number, 1)]


def test_documents_that_come_one_by_one_become_a_crowd_too(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.index.crowded.CROWD_ROWS", 20)
    monkeypatch.setattr("lookalike.index.crowded.CHECKED_SHARE", 4)
    with Index.create(tmp_path / "a.lookalike", **RECIPE) as index:
        for number in range(400):
            index.add(number, page(number))
        assert blocks(index)
        assert [answers(index, page(number)) for number in range(0, 400, 40)] == [
            [(number, 1)] for number in range(0, 400, 40)
        ]


def test_a_batch_of_pages_that_are_all_alike_is_admitted_in_short_time_and_memory(tmp_path):
    """Compared with each other, three thousand would be millions of pairs in every band."""
    code = """
import json, resource, sys, time
from lookalike.index.index import Index
with Index.create(sys.argv[1], shingle="chars:5", threshold=0.8) as index:
    text = "the page that all of them are, but for a number at the end: "
    index.add_all([text], new_only=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index.remove([0])
    begun = time.process_time()
    added = index.add_all([f"{text}{place % 1000}" for place in range(3000)], new_only=True)
    took = time.process_time() - begun
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([added.documents, added.similar, after - before, took]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.lookalike")],
        env=environment(),
        capture_output=True,
        check=True,
    )
    documents, similar, kilobytes, seconds = json.loads(done.stdout)
    assert (documents, similar) == (1, 2999)
    assert kilobytes < 200_000
    assert seconds < 20
