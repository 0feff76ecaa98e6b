"""Folders, text files, JSON lines and standard input to documents."""

import io
import json
import os
import subprocess
import sys
import zipfile

import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.cli.command import SOURCE
from lookalike.read import read, read_paths, read_text
from lookalike.read.files import ONE_DOCUMENT, PACKED, RECORDS
from source_files import BINARY

GOOD = '{"id": "x", "text": "one"}\n'


@pytest.fixture
def lines(tmp_path):
    """Give a function that writes lines to a JSONL file and reads it."""
    path = tmp_path / "docs.jsonl"

    def write_and_read(content, **names):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_paths([path], **names)

    return write_and_read


def fill(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_folder_is_read_with_all_below_it(tmp_path):
    fill(tmp_path, b_DOT_txt="b", a__z_DOT_md="z", a__b__c_DOT_TXT="c", x_DOT_png=BINARY, y="y")
    documents = read(tmp_path)
    found = dict(zip(documents.ids.to_pylist(), documents.texts.to_pylist(), strict=True))
    assert found == {"b.txt": "b", "a/z.md": "z", "a/b/c.TXT": "c", "y": "y"}
    assert documents.skipped == {"binary": 1}


def test_a_folder_is_read_in_one_order_whatever_the_order_of_its_files(tmp_path):
    names = [f"{place}/{name}.txt" for place in ("q", "p", "r") for name in ("2", "10", "1")]
    for folder, order in ((tmp_path / "one", names), (tmp_path / "two", names[::-1])):
        for name in order:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("x")
    assert read(tmp_path / "one").ids == read(tmp_path / "two").ids
    assert read(tmp_path / "one").ids.to_pylist() == sorted(names)


def test_lock_files_of_office_are_hidden_wherever_they_are_found(tmp_path):
    folder = tmp_path / "essays"
    folder.mkdir()
    (folder / "essay.txt").write_text("an essay")
    (folder / "~$essay.docx").write_bytes(b"\x05Anna" + bytes(157))
    with zipfile.ZipFile(tmp_path / "essays.zip", "w") as packed:
        for file in folder.iterdir():
            packed.write(file, file.name)
    for source in (folder, f"{folder}/*", tmp_path / "essays.zip", folder.as_uri()):
        documents = read_paths([source])
        assert len(documents.ids) == 1
        assert documents.skipped == {"hidden": 1}


def test_hidden_files_and_folders_are_passed_over_and_counted(tmp_path):
    fill(tmp_path, a_DOT_txt="a", _DOT_b_DOT_txt="b", _DOT_git__c_DOT_txt="c")
    documents = read(tmp_path)
    assert documents.ids.to_pylist() == ["a.txt"]
    assert documents.skipped == {"hidden": 2}


def test_several_folders_give_their_path_as_prefix(tmp_path, monkeypatch):
    fill(tmp_path, a__x_DOT_txt="1", b__c__x_DOT_txt="2", y_DOT_txt="3")
    monkeypatch.chdir(tmp_path)
    assert read_paths(["a", "b/c/", "y.txt"]).ids.to_pylist() == ["a/x.txt", "b/c/x.txt", "y.txt"]
    assert read_paths(["b"]).ids.to_pylist() == ["c/x.txt"]


def test_the_same_folder_twice_is_refused(tmp_path):
    fill(tmp_path, x_DOT_txt="1")
    with pytest.raises(SourceError, match=r"appears twice, at .*x\.txt and at .*x\.txt"):
        read_paths([tmp_path, tmp_path])


def test_lines_of_two_files_of_one_name_have_ids_of_their_own(tmp_path, monkeypatch):
    fill(tmp_path, a__docs_DOT_jsonl='{"text": "1"}\n', b__docs_DOT_jsonl='{"text": "2"}\n')
    monkeypatch.chdir(tmp_path)
    found = read_paths(["a/docs.jsonl", "b/docs.jsonl"]).ids.to_pylist()
    assert found == ["a/docs.jsonl:1", "b/docs.jsonl:1"]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"holds no document that can be read \(empty\): help\("):
        read(tmp_path)


def test_links_within_a_folder_neither_loop_nor_vanish(tmp_path):
    fill(tmp_path, in__a_DOT_txt="a", elsewhere__b_DOT_txt="b")
    inside = tmp_path / "in"
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    (inside / "there").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (inside / "same.txt").symlink_to("a.txt")
    documents = read(inside)
    assert documents.ids.to_pylist()[:2] == ["a.txt", "same.txt"]
    # A folder behind a link is either read or counted among what was skipped.
    assert "there/b.txt" in documents.ids.to_pylist() or sum(documents.skipped.values()) == 2


