"""Chosen rows of a workbook as a new one: what cells show, without formulas and looks."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from html import escape
from typing import IO, TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.read.document_text import refused_if_broken
from lookalike.read.streams import opened
from lookalike.read.xlsx import Workbook
from lookalike.read.xlsx_tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.read.fields import ReadOptions
    from lookalike.read.files import Shard
    from lookalike.read.xlsx import Cell, Sheet
    from lookalike.read.xlsx_tables import Table

__all__ = ["copy_workbook"]

BEGIN = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SCHEMAS = "http://schemas.openxmlformats.org"
MAIN = f'xmlns="{SCHEMAS}/spreadsheetml/2006/main"'
OFFICE = f"{SCHEMAS}/officeDocument/2006/relationships"
PACKAGE = f"{SCHEMAS}/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
RELATIONS = "application/vnd.openxmlformats-package.relationships+xml"
DATE_STYLE = 1
PLAIN = 'numFmtId="0" fontId="0" fillId="0" borderId="0"'
STYLES = (
    f"{BEGIN}<styleSheet {MAIN}>"
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    f'<cellStyleXfs count="1"><xf {PLAIN}/></cellStyleXfs>'
    f'<cellXfs count="2"><xf {PLAIN} xfId="0"/>'
    '<xf numFmtId="22" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
"""Those that every program expects, and one of dates with times."""
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every part, so that the same rows give the same bytes."""


def copy_workbook(
    shard: Shard, records: NDArray[np.int64], target: Path, options: ReadOptions
) -> None:
    """Write the chosen rows of the sheets that were read, below their headers, and all others.

    A workbook that loses no row is copied as it is, and of one that is damaged what was read of it.
    """
    with opened(shard) as stream:
        with refused_if_broken(shard.name, "XLSX"):
            book = Workbook(stream.whole(options.bounds), shard.name, options.bounds)
            tables = tables_of(shard, book, options)[0]
        rows, damage = _count(shard, book, tables)
        if rows > len(records) or damage:
            left = _write(shard, book, {table.place: table for table in tables}, records, target)
            if left and damage:
                raise damage
        stream.check()
    if rows == len(records) and not damage:
        with opened(shard) as stream, target.open("wb") as written:
            for piece in stream.rest():
                written.write(piece)


def _count(shard: Shard, book: Workbook, tables: Sequence[Table]) -> tuple[int, SourceError | None]:
    """Count the rows below headers, and say what is wrong further on, if anything is."""
    rows = 0
    try:
        with refused_if_broken(shard.name, "XLSX"):
            for table in tables:
                rows += sum(1 for _ in book.rows(table.sheet)) - 1
    except SourceError as error:
        return rows, error
    return rows, None


def _write(
    shard: Shard,
    book: Workbook,
    read: Mapping[int, Table],
    records: NDArray[np.int64],
    target: Path,
) -> set[int]:
    """Write rows, each sheet as far as it is whole, and give the records that are missing."""
    kept = set(records.tolist())
    done: set[int] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for place, sheet in enumerate(book.sheets):
            table = read.get(place)
            rows = _rows(shard, book, sheet)
            chosen: Iterable[dict[int, Cell]] = (cells for _, cells in rows)
            if table is not None:
                chosen = _chosen_rows(rows, table, kept, done)
            part = _info(f"xl/worksheets/sheet{place + 1}.xml")
            with written.open(part, "w", force_zip64=True) as to:
                _write_rows(to, chosen)
        for name, content in _other_parts([sheet.name for sheet in book.sheets], book):
            written.writestr(_info(name), content)
    return kept - done


def _chosen_rows(
    rows: Iterable[tuple[int, dict[int, Cell]]], table: Table, kept: set[int], done: set[int]
) -> Iterator[dict[int, Cell]]:
    """Give the header of a table and the kept rows, which are then done, as far as it is whole."""
    with suppress(SourceError):  # its reader met it, too
        for row, cells in rows:
            if row == table.header:
                yield cells
            elif table.before + row in kept:
                done.add(table.before + row)
                yield cells


def _rows(shard: Shard, book: Workbook, sheet: Sheet) -> Iterator[tuple[int, dict[int, Cell]]]:
    """Give the rows; what is wrong with them is not taken for an error of writing."""
    with refused_if_broken(shard.name, "XLSX"):
        yield from (
            (row, {at: book.stored(cell) for at, cell in cells.items()})
            for row, cells in book.rows(sheet)
        )


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _write_rows(to: IO[bytes], rows: Iterable[dict[int, Cell]]) -> None:
    to.write(f"{BEGIN}<worksheet {MAIN}><sheetData>".encode())
    for number, cells in enumerate(rows, 1):
        found = "".join(
            _cell(cell, f"{_letters(column)}{number}") for column, cell in sorted(cells.items())
        )
        to.write(f'<row r="{number}">{found}</row>'.encode())
    to.write(b"</sheetData></worksheet>")


def _cell(cell: Cell, place: str) -> str:
    value = escape(cell.value, quote=False)
    if cell.kind == "inlineStr":
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    kind = "" if cell.kind == "n" else f' t="{escape(cell.kind)}"'
    style = f' s="{DATE_STYLE}"' if cell.is_date and cell.kind == "n" else ""
    return f'<c r="{place}"{style}{kind}><v>{value}</v></c>'


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def _other_parts(names: Sequence[str], book: Workbook) -> Iterator[tuple[str, str]]:
    """Give the parts that tell where the sheets are."""
    places = range(1, len(names) + 1)
    sheets = "".join(
        f'<sheet name="{escape(name)}" sheetId="{place}" r:id="rId{place}"/>'
        for place, name in zip(places, names, strict=True)
    )
    since = '<workbookPr date1904="1"/>' if book.counts_from_1904 else ""
    yield (
        "xl/workbook.xml",
        f'{BEGIN}<workbook {MAIN} xmlns:r="{OFFICE}">{since}<sheets>{sheets}</sheets></workbook>',
    )
    relations = [(f"worksheets/sheet{place}.xml", "worksheet") for place in places]
    yield "xl/_rels/workbook.xml.rels", _relations([*relations, ("styles.xml", "styles")])
    yield "_rels/.rels", _relations([("xl/workbook.xml", "officeDocument")])
    yield "xl/styles.xml", STYLES
    kinds = {f"/xl/worksheets/sheet{place}.xml": "worksheet" for place in places}
    kinds |= {"/xl/workbook.xml": "sheet.main", "/xl/styles.xml": "styles"}
    overrides = "".join(
        f'<Override PartName="{part}" ContentType="{TYPES}.{kind}+xml"/>'
        for part, kind in kinds.items()
    )
    default = f'<Default Extension="rels" ContentType="{RELATIONS}"/>'
    begin = f'{BEGIN}<Types xmlns="{PACKAGE}/content-types">'
    yield "[Content_Types].xml", f"{begin}{default}{overrides}</Types>"


def _relations(listed: Sequence[tuple[str, str]]) -> str:
    found = "".join(
        f'<Relationship Id="rId{place}" Type="{OFFICE}/{kind}" Target="{part}"/>'
        for place, (part, kind) in enumerate(listed, 1)
    )
    return f'{BEGIN}<Relationships xmlns="{PACKAGE}/relationships">{found}</Relationships>'
