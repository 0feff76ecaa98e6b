"""Conditions on the metadata of documents: `source = 'x' and seen < '2026-01-01'`.

    condition = condition "or" condition | condition "and" condition | "not" condition
              | "(" condition ")"
              | name ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
              | name ["not"] "in" "(" value {"," value} ")"
              | name "is" ["not"] "null"
    name      = letters, digits, "_" and "." | '"' anything '"'
    value     = "'" text "'" | number | "true" | "false"

Words of the grammar may be in capitals. A quote inside of quotes is written twice. As in SQL a
comparison with a missing value neither holds nor fails, so that its negation does not hold either;
so it is with values of different types. Dates and timestamps are compared with texts in ISO 8601,
in UTC where they name no other offset. A condition is evaluated here, on decoded values: no part
of it ever becomes a part of a statement for a database.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lookalike.base.errors import SettingsError
from lookalike.base.wording import quoted, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Filter"]

MOST_CHARACTERS = 100_000
DEEPEST = 50
"""Conditions within conditions: as many levels of parentheses and negations."""
EXAMPLE = "source = 'x' and seen < '2026-01-01'"
TOKEN = re.compile(
    r"""\s*+(?:
    (?P<text>'(?:[^']|'')*+')
    |(?P<quoted>"(?:[^"]|"")++")
    |(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    |(?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    |(?P<sign><=|>=|<>|!=|[=<>(),])
    |(?P<end>\Z))""",
    re.VERBOSE,
)
KEYWORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false"})
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERED = ("<", "<=", ">", ">=")
NUMBERS = ("integer", "number")
TIMES = ("date", "timestamp")

Literal = str | int | float | bool


@dataclass(frozen=True)
class Filter:
    """A condition that the metadata of a document meets or not."""

    text: str
    names: frozenset[str] = field(compare=False)
    """The fields that it asks for."""
    _condition: Condition = field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Read a condition, and refuse what is none with the place where it goes wrong."""
        if not isinstance(text, str):
            raise SettingsError(f"a filter is a text, not {quoted(text)}: write {EXAMPLE}")
        if len(text) > MOST_CHARACTERS:
            raise SettingsError(
                f"a filter of {len(text):,} characters is too long: at most {MOST_CHARACTERS:,} "
                "are read"
            )
        condition = _Parser(text).whole()
        return cls(text, frozenset(test.name for test in condition.tests()), condition)

    def __str__(self) -> str:
        """Give the condition as it was written."""
        return self.text

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Tell whether values meet the condition; what is missing, None or NaN, meets nothing."""
        return self._condition.value(metadata) is True

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse fields that there are none of, and values of another type than their field's."""
        for test in self._condition.tests():
            if test.name not in types:
                there = ", ".join(shortened(name) for name in sorted(types))
                raise SettingsError(
                    f"the filter {quoted(self.text)} asks for {quoted(test.name)}, and no document "
                    f"has such metadata: {f'there are {there}' if there else 'there is none'}"
                )
            for literal in test.literals:
                _check_literal(test.name, literal, types[test.name])


class Condition(Protocol):
    """True, False, or None where that cannot be told."""

    def value(self, metadata: Mapping[str, Any]) -> bool | None:
        """Evaluate it."""

    def tests(self) -> Iterator[FieldTest]:
        """Give the tests of single fields in it, in order."""


class FieldTest(Protocol):
    """A condition on one field."""

    @property
    def name(self) -> str:
        """The field."""

    @property
    def literals(self) -> tuple[Literal, ...]:
        """What it is compared with."""


class Comparison(NamedTuple):
    """A field beside a value."""

    name: str
    sign: str
    literal: Literal

    @property
    def literals(self) -> tuple[Literal, ...]:
        """What the field is compared with."""
        return (self.literal,)

    def value(self, metadata: Mapping[str, Any]) -> bool | None:
        """Compare, where there is something to compare."""
        return _compared(metadata.get(self.name), self.sign, self.literal)

    def tests(self) -> Iterator[FieldTest]:
        """Give this one."""
        yield self


class Membership(NamedTuple):
    """A field that is one of several values."""

    name: str
    literals: tuple[Literal, ...]

    def value(self, metadata: Mapping[str, Any]) -> bool | None:
        """Tell whether one of them is equal."""
        return _any(_compared(metadata.get(self.name), "=", one) for one in self.literals)

    def tests(self) -> Iterator[FieldTest]:
        """Give this one."""
        yield self


class Missing(NamedTuple):
    """A field without a value."""

    name: str

    @property
    def literals(self) -> tuple[Literal, ...]:
        """It is compared with nothing."""
        return ()

    def value(self, metadata: Mapping[str, Any]) -> bool:
        """Tell whether there is none."""
        return _missing(metadata.get(self.name))

    def tests(self) -> Iterator[FieldTest]:
        """Give this one."""
        yield self


class Not(NamedTuple):
    """The contrary of a condition."""

    inner: Condition

    def value(self, metadata: Mapping[str, Any]) -> bool | None:
        """Turn it round, where it can be told."""
        found = self.inner.value(metadata)
        return None if found is None else not found

    def tests(self) -> Iterator[FieldTest]:
        """Give those within."""
        return self.inner.tests()


class Joined(NamedTuple):
    """Several conditions, of which all must hold, or any."""

    word: str
    parts: tuple[Condition, ...]

    def value(self, metadata: Mapping[str, Any]) -> bool | None:
        """Join them as SQL does."""
        found = (part.value(metadata) for part in self.parts)
        return _any(found) if self.word == "or" else _all(found)

    def tests(self) -> Iterator[FieldTest]:
        """Give those within."""
        for part in self.parts:
            yield from part.tests()


def _any(values: Iterator[bool | None]) -> bool | None:
    untold = False
    for value in values:
        if value:
            return True
        untold |= value is None
    return None if untold else False


def _all(values: Iterator[bool | None]) -> bool | None:
    untold = False
    for value in values:
        if value is False:
            return False
        untold |= value is None
    return None if untold else True


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _compared(value: Any, sign: str, literal: Literal) -> bool | None:
    """Compare a value with a literal of its type; none other can be told."""
    if _missing(value):
        return None
    if isinstance(value, date):
        moment = _moment(literal)
        return None if moment is None else bool(OPERATORS[sign](_moment(value), moment))
    if isinstance(value, bool) or isinstance(literal, bool):
        alike = isinstance(value, bool) and isinstance(literal, bool)
    elif isinstance(value, str):
        alike = isinstance(literal, str)
    else:
        alike = isinstance(value, (int, float)) and isinstance(literal, (int, float))
    return bool(OPERATORS[sign](value, literal)) if alike else None


def _moment(value: date | Literal) -> datetime | None:
    """Give a date, a timestamp, or a text that is one, as a moment; a date is its first."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def _check_literal(name: str, literal: Literal, kind: str) -> None:
    """Refuse a value that nothing in a field of a type can be compared with."""
    if kind in TIMES:
        good, hint = _moment(literal) is not None, "write it as '2026-01-31' or '2026-01-31T12:30'"
    elif kind in NUMBERS:
        good = isinstance(literal, (int, float)) and not isinstance(literal, bool)
        hint = "write a number without quotes"
    elif kind == "boolean":
        good, hint = isinstance(literal, bool), "write true or false"
    else:
        good, hint = isinstance(literal, str), "write a text in single quotes"
    if not good:
        raise SettingsError(
            f"the filter compares {quoted(name)}, of the type {kind}, with {_written(literal)}: "
            f"{hint}"
        )


def _written(literal: Literal) -> str:
    if isinstance(literal, str):
        return quoted(literal)
    return str(literal).lower()


class Token(NamedTuple):
    """A word of a condition."""

    kind: str
    text: str
    begin: int


class _Parser:
    """Reads a condition from its beginning to its end, one word ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = self._token(0)
        self._depth = 0

    def _token(self, begin: int) -> Token:
        """Find the next word from a place on."""
        found = TOKEN.match(self._text, begin)
        if found is None or found.lastgroup is None:
            raise self._no_word(len(self._text) - len(self._text[begin:].lstrip()))
        kind, text = found.lastgroup, found[found.lastgroup]
        if kind == "word":
            kind = text.lower() if text.lower() in KEYWORDS else "name"
        return Token(text if kind == "sign" else kind, text, found.start(found.lastgroup))

    def _no_word(self, begin: int) -> SettingsError:
        if self._text[begin : begin + 2] == '""':
            return self._wrong("a name in quotes has no letters", begin)
        opened = {"'": "a text", '"': "a name"}.get(self._text[begin])
        return self._wrong(
            f"{opened} in quotes does not end" if opened else "a filter has no such sign", begin
        )

    def _wrong(self, what: str, begin: int) -> SettingsError:
        """Say what is wrong, and where."""
        place = f"at character {begin + 1}, where {quoted(self._text[begin:])} stands"
        return SettingsError(
            f"the filter {quoted(self._text)} cannot be read "
            f"{place if begin < len(self._text) else 'at its end'}: {what}; write it as {EXAMPLE}"
        )

    def _take(self) -> Token:
        taken = self._next
        self._next = self._token(taken.begin + len(taken.text))
        return taken

    def _expect(self, kind: str, what: str) -> Token:
        if self._next.kind != kind:
            raise self._wrong(f"{what} is missing", self._next.begin)
        return self._take()

    def whole(self) -> Condition:
        """Read all of it."""
        found = self._joined("or")
        if self._next.kind != "end":
            raise self._wrong("a word like and is missing", self._next.begin)
        return found

    def _joined(self, word: str) -> Condition:
        parts = [self._part(word)]
        while self._next.kind == word:
            self._take()
            parts.append(self._part(word))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _part(self, word: str) -> Condition:
        return self._joined("and") if word == "or" else self._single()

    def _single(self) -> Condition:
        if self._next.kind not in ("not", "("):
            return self._test()
        if self._depth == DEEPEST:
            raise self._wrong(
                f"more than {DEEPEST} levels of parentheses and negations", self._next.begin
            )
        self._depth += 1
        if self._take().kind == "not":
            found: Condition = Not(self._single())
        else:
            found = self._joined("or")
            self._expect(")", "a closing parenthesis")
        self._depth -= 1
        return found

    def _test(self) -> Condition:
        name = self._name()
        sign = self._take()
        if sign.kind in OPERATORS:
            return Comparison(name, sign.kind, self._literal(ordered=sign.kind in ORDERED))
        negated = (self._next if sign.kind == "is" else sign).kind == "not"
        if sign.kind == "is":
            if negated:
                self._take()
            self._expect("null", "null")
            found: Condition = Missing(name)
        elif sign.kind == "in" or (negated and self._next.kind == "in"):
            if negated:
                self._take()
            found = Membership(name, self._list())
        else:
            raise self._wrong("=, !=, <, <=, >, >=, in, not in or is is missing", sign.begin)
        return Not(found) if negated else found

    def _name(self) -> str:
        if self._next.kind == "name":
            return self._take().text
        if self._next.kind == "quoted":
            return self._take().text[1:-1].replace('""', '"')
        if self._next.kind in KEYWORDS:
            raise self._wrong(
                "the name of a field is missing (one that is a word of the grammar is written in "
                "double quotes)",
                self._next.begin,
            )
        raise self._wrong("the name of a field is missing", self._next.begin)

    def _list(self) -> tuple[Literal, ...]:
        self._expect("(", "an opening parenthesis")
        found = [self._literal()]
        while self._next.kind == ",":
            self._take()
            found.append(self._literal())
        self._expect(")", "a comma or a closing parenthesis")
        return tuple(found)

    def _literal(self, *, ordered: bool = False) -> Literal:
        token = self._next
        if token.kind == "text":
            found: Literal = token.text[1:-1].replace("''", "'")
        elif token.kind == "number":
            found = self._number(token)
        elif token.kind in ("true", "false"):
            if ordered:
                raise self._wrong("true and false have no order", token.begin)
            found = token.kind == "true"
        elif token.kind == "null":
            raise self._wrong(
                "nothing is equal to null, and is null tells what is missing", token.begin
            )
        elif token.kind in ("name", "quoted"):
            raise self._wrong(
                "a value is missing (texts are written in single quotes)", token.begin
            )
        else:
            raise self._wrong("a value is missing", token.begin)
        self._take()
        return found

    def _number(self, token: Token) -> int | float:
        try:
            return int(token.text)
        except ValueError:
            pass
        if token.text.lstrip("+-").isdecimal():
            raise self._wrong("a number has too many digits", token.begin)
        return float(token.text)
