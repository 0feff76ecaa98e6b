"""`dedup` and an index: cleaned against what was kept before, and what is kept is added."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike
from compared_corpora import texts_of
from lookalike.base.errors import LookalikeError, SettingsError, SourceError, UnreadableError
from lookalike.index import adding
from lookalike.index import dedup as dedup_module
from lookalike.index.index import Index
from lookalike.index.removing import pages
from lookalike.index.sqlite import SqliteStore
from lookalike.job import look_up
from lookalike.job.work_folder import Work
from lookalike.results import DedupResult
from processes import DEADLINE, environment

# By so many bands every similar pair is found, and by this recall none is ruled out.
EVERY: dict[str, Any] = {"recall": 0.9999999, "threshold": 0.5}
WORDS: dict[str, Any] = EVERY | {"shingle": "words:2", "bands": 60, "rows": 1}


def made(place: Any, documents: dict[Any, Any] | None = None, **options: Any) -> Any:
    with Index.create(place, **options) as index:
        for name, text in (documents or {}).items():
            index.add(name, text)
    return place


def content(place: Any) -> dict[Any, Any]:
    """Give what an index holds: canonical documents and metadata by their ids."""
    with Index(place) as index:
        recipe = index.recipe
        found = {}
        for page in pages(index._store):
            for one in page:
                with index._store.read() as reader:
                    (entry,) = reader.entries(np.array([one.entry]))
                found[one.id] = (entry.content, entry.body, entry.sketch, one.metadata)
        return {"documents": found, "recipe": recipe.fingerprint, "types": index.metadata}


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {*pairwise(words)} or {(*words,)}


def jaccard(a: str, b: str) -> float:
    x, y = shingles(a), shingles(b)
    return len(x & y) / len(x | y)


def rows_of(result: DedupResult) -> dict[Any, tuple[Any, float, str]]:
    return {
        row["id"]: (row["kept"], row["similarity"], row["kept_in"])
        for row in result.removed.to_pylist()
    }


def cleaned_by_hand(source, known):
    """Give what is removed, and for what, by comparing all with all."""
    removed: dict[Any, tuple[Any, float, str]] = {}
    kept: dict[Any, str] = {}
    for name, text in source.items():
        if not text:
            continue
        seen = [(-jaccard(text, other), one) for one, other in known.items() if other]
        best = min((one for one in seen if -one[0] >= 0.5), default=None)
        if best is not None:
            removed[name] = best[1], -best[0], "index"
            continue
        mine = [(-jaccard(text, other), place) for place, other in enumerate(kept.values())]
        near = min((one for one in mine if -one[0] >= 0.5), default=None)
        if near is None:
            kept[name] = text
        else:
            removed[name] = [*kept][near[1]], -near[0], "source"
    return removed


@pytest.fixture(params=["all pairs at once", "kept ones alone"])
def either_way(request, monkeypatch):
    """Let documents that are left be thinned among all pairs, or compared with kept ones alone."""
    if request.param == "kept ones alone":
        monkeypatch.setattr("lookalike.job.dedup.PAIRS_PER_DOCUMENT", 0)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_similar_to_one_in_the_index_goes_and_names_the_most_similar(
    seed, tmp_path, either_way
):
    texts = texts_of(seed, 60)
    known, source = dict(enumerate(texts[:25])), dict(enumerate(texts[25:]))
    place = made(tmp_path / "pages.lookalike", known, **WORDS)
    with lookalike.dedup(source, against=place) as result:
        expected = cleaned_by_hand(source, known)
        found = rows_of(result)
        assert found.keys() == expected.keys()
        for name, (kept, similarity, where) in expected.items():
            assert found[name][1] == pytest.approx(similarity)
            assert found[name][2] == where
            if where == "index":
                assert found[name][0] == kept
        gone = sum(where == "index" for _, _, where in expected.values())
        assert result.counts["removed_for_index"] == gone > 0
        kept_ids = [name for name in source if name not in expected]
        assert result.kept_ids.to_pylist() == kept_ids
        assert result.kept == {name: source[name] for name in kept_ids}


def vectors_of(seed, many):
    choice = np.random.default_rng(seed)
    base = choice.standard_normal((8, 24))
    noise = choice.standard_normal((many, 24)) * choice.uniform(0, 1.2, (many, 1))
    return (base[choice.integers(0, 8, many)] + noise).astype(np.float32)


def words_of(corpora, name, pairs, many):
    """Give so many of the documents that have a similar one, and their neighbours."""
    lines = (corpora / name / pairs).read_text().splitlines()[::5][:many]
    wanted = {name for line in lines for name in line.split("\t")[:2]}
    found = map(json.loads, (corpora / name / "docs.jsonl").read_text().split("\n")[:-1])
    return {one["id"]: one["text"] for n, one in enumerate(found) if one["id"] in wanted or n < 60}


def kinds(seed, corpora=None):
    if corpora is not None:
        verses = words_of(corpora, "bible", "pairs-words3.tsv", 150)
        options = {"threshold": 0.5, "shingle": "words:3", "bands": 50, "rows": 2}
        yield "verses", verses, options, {}
        licenses = words_of(corpora, "licenses", "pairs-chars5.tsv", 150)
        options = {"threshold": 0.7, "shingle": "chars:5", "bands": 20, "rows": 4}
        yield "licenses", licenses, options, {}
        return
    texts = dict(enumerate(texts_of(seed, 120)))
    yield "multisets", texts, {**WORDS, "multiset": True}, {}
    bits = {"bands": 40, "rows": 4, "metric": "cosine", "threshold": 0.7}
    yield "cosine", texts, {"shingle": "words:1", **bits}, {}
    tokens = {name: text.split() for name, text in texts.items() if text}
    yield "tokens", tokens, {"bands": 60, "rows": 1, **EVERY}, {"like": [*tokens.values()]}
    vectors = dict(enumerate(vectors_of(seed, 150)))
    yield "vectors", vectors, bits, {"dimension": 24}


def check_like_a_corpus(tmp_path, documents, options, creating, some=20):
    """Compare an index with a reference corpus of the same documents, by the same recipe."""
    names = [*documents]
    known = {name: documents[name] for name in names[:: len(names) // some]}
    source = {name: documents[name] for name in names if name not in known}
    place = made(tmp_path / "known.lookalike", known, **options, **creating)
    given = {name: value for name, value in options.items() if name not in ("recall",)}
    with lookalike.dedup(source, against=known, **options) as result:
        expected = rows_of(result)
    with lookalike.dedup(source, against=place, **given) as result:
        found = rows_of(result)
        assert result.run.recipe == Index(place).recipe.fingerprint
    assert found.keys() == expected.keys()
    for name, (kept, similarity, where) in expected.items():
        if where == "reference":
            # Of equally similar ones a reference names the first, and an index that of least id.
            assert found[name][1:] == (similarity, "index")
        elif found[name][2] == "source":
            assert found[name] == (kept, similarity, "source")
        else:
            # One that is similar to a kept one of the source as well.
            assert options["threshold"] <= found[name][1] <= similarity
    assert {"index"} < {where for _, _, where in found.values()}
    return found


@pytest.mark.parametrize("kind", range(4))
def test_an_index_removes_what_a_reference_of_the_same_documents_does(kind, tmp_path):
    _, documents, options, creating = [*kinds(3)][kind]
    check_like_a_corpus(tmp_path, documents, options, creating)


@pytest.mark.parametrize("kind", range(2))
def test_it_does_on_real_texts(kind, tmp_path, corpora):
    _, documents, options, creating = [*kinds(3, corpora)][kind]
    check_like_a_corpus(tmp_path, documents, options, creating, some=100)


def write_days(folder, many=240):
    """Write the crawls of three days, with years, and pages that come again."""
    texts = texts_of(5, many)
    days = []
    for day in range(3):
        mine = range(day * many // 3, (day + 1) * many // 3)
        lines = [{"id": f"p{n}", "text": texts[n], "year": 2000 + n % 5} for n in mine]
        path = folder / f"day{day}.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
        days.append(path)
    return days


def kept_of(folder):
    return [
        json.loads(line)["id"]
        for path in sorted((folder / "kept").iterdir())
        for line in path.read_text().splitlines()
    ]


def test_day_by_day_the_same_is_kept_as_of_all_days_at_once(tmp_path):
    days = write_days(tmp_path)
    place = made(tmp_path / "pages.lookalike", **WORDS)
    said: list[str] = []
    kept = []
    for number, day in enumerate(days):
        out = tmp_path / f"clean{number}"
        lookalike.dedup(day, index=place, out=out, metadata="year", say=said.append).close()
        kept += kept_of(out)
    with lookalike.dedup(lookalike.paths(*days), **WORDS) as result:
        assert kept == result.kept_ids.to_pylist()
        assert 10 < len(kept) < 200
    with Index(place) as index:
        assert sorted(index) == sorted(kept)
        assert index.metadata == {"year": "integer"}
        (found, *_) = index.query(json.loads(days[0].read_text().splitlines()[0])["text"])
        assert (found.id, found.metadata) == ("p0", {"year": 2000})
    assert "Added" in said[-1]


def test_a_result_that_is_there_is_opened_and_adds_nothing(tmp_path):
    day, *_ = write_days(tmp_path)
    place = made(tmp_path / "pages.lookalike", **WORDS)
    out = tmp_path / "clean"
    with lookalike.dedup(day, index=place, out=out) as result:
        tables = result.removed, result.clusters, result.counts
    with Index(place) as index:
        index.remove(["p0"])
    before = content(place)
    said: list[str] = []
    with lookalike.dedup(day, index=place, out=out, say=said.append) as again:
        assert again.was_there
        assert (again.removed, again.clusters, again.counts) == tables
        assert again.run.indexes == [str(place)]
    assert said == [f"{out} already holds the result of this job."]
    assert content(place) == before


def test_a_source_in_memory_is_added_too(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"old": "one two three four"}, **WORDS)
    pages = [
        {"id": "a", "text": "one two three four", "n": 1},
        {"id": "b", "text": "five six seven eight", "n": 2.5},
        {"id": "c", "text": "", "n": None},
    ]
    with lookalike.dedup(pages, index=place, metadata=["n"]) as result:
        assert rows_of(result) == {"a": ("old", 1.0, "index")}
        assert [page["id"] for page in result.kept] == ["b", "c"]
    with Index(place) as index:
        assert sorted(index) == ["b", "c", "old"]
        assert index.query("five six seven eight")[0].metadata == {"n": 2.5}


def test_an_index_that_is_open_serves_and_stays_open(tmp_path):
    with Index.create(tmp_path / "pages.lookalike", **WORDS) as index:
        for day in (["one two three"], ["one two three", "four five six"]):
            lookalike.dedup(dict(zip("ab", day, strict=False)), index=index).close()
        assert sorted(index) == ["a", "b"]
        with lookalike.dedup({"x": "four five six"}, against=index) as result:
            assert rows_of(result) == {"x": ("b", 1.0, "index")}


def test_a_page_that_comes_again_is_compared_and_if_kept_takes_the_place_of_the_older(tmp_path):
    known = {"home": "one two three four", "news": "some news of today indeed"}
    place = made(tmp_path / "pages.lookalike", known, **WORDS)
    pages = {"home": "all of this page is new now", "news": "some news of today indeed"}
    with lookalike.dedup(pages, index=place) as result:
        assert rows_of(result) == {"news": ("news", 1.0, "index")}
    with Index(place) as index:
        assert sorted(index) == ["home", "news"]
        assert index.query(known["home"]) == []
        assert [one.id for one in index.query(pages["home"])] == ["home"]


def test_ids_are_text_as_soon_as_some_are(tmp_path):
    texts = ["one two three", "four five six", "seven eight nine"]
    numbers = made(tmp_path / "numbers.lookalike", {7: texts[0]}, **WORDS)
    names = made(tmp_path / "names.lookalike", {"x": texts[1]}, **WORDS)
    source = dict(enumerate([*texts, texts[2]]))
    with lookalike.dedup(source, against=numbers) as result:
        assert rows_of(result) == {0: (7, 1.0, "index"), 3: (2, 1.0, "source")}
    with lookalike.dedup(source, against=names) as result:
        assert rows_of(result) == {"1": ("x", 1.0, "index"), "3": ("2", 1.0, "source")}
        assert result.kept_ids.to_pylist() == ["0", "2"]
        assert result.kept == {0: texts[0], 2: texts[2]}


def test_several_indexes_and_corpora_may_be_given(tmp_path):
    texts = texts_of(9, 90)
    parts = [dict(enumerate(texts[begin : begin + 15])) for begin in (0, 15, 30)]
    indexes = [
        made(tmp_path / f"{number}.lookalike", part, **WORDS) for number, part in enumerate(parts)
    ]
    reference = tmp_path / "reference.jsonl"
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(texts[45:60])]
    reference.write_text("\n".join(lines))
    source = dict(enumerate(texts[60:]))
    every = {f"{n}-{name}": text for n, part in enumerate(parts) for name, text in part.items()}
    with lookalike.dedup(source, against=every | dict(enumerate(texts[45:60])), **WORDS) as result:
        expected = {str(name): similarity for name, (_, similarity, _) in rows_of(result).items()}
    given = lookalike.paths(indexes[0], reference, indexes[1])
    with lookalike.dedup(source, against=given, index=indexes[2]) as result:
        found = {str(name): one for name, one in rows_of(result).items()}
        assert found.keys() == expected.keys()
        assert {"index", "reference"} <= {where for _, _, where in found.values()}
        for name, (_, similarity, where) in found.items():
            assert similarity <= expected[name]
            if where != "index":
                assert similarity == expected[name]
        assert result.run.indexes == [str(one) for one in (indexes[2], indexes[0], indexes[1])]
        kept = [*map(str, result.kept_ids.to_pylist())]
    with Index(indexes[2]) as index:
        assert {str(one) for one in index} == {str(name) for name in parts[2]} | set(kept)
    for part, place in zip(parts, indexes[:2], strict=False):
        with Index(place) as index:
            assert len(index) == len(part)


def test_the_same_id_in_two_indexes_is_two_documents(tmp_path):
    texts = {"x": "one two three four", "y": "five six seven eight"}
    places = [
        made(tmp_path / f"{name}.lookalike", {"same": text}, **WORDS)
        for name, text in texts.items()
    ]
    with lookalike.dedup(texts, against=lookalike.paths(*places)) as result:
        assert rows_of(result) == {"x": ("same", 1.0, "index"), "y": ("same", 1.0, "index")}
        clusters = result.clusters.to_pylist()
    assert [(row["cluster"], row["size"]) for row in clusters] == [(1, 2), (1, 2), (2, 2), (2, 2)]


def test_clusters_and_annotations_have_the_documents_of_the_index(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"old": "one two three four five"}, **WORDS)
    lines = [
        {"id": "a", "text": "one two three four five"},
        {"id": "b", "text": "one two three four six"},
        {"id": "c", "text": "seven eight nine ten"},
        {"id": "d", "text": "seven eight nine ten"},
    ]
    source = tmp_path / "pages.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "clean"
    with lookalike.dedup(source, against=place, out=out, annotate=True) as result:
        clusters = [tuple(row.values()) for row in result.clusters.to_pylist()]
        assert clusters == [
            ("a", 1, 3, 1.0, False, "source"),
            ("b", 1, 3, 0.6, False, "source"),
            ("old", 1, 3, 1.0, True, "index"),
            ("c", 2, 2, 1.0, True, "source"),
            ("d", 2, 2, 1.0, False, "source"),
        ]
    annotated = [*map(json.loads, (out / "annotated" / "pages.jsonl").read_text().splitlines())]
    decided = [
        (one["cluster"], one["cluster_size"], one["kept"], one["similarity"]) for one in annotated
    ]
    assert decided == [(1, 3, False, 1), (1, 3, False, 0.6), (2, 2, True, None), (2, 2, False, 1)]
    record = json.loads((out / "run.json").read_text())
    assert record["indexes"] == [str(place)]
    assert record["counts"]["removed_for_index"] == 2
    assert DedupResult.open(out).clusters == result.clusters


def test_a_higher_threshold_may_be_asked_for_and_that_of_the_index_is_taken_else(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"old": "one two three four five"}, **WORDS)
    source = {"a": "one two three four six"}
    with lookalike.dedup(source, against=place) as result:
        assert result.settings.threshold == 0.5
        assert rows_of(result) == {"a": ("old", 0.6, "index")}
    with lookalike.dedup(source, against=place, threshold=0.6) as result:
        assert rows_of(result) == {"a": ("old", 0.6, "index")}
    with lookalike.dedup(source, against=place, threshold=0.61) as result:
        assert rows_of(result) == {}


def test_the_most_similar_below_the_threshold_are_of_those_that_are_left(tmp_path, either_way):
    place = made(tmp_path / "pages.lookalike", {"old": "one two three four five"}, **WORDS)
    source = {
        "a": "one two three four five",
        "b": "six seven eight nine ten eleven",
        "c": "six seven eight nine some other words",
        # Where all pairs are few, they are compared at once in any case.
        **{f"d{n}": f"{n} u{n} v{n} w{n}" for n in range(3)},
        **{f"e{n}": f"{n} u{n} v{n} w{n} x{n}" for n in range(3)},
    }
    with lookalike.dedup(source, against=place) as result:
        nearest = result.summary.nearest
        assert nearest is not None
        assert {nearest.a, nearest.b} == {"b", "c"}
        assert nearest.similarity == pytest.approx(3 / 8)
        assert rows_of(result) == {
            "a": ("old", 1.0, "index"),
            **{f"e{n}": (f"d{n}", 0.75, "source") for n in range(3)},
        }


def test_progress_is_told_of_what_is_looked_up_and_added(tmp_path, monkeypatch):
    in_small_pieces(monkeypatch.setattr)
    place = made(tmp_path / "pages.lookalike", **WORDS)
    told: list[tuple[str, int, int]] = []
    texts = [f"some words of {n} and {n + 1}" for n in range(40)]
    lookalike.dedup(texts, index=place, progress=lambda *one: told.append(one)).close()
    asked = [one[1:] for one in told if one[0] == "look up"]
    assert asked == [(0, 40), (12, 40), (24, 40), (36, 40), (40, 40)]
    assert [one[1:] for one in told if one[0] == "index"][-1][0] == len(Index(place))


def test_what_agrees_with_the_index_may_be_said(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"old": "one two three four five"}, **WORDS)
    same = {**WORDS, "seed": 1, "metric": "jaccard", "multiset": False, "normalise": "default"}
    with lookalike.dedup({"a": "one two three four six"}, against=place, **same) as result:
        assert len(result.removed) == 1


def bytes_beside(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("copied", [False, True])
def test_an_index_is_not_touched_by_against(copied, tmp_path):
    (tmp_path / "shelf").mkdir()
    place = made(tmp_path / "pages.lookalike", dict(enumerate(texts_of(1, 30))), **WORDS)
    if copied:
        with Index(place) as index:
            index.copy(tmp_path / "shelf" / "pages.lookalike")
    else:
        place.rename(tmp_path / "shelf" / "pages.lookalike")
    before = bytes_beside(tmp_path / "shelf")
    assert [*before] == ["pages.lookalike"]
    shelved = tmp_path / "shelf" / "pages.lookalike"
    with lookalike.dedup(dict(enumerate(texts_of(1, 40))), against=shelved) as result:
        assert result.counts["removed_for_index"] > 10
    assert bytes_beside(tmp_path / "shelf") == before
    with Index(shelved, read_only=True) as index, pytest.raises(LookalikeError):
        index.add("x", "one two")
    assert bytes_beside(tmp_path / "shelf") == before


def refused(message, source=("one two three",), **options):
    with pytest.raises(LookalikeError) as told:
        lookalike.dedup(dict(enumerate(source)), **options)
    assert message in str(told.value)
    return told.value


def test_settings_that_disagree_with_the_index_are_refused(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"a": "one two"}, **WORDS)
    for name, value in {
        "shingle": "chars:3",
        "metric": "cosine",
        "normalise": "none",
        "multiset": True,
        "seed": 2,
        "recall": 0.9,
    }.items():
        error = refused(f"{name}={value!r} is not that of {place}", against=place, **{name: value})
        assert "leave it out, or use another index" in str(error)
    refused("max_df= was decided when", against=place, max_df=0.1)
    refused("ignore= was decided when", against=place, ignore="one two")
    refused("has 60 bands of 1 row: leave out bands= and rows=", against=place, bands=5, rows=2)
    refused("has 60 bands of 1 row: leave out cascade=", against=place, cascade="and:2 or:3")
    refused("threshold=0.4 is below that of the index, 0.5", against=place, threshold=0.4)


def test_settings_that_are_the_defaults_are_refused_where_the_index_has_others(tmp_path):
    options: dict[str, Any] = {"metric": "cosine", "seed": 5, "normalise": "none", "threshold": 0.7}
    place = made(tmp_path / "pages.lookalike", **options)
    lookalike.dedup({"a": "one two"}, against=place).close()
    for name, value in {"metric": "jaccard", "seed": 1, "normalise": "default"}.items():
        refused(f"{name}={value!r} is not that of", against=place, **{name: value})
    with lookalike.dedup({"a": "one two"}, against=place, threshold=0.8) as result:
        assert result.settings.threshold == 0.8


def test_what_an_index_does_not_know_of_is_refused(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"a": "one two"}, **WORDS)
    refused("an index finds what is similar, not what is contained", index=place, rule="contained")
    refused("of which group", index=place, groups="site")
    refused("metadata= is kept by an index: name one by index=", metadata="year")
    refused("metadata= is kept by an index", metadata="year", against=place)
    refused("there is no index", index=tmp_path / "other.lookalike")
    refused("an index is named by a file", index=7)
    with pytest.raises(SettingsError, match="ask the index itself"):
        lookalike.find({"a": "one"}, against=place)
    with pytest.raises(SettingsError, match="ask the index itself"):
        lookalike.find({"a": "one"}, against=lookalike.paths(tmp_path, place))


def test_an_index_without_texts_is_refused(tmp_path):
    place = made(tmp_path / "pages.lookalike", no_text=True)
    refused("keeps no texts, so that its scores are estimates", against=place)
    refused("keeps no texts, so that its scores are estimates", index=place)


def test_indexes_with_different_recipes_are_refused_together(tmp_path):
    places = [made(tmp_path / f"{seed}.lookalike", seed=seed) for seed in (1, 2)]
    refused("was made by another recipe", against=lookalike.paths(*places))
    refused("was made by another recipe", against=places[0], index=places[1])


def test_documents_of_another_kind_are_refused(tmp_path):
    texts = made(tmp_path / "texts.lookalike", **WORDS)
    vectors = made(tmp_path / "vectors.lookalike", metric="cosine", dimension=3)
    with pytest.raises(SourceError, match=r"the source holds lists of tokens and .* texts"):
        lookalike.dedup([["a", "b"]], against=texts)
    with pytest.raises(SourceError, match=r"the source holds texts and .* vectors"):
        lookalike.dedup(["a b"], against=vectors)
    with pytest.raises(SourceError, match=r"of the source have 2 numbers and those of .* 3"):
        lookalike.dedup(np.ones((2, 2)), against=vectors)


def test_an_index_among_the_files_that_are_read_is_refused(tmp_path):
    place = made(tmp_path / "pages.lookalike", **WORDS)
    (tmp_path / "a.txt").write_text("one two three")
    with pytest.raises(SettingsError, match=r"is inside of .* which is read"):
        lookalike.dedup(tmp_path, index=place)


def test_metadata_that_cannot_be_is_refused_before_anything_is_added(tmp_path):
    place = made(tmp_path / "pages.lookalike", **WORDS)
    with Index(place) as index:
        index.add("old", "some old text", {"year": 1999})
    before = content(place)
    pages = tmp_path / "pages.jsonl"
    lines = [{"id": n, "text": text, "year": 2000} for n, text in enumerate(texts_of(2, 30))]
    lines[-1]["year"] = "MM"
    pages.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(SourceError, match=r"'year' of document .* is of the type text"):
        lookalike.dedup(pages, index=place, metadata="year", out=tmp_path / "clean")
    assert content(place) == before
    with pytest.raises(SourceError, match="no column 'yaer' to describe documents by"):
        lookalike.dedup(lines, index=place, metadata="yaer")
    said: list[str] = []
    out = tmp_path / "clean"
    lookalike.dedup(pages, index=place, metadata="yaer", out=out, say=said.append).close()
    assert "No document has a value in column 'yaer'." in said


@pytest.mark.parametrize(
    "way", [{}, {"keep": "longest"}, {"keep": "last"}, {"memory": "500MB", "threads": 1}]
)
def test_the_keep_policy_is_that_of_the_documents_left(way, tmp_path):
    texts = texts_of(11, 120)
    known, source = dict(enumerate(texts[:40])), dict(enumerate(texts[40:]))
    place = made(tmp_path / "pages.lookalike", known, **WORDS)
    with lookalike.dedup(source, against=known, **WORDS, **way) as result:
        kept = result.kept_ids.to_pylist()
    with lookalike.dedup(source, against=place, **way) as result:
        assert result.kept_ids.to_pylist() == kept


def test_nothing_is_left_or_nothing_is_there(tmp_path):
    place = made(tmp_path / "pages.lookalike", {"a": "one two three"}, **WORDS)
    for source in ({}, {"x": ""}, {"x": "one two three"}, {"x": "one two three", "y": ""}):
        with lookalike.dedup(source, against=place) as result:
            assert result.kept_ids.to_pylist() == [name for name in source if not source[name]]
            assert len(result.clusters) == (2 if "one" in source.get("x", "") else 0)
    empty = made(tmp_path / "empty.lookalike", **WORDS)
    with lookalike.dedup({"x": "one two three"}, against=empty) as result:
        assert result.counts == {
            "read": 1,
            "kept": 1,
            "removed": 0,
            "empty": 0,
            "removed_for_index": 0,
        }


def test_a_kept_work_folder_serves_other_thresholds_and_asks_an_index_that_grew_again(tmp_path):
    day, *_ = write_days(tmp_path)
    place = made(tmp_path / "pages.lookalike", {"p0": texts_of(5, 1)[0]}, **WORDS)
    work = tmp_path / "work"
    for number, threshold in enumerate((0.5, 0.8, 0.6, 0.6)):
        if number == 3:
            with Index(place) as index:
                index.add("p79", json.loads(day.read_text().splitlines()[79])["text"])
        out = tmp_path / f"out{number}"
        given = {"against": place, "threshold": threshold}
        with lookalike.dedup(day, work=work, out=out, **given) as result:
            found = rows_of(result)
        with lookalike.dedup(day, **given) as fresh:
            assert rows_of(fresh) == found
    with pytest.raises(LookalikeError, match="the index is another"):
        lookalike.dedup(day, work=work, against=made(tmp_path / "b.lookalike", seed=3))


def test_an_index_on_a_server_serves_as_well(postgres, tmp_path):
    place = made(postgres.address(), **WORDS)
    in_a_file = made(tmp_path / "pages.lookalike", **WORDS)
    for number, day in enumerate(write_days(tmp_path, 90)):
        outs = [tmp_path / f"{kind}{number}" for kind in ("file", "server")]
        for out, index in zip(outs, (in_a_file, place), strict=True):
            lookalike.dedup(day, index=index, metadata="year", out=out).close()
        assert kept_of(outs[0]) == kept_of(outs[1])
        assert (outs[0] / "removed.jsonl").read_text() == (outs[1] / "removed.jsonl").read_text()
    assert content(place) == content(in_a_file)


class PowerCut(BaseException):
    """Ends a job as the end of its process does, past every handler of errors."""


SPOTS: dict[str, tuple[Any, str, bool]] = {
    "after a checkpoint": (Work, "checkpoint", True),
    "before a change of the index": (SqliteStore, "write", False),
    "amid a change of the index": (adding, "put", True),
    "after a change of the index": (SqliteStore, "write", True),
    "before a file takes its place": (Path, "replace", False),
}


def in_small_pieces(patch):
    patch(look_up, "BATCH_DOCUMENTS", 12)
    patch(dedup_module, "MAX_ADDED", 7)


def end_at(patch, spot, moment, end):
    """End a job when it comes to a spot for the n-th time."""
    owner, name, after = SPOTS[spot]
    original = getattr(owner, name)
    seen = 0

    def ending(*given, **named):
        nonlocal seen
        seen += 1
        mine = seen == moment
        if mine and not after:
            end()
        result = original(*given, **named)
        if mine and name == "write":
            return changed_until(result, end)
        if mine:
            end()
        return result

    patch(owner, name, ending)


class changed_until:  # noqa: N801
    """A change of a store after which a job ends."""

    def __init__(self, change, end):
        self.change, self.end = change, end

    def __enter__(self):
        return self.change.__enter__()

    def __exit__(self, *error):
        self.change.__exit__(*error)
        self.end()


def files_of(folder):
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    record = json.loads(found.pop("run.json").read_text())
    del record["seconds"]
    return {name: path.read_bytes() for name, path in found.items()} | {"run.json": record}


def prepared_days(folder):
    """Give the crawl of a second day, and an index of the first."""
    first, second, _ = write_days(folder, 180)
    place = folder / "pages.lookalike"
    made(place, **WORDS)
    lookalike.dedup(first, index=place, metadata="year", out=folder / "first").close()
    return second, place


def clean(day, place, out):
    lookalike.dedup(day, index=place, metadata="year", keep="longest", out=out).close()


@pytest.mark.parametrize("spot", SPOTS)
def test_a_job_that_ends_anywhere_and_is_run_again_ends_the_same(spot, tmp_path, monkeypatch):
    day, place = prepared_days(tmp_path)
    in_small_pieces(monkeypatch.setattr)
    saved, out = place.read_bytes(), tmp_path / "clean"
    clean(day, place, out)
    expected, indexed = files_of(out), content(place)
    added = len(indexed["documents"])
    assert len(kept_of(out)) > 14

    def cut():
        raise PowerCut

    for moment in count(1):
        out.rename(tmp_path / f"done{moment}")
        place.write_bytes(saved)
        with monkeypatch.context() as patched:
            end_at(patched.setattr, spot, moment, cut)
            try:
                clean(day, place, out)
                ended = False
            except PowerCut:
                ended = True
        if ended:
            clean(day, place, out)
        assert files_of(out) == expected, moment
        assert content(place) == indexed, moment
        assert len(content(place)["documents"]) == added
        assert not [*tmp_path.glob(".clean*")], moment
        if not ended:
            break
    assert moment > 1


def test_a_job_that_is_given_up_has_added_all_or_nothing(tmp_path, monkeypatch):
    day, place = prepared_days(tmp_path)
    in_small_pieces(monkeypatch.setattr)
    before, out = content(place)["documents"], tmp_path / "clean"
    put = adding.put
    for moment in (1, 2, 3):
        calls = count(1)

        def failing(*given, calls=calls, moment=moment, **named):
            if next(calls) == moment:
                raise PowerCut
            return put(*given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(adding, "put", failing)
            with pytest.raises(PowerCut):
                clean(day, place, out)
        assert content(place)["documents"] == before
        assert not out.exists()
        for left in tmp_path.glob(".clean*"):
            shutil.rmtree(left)
    clean(day, place, out)
    added = content(place)["documents"].keys() - before.keys()
    assert added == set(kept_of(out))


def test_what_was_decided_outlives_an_index_that_cannot_be_written(tmp_path, monkeypatch):
    day, place = prepared_days(tmp_path)
    out, put, before = tmp_path / "clean", adding.put, content(place)["documents"]

    def failing(*given, **named):
        raise SourceError("the index is damaged")

    with monkeypatch.context() as patched:
        patched.setattr(adding, "put", failing)
        with pytest.raises(SourceError, match="the index is damaged"):
            clean(day, place, out)
    assert [*tmp_path.glob(".clean*")]
    said: list[str] = []
    options = {"index": place, "metadata": "year", "keep": "longest", "out": out}
    lookalike.dedup(day, say=said.append, **options).close()
    assert said[0].startswith("Resuming from the work in ")
    assert put is adding.put
    assert content(place)["documents"].keys() - before.keys() == set(kept_of(out))


def run_to_its_end(spot, moment, *given):
    """Clean a crawl in this process, which is one of its own, until it comes to a spot."""
    in_small_pieces(setattr)
    end_at(setattr, spot, int(moment), lambda: os.kill(os.getpid(), signal.SIGKILL))
    clean(*map(Path, given))


@pytest.mark.long
@pytest.mark.parametrize("spot", SPOTS)
def test_a_job_that_is_killed_and_run_again_ends_the_same(spot, tmp_path):
    day, place = prepared_days(tmp_path)
    saved, out = place.read_bytes(), tmp_path / "clean"
    clean(day, place, out)
    expected, indexed = files_of(out), content(place)
    here = Path(__file__).parent
    code = (
        f"import sys; sys.path += {[str(here), str(here.parent / 'support')]}; "
        "import test_dedup_index as here; here.run_to_its_end(*sys.argv[1:])"
    )
    choice = random.Random(spot)
    moments = {1, 2, 3, *(choice.randrange(4, 30) for _ in range(3))}
    killed = 0
    for moment in sorted(moments):
        out.rename(tmp_path / f"done{moment}")
        place.write_bytes(saved)
        done = subprocess.run(
            [sys.executable, "-c", code, spot, str(moment), str(day), str(place), str(out)],
            capture_output=True,
            env=environment(),
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        if done.returncode:
            killed += 1
            clean(day, place, out)
        assert files_of(out) == expected, moment
        assert content(place) == indexed, moment
        for ending in ("-wal", "-shm"):
            place.with_name(place.name + ending).unlink(missing_ok=True)
    assert killed >= 1


CLEANING = """
import sys
import lookalike
from lookalike.index.index import Index
address, source, out, held = sys.argv[1:]
most_similar = Index.most_similar
def looked_up(self, *given):
    found = most_similar(self, *given)
    if held == "held":
        print("looked up", flush=True)
        sys.stdin.readline()
    return found
