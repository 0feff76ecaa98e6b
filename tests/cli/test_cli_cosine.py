"""The cosine as a user runs it: texts and vectors, what is refused, and jobs that are stopped."""

import gc
import json
import math
import random
import re
import signal
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import test_cli_resume as resuming  # type: ignore[import-not-found]
from rich.cells import cell_len

import cosine_oracle as oracle
import lookalike
from lookalike.job import compare
from lookalike.read import Corpus
from source_files import as_lines, write_records

pytestmark = pytest.mark.long

BANDED = ("--bands", "30", "--rows", "6")
COSINE = ("--metric", "cosine")
WORDS = [f"word{number}" for number in range(60)]


def some_vectors(rows=70, dimension=12):
    """Make vectors of which some are near others, and one is the double of another."""
    generator = np.random.default_rng(11)
    vectors = generator.normal(size=(rows, dimension))
    near = rows // 3
    vectors[-near:] = vectors[:near] + generator.normal(size=(near, dimension)) * 0.2
    vectors[-1] = 2 * vectors[3]
    return vectors.astype(np.float32)


def some_records(documents=80):
    """Make texts of which some are edits or copies of others, and one is empty."""
    choice = random.Random(12)
    originals = [choice.choices(WORDS, k=40) for _ in range(documents // 3)]
    for place in range(documents):
        words = list(choice.choice(originals))
        for _ in range(choice.choice([0, 1, 3, 6])):
            words[choice.randrange(40)] = choice.choice(WORDS)
        yield {"id": f"d{place:03}", "text": " ".join(words) if place != 9 else "", "n": place}


@pytest.fixture
def array(tmp_path):
    path = tmp_path / "in" / "vectors.npy"
    path.parent.mkdir()
    np.save(path, some_vectors())
    return path


@pytest.fixture
def docs(tmp_path):
    return write_records(tmp_path / "in" / "docs.jsonl", list(some_records()))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def widest(text):
    return max(map(cell_len, text.split("\n")))


def rows_of(output):
    return [json.loads(line) for line in output.splitlines()]


def is_one_line(errors):
    return re.fullmatch(r"lookalike: [^\n]+\n", errors) and "a bug in Lookalike" not in errors


def as_words(text):
    """Give a text without its line breaks."""
    return " ".join(text.split())


class TestFind:
    def test_a_program_gets_the_pairs_that_python_gets(self, told, array, docs):
        expected = lookalike.find(some_vectors(), metric="cosine", threshold=0.9).pairs
        names_of = [f"vectors.npy:{row + 1}" for row in range(70)]
        status, output, errors = told(
            "find", array, *COSINE, "-t", "0.9", "-q", "--format", "jsonl"
        )
        assert (status, errors) == (0, "")
        by_name = {
            (*sorted((names_of[row["a"]], names_of[row["b"]])), row["similarity"])
            for row in expected.to_pylist()
        }
        found = rows_of(output)
        assert {(row["a"], row["b"], row["similarity"]) for row in found} == by_name
        assert all(list(row) == ["a", "b", "similarity", "score"] for row in found)
        assert len(found) > 10
        command = ["find", docs, *COSINE, "--weights", "log", "-s", "words:1", "-q"]
        status, output, errors = told(*command, "--format", "jsonl")
        expected = lookalike.find(docs, metric="cosine", weights="log", shingle="words:1").pairs
        assert (status, errors) == (0, "")
        assert rows_of(output) == expected.to_pylist()
        assert len(expected) > 10

    def test_a_person_is_told_by_what_documents_were_compared(self, told, array, docs):
        status, output, errors = told("find", array, *COSINE)
        assert status == 0
        assert "similar pairs by cosine of 12-dimensional vectors" in as_words(output)
        said = as_words(errors)
        assert re.search(r"Plan \d+ bands? of \d+ bits? of 12-dimensional vectors, sketches", said)
        assert re.search(
            r"Compared \d+ of [\d,]+ candidates among 69 distinct documents, \d+ rejected", said
        )
        assert re.search(r"[\d,]+ ruled out by their sketches", said)
        assert "Identical 1 to another" in said
        for weights, what in (
            ("counts", "chars:5 shingle counts"),
            ("binary", "chars:5 shingles"),
            ("log", "chars:5 shingles by log counts"),
            ("tf-idf", "chars:5 shingles by tf-idf"),
        ):
            command = ["find", docs, *COSINE, *BANDED, "--weights", weights, "-s", "chars:5"]
            _, output, errors = told(*command)
            assert f"similar pairs by cosine of {what}" in as_words(output)
            assert f"of {what}, sketches of" in as_words(errors)

    @pytest.mark.parametrize("columns", [80, 50])
    @pytest.mark.parametrize("more", [[], ["--estimate"], ["--recall", "1"]], ids=str)
    def test_no_line_is_wider_than_the_terminal(self, told, array, docs, columns, more):
        for source in (array, docs):
            status, output, errors = told("find", source, *COSINE, *more, columns=columns)
            assert status == 0
            assert widest(output) <= columns
            # The note on the columns is of paths, which are never cut.
            notes = [line for line in errors.split("\n") if "taken from" not in line]
            assert max(map(cell_len, notes)) <= columns
            assert "\x1b" not in output + errors
            assert ("~0.9" in output) == ("--estimate" in more)

    def test_quiet_says_nothing(self, told, array):
        assert told("find", array, *COSINE, "-q", "-t", "0.9999")[2] == ""
        _, output, errors = told("find", array, *COSINE, "-q", "-t", "1")
        assert (errors, "1 similar pair" in output) == ("", True)

    def test_every_file_of_the_same_vectors_has_the_same_pairs(self, told, tmp_path):
        vectors = some_vectors()
        records = [{"id": row, "v": vector} for row, vector in enumerate(vectors.tolist())]
        files = [write_records(tmp_path / f"a.{kind}", records) for kind in ("jsonl.gz", "parquet")]
        command = ["--vector", "v", *COSINE, *BANDED, "-q", "--format", "jsonl"]
        expected = lookalike.find(vectors, metric="cosine", bands=30, rows=6).pairs.to_pylist()
        for path in files:
            status, output, errors = told("find", path, *command)
            assert (status, errors) == (0, "")
            assert rows_of(output) == expected
        _, output, _ = told("find", "-", *command, given=as_lines(records))
        assert rows_of(output) == expected

    def test_clusters_are_written_too(self, told, array, tmp_path):
        out = tmp_path / "clusters.csv"
        told("find", array, *COSINE, "--clusters", out, "-q")
        expected = lookalike.find(array, metric="cosine").clusters
        assert len(out.read_text().splitlines()) == len(expected) + 1

    def test_no_lines_are_no_error_and_an_empty_folder_is_one(self, told, tmp_path):
        for command in (["find", "-"], ["find", "-", "--vector", "v"]):
            status, output, errors = told(*command, *COSINE)
            assert (status, output) == (0, "There are no documents to compare.\n")
            assert "Read       0 documents" in errors
        status, output, errors = told("find", tmp_path, *COSINE)
        assert (status, output) == (1, "")
        assert is_one_line(errors)

    def test_the_help_names_what_there_is(self, told):
        for command in ("find", "dedup"):
            output = as_words(told(command, "--help")[1])
            for option in ("--metric <jaccard|cosine>", "--weights", "--vector COLUMN", ".npy"):
                assert option in output
        assert "--simhash BITS" in told("find", "--help")[1]
        for command in ("compare", "plan", "curve"):
            assert "--metric <jaccard|cosine>" in told(command, "--help")[1]
        assert "sketch" in told("--help")[1]
        status, output, _ = told("sketch", "--help")
        assert status == 0
        assert widest(output) <= 80


def broken(kind):
    """Give vectors of which the seventh is broken, and what is wrong with it."""
    vectors = some_vectors().tolist()
    if kind == "ragged":
        vectors[6] = vectors[6][:5]
        return vectors, "has 5 numbers, where the first has 12"
    if kind == "zero":
        vectors[6] = [0.0] * 12
        return vectors, "is zero and has no direction"
    vectors[6][4] = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[kind]
    return vectors, "holds a number that is not finite"


def write_broken(folder, name, vectors):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if name.endswith(".npy"):
        np.save(path, np.array(vectors))
    elif name.endswith(".jsonl"):
        path.write_bytes(as_lines([{"v": vector} for vector in vectors]))
    else:
        pq.write_table(pa.table({"v": vectors}), path)
    return path


BROKEN = [
    (name, kind)
    for name in ("a.npy", "a.jsonl", "a.parquet")
    for kind in ("nan", "inf", "-inf", "zero", "ragged")
    if (name, kind) != ("a.npy", "ragged")
]


class TestBrokenVectors:
    @pytest.mark.parametrize(("name", "kind"), BROKEN)
    def test_one_is_one_line_with_its_row_and_nothing_is_written(self, told, tmp_path, name, kind):
        vectors, wrong = broken(kind)
        path = write_broken(tmp_path / "in", name, vectors)
        column = [] if name == "a.npy" else ["--vector", "v"]
        for command, out in (("find", "pairs.jsonl"), ("dedup", "clean")):
            target = tmp_path / out
            status, output, errors = told(command, path, *column, *COSINE, "-o", target, "-q")
            assert (status, output) == (1, "")
            assert is_one_line(errors)
            assert f"{name}:7" in errors
            assert f"{wrong}: fix or remove it" in errors
            assert names(tmp_path) == ["in"]

    @pytest.mark.parametrize(("name", "kind"), BROKEN[::2])
    def test_one_is_passed_over_counted_and_named_if_asked(self, told, tmp_path, name, kind):
        vectors, wrong = broken(kind)
        path = write_broken(tmp_path, name, vectors)
        column = [] if name == "a.npy" else ["--vector", "v"]
        command = [*column, *COSINE, *BANDED, "--skip-bad"]
        status, output, errors = told("find", path, *command, "--format", "jsonl")
        assert status == 0
        assert "Read 69 documents Bad 1 skipped, as asked:" in as_words(errors)
        assert f"{name}:7" in errors
        assert wrong in as_words(errors)
        rest = lookalike.find(some_vectors(), metric="cosine", bands=30, rows=6).pairs.to_pylist()
        expected = {
            tuple(sorted((f"{name}:{row['a'] + 1}", f"{name}:{row['b'] + 1}")))
            for row in rest
            if 6 not in (row["a"], row["b"])
        }
        assert {(row["a"], row["b"]) for row in rows_of(output)} == expected
        assert len(expected) < len(rest)

    def test_all_broken_is_an_error(self, told, tmp_path):
        np.save(tmp_path / "a.npy", np.zeros((3, 4)))
        status, output, errors = told("find", tmp_path / "a.npy", *COSINE, "--skip-bad", "-q")
        assert (status, output) == (1, "")
        assert is_one_line(errors)
        assert "no document could be read" in errors
        assert "a.npy:1) is zero" in errors

    def test_nulls_are_empty_documents(self, told, tmp_path):
        vectors = some_vectors().tolist()
        vectors[6] = vectors[8] = None
        path = write_broken(tmp_path, "a.parquet", vectors)
        status, output, errors = told("find", path, "--vector", "v", *COSINE, "--format", "jsonl")
        assert status == 0
        assert "Empty      2, similar to nothing: a.parquet:7, a.parquet:9" in errors
        assert not re.search(r"parquet:[79]\"", output)

    @pytest.mark.parametrize("name", ["broken.jsonl", "text.jsonl", "cut.npy", "binary.txt"])
    def test_a_file_that_cannot_be_read_is_one_line(self, told, tmp_path, array, name):
        (tmp_path / "broken.jsonl").write_text('{"v": [1, 2]}\n{"v": [1,\n')
        (tmp_path / "text.jsonl").write_text('{"v": [1, 2]}\n{"v": "text"}\n')
        (tmp_path / "cut.npy").write_bytes(array.read_bytes()[:-9])
        (tmp_path / "binary.txt").write_bytes(bytes(range(256)))
        before = names(tmp_path)
        column = ["--vector", "v"] if name.endswith(".jsonl") else []
        out = tmp_path / "pairs.csv"
        status, output, errors = told("find", tmp_path / name, *column, *COSINE, "-q", "-o", out)
        assert (status, output) == (1, "")
        assert is_one_line(errors)
        assert name in errors
        assert names(tmp_path) == before


class TestRefused:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["--shingle", "chars:5"],
            ["--weights", "log"],
            ["--ignore", "in/ignored.txt"],
            ["--max-df", "0.5"],
            ["--multiset"],
        ],
        ids=lambda given: given[0],
    )
    @pytest.mark.parametrize("command", ["find", "dedup"])
    def test_what_is_for_text_is_refused_for_vectors(
        self, told, array, command, arguments, tmp_path, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "in" / "ignored.txt").write_text("text")
        out = tmp_path / ("pairs.csv" if command == "find" else "clean")
        status, output, errors = told(command, array, *COSINE, *arguments, "-o", out, "-q")
        assert (status, output) == (2, "")
        assert is_one_line(errors)
        assert names(tmp_path) == ["in"]

    @pytest.mark.parametrize(
        "command",
        [["contained"], ["find", "--simhash", "3"], ["boilerplate"]],
        ids=str,
    )
    def test_what_is_found_in_text_alone_is_refused_for_vectors(self, told, array, command):
        status, output, errors = told(*command, array, "-q")
        assert (status, output) == (2, "")
        assert is_one_line(errors)

    @pytest.mark.parametrize("command", ["find", "dedup"])
    def test_without_the_metric_it_is_said_what_to_do(self, told, array, command, tmp_path):
        out = tmp_path / ("pairs.csv" if command == "find" else "clean")
        for source in (
            [array],
            [write_broken(tmp_path / "in", "a.jsonl", [[1, 2]]), "--vector", "v"],
        ):
            status, output, errors = told(command, *source, "-o", out, "-q")
            assert (status, output) == (2, "")
            assert is_one_line(errors)
            assert errors.endswith("use --metric cosine\n")
            assert names(tmp_path) == ["in"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--weights", "log"], "--weights is for --metric cosine and for --simhash"),
            ([*COSINE, "--multiset"], "--multiset is for --metric jaccard"),
            ([*COSINE, "--recall", "1", "--estimate"], "--recall 1 compares exactly"),
            (
                [*COSINE, "--vector", "text", "--text", "text"],
                "both --text text and --vector text are given",
            ),
        ],
        ids=str,
    )
    def test_options_that_exclude_each_other_are_refused(self, told, docs, arguments, message):
        status, output, errors = told("find", docs, *arguments, "-q")
        assert status in (1, 2)
        assert output == ""
        assert is_one_line(errors)
        assert message in errors

    def test_unknown_names_are_wrong_usage(self, told, docs):
        for arguments in (["--metric", "angle"], [*COSINE, "--weights", "heavy"]):
            status, _, errors = told("find", docs, *arguments)
            assert status == 2
            assert is_one_line(errors)

    def test_text_and_vectors_are_not_one_corpus(self, told, array, docs):
        status, output, errors = told("find", array, docs, *COSINE, "-q")
        assert (status, output) == (1, "")
        assert is_one_line(errors)
        assert "vectors" in errors


