"""The columns of the input in a page: labels, dates, and others to filter by."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import count, quoted, setting
from lookalike.settings.options import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.reports.found import Key
    from lookalike.reports.model import Value

__all__ = ["Fields", "date_text"]

MAX_COLUMNS = 30
MAX_CHARACTERS = 200
"""Of a value in a column that is shown; a longer one is cut."""
DAY = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?$")
YEARS = range(1000, 10_000)


@dataclass
class Fields:
    """What the columns of the input say of each document."""

    label: str | None
    date: str | None
    labels: dict[Key, str] = field(default_factory=dict)
    dates: dict[Key, str] = field(default_factory=dict)
    columns: dict[str, dict[Key, Value]] = field(default_factory=dict)
    not_dates: list[Any] = field(default_factory=list)
    """Values in the column of dates that are none."""
    seen: set[str] = field(default_factory=set)
    """The columns that there are."""
    left_out: set[str] = field(default_factory=set)

    def add(self, keys: Mapping[int, Key], columns: Mapping[str, Any]) -> None:
        """Take in the columns of some documents, which stand in the given rows."""
        self.seen |= set(columns)
        for name, column in columns.items():
            self._column(name, column, keys)
        if self.label == FOLDER and FOLDER not in columns:
            for key in keys.values():
                above = PurePosixPath(str(key[1])).parts[:-1]
                if above:
                    self.labels[key] = above[0]

    def _column(self, name: str, column: Any, keys: Mapping[int, Key]) -> None:
        found: dict[Key, Any] = {}
        for row, key in keys.items():
            value = column[row]
            found[key] = value.as_py() if hasattr(value, "as_py") else value
        if name == self.date:
            for key, value in found.items():
                self._date(key, value)
        if name == self.label:
            labels = {key: _plain(value) for key, value in found.items()}
            self.labels |= {
                key: str(label) for key, label in labels.items() if label not in (None, "")
            }
        # What is shown as the name is no column beside it.
        if name in (self.label, self.date) or all(v == key[1] for key, v in found.items()):
            return
        if name not in self.columns and len(self.columns) >= MAX_COLUMNS:
            self.left_out.add(name)
            return
        plain = {key: _plain(value) for key, value in found.items() if _plain(value) is not None}
        if plain:
            self.columns.setdefault(name, {}).update(plain)

    def _date(self, key: Key, value: Any) -> None:
        if value is None or value == "":
            return
        text = date_text(value)
        if text is None:
            self.not_dates.append(value)
        else:
            self.dates[key] = text

    def check(self) -> None:
        """Refuse a column that there is not."""
        derived = FOLDER if self.labels else None
        for option in ("label", "date"):
            name = getattr(self, option)
            if name is None or name in self.seen or name == derived:
                continue
            listed = f"there are {', '.join(map(quoted, sorted(self.seen)))}"
            there = listed if self.seen else "the documents have no columns"
            raise SettingsError(
                f"{setting(option, name)}: the documents have no such column; {there}"
            )

    def sentences(self) -> list[str]:
        """Say what of the columns is not shown."""
        said = []
        if self.not_dates:
            values, first = count(len(self.not_dates), "value"), quoted(str(self.not_dates[0]))
            said.append(
                f"{values} of the column {quoted(self.date)} could not be read as a date, as "
                f"{first}: write dates as 2024-05-17."
            )
        if self.left_out:
            said.append(
                f"{count(len(self.left_out), 'column')} of the input are not in this page, which "
                f"has the first {MAX_COLUMNS}."
            )
        return said


def date_text(value: Any) -> str | None:
    """Write a date so that all of them sort as text, in UTC; None of what is no date."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        return str(value.isoformat(timespec="seconds")).removesuffix("T00:00:00")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, int):
        return str(value) if value in YEARS else None
    return _date_of_text(value.strip()) if isinstance(value, str) else None


def _date_of_text(text: str) -> str | None:
    if DAY.match(text):
        return text if _is_day(text) else None
    for read in (dt.datetime.fromisoformat, parsedate_to_datetime):
        try:
            return date_text(read(text))
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _is_day(text: str) -> bool:
    try:
        dt.date(*(int(part) for part in [*text.split("-"), "1", "1"][:3]))
    except ValueError:
        return False
    return True


def _plain(value: Any) -> Value:
    """Give a value of a cell that JSON can hold, or None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, (dt.date, dt.datetime)):
        return date_text(value)
    if isinstance(value, str):
        return value if len(value) <= MAX_CHARACTERS else f"{value[:MAX_CHARACTERS]}…"
    return None
