"""Lists of tokens of every make as Arrow lists of strings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.read.batches import check_text
from lookalike.read.fields import TEXT, TOKENS
from lookalike.read.vectors import LISTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "BYTES",
    "SEQUENCES",
    "STRINGS",
    "are_tokens",
    "as_strings",
    "as_tokens",
    "decoded",
    "from_lists",
    "holds_tokens",
    "invalid",
    "plain",
]

STRINGS = (pa.string(), pa.large_string(), pa.string_view())
BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
"""Types of columns that may hold text without saying so."""
SEQUENCES = (list, tuple, np.ndarray)
"""What a document of tokens can be in Python."""


def plain(kind: pa.DataType) -> pa.DataType:
    """Give the type of the values of a dictionary, or the type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: pa.Array) -> pa.Array:
    """Give a column as it is without a dictionary."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def holds_tokens(kind: pa.DataType) -> bool:
    """Tell whether a column is one of lists of strings or whole numbers."""
    if not any(is_one(kind) for is_one in LISTS):
        return False
    item = plain(kind.value_type)
    return item in STRINGS or pa.types.is_integer(item)


def as_tokens(column: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Make lists of tokens of a column, and tell which lack a token or are no Unicode text."""
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    offsets = column.offsets.to_numpy().astype(np.int64)
    tokens = decoded(column.values).cast(TEXT)
    tokens = tokens.slice(offsets[0], offsets[-1] - offsets[0])
    offsets = offsets - offsets[0]
    wrong_token = invalid(tokens) | tokens.is_null().to_numpy(zero_copy_only=False)
    sums = np.concatenate([[0], np.cumsum(wrong_token)])
    wrong = (sums[offsets[1:]] > sums[offsets[:-1]]) & column.is_valid().to_numpy(
        zero_copy_only=False
    )
    lists = pa.LargeListArray.from_arrays(offsets, tokens, type=TOKENS, mask=column.is_null())
    return lists, wrong


def as_strings(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Give strings, also of bytes that may be none: these are not looked at."""
    if column.type not in BYTES:
        return column.cast(kind)
    # To strings, bytes are cast only if all of them are text.
    return column.cast(pa.large_binary() if kind == TEXT else pa.binary()).view(kind)


def invalid(column: pa.Array) -> NDArray[np.bool_]:
    """Tell which strings are not UTF-8."""
    wrong = np.zeros(len(column), np.bool_)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raw = column.cast(pa.large_binary()).to_pylist()
        for row, value in enumerate(raw):
            try:
                (value or b"").decode()
            except UnicodeDecodeError:
                wrong[row] = True
    return wrong


def are_tokens(values: Sequence[Any]) -> bool:
    """Tell lists of tokens from vectors, in Python: the first string or float among them tells."""
    for value in values:
        kinds = _kinds_in(value)
        if any(issubclass(kind, str) for kind in kinds):
            return True
        if any(issubclass(kind, (float, np.floating)) for kind in kinds):
            return False
    return False


def _kinds_in(value: Any) -> set[type]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {value.dtype.type}
    return set(map(type, value)) if _is_sequence(value) else set()


def from_lists(values: Sequence[Any], names: Sequence[Any]) -> pa.Array:
    """Make lists of tokens of Python lists, tuples and arrays, or say which is none."""
    lists = [_tokens(value, name) for value, name in zip(values, names, strict=True)]
    try:
        return pa.array(lists, TOKENS)
    except UnicodeEncodeError:
        for name, tokens in zip(names, lists, strict=True):
            for token in tokens or ():
                check_text(token, f"a token of document {quoted(name)}")
        raise


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _tokens(value: Any, name: Any) -> list[str] | None:
    if value is None:
        return None
    if not _is_sequence(value):
        raise SourceError(
            f"document {quoted(name)} is of type {type(value).__name__} where others are lists of "
            "tokens: give lists of strings or whole numbers, or None for an empty document"
        )
    if set(map(type, value)) <= {str}:
        return list(value)
    return [_token(token, name, place) for place, token in enumerate(value)]


def _token(token: Any, name: Any, place: int) -> str:
    if not isinstance(token, (str, int, np.integer)) or isinstance(token, bool):
        raise SourceError(
            f"token {place + 1} of document {quoted(name)} is of type {type(token).__name__}: "
            "give strings or whole numbers"
        )
    try:
        return str(token)
    except ValueError:
        # Python writes no whole number of more digits than this.
        raise SourceError(
            f"token {place + 1} of document {quoted(name)} has more than "
            f"{sys.get_int_max_str_digits():,} digits: give it as a string"
        ) from None
