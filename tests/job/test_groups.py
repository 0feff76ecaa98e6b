"""Documents of one group are never compared: the plain result without the pairs within groups."""

import itertools
import json
import random
from typing import Any

import pandas as pd
import pytest

import lookalike
from archive_files import archive
from compared_corpora import WAYS, components, texts_of
from lookalike.base.errors import OutputError, SourceError
from lookalike.job import read
from lookalike.read import Corpus
from source_files import write_records


def corpus(seed, documents, prefix="d"):
    """Texts with a student each, of whom some are not known."""
    choice = random.Random(seed)
    students = ["ann", "bob", 3, None, ""]
    return [
        {"id": f"{prefix}{number:02}", "text": text, "student": choice.choice(students)}
        for number, text in enumerate(texts_of(seed, documents))
    ]


def apart(first, second):
    """Whether two documents are of two groups; one without is a group of its own."""
    return first["student"] in (None, "") or first["student"] != second["student"]


def facts_of(result, names=("a", "b")):
    return {
        tuple(row[name] for name in names): {k: v for k, v in row.items() if k not in names}
        for row in result.pairs.to_pylist()
    }


def by_id(*corpora):
    return {one["id"]: one for documents in corpora for one in documents}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("documents", [0, 1, 2, 3, 40])
def test_pairs_are_those_of_two_groups(way, documents):
    for seed in range(3):
        given = corpus(seed, documents)
        held = by_id(given)
        if given and not any(one["student"] for one in given):
            continue
        with lookalike.find(given, **WAYS[way]) as plain:
            expected = {
                pair: facts
                for pair, facts in facts_of(plain).items()
                if apart(*(held[name] for name in pair))
            }
        with lookalike.find(given, groups="student", **WAYS[way]) as result:
            assert facts_of(result) == expected
            assert result.pair_count == len(expected)
            rows = result.pairs.to_pylist()
            assert [result.top(n).to_pylist() for n in (0, 1, 4)] == [rows[:0], rows[:1], rows[:4]]
            clusters: dict[int, set[str]] = {}
            for row in result.clusters.to_pylist():
                clusters.setdefault(row["cluster"], set()).add(row["id"])
        assert {frozenset(one) for one in clusters.values()} == components(expected)


@pytest.mark.parametrize("way", ["planned", "bands", "exact", "cosine", "simhash", "estimate"])
def test_two_corpora_and_groups(way):
    for seed in range(4):
        given = corpus(seed, 40)
        ours, theirs = given[:15], given[15:]
        held = by_id(given)
        with lookalike.find(ours, against=theirs, **WAYS[way]) as plain:
            expected = {
                pair: facts
                for pair, facts in facts_of(plain).items()
                if apart(*(held[name] for name in pair))
            }
        with lookalike.find(ours, against=theirs, groups="student", **WAYS[way]) as result:
            assert facts_of(result) == expected
            assert result.pair_count == len(expected)


@pytest.mark.parametrize("documents", [0, 1, 2, 3, 40])
def test_what_is_contained_is_in_a_document_of_another_group(documents):
    for seed in range(4):
        given = corpus(seed, documents)
        if given and not any(one["student"] for one in given):
            continue
        held = by_id(given)
        options: dict[str, Any] = {"containment": 0.6, "shingle": "words:1"}
        with lookalike.contained(given, **options) as plain:
            expected = {
                pair: facts
                for pair, facts in facts_of(plain, ("part", "whole")).items()
                if apart(*(held[name] for name in pair))
            }
        with lookalike.contained(given, groups="student", **options) as result:
            assert facts_of(result, ("part", "whole")) == expected
            assert result.pair_count == len(expected)
            inside = {part for part, _ in expected}
            inside |= {whole for (_, whole), facts in expected.items() if facts["copies"]}
            assert result.inside_count == len(inside)


def words_of(document):
    return set(document["text"].split())


def similar(first, second):
    one, other = words_of(first), words_of(second)
    return len(one & other) / len(one | other) >= 0.4


