"""What a textbook prints, as a user types it: matrices, hash functions and permutations."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import count, quoted, setting, shortened, visible
from lookalike.learn.textbook import CharacteristicMatrix, HashFunction
from lookalike.read import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_first_row", "first_row_of", "parse_hash", "parse_permutation", "read_matrix"]

CORNERS = {"", "element", "item", "row", "shingle", "token"}
"""What stands above the names of rows; no set is called so."""
NUMBER = re.compile("[0-9]{1,9}")
HASH = re.compile(r"(?:h[0-9]*\([xr]\)=)?\(?([-+*0-9xr]+?)\)?(?:mod|%)([0-9]{1,18})")
TERM = re.compile(r"([-+]?)([0-9]{0,18})(\*?[xr])?")


def read_matrix(source: Any, first_row: int = 1) -> CharacteristicMatrix:
    """Read a file of zeros and ones, a row for each element and a column for each set.

    Cells stand between commas, semicolons, tabs or blanks. Names of sets in a first line, and of
    elements in a first column, may be there or not: rows without are called by their numbers.
    Named sets, and a matrix that was made already, are taken as well.
    """
    if isinstance(source, CharacteristicMatrix):
        return source
    if isinstance(source, Mapping):
        return CharacteristicMatrix.of(
            {str(name): _elements(name, has) for name, has in source.items()}
        )
    if not isinstance(source, (str, os.PathLike)):
        raise SourceError(
            f"a matrix cannot be read from a {type(source).__name__}: give the path of a file, or "
            "a dict of sets"
        )
    name = visible(os.fspath(source))
    lines = _lines(read_text(source), name)
    header = lines.pop(0)[1] if _is_header([cells for _, cells in lines]) else None
    if not lines:
        raise SourceError(f"{name} has a header and no rows: give a row of 0 and 1 to each element")
    _check_lengths(lines, header, name)
    named = _has_names([cells for _, cells in lines], header)
    numbers = range(first_row, first_row + len(lines))
    rows = [cells[0] for _, cells in lines] if named else [*map(str, numbers)]
    bits = [_zeros_and_ones(cells[named:], f"{name}:{number}") for number, cells in lines]
    columns = header[-len(bits[0]) :] if header else [f"S{at + 1}" for at in range(len(bits[0]))]
    for what, names in (("sets", columns), ("rows", rows)):
        if len(set(names)) < len(names):
            twice = next(one for one in names if names.count(one) > 1)
            raise SourceError(f"{name} has two {what} called '{shortened(twice)}': rename one")
    return CharacteristicMatrix(tuple(rows), tuple(columns), tuple(bits))


def _elements(name: object, has: Any) -> set[str]:
    """Give the elements of a named set."""
    if isinstance(has, (str, bytes)) or not isinstance(has, Iterable):
        raise SourceError(
            f"the set {quoted(name)} is of type {type(has).__name__}: give the elements that it "
            "has, as {'a', 'b'}"
        )
    return {str(element) for element in has}


def _zeros_and_ones(cells: Sequence[str], where: str) -> tuple[int, ...]:
    for cell in cells:
        if cell not in ("0", "1"):
            raise SourceError(f"{where} has '{shortened(cell)}' in the place of a 0 or 1: fix it")
    return tuple(map(int, cells))


def _lines(text: str, name: str) -> list[tuple[int, list[str]]]:
    """Cut a text in lines of cells, each with its number; blank ones are left out."""
    kept = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not kept:
        raise SourceError(f"{name} is empty: give a row of 0 and 1 to each element")
    separator = next((mark for mark in ",;\t" if mark in kept[0][1]), None)
    try:
        return [(at, _cells(line, separator)) for at, line in kept]
    except csv.Error as error:
        raise SourceError(f"{name} is not a table of 0 and 1: {error}") from None


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _is_header(table: Sequence[Sequence[str]]) -> bool:
    """Tell whether a table begins with the names of sets: words, or numbers that go up by one.

    Where the first column goes up with it, these are the names of rows, and the line is one.
    """
    cells = table[0]
    names = cells[1:] or cells
    if set(names) <= {"0", "1"}:
        return False
    if not all(map(NUMBER.fullmatch, names)):
        return True
    first, *below = [row[0] for row in table]
    is_wide = not below or len(cells) == len(table[1])
    if is_wide and not {*below} <= {"0", "1"} and _goes_up([first, *below]):
        return False
    return _goes_up(cells) or _goes_up(names)


def _goes_up(names: Sequence[str]) -> bool:
    """Tell numbers that go up by one, two or more of them."""
    if not all(map(NUMBER.fullmatch, names)):
        return False
    steps = [int(other) - int(one) for one, other in pairwise(names)]
    return {*steps} == {1}


def _check_lengths(
    lines: Sequence[tuple[int, Sequence[str]]], header: Sequence[str] | None, name: str
) -> None:
    first, width = lines[0][0], len(lines[0][1])
    for number, cells in lines[1:]:
        if len(cells) != width:
            raise SourceError(
                f"{name}:{number} has {count(len(cells), 'cell')} and line {first} has {width}: "
                "give every row as many"
            )
    # The corner above the names of rows may be left out.
    if header is not None and len(header) not in (width, width - 1):
        raise SourceError(
            f"{name} has {count(len(header), 'name')} in its header and {count(width, 'cell')} in "
            "a row: give every column a name"
        )


def _has_names(rows: Sequence[Sequence[str]], header: Sequence[str] | None) -> bool:
    """Tell whether the first column holds the names of the elements."""
    if header and (len(header) < len(rows[0]) or header[0].lower() in CORNERS):
        return True
    first = [cells[0] for cells in rows]
    return not set(first) <= {"0", "1"} and len(set(first)) == len(first)


def check_first_row(given: object) -> None:
    """Refuse what is neither 0 nor 1."""
    if given is not None and (type(given) is not int or given not in (0, 1)):
        raise SettingsError(f"{setting('first_row', given)}: rows are counted from 0 or from 1")


def first_row_of(matrix: CharacteristicMatrix, given: int | None) -> int:
    """Say from where rows are counted: as given, else from 0 where the matrix names them so."""
    if given is not None:
        return given
    return 0 if matrix.shingles == tuple(map(str, range(len(matrix.cells)))) else 1


def parse_hash(given: str | HashFunction) -> HashFunction:
    """Read a hash function of a row, as `3x+1 mod 5`."""
    if isinstance(given, HashFunction):
        return given
    if not isinstance(given, str):
        raise SettingsError(
            f"{setting('hash', given)} is of type {type(given).__name__}: use text, as '3x+1 mod 5'"
        )
    # Blanks say nothing, but between digits they would make one number of two.
    is_cut = re.search(r"[0-9]\s+[0-9]", str(given))
    found = None if is_cut else HASH.fullmatch("".join(str(given).lower().split()))
    terms = _terms(found[1]) if found else None
    if not found or terms is None or int(found[2]) < 1:
        raise SettingsError(
            f"{setting('hash', visible(given))} is not understood: use a multiple of x, a number "
            "added to it, and a modulus, as 3x+1 mod 5"
        )
    return HashFunction(*terms, int(found[2]))


def _terms(text: str) -> tuple[int, int] | None:
    """Add up the multiples of x, and the numbers, of a sum; None where it is none."""
    sums = {True: 0, False: 0}
    with_x, place = False, 0
    while place < len(text):
        term = TERM.match(text, place)
        if not term or not (term[2] or term[3]) or (place and not term[1]):
            return None
        if term[3] and term[3].startswith("*") and not term[2]:
            return None
        number = int(term[2] or 1)
        sums[bool(term[3])] += -number if term[1] == "-" else number
        with_x, place = with_x or bool(term[3]), term.end()
    return (sums[True], sums[False]) if with_x else None


def parse_permutation(
    given: str | Iterable[Any], matrix: CharacteristicMatrix, first_row: int
) -> tuple[int, ...]:
    """Read an order of the rows, by their numbers or names, as `4,3,1,2` or `b e a d c`."""
    if isinstance(given, bytes) or not isinstance(given, (str, Iterable)):
        raise SettingsError(
            f"{setting('permutation', given)} is of type {type(given).__name__}: use text, as "
            "'2,1,3', or a list of rows"
        )
    parts = given.replace(",", " ").split() if isinstance(given, str) else [*given]
    numbers = {name: row for row, name in enumerate(matrix.shingles, start=first_row)}
    # A number is that of a row, whatever rows are called.
    numbers |= {str(row): row for row in numbers.values()}
    order = tuple(numbers.get(str(part), -1) for part in parts)
    if sorted(order) != sorted({*numbers.values()}):
        last = first_row + len(matrix.cells) - 1
        written = given if isinstance(given, str) else ",".join(map(str, parts))
        raise SettingsError(
            f"{setting('permutation', visible(written))} is not an order of the rows: "
            f"{_not_an_order(parts, order, first_row, last)}; name each from {first_row} to {last} "
            "once"
        )
    return order


def _not_an_order(parts: Sequence[Any], order: Sequence[int], first: int, last: int) -> str:
    """Say what keeps numbers of rows from being an order of them all."""
    for part, row in zip(parts, order, strict=True):
        if row < first:
            other = 1 - first
            counted = {str(at) for at in range(other, other + last - first + 1)}
            if set(map(str, parts)) <= counted:
                return (
                    f"there is no row {quoted(part)}, as rows are counted from {first}, unless by "
                    f"{setting('first_row', other)}"
                )
            return f"there is no row {quoted(part)}"
    twice = next((row for row in order if order.count(row) > 1), None)
    if twice is not None:
        return f"it names row {twice} more than once"
    return f"it leaves out row {min({*range(first, last + 1)} - {*order})}"
