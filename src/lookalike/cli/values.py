"""The values of options as they are typed: numbers, shares and names out of a few.

One that cannot be is told in a line, with one that can. A share may be typed as a percentage; in
Python it is a number, as all that computes with it has it.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from lookalike.base.errors import SettingsError
from lookalike.base.wording import either, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SHARE", "Number", "OneOf", "Share", "Whole", "example_of", "share_of"]


SHARE = "<float|P%>"
"""What stands for a share in the help."""


class _Typed(click.ParamType):  # type: ignore[type-arg] # generic in later versions of Click
    """A value that is read from what was typed, with an example of it."""

    def __init__(self, example: float) -> None:
        self.example = f"{example:.15g}"

    def convert(self, value: Any, param: click.Parameter | None, _: click.Context | None) -> Any:
        """Read a value; what is none of Python's own, as a default, was typed."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value.strip())
        except (ValueError, InvalidOperation):
            name = (param.name if param else None) or self.name
            raise SettingsError(f"{setting(name.rstrip('_'), value)}: {self.use()}") from None

    def read(self, text: str) -> Any:
        raise NotImplementedError

    def use(self) -> str:
        """Say what may be typed."""
        raise NotImplementedError


class Whole(_Typed):
    """A whole number."""

    name = "int"

    def read(self, text: str) -> int:
        """Read it."""
        return int(text)

    def use(self) -> str:
        """Say what may be typed."""
        return f"use a whole number, as {self.example}"


class Number(_Typed):
    """Any number."""

    name = "float"

    def read(self, text: str) -> float:
        """Read it."""
        return float(text)

    def use(self) -> str:
        """Say what may be typed."""
        return f"use a number, as {self.example}"


class Share(_Typed):
    """A number from 0 to 1, or a percentage."""

    name = "float"

    def read(self, text: str) -> float:
        """Read it."""
        return share_of(text)

    def use(self) -> str:
        """Say what may be typed."""
        percentage = f"{100 * float(self.example):.15g}%"
        return f"use a number from 0 to 1, as {self.example}, or a percentage, as {percentage}"


class OneOf(click.Choice):  # type: ignore[type-arg] # as above
    """One of a few names."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names."""
        super().__init__([*names])
        self.example = names[0]

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Read a name."""
        try:
            return super().convert(value, param, context)
        except click.BadParameter:
            name = (param.name if param else None) or self.name
            raise SettingsError(
                f"{setting(name.rstrip('_'), str(value))}: use {either(self.choices)}"
            ) from None


def share_of(text: str) -> float:
    """Read a number from 0 to 1, or a percentage: 80% is 0.8, to the last bit."""
    # Of a decimal, as a quotient of floats may be another number than the one typed in full.
    typed = Decimal(text[:-1].strip()).scaleb(-2) if text.endswith("%") else text
    share = float(typed)
    if math.isnan(share) or not 0 <= share <= 1:
        raise ValueError(text)
    return share


def example_of(option: click.Parameter) -> str | None:
    """Give a value that an option takes, where one is known."""
    return getattr(option.type, "example", None)
