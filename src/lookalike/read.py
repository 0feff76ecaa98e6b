"""Folders, files, JSONL, lists and columns to documents: an id and a text each."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import SourceError

__all__ = ["Documents", "read", "read_paths", "read_text"]

TEXT_FILES = (".txt", ".md")
LINE_FILES = (".jsonl", ".ndjson")
TEXT_NAMES = ("text", "content", "body")
ID_NAMES = ("id", "doc_id", "url")


@dataclass(frozen=True)
class Documents:
    """What was read: an id and a text for each document, in the order of the source."""

    ids: pa.Array
    """int64 where all are whole numbers, else strings."""
    texts: pa.Array
    """Large strings; null where there is none."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Other columns of the source by name, for keep policies."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many files were passed over, by reason."""
    notes: tuple[str, ...] = ()
    """What the reader chose by itself, for the user to see."""

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.texts)

    def ranks(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Give each document the place of its id among all, sorted."""
        import pyarrow.compute as pc

        ranks = np.empty(len(self.ids), np.int64)
        ranks[pc.array_sort_indices(self.ids).to_numpy()] = np.arange(len(self.ids))
        return ranks


def read(source: Any, *, text: str | None = None, id: str | None = None) -> Documents:  # noqa: A002
    """Read a list or dict of texts, a column, a table or data frame, or a path.

    Of a list or a column the ids are the places, counted from 0; of a dict, its keys; of a pandas
    object, its index, unless `id` names a column.
    """
    if isinstance(source, (str, os.PathLike)):
        return read_paths([source], text=text, id=id)
    package = type(source).__module__.partition(".")[0]
    if package == "pandas":
        return _from_pandas(source, text, id)
    if package == "polars":
        source = source.to_arrow()
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        return _from_table(source, text, id)
    if text is not None or id is not None:
        raise SourceError(
            "text and id name columns of a table, a data frame or a JSONL file; "
            f"a {type(source).__name__} has none: leave them out"
        )
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        return Documents(_places(len(source)), _as_text(source, "the column"))
    if isinstance(source, Mapping):
        ids = _ids(list(source), lambda place: f"key {place + 1}")
        return Documents(ids, _strings(list(source.values()), list(source)))
    if isinstance(source, Iterable):
        texts = list(source)
        return Documents(_places(len(texts)), _strings(texts, range(len(texts))))
    raise SourceError(
        f"documents cannot be read from a {type(source).__name__}: give a list or dict of texts, "
        "an Arrow, pandas or polars column, a table, or a path"
    )


def _places(size: int) -> pa.Array:
    return pa.array(np.arange(size, dtype=np.int64))


def _strings(values: Sequence[Any], names: Sequence[Any]) -> pa.Array:
    """Make an Arrow column of Python strings, or say which is none."""
    try:
        return pa.array(values, pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        for name, value in zip(names, values, strict=True):
            if value is not None and not isinstance(value, str):
                raise SourceError(
                    f"document {name!r} is of type {type(value).__name__}, not text: "
                    "give strings, or None for an empty document"
                ) from None
            check_text(value, f"document {name!r}")
        raise


def check_text(value: str | None, where: str) -> None:
    """Refuse a string that is no Unicode text."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{where} holds a lone surrogate (U+{ord(error.object[error.start]):04X}) at character "
            f"{error.start + 1}, which is no Unicode text: mend or remove it"
        ) from None


def _as_text(column: Any, name: str) -> pa.Array:
    """Make one Arrow array of large strings of a column."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.null()):
        raise SourceError(f"{name} holds {column.type}, not text: name a column of strings")
    column = column.cast(pa.large_string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks else pa.array([], pa.large_string())
    return column


def _ids(values: Sequence[Any], where: Any) -> pa.Array:
    """Make a column of ids: whole numbers stay numbers, anything mixed is compared as text."""
    if all(type(value) is str for value in values):
        ids = _strings(values, values).cast(pa.string())
    elif all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        ids = pa.array(values, pa.int64())
    else:
        for place, value in enumerate(values):
            if value is None:
                raise SourceError(f"{where(place)} has no id: give every document one")
        ids = pa.array([str(value) for value in values], pa.string())
    _refuse_repeats(ids, where)
    return ids


def _refuse_repeats(ids: pa.Array, where: Any) -> None:
    if len(ids.unique()) == len(ids):
        return
    seen: dict[Any, int] = {}
    for place, value in enumerate(ids.to_pylist()):
        if value in seen:
            raise SourceError(
                f"id {value!r} stands twice, at {where(seen[value])} and at {where(place)}: "
                "give every document an id of its own, or name another id column"
            )
        seen[value] = place


def _pick(names: Sequence[str], given: str | None, likely: Sequence[str], what: str) -> str | None:
    """Find the column asked for, or a likely one."""
    if given is not None:
        if given not in names:
            raise SourceError(
                f"there is no column {given!r} for the {what}: there are {_list(names)}"
            )
        return given
    return next((name for name in likely if name in names), None)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:12])) or "none"
    return f"{shown}, …" if len(names) > 12 else shown


def _text_column(names: Sequence[str], text: str | None) -> str:
    chosen = _pick(names, text, TEXT_NAMES, "text")
    if chosen is None:
        raise SourceError(
            f"no column is named {', '.join(TEXT_NAMES)}: say which holds the text; "
            f"there are {_list(names)}"
        )
    return chosen


