"""What users of other tools have suffered from, and what must not happen here."""

import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike
from lookalike.base.errors import OutputError, QuadraticError, SettingsError, SourceError

PROSE = (
    "The harbour master wrote the heights of the tide in a ledger every morning before the bread "
    "was delivered, and nobody could remember a day on which he had forgotten it."
)


def pairs(texts, **options) -> list[tuple[Any, Any, float]]:
    rows = lookalike.find(texts, **options).pairs.to_pylist()
    return [(row["a"], row["b"], row["similarity"]) for row in rows]


@pytest.mark.parametrize("recall", [0.99, 1])
def test_no_documents_and_one_document_are_ordinary(recall):
    for texts in ([], ["only this one"], {}, pa.array([], pa.string())):
        result = lookalike.find(texts, recall=recall)
        assert len(result.pairs) == 0
        assert result.pairs.column_names == ["a", "b", "similarity", "score"]
        assert result.clusters.column_names == ["id", "cluster", "size", "similarity"]
        assert len(result.clusters) == 0
        assert lookalike.dedup(texts).removed.column_names == [
            *("id", "kept", "similarity", "kept_in")
        ]


@pytest.mark.parametrize("recall", [0.99, 1])
def test_all_documents_the_same_are_all_pairs_and_one_is_kept(recall):
    texts = [PROSE] * 52
    result = lookalike.find(texts, recall=recall)
    assert len(result.pairs) == result.pair_count == 52 * 51 // 2
    assert set(result.pairs["similarity"].to_pylist()) == {1.0}
    assert result.clusters["size"].to_pylist() == [52] * 52
    kept = lookalike.dedup(texts, recall=recall)
    assert kept.kept == [PROSE]
    assert len(kept.removed) == 51


@pytest.mark.parametrize("recall", [0.99, 1])
def test_all_documents_different_are_no_pairs_and_all_are_kept(recall):
    texts = [chr(0x4E00 + 40 * i) * 3 + chr(0x4E00 + 40 * i + 7) * 4 for i in range(100)]
    assert pairs(texts, recall=recall) == []
    assert lookalike.dedup(texts, recall=recall).kept == texts


@pytest.mark.parametrize("options", [{}, {"recall": 1}, {"shingle": "words:3"}, {"estimate": True}])
def test_empty_documents_are_reported_and_similar_to_nothing(options):
    result = lookalike.find({"a": "", "b": " \n ", "c": None, "d": PROSE, "e": PROSE}, **options)
    assert result.empty.to_pylist() == ["a", "b", "c"]
    assert result.summary.empty == 3
    assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [("d", "e")]


@pytest.mark.parametrize("recall", [0.99, 1])
def test_documents_of_nothing_but_what_is_ignored_are_similar_to_nothing(recall):
    texts = ["ebb flow", "flow tide", "ebb flow tide", PROSE, PROSE + " Truly."]
    options = {"ignore": "ebb flow tide", "shingle": "words:2", "recall": recall}
    assert [pair[:2] for pair in pairs(texts, **options)] == [(3, 4)]
    assert lookalike.dedup(texts, **options).kept == texts[:4]


@pytest.mark.parametrize("shingle", ["chars:9", "words:5", "auto"])
def test_short_documents_neither_collapse_together_nor_crash(shingle):
    texts = ["yes", "no", "No", "maybe so", "Maybe,  so!", "ok"]
    found = {(a, b) for a, b, _ in pairs(texts, shingle=shingle)}
    assert (1, 2) in found
    assert found <= {(1, 2), (3, 4)}


def test_text_without_spaces_is_cut_into_words_too():
    poem = "床前明月光，疑是地上霜。举头望明月，低头思故乡。"
    edited = poem.replace("地上", "天上")
    other = "白日依山尽，黄河入海流。欲穷千里目，更上一层楼。"
    (found,) = pairs([poem, edited, other], shingle="words:2", threshold=0.6)
    assert found[:2] == (0, 1)


def test_a_pair_comes_once_the_smaller_id_first_and_never_with_itself():
    texts = {9: PROSE, 10: PROSE + " Truly.", 2: PROSE.upper(), 1: "quite another thing " * 8}
    found = pairs(texts, threshold=0.7)
    assert [(a, b) for a, b, _ in found] == [(2, 9), (2, 10), (9, 10)]
    assert all(a != b for a, b, _ in found)


def test_numbers_sort_as_numbers_and_mixed_ids_as_text():
    assert pairs({10: PROSE, 9: PROSE})[0][:2] == (9, 10)
    assert pairs({"10": PROSE, "9": PROSE})[0][:2] == ("9", "10")
    assert pairs({10: PROSE, "9": PROSE})[0][:2] == ("9", "10")
    assert pairs({"10": PROSE, 9: PROSE, "x": "quite another thing"})[0][:2] == ("10", "9")


