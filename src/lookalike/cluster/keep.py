"""Which of similar documents stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.read.batches import is_missing

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
        raise SettingsError(f"{setting('keep', keep)} is unknown: use {POLICIES}")
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
    """Give a column's values as numbers that sort as they do, NaN where there is none.

    Numbers may be written as text, as in CSV. What is no number is sorted as text.
    """
    missing = [is_missing(value) or value == "" for value in values]
    present = [value for value, is_absent in zip(values, missing, strict=True) if not is_absent]
    if values and not present:
        raise SourceError(
            f"no document has a value in column {quoted(column)}: name another in {setting('keep')}"
        )
    numbers = [_number(value) for value in present]
    ranks: dict[Any, float]
    if all(number is not None for number in numbers):
        order = sorted(set(numbers), key=lambda number: (number is None, number))
        ranks = {number: rank for rank, number in enumerate(order)}
        found = iter([ranks[number] for number in numbers])
    elif any(number is not None for number in numbers):
        wrong = next(v for v, number in zip(present, numbers, strict=True) if number is None)
        raise SourceError(
            f"column {quoted(column)} holds values that cannot be compared with each other, "
            f"numbers and {quoted(wrong)}: name one of numbers, or of text, in {setting('keep')}"
        )
    else:
        texts = [str(value) for value in present]
        ranks = {text: rank for rank, text in enumerate(sorted(set(texts)))}
        found = iter([ranks[text] for text in texts])
    return np.array([np.nan if is_absent else next(found) for is_absent in missing], np.float64)


def _number(value: Any) -> float | int | None:
    """Read a number, exactly where it is a whole one; None if it is none."""
    if isinstance(value, (bool, int, float)):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except (TypeError, ValueError, OverflowError):
            continue
    return None
