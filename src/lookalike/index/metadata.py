"""What is known of a document beside its text: named values, each field of one type.

A value is a text, a whole number of 64 bits, a number, a truth, a date or a timestamp. Others come
as these do: NumPy's scalars, decimals, UTF-8 in bytes. None, NaN and their like are missing, and
are not kept. Timestamps are moments: one without an offset is taken to be in UTC.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import DamagedError, SourceError
from lookalike.base.wording import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "Value",
    "decode",
    "encode",
    "encode_rows",
    "merged",
    "types_declared",
    "types_of",
    "values_of",
]

Value = str | int | float | bool | date | datetime

GOOD = "give a text, a number, true or false, a date or a timestamp"
MOST_DIGITS = 19
"""Of a whole number of 64 bits."""
SMALLEST, LARGEST = -(2**63), 2**63 - 1
WRITTEN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
TYPES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    date: "date",
    datetime: "timestamp",
}


class _NoValueError(ValueError):
    """What cannot be a value; its text says why, after the name of the field."""


def values_of(id: object, given: Mapping[str, Any]) -> dict[str, Value]:
    """Give the values of a document, without missing ones, and refuse what is none."""
    found: dict[str, Value] = {}
    for name, raw in given.items():
        if not isinstance(name, str) or not _is_unicode(name):
            raise SourceError(
                f"the metadata of document {quoted(id)} has a field {quoted(name)}: "
                "the name of a field is a text"
            )
        try:
            value = _value(raw)
        except _NoValueError as error:
            raise SourceError(
                f"the metadata {quoted(name)} of document {quoted(id)} {error}"
            ) from None
        if value is not None:
            found[name] = value
    return found


def types_of(values: Mapping[str, Value]) -> dict[str, str]:
    """Name the types of values, as `values_of` gives them."""
    return {name: TYPES[type(value)] for name, value in values.items()}


def types_declared(columns: Mapping[str, pa.DataType]) -> dict[str, str]:
    """Name the types of columns by their declared types, of those that tell."""
    found = {}
    for name, declared in columns.items():
        kind = declared.value_type if pa.types.is_dictionary(declared) else declared
        for holds, told in DECLARED:
            if holds(kind):
                found[name] = told
                break
    return found


def merged(types: Mapping[str, str], new: Mapping[str, str], id: object) -> dict[str, str]:
    """Join the types of fields with those of one more document.

    Whole numbers may stand among numbers; every other difference is refused. The id is None where
    the types are those of many documents.
    """
    found = dict(types)
    for name, came in new.items():
        was = found.setdefault(name, came)
        if was == came:
            continue
        if {was, came} != {"integer", "number"}:
            of = "" if id is None else f" of document {quoted(id)}"
            raise SourceError(
                f"the metadata {quoted(name)}{of} is of the type {came}, and that of documents "
                f"before it of the type {was}: give all of them one type"
            )
        found[name] = "number"
    return found


def encode(values: Mapping[str, Value | None]) -> str | None:
    """Write values as an object of JSON, its keys sorted; None where there are none.

    Dates and timestamps are texts whose order is that of time.
    """
    there = {
        name: _encoded(value) if isinstance(value, date) else value
        for name, value in sorted(values.items())
        if value is not None
    }
    if not there:
        return None
    return WRITTEN.encode(there)


def decode(text: str | None, types: Mapping[str, str]) -> dict[str, Value]:
    """Give values again as they were, by the types of their fields."""
    if text is None:
        return {}
    try:
        return {name: _decoded(one, types.get(name)) for name, one in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise DamagedError(
            f"the index is damaged, the metadata {quoted(text)} is not what was added: restore a "
            "copy of it, or make it again"
        ) from None


def encode_rows(
    ids: Sequence[object], columns: Mapping[str, Any], types: Mapping[str, str]
) -> tuple[list[str | None], dict[str, str]]:
    """Write the metadata of many documents, given by columns, and join their types with others."""
    joined = dict(types)
    written = []
    for id, row in zip(ids, _rows(ids, columns), strict=True):
        values = values_of(id, row)
        new = types_of(values)
        if not new.items() <= joined.items():
            joined = merged(joined, new, id)
        written.append(encode(values))
    return written, joined


def _rows(ids: Sequence[object], columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the rows of columns, be they of Arrow or anything that has an order."""
    if not columns:
        return ({} for _ in ids)
    listed = [_listed(name, column) for name, column in columns.items()]
    return (dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True))