def test_pairs_are_sorted_by_similarity_downwards_then_by_ids():
    texts = [PROSE, PROSE + " And more.", PROSE, PROSE + " And more.", PROSE + " Or else, not."]
    found = pairs(texts, threshold=0.5)
    assert found == sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))


def test_composed_and_decomposed_forms_match():
    text = "Ångström café naïve Việt Nam, Ḟ Đà Nẵng élève"
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert forms[0] != forms[1]
    assert pairs(forms) == [(0, 1, 1.0)]


def test_the_ends_of_a_chain_are_not_called_alike():
    words = [f"word{i}" for i in range(60)]
    chain = [" ".join(words[i : i + 50]) for i in range(0, 10, 2)]
    result = lookalike.find(chain, threshold=0.8, shingle="words:2", recall=1)
    (similarity,) = set(result.clusters["similarity"].to_pylist())
    assert similarity < 0.8
    stars = lookalike.dedup(chain, threshold=0.8, shingle="words:2", recall=1)
    assert min(stars.removed["similarity"].to_pylist()) >= 0.8
    assert len(stars.kept) > 1


def test_one_member_clusters_are_never_listed():
    result = lookalike.find([PROSE, PROSE, "something else altogether, alone"])
    assert sorted(result.clusters["id"].to_pylist()) == [0, 1]


def test_a_threshold_is_taken_with_all_its_digits():
    a, b = "abcdefghij", "abcdefghi"
    similarity = lookalike.compare(a, b, shingle="chars:1").similarity
    assert similarity == 0.9
    assert pairs([a, b], shingle="chars:1", threshold=0.9, recall=1) == [(0, 1, 0.9)]
    assert pairs([a, b], shingle="chars:1", threshold=np.nextafter(0.9, 1), recall=1) == []


def test_bands_and_rows_say_which_is_which():
    plan = lookalike.find([PROSE, PROSE], bands=20, rows=5).plan
    assert (plan.bands, plan.rows) == (20, 5)
    assert str(plan.cascade) == "and:5 or:20"


def test_the_callers_data_is_not_changed():
    texts = [PROSE, PROSE.upper(), "x"]
    column = pa.array(texts)
    before = list(texts), column.to_pylist()
    lookalike.find(texts)
    lookalike.dedup(column)
    assert (texts, column.to_pylist()) == before


def test_a_hot_bucket_is_worked_off_and_not_dropped():
    texts = [f"{PROSE} Copy {i}." for i in range(400)]
    # So many bands that no pair, all 0.95 alike or more, is missed by chance.
    options: dict[str, Any] = {"threshold": 0.8, "bands": 10, "rows": 2}
    assert lookalike.find(texts, **options).pair_count == 400 * 399 // 2
    assert len(lookalike.dedup(texts, **options).kept) == 1


def test_more_pairs_than_fit_are_refused_and_the_clusters_are_still_told(monkeypatch):
    monkeypatch.setattr("lookalike.results.documents.MAX_PAIRS", 1000)
    result = lookalike.find(["same"] * 50)
    with pytest.raises(OutputError, match="1,225 similar pairs do not fit"):
        _ = result.pairs
    assert result.clusters["size"].to_pylist() == [50] * 50
    assert len(lookalike.dedup(["same"] * 50).removed) == 49


def test_a_cascade_that_would_compare_everything_is_refused(monkeypatch):
    texts = [f"the {i}" for i in range(300)]
    monkeypatch.setattr("lookalike.candidates.buckets.MIN_PAIRS_LIMIT", 1000)
    monkeypatch.setattr("lookalike.candidates.buckets.PAIRS_PER_DOCUMENT", 10)
    with pytest.raises(QuadraticError, match=r"begins with a larger 'and'"):
        lookalike.find(texts, cascade="or:4 and:4", shingle="chars:1", threshold=0.5)


def test_any_cascade_finds_candidates_that_are_then_verified():
    texts = [PROSE, PROSE + " Truly.", "nothing of the kind " * 9]
    for cascade in ("and:2 or:8", "or:8 and:2", "or:4 and:2 or:4", "and:3 or:6 and:2 or:2"):
        ((a, b, similarity),) = pairs(texts, cascade=cascade, shingle="chars:5")
        assert (a, b) == (0, 1)
        assert similarity == lookalike.compare(texts[0], texts[1]).similarity


def test_settings_that_contradict_each_other_are_refused_before_anything_runs():
    with pytest.raises(SettingsError, match="bands= and rows= go together"):
        lookalike.find([PROSE], bands=5)
    with pytest.raises(SettingsError, match="shingle='chars' is not understood"):
        lookalike.find([PROSE], shingle="chars")
    with pytest.raises(SettingsError, match="keep='best' is unknown"):
        lookalike.dedup([PROSE], keep="best")


