"""Which fields of a record are its text and its id, and how values become columns.

Where vectors are asked for, the text of a document is its vector.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.read.batches import (
    BETWEEN,
    ID_NAMES,
    NO_ID,
    TEXT_NAMES,
    as_names,
    check_markup,
    check_one_kind,
    check_text,
    id_array,
    is_missing,
    likely_name,
    listed,
)
from lookalike.read.encoding_names import Encodings
from lookalike.read.streams import ANY_MEMORY, Bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from lookalike.read.batches import Names, Position
    from lookalike.read.files import FileNote, Unread

__all__ = [
    "MISSING",
    "SPARSE",
    "TEXT",
    "TOKENS",
    "VECTORS",
    "WIDE_VECTORS",
    "Choice",
    "Kind",
    "Path",
    "Piece",
    "ReadOptions",
    "Rows",
    "as_column",
    "choose",
    "from_rows",
    "is_tokens",
    "is_vectors",
    "joined",
    "joined_columns",
    "joined_texts",
    "kind_of",
    "no_documents",
    "no_ids",
    "no_vectors",
    "not_joined",
    "numbered",
    "picked",
    "taken",
    "value_at",
]

Path = tuple[str, ...]
Kind = Literal["text", "tokens", "vectors"]
MISSING = object()
TEXT = pa.large_string()
TOKENS = pa.large_list(pa.large_string())
VECTORS = pa.large_list(pa.float32())
WIDE_VECTORS = pa.large_list(pa.float64())
SPARSE = pa.large_list(pa.struct([("index", pa.int64()), ("value", pa.float64())]))
"""Vectors of which only the numbers that are not zero are held, by rising index."""
NUMBERS = {pa.int64(), pa.float64()}
TAB_NAMES = {"tab": "\t", "\\t": "\t"}
"""How a tab is written where none can be typed."""
JSON_KINDS = {dict: "an object", list: "a list", bool: "true or false"}


@dataclass(frozen=True)
class ReadOptions:
    """What the user asked for."""

    text: Names
    id: str | None
    columns: tuple[str, ...] | None
    """None for all but the text."""
    skip_bad: bool
    vector: str | None = None
    bounds: Bounds = ANY_MEMORY
    encodings: Encodings = field(default_factory=Encodings)
    lines: bool = False
    """Each line of a text file is a document."""
    delimiter: str | None = None
    """Of the columns of CSV and TSV; None where the file tells."""
    no_header: bool = False
    """Records of CSV and TSV begin at once, and columns are named by their numbers."""
    markup: str | None = None
    """What the texts of records are written in."""
    main_text: bool = False
    """Of pages of HTML only the main text."""

    def __post_init__(self) -> None:
        """Refuse two names for what the documents are, a markup not known, and no delimiter."""
        check_one_kind(self.text, self.vector)
        check_markup(self.markup, self.vector)
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _one_character(self.delimiter))


def _one_character(given: Any) -> str:
    """Give what splits columns, which may be written out."""
    delimiter = TAB_NAMES.get(given, given) if isinstance(given, str) else ""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise SettingsError(
            f"{setting('delimiter', given)}: use one ASCII character other than a quote, as ; or "
            "|, or tab"
        )
    return delimiter


@dataclass(frozen=True)
class Choice:
    """Where the text, the id and the other columns of the records of a shard stand."""

    text: Path
    id: Path | None
    kind: Kind | None
    """What the text is; None where no record tells."""
    columns: Mapping[str, Path] = field(default_factory=dict)
    schema: pa.Schema | None = None
    """What Arrow shall look for in JSON, where the first record tells."""
    more: tuple[Path, ...] = ()
    """Fields that are joined to the text, each of texts."""
    is_whole: bool = False
    """The text is all of a record, which has no fields."""

    @property
    def texts(self) -> tuple[Path, ...]:
        """All fields of the text."""
        return (self.text, *self.more)

    def note(self, unit: str) -> str:
        """Say what was chosen."""
        if self.is_whole:
            return f"each element is a document, ids are file:{unit}"
        named = f"the ids from {quoted('.'.join(self.id))}" if self.id else f"ids are file:{unit}"
        what = "the vectors are" if self.kind == "vectors" else "the text is"
        fields = " and ".join(quoted(".".join(path)) for path in self.texts)
        return f"{what} taken from {fields}, {named}"


@dataclass(frozen=True)
class Piece:
    """Documents of one stretch of a corpus, and what was skipped in it."""

    ids: pa.Array
    texts: pa.Array
    shards: NDArray[np.int32]
    records: NDArray[np.int64]
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    broken: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()
    file_notes: tuple[FileNote, ...] = ()
    weight: int = 0
    next: Position = (0, 0, 0)
    read: int = 0

    def take(self, rows: NDArray[np.int64]) -> Piece:
        """Give some of the documents, in memory of their own."""
        return Piece(
            taken(self.ids, rows),
            taken(self.texts, rows),
            self.shards[rows],
            self.records[rows],
            {name: taken(column, rows) for name, column in self.columns.items()},
        )


def no_ids() -> pa.Array:
    """Give ids of no documents."""
    return pa.array([], pa.int64())


def no_documents(**noted: Any) -> Piece:
    """Make a piece without documents, for what else it notes."""
    empty = pa.array([], TEXT)
    return Piece(no_ids(), empty, np.empty(0, np.int32), np.empty(0, np.int64), **noted)


def numbered(label: str, records: NDArray[np.int64]) -> pa.Array:
    """Give ids of records that have none: the file and the number."""
    numbers = pa.array(records).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(label), numbers, ":")


def value_at(record: Any, path: Path) -> Any:
    """Follow a path into nested objects."""
    for name in path:
        if not isinstance(record, dict) or name not in record:
            return MISSING
        record = record[name]
    return record


def choose(
    names: Sequence[str],
    options: ReadOptions,
    find: Callable[[str], Path | None],
) -> tuple[tuple[Path, ...], Path | None]:
    """Choose the columns of the text and of the ids by what was asked for, else by likely names.

    `find` gives the path to a column by its name, or None.
    """

    def named(name: str, what: str) -> Path:
        path = find(name)
        if path is None:
            raise SourceError(
                f"there is no column {quoted(name)} for the {what}: there are {listed(names)}"
            )
        return path

    if options.vector is not None:
        text: tuple[Path, ...] = (named(options.vector, "vector"),)
    elif given := as_names(options.text):
        text = tuple(named(name, "text") for name in given)
    elif (likely := likely_name(names, TEXT_NAMES)) is not None:
        text = ((likely,),)
    else:
        raise SourceError(
            f"no column is named {', '.join(TEXT_NAMES)}: say which holds the text "
            f"({setting('text')}) or a vector ({setting('vector')}); there are {listed(names)}"
        )
    if options.id is None:
        likely = likely_name(names, ID_NAMES)
        return text, None if likely is None else (likely,)
    return text, None if options.id == NO_ID else named(options.id, "id")


def not_joined(name: str) -> SourceError:
    """Say that a column cannot be one of several that are joined."""
    return SourceError(
        f"column {quoted(name)} holds no text, and several columns are joined as text: name others "
        f"by {setting('text')}, or this one alone"
    )


def joined_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """Make one text of several fields, without those that are empty."""
    if len(columns) == 1:
        return columns[0]
    nothing, between = pa.scalar("", TEXT), pa.scalar(BETWEEN, TEXT)
    whole, *others = (pc.fill_null(column, nothing) for column in columns)
    for column in others:
        alone = pc.or_(pc.equal(whole, nothing), pc.equal(column, nothing))
        whole = pc.binary_join_element_wise(whole, column, pc.if_else(alone, nothing, between))
    return whole


def is_tokens(value: Any) -> bool:
    """Tell a list of tokens: strings and whole numbers."""
    return isinstance(value, list) and all(
        isinstance(token, (str, int)) and not isinstance(token, bool) for token in value
    )


def is_vectors(kind: pa.DataType) -> bool:
    """Tell the type of lists of floating-point numbers; that of sparse vectors is `SPARSE`."""
    return kind in (VECTORS, WIDE_VECTORS)


def kind_of(kind: pa.DataType) -> Literal["text", "tokens", "vectors", "sparse"]:
    """Tell by the type of what was read what documents are."""
    if kind == SPARSE:
        return "sparse"
    if is_vectors(kind):
        return "vectors"
    return "tokens" if kind == TOKENS else "text"


def no_vectors(name: str) -> SourceError:
    """Say that a file of text holds no vectors."""
    return SourceError(
        f"{name} is a file of text: vectors are read from Parquet, Arrow, ORC, JSON and .npy "
        f"files; give one of these, or leave out {setting('vector')}"
    )


@dataclass
class Rows:
    """Records as they are read one by one."""

    choice: Choice
    everything: bool
    ids: list[Any] = field(default_factory=list)
    texts: list[Any] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    columns: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, record: Mapping[str, Any], number: int, where: str, label: str) -> None:
        """Take what is asked for from a record, or say why it is bad."""
        choice = self.choice
        key = None if choice.id is None else _found(record, choice.id, where)
        values = [self._text(_found(record, path, where), path, where) for path in choice.texts]
        value = values[0] if not choice.more else BETWEEN.join(filter(None, values))
        if choice.id is None:
            key = f"{label}:{number}"
        elif isinstance(key, (dict, list, bool)) or is_missing(key):
            name = ".".join(choice.id)
            raise SourceError(f"{where}: the id in {quoted(name)} is not a number or a string")
        elif isinstance(key, float) and math.isinf(key):
            name = ".".join(choice.id)
            raise SourceError(
                f"{where}: the id in {quoted(name)} is too large a number: write it as a string"
            )
        elif isinstance(key, str):
            check_text(key, f"the id of {where}")
        self.ids.append(key)
        self.texts.append(value)
        self.numbers.append(number)
        if self.everything:
            self.columns.append({k: v for k, v in record.items() if (k,) not in choice.texts})
        else:
            found = {name: value_at(record, path) for name, path in choice.columns.items()}
            self.columns.append({k: None if v is MISSING else v for k, v in found.items()})

    def _text(self, value: Any, path: Path, where: str) -> Any:
        name = ".".join(path)
        if value is None:
            return None
        if self.choice.kind == "vectors":
            if not _is_vector(value):
                raise SourceError(
                    f"{where}: field {quoted(name)} is not a list of numbers: fix or remove it"
                )
            return [_number(number) for number in value]
        if self.choice.kind == "tokens":
            if not is_tokens(value):
                raise SourceError(
                    f"{where}: field {quoted(name)} is not a list of strings or whole numbers, "
                    "as those before: fix or remove it"
                )
            tokens = [str(token) for token in value]
            for token in tokens:
                check_text(token, where)
            return tokens
        if not isinstance(value, str):
            kind = JSON_KINDS.get(type(value), "a number")
            raise SourceError(f"{where}: field {quoted(name)} is {kind}, not text")
        check_text(value, where)
        return value


def _found(record: Mapping[str, Any], path: Path, where: str) -> Any:
    """Give a field that a record must have."""
    value = value_at(record, path)
    if value is MISSING:
        raise SourceError(
            f"{where} has no field {quoted('.'.join(path))}: there are {listed(list(record))}"
        )
    return value


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and all(
        number is None or (isinstance(number, (int, float)) and not isinstance(number, bool))
        for number in value
    )


def _number(value: float | None) -> float:
    """Give a number of JSON as Arrow would; no zero is negative, as whole ones are not."""
    if value is None:
        return math.nan
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def from_rows(rows: Rows, shard: int, broken: Sequence[Unread]) -> Piece:
    """Make columns of records that were read one by one."""
    names = sorted({name for columns in rows.columns for name in columns})
    kinds = {"tokens": TOKENS, "vectors": WIDE_VECTORS}
    if not rows.everything:
        names = list(rows.choice.columns)
    return Piece(
        id_array(rows.ids),
        pa.array(rows.texts, kinds.get(rows.choice.kind or "", TEXT)),
        np.full(len(rows.ids), shard, np.int32),
        np.array(rows.numbers, np.int64),
        {name: as_column([row.get(name) for row in rows.columns]) for name in names},
        broken=tuple(broken),
    )


def as_column(values: Sequence[Any]) -> pa.Array:
    """Make a column of plain values: numbers, strings or truths; of anything mixed, text."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if kinds <= {int, float}:
            if float in kinds:
                values = [None if value is None else float(value) for value in values]
            return pa.array(values, pa.float64() if float in kinds else pa.int64())
        if len(kinds) == 1 and kinds <= {str, bool}:
            return pa.array(values)
    except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):
        pass
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()


def taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """Give some rows of a column, in its type."""
    chosen = pa.array(rows)
    if column.type != pa.string_view():
        return column.take(chosen)
    # Arrow takes no rows of a column of views; it does of the same as large strings.
    return column.cast(TEXT).take(chosen).cast(column.type)


def picked(column: Any, rows: NDArray[np.int64]) -> Any:
    """Give some rows of a column of any make: one of Arrow in its type, of another a list."""
    if hasattr(column, "to_pylist"):
        return taken(column, rows)
    return [column[row] for row in rows.tolist()]


def joined(arrays: Sequence[pa.Array]) -> pa.Array:
    """Put columns one after the other; numbers and vectors stay so, what differs else is text.

    Columns of nulls only have any type.
    """
    kinds = {array.type for array in arrays if array.null_count < len(array)}
    if len(kinds) > 1:
        kinds = {_common(kinds)}
    kind = kinds.pop() if kinds else arrays[0].type
    cast = [array if array.type == kind else _cast(array, kind) for array in arrays]
    return pa.concat_arrays(cast) if len(cast) > 1 else cast[0]


def joined_columns(pieces: Sequence[Piece], names: Sequence[str] | None) -> dict[str, pa.Array]:
    """Put the named columns of pieces one after the other, or all; null where a piece has none."""
    if names is None:
        names = sorted({name for piece in pieces for name in piece.columns})
    if not pieces:
        return {name: pa.nulls(0) for name in names}
    return {
        name: joined([p.columns.get(name, pa.nulls(len(p.ids))) for p in pieces]) for name in names
    }


def _common(kinds: Set[pa.DataType]) -> pa.DataType:
    if kinds <= NUMBERS:
        return pa.float64()
    return WIDE_VECTORS if all(is_vectors(kind) for kind in kinds) else pa.string()


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.null_count == len(array):
        return pa.nulls(len(array), kind)
    if pa.types.is_floating(array.type) and kind == pa.string():
        # As text, what is no number would be a word like any other.
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    try:
        return array.cast(kind, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = [None if value is None else _as_text(value) for value in array.to_pylist()]
        return pa.array(values, pa.string())
