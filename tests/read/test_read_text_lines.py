"""Text of which each line is a document."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

import lookalike
from lookalike.base.errors import SettingsError, SourceError
from lookalike.read import marks, open_corpus
from lookalike.read.blocks import Block
from lookalike.read.fields import ReadOptions
from lookalike.read.files import Shard
from lookalike.read.text_lines import parse_lines
from source_files import BINARY, PACKINGS, bad_of, documents, ids_and_texts, pack, unpack

LINES = ["one", "", "two, three", "  ", "é 漢字 😀", '{"text": "x"}', "last"]
SHARD = Shard("a.txt", "a.txt", "lines", 0, 0, "a.txt")


@given(st.lists(st.text(alphabet="ab é😀", max_size=5), max_size=8), st.booleans(), st.data())
def test_lines_are_those_that_python_tells(lines, whole, data):
    ends = [data.draw(st.sampled_from(["\n", "\r\n"])) for _ in lines]
    if lines and not whole and lines[-1]:
        ends[-1] = ""
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    block = Block(text.encode(encoding), 0, 5, len(lines), 0, 0)
    piece = parse_lines(SHARD, 0, block, encoding, ReadOptions(None, None, (), False))
    piece.texts.validate(full=True)
    assert piece.texts.to_pylist() == [
        line.decode() for line in text.replace("\r\n", "\n").encode().splitlines()
    ]
    assert piece.ids.to_pylist() == [f"a.txt:{5 + place}" for place in range(len(lines))]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("ending", [".txt", "", ".log", ".jsonl", ".csv", ".html", ".json"])
def test_each_line_of_a_file_of_any_ending_is_a_document(tmp_path, ending, packing):
    path = tmp_path / f"a{ending}{packing}"
    path.write_bytes(pack("\n".join(LINES).encode(), path.name))
    for source in (path, tmp_path, f"{tmp_path}/*", path.as_uri(), tmp_path.as_uri()):
        found = documents(open_corpus([source], lines=True), batch_bytes=16)
        assert [text for _, text, _ in found] == LINES
    found = documents(open_corpus([path], lines=True))
    assert [name for name, _, _ in found] == [f"{path.name}:{n + 1}" for n in range(len(LINES))]
    (note,) = next(open_corpus([path], lines=True).batches()).notes
    assert note == f"{path}: each line is a document, ids are file:line"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("one\r\né\n".encode(encoding))
    assert ids_and_texts(path, lines=True) == [("a.txt:1", "one"), ("a.txt:2", "é")]


def test_a_line_that_is_no_text_is_named_and_can_be_passed_over(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntw\xff\n\nthree")
    with pytest.raises(SourceError, match=r"a.txt:2 is not UTF-8 text at byte 3: give encoding="):
        ids_and_texts(path, lines=True)
    found = documents(open_corpus([path], lines=True, skip_bad=True))
    assert [(text, place) for _, text, place in found] == [
        ("one", f"{path}:1"),
        ("", f"{path}:3"),
        ("three", f"{path}:4"),
    ]
    (bad,) = bad_of(open_corpus([path], lines=True, skip_bad=True))
    assert bad.startswith(f"{path}:2 ")


def test_tables_that_are_not_text_are_read_as_ever_and_binaries_passed_over(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    pq.write_table(pa.table({"text": ["three"]}), tmp_path / "b.parquet")
    (tmp_path / "c.png").write_bytes(BINARY)
    (tmp_path / "d.log.gz").write_bytes(gzip.compress(BINARY))
    (tmp_path / "e.txt").write_bytes(b"\0\1")
    corpus = open_corpus([tmp_path], lines=True)
    assert [text for _, text, _ in documents(corpus)] == ["one", "two", "three"]
    assert corpus.skipped == {"binary": 2, "compressed (unpack it first)": 1}
    with pytest.raises(SourceError, match="of a kind that cannot be read, binary"):
        open_corpus([tmp_path / "c.png"], lines=True)


@pytest.mark.parametrize("options", [{"text": "x"}, {"id": "x"}, {"text": "x", "id": "y"}])
def test_lines_have_no_fields_to_name(tmp_path, options):
    path = tmp_path / "a.txt"
    path.write_text("x\n")
    with pytest.raises(SourceError, match=r"a.txt has no fields, its lines are the documents"):
        ids_and_texts(path, lines=True, **options)
    assert ids_and_texts(path, lines=True, id="none") == [("a.txt:1", "x")]
    with pytest.raises(SourceError, match="is a file of text: vectors are read from"):
        ids_and_texts(path, lines=True, vector="x")


def test_standard_input_can_be_lines(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"one\n\ntwo")))
    found = ids_and_texts("-", lines=True)
    assert found == [("-:1", "one"), ("-:2", ""), ("-:3", "two")]


@pytest.mark.parametrize("packing", PACKINGS)
def test_kept_lines_are_written_as_they_were(tmp_path, packing):
    source, target = tmp_path / f"a.txt{packing}", tmp_path / f"b.txt{packing}"
    source.write_bytes(pack(b"\xef\xbb\xbfone\r\n\ntwo\nthree", source.name))
    corpus = open_corpus([source], lines=True)
    corpus.copy(0, np.array([1, 2, 4]), target)
    assert unpack(target.read_bytes(), target.name) == b"\xef\xbb\xbfone\r\n\nthree"


def test_documents_are_read_again_by_their_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(marks, "MARK_BYTES", 100)
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1000)))
    corpus = open_corpus([path], lines=True)
    assert len(documents(corpus, batch_bytes=200)) == 1000
    assert len(corpus.marks) > 10
    rows = np.array([999, 3, 500, 3])
    found = corpus.originals(np.zeros(4, np.int32), rows + 1)
    assert found.texts.to_pylist() == [f"line {n}" for n in rows]


def test_find_takes_lines_and_a_blank_one_is_an_empty_document(tmp_path):
    path = tmp_path / "a.txt"
    text = "the quick brown fox jumps over the lazy dog"
    path.write_text(f"{text}\n\nsomething else entirely\n{text}!\n \n")
    result = lookalike.find(path, lines=True)
    assert [(pair["a"], pair["b"]) for pair in result.pairs.to_pylist()] == [("a.txt:1", "a.txt:4")]
    assert (result.summary.documents, result.summary.empty) == (5, 2)


def test_an_option_that_does_nothing_is_refused(tmp_path):
    pq.write_table(pa.table({"text": ["three"]}), tmp_path / "b.parquet")
    for source in (tmp_path / "b.parquet", ["a", "b"]):
        for options in ({"lines": True}, {"delimiter": ";"}, {"no_header": True}):
            with pytest.raises(SettingsError, match="there is no "):
                lookalike.find(source, **options)
