"""Corpora compared with others, from the command line."""

import json
from typing import Any

import pytest

from source_files import write_records

BASE = (
    "The quick brown fox jumps over the lazy dog while seven wizards brew a potion of "
    "violets and the old miller counts his sacks of flour by the light of a candle"
)
OTHER = "Ships that pass in the night speak to each other in passing, only a signal shown"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def sources(tmp_path):
    """Two files that share ids, and in which each has copies of its own."""
    ours: list[dict[str, Any]] = [
        {"id": "x", "text": BASE, "student": "ann"},
        {"id": "y", "text": f"{BASE} stub", "student": "ann"},
        {"id": "z", "text": "Nothing like the others, whatever one may say", "student": "bob"},
    ]
    theirs: list[dict[str, Any]] = [
        {"id": "x", "text": OTHER, "student": "ann"},
        {"id": "y", "text": f"{BASE} end", "student": "bob"},
        {"id": "w", "text": OTHER, "student": None},
    ]
    return (
        write_records(tmp_path / "ours.jsonl", ours),
        write_records(tmp_path / "theirs.jsonl", theirs),
    )


class TestAgainst:
    def test_find_prints_pairs_of_the_source_and_the_reference(self, told, sources):
        ours, theirs = sources
        command = ("find", ours, "--against", theirs, "-s", "chars:5", "-t", "0.8", "-q")
        status, output, errors = told(*command, "--format", "jsonl")
        assert (status, errors) == (0, "")
        pairs = [json.loads(line) for line in output.splitlines()]
        assert {(pair["a"], pair["b"]) for pair in pairs} == {("x", "y"), ("y", "y")}

    def test_a_person_sees_which_is_which(self, told, sources):
        ours, theirs = sources
        command = ("find", ours, "--against", theirs, "-s", "chars:5", "-t", "0.8")
        status, output, errors = told(*command)
        assert status == 0
        assert "source" in output
        assert "y (reference)" in output
        assert "3 reference documents" in errors

    def test_the_facts_name_the_reference(self, told, sources):
        ours, theirs = sources
        status, output, _ = told("find", ours, "--against", theirs, "-s", "chars:5", "--json")
        facts = json.loads(output)
        assert status == 0
        assert [one[0] for one in facts["against"]] == [str(theirs)]
        assert facts["counts"]["reference"] == 3
        assert {one["corpus"] for one in facts["clusters"]} == {"source", "reference"}

    def test_the_share_to_fail_on_is_of_the_source(self, told, sources):
        ours, theirs = sources
        command = ("find", theirs, "--against", ours, "-s", "chars:5", "-t", "0.8", "-q")
        # One of three documents is like two of the reference.
        assert told(*command, "--fail-on", "34%", "--format", "csv")[0] == 0
        assert told(*command, "--fail-on", "33%", "--format", "csv")[0] == 3

    def test_nothing_alike_is_said_in_a_line(self, told, sources):
        ours, theirs = sources
        command = ("find", ours, "--against", theirs, "-s", "chars:5", "-t", "1", "-q")
        status, output, errors = told(*command)
        assert (status, errors) == (0, "")
        assert output.startswith("No document is at least 1 similar to one of the reference.\n")

    def test_a_reference_that_is_not_there_is_refused(self, told, sources, tmp_path):
        status, output, errors = told("find", sources[0], "--against", tmp_path / "none.jsonl")
        assert (status, output) == (1, "")
        assert "none.jsonl" in errors


