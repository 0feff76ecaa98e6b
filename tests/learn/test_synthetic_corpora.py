"""Corpora for tests: the same for ever, in any order, with copies that are what they say."""

import hashlib
import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from pyarrow import parquet

from lookalike import OutputError, SettingsError, SourceError
from lookalike.learn.corpora import DEGREES, EDITS, Corpus, real_texts


def made_sources() -> list[str]:
    """Give texts in which no two sentences share a word, and some without blanks."""
    spaced = [
        " ".join(
            "Word" + " word".join(f"{text}x{line}y{word}" for word in range(9)) + "."
            for line in range(12)
        )
        for text in range(60)
    ]
    dense = [
        "".join(
            "".join(chr(0x4E00 + 600 * text + 12 * line + place) for place in range(12)) + "。"
            for line in range(30)
        )
        for text in range(20)
    ]
    return [*spaced, *dense, "  "]


SOURCES = made_sources()
COUNT = 2500


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(SOURCES, seed=7)


@pytest.fixture(scope="module")
def texts(corpus) -> list[str]:
    return list(corpus.texts(0, COUNT))


def is_dense(text: str) -> bool:
    return "一" <= text[0] <= "鿿"


def copies(corpus, texts, edit, dense=None):
    """Give the copies of one kind: original, copy, degree."""
    found = []
    for number, text in enumerate(texts):
        origin = corpus.origin(number)
        original = texts[origin.original]
        if origin.edit == edit and dense in (None, is_dense(original)):
            found.append((original, text, origin.degree))
    assert len(found) > 5
    return found


def shingles(text: str) -> set[tuple[str, ...]]:
    words = list(text) if is_dense(text) else text.split()
    return {tuple(words[at : at + 3]) for at in range(max(len(words) - 2, 1))}


def test_a_corpus_is_the_same_for_ever(texts):
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest == "7062ffe7f11c1fd553889e6afc0b300a4780ec8332894867485e75442b5bf33c"


def test_another_seed_makes_other_documents(corpus, texts):
    others = list(Corpus(SOURCES, seed=8).texts(0, 100))
    assert not set(others) & set(texts[:100])


def test_documents_can_be_made_in_any_order_and_in_parts(texts):
    corpus = Corpus(SOURCES, seed=7)
    assert [corpus.text(number) for number in (1400, 3, 77)] == [texts[1400], texts[3], texts[77]]
    parts = [*corpus.texts(900, 1000), *corpus.texts(0, 50)]
    assert parts == [*texts[900:1000], *texts[:50]]


def test_more_documents_begin_with_the_same_ones(corpus):
    few, many = corpus.originals(300), corpus.originals(40_000)
    assert np.array_equal(few, many[:300])
    # Beyond the block that numbers are drawn by.
    assert list(corpus.texts(16_380, 16_390))[5] == corpus.text(16_385)


def test_about_a_third_are_copies_of_an_earlier_original(corpus):
    originals = corpus.originals(30_000)
    numbers = np.arange(30_000)
    is_copy = originals != numbers
    assert 0.32 < is_copy.mean() < 0.35
    assert (originals <= numbers).all()
    assert not is_copy[originals].any()
    distance = (numbers - originals)[is_copy & (numbers > 20_000)]
    assert 0.2 < (distance > 2000).mean() < 0.6, "some are near, some anywhere"


def test_short_originals_of_few_sources_are_not_alike():
    """Else a corpus of ten times the documents has a hundred times the pairs."""
    corpus = Corpus(SOURCES[:5], copies=0)
    sets = [shingles(text) for text in corpus.texts(0, 1500)]
    short = [one for one in sets if len(one) < 60]
    assert len(short) > 300
    assert sum(len(a & b) >= 0.8 * len(a | b) for a, b in combinations(short, 2)) < 10


def test_the_share_of_copies_can_be_chosen():
    assert not (Corpus(SOURCES, copies=0).originals(500) != np.arange(500)).any()
    assert not Corpus(SOURCES, copies=1).originals(500).any()


