"""What a .json file holds, told by its first bytes: lines, one array, one object, or no records."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from lookalike.base.errors import SourceError
from lookalike.read.batches import NO_ID, as_names
from lookalike.read.encodings import head_encoding
from lookalike.read.fields import MISSING, choose, value_at

if TYPE_CHECKING:
    from lookalike.read.encoding_names import Encodings
    from lookalike.read.fields import Path, ReadOptions

__all__ = ["JsonContent", "json_content"]

BLANK = " \t\r\n"
ARRAY_MEMBER = re.compile(r'"((?:[^"\\]|\\.){1,200})"\s{0,100}:\s{0,100}\[\s{0,100}\{')
"""A member of an object that is an array of objects."""


@dataclass(frozen=True)
class JsonContent:
    """What the first bytes of a file tell."""

    form: Literal["lines", "array", "object", "nothing", "other"]
    first: Any = MISSING
    """The first record, where it is whole."""
    may_go_on: bool = False
    """More of the file is not known, and may hold the rest of the first record."""
    is_empty: bool = False
    """It is an array without records, as of a shard that none fell to."""
    is_alone: bool = False
    """The record is an object, and all that there is."""
    member: str = ""
    """Of an object: which member may hold the records."""

    def holds_records(self, options: ReadOptions) -> bool:
        """Tell whether the first record has the text, or the vector, that was asked for."""
        if self.is_empty:
            return True
        if self.first is MISSING:
            return self.may_go_on and self.form in ("lines", "array")
        if isinstance(self.first, str):
            return self.form == "array" and not as_names(options.text) and not options.vector
        if not isinstance(self.first, dict):
            return False
        record = self.first

        def find(name: str) -> Path | None:
            found = (name,) if name in record else tuple(name.split("."))
            return None if value_at(record, found) is MISSING else found

        try:
            # Whether it has the id that was asked for, it must say itself.
            texts, _ = choose(list(record), replace(options, id=NO_ID), find)
        except SourceError:
            return False
        named_by_user = options.text is not None or options.vector is not None
        return named_by_user or isinstance(value_at(record, texts[0]), str)


def json_content(head: bytes, encodings: Encodings, *, is_whole: bool) -> JsonContent:
    """Tell what a file holds by its first bytes; `is_whole` where there are no more."""
    encoding, mark = head_encoding(head, encodings)
    text = head[mark:].decode(encoding, "replace").lstrip(BLANK)
    if text[:1] != "{":
        return _no_object(text, is_whole=is_whole)
    first = _decoded(text)
    if first is None:
        return _broken_off(text, is_whole=is_whole)
    record, end = first
    line, _, rest = text[end:].partition("\n")
    if "\n" not in text[:end] and not line.strip(BLANK):
        alone = is_whole and not rest.strip(BLANK)
        member = _member(record) if alone else ""
        return JsonContent("lines", record, is_alone=alone, member=member)
    if text[end:].strip(BLANK):
        return JsonContent("lines" if "\n" not in text[:end] else "other", record)
    return JsonContent("object", record, is_alone=True, member=_member(record))


def _no_object(text: str, *, is_whole: bool) -> JsonContent:
    if text[:1] != "[":
        return JsonContent("other" if text else "nothing")
    inside = text[1:].lstrip(BLANK)
    first = _decoded(inside)
    may_go_on = not is_whole and inside[:1] in ("{", '"', "")
    is_empty = is_whole and inside.rstrip(BLANK) == "]"
    found = MISSING if first is None else first[0]
    return JsonContent("array", found, may_go_on=may_go_on, is_empty=is_empty)


def _broken_off(text: str, *, is_whole: bool) -> JsonContent:
    """Tell of an object that is not whole, by its first line."""
    line, newline, _ = text.partition("\n")
    found = ARRAY_MEMBER.search(text[: 1 << 16])
    member = found[1] if found else ""
    if not newline or line.rstrip().endswith("}"):
        return JsonContent("lines", may_go_on=not is_whole)
    return JsonContent("object", is_alone=True, member=member)


def _decoded(text: str) -> tuple[Any, int] | None:
    """Give the first value and where it ends; None where it is not whole."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None


def _member(record: Any) -> str:
    """Name the member of an object that is an array of objects, if one is."""
    return next(
        (
            name
            for name, value in record.items()
            if isinstance(value, list) and value and isinstance(value[0], dict)
        ),
        "",
    )