def inside(first, second):
    return len(words_of(first) & words_of(second)) / len(words_of(first)) >= 0.7


def brute_force(documents, reference, linked, keep, *, larger_first=False):
    """Keep documents, the preferred first, unless a kept one of another group speaks for them."""
    ordered = {
        "first": lambda: list(documents),
        "last": lambda: documents[::-1],
        "longest": lambda: sorted(documents, key=lambda one: (-len(one["text"]), one["id"])),
    }[keep]()
    if larger_first:
        # Copies of one text are equally large, so that the policy decides among them.
        ordered.sort(key=lambda one: -len(words_of(one)))
    kept = [one for one in reference if one["text"]]
    stays = []
    for one in ordered:
        same = (other for other in kept if apart(one, other))
        if not one["text"] or not any(
            other["text"] == one["text"] or linked(one, other) for other in same
        ):
            stays.append(one["id"])
            kept += [one] if one["text"] else []
    return set(stays)


RULES: dict[str, tuple[Any, dict[str, Any]]] = {
    "similar": (similar, {"threshold": 0.4, "recall": 1}),
    "contained": (inside, {"rule": "contained", "containment": 0.7}),
}


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("documents", [0, 1, 2, 3, 25])
def test_dedup_never_removes_a_document_for_one_of_its_group(documents, rule, keep):
    linked, options = RULES[rule]
    for seed in range(6):
        given = corpus(seed, documents)
        if given and not any(one["student"] for one in given):
            continue
        result = lookalike.dedup(given, groups="student", shingle="words:1", keep=keep, **options)
        expected = brute_force(given, [], linked, keep, larger_first=rule == "contained")
        assert set(result.kept_ids.to_pylist()) == expected
        held = by_id(given)
        for row in result.removed.to_pylist():
            gone, stays = held[row["id"]], held[row["kept"]]
            assert row["kept"] in expected
            assert apart(gone, stays)
            assert gone["text"] == stays["text"] or linked(gone, stays)
        counts = result.counts
        assert counts["kept"] + counts["removed"] + counts["empty"] == counts["read"]


@pytest.mark.parametrize("rule", RULES)
def test_dedup_against_a_reference_looks_at_groups_too(rule):
    linked, options = RULES[rule]
    for seed in range(12):
        given = corpus(seed, 24)
        ours, theirs = given[:14], given[14:]
        result = lookalike.dedup(
            ours, against=theirs, groups="student", shingle="words:1", **options
        )
        expected = brute_force(ours, theirs, linked, "first", larger_first=rule == "contained")
        assert set(result.kept_ids.to_pylist()) == expected


@pytest.mark.parametrize("way", ["bands", "cosine by bands"])
def test_dedup_by_bands_removes_only_for_another_group(way):
    given = corpus(9, 260)
    held = by_id(given)
    result = lookalike.dedup(given, groups="student", **WAYS[way])
    kept = set(result.kept_ids.to_pylist())
    with lookalike.find(given, groups="student", **WAYS[way]) as found:
        pairs = {frozenset(pair) for pair in facts_of(found)}
    assert not any(pair <= kept for pair in pairs)
    for row in result.removed.to_pylist():
        assert frozenset((row["id"], row["kept"])) in pairs
        assert apart(held[row["id"]], held[row["kept"]])


def test_the_drafts_of_a_student_stay_and_a_copy_by_another_goes():
    drafts = [
        {"id": 1, "text": "one two three four", "student": "ann"},
        {"id": 2, "text": "one two three four", "student": "ann"},
        {"id": 3, "text": "one two three four", "student": "bob"},
    ]
    result = lookalike.dedup(drafts, groups="student")
    assert result.kept_ids.to_pylist() == [1, 2]
    assert result.removed.to_pylist() == [
        {"id": 3, "kept": 1, "similarity": 1.0, "kept_in": "source"}
    ]


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.csv", "docs.parquet"])
def test_the_column_is_read_of_every_format(name, tmp_path):
    given = [
        {"id": one["id"], "text": one["text"], "student": str(one["student"] or "")}
        for one in corpus(4, 30)
    ]
    source = write_records(tmp_path / name, given)
    with lookalike.find(given, groups="student", **WAYS["planned"]) as memory:
        expected = facts_of(memory)
    with lookalike.find(source, groups="student", **WAYS["planned"]) as files:
        assert facts_of(files) == expected
    frame = pd.DataFrame(given)
    with lookalike.find(frame, groups="student", **WAYS["planned"]) as table:
        assert facts_of(table) == expected