def test_the_origin_of_one_is_that_of_all(corpus):
    originals = corpus.originals(500)
    assert [corpus.origin(number).original for number in range(500)] == originals.tolist()
    own = [corpus.origin(number) for number in range(500) if originals[number] == number]
    assert {(origin.edit, origin.degree) for origin in own} == {("", 0.0)}


def test_every_kind_of_edit_is_as_likely_and_within_its_degrees(corpus):
    origins = [corpus.origin(number) for number in range(9000)]
    counts = Counter(origin.edit for origin in origins if origin.edit)
    assert set(counts) == set(EDITS)
    assert min(counts.values()) > 0.75 * max(counts.values())
    for edit, (least, most) in DEGREES.items():
        degrees = [origin.degree for origin in origins if origin.edit == edit]
        assert least <= min(degrees)
        assert max(degrees) <= most
        if most > least:
            assert max(degrees) - min(degrees) > 0.9 * (most - least)


def test_exact_copies_are_exact(corpus, texts):
    for original, text, _ in copies(corpus, texts, "exact"):
        assert text == original


@pytest.mark.parametrize("dense", [False, True])
def test_words_are_replaced_in_their_places(corpus, texts, dense):
    changed = []
    for original, text, degree in copies(corpus, texts, "words", dense):
        before, after = (list(one) if dense else one.split(" ") for one in (original, text))
        assert len(before) == len(after)
        changed.append(sum(a != b for a, b in zip(before, after, strict=True)))
        assert changed[-1] <= max(1, round(degree * len(before)))
    assert np.mean(changed) > 1


@pytest.mark.long
def test_typos_are_few_characters(corpus, texts):
    edited = [one for one in copies(corpus, texts, "typos") if len(one[0]) < 700]
    for original, text, degree in edited:
        # Of a swap, two characters are others.
        assert distance(original, text) <= 2 * max(1, round(degree * len(original)))
    assert sum(original != text for original, text, _ in edited) > 0.8 * len(edited)


def test_words_are_put_in_front(corpus, texts):
    for original, text, degree in copies(corpus, texts, "front"):
        assert text.endswith(original)
        assert 0 < len(text) - len(original) <= max(degree * len(original), 8) + 1


@pytest.mark.parametrize("dense", [False, True])
def test_sentences_are_moved_and_none_is_lost(corpus, texts, dense):
    stop = "。" if dense else "."
    moved = 0
    for original, text, _ in copies(corpus, texts, "shuffled", dense):
        before, after = (one.replace("\n", " ").split(stop) for one in (original, text))
        assert sorted(one.strip() for one in before) == sorted(one.strip() for one in after)
        moved += text != original
    assert moved > 5


def test_boilerplate_of_a_small_set_is_put_around(corpus, texts):
    around = set()
    for original, text, _ in copies(corpus, texts, "boilerplate"):
        header, found, footer = text.partition(original)
        assert found
        assert header
        assert footer
        around.add((header, footer))
    assert 3 < len(around) <= 10


def test_truncated_copies_are_beginnings(corpus, texts):
    for original, text, degree in copies(corpus, texts, "truncated"):
        assert original.startswith(text)
        assert text
        kept = (1 - degree) * len(original)
        assert kept - 30 <= len(text) <= max(kept + 1, 1)


def test_copies_are_alike_to_every_degree(corpus, texts):
    alike = []
    for number, text in enumerate(texts):
        original = corpus.origin(number).original
        if original != number:
            first, second = shingles(text), shingles(texts[original])
            alike.append(len(first & second) / len(first | second))
    counts, _ = np.histogram(alike, [0.3, 0.5, 0.7, 0.8, 0.9, 0.999, 1.1])
    assert counts.min() > 10


def test_originals_are_not_alike(corpus):
    sets = [shingles(text) for text in Corpus(SOURCES, seed=7, copies=0).texts(0, 300)]
    alike = sum(
        len(first & second) >= 0.5 * len(first | second)
        for place, first in enumerate(sets)
        for second in sets[:place]
    )
    assert alike <= 3