class TestDedup:
    @pytest.mark.parametrize("kind", ["<f2", "<f4", ">f8", "<i2"])
    @pytest.mark.parametrize("keep", ["first", "last"])
    def test_the_copy_of_an_array_holds_the_kept_rows(self, told, tmp_path, kind, keep):
        vectors = (some_vectors() * 100).astype(kind)
        path = tmp_path / "in" / "a.npy"
        path.parent.mkdir()
        np.save(path, vectors)
        before = path.read_bytes()
        out = tmp_path / "clean"
        command = ["dedup", path, *COSINE, *BANDED, "-t", "0.9", "--keep", keep, "-o", out]
        assert told(*command, "-q") == (0, "", "")
        assert path.read_bytes() == before
        kept = np.load(out / "kept" / "a.npy")
        expected = lookalike.dedup(
            vectors, metric="cosine", bands=30, rows=6, threshold=0.9, keep=keep
        )
        assert kept.dtype == np.dtype(kind)
        assert np.array_equal(kept, vectors[expected.kept_rows])
        assert 40 < len(kept) < 60
        removed = rows_of((out / "removed.jsonl").read_text())
        answers = oracle.vector_pairs(vectors, 0.5)
        for row in removed:
            a, b = sorted(int(row[end].rpartition(":")[2]) - 1 for end in ("id", "kept"))
            assert row["similarity"] == pytest.approx(answers[a, b], abs=1e-9)
            assert row["similarity"] >= 0.9
        assert len(removed) + len(kept) == len(vectors)
        assert names(tmp_path) == ["clean", "in"]

    def test_the_record_of_the_run_says_how_it_was_made(self, told, array, docs, tmp_path):
        assert told("dedup", array, *COSINE, "-o", tmp_path / "a", "-q") == (0, "", "")
        recorded = json.loads((tmp_path / "a" / "run.json").read_bytes())
        assert recorded["settings"]["metric"] == "cosine"
        assert recorded["settings"]["weights"] is None
        assert recorded["plan"]["shingle"] == "12-dimensional"
        command = ["dedup", docs, *COSINE, "--weights", "tf-idf", "-o", tmp_path / "b", "-q"]
        assert told(*command) == (0, "", "")
        recorded = json.loads((tmp_path / "b" / "run.json").read_bytes())
        assert recorded["settings"]["weights"] == "tf-idf"
        assert recorded["settings"]["shingle"].startswith("chars:")
        assert recorded["counts"]["empty"] == 1

    def test_lines_and_rows_with_vectors_are_kept_as_they_are(self, told, tmp_path):
        vectors = some_vectors().tolist()
        records = [{"v": v, "id": row, "note": f"n{row}"} for row, v in enumerate(vectors)]
        expected = lookalike.dedup(vectors, metric="cosine", bands=30, rows=6).kept_rows.tolist()
        for kind in ("jsonl", "parquet"):
            path = write_records(tmp_path / kind / f"a.{kind}", records)
            out = tmp_path / f"clean-{kind}"
            command = ["dedup", path, "--vector", "v", *COSINE, *BANDED, "-o", out, "-q"]
            assert told(*command) == (0, "", "")
            copy = out / "kept" / path.name
            if kind == "jsonl":
                lines = path.read_bytes().splitlines(keepends=True)
                assert copy.read_bytes() == b"".join(lines[row] for row in expected)
            else:
                assert pq.read_table(copy).equals(pq.read_table(path).take(expected))

    def test_what_is_like_a_reference_goes_and_the_reference_stays(self, told, tmp_path):
        vectors = some_vectors()
        for name, rows in (("held", vectors[:23]), ("new", vectors[23:])):
            (tmp_path / name).mkdir()
            np.save(tmp_path / name / f"{name}.npy", rows)
        held, new = tmp_path / "held" / "held.npy", tmp_path / "new" / "new.npy"
        before = held.read_bytes()
        out = tmp_path / "clean"
        command = ["dedup", new, "--against", held, *COSINE, *BANDED, "-t", "0.9", "-o", out, "-q"]
        assert told(*command) == (0, "", "")
        expected = lookalike.dedup(
            vectors[23:], against=vectors[:23], metric="cosine", bands=30, rows=6, threshold=0.9
        )
        assert np.array_equal(np.load(out / "kept" / "new.npy"), expected.kept)
        removed = rows_of((out / "removed.jsonl").read_text())
        assert len(removed) > 10
        assert {row["kept_in"] for row in removed} == {"reference"}
        assert {row["kept"].partition(":")[0] for row in removed} == {"held.npy"}
        assert held.read_bytes() == before
        assert names(held.parent) == ["held.npy"]

    def test_a_dry_run_shows_who_would_go(self, told, array, tmp_path):
        status, output, errors = told("dedup", array, *COSINE, "-t", "0.999", "--dry-run")
        assert status == 0
        assert re.search(r"1\.0000 +vectors\.npy:70 +vectors\.npy:4\b", output)
        assert "Would keep" in errors
        assert widest(output + errors) <= 80
        assert names(tmp_path) == ["in"]

    def test_the_same_command_again_says_that_it_is_done(self, told, array, tmp_path):
        command = ["dedup", array, *COSINE, "-o", tmp_path / "clean"]
        assert told(*command, "-q") == (0, "", "")
        status, _, errors = told(*command)
        assert status == 0
        assert "already holds the result of this job" in as_words(errors)
        assert told("dedup", array, *COSINE, "-t", "0.9", "-o", tmp_path / "clean")[0] == 1


