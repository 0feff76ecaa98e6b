"""Two texts beside each other on a terminal: shared passages numbered and coloured."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice, pairwise, zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lookalike.base.wording import count, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from lookalike.score.comparison import Comparison
    from lookalike.text.alignment import Block
    from lookalike.text.passages import Passage

__all__ = ["show_side_by_side"]

# Told apart by most colour-blind readers, on dark and on light; the numbers tell the same.
COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
MIN_COLUMNS = 60
"""Of a terminal that has space for two texts side by side."""
MAX_TEXT_WIDTH = 90
"""Of one text: longer lines are hard to read."""
SHARED_ROWS, OTHER_ROWS = (4, 2), (8, 4)
"""Rows of a long piece that are shown, at its beginning and its end: of a passage, of the rest."""
MANY_LINES = 5
"""Lines of a text from which on it matters how long they are."""
INDENTED = 0.25
"""The share of lines that are indented, from which on a text is taken for code."""
TAB = "    "
WORD = re.compile(r"\S+")
SINGLE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Kana and ideographs: each is a word."""
NEXT_WORD = re.compile(rf"\s+|(?=[{SINGLE}])")
"""What ends before a word: a blank, and in scripts without blanks nothing."""
COUNTED = re.compile(rf"[{SINGLE}]|[^\s{SINGLE}\u3000-\u303f\uff00-\uff65]+")
"""A word where words are counted; the marks between ideographs are none."""
BREAK = re.compile(r"\s*\n\s*\n\s*")


@dataclass(frozen=True)
class _Atom:
    """What stays on one row: a word, a part of it, or the mark of a passage."""

    text: str
    style: str
    start: int
    end: int
    is_apart: bool
    """Whether a blank stands before it."""
    is_glued: bool
    """Whether it stays on the row of the one before: a mark with its word, a comma with a mark."""
    breaks: int = 0
    """Rows to end before it: 1 for a new line, 2 for a new paragraph."""
    indent: int = 0
    """Blanks before it, where it is the first of its line."""


@dataclass(frozen=True)
class _Row:
    text: Text
    start: int
    """Of its first word, in the document; below 0 where it has none."""
    end: int


