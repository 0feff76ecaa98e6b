"""A folder of documents of every kind through the program: all of it is read, or named."""

import json
import zipfile

import pytest

from document_files import (
    epub,
    mailbox,
    message,
    notebook,
    odt,
    pptx,
    rows_of,
    rtf,
    shape,
    xlsx,
)

ESSAY = "the quick brown fox jumps over the lazy dog while the owner of the dog looks on"
OTHER = "a text of its own that shares nothing with what all of the others have in common"
THIRD = "words of a third kind, none of which stand in the first two texts at any place"
ALIKE = ["a.eml", "a.epub", "a.ipynb", "a.odt", "a.pptx", "a.rtf", "a.txt"]


@pytest.fixture
def essays(tmp_path):
    """Make a folder with one essay in every format, and a few others."""
    folder = tmp_path / "essays"
    folder.mkdir()
    for name, data in {
        "a.odt": odt(f"<text:p>{ESSAY}</text:p>"),
        "a.rtf": rtf(ESSAY),
        "a.epub": epub({"1.xhtml": f"<p>{ESSAY}</p>"}),
        "a.pptx": pptx([shape(ESSAY)]),
        "a.ipynb": notebook(("markdown", ESSAY)),
        "a.eml": message("", ESSAY),
        "a.txt": ESSAY.encode(),
        "mail.mbox": mailbox(message("", OTHER), message("", ESSAY)),
        "table.xlsx": xlsx(
            {"Essays": rows_of(["text"], [ESSAY], [THIRD]), "Sums": rows_of(["n"], ["1"])}
        ),
        "grades.xlsx": xlsx({"Grades": rows_of(["name", "grade"], ["Ann", "1"])}),
    }.items():
        (folder / name).write_bytes(data)
    return folder


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_folder_of_essays_is_read_whole(told, essays, tmp_path):
    status, _, errors = told("find", essays, "-o", tmp_path / "found", "-t", "0.9")
    assert status == 0
    record = json.loads((tmp_path / "found" / "run.json").read_text())
    assert record["counts"]["read"] == len(ALIKE) + 4
    status, output, _ = told("find", essays, "-t", "0.9", "--format", "jsonl", "-q")
    names = {name for line in output.splitlines() for name in list(json.loads(line).values())[:2]}
    assert names == {*ALIKE, "mail.mbox:2", "table.xlsx:Essays:2"}
    assert rows(tmp_path / "found" / "skipped.jsonl") == [
        {
            "path": str(essays / "grades.xlsx"),
            "reason": "without a column of text: it has 'name', 'grade'",
        },
        {
            "path": f"{essays / 'table.xlsx'}:Sums",
            "reason": "sheet without a column of text: it has 'n'",
        },
    ]
    assert "grades.xlsx" in errors


def test_dedup_keeps_every_format_and_loses_nothing(told, essays, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(essays / "scan.pdf")
    status, _, errors = told("dedup", essays, "-o", tmp_path / "clean", "-t", "0.9")
    assert status == 0, errors
    kept = tmp_path / "clean" / "kept"
    names = sorted(path.name for path in kept.iterdir())
    assert names == ["a.eml", "grades.xlsx", "mail.mbox", "scan.pdf", "table.xlsx"]
    assert (kept / "a.eml").read_bytes() == (essays / "a.eml").read_bytes()
    assert (kept / "scan.pdf").read_bytes() == (essays / "scan.pdf").read_bytes()
    assert (kept / "mail.mbox").read_bytes() == mailbox(message("", OTHER))
    assert told("find", kept, "-t", "0.5", "--format", "jsonl", "-q")[:2] == (0, "")
    assert (kept / "grades.xlsx").read_bytes() == (essays / "grades.xlsx").read_bytes()
    with zipfile.ZipFile(kept / "table.xlsx") as packed:
        essays_sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    assert THIRD in essays_sheet
    assert ESSAY not in essays_sheet


@pytest.mark.parametrize("name", [name for name in ALIKE if name != "a.txt"])
def test_compare_reads_every_kind(told, essays, name):
    status, output, errors = told("compare", essays / name, essays / "a.txt", "--json", "-q")
    assert (status, errors) == (0, "")
    assert json.loads(output)["similarity"] == 1


def test_columns_of_a_workbook_and_a_mailbox_are_chosen_as_those_of_a_table(told, essays):
    book = essays / "grades.xlsx"
    status, _, errors = told("find", book)
    assert (status, len(errors.splitlines())) == (1, 1)
    assert "grades.xlsx: no column is named text, content, body" in errors
    status, _, errors = told("find", book, "--text", "name")
    assert status == 0
    assert "ids are file:row" in errors
    status, output, _ = told(
        "dedup", essays / "mail.mbox", "--text", "subject", "--id", "none", "--dry-run", "--json"
    )
    assert status == 0
    assert json.loads(output)["counts"]["read"] == 2