class TestOtherCommands:
    @pytest.fixture
    def two(self, tmp_path):
        texts = "tea for two and two for tea", "Two for the road and tea for the road"
        paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths, texts

    @pytest.mark.parametrize("weights", [None, "counts", "binary", "log"])
    def test_two_documents_are_compared_by_the_cosine(self, told, two, weights):
        paths, texts = two
        weighted_sets = oracle.weigh(
            [oracle.shingles(text, "words:1") for text in texts], weights or "counts"
        )
        more = [] if weights is None else ["--weights", weights]
        command = ["compare", *paths, *COSINE, "-s", "words:1", "-q", *more]
        status, output, errors = told(*command, "--json")
        assert (status, errors) == (0, "")
        found = json.loads(output)
        assert found["similarity"] == pytest.approx(oracle.cosine(*weighted_sets), abs=1e-12)
        assert (found["metric"], found["score"]) == ("cosine", "exact")
        status, output, _ = told(*command)
        assert status == 0
        assert f"(cosine, {weights or 'counts'} of words:1)" in output
        shown = re.search(r"similarity +([\d.]+)", output)
        assert shown
        assert abs(float(shown[1]) - found["similarity"]) < 1e-4

    def test_two_documents_have_no_rare_words(self, told, two):
        status, output, errors = told("compare", *two[0], *COSINE, "--weights", "tf-idf", "-q")
        assert (status, output) == (2, "")
        assert is_one_line(errors)
        assert "two texts alone have none" in errors
        assert told("compare", *two[0], "--weights", "log")[0] == 2
        assert told("compare", *two[0], *COSINE, "--multiset")[0] == 2

    def test_a_curve_of_bits_is_that_of_the_angle(self, told):
        command = ["curve", "and:6", "or:20", *COSINE, "--at", "0.2,0.8", "-t", "0.7"]
        status, output, errors = told(*command, "--json")
        assert (status, errors) == (0, "")
        found = json.loads(output)
        assert [point["similarity"] for point in found["curve"]] == [0.2, 0.7, 0.8]
        for point in found["curve"]:
            agreeing = 1 - math.acos(point["similarity"]) / math.pi
            assert point["candidate"] == pytest.approx(1 - (1 - agreeing**6) ** 20, abs=1e-9)
        assert found["metric"] == "cosine"
        assert 0 < found["missed_share"] < 1
        status, output, errors = told(*command)
        assert (status, errors) == (0, "")
        assert "20 bands of 6 bits, sketches of 120 bits" in output
        assert widest(output) <= 80

    def test_a_plan_of_bits_keeps_the_recall_that_was_asked(self, told):
        command = ["plan", *COSINE, "-t", "0.7", "--recall", "0.95", "-n", "20000"]
        status, output, errors = told(*command)
        assert (status, errors) == (0, "")
        stated = re.search(r"Plan: (\d+) bands of (\d+) bits", output)
        assert stated
        bands, rows = map(int, stated.groups())
        agreeing = 1 - math.acos(0.7) / math.pi
        assert 1 - (1 - agreeing**rows) ** bands >= 0.95
        found = json.loads(told(*command, "--json")[1])
        assert (found["bands"], found["rows"], found["metric"]) == (bands, rows, "cosine")
        assert found["found_at_threshold"] >= 0.95
        assert widest(output) <= 80

    def test_the_sentence_and_the_table_of_a_plan_agree(self, told):
        output = told("plan", *COSINE)[1]
        said = re.search(r"found with\s+probability\s+([\d.]+)", output)
        assert said
        shown = re.search(r"^ *0\.8 +([\d.]+) +([\d.]+) ", output, re.MULTILINE)
        assert shown
        candidate, found = map(float, shown.groups())
        assert float(said[1]) == pytest.approx(found, abs=1e-4)
        assert found < candidate


