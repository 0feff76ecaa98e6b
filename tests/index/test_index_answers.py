"""What an index answers is exact, whatever the documents are; what it cannot answer it refuses."""

import math
import random
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosine_oracle
import lookalike
from index_model import answers, edited_texts, jaccard, similar, text_set
from lookalike import SettingsError, SourceError
from lookalike.index.index import Index

THOROUGH: dict[str, Any] = {"bands": 60, "rows": 1}
"""Bands that miss nothing: of two documents that are half alike, one pair in 2 to the 60th."""
TEXTS = edited_texts(1, 20)
FOX = "the quick brown fox jumps over the lazy dog"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., Index]]:
    """Give a function that makes an index of texts, named by their places unless they have ids."""
    opened = []

    def make(texts: Any = (), **options: Any) -> Index:
        named = dict(texts) if isinstance(texts, dict) else dict(enumerate(texts))
        path = tmp_path / f"{len(opened)}.lookalike"
        options = {"shingle": "chars:4", "threshold": 0.5, **THOROUGH, **options}
        opened.append(Index.create(path, **options))
        for id, text in named.items():
            opened[-1].add(id, text)
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.mark.parametrize("multiset", [False, True])
@pytest.mark.parametrize("how", ["chars:1", "chars:4", "words:1", "words:2"])
def test_every_match_has_the_similarity_that_compare_and_sets_of_strings_give(made, how, multiset):
    index = made(TEXTS, shingle=how, multiset=multiset)
    sets = {id: text_set(text, how, multiset=multiset) for id, text in enumerate(TEXTS)}
    several = 0
    for asked in [*TEXTS[::3], FOX, "stone", "bread bread bread"]:
        found = answers(index, asked)
        assert found == similar(sets, text_set(asked, how, multiset=multiset), 0.5)
        for id, similarity in found[:3]:
            compared = lookalike.compare(asked, TEXTS[id], shingle=how, multiset=multiset)
            assert similarity == compared.similarity
        several += len(found) > 1
    assert several > 5


def test_containment_is_told_both_ways_where_it_is_asked_for(made):
    index = made(TEXTS)
    asked = f"{TEXTS[0]} and a few words that only this one has"
    mine = text_set(asked)
    found = index.query(asked, containment=True)
    assert len(found) > 1
    for one in found:
        theirs = text_set(TEXTS[one.id])
        assert one.query_in_match == float(Fraction(len(mine & theirs), len(mine)))
        assert one.match_in_query == float(Fraction(len(mine & theirs), len(theirs)))
        assert one.match_in_query != one.query_in_match
    assert all(one.query_in_match is None for one in index.query(asked))
    (same, *_) = index.query(TEXTS[0], containment=True)
    assert (same.similarity, same.query_in_match, same.match_in_query) == (1, 1, 1)


def test_the_best_come_first_and_equal_ones_by_their_ids(made):
    near = f"{FOX}!"
    index = made({"c": near, "a": FOX, "b": near, "ä": FOX, "B": near, "z": "nothing alike"})
    assert [id for id, _ in answers(index, FOX)] == ["a", "ä", "B", "b", "c"]
    assert [id for id, _ in answers(index, near)] == ["B", "b", "c", "a", "ä"]
    for top in range(1, 7):
        assert answers(index, near, top=top) == answers(index, near)[:top]
    wrong: Any
    for wrong in (0, -1, True, 1.5, "2"):
        with pytest.raises(SettingsError, match="top"):
            index.query(FOX, top=wrong)


def test_whole_numbers_that_are_equally_alike_come_in_the_order_of_numbers(made):
    index = made({9: FOX, 10: FOX, 100: FOX, -3: FOX})
    assert [id for id, _ in answers(index, FOX)] == [-3, 9, 10, 100]


