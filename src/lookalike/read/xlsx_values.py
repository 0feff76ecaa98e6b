"""What the cells of a workbook show: numbers as they are written, dates in a form that sorts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lookalike.read.markup import local, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Dates", "dates_of", "number_text", "unescaped"]

DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Those that every program knows by their numbers."""
LITERALS = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?')
"""What stands in a format for itself, and is no letter of a date."""
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
EXACT = 10**15
"""Whole numbers from here on are not exact in a workbook."""
DAY_MILLISECONDS = 24 * 60 * 60 * 1000
FICTIONAL_DAY = 60
"""29 February 1900, which workbooks count and no calendar has."""


def unescaped(text: str) -> str:
    """Give the characters that XML cannot hold and workbooks write by their numbers."""
    if "_x" not in text:
        return text
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def number_text(value: str) -> str:
    """Write a number as people do: 3 for 3.0, 0.1 for 0.10000000000000001."""
    try:
        number = float(value)
    except ValueError:
        return value
    if number.is_integer() and abs(number) < EXACT:
        return str(int(number))
    return repr(number)


@dataclass(frozen=True)
class Dates:
    """Which styles of cells make dates of numbers, and from which day on they count."""

    styles: frozenset[int] = frozenset()
    from_1904: bool = False

    def text(self, value: str) -> str:
        """Write a number as a date, a time or both; as a number where it is none."""
        try:
            days = float(value)
            since = timedelta(milliseconds=round(days * DAY_MILLISECONDS))
            if self.from_1904:
                begin = datetime(1904, 1, 1)
            else:
                begin = datetime(1899, 12, 31 if days < FICTIONAL_DAY else 30)
            moment = begin + since
        except (ValueError, OverflowError):
            return number_text(value)
        if days < 0:
            return number_text(value)
        time = moment.time().isoformat("milliseconds" if moment.microsecond else "seconds")
        if days < 1:
            return time
        return moment.date().isoformat() if days.is_integer() else f"{moment.date()} {time}"


@dataclass
class _Styles:
    codes: dict[str, str] = field(default_factory=dict)
    formats: list[str] = field(default_factory=list)
    _in_cells: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        plain = local(name)
        if plain == "numFmt":
            self.codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif plain == "cellXfs":
            self._in_cells = True
        elif plain == "xf" and self._in_cells:
            self.formats.append(attributes.get("numFmtId", "0"))

    def end(self, name: str) -> None:
        if local(name) == "cellXfs":
            self._in_cells = False

    def text(self, data: str) -> None: ...


def dates_of(styles: bytes | None, *, from_1904: bool) -> Dates:
    """Learn from the styles of a workbook which of them are of dates."""
    found = _Styles()
    if styles is not None:
        parse(styles, found)
    dates = {code for code, shown in found.codes.items() if _is_date(shown)}
    dates |= {str(code) for code in DATE_FORMATS - {*map(_number, found.codes)}}
    return Dates(
        frozenset(place for place, code in enumerate(found.formats) if code in dates), from_1904
    )


def _number(code: str) -> int:
    return int(code) if code.isdecimal() else -1


def _is_date(shown: str) -> bool:
    return bool(re.search("[dmyhs]", LITERALS.sub("", shown.partition(";")[0]).lower()))
