"""Numbers as people read them."""

import math

__all__ = ["count", "floor"]


def count(number: int, what: str) -> str:
    """Write a number of things: `1 band`, `2,000 bands`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def floor(value: float, digits: int) -> str:
    """Write a number to so many digits after the point, never above what it is."""
    scale = 10**digits
    return f"{math.floor(value * scale + 1e-9) / scale:.{digits}f}"