@pytest.mark.parametrize("threshold", [0.5, 0.6, 2 / 3, 0.9, 1.0, 1, np.float32(0.75)])
def test_any_threshold_from_that_of_the_index_on_can_be_asked_for(made, threshold):
    index = made(TEXTS)
    sets = {id: text_set(text) for id, text in enumerate(TEXTS)}
    for asked in TEXTS[::5]:
        expected = similar(sets, text_set(asked), float(threshold))
        assert answers(index, asked, threshold=threshold) == expected


def test_a_lower_threshold_is_refused_with_the_reason(made):
    index = made([FOX])
    with pytest.raises(SettingsError, match=r"threshold=0\.49 is below that of the index, 0\.5"):
        index.query(FOX, threshold=0.49)
    with pytest.raises(SettingsError, match="below that of the index"):
        index.query_all([FOX], threshold=0.2)
    for wrong in (1.1, -1, math.nan, math.inf, "0.9", True, [0.9]):
        with pytest.raises(SettingsError, match="number"):
            index.query(FOX, threshold=wrong)


def test_a_condition_on_the_metadata_holds_before_the_best_are_taken(made):
    index = made()
    for year in range(2000, 2020):
        index.add(
            f"d{year}", FOX if year % 2 else f"{FOX}!", {"year": year, "on": date(year, 1, 1)}
        )
    index.add("bare", FOX)
    found = index.query(FOX, where="year >= 2010", top=3)
    assert [one.id for one in found] == ["d2011", "d2013", "d2015"]
    assert [one.metadata["on"] for one in found] == [date(y, 1, 1) for y in (2011, 2013, 2015)]
    assert [one.id for one in index.query(FOX, where="year < 1990")] == []
    with pytest.raises(SettingsError, match="seen"):
        index.query(FOX, where="seen = 1")


def test_identical_documents_are_one_entry_with_several_ids(made):
    index = made({"a": FOX, "b": f"  {FOX.upper()}\n", "c": FOX, "d": f"{FOX}!"})
    info = index.info()
    assert (info["documents"], info["distinct"]) == (4, 2)
    assert [one for one in answers(index, FOX) if one[1] == 1] == [("a", 1), ("b", 1), ("c", 1)]
    assert index.remove(["a", "c"]) == 2
    assert [id for id, _ in answers(index, FOX)] == ["b", "d"]
    assert index.remove("b") == 1
    assert [id for id, _ in answers(index, FOX)] == ["d"]


EMPTY = ["", " \n\t ", "\u2003"]


def test_empty_documents_are_similar_to_nothing_and_always_new(made):
    index = made({f"e{place}": text for place, text in enumerate(EMPTY)} | {"fox": FOX})
    assert len(index) == 4
    for text in EMPTY:
        assert index.query(text) == []
        assert index.query(text, threshold=1) == []
        assert index.admit(f"new {text!r}", text).added
    assert index.query_all(EMPTY).num_rows == 0
    assert index.add_all(EMPTY, new_only=True, id=None).similar == 0
    assert len(index) == 4 + 3 + 3


@pytest.mark.parametrize("options", [{"ignore": "so says everybody"}, {"max_df": 0.5}])
def test_what_has_nothing_that_counts_is_similar_to_nothing(made, options):
    like = {"like": [f"so says everybody: {text}" for text in TEXTS]}
    sample = like if "max_df" in options else {}
    index = made(["so says everybody", "so says everybody: " + TEXTS[0]], **options, **sample)
    assert index.query("so says everybody") == []
    assert index.query("so says") == []
    ((id, similarity),) = answers(index, "so says everybody: " + TEXTS[0])
    assert (id, similarity) == (1, 1)
    assert index.admit("again", "so says everybody").added
    assert index.query("so says everybody") == []


def test_lists_of_tokens_are_compared_as_sets(made):
    choice = random.Random(2)
    lists = [choice.choices("abcdefgh", k=choice.randint(1, 9)) for _ in range(40)]
    index = made(lists, like=lists, shingle="auto")
    sets = {id: set(tokens) for id, tokens in enumerate(lists)}
    for asked in [*lists[::4], ["a"], ["z"]]:
        assert answers(index, asked) == similar(sets, set(asked), 0.5)
    for wrong in ("a b c", 5, [1.0, 2.0]):
        with pytest.raises(SourceError):
            index.query(wrong)
    for empty in ([], (), None):
        assert index.query(empty) == []
        assert index.admit("empty", empty).added


