"""Small files of every kind that holds a document, written by hand as the formats have them."""

from __future__ import annotations

import io
import json
import zipfile
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

XML = '<?xml version="1.0" encoding="UTF-8"?>'
TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Pack parts into a zip file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return data.getvalue()


def with_part(data: bytes, name: str, content: str | bytes) -> bytes:
    """Put another content in the place of a part."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts: dict[str, str | bytes] = {one: packed.read(one) for one in packed.namelist()}
    return zipped({**parts, name: content})


def odt(body: str, **parts: str) -> bytes:
    """Make an OpenDocument text of the markup of its body."""
    content = (
        f'{XML}<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" '
        'xmlns:draw="d" xmlns:svg="s" xmlns:dc="c"><office:body>'
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zipped({"mimetype": "x", "content.xml": content, **parts})


def _relations(listed: Sequence[tuple[str, str]]) -> str:
    found = "".join(
        f'<Relationship Id="r{place}" Type="{TYPES}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(listed)
    )
    return f"{XML}<Relationships>{found}</Relationships>"


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None) -> bytes:
    """Make a presentation of the markup of its slides; the parts are in another order."""
    notes = notes or {}
    names = [f"slides/slide{len(slides) - place}.xml" for place in range(len(slides))]
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(len(slides)))
    parts = {
        "_rels/.rels": _relations([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": f'{XML}<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>'
        f"{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations([("slide", name) for name in names]),
    }
    for place, (name, slide) in enumerate(zip(names, slides, strict=True)):
        around = 'xmlns:p="p" xmlns:a="a" xmlns:mc="mc"'
        parts[f"ppt/{name}"] = f"{XML}<p:sld {around}>{slide}</p:sld>"
        if place in notes:
            listing = name.replace("slides/", "slides/_rels/")
            note = f"notesSlides/note{place}.xml"
            parts[f"ppt/{listing}.rels"] = _relations([("notesSlide", f"../{note}")])
            parts[f"ppt/{note}"] = f"{XML}<p:notes {around}>{notes[place]}</p:notes>"
    return zipped(parts)


def shape(*paragraphs: str) -> str:
    """Make the markup of a shape with a run of text a paragraph."""
    return "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)


def epub(chapters: Mapping[str, str | bytes], **parts: str) -> bytes:
    """Make a book of the pages of its chapters, by their names below the folder of the book."""
    items = "".join(
        f'<item id="c{place}" href="{name}" media-type="application/xhtml+xml"/>'
        for place, name in reversed([*enumerate(chapters)])
    )
    spine = "".join(f'<itemref idref="c{place}"/>' for place in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": f"{XML}<container><rootfiles>"
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": f"{XML}<package><manifest>{items}"
            '<item id="css" href="a.css" media-type="text/css"/></manifest>'
            f'<spine>{spine}<itemref idref="css"/></spine></package>',
            **{f"OEBPS/{name.replace('%20', ' ')}": page for name, page in chapters.items()},
            **parts,
        }
    )


def notebook(*cells: tuple[str, Any]) -> bytes:
    """Make a notebook of cells, each a kind and a source."""
    found = [
        {"cell_type": kind, "source": source, "outputs": [{"text": "PUT OUT"}], "metadata": {}}
        for kind, source in cells
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4}).encode()


def message(subject: str, text: str, **headers: str) -> bytes:
    """Make a message of one part."""
    found = EmailMessage()
    found["Subject"] = subject
    for name, value in headers.items():
        found[name.replace("_", "-")] = value
    found.set_content(text)
    return found.as_bytes()


def mailbox(*messages: bytes) -> bytes:
    """Put messages one after the other, as a mailbox does."""
    begin = b"From someone@example.org Mon Jan  1 00:00:00 2024\n"
    return b"".join(begin + one.rstrip(b"\n") + b"\n\n" for one in messages)


def xlsx(
    sheets: Mapping[str, str], strings: Sequence[str] = (), styles: str = "", workbook: str = ""
) -> bytes:
    """Make a workbook of the markup of the rows of its sheets."""
    names = [f"worksheets/sheet{place}.xml" for place in range(len(sheets))]
    listed = [("worksheet", name) for name in names]
    listed += [("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")]
    named = "".join(
        f'<sheet name="{name}" sheetId="{place + 1}" r:id="r{place}"/>'
        for place, name in enumerate(sheets)
    )
    parts = {
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'{XML}<workbook xmlns:r="r">{workbook}<sheets>{named}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": _relations(listed),
        "xl/sharedStrings.xml": f"{XML}<sst>{''.join(strings)}</sst>",
        "xl/styles.xml": f"{XML}<styleSheet>{styles}</styleSheet>",
    }
    for name, rows in zip(names, sheets.values(), strict=True):
        parts[f"xl/{name}"] = f"{XML}<worksheet><sheetData>{rows}</sheetData></worksheet>"
    return zipped(parts)


def rows_of(*rows: Sequence[str], first: int = 1) -> str:
    """Make the markup of rows of texts; an empty one is no cell."""
    found = ""
    for number, row in enumerate(rows, first):
        cells = "".join(
            f'<c r="{chr(65 + place)}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
            for place, text in enumerate(row)
            if text
        )
        found += f'<row r="{number}">{cells}</row>'
    return found


def rtf(body: str) -> bytes:
    """Make an RTF file of its body."""
    return ("{\\rtf1\\ansi\\ansicpg1252\\deff0 " + body + "}").encode("ascii")
