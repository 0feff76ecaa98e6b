"""Documents made to exhaust memory or time: refused in one line, before they grow."""

import io
import re
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from document_files import (
    XML,
    epub,
    notebook,
    odt,
    pptx,
    rows_of,
    rtf,
    shape,
    with_part,
    xlsx,
    zipped,
)
from lookalike.base.errors import SourceError
from lookalike.base.memory import MIN_BYTES
from lookalike.read import mail, markup, open_corpus, read_text, zip_parts
from lookalike.read.streams import Bounds
from source_files import ids_and_texts

MEMORY = MIN_BYTES
RECORD, PART = Bounds(MEMORY).record, Bounds(MEMORY).part
MAIN_PARTS = {
    "odt": (odt(""), "content.xml"),
    "epub": (epub({"a.xhtml": "x"}), "OEBPS/a.xhtml"),
    "pptx": (pptx([shape("x")]), "ppt/slides/slide1.xml"),
    "xlsx": (xlsx({"S": rows_of(["text"], ["x"])}), "xl/workbook.xml"),
}
DEEP = 100_000


def refusal(path):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], memory=MEMORY).batches())
    message = str(refused.value)
    assert "\n" not in message
    return message


def written(tmp_path, kind, data):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch, kind):
    data, part = MAIN_PARTS[kind]
    path = written(tmp_path, kind, with_part(data, part, b" " * (RECORD + 1)))
    assert path.stat().st_size < RECORD / 100
    read = zipfile.ZipFile.read

    def small(packed, info, *given):
        assert info.file_size < RECORD
        return read(packed, info, *given)

    monkeypatch.setattr(zipfile.ZipFile, "read", small)
    message = refusal(path)
    assert re.search(r"a\.\w+ unpacks to 1.* MB of markup, more than the .* that it may", message)
    assert message.endswith("raise memory=, or leave it out")


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_what_unpacks_to_more_than_it_tells_is_refused_before_it_does(tmp_path, kind):
    size = 30_000_000
    data, part = MAIN_PARTS[kind]
    data = with_part(data, part, b"x" * size)
    told = data.replace(size.to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert told != data
    path = written(tmp_path, kind, told)
    tracemalloc.start()
    assert f"a.{kind} is a" in refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 4


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_very_many_parts_are_refused_before_they_are_listed(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(zip_parts, "DIRECTORY_LIMIT_BYTES", 100)
    path = written(tmp_path, kind, MAIN_PARTS[kind][0])
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert f"a.{kind} lists too many parts" in refusal(path)


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_ways_of_packing_that_documents_do_not_use_are_refused(tmp_path, kind):
    data, part = MAIN_PARTS[kind]
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(tmp_path / f"a.{kind}", "w") as packed:
        for name, content in parts.items():
            packing = zipfile.ZIP_LZMA if name == part else zipfile.ZIP_DEFLATED
            packed.writestr(name, content, packing)
    assert f"(its part {part} is packed in an unknown way)" in refusal(tmp_path / f"a.{kind}")


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("kind", ["odt", "pptx", "xlsx"])
@pytest.mark.parametrize("entities", [LAUGHS, OUTSIDE])
def test_entities_are_refused(tmp_path, kind, entities):
    data, part = MAIN_PARTS[kind]
    path = written(tmp_path, kind, with_part(data, part, f"{XML}{entities}<x><p>&a;</p></x>"))
    assert "(its markup declares entities of its own)" in refusal(path)


def test_entities_of_a_chapter_are_text(tmp_path):
    page = f"{LAUGHS}<p>&b;</p>"
    assert "hahaha" not in read_text(written(tmp_path, "epub", epub({"a.xhtml": page})))


@pytest.mark.parametrize("kind", ["odt", "pptx", "xlsx"])
def test_markup_that_is_nested_very_deeply_is_refused(tmp_path, kind):
    data, part = MAIN_PARTS[kind]
    path = written(tmp_path, kind, with_part(data, part, "<p>" * DEEP + "</p>" * DEEP))
    assert "(its markup is nested deeper than 1,000 levels)" in refusal(path)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("rtf", rtf("{" * DEEP + "}" * DEEP)),
        ("ipynb", b'{"cells": ' + b"[" * DEEP),
        (
            "eml",
            b"".join(
                b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (n, n) for n in range(99)
            ),
        ),
    ],
)
def test_other_nests_are_refused(tmp_path, kind, data):
    assert "deep" in refusal(written(tmp_path, kind, data))