def test_vectors_are_compared_by_their_cosine(made):
    numbers = np.random.default_rng(4)
    rows = np.repeat(numbers.normal(size=(30, 12)), 3, axis=0) + 0.2 * numbers.normal(size=(90, 12))
    options: dict[str, Any] = {"metric": "cosine", "shingle": "auto", "threshold": 0.8}
    index = made(rows.astype(np.float32), dimension=12, bands=40, rows=4, **options)
    unit = cosine_oracle.unit_rows(rows.astype(np.float32))
    together = 0.0
    for place in range(0, 90, 5):
        found = answers(index, rows[place].astype(np.float32).tolist())
        cosines = unit @ unit[place]
        assert dict(found) == pytest.approx({id: cosines[id] for id, _ in found}, abs=1e-6)
        assert found == sorted(found, key=lambda one: (-one[1], one[0]))
        assert min(similarity for _, similarity in found) >= 0.8
        # Bits miss one in a few hundred here, and no more.
        together += len(found) / float(np.count_nonzero(cosines >= 0.8))
    assert together > 17
    for wrong in ([1.0] * 11, [0.0] * 12, [math.nan] * 12, FOX):
        with pytest.raises(SourceError):
            index.query(wrong)


def test_weights_are_those_of_the_sample_whatever_is_added_later(made):
    options = {"metric": "cosine", "weights": "tf-idf", "threshold": 0.6, "bands": 40, "rows": 4}
    index = made(TEXTS, like=TEXTS[:40], **options)
    sample = [cosine_oracle.shingles(text, "chars:4") for text in TEXTS[:40]]
    said = [cosine_oracle.canonical(text) for text in TEXTS[:40]]
    distinct = {text: set(shingles) for text, shingles in zip(said, sample, strict=True)}
    several = 0
    for asked in TEXTS[::7]:
        found = answers(index, asked)
        for id, similarity in found:
            pair = [weighed(text, list(distinct.values())) for text in (asked, TEXTS[id])]
            assert similarity == pytest.approx(cosine_oracle.cosine(*pair), abs=1e-6)
        several += len(found) > 1
    assert several > 5


def weighed(text: str, sample: list[set[Any]]) -> dict[Any, float]:
    """Weigh the shingles of a text; one that the sample does not have is as rare as can be."""
    shingles = cosine_oracle.shingles(text, "chars:4")
    spread = {one: max(1, sum(one in other for other in sample)) for one in set(shingles)}
    return {
        one: shingles.count(one) * (math.log((1 + len(sample)) / (1 + many)) + 1)
        for one, many in spread.items()
    }


def test_without_texts_scores_are_estimated_near_the_truth_and_say_so(made):
    index = made(TEXTS, no_text=True, threshold=0.4)
    assert not index.keeps_text
    assert index.info()["bytes_by_part"]["texts"] == 0
    sets = {id: text_set(text) for id, text in enumerate(TEXTS)}
    worst = 0.0
    for asked in TEXTS[::2]:
        mine = text_set(asked)
        matches = index.query(asked, containment=True)
        assert {one.score for one in matches} == {"estimated"}
        found = {one.id: one.similarity for one in matches}
        true = {id: float(jaccard(one, mine)) for id, one in sets.items()}
        same = {id for id, similarity in true.items() if similarity == 1}
        assert same <= {id for id, similarity in found.items() if similarity == 1}
        # Six standard errors of 128 rows or more.
        assert {id for id, similarity in true.items() if similarity >= 0.67} <= set(found)
        worst = max(worst, *(abs(similarity - true[id]) for id, similarity in found.items()))
    assert 0 < worst < 0.27
    with pytest.raises(lookalike.LookalikeError):
        index.query(FOX, threshold=0.3)


