"""Numbers, names and settings as people read them.

A message names a setting once, by `setting("memory")`, and each face spells it in its own way:
`memory=` in Python, `--memory` on the command line. Until then a mark stands in the raw text.
"""

from __future__ import annotations

import math
import re
import shlex
from ast import literal_eval
from numbers import Integral, Real
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CHANCE_DIGITS",
    "RECORDS_OF_WARC",
    "Message",
    "adding_up",
    "chance_texts",
    "count",
    "counted_reasons",
    "either",
    "floor",
    "help_on",
    "in_full",
    "in_python",
    "in_words",
    "on_command_line",
    "percent",
    "quoted",
    "setting",
    "shortened",
    "similarity_text",
    "skipped_by_kind",
    "visible",
    "visible_lines",
]

ROUNDING = 1e-12
CHANCE_DIGITS = 6
"""Of chances, and their rest to 1."""
UNIT = 10.0**-CHANCE_DIGITS
RECORDS_OF_WARC = "WARC records: "
"""What reasons begin with that are of records, which are counted and not named."""

OPEN, WORDS, NUMBER, CLOSE, HELP = "\U0010f7a4\U0010f7a5\U0010f7a6\U0010f7a7\U0010f7a8"
"""For private use, where no font has a sign: no name and no document is likely to have them."""
MARK = re.compile(
    f"{OPEN}([a-z_]+)(?:([{WORDS}{NUMBER}{HELP}])([^{OPEN}{WORDS}{NUMBER}{HELP}{CLOSE}]*))?{CLOSE}"
)
UNMARKED = str.maketrans("", "", OPEN + WORDS + NUMBER + CLOSE + HELP)
QUOTED_CHARACTERS = 60
"""Of an id, a name or a value that a message quotes: it may be as long as a document."""
GIVEN_CHARACTERS = 200
"""Of what the user gave, who may want to give it again."""


class Message(str):
    """A line for a user of Python, which remembers its raw text for the other faces."""

    __slots__ = ("raw",)
    raw: str
    """With the marks of settings; this is what is stored, and what other messages quote."""

    def __new__(cls, text: str) -> Self:
        """Spell the settings of a raw text; of a message that is one already, its own."""
        raw = text.raw if isinstance(text, Message) else str(text)
        message = super().__new__(cls, in_python(raw))
        message.raw = raw
        return message

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Copy and pickle the raw text."""
        return type(self), (self.raw,)


def setting(name: str, value: object = ...) -> str:
    """Name a setting, or one with its value, as Python does; the mark that stands for it."""
    if value is ...:
        return f"{OPEN}{name}{CLOSE}"
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        value = [one.translate(UNMARKED) for one in value]
    if isinstance(value, str):
        kind, content = WORDS, _beginning(value, GIVEN_CHARACTERS)
    else:
        kind, content = NUMBER, _number(value)
    return f"{OPEN}{name}{kind}{content.translate(UNMARKED)}{CLOSE}"


def help_on(command: str) -> str:
    """Name where the help on a command is: of the program, or of the function in Python."""
    return f"{OPEN}{command}{HELP}{CLOSE}"


def _number(value: object) -> str:
    """Write a number of NumPy's as one of Python's, and whatever else is given on one line."""
    if isinstance(value, Real) and not isinstance(value, bool):
        value = int(value) if isinstance(value, Integral) else float(value)
    return " ".join(repr(value).split())


def in_python(text: str) -> str:
    """Spell the settings of a message as arguments: `memory=`, `recall=0.999`."""

    def spelled(mark: re.Match[str]) -> str:
        name, kind, value = mark.groups(default="")
        if kind == HELP:
            return f"help(lookalike.{name})"
        return f"{name}={value!r}" if kind == WORDS else f"{name}={value}"

    return MARK.sub(spelled, _raw(text))


def in_words(text: str) -> str:
    """Spell the settings of a message for a reader who runs nothing: `the setting recall 0.99`."""

    def spelled(mark: re.Match[str]) -> str:
        name, kind, value = mark.groups(default="")
        if kind == HELP:
            return f"the help on {name}"
        return f"the setting {name.replace('_', '-')}" + (f" {value}" if value else "")

    return MARK.sub(spelled, _raw(text))


def on_command_line(text: str) -> str:
    """Spell the settings of a message as options: `--memory`, `--recall 0.999`, `no --max-df`."""

    def spelled(mark: re.Match[str]) -> str:
        name, kind, value = mark.groups(default="")
        if kind == HELP:
            return f"lookalike {name} --help"
        option = f"--{name.replace('_', '-')}"
        if kind == WORDS:
            return f"{option} {shlex.quote(value)}"
        if value in ("False", "None"):
            return f"no {option}"
        if value.startswith("['"):
            # A list of names is given by naming the option again.
            names = literal_eval(value)
            if all(isinstance(one, str) for one in names):
                return " ".join(f"{option} {shlex.quote(one)}" for one in names)
        # Numbers are read as floats there, and were hardly typed so.
        return option if value in ("", "True") else f"{option} {value.removesuffix('.0')}"

    return MARK.sub(spelled, _raw(text))


def _raw(text: str) -> str:
    return text.raw if isinstance(text, Message) else text


def count(number: int, what: str, many: str | None = None) -> str:
    """Write a number of things: `1 band`, `2,000 bands`; `many` is a plural that has no plain s."""
    return f"{number:,} {what if number == 1 else many or f'{what}s'}"


def either(names: Sequence[str]) -> str:
    """Write a choice of names: `jaccard or cosine`, `table, jsonl, csv or parquet`."""
    *before, last = names or [""]
    return f"{', '.join(before)} or {last}" if before else last


def in_full(value: float) -> str:
    """Write a number as it was given: 0.8, and 0.9999999, which is not 1."""
    return f"{value:.15g}"


def chance_texts(chance: float, rest: float) -> tuple[str, str]:
    """Write a chance and what is left to 1, so that they add up as they are written.

    What is there and is less than can be written is `<`.
    """
    least, most = f"{UNIT:.{CHANCE_DIGITS}f}", f"{1 - UNIT:.{CHANCE_DIGITS}f}"
    if 0 < rest < UNIT:
        return f">{most}", f"<{least}"
    if 0 < chance < UNIT:
        return f"<{least}", f">{most}"
    written = round(rest, CHANCE_DIGITS)
    return f"{1 - written:.{CHANCE_DIGITS}f}", f"{written:.{CHANCE_DIGITS}f}"


def floor(value: float, digits: int) -> str:
    """Write a number to so many digits after the point, never above what it is."""
    scale = 10**digits
    return f"{math.floor(value * scale + 1e-9) / scale:.{digits}f}"


def similarity_text(similarity: float, threshold: float | None = None) -> str:
    """Write a similarity as people read it: to the nearest of 4 digits.

    Where that would tell something untrue, it is the digit below: 0.99996 is not the 1 of equal
    documents, and what is below the threshold is not shown as if it reached it.
    """
    return _rounded(similarity, 4, threshold)


def percent(share: float) -> str:
    """Write a share as people read it, as 93.9%; only the whole is 100.0%."""
    return f"{_rounded(100 * share, 1, 100.0)}%"


def skipped_by_kind(skipped: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Part the reasons of what was skipped: those of files, and those of WARC records."""
    found: dict[str, dict[str, int]] = {"file": {}, "WARC record": {}}
    for reason, number in skipped.items():
        of_records = reason.startswith(RECORDS_OF_WARC)
        kind = "WARC record" if of_records else "file"
        found[kind][reason.removeprefix(RECORDS_OF_WARC)] = number
    return {kind: reasons for kind, reasons in found.items() if reasons}


