"""Where things stand in a text, as browsers count: in UTF-16 code units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["code_units", "unit_length"]

LAST_OF_ONE_UNIT = 0xFFFF


def code_units(text: str) -> NDArray[np.int64] | None:
    """Give how many code units lie before each character, and the end; None where it is as many."""
    if text.isascii():
        return None
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    astral = points > LAST_OF_ONE_UNIT
    if not astral.any():
        return None
    return np.append(0, np.cumsum(1 + astral.astype(np.int64)))


def unit_length(text: str) -> int:
    """Give the length of a text."""
    units = code_units(text)
    return len(text) if units is None else int(units[-1])
