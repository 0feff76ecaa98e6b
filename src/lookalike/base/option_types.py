"""Whether the values of options are of the types that their fields declare.

Numbers are not looked at here: whoever takes one knows from where to where it goes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Real
from typing import Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting

__all__ = ["check_path", "check_types"]

SHORT_CHARACTERS = 40
"""Of a value that a message repeats, at the most."""


def check_types(options: Any) -> None:
    """Refuse values that are of another type than their options, each by its name."""
    for field in fields(options):
        value = getattr(options, field.name)
        declared = str(field.type)
        if value is None and (declared.endswith("| None") or declared == "Any"):
            continue
        rule = _RULES.get(field.name) or _RULES.get(declared.removesuffix(" | None"))
        if rule is not None:
            rule(field.name, value)


def check_path(name: str, value: object) -> None:
    """Refuse what names no file or folder."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise _wrong(name, value, ", not a path: use text, or a Path")
    if "\0" in os.fspath(value):
        raise SettingsError(f"{setting(name, os.fspath(value))} holds a NUL, which no path does")


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(name, value, ", not text")


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise SettingsError(f"{_given(name, value)}: use True or False")


def _texts(name: str, value: object) -> None:
    listed = value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else None
    if not isinstance(value, str) and not (
        listed is not None and all(isinstance(one, str) for one in listed)
    ):
        raise _wrong(name, value, ": use text, or a list of texts")


def _progress(name: str, value: object) -> None:
    if not isinstance(value, bool) and not callable(value):
        raise _wrong(name, value, ": use True or a function of a stage and two numbers")


def _function(name: str, value: object) -> None:
    if not callable(value):
        raise _wrong(name, value, ": use a function of a line")


def _wrong(name: str, value: object, what: str) -> SettingsError:
    kind = type(value).__name__
    return SettingsError(f"{_given(name, value)} is of type {kind}{what}")


def _given(name: str, value: object) -> str:
    """Name a setting with its value, where that is short for sure."""
    short = value is None or isinstance(value, Real)
    short |= isinstance(value, (str, bytes)) and len(value) <= SHORT_CHARACTERS
    return setting(name, value) if short else setting(name)


_RULES: dict[str, Callable[[str, Any], None]] = {
    "str": _text,
    "bool": _flag,
    "str | os.PathLike[str]": check_path,
    "str | list[str] | tuple[str, ...]": _texts,
    "str | Sequence[str]": _texts,
    "include": _texts,
    "exclude": _texts,
    "Callable[[str, int, int], None] | bool": _progress,
    "Callable[[str], None]": _function,
}
"""By the declared type of an option, or by its name where any type is declared."""
