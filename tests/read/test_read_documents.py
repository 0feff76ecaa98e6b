"""ODT, RTF, EPUB, PPTX, notebooks and messages: one document each, as a reader would read it."""

import io
import json

import pytest

from document_files import (
    epub,
    message,
    notebook,
    odt,
    pptx,
    rtf,
    shape,
    with_part,
    zipped,
)
from lookalike.base.errors import NoTextError, SourceError
from lookalike.read import open_corpus, read_text
from lookalike.read.files import Unread
from source_files import bad_of, ids_and_texts

MADE = {
    "odt": odt("<text:p>A text</text:p>"),
    "rtf": rtf("A text"),
    "epub": epub({"a.xhtml": "<p>A text</p>"}),
    "pptx": pptx([shape("A text")]),
    "ipynb": notebook(("markdown", "A text")),
    "eml": message("", "A text"),
}


@pytest.fixture
def text_of(tmp_path):
    """Give a function that writes a file and reads its text."""

    def write_and_read(kind, data):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(data)
        return read_text(path)

    return write_and_read


def test_every_kind_is_one_document_of_a_folder(tmp_path):
    for kind, data in MADE.items():
        (tmp_path / f"a.{kind}").write_bytes(data)
        (tmp_path / f"b.{kind.upper()}").write_bytes(data)
    expected = sorted(
        (f"{name}.{kind}", "A text")
        for one in MADE
        for name, kind in (("a", one), ("b", one.upper()))
    )
    assert ids_and_texts(tmp_path) == expected
    assert ids_and_texts(tmp_path.as_uri()) == expected


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("data", [b"nonsense \xff\0", b"PK\x03\x04rest", b"{}", b"[1]"])
def test_what_is_not_of_its_kind_is_refused_in_one_line_or_passed_over(tmp_path, kind, data):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=rf"a\.{kind} is an? {kind.upper()} file that cannot be"):
        read_text(path)
    (line,) = bad_of(open_corpus([tmp_path], skip_bad=True))
    assert line.endswith("): fix it or leave it out")
    assert "\n" not in line


@pytest.mark.parametrize("kind", ["odt", "rtf", "epub", "pptx", "ipynb"])
def test_what_breaks_off_is_refused_wherever_it_does(text_of, kind):
    data = MADE[kind]
    for length in range(1, len(data) - 1, max(len(data) // 40, 1)):
        with pytest.raises(SourceError):
            text_of(kind, data[:length])


class TestOdt:
    def test_paragraphs_tables_notes_and_boxes_are_read_in_order(self, text_of):
        body = (
            "<text:h>Title</text:h>"
            "<text:p>One<text:s text:c='999999999'/>two<text:tab/>three<text:line-break/>"
            "<text:span>fo</text:span>ur\n  five"
            "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>A note</text:p></text:note-body></text:note>, six</text:p>"
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>"
            "</table:table><text:list><text:list-item><text:p>item</text:p></text:list-item>"
            "</text:list><text:p>Last <text:title>of all</text:title></text:p>"
        )
        assert text_of("odt", odt(body)) == (
            "Title\nOne two\tthree\nfour five, six\nA note\na\nb\nitem\nLast of all"
        )

    def test_comments_and_deleted_text_are_not_read(self, text_of):
        body = (
            "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
            "<text:p>kept<office:annotation><dc:creator>Me</dc:creator><text:p>comment</text:p>"
            "</office:annotation><draw:frame><svg:title>name</svg:title></draw:frame> text</text:p>"
        )
        assert text_of("odt", odt(body)) == "kept text"

    def test_other_prefixes_and_encodings_are_read(self, text_of):
        content = '<?xml version="1.0" encoding="UTF-16"?><d xmlns:x="t"><x:p>é\u4e00</x:p></d>'
        assert text_of("odt", zipped({"content.xml": content.encode("utf-16")})) == "é\u4e00"

    def test_one_with_a_password_says_so(self, text_of):
        manifest = "<m:manifest xmlns:m='m'><m:encryption-data/></m:manifest>"
        data = with_part(MADE["odt"], "META-INF/manifest.xml", manifest)
        with pytest.raises(SourceError, match=r"a\.odt is locked with a password: save it without"):
            text_of("odt", with_part(data, "content.xml", b"\x12\x34"))


class TestRtf:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (r"One\par two\line three\tab four\cell five\row", "One\ntwo\nthree\tfour\nfive"),
            (r"caf\'e9, \{\\\}, a\~b, \ldblquote x\rdblquote\emdash", "café, {\\}, a\xa0b, “x”—"),
            (r"\u233?t\u233 ?, \uc2\u8364ab\uc0\u8364\uc1 !", "été, €€!"),
            (r"\u-10179?\u-8704?", "😀"),
            (r"{\b bold}ly {\i0 not}", "boldly not"),
            ("split\nin\r\nlines", "splitinlines"),
            ("a\\\nb", "a\nb"),
            (r"{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}{\info{\title No}}yes", "yes"),
            (r"{\*\generator No;}{\*\unknown{\b no}}yes", "yes"),
            (r"{\header no}{\pict\pngblip 89504e47}{\footer no}yes", "yes"),
            (r"a{\*\bkmkstart x}{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}", "alink"),
            (r"a{\v hidden}{\deleted gone}{\v0 b}", "ab"),
            (r"a\super 1{\footnote A note}b", "a1\nA noteb"),
            (r"{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt In a box}}{\shprslt no}}", "In a box"),
            (r"x{\pict\bin4 }}}}}y", "xy"),
            (r"{\upr{no}{\*\ud{yes}}}after", "noafter"),
        ],
    )
    def test_words_stand_for_what_they_say(self, text_of, body, text):
        assert text_of("rtf", rtf(body)) == text

    @pytest.mark.parametrize(
        ("charset", "code", "text"),
        [
            (204, "cp1251", "Слово"),
            (128, "cp932", "日本語表"),
            (134, "gbk", "汉字"),
            (0, "cp1252", "é"),
        ],
    )
    def test_fonts_tell_encodings(self, text_of, charset, code, text):
        escaped = "".join(f"\\'{byte:02x}" for byte in text.encode(code))
        fonts = rf"{{\fonttbl{{\f0\fcharset0 A;}}{{\f1\fcharset{charset} B;}}}}"
        body = rf"{fonts}caf\'e9 {{\f1 {escaped}}} caf\'e9\f1 {escaped}\plain \'e9"
        assert text_of("rtf", rtf(body)) == f"café {text} café{text}é"

    def test_the_document_tells_its_encoding(self, text_of):
        def page(head):
            return text_of("rtf", b"{\\rtf1" + head + b" \\'e9 \xe9}")

        assert page(b"\\ansi\\ansicpg1251") == "й й"
        assert page(b"\\mac") == "È È"
        assert page(b"\\ansi\\ansicpg99999") == "é é"

    def test_text_after_the_end_is_not_read(self, text_of):
        assert text_of("rtf", rtf("a") + b"\0\0 rest {") == "a"


