"""What every reader gives, and what every document must be."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.string_columns import strings
from lookalike.base.wording import quoted, setting
from lookalike.read.files import FileNote, Unread, counts_of
from lookalike.settings.options import MARKUPS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "BETWEEN",
    "ID_NAMES",
    "NO_ID",
    "Batch",
    "Documents",
    "Names",
    "Position",
    "as_ids",
    "as_names",
    "as_texts",
    "check_distinct",
    "check_markup",
    "check_one_kind",
    "check_text",
    "id_array",
    "is_missing",
    "likely_name",
    "listed",
    "pick_id_column",
    "pick_text_columns",
    "places",
    "repeated_id",
]

TEXT_NAMES = ("text", "content", "body")
ID_NAMES = ("id", "doc_id", "url")
NO_ID = "none"
"""Asked for as the name of the id: no field holds it, even if one is named as if it did."""
BETWEEN = "\n\n"
"""What stands between the fields of a text, where several are named."""

MAX_LISTED, LISTED_CHARACTERS = 12, 120
"""Names that a message lists, and characters after which it lists no more of them."""

Names = str | list[str] | tuple[str, ...] | None
"""The field that holds the text, or several, or none that was named."""

Position = tuple[int, int, int]
"""A shard; how far in it, in unpacked bytes, row groups or rows; how many records lie before."""


@dataclass(frozen=True)
class Documents:
    """What was read: an id and a text, tokens or a vector for each document, in order."""

    ids: pa.Array
    """int64 where all are whole numbers, else strings."""
    texts: pa.Array
    """Large strings, or tokens or vectors as in a `Batch`; null where there is none."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Other columns of the source by name, for keep policies."""
    unread: tuple[Unread, ...] = ()
    """The files that were skipped, and why."""
    notes: tuple[str, ...] = ()
    """What the reader chose by itself, for the user to see."""

    @property
    def skipped(self) -> dict[str, int]:
        """How many files were skipped, by reason."""
        return counts_of(self.unread)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.texts)


@dataclass(frozen=True)
class Batch:
    """Some documents of a corpus, in its order."""

    ids: pa.Array
    """int64 where all are whole numbers, else strings."""
    texts: pa.Array
    """Large strings, or large lists of large strings where they are tokens, or of floats where they
    are vectors (`VECTORS`, `WIDE_VECTORS` or `SPARSE` in `fields`); null for none."""
    shards: NDArray[np.int32]
    """Of each document."""
    records: NDArray[np.int64]
    """Of each document: the number of its record in its shard, from 1."""
    columns: Mapping[str, pa.Array]
    """Those asked for; null where a record has none."""
    unread: tuple[Unread, ...]
    """Files skipped since the batch before, and why."""
    broken: tuple[Unread, ...]
    """Files and records that could not be read since the batch before, and what is wrong."""
    notes: tuple[str, ...]
    """What the reader chose by itself."""
    next: Position
    """Where the batch after this one begins."""
    read: int
    """Bytes of the sources read so far."""
    file_notes: tuple[FileNote, ...] = ()
    """How files were read since the batch before, where a user should know."""

    @property
    def skipped(self) -> dict[str, int]:
        """How many files were skipped, by reason."""
        return counts_of(self.unread)

    @property
    def bad(self) -> tuple[str, ...]:
        """What could not be read since the batch before, and where, in a line each."""
        return tuple(one.reason for one in self.broken)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.texts)


def places(size: int) -> pa.Array:
    """Give ids that count from 0."""
    return pa.array(np.arange(size, dtype=np.int64))


def as_texts(values: Sequence[Any], names: Sequence[Any]) -> pa.Array:
    """Make an Arrow column of Python strings, or say which is none."""
    if not set(map(type, values)) <= {str, type(None)}:
        for name, value in zip(names, values, strict=True):
            if value is not None and not isinstance(value, str):
                raise SourceError(
                    f"document {quoted(name)} is of type {type(value).__name__}, not text: "
                    "give strings, or None for an empty document"
                )
    try:
        return pa.array(values, pa.large_string()) if None in values else strings(values)
    except UnicodeEncodeError:
        for name, value in zip(names, values, strict=True):
            check_text(value, f"document {quoted(name)}")
        raise


