"""What is read in one way and another at once: archives, encodings, layouts of tables, pages."""

from __future__ import annotations

import gzip
import io
import json

import pyarrow as pa
import pytest

from archive_files import archive
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus
from source_files import ids_and_texts
from warc_files import answer

TEXTS = ["Die Größe der Öffnung", "ändert sich über die Jahre"]


def arrow_file():
    table, stored = pa.table({"text": TEXTS}), io.BytesIO()
    with pa.ipc.new_file(stored, table.schema) as writer:
        writer.write_table(table)
    return stored.getvalue()


FILES = {
    "a.json": json.dumps(TEXTS, ensure_ascii=False, indent=1).encode("cp1252"),
    "b.csv": f"id|text\n1|{TEXTS[0]}".encode("cp1252"),
    "c.arrow": arrow_file(),
    "d.txt": TEXTS[0].encode("cp1252"),
    "e.json": b'{"no": "records"}',
    "f.json.gz": gzip.compress(json.dumps([{"text": text} for text in TEXTS]).encode()),
}


@pytest.mark.parametrize("kind", [".zip", ".tar", ".tar.gz"])
def test_members_are_told_as_files_are(tmp_path, kind):
    name = archive(tmp_path / f"a{kind}", FILES)
    label = name.name
    assert ids_and_texts(name, encoding="cp1252") == [
        (f"{label}/a.json:1", TEXTS[0]),
        (f"{label}/a.json:2", TEXTS[1]),
        ("1", TEXTS[0]),
        (f"{label}/c.arrow:1", TEXTS[0]),
        (f"{label}/c.arrow:2", TEXTS[1]),
        (f"{label}/d.txt", TEXTS[0]),
        (f"{label}/e.json", '{"no": "records"}'),
        (f"{label}/f.json.gz:1", TEXTS[0]),
        (f"{label}/f.json.gz:2", TEXTS[1]),
    ]
    lines = dict(ids_and_texts(name, encoding="cp1252", lines=True))
    assert lines[f"{label}/a.json:2"] == f' "{TEXTS[0]}",'
    assert lines[f"{label}/d.txt:1"] == TEXTS[0]
    assert lines[f"{label}/f.json.gz:1"].startswith("[{")


@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
def test_a_member_in_no_known_encoding_is_passed_over_by_a_strict_reading(tmp_path, kind):
    path = archive(tmp_path / f"a{kind}", {"old": b"caf\xe9", "new.txt": b"new"})
    assert len(ids_and_texts(path)) == 2
    strict = open_corpus(path, strict_encoding=True)
    assert [one.reason for one in strict.unread] == ["in an unknown encoding"]


def test_a_page_of_a_crawl_that_is_no_text_stops_nothing(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(answer("u", b"<p>\0\1\2\xff") + answer("v", "<p>größer".encode("cp1252")))
    assert [text for _, text in ids_and_texts(path)][1:] == ["größer"]
    assert [text for _, text in ids_and_texts(path, encoding="cp1252")][1:] == ["größer"]
    with pytest.raises(SourceError, match=r"a\.warc:1 is not text"):
        ids_and_texts(path, strict_encoding=True)


def test_messages_are_no_pages(tmp_path):
    path = tmp_path / "a.mbox"
    path.write_bytes(b"From a\nSubject: s\n\nif a <b and c> d\n\n")
    assert ids_and_texts(path, markup="html") == ids_and_texts(path)


def test_pages_in_lines_and_in_partitions_are_read_as_pages(tmp_path):
    folder = tmp_path / "lang=de"
    folder.mkdir()
    (folder / "a.txt").write_text("<p>eins</p>\n<b>zwei</b>\n")
    corpus = open_corpus(tmp_path, lines=True, markup="html", columns=["lang"])
    (batch,) = corpus.batches()
    assert batch.texts.to_pylist() == ["eins", "zwei"]
    assert batch.columns["lang"].to_pylist() == ["de", "de"]