class TestEpub:
    def test_chapters_are_read_in_the_order_of_the_book(self, text_of):
        data = epub(
            {
                "z.xhtml": "<h1>One</h1>",
                "b/a%20c.xhtml": "<p>Two &amp; &eacute;",
                "b.xhtml": "Three",
            }
        )
        assert text_of("epub", data) == "One\nTwo & é\nThree"

    def test_what_xhtml_closes_at_once_does_not_swallow_the_rest(self, text_of):
        page = (
            '<?xml version="1.0"?><html><head><title/><script src="a.js"/><style />'
            "</head><body><p>text</p><iframe src='x'/><p>more</p></body></html>"
        )
        assert text_of("epub", epub({"a.xhtml": page})) == "text\nmore"

    def test_chapters_say_their_encodings(self, text_of):
        pages = {
            "a.xhtml": '<?xml version="1.0" encoding="ISO-8859-1"?><p>é</p>'.encode("latin-1"),
            "b.xhtml": "\ufeff<p>é</p>".encode("utf-16-le"),
            "c.xhtml": "<p>é</p>".encode("utf-8-sig"),
        }
        assert text_of("epub", epub(pages)) == "é\né\né"
        with pytest.raises(SourceError, match=r"EPUB file that cannot be read \('utf-8' codec"):
            text_of("epub", epub({"a.xhtml": b"<p>\xe9</p>"}))

    def test_a_chapter_that_is_named_twice_is_read_once(self, text_of):
        data = MADE["epub"]
        spine = "<itemref idref='c0'/>" * 1000
        book = (
            "<package><manifest><item id='c0' href='a.xhtml' media-type='text/html'/></manifest>"
            f"<spine>{spine}</spine></package>"
        )
        assert text_of("epub", with_part(data, "OEBPS/book.opf", book)) == "A text"

    def test_a_chapter_that_is_missing_is_an_error(self, text_of):
        book = (
            "<package><manifest><item id='c0' href='gone.xhtml' media-type='text/html'/>"
            "</manifest><spine><itemref idref='c0'/></spine></package>"
        )
        with pytest.raises(SourceError, match=r"\(it has no part OEBPS/gone\.xhtml\)"):
            text_of("epub", with_part(MADE["epub"], "OEBPS/book.opf", book))

    def test_a_protected_book_says_so_and_one_with_protected_fonts_is_read(self, text_of):
        def book(part):
            listing = f"<encryption><e:CipherReference xmlns:e='e' URI='{part}'/></encryption>"
            return with_part(MADE["epub"], "META-INF/encryption.xml", listing)

        with pytest.raises(SourceError, match=r"a\.epub is protected \(DRM\)"):
            text_of("epub", book("OEBPS/a.xhtml"))
        assert text_of("epub", book("OEBPS/fonts/a.otf")) == "A text"