def test_the_copy_that_survives_is_the_users_choice():
    table = pa.table(
        {
            "id": ["a", "b", "c"],
            "text": [PROSE, PROSE + " Truly!", PROSE.upper()],
            "stars": [3, None, 5],
        }
    )
    options: dict[str, Any] = {"threshold": 0.8, "text": "text", "id": "id"}
    expected = {
        "first": "a",
        "last": "c",
        "longest": "b",
        "shortest": "a",
        "max:stars": "c",
        "min:stars": "a",
    }
    for keep, name in expected.items():
        assert lookalike.dedup(table, keep=keep, **options).kept_ids.to_pylist() == [name]


def test_kept_documents_come_back_in_the_kind_they_were_given():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = ["one text here", "ONE text  here", "another of them"]
    assert lookalike.dedup(texts).kept == [texts[0], texts[2]]
    assert lookalike.dedup({"x": texts[0], "y": texts[1]}).kept == {"x": texts[0]}
    assert lookalike.dedup(pa.array(texts)).kept.equals(pa.array([texts[0], texts[2]]))
    assert lookalike.dedup(pd.Series(texts, index=[5, 6, 7])).kept.index.tolist() == [5, 7]
    assert lookalike.dedup(pl.Series(texts)).kept.to_list() == [texts[0], texts[2]]
    frame = pl.DataFrame({"text": texts, "n": [1, 2, 3]})
    assert lookalike.dedup(frame, text="text").kept["n"].to_list() == [1, 3]


def test_containment_is_reported_beside_the_similarity():
    quoted = " ".join(f"word{i}" for i in range(20))
    whole = quoted + " " + " ".join(f"other{i}" for i in range(20))
    result = lookalike.find([whole, quoted], shingle="words:3", threshold=0.3, recall=1)
    (row,) = result.containments.to_pylist()
    assert (row["a"], row["b"]) == (0, 1)
    assert row["b_in_a"] == 1.0
    assert row["a_in_b"] == pytest.approx(18 / 38)


def test_a_corpus_of_only_empty_documents_is_ordinary():
    result = lookalike.find(["", " ", None])
    assert (len(result.pairs), len(result.clusters), len(result.empty)) == (0, 0, 3)
    assert lookalike.dedup(["", " "]).kept == ["", " "]


def test_the_most_similar_pairs_are_told_without_laying_out_all(monkeypatch):
    texts = [PROSE] * 40 + [PROSE + " And so on."] * 30 + [f"{PROSE} {i}" for i in range(20)]
    texts = [texts[(7 * i) % len(texts)] for i in range(len(texts))]
    result = lookalike.find(texts, threshold=0.7)
    for most in (1, 5, 20, 1000):
        assert result.top(most).equals(result.pairs.slice(0, most))
    # Twelve pairs of one similarity and none identical: ids alone decide which come first.
    tied = [f"w{i} x{i} y{i} z{i} {side}{i}" for i in range(12) for side in "ab"]
    even = lookalike.find(tied, threshold=0.5, shingle="words:1", recall=1)
    assert set(even.pairs["similarity"].to_pylist()) == {4 / 6}
    assert even.pair_count == 12
    for most in (1, 5, 11):
        assert even.top(most).equals(even.pairs.slice(0, most))
    monkeypatch.setattr("lookalike.results.documents.MAX_PAIRS", 10)
    assert lookalike.find(texts, threshold=0.7).top(20).equals(result.pairs.slice(0, 20))


def test_estimates_find_as_much_as_their_plan_says():
    # Pairs at the very threshold: two of 36 words that share 32, so 32 of 40 in all.
    texts, pairs_wanted = [], set()
    for i in range(200):
        shared = [f"s{i}x{j}" for j in range(32)]
        texts += [" ".join([*shared, *(f"{side}{i}x{j}" for j in range(4))]) for side in "ab"]
        pairs_wanted.add((2 * i, 2 * i + 1))
    options: dict[str, Any] = {"shingle": "words:1", "threshold": 0.8}
    exact = lookalike.find(texts, **options)
    assert len(pairs_wanted & {(a, b) for a, b, _ in pairs(texts, **options)}) >= 0.97 * 200
    estimated = lookalike.find(texts, estimate=True, **options)
    found = {(row["a"], row["b"]) for row in estimated.pairs.to_pylist()}
    told = estimated.plan.probability(0.8)
    assert 0.4 < told < 0.6 < exact.plan.probability(0.8)
    assert abs(len(found & pairs_wanted) / 200 - told) < 3 * (told * (1 - told) / 200) ** 0.5
    assert "estimated from" in estimated.plan.sentence()


