"""What a sample told is kept in a work folder, and is not measured again for another threshold."""

import json
from typing import Any

import pytest

import lookalike
from lookalike.recipe import choosing
from made_documents import near_duplicates
from source_files import write_records

WAYS: dict[str, dict[str, Any]] = {
    "sets": {},
    "frequent shingles left out": {"max_df": 0.2},
    "multisets": {"multiset": True, "shingle": "words:2"},
    "tf-idf": {"metric": "cosine", "weights": "tf-idf"},
}


@pytest.fixture
def path(tmp_path):
    texts = near_duplicates(300, seed=5)
    records = [{"id": at, "text": text} for at, text in enumerate(texts)]
    return write_records(tmp_path / "docs.jsonl", records)


@pytest.fixture
def measured(monkeypatch):
    """Count how often a corpus is measured."""
    calls = []

    def note(*given, measure=choosing._measured, **named):
        calls.append(given)
        return measure(*given, **named)

    monkeypatch.setattr(choosing, "_measured", note)
    return calls


def facts(result):
    record = result.record()
    plain = {name: record[name] for name in ("recipe", "plan", "counts", "warnings", "score")}
    return result.pairs.to_pylist(), result.clusters.to_pylist(), plain


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_another_threshold_gives_the_same_as_without_it(way, path, tmp_path, measured):
    options = WAYS[way]
    for threshold in (0.8, 0.6, 0.95):
        fresh = lookalike.find(path, threshold=threshold, **options)
        measured.clear()
        again = lookalike.find(path, threshold=threshold, work=tmp_path / "work", **options)
        assert facts(again) == facts(fresh)
        assert len(measured) == (threshold == 0.8)


def test_what_decides_it_has_it_measured_again(path, tmp_path, measured):
    work = tmp_path / "work"
    lookalike.find(path, work=work)
    lookalike.find(path, work=work, recall=0.9)
    lookalike.dedup(path, work=work)
    lookalike.find(path, work=work, bands=9, rows=3)
    # Bands that are given need no larger sample.
    assert len(measured) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "other"])
def test_a_file_that_is_damaged_is_not_trusted(damage, path, tmp_path, measured):
    work = tmp_path / "work"
    before = lookalike.find(path, work=work, threshold=0.7)
    kept = work / "measured.json"
    text = kept.read_text()
    plain = json.loads(text)
    plain["content"]["metric"]["shingle"] = "chars:12"
    changed = {"cut": text[:-9], "changed": json.dumps(plain), "other": '["no", "choice"]'}
    if damage == "gone":
        kept.unlink()
    else:
        kept.write_text(changed[damage])
    again = lookalike.find(path, work=work, threshold=0.7)
    assert len(measured) == 2
    assert facts(again) == facts(before)
    assert kept.read_text() == text