class TestPptx:
    def test_slides_are_read_in_order_with_tables_and_notes(self, text_of):
        table = f"<a:tbl><a:tr><a:tc>{shape('a')}</a:tc><a:tc>{shape('b')}</a:tc></a:tr></a:tbl>"
        data = pptx(
            [shape("First", "line") + table, shape("Second &amp; last")], {0: shape("Note")}
        )
        assert text_of("pptx", data) == "First\nline\na\nb\nNote\nSecond & last"

    def test_a_paragraph_is_one_line_unless_it_breaks(self, text_of):
        runs = "<a:r><a:t>o</a:t></a:r><a:r><a:t>ne</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r>"
        assert text_of("pptx", pptx([f"<a:p>{runs}</a:p>"])) == "one\ntwo"

    def test_numbers_of_slides_and_second_forms_are_not_read(self, text_of):
        slide = (
            "<a:p><a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p>"
            f"<mc:AlternateContent><mc:Choice>{shape('new')}</mc:Choice>"
            f"<mc:Fallback>{shape('old')}</mc:Fallback></mc:AlternateContent>"
        )
        assert text_of("pptx", pptx([slide])) == "new"

    def test_what_another_library_writes_is_read(self, text_of):
        library = pytest.importorskip("pptx")
        made = library.Presentation()
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = "Title"
        slide.placeholders[1].text = "One\nTwo\vlines"
        slide.shapes.add_table(1, 2, 0, 0, 9, 9).table.cell(0, 1).text = "cell é"
        slide.notes_slide.notes_text_frame.text = "Notes"
        made.slides.add_slide(made.slide_layouts[6])
        data = io.BytesIO()
        made.save(data)
        assert text_of("pptx", data.getvalue()) == "Title\nOne\nTwo\nlines\ncell é\nNotes"

    @pytest.mark.parametrize("kind", ["pptx", "docx", "xlsx"])
    def test_one_with_a_password_says_so(self, tmp_path, kind):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
        with pytest.raises(SourceError, match=r"is locked with a password, or in the format of"):
            list(open_corpus([path]).batches())


class TestNotebooks:
    def test_cells_are_read_without_what_they_put_out(self, text_of):
        data = notebook(
            ("markdown", ["# Title\n", "text é"]), ("code", "x = 1\nprint(x)"), ("code", [])
        )
        assert text_of("ipynb", data) == "# Title\ntext é\n\nx = 1\nprint(x)"

    def test_old_ones_are_read(self, text_of):
        cells = [{"cell_type": "code", "input": ["a\n", "b"]}, {"source": "c"}]
        old = {"worksheets": [{"cells": cells}, {"cells": [{"input": "d"}]}], "nbformat": 3}
        assert text_of("ipynb", json.dumps(old).encode("utf-8-sig")) == "a\nb\n\nc\n\nd"

    def test_halves_of_characters_are_replaced(self, text_of):
        assert text_of("ipynb", b'{"cells": [{"source": "a\\ud800b"}]}') == "a?b"