def test_there_are_short_and_long_documents_and_the_mean_is_two_thousand_bytes(corpus):
    sizes = [len(text.encode()) for text in corpus.texts(0, 4000)]
    assert 1700 < np.mean(sizes) < 2700
    assert min(sizes) < 150
    assert max(sizes) > 30_000


def test_some_documents_have_no_blanks(corpus, texts):
    share = np.mean([is_dense(text) for text in texts])
    assert 0.06 < share < 0.14
    assert all(is_dense(text) for text in Corpus(SOURCES, dense=1, copies=0).texts(0, 20))
    only = Corpus([text for text in SOURCES if text.strip() and not is_dense(text)])
    assert not any(is_dense(text) for text in only.texts(0, 50))


@pytest.mark.parametrize("sources", [["x"], ["一"], ["two words"], ["a.\n\nb"]])
def test_any_source_will_do(sources):
    assert all(text for text in Corpus(sources, copies=0.5).texts(0, 100))


def test_files_hold_the_documents(corpus, texts, tmp_path):
    for name in ("some.parquet", "some.jsonl"):
        corpus.write(tmp_path / name, 250)
    table = parquet.read_table(tmp_path / "some.parquet")
    assert table["id"].to_pylist() == list(range(250))
    assert table["text"].to_pylist() == texts[:250]
    lines = (tmp_path / "some.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in lines[:-1]] == table.to_pylist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["some.jsonl", "some.parquet"]


def test_files_that_cannot_be_are_refused(corpus, tmp_path):
    with pytest.raises(SettingsError, match=r"some.txt: name a .parquet or a .jsonl file"):
        corpus.write(tmp_path / "some.txt", 1)
    with pytest.raises(OutputError, match="cannot be written: No such file"):
        corpus.write(tmp_path / "none" / "some.jsonl", 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sources": ["", " \n"]}, "a corpus of no texts"),
        ({"copies": 1.5}, "copies 1.5: use a share from 0 to 1"),
        ({"dense": -1}, "dense -1: use a share from 0 to 1"),
        ({"seed": -1}, "seed=-1: use a whole number"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong, message):
    with pytest.raises(SettingsError, match=message):
        Corpus(**{"sources": SOURCES, **wrong})


def test_numbers_that_cannot_be_are_refused(corpus):
    for ask in (corpus.text, corpus.origin, corpus.originals):
        with pytest.raises(SettingsError, match="numbers count up from 0"):
            ask(-1)


def test_real_texts_are_read_from_a_folder(tmp_path, monkeypatch):
    for name, text in (("b", "zweiter"), ("a", "erster é")):
        (tmp_path / name).mkdir()
        line = json.dumps({"id": 1, "text": text}, ensure_ascii=False)
        (tmp_path / name / "docs.jsonl").write_text(line + "\n", encoding="utf-8")
    assert real_texts(tmp_path) == ["erster é", "zweiter"]
    monkeypatch.setenv("LOOKALIKE_DATA", str(tmp_path))
    assert real_texts() == ["erster é", "zweiter"]


def test_real_texts_that_are_not_there_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("LOOKALIKE_DATA", raising=False)
    with pytest.raises(SourceError, match="no folder of real texts"):
        real_texts()
    with pytest.raises(SourceError, match=r"has no \*/docs.jsonl"):
        real_texts(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "docs.jsonl").write_text('{"text": "x"}\n{"id": 2}\n')
    with pytest.raises(SourceError, match=r"docs.jsonl:2: no JSON with a text"):
        real_texts(tmp_path)


def distance(first: str, second: str) -> int:
    """Count the characters that are to be put in, left out or replaced."""
    row = list(range(len(second) + 1))
    for place, character in enumerate(first, 1):
        left, row[0] = row[0], place
        for at, other in enumerate(second, 1):
            left, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, left + (character != other))
    return row[-1]
