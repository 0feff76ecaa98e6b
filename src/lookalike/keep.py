"""Which of similar documents stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.errors import SettingsError, SourceError
from lookalike.read.documents import is_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["column_of", "priorities"]

POLICIES = "first, last, longest, shortest, max:COLUMN or min:COLUMN"


def column_of(keep: str) -> str | None:
    """Give the column that a policy needs, or refuse the policy."""
    if keep in ("first", "last", "longest", "shortest"):
        return None
    policy, _, column = keep.partition(":") if isinstance(keep, str) else ("", "", "")
    if policy not in ("max", "min") or not column:
        raise SettingsError(f"keep policy {keep!r} is unknown: use {POLICIES}")
    return column


def priorities(
    keep: str,
    documents: int,
    *,
    characters: Callable[[], NDArray[np.int64]],
    column: Callable[[], list[Any]],
    ranks: Callable[[], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Give the documents in the order in which they would rather be kept.

    Those that the policy holds equal go by id, so that the order of input decides only where
    the policy is `first` or `last`. What a policy needs is asked for only then: the characters of
    each document, the values of its column, the places of the ids.
    """
    name = column_of(keep)
    if keep == "first":
        return np.arange(documents)
    if keep == "last":
        return np.arange(documents)[::-1]
    if name is None:
        values = characters().astype(np.float64)
        largest = keep == "longest"
    else:
        values = _numbers(column(), name)
        largest = keep.startswith("max:")
    keys = np.where(np.isnan(values), np.inf, -values if largest else values)
    return np.lexsort((ranks(), keys))


def _numbers(values: list[Any], column: str) -> NDArray[np.float64]:
    """Give a column's values as ranks that sort as they do, NaN where there is none."""
    values = _parsed(values)
    present = [value for value in values if not is_missing(value)]
    if values and not present:
        raise SourceError(f"no document has a value in column {column!r}: keep by another")
    try:
        order = {value: rank for rank, value in enumerate(sorted(set(present)))}
    except TypeError:
        raise SourceError(
            f"column {column!r} holds values that cannot be compared with each other: "
            "keep by a column of numbers, or of strings"
        ) from None
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _parsed(values: list[Any]) -> list[Any]:
    """Read numbers that are written as text, as in CSV, where all of a column's values are."""
    if not all(isinstance(value, str) or is_missing(value) for value in values):
        return values
    try:
        return [None if is_missing(value) or value == "" else float(value) for value in values]
    except ValueError:
        return values
