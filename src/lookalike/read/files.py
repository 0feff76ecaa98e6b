"""Folders of text files, text files and JSON lines."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.read.documents import (
    ID_NAMES,
    Documents,
    as_ids,
    check_text,
    listed,
    pick_column,
    pick_text_column,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["read_paths", "read_text"]

TEXT_FILES = (".txt", ".md")
LINE_FILES = (".jsonl", ".ndjson")
KINDS = f"a folder, {', '.join(TEXT_FILES)} or {', '.join(LINE_FILES)}"

JSON_KINDS = {dict: "an object", list: "a list", bool: "true or false", int: "a number"}


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a text file: UTF-8, with or without a byte order mark."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return _decode(data, str(path))


def _unreadable(path: object, error: Exception) -> SourceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return SourceError(f"{path} cannot be read: {reason}")


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{where} is not UTF-8 text at byte {error.start + 1}: "
            "convert it to UTF-8 or leave it out"
        ) from None


@dataclass
class _Gathered:
    """Documents as they are found, with where each stands."""

    ids: list[Any] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    columns: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, name: Any, text: str | None, place: str, columns: Mapping[str, Any]) -> None:
        check_text(text, place)
        self.ids.append(name)
        self.texts.append(text)
        self.places.append(place)
        self.columns.append(columns)


def read_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,
) -> Documents:
    """Read folders of text files, text files, and JSONL files; `-` is JSONL on standard input.

    Files of several sources are named with the path of their source.
    """
    found = _Gathered()
    several = len(paths) > 1
    for source in paths:
        name = os.fspath(source)
        try:
            _read_source(name, found, text, id, several=several)
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from None
    names = {key for columns in found.columns for key in columns}
    return Documents(
        as_ids(found.ids, lambda place: found.places[place]),
        pa.array(found.texts, pa.large_string()),
        {key: [columns.get(key) for columns in found.columns] for key in sorted(names)},
        dict(found.skipped),
        tuple(found.notes),
    )


def _read_source(
    name: str, found: _Gathered, text: str | None, id_name: str | None, *, several: bool
) -> None:
    path = Path(name)
    kind = path.suffix.lower()
    if name == "-":
        if sys.stdin is None:
            raise SourceError("standard input is closed: pipe JSONL to it, or name a file")
        _read_lines(sys.stdin.buffer, name, name, found, text, id_name)
    elif path.is_dir():
        _read_folder(path, found, prefix=f"{path.as_posix()}/" if several else "")
    elif not path.exists() and not path.is_symlink():
        raise SourceError(f"{name} does not exist: give {KINDS}")
    elif kind in LINE_FILES:
        with path.open("rb") as lines:
            label = path.as_posix() if several else path.name
            _read_lines(lines, name, label, found, text, id_name)
    elif kind in TEXT_FILES:
        found.add(_named(path.as_posix()), read_text(path), name, {})
    else:
        raise SourceError(f"{name} is of a kind that cannot be read: give {KINDS}")


def _named(name: str) -> str:
    """Refuse a file name that is no Unicode text: it could be no id."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise SourceError(f"the file name {shown} is not UTF-8: rename the file") from None
    return name


def _read_folder(folder: Path, found: _Gathered, prefix: str) -> None:
    for path in _files(folder, found):
        if path.suffix.lower() not in TEXT_FILES:
            found.skipped[f"not {' or '.join(TEXT_FILES)}"] += 1
        elif path.exists() and not path.is_file():
            found.skipped["not a file"] += 1
        else:
            name = _named(path.relative_to(folder).as_posix())
            found.add(f"{prefix}{name}", read_text(path), str(path), {})


def _files(folder: Path, found: _Gathered) -> Iterator[Path]:
    """Give the files below a folder, sorted; hidden ones and links to folders are counted."""

    def refuse(error: OSError) -> None:
        raise _unreadable(error.filename, error)

    for place, folders, files in os.walk(folder, onerror=refuse):
        found.skipped["hidden"] += sum(name.startswith(".") for name in (*folders, *files))
        seen = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in seen if Path(place, name).is_symlink()]
        found.skipped["link to a folder"] += len(links)
        folders[:] = [name for name in seen if name not in links]
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(place, name)
    found.skipped = +found.skipped


def _read_lines(
    lines: Iterable[bytes],
    name: str,
    label: str,
    found: _Gathered,
    text: str | None,
    id_name: str | None,
) -> None:
    text_name: str | None = None
    id_column: str | None = None
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        content = _decode(line, where).strip()
        if not content:
            continue
        record = _parse(content, where)
        if text_name is None:
            text_name, id_column = _line_columns(list(record), text, id_name, where)
            if text is None or id_name is None:
                named = f"the ids from {id_column!r}" if id_column else "ids are file:line"
                found.notes.append(f"{name}: the text is taken from {text_name!r}, {named}")
        for wanted in (text_name, id_column):
            if wanted is not None and wanted not in record:
                raise SourceError(
                    f"{where} has no field {wanted!r}: there are {listed(list(record))}"
                )
        value = record[text_name]
        if value is not None and not isinstance(value, str):
            kind = JSON_KINDS.get(type(value), "a number")
            raise SourceError(f"{where}: field {text_name!r} is {kind}, not text")
        key = record[id_column] if id_column is not None else f"{label}:{number}"
        if isinstance(key, (dict, list)) or key is None:
            raise SourceError(f"{where}: the id in {id_column!r} is not a number or a string")
        rest = {name: entry for name, entry in record.items() if name != text_name}
        found.add(key, value, where, rest)


def _parse(content: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(content)
    except json.JSONDecodeError as error:
        raise SourceError(
            f"{where} is not valid JSON at column {error.colno}: {error.msg}; "
            "mend or remove the line"
        ) from None
    except (RecursionError, ValueError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else error
        raise SourceError(f"{where} is JSON that cannot be read: {reason}") from None
    if not isinstance(record, dict):
        raise SourceError(f"{where} is not a JSON object: give one object a line")
    return record


def _line_columns(
    names: Sequence[str], text: str | None, id_name: str | None, where: str
) -> tuple[str, str | None]:
    try:
        return pick_text_column(names, text), pick_column(names, id_name, ID_NAMES, "id")
    except SourceError as error:
        raise SourceError(f"{where}: {error}") from None