class TestMessages:
    def test_subject_and_text_are_read(self, text_of):
        data = message("Größe =?x", "Straße\nund mehr\n", From="a@example.org")
        assert b"Gr\xc3" not in data
        assert text_of("eml", data) == "Größe =?x\n\nStraße\nund mehr"

    @pytest.mark.parametrize(
        ("headers", "body", "text"),
        [
            (b"Content-Type: text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
            (b"Content-Type: text/plain; charset=koi8-r", "слово".encode("koi8-r"), "слово"),
            (b"Content-Type: text/plain; charset=nonsense", b"caf\xe9", "café"),
            (b"Content-Type: text/plain", "café".encode(), "café"),
            (b"X: y", b"caf\xe9 \x80", "café €"),
            (b"Content-Transfer-Encoding: base64", b"Y2Fm\n6Q==", "café"),
            (b"Content-Transfer-Encoding: quoted-printable", b"caf=E9 a=\nb", "café ab"),
            (b"Content-Type: text/html; charset=latin-1", b"<p>caf\xe9<p>b", "café\nb"),
            (
                b"Content-Type: text/html",
                b"<meta charset=windows-1251><p>\xf1\xeb\xee\xe2\xee",
                "слово",
            ),
            (b"Content-Type: image/png", b"png", ""),
            (b"Content-Disposition: attachment", b"attached", ""),
        ],
    )
    def test_a_part_is_decoded_as_it_declares(self, text_of, headers, body, text):
        assert text_of("eml", headers + b"\n\n" + body) == text
        windows = headers + b"\r\n\r\n" + body
        assert text_of("eml", windows) == text

    @pytest.mark.parametrize(
        "data",
        [
            b"From a@example.org Mon Jan  1 00:00:00 2024\nSubject: a\n\nb",
            b"Subject: a\nb",
            b"Subject: a\nX: caf\xe9\nb",
            b"Subject: a\nContent-Type: multipart/mixed\n\nb",
            b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\nb",
        ],
    )
    def test_what_a_message_says_wrongly_of_itself_loses_no_text(self, text_of, data):
        assert text_of("eml", data) == "a\n\nb"

    def test_subjects_are_decoded(self, text_of):
        def subject(raw):
            return text_of("eml", b"Subject: " + raw + b"\n\n")

        assert subject(b"=?utf-8?Q?caf=C3=A9?= =?iso-8859-1?B?6Q==?= x") == "caféé x"
        assert (
            text_of("eml", b"Subject: a\ncaf\xe9 not in a header\n") == "a\n\ncafé not in a header"
        )
        assert subject(b"folded\n over lines") == "folded over lines"
        assert subject(b"caf\xe9") == subject("café".encode()) == "café"
        assert subject(b"=?nonsense?Q?caf=E9?=") == "café"
        assert subject(b"=?utf-8?B?a?=") == "=?utf-8?B?a?="

    def test_of_alternatives_the_plain_one_is_read_and_attachments_are_not(self, text_of):
        def parts(kind, *inner):
            found = b"".join(b"--=_x\n" + one + b"\n" for one in inner)
            return (
                b"Content-Type: multipart/"
                + kind
                + b'; boundary="=_x"\n\npre\n'
                + found
                + b"--=_x--\npost\n--=_x\n\nno"
            )

        plain, page = b"Content-Type: text/plain\n\nplain", b"Content-Type: text/html\n\n<p>page"
        empty, none = b"Content-Type: text/plain\n\n  \n", b"\nno headers"
        attached = b'Content-Type: text/plain\nContent-Disposition: attachment; filename="a"\n\nno'
        inside = b"Content-Type: message/rfc822\n\nSubject: no\n\nno"
        assert text_of("eml", parts(b"alternative", page, plain)) == "plain"
        assert text_of("eml", parts(b"alternative", empty, page)) == "page"
        assert text_of("eml", parts(b"alternative", page)) == "page"
        assert text_of("eml", parts(b"mixed", page, attached, inside, plain)) == "page\n\nplain"
        assert text_of("eml", parts(b"mixed", none)) == "no headers"
        nested = parts(b"mixed", parts(b"alternative", plain, page).replace(b"=_x", b"=_y"), plain)
        assert text_of("eml", nested) == "plain\n\nplain"
        assert text_of("eml", parts(b"mixed", plain).partition(b"\n--=_x--")[0]) == "plain"


class TestScans:
    def test_a_pdf_without_text_is_an_error_where_it_is_named(self, tmp_path, scan):
        with pytest.raises(NoTextError, match=r"scan\.pdf is a PDF without text, perhaps a scan: "):
            read_text(scan)
        with pytest.raises(NoTextError, match=r"recognise its text first \(OCR\), or leave it out"):
            list(open_corpus([scan]).batches())
        assert "without text" in bad_of(open_corpus([scan], skip_bad=True))[0]

    @pytest.mark.parametrize("skip_bad", [False, True])
    def test_in_a_folder_it_is_passed_over_and_named(self, tmp_path, scan, skip_bad):
        (tmp_path / "a.txt").write_text("text")
        (batch,) = open_corpus([tmp_path], skip_bad=skip_bad).batches()
        assert batch.ids.to_pylist() == ["a.txt"]
        assert batch.unread == (Unread(str(scan), "without text, perhaps scanned"),)
        assert batch.broken == ()

    @pytest.fixture
    def scan(self, tmp_path):
        pypdf = pytest.importorskip("pypdf")
        writer = pypdf.PdfWriter()
        writer.add_blank_page(200, 200)
        writer.write(tmp_path / "scan.pdf")
        return tmp_path / "scan.pdf"


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.npy"])
def test_a_table_is_not_compared_as_one_document(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(SourceError, match=r"is a table of many documents: compare them with find"):
        read_text(tmp_path / name)
