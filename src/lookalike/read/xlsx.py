"""XLSX: the rows of the sheets of a workbook, read some at a time."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.base.memory import size
from lookalike.read.document_text import sound
from lookalike.read.markup import elements, local, parse_pieces
from lookalike.read.office_parts import main_part, relation_id, relations
from lookalike.read.xlsx_values import dates_of, number_text, unescaped
from lookalike.read.zip_parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lookalike.read.streams import Bounds

__all__ = ["MAX_ROWS", "Cell", "Sheet", "Workbook"]

MAX_ROWS, MAX_COLUMNS = 1 << 20, 1 << 14
"""Of a sheet, in every program."""
PIECE_BYTES = 1 << 16


class Cell(NamedTuple):
    """A cell as it is stored."""

    kind: str
    """`s` for a string that cells share, `inlineStr`, `str`, `b`, `e`, `d`; `n` for a number."""
    value: str
    is_date: bool = False


class Sheet(NamedTuple):
    """A sheet of a workbook."""

    name: str
    part: str


class Workbook:
    """A workbook: its sheets, and what all of them share."""

    def __init__(self, file: Any, name: str, bounds: Bounds) -> None:
        """List the sheets; no row is read yet."""
        self._parts, self._name, self._bounds = Parts(file, name, bounds), name, bounds
        main = main_part(self._parts)
        known = relations(self._parts, main)
        of_kind = {relation.kind: relation.part for relation in known.values()}
        listed = elements(self._parts.read(main), "sheet", "workbookPr")
        sheets = [
            (one.get("name", ""), relation_id(one)) for kind, one in listed if kind == "sheet"
        ]
        if any(number not in known for _, number in sheets):
            raise ValueError("it lists a sheet that is not there")
        found = {
            known[number].part: called
            for called, number in sheets
            if known[number].kind == "worksheet"  # others are charts, and macros of before 1995
        }
        self.sheets = [Sheet(called, part) for part, called in found.items()]
        properties = [one for kind, one in listed if kind == "workbookPr"]
        from_1904 = any(one.get("date1904") in ("1", "true") for one in properties)
        styles = of_kind.get("styles")
        self._dates = dates_of(self._parts.read(styles) if styles else None, from_1904=from_1904)
        self._strings = _Strings(name, bounds)
        if "sharedStrings" in of_kind:
            for _ in self._parsed(of_kind["sharedStrings"], self._strings):
                pass

    def rows(self, sheet: Sheet) -> Iterator[tuple[int, dict[int, Cell]]]:
        """Give the number of each row that holds anything, from 1, and its cells by column."""
        found = _Rows(self._dates.styles, self._name, self._bounds)
        for _ in self._parsed(sheet.part, found):
            yield from found.rows
            found.rows.clear()

    def text(self, cell: Cell) -> str:
        """Give what a cell shows."""
        if cell.kind == "s":
            return sound(unescaped(self._strings[cell.value]))
        if cell.kind in ("inlineStr", "str"):
            return sound(unescaped(cell.value))
        if cell.kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(cell.value, cell.value)
        if cell.kind == "n":
            return self._dates.text(cell.value) if cell.is_date else number_text(cell.value)
        return cell.value

    def stored(self, cell: Cell) -> Cell:
        """Give a cell that does without what cells share."""
        return Cell("inlineStr", self._strings[cell.value]) if cell.kind == "s" else cell

    @property
    def counts_from_1904(self) -> bool:
        """Whether its dates count from 1904, not from 1900."""
        return self._dates.from_1904

    def _parsed(self, part: str, found: Any) -> Iterator[None]:
        return parse_pieces(self._parts.pieces(part, PIECE_BYTES), found, self._bounds.record // 4)


class _Strings:
    """The strings that cells share, side by side as bytes."""

    def __init__(self, name: str, bounds: Bounds) -> None:
        self._name, self._bounds = name, bounds
        self._text = bytearray()
        self._ends = array("q", [0])
        self._in_text = self._in_phonetic = False

    def __getitem__(self, place: str) -> str:
        number = int(place)
        if not 0 <= number < len(self._ends) - 1:
            raise ValueError(f"it has no shared string {number:,}")
        begin, end = self._ends[number : number + 2]
        return self._text[begin:end].decode("utf-8", "replace")

    def start(self, name: str, _: Mapping[str, str]) -> None:
        plain = local(name)
        self._in_text = plain == "t"
        if plain == "rPh":
            self._in_phonetic = True

    def end(self, name: str) -> None:
        plain = local(name)
        self._in_text = False
        if plain == "rPh":
            self._in_phonetic = False
        elif plain == "si":
            self._ends.append(len(self._text))
            self._check()

    def text(self, data: str) -> None:
        if self._in_text and not self._in_phonetic:
            self._text += data.encode()
            self._check()

    def _check(self) -> None:
        held = len(self._text) + len(self._ends) * self._ends.itemsize
        if held > self._bounds.part:
            what = f"{self._name} has {size(held)} of text that cells share"
            raise self._bounds.too_much(what, self._bounds.part)


class _Rows:
    """The rows of a sheet as they come."""

    def __init__(self, dates: frozenset[int], name: str, bounds: Bounds) -> None:
        self.rows: list[tuple[int, dict[int, Cell]]] = []
        self._name, self._bounds = name, bounds
        self._dates = {str(style) for style in dates}
        self._row, self._column, self._length = 0, 0, 0
        self._cells: dict[int, Cell] = {}
        self._kind, self._is_date = "n", False
        self._value = ""
        self._in_value = self._in_phonetic = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        plain = local(name)
        if plain in ("v", "t"):
            self._in_value = not self._in_phonetic
        elif plain == "c":
            self._column = _column(attributes.get("r"), self._column)
            self._kind = attributes.get("t", "n")
            self._is_date = attributes.get("s") in self._dates
            self._value = ""
        elif plain == "row":
            number = int(attributes.get("r", self._row + 1))
            if not self._row < number <= MAX_ROWS:
                raise ValueError(f"row {number:,} comes after row {self._row:,}")
            self._row, self._column, self._length, self._cells = number, 0, 0, {}
        elif plain == "rPh":
            self._in_phonetic = True

    def end(self, name: str) -> None:
        plain = local(name)
        if plain in ("v", "t"):
            self._in_value = False
        elif plain == "c":
            if self._value:
                self._cells[self._column] = Cell(self._kind, self._value, self._is_date)
        elif plain == "row":
            if self._cells:
                self.rows.append((self._row, self._cells))
        elif plain == "rPh":
            self._in_phonetic = False

    def text(self, data: str) -> None:
        if self._in_value:
            self._length += len(data)
            if self._length > self._bounds.record:
                raise self._bounds.too_long(f"row {self._row:,} of {self._name}")
            self._value += data


def _column(reference: str | None, before: int) -> int:
    """Give the number of a column, A being 1; the next where a cell does not say."""
    if reference is None:
        return before + 1
    number = _number_of(reference.rstrip("0123456789")[:4])
    if not 0 < number <= MAX_COLUMNS:
        raise ValueError(f"{reference[:20]} is no cell of a sheet")
    return number


@lru_cache(MAX_COLUMNS)
def _number_of(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z":
            return 0
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