def _listed(name: str, column: Any) -> Sequence[Any]:
    listed: Sequence[Any] = column
    if not hasattr(column, "to_pylist"):
        return listed
    try:
        if pa.types.is_timestamp(column.type):
            # Finer ones are no timestamps of Python, and zones would have to be known here.
            zone = None if column.type.tz is None else "UTC"
            column = column.cast(pa.timestamp("us", zone), safe=column.type.unit != "ns")
        listed = column.to_pylist()
    except (ValueError, OverflowError):
        raise SourceError(
            f"the metadata {quoted(name)} has dates before the year 1 or after 9999: correct them"
        ) from None
    return listed


def _value(raw: Any) -> Value | None:
    """Give a scalar as one of the six types, or None where it is missing."""
    if raw is None:
        return None
    if type(raw) in CONVERSIONS:
        return CONVERSIONS[type(raw)](raw)
    if isinstance(raw, np.generic):
        raw = _of_numpy(raw)
    if raw is None or type(raw).__name__ == "NAType":
        return None
    for kind, converted in CONVERSIONS.items():
        if isinstance(raw, kind):
            return converted(raw)
    raise _NoValueError(f"is of the type {type(raw).__name__}: {GOOD}")


def _of_numpy(raw: np.generic) -> Any:
    if isinstance(raw, np.floating):
        return float(raw)
    if not isinstance(raw, np.datetime64):
        return raw.item()
    if np.isnat(raw):
        return None
    if np.datetime_data(raw)[0] in ("Y", "M", "W", "D"):
        found = raw.astype("datetime64[D]").item()
    else:
        found = raw.astype("datetime64[us]").item()
    if isinstance(found, int):
        raise _NoValueError("is before the year 1 or after 9999: correct it")
    return found


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(raw: str) -> str:
    if not _is_unicode(raw):
        raise _NoValueError(f"is no Unicode text, it holds a lone surrogate: {GOOD}")
    return str.__str__(raw)


def _of_bytes(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _NoValueError(f"is no text in UTF-8: {GOOD}") from None


def _of_decimal(raw: Decimal) -> float | int | None:
    if raw.is_nan():
        return None
    exponent = raw.as_tuple().exponent
    whole = isinstance(exponent, int) and exponent >= 0 and raw.adjusted() < MOST_DIGITS
    return _integer(int(raw)) if whole else _number(float(raw))


def _integer(raw: int) -> int:
    if not SMALLEST <= raw <= LARGEST:
        raise _NoValueError("is a whole number of more than 64 bits: give it as a text")
    return int(raw)


def _number(raw: float) -> float | None:
    if math.isnan(raw):
        return None
    if math.isinf(raw):
        raise _NoValueError("is an infinite number: leave it out, or give another")
    return float(raw)


def _timestamp(raw: datetime) -> datetime | None:
    if type(raw) is datetime and raw.tzinfo is UTC:
        return raw
    if raw != raw:  # noqa: PLR0124 - NaT of pandas
        return None
    # Those of pandas are finer, and refuse what Python's do.
    plain = datetime(
        *(raw.year, raw.month, raw.day, raw.hour, raw.minute, raw.second, raw.microsecond),
        tzinfo=raw.tzinfo,
        fold=raw.fold,
    )
    if plain.tzinfo is None:
        return plain.replace(tzinfo=UTC)
    try:
        return plain.astimezone(UTC)
    except OverflowError:
        raise _NoValueError("is before the year 1 or after 9999: correct it") from None


def _date(raw: date) -> date:
    return date(raw.year, raw.month, raw.day)


DECLARED: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    # Whole ones become whole numbers, which may stand among numbers.
    (pa.types.is_decimal, "number"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_string, "text"),
    (pa.types.is_large_string, "text"),
    (pa.types.is_string_view, "text"),
)
"""Types of Arrow, and those of their values; of null and others the values tell."""
CONVERSIONS: dict[type, Callable[[Any], Value | None]] = {
    bool: bool,
    str: _text,
    bytes: _of_bytes,
    Decimal: _of_decimal,
    int: _integer,
    float: _number,
    datetime: _timestamp,
    date: _date,
}
"""In this order: a truth is a whole number to Python, and a timestamp a date."""


def _encoded(value: date) -> str:
    if isinstance(value, datetime):
        # Always to the microsecond, so that texts have the order of time.
        return f"{value.astimezone(UTC).isoformat(timespec='microseconds')[:-6]}Z"
    return value.isoformat()


def _decoded(value: Any, kind: str | None) -> Value:
    if kind == "timestamp":
        return datetime.fromisoformat(value)
    if kind == "date":
        return date.fromisoformat(value)
    if type(value) not in TYPES:
        raise TypeError(type(value).__name__)
    # A writer that came later may know of more than this reader does.
    return float(value) if kind == "number" else value
