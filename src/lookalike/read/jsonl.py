"""JSON lines: blocks of them by Arrow, and one by one where Arrow and JSON might differ."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.read.blocks import units, width
from lookalike.read.encodings import not_text
from lookalike.read.fields import (
    MISSING,
    TEXT,
    TOKENS,
    WIDE_VECTORS,
    Choice,
    Kind,
    Path,
    Piece,
    ReadOptions,
    Rows,
    choose,
    from_rows,
    is_tokens,
    joined_texts,
    numbered,
    value_at,
)
from lookalike.read.files import Unread
from lookalike.read.streams import as_utf8, is_utf8
from lookalike.read.vectors import as_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lookalike.read.blocks import Block
    from lookalike.read.files import Shard

__all__ = ["choose_fields", "parse_lines"]

JSON_PROBLEMS = {
    "Unterminated string starting at": "a string begins there that does not end",
    "Invalid control character at": "a string holds a control character",
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or a bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Extra data": "something follows after its end",
}
"""What the parser says, in words that do not ask for the place after them."""
EXACT_INTEGERS = 2**53
"""Whole numbers below this are the same as floating-point ones."""


def parse_lines(
    shard: Shard,
    number: int,
    block: Block,
    encoding: str,
    choice: Choice | None,
    options: ReadOptions,
) -> Piece:
    """Read the documents of a block of lines."""
    if choice is not None and choice.schema is not None and options.columns is not None:
        piece = _by_arrow(shard, number, block, encoding, choice)
        if piece is not None:
            return piece
    return _one_by_one(shard, number, block, encoding, choice, options)


def _lines(shard: Shard, block: Block, encoding: str) -> Iterator[tuple[int, str, bytes]]:
    """Give number, place and bytes of each line, in its own encoding."""
    if width(encoding) == 1:
        lines: Sequence[bytes] = block.data.split(b"\n")
    else:
        ends = np.flatnonzero(units(block.data, encoding) == 10) * width(encoding)
        starts = [0, *(ends + width(encoding)).tolist()]
        stops = [*ends.tolist(), len(block.data)]
        lines = [block.data[a:b] for a, b in zip(starts, stops, strict=True)]
    for place, line in enumerate(lines):
        if line:
            yield block.first + place, f"{shard.name}:{block.first + place}", line


def _unit(shard: Shard) -> str:
    """Name what a record is: a line, but in an array of JSON."""
    return "line" if shard.kind == "jsonl" else "record"


def _decoded(line: bytes, encoding: str, where: str, sample: bytes | None, stored: str) -> str:
    """Decode a line, which may have been stored in another encoding than it is given in."""
    try:
        return line.decode(encoding).removeprefix("\ufeff").strip()
    except UnicodeDecodeError as error:
        raise not_text(where, error, stored, sample) from None


def _in_plain_words(message: str) -> str:
    """Say what is wrong at a place, where Python's own words go on with the place."""
    return JSON_PROBLEMS.get(message) or message[:1].lower() + message[1:].removesuffix(" at")


def _parsed(content: str, where: str, unit: str) -> dict[str, Any]:
    try:
        record = _loaded(content)
    except json.JSONDecodeError as error:
        raise SourceError(
            f"{where} is not valid JSON at column {error.colno}: {_in_plain_words(error.msg)}; "
            f"fix or remove the {unit}"
        ) from None
    except RecursionError:
        raise SourceError(f"{where} is JSON that cannot be read: too deeply nested") from None
    if not isinstance(record, dict):
        raise SourceError(f"{where} is not a JSON object: give one object a {unit}")
    return record


def _loaded(content: str) -> Any:
    """Read JSON, in which a whole number may have more digits than Python reads.

    That is infinite, as one with an exponent that is too large for a float. Reading each whole
    number by a function takes longer, and is left to texts that hold such a number.
    """
    try:
        return json.loads(content)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(content, parse_int=_whole)