class _Side:
    """One of the two texts, with the passages in it."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int, int]], width: int) -> None:
        """Take a text, its passages from and to with their numbers, and the width of a row."""
        self.text = text
        self.width = width
        self.spans = sorted(spans)
        self.span_starts = [start for start, *_ in self.spans]
        self.span_reach = [*accumulate((end for _, end, _ in self.spans), max)]
        self.line_starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
        self.keeps_lines = self._has_own_lines()

    def line(self, place: int) -> int:
        """Give the number of the line at a place, from 1."""
        return bisect_right(self.line_starts, place)

    def _has_own_lines(self) -> bool:
        """Tell code and verse, which are indented or short, from prose that is set anew."""
        lines = [line for line in self.text.split("\n") if line.strip()]
        if len(lines) < MANY_LINES:
            return False
        indented = sum(line[0].isspace() for line in lines)
        middle = sorted(map(len, lines))[len(lines) // 2]
        return middle <= self.width or indented >= INDENTED * len(lines)

    def rows(self, start: int, end: int, fold: tuple[int, int] | None, what: str) -> list[_Row]:
        """Set a piece of the text in rows; one that is long is folded, which is said."""
        rows = self._wrapped(start, end)
        if fold is None:
            return [*rows]
        first, last = fold
        head = [*islice(rows, first + last + 2)]
        if len(head) <= first + last + 1:
            return head
        head = head[:first]
        while head[-1].start < 0:
            head.pop()
        tail_at = max(head[-1].end, end - last * self.width)
        found = NEXT_WORD.search(self.text, tail_at, end)
        tail = [*self._wrapped(found.end() if found else end, end)][-last:]
        while tail and tail[0].start < 0:
            tail.pop(0)
        hidden = self.text[head[-1].end : tail[0].start if tail else end]
        said = f"… {count(len(COUNTED.findall(hidden)), 'word')} {what} …"
        return [*head, _Row(Text().append(said, "dim"), -1, -1), *tail]

    def _wrapped(self, start: int, end: int) -> Iterator[_Row]:
        row, used, first, last = Text(), 0, -1, -1
        for atom, size in self._measured(start, end):
            space = int(atom.is_apart and used > 0)
            if used and (atom.breaks or used + space + size > self.width):
                yield _Row(row, first, last)
                if atom.breaks > 1:
                    yield _Row(Text(), -1, last)
                row, used, space, first = Text(), 0, 0, -1
            if not used:
                space = min(atom.indent, self.width // 4, max(0, self.width - size))
            row.append(" " * space).append(atom.text, atom.style)
            first, last = (atom.start if first < 0 else first), atom.end
            used += space + cell_len(atom.text)
        if used:
            yield _Row(row, first, last)

    def _measured(self, start: int, end: int) -> Iterator[tuple[_Atom, int]]:
        """Give atoms with how much has to fit on the row where each begins: it, and what is glued.

        What is glued to others and does not fit on any row is broken where it has to be.
        """
        unit: list[_Atom] = []
        for atom in chain(self._atoms(start, end), [None]):
            if atom is not None and atom.is_glued:
                unit.append(atom)
                continue
            sizes = [cell_len(one.text) + one.is_apart for one in unit]
            together = sum(sizes) - bool(unit and unit[0].is_apart)
            fits = together <= self.width
            for at, one in enumerate(unit):
                yield one, (together if at == 0 else 0) if fits else cell_len(one.text)
            unit = [] if atom is None else [atom]

    def _atoms(self, start: int, end: int) -> Iterator[_Atom]:
        """Give the words of a piece, cut where passages begin and end, with the marks of these."""
        before = start
        for found in WORD.finditer(self.text, start, end):
            between = self.text[before : found.start()]
            breaks = self._breaks(between) if before > start else 0
            indent = self._indent(found.start())
            cuts = sorted(
                {
                    place
                    for a, b, _ in self._near(found.start(), found.end())
                    for place in (a, b)
                    if found.start() < place < found.end()
                }
            )
            is_apart = True
            for one, other in pairwise([found.start(), *cuts, found.end()]):
                for atom in self._marked(one, other, is_apart):
                    yield replace(atom, breaks=breaks, indent=indent)
                    breaks = indent = 0
                is_apart = False
            before = found.end()

    def _breaks(self, between: str) -> int:
        if BREAK.fullmatch(between):
            return 2
        return int(self.keeps_lines and "\n" in between)

    def _indent(self, start: int) -> int:
        """Count the blanks before the first word of a line, where lines are kept."""
        if not self.keeps_lines:
            return 0
        before = self.text[self.line_starts[self.line(start) - 1] : start]
        return 0 if before.strip() else len(before.replace("\t", TAB))

    def _near(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Give the passages that touch a word."""
        near = []
        at = bisect_left(self.span_starts, end) - 1
        while at >= 0 and self.span_reach[at] >= start:
            if self.spans[at][1] >= start:
                near.append(self.spans[at])
            at -= 1
        return near[::-1]

    def _marked(self, start: int, end: int, is_apart: bool) -> Iterator[_Atom]:
        """Give a part of a word that no passage cuts, with the marks of those that begin or end."""
        near = self._near(start, end)
        inside = [number for a, b, number in near if a <= start and end <= b]
        style = COLOURS[(inside[0] - 1) % len(COLOURS)] if inside else ""
        bold = f"bold {style}".strip()
        is_glued = not is_apart
        for a, _, number in near:
            if a == start:
                yield _Atom(f"[{number}", bold, start, start, is_apart, is_glued)
                is_apart, is_glued = True, True
        at = start
        for part, signs in self._parts(self.text[start:end]):
            yield _Atom(part, style, at, at + signs, is_apart, is_glued)
            is_apart, is_glued, at = False, False, at + signs
        for _, b, number in near:
            if b == end:
                yield _Atom(f"{number}]", bold, end, end, True, True)

    def _parts(self, word: str) -> list[tuple[str, int]]:
        """Cut a word for rows, each part with how many signs it has.

        An ideograph stands for itself, and what is too long is broken.
        """
        parts: list[str] = []
        signs: list[int] = []
        was_wide = False
        for sign in word:
            shown = visible(sign)
            size = cell_len(shown)
            is_wide = size > 1 and len(shown) == 1
            stays = not (is_wide or was_wide) and parts and cell_len(parts[-1]) + size <= self.width
            # A mark without width belongs to the sign before it.
            if parts and (stays or not size):
                parts[-1] += shown
                signs[-1] += 1
            else:
                parts.append(shown)
                signs.append(1)
            was_wide = is_wide if size else was_wide
        return [*zip(parts, signs, strict=True)]


