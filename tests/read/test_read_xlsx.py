"""Workbooks: each sheet with a column of text is a table, whose rows are documents."""

import datetime as dt
import io
from typing import Any

import numpy as np
import pytest

from document_files import rows_of, with_part, xlsx
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, xlsx_values
from lookalike.read.files import Unread
from source_files import bad_of, documents, ids_and_texts

EPOCH = dt.datetime(1899, 12, 30)


@pytest.fixture
def written(tmp_path):
    """Give a function that writes a workbook."""

    def write(sheets, **parts):
        path = tmp_path / "a.xlsx"
        path.write_bytes(xlsx(sheets, **parts))
        return path

    return write


def test_rows_are_documents_under_a_header(written, tmp_path):
    path = written({"S": rows_of(["id", "Text", "n"], ["x", "one &amp; é", "1"], ["y", "", "2"])})
    assert ids_and_texts(path) == [("x", "one & é"), ("y", "")]
    assert ids_and_texts(tmp_path) == [("x", "one & é"), ("y", "")]
    assert ids_and_texts(tmp_path.as_uri()) == [("x", "one & é"), ("y", "")]
    assert ids_and_texts(path, id="none", text="n") == [("a.xlsx:2", "1"), ("a.xlsx:3", "2")]
    assert ids_and_texts(path, text=["Text", "n"], id="id")[0] == ("x", "one & é\n\n1")
    (batch,) = open_corpus([path], columns=["n"]).batches()
    assert batch.columns["n"].to_pylist() == ["1", "2"]
    assert batch.notes == (f"{path}: the text is taken from 'Text', the ids from 'id'",)


def test_ids_are_the_numbers_that_the_rows_have_in_the_sheet(written):
    rows = rows_of(["text"], ["a"], first=3) + "<row r='9'/>" + rows_of(["b"], first=12)
    assert ids_and_texts(written({"S": rows})) == [("a.xlsx:4", "a"), ("a.xlsx:12", "b")]


def test_every_sheet_with_the_column_is_read_and_the_others_are_named(written):
    sheets = {
        "One": rows_of(["text"], ["a"]),
        "Notes": rows_of(["other"], ["b"]),
        "Empty": "",
        "Two": rows_of(["n", "text"], ["1", "c"], ["2", "d"]),
    }
    path = written(sheets)
    corpus = open_corpus([path])
    found = documents(corpus)
    assert [one[:2] for one in found] == [
        ("a.xlsx:One:2", "a"),
        ("a.xlsx:Two:2", "c"),
        ("a.xlsx:Two:3", "d"),
    ]
    assert [place for *_, place in found] == [f"{path}:2", f"{path}:sheet 4:2", f"{path}:sheet 4:3"]
    (batch,) = corpus.batches()
    assert batch.unread == (
        Unread(f"{path}:Notes", "sheet without a column of text", detail="it has 'other'"),
    )
    assert batch.notes == tuple(
        f"{path}, sheet '{name}': the text is taken from 'text', ids are file:sheet:row"
        for name in ("One", "Two")
    )
    for one in corpus.batches(batch_bytes=1):
        rest = documents(corpus, one.next, batch_bytes=1)
        assert rest == found[len(found) - len(rest) :]
    again = corpus.originals(np.zeros(3, np.int32), batch.records[[2, 0, 1]])
    assert again.texts.to_pylist() == ["d", "a", "c"]


def test_a_workbook_without_the_column_is_an_error_where_it_is_named(written, tmp_path):
    path = written({"S": rows_of(["other"], ["b"])})
    with pytest.raises(SourceError, match=r"a\.xlsx: no column is named text, content, body: say"):
        list(open_corpus([path]).batches())
    (tmp_path / "a.txt").write_text("text")
    (batch,) = open_corpus([tmp_path]).batches()
    assert batch.ids.to_pylist() == ["a.txt"]
    assert batch.unread == (Unread(str(path), "without a column of text", detail="it has 'other'"),)


def test_a_workbook_without_rows_holds_no_documents(written):
    assert ids_and_texts(written({"S": "", "T": rows_of(["text"])})) == []


def test_columns_that_cannot_be_told_apart_are_refused(written):
    path = written({"S": rows_of(["text", "text"], ["a", "b"])})
    with pytest.raises(SourceError, match="there are 2 columns 'text': rename all but one"):
        list(open_corpus([path]).batches())


def test_bad_rows_are_named_and_passed_over(written):
    path = written({"S": rows_of(["id", "text"], ["x", "a"], ["", "b"], ["z", "c"])})
    with pytest.raises(SourceError, match=r"a\.xlsx:3: the id in 'id' is empty"):
        list(open_corpus([path]).batches())
    assert ids_and_texts(path, skip_bad=True) == [("x", "a"), ("z", "c")]
    assert bad_of(open_corpus([path], skip_bad=True)) == [f"{path}:3: the id in 'id' is empty"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c t="s"><v>0</v></c>', "shared & bold"),
        ('<c t="s"><v>1</v></c>', "a\rb_x"),
        (
            '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>no</t></rPh></is></c>',
            "inline",
        ),
        ('<c t="str"><f>A1&amp;"x"</f><v>made</v></c>', "made"),
        ('<c t="b"><v>1</v></c>', "TRUE"),
        ('<c t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c t="d"><v>2024-01-31</v></c>', "2024-01-31"),
        ("<c><v>3</v></c>", "3"),
        ("<c><v>3.0</v></c>", "3"),
        ("<c><v>0.10000000000000001</v></c>", "0.1"),
        ("<c><v>1E+20</v></c>", "1e+20"),
        ('<c s="1"><v>45322</v></c>', "2024-01-31"),
        ('<c s="2"><v>45322.520833333336</v></c>', "2024-01-31 12:30:00"),
        ('<c s="1"><v>0.75</v></c>', "18:00:00"),
        ('<c s="3"><v>45322</v></c>', "45322"),
        ('<c s="1"><v>-1</v></c>', "-1"),
        ('<c s="1"><v>1E+300</v></c>', "1e+300"),
        ('<c s="99999999999"><v>1</v></c>', "1"),
    ],
)
def test_a_cell_is_what_it_shows(written, cell, shown):
    strings = [
        "<si><t>shared &amp; </t><r><t>bold</t></r><rPh><t>no</t></rPh></si>",
        "<si><t xml:space='preserve'>a_x000D_b_x</t></si>",
    ]
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
        '<numFmt numFmtId="171" formatCode="0.0 &quot;days&quot; [Red]"/></numFmts>'
        '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>'
    )
    rows = f"{rows_of(['text'])}<row>{cell}</row>"
    path = written({"S": rows}, strings=strings, styles=styles)
    assert ids_and_texts(path) == [("a.xlsx:2", shown)]


