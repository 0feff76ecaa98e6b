"""`lookalike find` as a user runs it: what goes where, in which shape, with which exit status."""

import csv
import io
import json
import os
import re
import signal
import subprocess

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from processes import DEADLINE, PROGRAM, environment, on_a_terminal, run

DOUGH = "bread/sourdough"
ROOF = "city-gardens/roof-garden-draft"
TEN_PAIRS = {
    (f"{DOUGH}-copy.txt", f"{DOUGH}-reflowed.txt"),
    (f"{DOUGH}-copy.txt", f"{DOUGH}.txt"),
    (f"{DOUGH}-reflowed.txt", f"{DOUGH}.txt"),
    (f"{DOUGH}-copy.txt", f"{DOUGH}-proofread.txt"),
    (f"{DOUGH}-proofread.txt", f"{DOUGH}-reflowed.txt"),
    (f"{DOUGH}-proofread.txt", f"{DOUGH}.txt"),
    (f"{ROOF}-1.txt", f"{ROOF}-2.txt"),
    (f"{ROOF}-2.txt", f"{ROOF}-3.txt"),
    ("chinese/old-teahouse-revised.txt", "chinese/old-teahouse.txt"),
    ("german/bahnhofsuhr-korrigiert.txt", "german/bahnhofsuhr.txt"),
}
GOOD = '{"id": "x", "text": "the quick brown fox"}\n{"id": "y", "text": "The quick brown fox"}\n'


@pytest.fixture(scope="module")
def as_lines(sample_documents, tmp_path_factory):
    """The sample documents as JSON lines on standard output, with a file of clusters."""
    clusters = tmp_path_factory.mktemp("clusters") / "clusters.csv"
    done = run("find", sample_documents, "--format", "jsonl", "--clusters", clusters)
    assert done.status == 0, done.errors
    return done, clusters


@pytest.fixture(scope="module")
def as_table(sample_documents):
    """The sample documents as a person sees them."""
    return run("find", sample_documents)


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text(GOOD)
    return path


def pairs_of(lines):
    return [json.loads(line) for line in lines]


@pytest.mark.long
def test_the_sample_documents_hold_exactly_ten_pairs(as_lines):
    found = pairs_of(as_lines[0].lines)
    assert {(pair["a"], pair["b"]) for pair in found} == TEN_PAIRS
    assert len(found) == 10


def test_a_pair_has_its_four_fields_in_order_the_most_similar_first(as_lines):
    found = pairs_of(as_lines[0].lines)
    assert all(list(pair) == ["a", "b", "similarity", "score"] for pair in found)
    assert all(pair["a"] < pair["b"] and pair["score"] == "exact" for pair in found)
    assert found == sorted(found, key=lambda pair: (-pair["similarity"], pair["a"], pair["b"]))


@pytest.mark.long
def test_results_go_to_standard_output_and_the_rest_to_standard_error(as_lines, as_table):
    for done in (as_lines[0], as_table):
        assert "Plan       " in done.errors
        assert "Read       29 documents" in done.errors
        assert "Empty      1, similar to nothing" in done.errors
        assert "Plan  " not in done.output
        assert "Read 29" not in done.output


def test_clusters_are_written_beside_the_pairs(as_lines):
    rows = list(csv.DictReader(io.StringIO(as_lines[1].read_text("utf-8"))))
    assert list(rows[0]) == ["id", "cluster", "size", "similarity"]
    members = {number: [r["id"] for r in rows if r["cluster"] == number] for number in "1234"}
    assert [len(each) for each in members.values()] == [4, 3, 2, 2]
    assert members["1"] == [f"{DOUGH}{end}.txt" for end in ("-copy", "-proofread", "-reflowed", "")]


def test_the_table_names_every_pair_and_cluster(as_table):
    assert as_table.status == 0
    assert "10 similar pairs" in as_table.output
    assert "4 clusters" in as_table.output
    for a, b in TEN_PAIRS:
        assert re.search(rf"[01]\.\d{{4}}\s+{re.escape(a)}\s+{re.escape(b)}\s", as_table.output)


def test_a_pipe_gets_no_colours_and_no_line_wider_than_80_columns(as_table):
    for written in (as_table.output, as_table.errors):
        assert "\x1b" not in written
        assert max(map(cell_len, written.split("\n"))) <= 80