def _whole(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def choose_fields(
    shard: Shard, blocks: Iterator[tuple[Block, str]], options: ReadOptions
) -> Choice | None:
    """Choose the fields by the first record that has them, and the kind by the first text."""
    choice: Choice | None = None
    for block, encoding in blocks:
        stored = options.encodings.of_table(shard.name, shard.path) or encoding
        for _, where, line in _lines(shard, block, encoding):
            try:
                sample = None if options.skip_bad else block.data
                content = _decoded(line, encoding, where, sample, stored)
                if not content:
                    continue
                record = _parsed(content, where, _unit(shard))
                if choice is None:
                    choice = _first_choice(record, options, where)
                values = [value_at(record, path) for path in choice.texts]
            except SourceError:
                if not options.skip_bad:
                    raise
                continue
            kind = _kind_of_all(values, options)
            if kind is not None:
                return replace(choice, kind=kind, schema=_schema(record, choice))
            missing = any(value is MISSING or value is None for value in values)
            if not missing and not options.skip_bad:
                return replace(choice, kind=choice.kind or "text")
    return choice


def _kind_of_all(values: Sequence[Any], options: ReadOptions) -> Kind | None:
    """Tell by the values of a record what documents are; several are joined, and are text."""
    if len(values) == 1:
        return _kind_of(values[0], options)
    return "text" if all(isinstance(value, str) for value in values) else None


def _kind_of(value: Any, options: ReadOptions) -> Kind | None:
    """Tell by a value what documents are, if it does."""
    if options.vector is not None:
        return "vectors" if isinstance(value, list) else None
    if isinstance(value, str):
        return "text"
    return "tokens" if is_tokens(value) else None


def _first_choice(record: Mapping[str, Any], options: ReadOptions, where: str) -> Choice:
    def find(name: str) -> Path | None:
        if name in record:
            return (name,)
        path = tuple(name.split("."))
        return path if value_at(record, path) is not MISSING else None

    try:
        (text, *more), id_path = choose(list(record), options, find)
    except SourceError as error:
        raise SourceError(f"{where}: {error.raw}") from None
    columns = {name: find(name) or (name,) for name in options.columns or ()}
    kind: Kind | None = None if options.vector is None else "vectors"
    return Choice(text, id_path, kind, columns, more=tuple(more))


def _one_by_one(
    shard: Shard,
    number: int,
    block: Block,
    encoding: str,
    choice: Choice | None,
    options: ReadOptions,
) -> Piece:
    known = choice or Choice(("text",), None, "text")
    rows = Rows(known, options.columns is None)
    broken: list[Unread] = []
    sample = None if options.skip_bad else block.data
    stored = options.encodings.of_table(shard.name, shard.path) or encoding
    for line_number, where, line in _lines(shard, block, encoding):
        try:
            content = _decoded(line, encoding, where, sample, stored)
            if not content:
                continue
            record = _record(content, where, _unit(shard), known)
            if choice is None:
                _first_choice(record, options, where)
            rows.add(record, line_number, where, shard.label)
        except SourceError as error:
            if not options.skip_bad:
                raise
            broken.append(Unread(shard.name, error.raw))
    return from_rows(rows, number, broken)


def _record(content: str, where: str, unit: str, choice: Choice) -> Mapping[str, Any]:
    """Read one line: it is bad where neither JSON nor Arrow takes it.

    Arrow takes Inf, deep nests and endless numbers in fields that nobody asked for; what it takes
    among others it must be given alone.
    """
    try:
        return _parsed(content, where, unit)
    except SourceError:
        found = _table(content.encode(), 1, choice) if choice.schema is not None else None
        if found is None:
            raise
        record: dict[str, Any] = found.to_pylist()[0]
        return record


def _by_arrow(
    shard: Shard, number: int, block: Block, encoding: str, choice: Choice
) -> Piece | None:
    """Read a block by Arrow; None where a document might differ from what JSON says it is."""
    try:
        data = as_utf8(block.data, encoding)
    except UnicodeDecodeError:
        return None
    table = _table(data, block.count, choice)
    if table is None:
        return None
    records = np.arange(block.first, block.first + block.count)
    ids = numbered(shard.label, records) if choice.id is None else _column(table, choice.id)
    return Piece(
        ids,
        joined_texts([_texts(_column(table, path), choice) for path in choice.texts]),
        np.full(block.count, number, np.int32),
        records,
        {name: _column(table, path) for name, path in choice.columns.items()},
    )


def _texts(column: pa.Array, choice: Choice) -> pa.Array:
    if choice.kind != "vectors":
        return column.cast(TOKENS if choice.kind == "tokens" else TEXT)
    vectors = as_vectors(column)
    numbers = pc.add(vectors.values, 0.0)  # without negative zeros, as one by one
    return pa.LargeListArray.from_arrays(vectors.offsets, numbers, type=WIDE_VECTORS)


def _table(data: bytes, lines: int, choice: Choice) -> pa.Table | None:
    """Give the columns chosen of a block in which every line is an object and nothing is null."""
    from pyarrow import json as arrow_json

    if not _are_objects(data) or not is_utf8(data):
        return None
    try:
        table = arrow_json.read_json(
            pa.BufferReader(data),
            arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            arrow_json.ParseOptions(
                explicit_schema=choice.schema, unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowException:
        return None
    if len(table) != lines or table.schema != choice.schema:
        return None
    for path in (*choice.texts, choice.id):
        if path is not None and _holds_nulls(_column(table, path)):
            return None
    for path in choice.columns.values():
        column = _column(table, path)
        if pa.types.is_floating(column.type):
            large = pc.any(pc.greater_equal(pc.abs(column), EXACT_INTEGERS))
            if large.as_py():
                return None
    return table


def _are_objects(data: bytes) -> bool:
    """Tell whether each line begins with { and ends with }.

    Such lines hold whole objects, as nowhere in JSON does { follow upon }. Then there are as many
    objects as lines only if there is one in each.
    """
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    if len(ends) and ends[-1] == len(codes) - 1:
        starts, lasts = ends[:-1] + 1, ends - 1
    else:
        starts, lasts = ends + 1, np.append(ends - 1, len(codes) - 1)
    if not len(codes) or codes[0] != ord("{") or lasts[0] < 0:
        return False
    lasts = lasts - (codes[lasts] == ord("\r"))
    return bool((codes[starts] == ord("{")).all() and (codes[lasts] == ord("}")).all())


def _column(table: pa.Table, path: Path) -> pa.Array:
    column = table[path[0]].combine_chunks()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    for name in path[1:]:
        column = pc.struct_field(column, name)
    return column


def _holds_nulls(column: pa.Array) -> bool:
    inner = column.flatten().null_count if pa.types.is_list(column.type) else 0
    return bool(column.null_count or inner)


def _schema(record: Mapping[str, Any], choice: Choice) -> pa.Schema | None:
    """Give the types that a record has, in nested form; None where Arrow has none."""
    kinds = {path: _kind(value_at(record, path)) for path in choice.columns.values()}
    if any(kind is None or pa.types.is_list(kind) for kind in kinds.values()):
        return None
    if choice.id is not None:
        kinds[choice.id] = _kind(value_at(record, choice.id))
        if kinds[choice.id] not in (pa.string(), pa.int64()):
            return None
    for path in choice.texts:
        kinds[path] = _kind(value_at(record, path))
    if choice.kind == "vectors":
        kinds[choice.text] = pa.list_(pa.float64())
    return None if None in kinds.values() else pa.schema(_nested(kinds))


def _kind(value: Any) -> pa.DataType | None:
    if isinstance(value, str):
        return pa.string()
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return pa.int64()
    if isinstance(value, float):
        return pa.float64()
    if isinstance(value, list) and value:
        kinds = {_kind(token) for token in value}
        kind = kinds.pop()
        return pa.list_(kind) if not kinds and kind in (pa.string(), pa.int64()) else None
    return None


def _nested(paths: Mapping[Path, pa.DataType]) -> list[pa.Field]:
    fields = []
    for name in dict.fromkeys(path[0] for path in paths):
        inner = {path[1:]: kind for path, kind in paths.items() if path[0] == name}
        fields.append(pa.field(name, inner.get(()) or pa.struct(_nested(inner))))
    return fields