def test_one_group_however_it_is_written(tmp_path):
    texts = ["one two three four five six"] * 4
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": texts[0], "g": 3}) + "\n")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": texts[0], "g": "3"}) + "\n")
    (tmp_path / "c.csv").write_text(f"text,g\n{texts[0]},3\n")
    frame = pd.DataFrame({"text": texts, "g": [3.0, None, float("nan"), 3.0]})
    write_records(tmp_path / "d.parquet", frame.to_dict("records"))
    with lookalike.find(tmp_path, groups="g") as result:
        pairs = {frozenset((row["a"], row["b"])) for row in result.pairs.to_pylist()}
    # Of seven copies, two have no group; the other five are of one.
    assert len(pairs) == 2 * 5 + 1


class TestFolders:
    @pytest.fixture
    def folder(self, tmp_path):
        text = "the same sentence is copied by everybody in this class, word for word"
        for name in ("ann/1.txt", "ann/2.txt", "bob/1.txt", "bob/deep/1.txt", "top.txt"):
            path = tmp_path / "essays" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "essays"

    @staticmethod
    def pairs(*sources):
        with lookalike.find(lookalike.paths(*sources), groups="folder") as result:
            return {frozenset((row["a"], row["b"])) for row in result.pairs.to_pylist()}

    def test_the_first_folder_below_the_source_is_the_group_of_a_file(self, folder):
        pairs = self.pairs(folder)
        ann, bob = ("ann/1.txt", "ann/2.txt"), ("bob/1.txt", "bob/deep/1.txt")
        assert {frozenset(pair) for pair in itertools.product(ann, bob)} < pairs
        # One directly in the source is compared with everything.
        assert pairs - {pair for pair in pairs if "top.txt" in pair} == {
            frozenset(pair) for pair in itertools.product(ann, bob)
        }
        assert sum("top.txt" in pair for pair in pairs) == 4

    @pytest.mark.parametrize("above", ["", "class/"])
    def test_so_it_is_in_archives(self, folder, above):
        files = {
            f"{above}{path.relative_to(folder).as_posix()}": path.read_bytes()
            for path in folder.rglob("*.txt")
        }
        path = archive(folder.parent / "class.zip", files)
        assert len(self.pairs(path)) == 8

    def test_archives_in_a_folder_are_folders(self, tmp_path):
        for name in ("ann", "bob"):
            archive(
                tmp_path / "x" / f"{name}.zip", {"1.txt": b"a b c d e f", "d/2.txt": b"a b c d e f"}
            )
        pairs = self.pairs(tmp_path / "x")
        assert len(pairs) == 4
        assert not any(len({name[:7] for name in pair}) == 1 for pair in pairs)

    def test_files_that_are_named_or_matched_are_below_what_they_share(self, folder):
        named = sorted(folder.glob("*/**/*.txt"))
        assert len(self.pairs(*named)) == 4
        assert len(self.pairs(folder / "*" / "**" / "*.txt")) == 4

    def test_each_source_has_its_own(self, folder):
        (folder.parent / "more" / "ann").mkdir(parents=True)
        (folder.parent / "more" / "ann" / "1.txt").write_bytes((folder / "top.txt").read_bytes())
        (folder.parent / "more" / "top.txt").write_bytes((folder / "top.txt").read_bytes())
        # Seven files, of which only those of one folder below one source are no pair.
        assert len(self.pairs(folder, folder.parent / "more")) == 7 * 6 // 2 - 2

    def test_a_source_without_folders_is_refused(self, folder):
        with pytest.raises(SourceError, match="no file stands in a folder below the source"):
            self.pairs(folder / "ann")

    def test_a_column_of_that_name_comes_first(self, tmp_path):
        write_records(
            tmp_path / "x" / "docs.jsonl",
            [{"id": n, "text": "a b c d e", "folder": name} for n, name in enumerate("ppq")],
        )
        with lookalike.find(tmp_path / "x", groups="folder") as result:
            pairs = [(row["a"], row["b"]) for row in result.pairs.to_pylist()]
        assert pairs == [(0, 2), (1, 2)]

    def test_files_without_columns_are_told_of_folders(self, folder):
        with pytest.raises(SourceError, match="no document has a value in column 'student'") as e:
            lookalike.find(folder, groups="student")
        assert "groups='folder'" in str(e.value)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(SourceError, match="there is no column 'site' to group by"):
        lookalike.find([{"text": "a"}, {"text": "b"}], groups="site")