def test_a_narrow_terminal_is_kept_to(told, sample_documents):
    status, output, errors = told("find", sample_documents, "--estimate", columns=50)
    assert status == 0
    assert "~0.8" in output
    assert max(map(cell_len, (output + errors).split("\n"))) <= 50


def test_recall_1_finds_the_same_as_csv_and_says_nothing_when_quiet(
    told, sample_documents, as_lines
):
    arguments = ["find", sample_documents, "-q", "--format", "csv", "--recall", "1"]
    status, output, errors = told(*arguments)
    assert (status, errors) == (0, "")
    rows = list(csv.DictReader(io.StringIO(output)))
    typed = [{**row, "similarity": float(row["similarity"])} for row in rows]
    assert typed == pairs_of(as_lines[0].lines)


def test_estimates_are_labelled(told, sample_documents):
    _, output, _ = told("find", sample_documents, "-q", "--format", "jsonl", "--estimate")
    found = pairs_of(output.splitlines())
    assert len(found) > 5
    assert {pair["score"] for pair in found if pair["similarity"] < 1} == {"estimated"}


@pytest.mark.long
def test_parquet_goes_through_a_pipe():
    done = run("find", "-", "-q", "--format", "parquet", given=GOOD.encode())
    assert done.status == 0, done.errors
    expected = [{"a": "x", "b": "y", "similarity": 1.0, "score": "exact"}]
    assert pq.read_table(io.BytesIO(done.raw)).to_pylist() == expected


@pytest.mark.long
def test_ids_of_any_script_pass_through_a_pipe_in_the_c_locale(tmp_path):
    for name in ("猫.txt", "кошка.txt"):
        (tmp_path / name).write_text("the quick brown fox", "utf-8")
    done = run("find", tmp_path, "--format", "jsonl", LC_ALL="C", LANG="C")
    assert done.status == 0, done.errors
    assert [(pair["a"], pair["b"]) for pair in pairs_of(done.lines)] == [("кошка.txt", "猫.txt")]


def test_names_that_look_like_markup_or_commands_are_shown_as_they_are(told, tmp_path):
    names = ["[/b]", ":smile:", "\x1b[31mred", "two\nlines"]
    texts = ["", "the quick brown fox", "the quick brown fox", "the quick brown fox"]
    path = tmp_path / "[a][b].jsonl"
    lines = [json.dumps({"id": i, "text": t}) for i, t in zip(names, texts, strict=True)]
    path.write_text("\n".join(lines))
    status, output, errors = told("find", path, columns=1000)
    assert status == 0
    assert "[a][b].jsonl: the text is taken" in errors
    assert "similar to nothing: [/b]" in errors
    assert ":smile:" in output
    assert "\x1b" not in output
    assert not any(line.strip() == "lines" for line in output.split("\n"))


def test_nothing_at_all_is_no_error(told):
    status, output, errors = told("find", "-")
    assert (status, output) == (0, "There are no documents to compare.\n")
    assert "Read       0 documents" in errors