def test_a_number_and_its_digits_are_one_id(made):
    index = made()
    index.add(5, FOX)
    assert answers(index, FOX) == [(5, 1)]
    assert "5" in index
    assert index.add("5", f"{FOX}!").replaced == 1
    assert len(index) == 1
    assert [id for id, _ in answers(index, FOX)] == ["5"]
    index.add("05", FOX)
    assert list(index) == ["05", "5"]
    assert index.remove(5) == 1
    assert list(index) == ["05"]


ODD_IDS = [
    *("", " ", "a\nb", "a\tb", "'; DROP TABLE document; --", '"', "\\", "%", "_", "%s", "?", "[1]"),
    *("null", "1e5", "-0", "true", "\u202e", "\ufeff", "𝔘𝔫𝔦", "e\u0301", "é", "İ", "x" * 10_000),
    *("{}", "$[0]", "\x01", "\x7f", "\U0010ffff", "ab", "AB", "../../etc/passwd", "\u2028"),
]


def test_ids_may_hold_any_characters(made):
    index = made({id: f"{FOX} {place}" for place, id in enumerate(ODD_IDS)})
    ids = sorted(ODD_IDS, key=str.encode)
    assert list(index) == ids
    assert all(id in index for id in ids)
    for place, id in enumerate(ODD_IDS):
        (best, *_) = answers(index, f"{FOX} {place}")
        assert best == (id, 1)
    assert index.query_all([FOX], top=100)["match"].to_pylist().sort() == ids.sort()
    assert index.add_all(dict.fromkeys(ODD_IDS, TEXTS[0])).replaced == len(ids)
    assert [id for id, _ in answers(index, TEXTS[0])] == sorted(ids)
    assert index.remove(ids) == len(ids)
    assert len(index) == 0


@pytest.mark.parametrize("id", ["a\ud800", "nul\0", True, 1.5, None, b"x", ["x"]])
def test_an_id_that_is_no_text_and_no_whole_number_is_refused(made, id):
    index = made([FOX])
    with pytest.raises(SettingsError, match="id"):
        index.add(id, FOX)
    assert list(index) == [0]
    assert answers(index, FOX) == [(0, 1)]


@pytest.mark.parametrize("id", [2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**40, np.int64(7)])
def test_numbers_of_any_size_are_ids_and_go_into_tables(made, tmp_path, id):
    index = made({id: FOX})
    small = -(2**63) <= id < 2**63
    assert answers(index, FOX) == [(int(id) if small else str(id), 1)]
    assert index.query_all([FOX])["match"].to_pylist() == list(index)
    assert index.export(tmp_path / "out.parquet") == 1
    assert index.remove([id]) == 1


HOSTILE = [
    *("a", "\0", "\0" * 1000, "\ufeff", "\u200b", "\u202e" + FOX, "e" + "\u0301" * 10_000),
    *(
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝔱𝔢𝔵𝔱",
        "中文文本",
        "<script>",
        "%n%s",
        "ﬁﬂ ﷺ",
        "\U0010ffff",
        "ẞß İı",
        "\r\n\x0b\x0c",
    ),
    *("'; DELETE FROM entry; --", "a" * 100_000, "ab" * 50_000, "{[(" * 1000, "\x1b[31m"),
]


def test_hostile_texts_are_texts_as_any_other(made):
    index = made(HOSTILE, threshold=0.6)
    sets = {id: text_set(text) for id, text in enumerate(HOSTILE)}
    for id, text in enumerate(HOSTILE):
        assert answers(index, text) == similar(sets, text_set(text), 0.6)
        assert not sets[id] or id in dict(answers(index, text))
    with pytest.raises(SourceError, match="surrogate"):
        index.add("x", "a\ud800b")
    assert len(index) == len(HOSTILE)