Index.most_similar = looked_up
def say(line):
    if "Waiting" in line:
        print(line, flush=True)
lookalike.dedup(source, index=address, out=out, say=say).close()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_of_two_jobs_at_once_the_second_is_cleaned_against_what_the_first_adds(
    request, tmp_path, kind
):
    at = request.getfixturevalue("postgres").address() if kind == "postgres" else None
    place = str(made(at or tmp_path / "pages.lookalike", **WORDS))
    texts = [f"{n} red {n} boats {n} came in at {n}" for n in range(20)]
    for name in "ab":
        rows = [{"id": f"{name}{n}", "text": text} for n, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def begun(name, held):
        arguments = [place, str(tmp_path / f"{name}.jsonl"), str(tmp_path / name), held]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            [sys.executable, "-c", CLEANING, *arguments], env=environment(), **pipes
        )

    first = begun("a", "held")
    assert first.stdout.readline() == "looked up\n"
    second = begun("b", "free")
    assert second.stdout.readline().startswith("Waiting for another job that adds to ")
    first.communicate("go\n", timeout=DEADLINE)
    second.communicate(timeout=DEADLINE)
    assert (first.returncode, second.returncode) == (0, 0)
    with Index(place) as index:
        assert sorted(index) == sorted(f"a{n}" for n in range(20))
    removed = map(json.loads, (tmp_path / "b/removed.jsonl").read_text().splitlines())
    assert {one["id"]: one["kept"] for one in removed} == {f"b{n}": f"a{n}" for n in range(20)}
    if kind == "sqlite":
        assert [one.name for one in tmp_path.glob("pages.lookalike*")] == ["pages.lookalike"]


def test_a_job_that_lost_its_turn_adds_nothing(postgres, tmp_path, monkeypatch):
    place = made(postgres.address() + f"&application_name={tmp_path.name}", **WORDS)
    most_similar = Index.most_similar

    def end_connections(*given):
        postgres.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            f" WHERE application_name = '{tmp_path.name}'"
        )
        return most_similar(*given)

    monkeypatch.setattr(Index, "most_similar", end_connections)
    with pytest.raises(UnreadableError, match="was lost, and with it the turn of this job"):
        lookalike.dedup({"a": "two red boats"}, index=place)
    with Index(place) as index:
        assert len(index) == 0
