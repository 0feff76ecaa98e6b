"""Numbers that the formulas take: checked on their way in, and given back as they came."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["Similarity", "check_whole", "like_given", "unit_values"]

Similarity = TypeVar("Similarity", float, "NDArray[np.floating[Any]]")


def like_given(given: Similarity, values: Floats) -> Similarity:
    """Give values back as they came: a float for a number, the same dtype for an array."""
    if isinstance(given, np.ndarray) and np.issubdtype(given.dtype, np.floating):
        return cast("Similarity", np.asarray(values, dtype=given.dtype))
    return cast("Similarity", values if np.ndim(given) else float(values))


def unit_values(what: str, values: ArrayLike) -> Floats:
    """Give numbers between 0 and 1 as an array, or refuse them."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingsError(
            f"{what} is a number between 0 and 1, for example 0.8, not of type "
            f"{type(values).__name__}"
        ) from None
    outside = ~((numbers >= 0) & (numbers <= 1))
    if outside.any():
        raise SettingsError(
            f"{what} lies between 0 and 1, for example 0.8, not {numbers[outside].flat[0]}"
        )
    return numbers


def check_whole(name: str, value: int, *, example: int, least: int = 1) -> None:
    """Refuse what is no whole number from the least upward."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise SettingsError(
            f"{setting(name, value)}: use a whole number from {least} upward, as {example}"
        )