@pytest.mark.parametrize("days", [1, 31, 59, 61, 366, 45322, 45322.75])
def test_dates_count_from_1900_or_1904(days):
    begin = EPOCH + dt.timedelta(days=1) if days < 60 else EPOCH
    expected = begin + dt.timedelta(days=days)
    shown = xlsx_values.Dates().text(str(days))
    assert shown == (str(expected.date()) if days == int(days) else str(expected))
    later = expected + dt.timedelta(days=1462 - (days < 60))
    assert xlsx_values.Dates(from_1904=True).text(str(days))[:10] == str(later.date())


def test_a_workbook_may_count_from_1904(written):
    rows = f"{rows_of(['text'])}<row><c s='1'><v>1</v></c></row>"
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    path = written({"S": rows}, styles=styles, workbook='<workbookPr date1904="1"/>')
    assert ids_and_texts(path) == [("a.xlsx:2", "1904-01-02")]


def library_made(sheets):
    """Write a workbook by another library."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


MOMENT = dt.datetime(2024, 1, 31, 12, 30)
SHEETS: dict[str, list[list[Any]]] = {
    "Essays": [
        ["id", "text", "when", "score"],
        ["x", "One <é> & 'two'\nlines", MOMENT, 1.5],
        ["y", "Another", MOMENT.date(), 2],
        ["z", None, None, True],
    ],
    "Grades 'n' <more>": [["name", "grade"], ["Ann", 1]],
    "Third": [["text"], ["Third text"]],
}


def test_what_another_library_writes_is_read(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(library_made(SHEETS))
    (batch,) = open_corpus([path], columns=None).batches()
    assert batch.ids.to_pylist() == ["x", "y", "z", "a.xlsx:Third:2"]
    assert batch.texts.to_pylist() == ["One <é> & 'two'\nlines", "Another", "", "Third text"]
    assert batch.columns["when"].to_pylist() == ["2024-01-31 12:30:00", "2024-01-31", "", None]
    assert batch.columns["score"].to_pylist() == ["1.5", "2", "TRUE", None]


def test_kept_rows_are_a_workbook_that_other_libraries_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, kept = tmp_path / "a.xlsx", tmp_path / "kept.xlsx"
    path.write_bytes(library_made(SHEETS))
    corpus = open_corpus([path])
    (batch,) = corpus.batches()
    corpus.copy(0, batch.records[[0, 2]], kept)
    book = openpyxl.load_workbook(kept)
    found = {
        sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book
    }
    assert found == {
        "Essays": [SHEETS["Essays"][0], SHEETS["Essays"][1], ["z", None, None, True]],
        "Grades 'n' <more>": SHEETS["Grades 'n' <more>"],
        "Third": [["text"]],
    }
    first = kept.read_bytes()
    corpus.copy(0, batch.records[[0, 2]], kept)
    assert kept.read_bytes() == first
    assert ids_and_texts(kept) == [("x", "One <é> & 'two'\nlines"), ("z", "")]
    corpus.copy(0, batch.records, kept)
    assert kept.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("part", "content", "reason"),
    [
        (
            "xl/worksheets/sheet0.xml",
            "<worksheet><row r='2'/><row r='2'/></worksheet>",
            "row 2 comes",
        ),
        ("xl/worksheets/sheet0.xml", "<worksheet><row r='1048577'/></worksheet>", "row 1,048,577"),
        (
            "xl/worksheets/sheet0.xml",
            "<worksheet><row><c r='XFE1'/></row></worksheet>",
            "XFE1 is no",
        ),
        ("xl/worksheets/sheet0.xml", "<worksheet><row>", "no element found"),
        ("xl/worksheets/sheet0.xml", "", "no element found"),
        ("xl/sharedStrings.xml", "<sst", "unclosed token"),
        ("xl/workbook.xml", "<workbook><sheet name='S'/></workbook>", "it lists a sheet that is"),
        ("_rels/.rels", "<Relationships/>", "it does not say which part"),
    ],
)
def test_broken_workbooks_are_refused_in_one_line(tmp_path, part, content, reason):
    path = tmp_path / "a.xlsx"
    path.write_bytes(with_part(xlsx({"S": rows_of(["text"], ["a"])}), part, content))
    with pytest.raises(SourceError, match=r"a\.xlsx is an XLSX file that cannot be") as refused:
        list(open_corpus([path]).batches())
    assert reason in str(refused.value)
    (line,) = bad_of(open_corpus([tmp_path], skip_bad=True))
    assert line == str(refused.value)


def test_a_shared_string_that_is_not_there_is_refused(written):
    path = written({"S": f"{rows_of(['text'])}<row><c t='s'><v>5</v></c></row>"})
    with pytest.raises(SourceError, match="it has no shared string 5"):
        list(open_corpus([path]).batches())