def in_small_pieces(patch):
    """Let a small corpus make many batches, blocks of keys, of pairs, and stretches."""
    resuming.in_small_pieces(patch)
    patch(compare, "BLOCK_PAIRS", 30)


def by_buckets(patch):
    patch(compare, "find_near", lambda *_given, **_options: None)


PLANNED = (*COSINE, *BANDED)
TEXT = (*PLANNED, "--weights", "log", "-s", "words:1", "-t", "0.85")
ARRAY = (*PLANNED, "-t", "0.9")
JOBS = {
    "find texts": ("find", "docs.jsonl", TEXT, "pairs.jsonl"),
    "find vectors": ("find", "vectors.npy", ARRAY, "pairs.jsonl"),
    "dedup texts": ("dedup", "docs.jsonl", TEXT, "clean"),
    "dedup vectors": ("dedup", "vectors.npy", ARRAY, "clean"),
    "estimate": ("find", "vectors.npy", (*ARRAY, "--estimate"), "pairs.jsonl"),
    "fingerprints": ("find", "docs.jsonl", ("--simhash", "4", "-s", "words:1"), "pairs.jsonl"),
    "sketch": ("sketch", "docs.jsonl", ("--weights", "log", "-s", "words:1"), "sketches.parquet"),
}


def command_of(job, folder):
    name, source, options, _ = JOBS[job]
    return [name, folder / source, *options]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write_records(folder / "docs.jsonl", list(some_records(45)))
    np.save(folder / "vectors.npy", some_vectors(60))
    return folder