class TestContained:
    @pytest.fixture
    def notes(self, tmp_path):
        records = [
            {"id": "part", "text": " ".join(BASE.split()[:12])},
            {"id": "whole", "text": BASE},
            {"id": "near", "text": BASE.replace("candle", "lamp")},
            {"id": "copy", "text": BASE},
        ]
        return write_records(tmp_path / "notes.jsonl", records)

    def test_only_what_a_kept_document_has_goes(self, told, notes, tmp_path):
        out = tmp_path / "clean"
        command = ("dedup", notes, "-o", out, "--rule", "contained", "-s", "words:2", "-q")
        assert told(*command) == (0, "", "")
        removed = lines_of(out / "removed.jsonl")
        assert removed == [
            {"id": "copy", "kept": "whole", "containment": 1.0, "kept_in": "source"},
            {"id": "part", "kept": "whole", "containment": 1.0, "kept_in": "source"},
        ]
        kept = [one["id"] for one in lines_of(out / "kept" / "notes.jsonl")]
        assert kept == ["whole", "near"]

    def test_a_person_sees_the_share(self, told, notes):
        command = ("dedup", notes, "--dry-run", "--rule", "contained", "-s", "words:2")
        given = ("--containment", "0.9", "--explain")
        status, output, errors = told(*command, *given, columns=200)
        assert status == 0
        assert "containment" in output
        assert "3 documents would go" in output
        assert "inside the kept one" in errors
        assert "Plan" not in errors

    @pytest.mark.parametrize(
        "option", [("-t", "0.8"), ("--recall", "0.99"), ("--metric", "jaccard")]
    )
    def test_what_would_do_nothing_is_refused(self, option, told, notes):
        command = ("dedup", notes, "--dry-run", "--rule", "contained", *option)
        status, output, errors = told(*command)
        assert (status, output) == (2, "")
        assert "does nothing with --rule contained: leave it out" in errors

    def test_a_share_without_the_rule_is_refused(self, told, notes):
        status, _, errors = told("dedup", notes, "--dry-run", "--containment", "0.9")
        assert status == 2
        assert "--containment is for --rule contained: give both" in errors


class TestAnnotate:
    def test_all_records_are_written_and_nothing_else(self, told, sources, tmp_path):
        out = tmp_path / "out"
        command = ("dedup", sources[0], "-o", out, "--annotate", "-s", "chars:5", "-q")
        assert told(*command) == (0, "", "")
        rows = lines_of(out / "annotated" / "ours.jsonl")
        assert [(row["id"], row["cluster"], row["kept"]) for row in rows] == [
            ("x", 1, True),
            ("y", 1, False),
            ("z", None, True),
        ]
        assert not (out / "kept").exists()
        assert json.loads((out / "run.json").read_text())["annotated"]

    def test_a_column_that_is_there_is_told_in_a_line(self, told, tmp_path):
        source = write_records(tmp_path / "docs.jsonl", [{"text": "a b c", "similarity": 1}])
        status, output, errors = told("dedup", source, "-o", tmp_path / "out", "--annotate", "-q")
        assert (status, output) == (1, "")
        assert "docs.jsonl:1 has a column 'similarity' already, which --annotate adds" in errors
        assert "Traceback" not in errors

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--dry-run",), "--dry-run writes nothing"),
            (("-o", "out", "--list"), "leave out --list"),
            (("-o", "out", "--drop-unread"), "leave out --drop-unread"),
        ],
    )
    def test_what_it_excludes_is_refused(self, options, message, told, sources):
        status, _, errors = told("dedup", sources[0], "--annotate", *options)
        assert status == 2
        assert message in errors


class TestGroups:
    COMMON = ("-s", "chars:5", "-t", "0.8", "-q")

    def test_find_leaves_out_pairs_of_one_student(self, told, sources, tmp_path):
        ours, theirs = sources
        command = ("find", ours, theirs, "--groups", "student", "--id", "none", *self.COMMON)
        status, output, errors = told(*command, "--format", "jsonl")
        assert (status, errors) == (0, "")
        pairs = [json.loads(line) for line in output.splitlines()]
        found = [{pair["a"].split("/")[-1], pair["b"].split("/")[-1]} for pair in pairs]
        # The two of ann are alike too; the one without a student is a group of its own.
        assert sorted(map(sorted, found)) == [
            ["ours.jsonl:1", "theirs.jsonl:2"],
            ["ours.jsonl:2", "theirs.jsonl:2"],
            ["theirs.jsonl:1", "theirs.jsonl:3"],
        ]

    def test_dedup_and_contained_take_them_too(self, told, sources, tmp_path):
        ours, _ = sources
        out = tmp_path / "out"
        assert told("dedup", ours, "-o", out, "--groups", "student", *self.COMMON) == (0, "", "")
        assert lines_of(out / "removed.jsonl") == []
        facts = json.loads((out / "run.json").read_text())
        assert facts["settings"]["groups"] == "student"
        command = ("contained", ours, "--groups", "student", "-s", "words:1", "-q")
        status, output, _ = told(*command, "--format", "jsonl")
        assert (status, output) == (0, "")

    def test_a_column_that_no_record_has_is_told_in_a_line(self, told, sources):
        status, output, errors = told("find", sources[0], "--groups", "studnet", "-q")
        assert (status, output) == (1, "")
        assert "no document has a value in column 'studnet'" in errors
        assert "--groups folder" in errors
