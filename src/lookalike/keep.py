"""Which of similar documents stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.errors import SettingsError, SourceError
from lookalike.read.documents import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.read import Documents

__all__ = ["priorities"]

POLICIES = "first, last, longest, shortest, max:COLUMN or min:COLUMN"


def priorities(documents: Documents, keep: str) -> NDArray[np.int64]:
    """Give the documents in the order in which they would rather be kept.

    Those that the policy holds equal go by id, so that the order of input decides only where
    the policy is `first` or `last`.
    """
    if not isinstance(keep, str):
        raise SettingsError(f"keep policy {keep!r} is unknown: use {POLICIES}")
    places = np.arange(len(documents))
    if keep == "first":
        return places
    if keep == "last":
        return places[::-1]
    if keep in ("longest", "shortest"):
        import pyarrow.compute as pc

        lengths = pc.fill_null(pc.utf8_length(documents.texts), 0).to_numpy(zero_copy_only=False)
        values = lengths.astype(np.float64)
        return _sorted(values, documents, largest=keep == "longest")
    policy, _, column = keep.partition(":")
    if policy not in ("max", "min") or not column:
        raise SettingsError(f"keep policy {keep!r} is unknown: use {POLICIES}")
    return _sorted(_numbers(documents, column), documents, largest=policy == "max")


def _sorted(values: NDArray[Any], documents: Documents, *, largest: bool) -> NDArray[np.int64]:
    keys = np.where(np.isnan(values), np.inf, -values if largest else values)
    return np.lexsort((documents.ranks(), keys))


def _numbers(documents: Documents, column: str) -> NDArray[np.float64]:
    """Give a column's values as ranks that sort as they do, NaN where there is none."""
    if column not in documents.columns:
        names = ", ".join(map(repr, documents.columns)) or "none"
        raise SourceError(f"there is no column {column!r} to keep by: there are {names}")
    values = documents.columns[column]
    plain = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    present = [value for value in plain if not is_missing(value)]
    try:
        order = {value: rank for rank, value in enumerate(sorted(set(present)))}
    except TypeError:
        raise SourceError(
            f"column {column!r} holds values that cannot be compared with each other: "
            "keep by a column of numbers, or of strings"
        ) from None
    return np.array([order.get(value, np.nan) for value in plain], np.float64)