@pytest.fixture
def job(folder, told, monkeypatch):
    """Give a function that runs a job in this process, in small pieces."""
    in_small_pieces(monkeypatch.setattr)
    monkeypatch.setattr("lookalike.text.document_frequencies.MAX_SLOT_BITS", 10)

    def start(job, out, *more):
        return told(*command_of(job, folder), "-o", out, "-q", *more)

    # What is there by now need not be searched for the locks that jobs leave behind.
    gc.freeze()
    yield start
    gc.unfreeze()


class TestStopped:
    @pytest.mark.parametrize(
        ("job_name", "path", "step"),
        [
            *(("find texts", "sweep", 1), ("dedup texts", "buckets", 2)),
            *(("dedup vectors", "sweep", 2), ("find vectors", "buckets", 3)),
            *(("estimate", None, 3), ("fingerprints", None, 3), ("sketch", None, 3)),
        ],
    )
    def test_a_job_cut_off_anywhere_goes_on_to_the_same_bytes(
        self, job, job_name, path, step, tmp_path, monkeypatch
    ):
        target = JOBS[job_name][-1]
        if path == "buckets":
            by_buckets(monkeypatch.setattr)
        assert job(job_name, tmp_path / target) == (0, "", "")
        wanted = resuming.tree(tmp_path / target)
        for moment in count(2, step):
            out = tmp_path / str(moment) / target
            out.parent.mkdir()
            with monkeypatch.context() as patched:
                resuming.end_at(
                    patched.setattr,
                    "before a file takes its place",
                    moment,
                    resuming.end_by_power_cut,
                )
                try:
                    assert job(job_name, out, "--threads", 1) == (0, "", "")
                    break
                except resuming.PowerCut:
                    gc.collect()
            assert not out.exists() or resuming.tree(out) == wanted
            assert job(job_name, out) == (0, "", "")
            assert resuming.tree(out) == wanted
            assert names(out.parent) == resuming.delivered(out)
        assert moment > 8

    @pytest.mark.parametrize("job_name", ["find texts", "dedup vectors"])
    def test_a_job_cut_off_on_one_way_goes_on_by_the_other(
        self, job, job_name, tmp_path, monkeypatch
    ):
        target = JOBS[job_name][-1]
        assert job(job_name, tmp_path / target) == (0, "", "")
        wanted = resuming.tree(tmp_path / target)
        if job_name.startswith("dedup"):
            del wanted["run.json"]
        for moment in (8, 11, 14):
            for first in ("sweep", "buckets"):
                out = tmp_path / f"{moment}-{first}" / target
                out.parent.mkdir()
                with monkeypatch.context() as patched:
                    if first == "buckets":
                        by_buckets(patched.setattr)
                    resuming.end_at(
                        patched.setattr, "after a checkpoint", moment, resuming.end_by_power_cut
                    )
                    try:
                        job(job_name, out, "--threads", 1)
                    except resuming.PowerCut:
                        gc.collect()
                with monkeypatch.context() as patched:
                    if first == "sweep":
                        by_buckets(patched.setattr)
                    assert job(job_name, out) == (0, "", "")
                found = resuming.tree(out)
                if job_name.startswith("dedup"):
                    del found["run.json"]
                assert found == wanted

    def test_a_killed_job_goes_on_to_the_same_bytes(self, job, folder, tmp_path):
        whole, out = tmp_path / "whole.jsonl", tmp_path / "pairs.jsonl"
        assert job("find texts", whole) == (0, "", "")
        command = command_of("find texts", folder)
        status, output, errors = resuming.ended(
            "after a checkpoint", 7, resuming.end_by_kill, *command, "-o", out
        )
        assert (status, output) == (-signal.SIGKILL, ""), errors
        assert not out.exists()
        assert job("find texts", out) == (0, "", "")
        assert out.read_bytes() == whole.read_bytes()
        records = ["pairs.jsonl.run.json", "whole.jsonl.run.json"]
        assert names(tmp_path) == sorted(["pairs.jsonl", "whole.jsonl", *records])

    def test_ctrl_c_tells_how_to_go_on(self, job, folder, tmp_path):
        command = command_of("dedup vectors", folder)
        out = tmp_path / "clean"
        status, output, errors = resuming.ended(
            "after a checkpoint", 6, resuming.end_by_ctrl_c, *command, "-o", out, "-q"
        )
        assert (status, output) == (130, "")
        assert re.fullmatch(
            r"lookalike: stopped; run the same command again to resume[^\n]+\n", errors
        )
        assert job("dedup vectors", out) == (0, "", "")
        assert names(tmp_path) == ["clean"]

    @pytest.mark.parametrize(("source", "path"), [("texts", "sweep"), ("vectors", "buckets")])
    def test_a_kept_work_folder_serves_other_thresholds_and_both_commands_unread(
        self, job, source, path, tmp_path, monkeypatch
    ):
        if path == "buckets":
            by_buckets(monkeypatch.setattr)
        wanted = {}
        for command in ("find", "dedup"):
            for threshold in ("0.7", "0.95"):
                out = tmp_path / f"{command}-{threshold}.jsonl"
                assert job(f"{command} {source}", out, "-t", threshold) == (0, "", "")
                wanted[command, threshold] = resuming.tree(out)
        work = tmp_path / "work"
        first = tmp_path / "first.jsonl"
        assert job(f"find {source}", first, "--work", work) == (0, "", "")

        def batches(*given, **named):
            raise AssertionError("this job read its source again")

        monkeypatch.setattr(Corpus, "batches", batches)
        for (command, threshold), expected in wanted.items():
            out = tmp_path / f"{command}-{threshold}-again.jsonl"
            done = job(f"{command} {source}", out, "-t", threshold, "--work", work)
            assert done == (0, "", "")
            assert resuming.tree(out) == expected

    @pytest.mark.parametrize("longer", [(), ("--bands", "400", "--rows", "8")], ids=len)
    def test_a_kept_work_folder_serves_estimates_too(self, job, tmp_path, longer):
        expected, again = tmp_path / "expected.jsonl", tmp_path / "again.jsonl"
        assert job("estimate", expected, *longer) == (0, "", "")
        work = tmp_path / "work"
        assert job("find vectors", tmp_path / "first.jsonl", "--work", work) == (0, "", "")
        assert job("estimate", again, "--work", work, *longer) == (0, "", "")
        assert again.read_bytes() == expected.read_bytes()

    def test_a_plan_for_another_threshold_is_made_in_a_kept_work_folder(
        self, told, folder, tmp_path
    ):
        work = tmp_path / "work"
        for threshold in ("0.9", "0.6", "0.97"):
            found = []
            for more in ([], ["--work", work]):
                command = ["find", folder / "vectors.npy", *COSINE, "-t", threshold, *more]
                status, output, _ = told(*command, "--format", "jsonl")
                assert status == 0
                found.append(output)
            assert found[0] == found[1]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([*COSINE], []),
            ([], [*COSINE]),
            ([*COSINE], [*COSINE, "--weights", "log"]),
            ([*COSINE], [*COSINE, "--seed", "2"]),
            (["--simhash", "3"], [*COSINE]),
            (["--simhash", "3"], []),
        ],
        ids=str,
    )
    def test_the_metric_cannot_be_changed_in_a_work_folder(
        self, told, folder, tmp_path, first, second
    ):
        work = tmp_path / "work"
        command = ["find", folder / "docs.jsonl", "-s", "words:1", "-q", "--work", work]
        assert told(*command, *first)[0] == 0
        before = resuming.tree(work)
        status, output, errors = told(*command, *second)
        gc.collect()
        assert (status, output) == (1, "")
        assert is_one_line(errors)
        assert str(work) in errors
        assert resuming.tree(work) == before
        assert told(*command, *first)[0] == 0