def test_a_link_to_nothing_is_refused_by_name(tmp_path):
    (tmp_path / "gone.txt").symlink_to("nowhere")
    (tmp_path / "self.txt").symlink_to("self.txt")
    for path in tmp_path.iterdir():
        with pytest.raises(SourceError, match=path.name):
            read(path)
    with pytest.raises(SourceError, match=r"gone\.txt cannot be read"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_in_a_folder_is_passed_over(tmp_path):
    fill(tmp_path, a_DOT_txt="a")
    os.mkfifo(tmp_path / "pipe.txt")
    # A reader that waits for a writer would wait for ever: open the pipe at both ends.
    held = os.open(tmp_path / "pipe.txt", os.O_RDWR | os.O_NONBLOCK)
    try:
        documents = read_with_deadline(tmp_path)
    finally:
        os.close(held)
    assert documents == {"ids": ["a.txt"], "skipped": 1}


def read_with_deadline(folder):
    code = (
        "import json, sys; from lookalike.read import read; d = read(sys.argv[1]); "
        "print(json.dumps({'ids': d.ids.to_pylist(), 'skipped': sum(d.skipped.values())}))"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder)], capture_output=True, timeout=10, check=True
        )
    except subprocess.TimeoutExpired:
        pytest.fail("the reader waits for ever")
    return json.loads(done.stdout)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_folder_without_permission_is_refused_by_name(tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir()
    (shut / "a.txt").write_text("a")
    shut.chmod(0)
    try:
        for source in (tmp_path, shut, shut / "a.txt"):
            with pytest.raises(SourceError, match=r"shut.* cannot be read: Permission denied"):
                read(source)
    finally:
        shut.chmod(0o700)


def test_a_name_that_is_not_unicode_is_refused_as_a_name(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    with pytest.raises(SourceError, match=r"name"):
        read(tmp_path)


def test_a_text_file_loses_its_byte_order_mark_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf one\r\n\x01two\xef\xbb\xbf\n")
    assert read_text(path) == " one\r\n\x01two\ufeff\n"
    assert read(path).ids.to_pylist() == [path.as_posix()]


def test_a_binary_file_named_as_text_is_refused_by_byte(tmp_path):
    path = tmp_path / "photo.txt"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(SourceError, match=r"photo\.txt is not text: it is not UTF-8 at byte 1,"):
        read(path)
    assert read(tmp_path).skipped == {"binary": 1}


def test_a_source_that_is_not_there_or_of_no_kind_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.txt does not exist"):
        read(tmp_path / "gone.txt")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SourceError, match=r"gone does not exist"):
        read_paths([tmp_path, tmp_path / "gone"])
    (tmp_path / "x.png").write_bytes(BINARY)
    refusal = r"x\.png is of a kind that cannot be read, binary: help\(lookalike\.find\) lists"
    with pytest.raises(SourceError, match=refusal):
        read(tmp_path / "x.png")


def test_fields_are_guessed_and_said(lines):
    documents = lines('{"url": "u", "content": "one", "n": 1}\n{"content": "two", "url": "v"}\n')
    assert documents.ids.to_pylist() == ["u", "v"]
    assert documents.texts.to_pylist() == ["one", "two"]
    columns = {name: column.to_pylist() for name, column in documents.columns.items()}
    assert columns == {"n": [1, None], "url": ["u", "v"]}
    (note,) = documents.notes
    assert "'content'" in note
    assert "'url'" in note


def test_fields_that_were_named_are_taken_and_not_said(lines):
    content = '{"id": 1, "text": "no", "key": "k", "page": "yes"}'
    documents = lines(content, text="page", id="key")
    assert (documents.ids.to_pylist(), documents.texts.to_pylist()) == (["k"], ["yes"])
    assert documents.notes == ()


@pytest.mark.parametrize("names", [{"text": "text"}, {"id": "url"}])
def test_a_field_that_was_guessed_is_said_also_where_the_other_was_named(lines, names):
    (note,) = lines('{"text": "one", "url": "u"}', **names).notes
    assert "'url'" in note
    assert "'text'" in note


def test_lines_without_an_id_are_file_and_line(lines):
    documents = lines('{"text": "one"}\n\n{"text": null}\n')
    assert documents.ids.to_pylist() == ["docs.jsonl:1", "docs.jsonl:3"]
    assert documents.texts.to_pylist() == ["one", None]
    assert "file:line" in documents.notes[0]


def test_blank_lines_byte_order_mark_and_carriage_returns_do_not_matter(lines):
    content = b'\xef\xbb\xbf{"id": 1, "text": "one"}\r\n\r\n \t\r\n{"id": 2, "text": "two"}'
    assert lines(content).ids.to_pylist() == [1, 2]
    assert lines(content).texts.to_pylist() == ["one", "two"]
    assert len(lines(b"\xef\xbb\xbf\r\n")) == 0


@pytest.mark.parametrize(
    ("third", "message"),
    [
        ('{"id": "y"}', r"has no field 'text': there are 'id'"),
        ('{"text": "two"}', r"has no field 'id'"),
        ('{"id": "y", "text": "two"', r"is not valid JSON at column 26"),
        ("nonsense", r"is not valid JSON"),
        ('["id", "text"]', r"is not a JSON object"),
        ("5", r"is not a JSON object"),
        ('{"id": "y", "text": 5}', r"field 'text' is .*not text"),
        ('{"id": "y", "text": ["two"]}', r"field 'text' is .*not text"),
        ('{"id": null, "text": "two"}', r"the id in 'id' is not a number or a string"),
        ('{"id": ["y"], "text": "two"}', r"the id in 'id' is not"),
        ('{"id": {}, "text": "two"}', r"the id in 'id' is not"),
        ('{"id": "x", "text": "two"}', r"'x' appears twice, at .*:1 and at .*docs\.jsonl:3"),
        (r'{"id": "y", "text": "a\ud800"}', r"lone surrogate \(U\+D800\) at character 2"),
        (r'{"id": "y\udc00", "text": "a"}', r"lone surrogate \(U\+DC00\)"),
        (b'{"id": "y", "text": "\xff"}', r"is not UTF-8 text at byte 22"),
        ('{"text": ' + "[" * 100_000, r"nested|JSON"),
        ('{"id": ' + "1" * 5000 + ', "text": "two"}', r"too large a number"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_bad_line_is_refused_with_its_file_and_line(lines, third, message):
    third = third if isinstance(third, bytes) else third.encode()
    with pytest.raises(SourceError, match=message) as refused:
        lines(GOOD.encode() + b"\n" + third + b"\n")
    assert "docs.jsonl:3" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_lone_surrogate_id_among_numbers_is_refused_with_its_line(lines):
    with pytest.raises(SourceError, match=r"docs\.jsonl:2.*lone surrogate"):
        lines(r'{"id": 1, "text": "a"}' + "\n" + r'{"id": "\ud800", "text": "b"}')


def test_a_surrogate_pair_is_a_character(lines):
    assert lines(r'{"id": 1, "text": "\ud83d\ude00"}').texts.to_pylist() == ["😀"]


def test_field_names_that_are_not_there_are_refused_with_those_that_are(lines):
    with pytest.raises(SourceError, match=r"docs\.jsonl:1: .*no column 'body'.*'id', 'text'"):
        lines(GOOD, text="body")
    with pytest.raises(SourceError, match=r"docs\.jsonl:1: no column is named text, content"):
        lines('{"page": "x"}')


def test_numbers_as_ids_stay_numbers_and_mixed_ones_become_text(lines):
    def found(*values):
        return lines("".join(f'{{"id": {v}, "text": "t"}}\n' for v in values)).ids.to_pylist()

    assert found(10, 9) == [10, 9]
    assert found(10, '"9"') == ["10", "9"]
    assert found("1.5", 2) == ["1.5", "2"]
    assert found(2**70) == [str(2**70)]


def test_a_dash_is_lines_on_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(b'{"text": "one"}\n{"text": "two"}\n')

    monkeypatch.setattr(sys, "stdin", Input)
    documents = read_paths(["-"])
    assert documents.ids.to_pylist() == ["-:1", "-:2"]
    assert documents.texts.to_pylist() == ["one", "two"]


def test_standard_input_that_is_closed_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input"):
        read_paths(["-"])


def test_every_kind_of_file_is_in_the_help_of_both_faces():
    others = [ending for ending, kind in ONE_DOCUMENT.items() if kind != "text"]
    for ending in (*others, *RECORDS, *PACKED, ".parquet", ".npy"):
        assert ending in SOURCE.sentence
        assert ending in (lookalike.find.__doc__ or "")