def test_nothing_is_removed_on_an_estimate():
    with pytest.raises(TypeError, match="estimate"):
        lookalike.dedup([PROSE], estimate=True)  # type: ignore[call-arg]


def test_copies_in_a_short_pile_of_ideographs_are_found_by_default():
    texts = ["老茶馆每天早上五点就开门。", "老茶馆每天早上六点就开门。", "山雨"]
    result = lookalike.find(texts, threshold=0.6)
    assert result.plan.shingle == "chars:2"
    assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [(0, 1)]


def test_an_exact_join_that_does_not_fit_is_refused_with_what_it_needs(monkeypatch):
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    texts = [f"{PROSE} {i}" for i in range(30)]
    with pytest.raises(SettingsError, match=r"about 1\d\d KB of the 20 KB allowed: raise memory="):
        lookalike.find(texts, recall=1, memory=20_000)
    assert lookalike.find(texts, recall=1, memory=200_000).pair_count > 0


def test_documents_in_memory_have_no_work_folder(tmp_path):
    with pytest.raises(SettingsError, match="work= is for sources in files: leave it out"):
        lookalike.find([PROSE], work=tmp_path / "work")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads=0"),
        ({"threads": "2"}, "threads='2'"),
        ({"multiset": "no"}, "multiset='no': use True or False"),
        ({"normalise": None}, "normalise=None is of type NoneType"),
        ({"shingle": 5}, "shingle=5 is of type int"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"bands": 2.5, "rows": 3}, "bands=2.5"),
        ({"bands": 10**6, "rows": 100}, "needs signatures of 100,000,000 rows"),
    ],
)
def test_options_of_the_wrong_kind_are_refused_in_one_line(options, message):
    with pytest.raises(SettingsError, match=message):
        lookalike.find([PROSE, PROSE], **options)


def test_the_fingerprint_names_what_ran():
    def print_of(texts, **options):
        return lookalike.find(texts, **options).settings.fingerprint()

    many = [f"document {i} of the pile, all by itself {i * i}" for i in range(400)]
    assert print_of(many) != print_of(many[:3])
    both = "keep-case,strip-accents", "strip-accents, keep-case"
    assert print_of(many, normalise=both[0]) == print_of(many, normalise=both[1])
    assert print_of(many, bands=np.int64(4), rows=np.int64(3)) == print_of(many, bands=4, rows=3)
    written = lookalike.find(many).pairs.schema.metadata[b"lookalike.fingerprint"]
    assert written.decode() == print_of(many)


def test_progress_is_told_in_every_long_stage_and_never_goes_back():
    told = {}
    texts = [f"{PROSE} {i}" for i in range(50)]
    size = sum(len(text) for text in texts)
    every = {"read", "sketch", "band", "compare"}
    # Of bands that were swept, pairs are compared; else documents, with those before them.
    jobs = ({}, every, 50 * 49 // 2), ({"recall": 1}, {"read", "compare"}, 50)
    for options, stages, compared in jobs:
        told.clear()
        lookalike.find(
            texts, progress=lambda *what: told.setdefault(what[0], []).append(what[1:]), **options
        )
        assert set(told) == stages
        for steps in told.values():
            done = [step[0] for step in steps]
            assert done == sorted(done)
            assert steps[-1][0] == steps[-1][1]
        assert told["read"][-1] == (size, size)
        assert told["compare"][-1] == (compared, compared)
    told.clear()
    lookalike.dedup(texts, progress=lambda *what: told.setdefault(what[0], []).append(what[1:]))
    assert set(told) == every
    assert told["compare"][-1] == (50, 50)


def test_a_document_too_large_for_the_memory_is_refused_by_name():
    texts = {"small": "a few words", "large": "word " * 2_600_000}
    message = r"document 'large' of 13\.0 MB takes about 520\.0 MB of memory, more than the 500\.0"
    with pytest.raises(SourceError, match=message):
        lookalike.find(texts, memory="500MB")
    result = lookalike.find(texts, memory="500MB", skip_bad=True)
    assert (result.summary.documents, result.summary.bad_count) == (1, 1)
    assert "raise memory=, or leave it out" in result.summary.bad[0]


def test_bytes_that_are_no_text_are_named_and_passed_over_where_asked():
    good, broken = b"quite good", b"not \xff good"
    column = pa.array([good, broken, good], pa.large_binary()).view(pa.large_string())
    with pytest.raises(SourceError, match=r"document 1 is not valid UTF-8 at byte 5: fix"):
        lookalike.find(column)
    result = lookalike.find(column, skip_bad=True)
    assert result.pairs.to_pylist() == [{"a": 0, "b": 2, "similarity": 1.0, "score": "exact"}]
    assert result.summary.bad == ("document 1 is not valid UTF-8 at byte 5: fix or remove it",)