def _from_table(table: Any, text: str | None, id_name: str | None) -> Documents:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    names = table.column_names
    text_name = _text_column(names, text)
    id_column = _pick(names, id_name, ID_NAMES, "id")
    texts = _as_text(table[text_name], f"column {text_name!r}")
    if id_column is None:
        ids = _places(len(texts))
    else:
        ids = _ids(table[id_column].to_pylist(), lambda place: f"row {place + 1}")
    columns = {name: table[name] for name in names if name != text_name}
    return Documents(ids, texts, columns)


def _from_pandas(source: Any, text: str | None, id_name: str | None) -> Documents:
    index = source.index.tolist()
    if hasattr(source, "columns"):
        names = [str(name) for name in source.columns]
        text_name = _text_column(names, text)
        id_column = _pick(names, id_name, (), "id")
        labels = source[id_column].tolist() if id_column else index
        texts = pa.array(source[text_name], from_pandas=True)
        columns = {str(name): pa.array(source[name]) for name in names if name != text_name}
    else:
        text_name, labels, columns = str(source.name), index, {}
        texts = pa.array(source, from_pandas=True)
    ids = _ids(labels, lambda place: f"row {place + 1}")
    return Documents(ids, _as_text(texts, f"column {text_name!r}"), columns)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a text file: UTF-8, with or without a byte order mark."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from None
    return _decode(data, str(path))


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

    def note(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)


def read_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Documents:
    """Read folders of text files, text files, and JSONL files; `-` is JSONL on standard input."""
    found = _Gathered()
    for source in paths:
        name = os.fspath(source)
        if name == "-":
            _read_lines(sys.stdin.buffer, "-", found, text, id)
            continue
        path = Path(name)
        if path.is_dir():
            _read_folder(path, found, prefix=f"{path.as_posix()}/" if len(paths) > 1 else "")
        elif not path.exists():
            raise SourceError(f"{name} does not exist: give a folder, a text file or a JSONL file")
        elif path.suffix.lower() in LINE_FILES:
            try:
                with path.open("rb") as lines:
                    _read_lines(lines, name, found, text, id)
            except OSError as error:
                raise SourceError(f"{name} cannot be read: {error.strerror}") from None
        elif path.suffix.lower() in TEXT_FILES:
            found.add(path.as_posix(), read_text(path), name, {})
        else:
            raise SourceError(
                f"{name} is of a kind that cannot be read: "
                f"give a folder, {', '.join(TEXT_FILES)} or {', '.join(LINE_FILES)}"
            )
    names = {key for columns in found.columns for key in columns}
    return Documents(
        _ids(found.ids, lambda place: found.places[place]),
        pa.array(found.texts, pa.large_string()),
        {key: [columns.get(key) for columns in found.columns] for key in sorted(names)},
        dict(found.skipped),
        tuple(found.notes),
    )


def _read_folder(folder: Path, found: _Gathered, prefix: str) -> None:
    for path in _files(folder, found):
        kind = path.suffix.lower()
        if kind not in TEXT_FILES:
            found.skipped[f"not {' or '.join(TEXT_FILES)}"] += 1
            continue
        found.add(f"{prefix}{path.relative_to(folder).as_posix()}", read_text(path), str(path), {})


def _files(folder: Path, found: _Gathered) -> Iterator[Path]:
    """Give the files below a folder, sorted, without the hidden ones."""

    def refuse(error: OSError) -> None:
        raise SourceError(f"{error.filename} cannot be read: {error.strerror}")

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith("."):
                found.skipped["hidden"] += 1
            else:
                yield Path(place, name)


def _read_lines(
    lines: Iterable[bytes], name: str, found: _Gathered, text: str | None, id_name: str | None
) -> None:
    file = Path(name).name
    text_name: str | None = None
    id_column: str | None = None
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            record = json.loads(_decode(line, where))
        except json.JSONDecodeError as error:
            raise SourceError(
                f"{where} is not valid JSON at column {error.colno}: {error.msg}; "
                "mend or remove the line"
            ) from None
        if not isinstance(record, dict):
            raise SourceError(f"{where} is not a JSON object: give one object a line")
        if text_name is None:
            text_name, id_column = _line_columns(list(record), text, id_name, where)
            named = f"the ids from {id_column!r}" if id_column else "ids are file:line"
            if text is None or (id_name is None and id_column is None):
                found.note(f"{name}: the text is taken from {text_name!r}, {named}")
        for wanted in (text_name, id_column):
            if wanted is not None and wanted not in record:
                raise SourceError(
                    f"{where} has no field {wanted!r}: there are {_list(list(record))}"
                )
        value = record[text_name]
        if value is not None and not isinstance(value, str):
            raise SourceError(
                f"{where}: field {text_name!r} is a JSON {type(value).__name__}, not text"
            )
        label = record[id_column] if id_column is not None else f"{file}:{number}"
        if isinstance(label, (dict, list)) or label is None:
            raise SourceError(f"{where}: the id in {id_column!r} is not a number or a string")
        rest = {key: entry for key, entry in record.items() if key != text_name}
        found.add(label, value, where, rest)


def _line_columns(
    names: Sequence[str], text: str | None, id_name: str | None, where: str
) -> tuple[str, str | None]:
    try:
        return _text_column(names, text), _pick(names, id_name, ID_NAMES, "id")
    except SourceError as error:
        raise SourceError(f"{where}: {error}") from None
