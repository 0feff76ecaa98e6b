"""Arrays of PostgreSQL in text, made many times faster than psycopg makes them of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["of_bytes", "of_numbers", "of_texts"]


def of_numbers(numbers: Iterable[int]) -> str:
    """Write whole numbers, or truth values as 0 and 1."""
    return "{" + ",".join([f"{number:d}" for number in numbers]) + "}"


def of_bytes(values: Iterable[bytes]) -> str:
    """Write byte strings."""
    return "{" + ",".join([f'"\\\\x{value.hex()}"' for value in values]) + "}"


def of_texts(texts: Iterable[str | None]) -> str:
    """Write texts, of which some may be missing."""
    return "{" + ",".join(["NULL" if text is None else _quoted(text) for text in texts]) + "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
