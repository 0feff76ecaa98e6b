"""XML read from its first byte to its last: no tree is built, and no entity is expanded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

__all__ = ["Elements", "Lines", "Rules", "elements", "local", "parse", "parse_pieces"]

MAX_DEPTH = 1000
"""Elements inside one another; documents have some tens."""
WHITE = re.compile("[ \t\r\n]+")


class Elements(Protocol):
    """What is called in the order of a document."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Text stands here, or some of it."""


def local(name: str) -> str:
    """Give a name without its prefix, of which every writer may take another."""
    return name[name.rfind(":") + 1 :]


def _parser(found: Elements) -> Any:
    """Make a parser that refuses entities, which a few lines may blow up to any length."""
    parser = expat.ParserCreate()
    begin, finish = found.start, found.end
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"its markup is nested deeper than {MAX_DEPTH:,} levels")
        begin(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        finish(name)

    def refuse(*_: Any) -> NoReturn:
        raise ValueError("its markup declares entities of its own")

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = found.text
    parser.EntityDeclHandler = refuse
    return parser


def parse(data: bytes, found: Elements) -> None:
    """Go through a whole part at once."""
    _parser(found).Parse(data, True)


def parse_pieces(pieces: Iterable[bytes], found: Elements, limit: int) -> Iterator[None]:
    """Go through a part of any size, and give way after every few pieces.

    What begins and does not end within some bytes is refused. Until it ends, ever more is put in
    at once: the parser begins with it anew each time.
    """
    parser = _parser(found)
    waiting = bytearray()
    given = unfinished = 0
    for piece in pieces:
        waiting += piece
        if len(waiting) < unfinished:
            continue
        parser.Parse(bytes(waiting), False)
        given += len(waiting)
        waiting.clear()
        unfinished = given - max(parser.CurrentByteIndex, 0)
        if unfinished > limit:
            raise ValueError(f"a piece of its markup is longer than {limit >> 20} MB")
        yield
    parser.Parse(bytes(waiting), True)
    yield


@dataclass
class _Listed:
    names: Set[str]
    found: list[tuple[str, dict[str, str]]]

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if local(name) in self.names:
            self.found.append((local(name), dict(attributes)))

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def elements(data: bytes, *names: str) -> list[tuple[str, dict[str, str]]]:
    """Give the elements of some names, with their attributes, in order."""
    listed = _Listed(frozenset(names), [])
    parse(data, listed)
    return listed.found


@dataclass(frozen=True)
class Rules:
    """Which elements hold the text of a document, by names without prefixes."""

    paragraphs: Set[str]
    breaks: Mapping[str, str]
    """What elements within a paragraph stand for."""
    silent: Set[str]
    """Names with prefixes: nobody reads what they hold."""
    runs: Set[str] = frozenset()
    """Elements that alone hold text; none where all of a paragraph is text."""
    silent_fields: tuple[str, ...] = ()
    """How the types of fields begin that a program fills in, as the number of a page."""


class Lines:
    """The paragraphs of a document as lines; one may stand inside another, as in a text box."""

    def __init__(self, rules: Rules) -> None:
        """Begin a document."""
        self.lines: list[str] = []
        self._rules = rules
        self._open: list[tuple[int, list[str]]] = []
        """Paragraphs that have begun: where their lines will be, and what they hold so far."""
        self._silent = 0
        self._runs = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin a paragraph, or note what stands in one."""
        rules, plain = self._rules, local(name)
        if self._silent or name in rules.silent or self._is_filled_in(plain, attributes):
            self._silent += 1
        elif plain in rules.paragraphs:
            self._open.append((len(self.lines), []))
            self.lines.append("")
        elif plain in rules.runs:
            self._runs += 1
        elif plain in rules.breaks and self._open:
            self._open[-1][1].append(rules.breaks[plain])

    def end(self, name: str) -> None:
        """End a paragraph."""
        if self._silent:
            self._silent -= 1
        elif local(name) in self._rules.paragraphs:
            place, pieces = self._open.pop()
            self.lines[place] = "".join(pieces).strip()
        elif local(name) in self._rules.runs:
            self._runs -= 1

    def text(self, data: str) -> None:
        """Take what a reader reads, with blanks for any white space."""
        if self._open and not self._silent and (self._runs or not self._rules.runs):
            self._open[-1][1].append(WHITE.sub(" ", data))

    def _is_filled_in(self, name: str, attributes: Mapping[str, str]) -> bool:
        begins = self._rules.silent_fields
        return name == "fld" and attributes.get("type", "").startswith(begins) and bool(begins)
