"""The options of the commands, made of the fields in `settings`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.base.options import option_of
from lookalike.settings import FindOptions

__all__ = ["AsJson", "Quiet", "Source", "one", "with_options"]

TYPES: dict[str, type] = {"bool": bool, "float": float, "int": int, "str": str}

Source = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Folders, files (text of any ending; .html .pdf .docx; .jsonl .csv .tsv, also .gz and "
        ".zst; .parquet; .npy for vectors), patterns, addresses as s3://…, or - for JSONL on "
        "standard input.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object with the facts.")]


def one(name: str) -> Any:
    """Give the annotation of one option of `find`, for a command that takes few of them."""
    return _annotation(next(found for found in fields(FindOptions) if found.name == name))


def with_options(options: Any, *left_out: str) -> Callable[[Callable[..., None]], Any]:
    """Give a command the options of a class; it gets those that were given as `options`, a dict.

    They stand after the arguments of the command, and before its own options.
    """

    def decorate(command: Callable[..., None]) -> Any:
        own = list(inspect.signature(command, eval_str=True).parameters.values())
        own = [parameter for parameter in own if parameter.name != "options"]
        taken = [found for found in fields(options) if found.name not in left_out]
        fields_shown = [found for found in taken if not option_of(found).python_only]
        parameters = [
            inspect.Parameter(
                found.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(found),
                annotation=_annotation(found),
            )
            for found in fields_shown
        ]
        first = [parameter for parameter in own if parameter.default is parameter.empty]
        rest = [parameter for parameter in own if parameter.default is not parameter.empty]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            chosen = {found.name: _plain_value(given.pop(found.name)) for found in fields_shown}
            command(**given, options=chosen)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for parameter in (*first, *parameters, *rest)
            ]
        )
        run.__annotations__ = {}
        return run

    return decorate


def _annotation(found: Any) -> Any:
    """Make the annotation that Typer reads."""
    option = option_of(found)
    # Text where annotations are not evaluated, which they are in other modules.
    told = getattr(found.type, "__name__", str(found.type))
    kind: Any = TYPES.get(told.partition(" ")[0], str)
    if option.is_path:
        kind = Path
    if option.is_list:
        kind = list[str]
    if option.choices:
        kind = _choices(found.name, option.choices)
    if found.default is None:
        kind = kind | None
    names = [f"--{name}" for name in (found.name.replace("_", "-"), *option.also)]
    if option.short:
        names.append(option.short)
    return Annotated[kind, typer.Option(*names, help=option.help, metavar=option.metavar)]


@functools.cache
def _choices(name: str, values: tuple[str, ...]) -> Any:
    return StrEnum(name, {value.replace("-", "_"): value for value in values})


def _default(found: Any) -> Any:
    choices = option_of(found).choices
    if choices and found.default is not None:
        return _choices(found.name, choices)(found.default)
    return found.default


def _plain_value(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
