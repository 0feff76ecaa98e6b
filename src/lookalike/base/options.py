"""How an option is declared, once, and how a function comes to take options as its keywords."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from lookalike.base.option_types import check_types

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Option", "given_of", "option", "option_of", "takes", "takes_two"]

GIVEN = "_given"
"""Where options remember which of them a caller gave."""

P = ParamSpec("P")
Options = TypeVar("Options")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Option:
    """How an option is shown and given; its name, type and default are those of the field."""

    help: str
    """One sentence, or a few words."""
    metavar: str | None = None
    """What stands for the value in the help of the command line."""
    short: str | None = None
    """A letter for the command line, as `-t`."""
    also: tuple[str, ...] = ()
    """Other names on the command line."""
    choices: tuple[str, ...] = ()
    example: float | None = None
    """A number that it may be, where the default is none."""
    is_share: bool = False
    """From 0 to 1; on the command line also a percentage."""
    is_path: bool = False
    is_list: bool = False
    """On the command line it may be given several times."""
    python_only: bool = False


def option(default: Any, sentence: str, **details: Any) -> Any:
    """Declare an option: the field of a dataclass."""
    return field(default=default, metadata={"option": Option(sentence, **details)})


def option_of(one: Any) -> Option:
    """Give how the option of a field is shown."""
    shown: Option = one.metadata["option"]
    return shown


def given_of(options: Any) -> frozenset[str]:
    """Name the options that a caller of a function gave, be it what they are by default."""
    found: frozenset[str] = getattr(options, GIVEN, frozenset())
    return found


def takes(
    options: Callable[P, Options],
) -> Callable[[Callable[[Any, Options], Found]], Callable[Concatenate[Any, P], Found]]:
    """Make the fields of a class of options the keywords of a function of a source."""
    return functools.partial(_with_keywords, options)


def takes_two(
    options: Callable[P, Options],
) -> Callable[[Callable[[Any, Any, Options], Found]], Callable[Concatenate[Any, Any, P], Found]]:
    """Make them those of a function of two things."""
    return functools.partial(_with_keywords, options)


def _with_keywords(options: Any, function: Any) -> Any:
    """Let a function be called with the fields of a class of options as its keywords.

    Its signature shows them, so that editors and `help` do.
    """
    *first, _ = inspect.signature(function).parameters.values()
    keywords = list(inspect.signature(options).parameters.values())
    signature = inspect.Signature([*first, *keywords])

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        before = [bound.pop(one.name) for one in first]
        made = options(**bound)
        check_types(made)
        object.__setattr__(made, GIVEN, frozenset(bound))
        return function(*before, made)

    call.__signature__ = signature  # type: ignore[attr-defined] # which `inspect` reads
    call.__doc__ = f"{function.__doc__}\n{_described(options)}"
    return call


def _described(options: Any) -> str:
    """Describe the options of a function, one a line."""
    lines = [f"        {one.name}: {option_of(one).help}" for one in fields(options)]
    return "\n".join(["    Options:", *lines, "    "])
