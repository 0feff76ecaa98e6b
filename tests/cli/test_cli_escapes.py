"""No name and no text commands the terminal; files and pipes get them as they are."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from unittest import mock

import pytest
from rich.table import Table
from rich.text import Text

from lookalike.base.wording import shortened, visible
from lookalike.cli import app, screen
from lookalike.write.files import json_text
from processes import environment, on_a_terminal, run
from source_files import write_records

UNSAFE = {
    "C0": "\x1b[31m\x07\x00\t\r",
    "DEL": "\x7f",
    "C1": "\x80\x85\x9b2J\x9f",
    "overrides of direction": "\u202a\u202b\u202c\u202d\u202e",
    "isolates of direction": "\u2066\u2067\u2068\u2069",
    "line breaks": "\n\u2028\u2029",
}
ALL = "".join(UNSAFE.values())
NAME = "a" + ALL.replace("\x00", "") + "z"
"""What a file can be called."""
SHOWN = visible(NAME)
TEXT = "the quick brown fox jumps over the lazy dog and runs away into the dark wood"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="no other system has such names")


def printable(text):
    return all(line.isprintable() for line in text.split("\n"))


def is_one_error(status, errors):
    return status in (1, 2) and re.fullmatch(r"lookalike: [^\n]+\n", errors) and printable(errors)


@pytest.fixture
def records(tmp_path):
    """Give two similar records with unsafe ids, and an empty one, in a file of an unsafe name."""
    path = tmp_path / f"{NAME}.jsonl"
    rows = [{"id": f"{ALL}{i}", "text": TEXT} for i in (1, 2)]
    return write_records(path, [*rows, {"id": f"{ALL}3", "text": ""}])


@pytest.mark.parametrize("characters", UNSAFE.values(), ids=UNSAFE)
def test_what_is_not_printable_is_written_as_an_escape(characters):
    assert visible(characters).isascii()
    assert visible(characters).isprintable()
    assert visible(f"猫 {characters} [b] \\") == f"猫 {visible(characters)} [b] \\"


def test_a_byte_of_a_file_name_that_is_no_text_is_written_as_an_escape():
    assert visible(os.fsdecode(b"a\xff")) == r"a\udcff"


@pytest.mark.parametrize(
    "command",
    [
        ("find", "{}.txt"),
        ("compare", "{}.txt", "{}.txt"),
        ("learn", "{}.txt"),
        ("sketch", "{}.jsonl"),
        ("dedup", "{}.csv", "--dry-run"),
        ("dedup", "{}.csv", "-o", "{}/clean"),
        ("find", "{}.txt", "--format", "{}"),
        ("{}",),
        ("plan", "{}"),
        ("curve", "{}"),
        ("find", "--{}"),
    ],
    ids=" ".join,
)
def test_an_error_shows_an_argument_with_escapes(command, told):
    status, output, errors = told(*(part.format(NAME) for part in command))
    assert status in (1, 2)
    assert output == ""
    assert printable(errors)
    assert r"\x1b[31m" in errors


def test_an_error_shows_the_name_of_a_fileon_one_line(told, tmp_path):
    status, _, errors = told("find", tmp_path / f"{NAME}.txt")
    assert is_one_error(status, errors)
    assert f"/{SHOWN}.txt " in errors


def test_an_error_in_a_file_shows_its_name_with_escapes(told, tmp_path):
    (tmp_path / f"{NAME}.jsonl").write_text('{"text": "a"}\nbroken\n')
    status, _, errors = told("find", tmp_path / f"{NAME}.jsonl", "-q")
    assert is_one_error(status, errors)
    assert f"{SHOWN}.jsonl:2 is not valid JSON" in errors


def test_blanks_in_the_name_of_a_file_are_shown_as_they_are(told, tmp_path):
    assert "two  blanks.txt does not exist" in told("find", tmp_path / "two  blanks.txt")[2]


def test_a_name_that_is_no_utf8_is_shown_with_escapes_and_written_to_a_pipe_as_json(told, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b.txt")
    status, _, errors = told("compare", path, path)
    assert is_one_error(status, errors)
    assert r"\udcff\x1b.txt cannot be read" in errors
    with open(path, "w") as file:  # noqa: PTH123 - a name that no text has
        file.write(TEXT)
    status, output, errors = told("compare", path, path, "--json")
    assert (status, errors) == (0, "")
    assert json.loads(output)["a"] == path


def test_a_record_of_a_run_holds_a_folder_whose_name_is_no_utf8(told, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)  # noqa: PTH102 - as above
    with open(f"{folder}/docs.jsonl", "w") as file:  # noqa: PTH123
        file.write(json.dumps({"id": 1, "text": TEXT}))
    out = tmp_path / "clean"
    assert told("dedup", f"{folder}/docs.jsonl", "-o", out, "-q") == (0, "", "")
    run_record = json.loads((out / "run.json").read_bytes())
    assert run_record["sources"][0][0] == f"{folder}/docs.jsonl"


def test_all_that_find_says_is_printable(told, records, tmp_path):
    with records.open("a") as file:
        file.write("broken\n")
    work = tmp_path / f"{NAME}.work"
    command = ["find", records, "--skip-bad", "--work", work]
    for _ in range(2):
        status, output, errors = told(*command, columns=2000)
        assert status == 0
        assert printable(output + errors)
        assert output.count(visible(f"{ALL}1")) == 2, "in the pairs and in the clusters"
        assert f"similar to nothing: {shortened(f'{ALL}3')}" in errors
        assert f"{SHOWN}.jsonl:4 is not valid JSON" in errors
    assert f"Resuming from the work in {tmp_path}/{SHOWN}.work." in errors


def test_all_that_dedup_says_is_printable(told, records, tmp_path):
    status, output, errors = told("dedup", records, "--dry-run", columns=2000)
    assert status == 0
    assert printable(output + errors)
    assert visible(f"{ALL}2") in output
    for said in (
        f"removed 1, in {tmp_path}/{SHOWN}",
        f"{SHOWN} already holds the result of this job",
    ):
        status, output, errors = told("dedup", records, "-o", tmp_path / NAME, columns=2000)
        assert status == 0
        assert printable(output + errors)
        assert said in errors


def test_all_that_sketch_says_is_printable(told, records, tmp_path):
    out = tmp_path / f"{NAME}.csv"
    status, output, errors = told("sketch", records, "-o", out, columns=2000)
    assert (status, output) == (0, "")
    assert printable(errors)
    assert f"in {tmp_path}/{SHOWN}.csv" in errors


def test_passages_are_printed_with_escapes(told, tmp_path):
    inside = "".join(c for c in NAME if not c.isspace())
    text = f"the quick brown fox {inside} jumps over the lazy dog"
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text(f"{text} {path.name} of its own", newline="")
    for command in (("compare", *paths), ("boilerplate", tmp_path)):
        status, output, errors = told(*command, columns=2000)
        assert status == 0
        assert printable(output + errors)
        assert r"\x1b[31m\x07" in output


def test_learn_prints_ids_and_texts_with_escapes(told, tmp_path):
    texts = [{"id": f"{ALL}{i}", "text": f"{ALL} some words"} for i in (1, 2)]
    status, output, errors = told("learn", write_records(tmp_path / f"{NAME}.jsonl", texts))
    assert (status, errors) == (0, "")
    assert printable(output)
    assert r"\x1b[31m" in output


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
class TestRecords:
    def rows(self, written, kind):
        text = written.decode()
        if kind == "csv":
            return list(csv.DictReader(io.StringIO(text, newline="")))
        return [json.loads(line) for line in text.split("\n") if line]

    @pytest.mark.long
    def test_a_pipe_and_a_file_get_every_id_as_it_is(self, kind, records, tmp_path):
        out = tmp_path / f"pairs.{kind}"
        piped = run("find", records, "-q", "--format", kind)
        assert run("find", records, "-q", "-o", out).status == 0
        assert out.read_bytes() == piped.raw
        [row] = self.rows(piped.raw, kind)
        assert (row["a"], row["b"]) == (f"{ALL}1", f"{ALL}2")
        assert "\x9b2J\x9f\u202a".encode() in piped.raw

    @pytest.mark.long
    def test_a_terminal_gets_escapes(self, kind, records):
        written = on_a_terminal("find", records, "-q", "--format", kind)
        text = written.replace(b"\r\n", b"\n")
        assert printable(text.decode())
        [row] = self.rows(text, kind)
        expected = [f"{ALL}{i}" for i in (1, 2)]
        if kind == "csv":
            expected = [visible(name) for name in expected]
        assert [row["a"], row["b"]] == expected


@pytest.mark.long
def test_tables_and_json_on_a_terminal_are_printable(records, tmp_path):
    written = on_a_terminal("find", records, "-q", TERM="dumb").replace(b"\r\n", b"\n")
    assert printable(written.decode())
    paths = [tmp_path / f"{name}{NAME}.txt" for name in "ab"]
    for path in paths:
        path.write_text(f"{TEXT} \x9b\u202e {TEXT}")
    written = on_a_terminal("compare", *paths, "--json", "-q").replace(b"\r\n", b"\n")
    assert printable(written.decode())
    assert json.loads(written)["a"] == str(paths[0])


def test_an_error_on_a_terminal_is_printable(tmp_path):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "lookalike", "find", "-q", str(tmp_path / f"{NAME}.txt")]
    done = subprocess.run(command, stderr=follower, env=environment(), check=False)
    os.close(follower)
    written = os.read(leader, 1 << 16).replace(b"\r\n", b"\n").decode()
    os.close(leader)
    assert is_one_error(done.returncode, written)


def test_what_is_said_after_a_stop_is_printable(monkeypatch, capsys):
    monkeypatch.setattr(app, "program", mock.Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(screen, "_STOPPED_LINE", [f"stopped; remove {NAME} to give it up"])
    with pytest.raises(SystemExit, match="130"):
        app.main()
    assert capsys.readouterr().err == f"lookalike: stopped; remove {SHOWN} to give it up\n"


def test_a_console_escapes_what_nobody_escaped_before(capsys):
    table = Table("name")
    table.add_row("cell \x9b\u202e")
    for console in (screen.results(), screen.status()):
        for shown in ("text \x1b[31m\u2028\nline", Text("styled \x1b\x7f"), table):
            console.print(shown)
    for written in capsys.readouterr():
        assert printable(written)
        assert "text \\x1b[31m\\u2028\nline\n" in written


def test_json_for_a_terminal_is_the_same_json():
    value = {"a": f"{ALL}\U000e0001\ud800猫", "b": [1, None]}
    assert json.loads(json_text(value, printable=True)) == value
    assert json_text(value, printable=True).isprintable()
    assert "猫" in json_text(value, printable=True)
    assert json.loads(json_text(value).encode()) == value


class TestList:
    NAMES = (
        "plain",
        r"back\slash",
        r"back\nslash",
        "two\nlines",
        "three\r\nlines\u2028",
        "\x1bé\x85",
    )

    def test_ids_are_listed_so_that_each_line_gives_one_back(self, told, tmp_path):
        texts = [f"{TEXT} {i} {TEXT[:: i + 2]}" for i in range(len(self.NAMES))]
        rows = [{"id": i, "text": t} for i, t in zip(self.NAMES, texts, strict=True)]
        source = write_records(tmp_path / "docs.jsonl", rows)
        out = tmp_path / "clean"
        command = ["dedup", source, "-o", out, "--list", "-q", "-t", "0.99"]
        assert told(*command) == (0, "", "")
        lines = (out / "kept.txt").read_bytes().decode().splitlines()
        assert [json.loads(f'"{line}"', strict=False) for line in lines] == list(self.NAMES)
        assert lines[:4] == ["plain", r"back\\slash", r"back\\nslash", r"two\nlines"]
        # All else is as it was: files are for programs.
        assert lines[5] == "\x1bé\\u0085"

    def test_a_shell_reads_the_list(self, tmp_path):
        from lookalike.results.kept_files import on_one_line

        listed = tmp_path / "kept.txt"
        listed.write_text("".join(f"{on_one_line(name)}\n" for name in self.NAMES), "utf-8")
        loop = r"""while IFS= read -r id; do printf '%b\0' "$id"; done < "$1" """
        done = subprocess.run(
            ["bash", "-c", loop, "-", listed],
            capture_output=True,
            env=environment(LC_ALL="C.UTF-8"),
            check=True,
        )
        assert done.stdout.decode().split("\0")[:-1] == list(self.NAMES)