def check_text(value: str | None, where: str) -> None:
    """Refuse a string that is no Unicode text."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{where} holds a lone surrogate (U+{ord(error.object[error.start]):04X}) at character "
            f"{error.start + 1}, which is no Unicode text: fix or remove it"
        ) from None


def as_ids(values: Sequence[Any], where: Callable[[int], str]) -> pa.Array:
    """Make a column of ids: whole numbers stay numbers, anything mixed is compared as text.

    True and False are no ids: of two values, most would appear twice.

    `where` says where the document in a place stands, for a message.
    """
    for place, value in enumerate(values):
        if is_missing(value):
            raise SourceError(f"{where(place)} has no id: give every document one")
        if isinstance(value, (bool, np.bool_)):
            raise SourceError(
                f"the id of {where(place)} is {value}, and ids are numbers or strings: "
                f"name another column by {setting('id')}, or give strings"
            )
        if isinstance(value, str):
            check_text(value, f"the id of {where(place)}")
    try:
        ids = id_array(values)
    except ValueError:
        # Python writes no whole number of more digits than this.
        raise SourceError(
            f"an id has more than {sys.get_int_max_str_digits():,} digits: give it as a string"
        ) from None
    check_distinct(ids, where)
    return ids


def id_array(values: Sequence[Any]) -> pa.Array:
    """Make a column of ids that are known to be there."""
    if all(_is_whole(value) for value in values):
        return pa.array([int(value) for value in values], pa.int64())
    return pa.array([str(value) for value in values], pa.string())


def check_distinct(ids: pa.Array, where: Callable[[int], str]) -> None:
    """Refuse two documents of one id, by their places."""
    if len(ids.unique()) < len(ids):
        _refuse_repeated(ids, where)


def is_missing(value: Any) -> bool:
    """Tell None, a number that is none, and what pandas holds for either."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _is_whole(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and -(2**63) <= value < 2**63


def repeated_id(value: Any, first: str, second: str) -> SourceError:
    """Say that two documents have one id, and what to do where each file counts for itself."""
    return SourceError(
        f"id {quoted(value)} appears twice, at {first} and at {second}: take places for ids, as "
        f"file:row, by {setting('id', NO_ID)}, name another column by {setting('id')}, or give "
        "every document an id of its own"
    )


def _refuse_repeated(ids: pa.Array, where: Callable[[int], str]) -> None:
    seen: dict[Any, int] = {}
    for place, value in enumerate(ids.to_pylist()):
        if value in seen:
            raise repeated_id(value, where(seen[value]), where(place))
        seen[value] = place


def listed(names: Sequence[Any]) -> str:
    """Write the first of some names, as many as fit in a part of a line."""
    shown: list[str] = []
    for name in names[:MAX_LISTED]:
        shown.append(quoted(str(name)))
        if sum(map(len, shown)) > LISTED_CHARACTERS:
            break
    listing = ", ".join(shown) or "none"
    return f"{listing}, …" if len(names) > len(shown) else listing


def as_names(text: Names) -> tuple[str, ...]:
    """Give the fields of the text that were named, each once."""
    if text is None:
        return ()
    # A label of pandas may be a number.
    return tuple(dict.fromkeys(text)) if isinstance(text, (list, tuple)) else (text,)


def likely_name(names: Sequence[Any], likely: Sequence[str]) -> Any:
    """Find a column by likely names: one that is written so, else in capitals or as a title."""
    exact = next((name for name in likely if name in names), None)
    if exact is not None:
        return exact
    folded = {str(name).casefold(): name for name in reversed(names)}
    return next((folded[name] for name in likely if name in folded), None)


def _named_column(names: Sequence[Any], given: str, what: str) -> str:
    if given not in names:
        raise SourceError(
            f"there is no column {quoted(given)} for the {what}: there are {listed(names)}"
        )
    return given


def pick_id_column(names: Sequence[Any], given: str | None) -> Any:
    """Find the column of the ids that was asked for, or a likely one; None for none."""
    if given is None:
        return likely_name(names, ID_NAMES)
    return None if given == NO_ID else _named_column(names, given, "id")


def check_one_kind(text: Names, vector: str | None) -> None:
    """Refuse two names for what the documents are."""
    if text is not None and vector is not None:
        raise SourceError(
            f"both {setting('text', text)} and {setting('vector', vector)} are given, where a "
            "document is one or the other: leave out one of the two"
        )


def check_markup(markup: str | None, vector: str | None) -> None:
    """Refuse a markup that is not known, or one of vectors."""
    if markup is None:
        return
    if markup not in MARKUPS:
        raise SettingsError(f"{setting('markup', markup)} is unknown: use {', '.join(MARKUPS)}")
    if vector is not None:
        raise SettingsError(
            f"{setting('markup', markup)} is of texts, where {setting('vector', vector)} asks for "
            "vectors: leave out one of the two"
        )


def pick_text_columns(names: Sequence[Any], text: Names, vector: str | None) -> list[Any]:
    """Find the columns of the texts, or the one of the vectors where that is named."""
    if vector is not None:
        return [_named_column(names, vector, "vector")]
    if given := as_names(text):
        return [_named_column(names, name, "text") for name in given]
    chosen = likely_name(names, TEXT_NAMES)
    if chosen is None:
        raise SourceError(
            f"no column is named {', '.join(TEXT_NAMES)}: say which holds the text "
            f"({setting('text')}) or a vector ({setting('vector')}); there are {listed(names)}"
        )
    return [chosen]