def test_a_text_of_ten_megabytes_is_found_by_one_that_is_nearly_so(made):
    # Of what is repeated thousands of times, three times have the same shingles.
    part = " ".join(random.Random(8).choices(TEXTS[0].split(), k=2000)) + " "
    huge, shorter = part * (10_000_000 // len(part) + 1), part * 3
    index = made({"huge": huge, "small": "a", "fox": FOX}, threshold=0.8)
    assert answers(index, huge) == [("huge", 1)]
    near = f"{huge}{FOX}"
    expected = float(jaccard(text_set(shorter), text_set(f"{shorter}{FOX}")))
    assert 0.8 <= expected < 1
    assert answers(index, near) == [("huge", expected)]
    assert not index.admit("huge again", near).added
    assert answers(index, "a") == [("small", 1)]
    assert answers(index, "b") == []


@pytest.mark.parametrize("wrong", [None, 5, b"bytes", ["a", "list"], Path("file.txt")])
def test_what_is_no_text_is_refused_and_changes_nothing(made, wrong):
    index = made({1: FOX})
    for ask in (
        lambda: index.query(wrong),
        lambda: index.add("text", wrong, {"year": 1}),
        lambda: index.admit("text", wrong),
    ):
        with pytest.raises(SourceError, match="index is of texts"):
            ask()
    # Nothing was noted of the id or the metadata either.
    assert list(index) == [1]
    assert index.metadata == {}


@pytest.mark.parametrize("options", [{}, {"no_text": True}, {"multiset": True}])
def test_a_table_of_answers_has_the_answers_of_each_document(made, options):
    """Of which one is looked for in another way than many."""
    index = made(**options)
    for id, text in enumerate(TEXTS):
        index.add(id, text, {"length": len(text)} if id % 2 else None)
    asked = {f"q{place}": text for place, text in enumerate(TEXTS[::4])}
    table = index.query_all(asked, containment=True, threshold=0.6, top=4)
    expected = []
    for name, text in asked.items():
        for one in index.query(text, containment=True, threshold=0.6, top=4):
            row = {"id": name, "match": one.id, "similarity": one.similarity, "score": one.score}
            shares = {"query_in_match": one.query_in_match, "match_in_query": one.match_in_query}
            expected.append(row | shares | {"metadata.length": one.metadata.get("length")})
    assert table.to_pylist() == expected
    assert len(expected) > 10


def test_another_opening_of_the_index_shows_ids_and_metadata_as_they_are_by_now(made, tmp_path):
    index = made({1: FOX})
    with Index(tmp_path / "0.lookalike") as other:
        assert list(other) == [1]
        index.add("text", f"{FOX}!", {"year": 5})
        assert list(other) == ["1", "text"]
        assert [id for id, _ in answers(other, FOX)] == ["1", "text"]
        (match, *_) = other.admit(7, f"{FOX}!").matches
        assert (match.id, match.metadata) == ("text", {"year": 5})


def test_a_document_that_is_refused_changes_neither_the_ids_nor_the_metadata(made):
    index = made({1: FOX, 2: "nothing alike at all"})
    assert not index.admit("page", f"{FOX}!", {"site": "a"}).added
    assert index.add_all({"x": FOX, "y": f"{FOX}!"}, new_only=True).similar == 2
    assert ([*index], index.has_whole_ids, index.metadata) == ([1, 2], True, {})
    assert index.query(FOX)[0].id == 1
    assert index.admit("page", "a third one, unlike the others", {"site": "a"}).added
    assert ([*index], index.metadata) == (["1", "2", "page"], {"site": "text"})
    assert index.query(FOX)[0].id == "1"


def test_what_ids_and_metadata_are_is_seen_by_an_index_that_was_open_before(made):
    index = made({1: FOX})
    with Index(index.address) as other:
        other.add("page", "something else", {"site": "a"})
    assert not index.admit(2, f"{FOX}!").added
    assert index.admit(2, f"{FOX}!").matches[0].id == "1"
    assert index.metadata == {"site": "text"}
    with pytest.raises(SourceError, match="'site' of document 3 is of the type integer"):
        index.add(3, "one more", {"site": 5})
    assert [*index] == ["1", "page"]
