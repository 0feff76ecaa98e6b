"""Files that are one document: HTML, PDF and DOCX as a reader would read them."""

import io
import subprocess
import sys

import pytest

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, read_text
from source_files import bad_of, ids_and_texts

docx = pytest.importorskip("docx")
pypdf = pytest.importorskip("pypdf")


@pytest.fixture
def html(tmp_path):
    """Give a function that writes a page and reads its text."""

    def write_and_read(content):
        path = tmp_path / "page.html"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_text(path)

    return write_and_read


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("<ul><li>one</li><li>two</li></ul>three", "one\ntwo\nthree"),
        ("<td>one</td><td>two</td>", "one\ntwo"),
        ("one<br>two<br/>three<hr>four", "one\ntwo\nthree\nfour"),
        ("o<b>n</b>e <i>two</i>", "one two"),
        ("  a \n\t b  <div>  c  </div> d ", "a b\nc\nd"),
        ("&eacute;&#233;&#x1F600;&amp;lt;&nbsp;x", "éé😀&lt;\xa0x"),
        ("<pre>a\n  b\tc</pre>", "a\nb\tc"),
        ("a<script>var x = '<p>no</p>';</script>b<style>p {}</style>c", "a\nb\nc"),
        ("a<template><p>no<template>no</template>no</template>b", "a\nb"),
        ("a<svg><title>no</title><text>no</text></svg>b", "a\nb"),
        ("a<!-- no -->b<!doctype html>", "ab"),
        (
            "<html><head><title>Name</title><meta name=x>no<link></head><body>text</body></html>",
            "Name\ntext",
        ),
        ("<head><title>Name</title><p>text", "Name\ntext"),
        ("<title>Name</title>text", "Name\ntext"),
        ("", ""),
        ("a < b & c", "a < b & c"),
        ("<p>unclosed <b>bold <p>next", "unclosed bold\nnext"),
        ("</div></script>stray", "stray"),
        ("a<math><mi>x</mi></math> <object>b</object><svg/>c", "a\nx\nb\nc"),
        ("<header>top</header><h1>head</h1>", "top\nhead"),
    ],
)
def test_a_page_is_what_a_reader_reads(html, page, text):
    assert html(page) == text


def test_a_page_is_in_utf8_or_in_what_it_declares(html):
    assert html("\ufeff<p>é".encode("utf-16-le")) == "é"
    assert html("<p>é".encode("utf-8-sig")) == "é"
    assert html('<meta charset="UTF-8"><p>é') == "é"
    assert html("<meta charset='ISO-8859-1'><p>é".encode("latin-1")) == "é"
    assert html("<p>é".encode("latin-1")) == "é"


def pdf_of(*pages):
    """Write a PDF by hand, a line of text a page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, page in enumerate(pages):
        drawing = f"BT /F1 12 Tf 72 700 Td ({page}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * place} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    data = "%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{data}{end}startxref\n{len(data)}\n%%EOF\n".encode()


def test_the_pages_of_a_pdf_are_read(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf_of("First page", "Second page"))
    assert ids_and_texts(tmp_path) == [("a.pdf", "First page\nSecond page")]


def locked(data, algorithm, **passwords):
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(**passwords, algorithm=algorithm)
    found = io.BytesIO()
    writer.write(found)
    return found.getvalue()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_pdf_with_a_password_is_refused_and_one_that_all_may_open_is_read(tmp_path, algorithm):
    plain = pdf_of("The text")
    path = tmp_path / "a.pdf"
    path.write_bytes(locked(plain, algorithm, user_password="secret"))
    with pytest.raises(SourceError, match=r"a\.pdf is a PDF locked with a password: unlock it"):
        read_text(path)
    path.write_bytes(locked(plain, algorithm, user_password="", owner_password="secret"))
    assert read_text(path) == "The text"


@pytest.mark.parametrize("kind", ["pdf", "docx"])
@pytest.mark.parametrize("data", [b"nonsense", b"%PDF-1.4\n%%EOF", b"PK\x03\x04rest"])
def test_a_broken_document_is_refused_in_one_line_or_passed_over(tmp_path, kind, data):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    with pytest.raises(
        SourceError, match=rf"a\.{kind} is a .* file that cannot be read"
    ) as refused:
        read_text(path)
    assert "\n" not in str(refused.value)
    (line,) = bad_of(open_corpus([tmp_path], skip_bad=True))
    assert line == str(refused.value)


def test_libraries_say_nothing_by_themselves(tmp_path):
    (tmp_path / "a.pdf").write_bytes(
        b"junk before\n" + pdf_of("The text").replace(b"startxref", b"")
    )
    (tmp_path / "b.pdf").write_bytes(pdf_of("The text")[:300])
    code = (
        "import sys; from lookalike.read import open_corpus\n"
        "for batch in open_corpus([sys.argv[1]], skip_bad=True).batches(): pass"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_paragraphs_and_tables_of_a_docx_are_read_in_order(tmp_path):
    document = docx.Document()
    document.add_heading("Title")
    document.add_paragraph("One ").add_run("bold")
    table = document.add_table(2, 2)
    for place, cell in enumerate(("a", "b", "c", "d")):
        table.cell(place // 2, place % 2).text = cell
    table.cell(0, 0).merge(table.cell(0, 1))
    document.add_paragraph("Last é")
    document.save(tmp_path / "a.docx")
    assert ids_and_texts(tmp_path) == [("a.docx", "Title\nOne bold\na\nb\nc\nd\nLast é")]


@pytest.mark.parametrize(("kind", "library"), [("PDF", "pypdf"), ("DOCX", "docx")])
def test_a_missing_library_is_named_with_what_installs_it(tmp_path, monkeypatch, kind, library):
    (tmp_path / f"a.{kind.lower()}").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SourceError, match=rf"{kind} .*pip install 'lookalike\[documents\]'"):
        list(open_corpus([tmp_path]).batches())
