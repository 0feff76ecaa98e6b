"""Files in formats that cannot be read: what they are, and what to save them as."""

import bz2
import gzip
import json
import lzma

import pyarrow as pa
import pytest

import lookalike
from archive_files import archive
from document_files import rtf, zipped
from lookalike.base.errors import SourceError
from lookalike.read.other_formats import OLE_MAGIC, other_format

TEXT = b"An essay, which is neither long nor short. " * 20
HOW = "compressed (unpack it first)"
OLE = OLE_MAGIC + bytes(500)
IWORK = zipped({"Index/Document.iwa": b"\0\1"})
FORMATS = {
    "essay.doc": (OLE, "in the old Word format (save as .docx)"),
    "talk.PPT": (OLE, "in the old PowerPoint format (save as .pptx)"),
    "marks.xls": (OLE, "in the old Excel format (save as .xlsx)"),
    "mail.msg": (OLE, "in the format of Outlook (save as .eml)"),
    "a.pages": (IWORK, "in the format of Pages (save as .docx or .pdf)"),
    "b.numbers": (IWORK, "in the format of Numbers (save as .xlsx or .csv)"),
    "c.key": (IWORK, "in the format of Keynote (save as .pptx or .pdf)"),
    "nameless": (OLE + "Workbook".encode("utf-16-le"), "in the old Excel format (save as .xlsx)"),
    "thumbs.db": (OLE, "binary"),
    "README.gz": (gzip.compress(TEXT), HOW),
    "essay.txt.gz": (gzip.compress(b""), HOW),
    "essay.txt.bz2": (bz2.compress(TEXT), HOW),
    "none.bz2": (bz2.compress(b""), HOW),
    "essay.xz": (lzma.compress(TEXT), HOW),
    "essay.txt.zst": (pa.compress(TEXT, "zstd", asbytes=True), HOW),
    "unnamed": (gzip.compress(TEXT), HOW),
}


def reasons(result):
    return {row["path"]: row["reason"] for row in result.summary.unread.to_pylist()}


def test_they_are_told_in_folders_and_archives(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "a.txt").write_text("a text")
    for name, (data, _) in FORMATS.items():
        (folder / name).write_bytes(data)
    packed = archive(tmp_path / "x.zip", {p.name: p.read_bytes() for p in folder.iterdir()})
    for source in (folder, packed):
        with lookalike.find(source) as result:
            expected = {f"{source}/{name}": reason for name, (_, reason) in FORMATS.items()}
            assert reasons(result) == expected
    lookalike.dedup(folder, out=tmp_path / "out").close()
    assert (tmp_path / "out" / "kept" / "essay.doc").read_bytes() == OLE


@pytest.mark.parametrize("name", ["essay.doc", "c.key"])
def test_one_that_is_named_is_refused_with_what_to_do(tmp_path, name):
    data, reason = FORMATS[name]
    path, other = tmp_path / name, tmp_path / "other.txt"
    path.write_bytes(data)
    other.write_text("a text")
    with pytest.raises(SourceError) as refused:
        lookalike.find(path)
    assert f"{path} is {reason}" in str(refused.value)
    with pytest.raises(SourceError, match=r"is in the .*: save it as \.(docx|pptx or \.pdf)$"):
        lookalike.compare(path, other)


COMPRESSED = [name for name, (_, reason) in FORMATS.items() if reason == HOW]


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_text_that_is_named_is_to_be_unpacked(tmp_path, name):
    path, other = tmp_path / name, tmp_path / "other.txt"
    path.write_bytes(FORMATS[name][0])
    other.write_text("a text")
    with pytest.raises(SourceError) as refused:
        lookalike.find(path)
    assert f"{path} is compressed: unpack it first" in str(refused.value)
    with pytest.raises(SourceError) as refused:
        lookalike.compare(path, other)
    assert f"{path} is compressed: unpack it first" in str(refused.value)


def test_compressed_lines_are_read_where_lines_are_asked_for(tmp_path):
    for name in ("essay.txt.gz", "essay.txt.bz2"):
        (tmp_path / name).write_bytes(FORMATS["README.gz" if "gz" in name else name][0])
    with lookalike.find(tmp_path, lines=True) as result:
        assert result.summary.documents == 1
        assert reasons(result) == {f"{tmp_path}/essay.txt.bz2": HOW}


def test_text_with_such_an_ending_is_read(tmp_path):
    (tmp_path / "server.key").write_text("-----BEGIN PRIVATE KEY-----")
    (tmp_path / "note.doc").write_text("a note")
    with lookalike.find(tmp_path) as result:
        assert result.summary.documents == 2
    assert other_format("note.doc", b"a note") is None


def test_a_document_of_word_may_be_rtf(tmp_path):
    words = "some words that are the same in both of the two files"
    (tmp_path / "a.doc").write_bytes(rtf(words))
    (tmp_path / "b.txt").write_text(words)
    with lookalike.find(tmp_path) as result:
        assert result.pairs["similarity"].to_pylist() == [1.0]
    assert lookalike.compare(tmp_path / "a.doc", tmp_path / "b.txt").similarity == 1.0


class TestLine:
    def said(self, folder, **options):
        lines: list[str] = []
        lookalike.find(folder, say=lines.append, **options).close()
        (line,) = [one for one in lines if one.startswith("Skipped ")]
        return line

    def fill(self, folder, number):
        folder.mkdir()
        (folder / "a.txt").write_text("a text")
        for at in range(number):
            (folder / f"{at}.png").write_bytes(b"\0")

    def test_a_few_are_all_named(self, tmp_path):
        self.fill(tmp_path / "x", 5)
        names = ", ".join(f"{tmp_path}/x/{at}.png" for at in range(5))
        assert self.said(tmp_path / "x") == f"Skipped 5 files: 5 binary: {names}."

    def test_of_many_it_says_where_the_names_are(self, tmp_path):
        self.fill(tmp_path / "x", 6)
        names = ", ".join(f"{tmp_path}/x/{at}.png" for at in range(3))
        begin = f"Skipped 6 files: 6 binary: {names}, …; "
        assert self.said(tmp_path / "x") == f"{begin}with out=, skipped.jsonl names all."
        for out in ("found", "found.csv"):
            place = tmp_path / {"found": "found/skipped.jsonl"}.get(out, f"{out}.skipped.jsonl")
            assert self.said(tmp_path / "x", out=tmp_path / out) == f"{begin}{place} names all."
            assert len(place.read_text().splitlines()) == 6


def test_what_is_named_beside_a_path_does_not_repeat_it(tmp_path):
    source = tmp_path / "x"
    source.mkdir()
    (source / "a.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (source / "b.parquet").write_bytes(b"PAR1")
    lookalike.find(source, skip_bad=True, out=tmp_path / "found").close()
    lines = (tmp_path / "found" / "skipped.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [row["path"] for row in found] == [f"{source}/a.jsonl", f"{source}/b.parquet"]
    assert found[0]["reason"].startswith("record 2 is not valid JSON")
    assert found[1]["reason"].startswith("is not a whole Parquet file")