def test_a_work_folder_is_of_one_grouping(tmp_path):
    source = write_records(tmp_path / "docs.jsonl", corpus(4, 30))
    options: dict[str, Any] = {**WAYS["bands"], "work": tmp_path / "work"}
    with lookalike.find(source, groups="student", **options) as result:
        expected = facts_of(result)
        assert result.record()["settings"]["groups"] == result.settings.groups == "student"
    with lookalike.find(source, groups="student", **{**options, "threshold": 0.3}) as lower:
        assert set(facts_of(lower)) > set(expected)
    with pytest.raises(OutputError, match="groups='student' then, groups=None now"):
        lookalike.find(source, **options)


def test_a_job_that_was_stopped_while_reading_goes_on(tmp_path, monkeypatch):
    given = corpus(4, 30)
    for number in range(3):
        write_records(tmp_path / "in" / f"{number}.jsonl", given[10 * number : 10 * number + 10])
    options: dict[str, Any] = {**WAYS["bands"], "groups": "student"}
    with lookalike.find(tmp_path / "in", **options) as whole:
        expected = facts_of(whole)
    commit, seen = read._Reader._commit, []

    def stop(self, *given):
        seen.append(1)
        if len(seen) == 2:
            raise KeyboardInterrupt
        commit(self, *given)

    monkeypatch.setattr(read._Reader, "_commit", stop)
    batches = Corpus.batches
    monkeypatch.setattr(
        Corpus,
        "batches",
        lambda self, start=None, threads=1: batches(self, start, threads=threads, batch_bytes=64),
    )
    with pytest.raises(KeyboardInterrupt):
        lookalike.find(tmp_path / "in", work=tmp_path / "work", **options)
    with lookalike.find(tmp_path / "in", work=tmp_path / "work", **options) as result:
        assert facts_of(result) == expected


@pytest.mark.parametrize("way", ["planned", "bands", "exact", "simhash", "cosine"])
def test_documents_of_one_group_are_not_compared(way):
    """Nor are they counted as if they were."""
    given = [{**one, "student": "ann"} for one in corpus(3, 40)]
    with lookalike.find(given, groups="student", **WAYS[way]) as result:
        assert (len(result), len(result.links), len(result.clusters)) == (0, 0, 0)
        assert result.summary.candidates == result.summary.dismissed
    with lookalike.contained(given, groups="student") as inside:
        assert len(inside) == inside.inside_count == len(inside.inside.links) == 0  # type: ignore[union-attr]


def test_a_reference_that_is_inside_a_document_takes_nothing_away():
    given = [{"id": 1, "text": "a b c d e f", "student": "ann"}]
    reference = [{"id": 1, "text": "a b", "student": "bob"}]
    rule: dict[str, Any] = {"rule": "contained", "shingle": "words:1"}
    assert lookalike.dedup(given, against=reference, groups="student", **rule).kept == given
    assert lookalike.dedup(given, against=reference, **rule).kept == given
    assert lookalike.dedup(reference, against=given, groups="student", **rule).kept == []