def test_deep_nests_of_pages_are_read(tmp_path):
    page = "<div>" * DEEP + "text" + "</div>" * DEEP
    assert read_text(written(tmp_path, "epub", epub({"a.xhtml": page}))) == "text"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("rtf", b"{\\rtf1 " + b"x" * PART + b"}"),
        ("eml", b"A: b\n\n" + b"x" * PART),
        ("ipynb", notebook(("code", "x" * RECORD))),
        ("rtf", b"{\\rtf1 " + b"x" * (RECORD + 1) + b"}"),
        ("eml", b"A: b\n\n" + b"x" * (RECORD + 1)),
        ("eml", b"A: b\n\n" + b"x" * (3 * RECORD)),
    ],
    ids=["rtf", "eml", "ipynb", "text of rtf", "text of eml", "longer text of eml"],
)
def test_what_would_not_fit_is_refused(tmp_path, kind, data):
    message = refusal(written(tmp_path, kind, data))
    assert "more than the" in message or "is longer than" in message
    assert "raise memory=" in message


def test_attachments_and_pictures_may_be_larger_than_texts(tmp_path):
    attached = (
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\ntext\n--x\n"
        b"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n"
        + b"A" * (RECORD + 1000)
        + b"\n--x--\n"
    )
    assert ids_and_texts(written(tmp_path, "eml", attached), memory=MEMORY)[0][1] == "text"
    picture = rtf("text{\\pict " + "00" * (RECORD // 2 + 1000) + "}")
    assert ids_and_texts(written(tmp_path, "rtf", picture), memory=MEMORY)[0][1] == "text"


def test_headers_without_end_are_refused(tmp_path):
    data = b"a:\n" * (mail.HEADER_LIMIT_BYTES // 3 + 1)
    assert "its headers are longer than 1 MB" in refusal(written(tmp_path, "eml", data))


def test_a_message_of_very_many_parts_is_refused(tmp_path):
    data = b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n" * 20_000
    assert "(it has more than 10,000 parts)" in refusal(written(tmp_path, "eml", data))


@pytest.mark.long
def test_parts_inside_one_another_share_their_bytes(tmp_path):
    levels = b"".join(
        b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (n, n) for n in range(30)
    )
    attached = b"Content-Type: image/png\n\n" + b"x" * 10_000_000
    path = written(tmp_path, "eml", levels + attached)
    tracemalloc.start()
    assert read_text(path) == ""
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(attached)


def test_a_sheet_that_is_listed_again_and_again_is_read_once(tmp_path):
    data = xlsx({"S": rows_of(["text"], ["a"])})
    sheets = '<sheet name="S" r:id="r0"/>' * 1000
    data = with_part(data, "xl/workbook.xml", f"<w xmlns:r='r'>{sheets}</w>")
    assert ids_and_texts(written(tmp_path, "xlsx", data)) == [("a.xlsx:2", "a")]


def test_rows_and_shared_texts_of_a_workbook_are_bounded(tmp_path):
    head = rows_of(["text", "n"])
    long = "x" * (RECORD // 2 + 1)
    row = f"<row><c t='str'><v>{long}</v></c><c t='str'><v>{long}</v></c></row>"
    path = written(tmp_path, "xlsx", xlsx({"S": head + row}))
    assert f"row 2 of {path} is longer than" in refusal(path)
    shared = "<row>" + "<c t='s'><v>0</v></c>" * 2 + "</row>"
    path.write_bytes(xlsx({"S": head + shared}, strings=[f"<si><t>{long}</t></si>"]))
    assert len(ids_and_texts(path, memory=MEMORY)) == 1
    with pytest.raises(SourceError, match=r"a\.xlsx:2 is longer than"):
        list(open_corpus([path], text=["text", "n"], memory=MEMORY).batches())


@pytest.mark.parametrize("one", ["<si><t>some text</t></si>", "<si/>"])
def test_texts_that_cells_share_are_bounded(tmp_path, monkeypatch, one):
    path = written(tmp_path, "xlsx", xlsx({"S": rows_of(["text"], ["a"])}, strings=[one * 10_000]))
    assert len(ids_and_texts(path, memory=MEMORY)) == 1
    monkeypatch.setattr("lookalike.read.streams.MIN_RECORD_BYTES", 60_000)
    with pytest.raises(SourceError, match=r"a\.xlsx has 60 KB of text that cells share, more"):
        list(open_corpus([path], memory=1).batches())


def test_a_sheet_may_be_larger_than_what_is_held_at_once(tmp_path):
    text = "words " * 1000
    rows = "".join(rows_of([text], first=number) for number in range(2, 3002))
    assert len(rows) > RECORD
    path = written(tmp_path, "xlsx", xlsx({"S": rows_of(["text"]) + rows}))
    tracemalloc.start()
    found = sum(len(batch) for batch in open_corpus([path], memory=MEMORY).batches())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == 3000
    assert peak < 2 * len(rows)  # two batches, and what is made of them


@pytest.mark.parametrize("comment", [b"<!--", b"<x y='", b"<?x "])
def test_a_piece_of_markup_without_end_is_refused_in_proportion_to_its_length(comment):
    class Ignored:
        def start(self, *given): ...

        end = text = start

    pieces = [b"<a>" + comment, *[b"x" * 4096] * 8000]
    begin = time.process_time()
    with pytest.raises(ValueError, match="a piece of its markup is longer than 8 MB"):
        list(markup.parse_pieces(pieces, Ignored(), 8 << 20))
    assert time.process_time() - begin < 2


STATUS = Path("/proc/self/status")


@pytest.mark.long
@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell the largest size")
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("odt", lambda: odt("<text:p/>" * 1_300_000)),
        ("pptx", lambda: pptx(["<a:p/>" * 2_000_000])),
        ("epub", lambda: epub({"a.xhtml": "<p>" * 4_000_000})),
        ("xlsx", lambda: xlsx({"S": rows_of(["text"]) + "<row><c><v>1</v></c></row>" * 500_000})),
        ("xlsx", lambda: xlsx({"S": rows_of(["text"])}, strings=["<si/>" * 20_000_000])),
        ("rtf", lambda: rtf("\\u1 " * 3_000_000)),
        ("ipynb", lambda: b'{"cells": [' + b"{}," * 4_000_000 + b"{}]}"),
        ("eml", lambda: b"A: b\n\n" + b"\xe9\n" * 6_000_000),
        ("mbox", lambda: b"From \nA:\n\n" * 500_000),
        ("odt", lambda: zipped({"content.xml": b" " * 400_000_000})),
    ],
)
def test_a_job_stays_within_its_memory(tmp_path, kind, data):
    path = written(tmp_path, kind, data())
    code = (
        "import sys\n"
        "from lookalike.cli import main\n"
        "sys.argv = ['lookalike', 'find', sys.argv[1], '--memory', '500MB', '-q']\n"
        "try:\n    main()\n"
        f"finally:\n    print(open({str(STATUS)!r}).read())\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert len(done.stderr.splitlines()) <= 1
    assert "Traceback" not in done.stderr
    (most,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert int(most) * 1024 < MEMORY