@pytest.mark.long
def test_a_reader_that_has_enough_is_no_error(tmp_path):
    path = tmp_path / "same.jsonl"
    path.write_text("".join(f'{{"id": {i}, "text": "same words"}}\n' for i in range(400)))
    command = [*PROGRAM, "find", str(path), "-q", "--format", "jsonl"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as job:
        assert job.stdout
        assert job.stderr
        first = job.stdout.readline()
        job.stdout.close()
        errors = job.stderr.read()
        status = job.wait(DEADLINE)
    assert json.loads(first) == {"a": 0, "b": 1, "similarity": 1.0, "score": "exact"}
    assert errors == b""
    assert status == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_ends_with_one_line_and_status_130(tmp_path):
    out = tmp_path / "out.jsonl"
    command = [*PROGRAM, "find", "-", "-o", str(out)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment(),
    ) as job:
        assert job.stdin
        assert job.stdout
        assert job.stderr
        # More than a pipe holds: once all is taken, the job is at work, and waits for more.
        job.stdin.write(b'{"text": "the quick brown fox"}\n' * 20_000)
        job.stdin.flush()
        job.send_signal(signal.SIGINT)
        errors = job.stderr.read().decode()
        output = job.stdout.read()
        status = job.wait(DEADLINE)
    assert status == 130
    assert re.fullmatch(r"lookalike: stopped[^\n]*\n", errors)
    assert output == b""
    assert not out.exists()


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
def test_no_color_is_heeded_on_a_terminal(docs):
    written = on_a_terminal("find", docs, NO_COLOR="1")
    assert b"similar pair" in written
    assert not re.search(rb"\x1b\[[0-9;]*\b(3[0-9]|4[0-9]|9[0-7])[;m]", written)


WRONG_USAGE = [
    (["docs.jsonl", "--bands", "3"], "--bands and --rows go together"),
    (["docs.jsonl", "-t", "1.5"], "--threshold 1.5: use a number from 0 to 1"),
    (["docs.jsonl", "-t", "nan"], "--threshold nan"),
    (["docs.jsonl", "-t", "0"], "--threshold 0 makes"),
    (["docs.jsonl", "--recall", "2"], "--recall 2: use"),
    (["docs.jsonl", "-s", "chars:0"], "--shingle chars:0 is not understood"),
    (["docs.jsonl", "--normalise", "x"], "--normalise x is unknown"),
    (["docs.jsonl", "--cascade", "xor:3"], "xor:3"),
    (["docs.jsonl", "--bands", "0", "--rows", "5"], "--bands 0: use"),
    (["docs.jsonl", "--seed", "-1"], "--seed -1: use"),
    (["docs.jsonl", "--recall", "1", "--estimate"], "--recall 1 compares exactly"),
    (["docs.jsonl", "-o", "pairs.xyz"], "the format of pairs.xyz is not known"),
    (["docs.jsonl", "-o", "x.jsonl", "--format", "table"], "a table is for the screen"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USAGE)
def test_settings_that_cannot_be_are_wrong_usage(arguments, message, docs, monkeypatch, told):
    monkeypatch.chdir(docs.parent)
    before = sorted(path.name for path in docs.parent.iterdir())
    status, output, errors = told("find", "-q", *arguments)
    assert sorted(path.name for path in docs.parent.iterdir()) == before
    assert (status, output) == (2, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert message in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt"], "gone.txt does not exist"),
        (["photo.png"], "photo.png is of a kind that cannot be read"),
        (["binary.txt"], "binary.txt is not text"),
        (["bad.jsonl"], "bad.jsonl:3 is not valid JSON"),
        (["docs.jsonl", "--text", "body"], "docs.jsonl:1: there is no column 'body'"),
        (["docs.jsonl", "docs.jsonl"], "docs.jsonl:1 is read twice: name each source once"),
        (
            ["docs.jsonl", "-o", "gone/x.jsonl"],
            "gone/x.jsonl cannot be written: there is no folder",
        ),
        (["docs.jsonl", "-o", "folder.csv"], "folder.csv is not empty"),
        (["docs.jsonl", "--clusters", "gone/x.csv"], "gone/x.csv cannot be written"),
        (["docs.jsonl", "-o", "gone/x.csv", "--clusters", "c.csv"], "gone/x.csv cannot be"),
        (["docs.jsonl", "-o", "docs.jsonl"], "docs.jsonl"),
        (["docs.jsonl", "--clusters", "docs.jsonl"], "docs.jsonl"),
        (["docs.jsonl", "-o", "c.csv", "--clusters", "c.csv"], "c.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_writes_nothing(arguments, message, docs, monkeypatch, told):
    folder = docs.parent
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (folder / "binary.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "bad.jsonl").write_text(GOOD + "{")
    (folder / "folder.csv").mkdir()
    (folder / "folder.csv" / "mine").touch()
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    status, output, errors = told("find", "-q", *arguments)
    assert docs.read_text() == GOOD
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert message in errors
    assert "a bug in Lookalike" not in errors


@pytest.mark.parametrize(
    "arguments",
    [["find"], ["find", "docs.jsonl", "--nope"], ["find", "x", "--threads", "none"], ["lose"], []],
)
def test_wrong_usage_is_status_2(arguments, told):
    status, _, errors = told(*arguments)
    assert status == 2
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors) or not arguments


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_file_is_written_in_the_format_of_its_name(kind, docs, told):
    out = docs.parent / f"pairs.{kind}"
    status, output, errors = told("find", "-q", docs, "-o", out)
    assert (status, output, errors) == (0, "", "")
    if kind == "parquet":
        assert pq.read_table(out).to_pylist()[0]["a"] == "x"
    else:
        line = {"jsonl": '{"a": "x", "b": "y", "similarity": 1.0, "score": "exact"}'}
        assert out.read_text().split("\n")[-2] == line.get(kind, "x,y,1.0,exact")