def counted_reasons(kind: str, reasons: Mapping[str, int]) -> str:
    """Say how many were skipped, and why, as "3 files: 2 hidden, 1 binary"."""
    told = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
    return f"{count(sum(reasons.values()), kind)}: {told}"


def adding_up(parts: list[float], digits: int) -> tuple[str, list[str]]:
    """Write a sum and its parts, none negative, so that they add up as they are written.

    The sum is rounded to the nearest, and each part up or down, those with the largest rest up.
    """
    scale = 10**digits
    units = [math.floor(part * scale) for part in parts]
    total = round(sum(parts) * scale)
    rests = sorted(range(len(parts)), key=lambda at: units[at] - parts[at] * scale)
    for at in rests[: total - sum(units)]:
        units[at] += 1
    return f"{total / scale:.{digits}f}", [f"{unit / scale:.{digits}f}" for unit in units]


def _rounded(value: float, digits: int, threshold: float | None) -> str:
    """Write a number to the nearest of so many digits, but none that it is below and not at."""
    rounded = round(value, digits)
    # A root and a division may end a little below what they stand for.
    value += ROUNDING * abs(value)
    unreached = (1.0,) if threshold is None else (1.0, threshold)
    if any(value < bound <= rounded for bound in unreached):
        rounded = math.floor(value * 10**digits) / 10**digits
    return f"{rounded:.{digits}f}"


def visible(text: object) -> str:
    """Write what is not printable as the escapes of Python, for a screen and on one line.

    Control characters command a terminal, those of direction reorder what is read, line breaks
    make two of one name, and lone surrogates, which stand for bytes of file names, cannot be
    encoded.
    """
    string = str(text)
    if string.isprintable():
        return string
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in string)


def shortened(text: object, most: int = QUOTED_CHARACTERS) -> str:
    """Write the beginning of what may be of any length, on one line, as `visible` does."""
    return visible(_beginning(str(text), most))


def quoted(value: object) -> str:
    """Quote an id, a name or a value of the data in a message: its beginning, on one line."""
    if not isinstance(value, str):
        try:
            return shortened(repr(value))
        except ValueError:
            return f"a {type(value).__name__} that Python does not write out"
    return repr(_beginning(value, QUOTED_CHARACTERS))


def _beginning(text: str, most: int) -> str:
    """Cut a text to so many characters, as they are shown."""
    length = 0
    for end, character in enumerate(text[: most + 1]):
        length += len(visible(character))
        if length > most:
            return f"{text[:end]}…"
    return text


def visible_lines(text: str) -> str:
    """Write the same of a text of several lines, which stay so."""
    return "\n".join(map(visible, text.split("\n")))