def show_side_by_side(
    out: Console,
    found: Comparison,
    names: tuple[str, str],
    chosen: Sequence[Passage],
    *,
    whole: bool,
) -> None:
    """Show two texts in columns, or, where there is no space for two, one below the other."""
    blocks = found.aligned(chosen)
    a, b = str(found.a), str(found.b)
    digits = len(str(max(a.count("\n"), b.count("\n")) + 1))
    numbers = {id(passage): at for at, passage in enumerate(found.passages, start=1)}
    spans_a = [(one.a_start, one.a_end, numbers[id(one)]) for one in found.passages]
    spans_b = [(one.b_start, one.b_end, numbers[id(one)]) for one in found.passages]
    if out.width < MIN_COLUMNS:
        width = max(10, out.width - digits - 3)
        _stacked(out, (_Side(a, spans_a, width), _Side(b, spans_b, width)), blocks, digits, whole)
        return
    width = min(MAX_TEXT_WIDTH, (out.width - 3) // 2 - digits - 1)
    sides = _Side(a, spans_a, width), _Side(b, spans_b, width)
    _beside(out, sides, names, blocks, digits, whole)


def _pieces(
    sides: tuple[_Side, _Side], block: Block, *, whole: bool
) -> tuple[list[_Row], list[_Row]]:
    """Set both pieces of a block in rows."""
    is_shared = block.passage is not None
    fold = None if whole else (SHARED_ROWS if is_shared else OTHER_ROWS)
    of_a, of_b = ("in both", "in both") if is_shared else ("of a", "of b")
    return (
        sides[0].rows(block.a_start, block.a_end, fold, of_a),
        sides[1].rows(block.b_start, block.b_end, fold, of_b),
    )


def _beside(
    out: Console,
    sides: tuple[_Side, _Side],
    names: tuple[str, str],
    blocks: Sequence[Block],
    digits: int,
    whole: bool,
) -> None:
    width = sides[0].width + digits + 1
    left, right = (
        _fitting(f"{sign}  {name}", width) for sign, name in zip("ab", names, strict=True)
    )
    _print(out, _padded(left, width).append("   ").append_text(right))
    _print(out, Text("─" * width + "─┬─" + "─" * width, "dim"))
    empty = _Row(Text(), -1, -1)
    for block in blocks:
        sign = "≠" if block.passage is None else "="
        seen = [0, 0]
        for rows in zip_longest(*_pieces(sides, block, whole=whole), fillvalue=empty):
            cells = [
                _numbered(side, row, digits, seen, at)
                for at, (side, row) in enumerate(zip(sides, rows, strict=True))
            ]
            line = _padded(cells[0], width)
            line.append(f" {sign} ", "dim").append_text(cells[1])
            _print(out, line)
            sign = "│"


def _stacked(
    out: Console,
    sides: tuple[_Side, _Side],
    blocks: Sequence[Block],
    digits: int,
    whole: bool,
) -> None:
    """Show what is in both once, and the rest of each text with its letter."""
    for block in blocks:
        both = _pieces(sides, block, whole=whole)
        is_shared = block.passage is not None
        for at, rows in enumerate(both[:1] if is_shared else both):
            seen = [0, 0]
            for row in rows:
                sign = "=" if is_shared else "ab"[at]
                line = Text().append(f"{sign} ", "dim")
                _print(out, line.append_text(_numbered(sides[at], row, digits, seen, at)))


def _numbered(side: _Side, row: _Row, digits: int, seen: list[int], at: int) -> Text:
    """Put the number of the line before a row, where it is another than that of the row above."""
    line = side.line(row.start) if row.start >= 0 else 0
    shown = str(line) if line and line != seen[at] else ""
    seen[at] = line or seen[at]
    return Text().append(f"{shown:>{digits}} ", "dim").append_text(row.text)


def _padded(text: Text, width: int) -> Text:
    return text.append(" " * max(0, width - cell_len(text.plain)))


def _fitting(name: str, width: int) -> Text:
    """Cut a long name in front, where names of one folder are alike."""
    shown = visible(name)
    letter, rest = shown[:3], shown[3:]
    if cell_len(shown) <= width:
        return Text().append(shown, "bold")
    while cell_len(rest) > width - 4:
        rest = rest[1:]
    return Text().append(f"{letter}…{rest}", "bold")


def _print(out: Console, line: Text) -> None:
    line.rstrip()
    out.print(line, no_wrap=True, overflow="ignore", crop=False)
