"""CSV and TSV: a header and records, whose fields may be quoted and hold ends of lines."""

from __future__ import annotations

import csv
import io
import itertools
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.base.wording import count, quoted, setting
from lookalike.read.blocks import Lines, blocks, closed, line_at, units, width
from lookalike.read.encoding_names import label
from lookalike.read.encodings import not_text, stands_alone, table_encoding
from lookalike.read.fields import (
    TEXT,
    Choice,
    Path,
    Piece,
    ReadOptions,
    Rows,
    choose,
    from_rows,
    joined_texts,
    no_vectors,
    numbered,
)
from lookalike.read.files import Unread
from lookalike.read.streams import as_utf8, is_utf8, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.read.blocks import Block
    from lookalike.read.files import Shard

__all__ = ["Layout", "Records", "choose_columns", "parse_records", "read_layout"]

QUOTE, NEWLINE = 34, 10
AFTER_QUOTES = (9, NEWLINE, 13, 32)
"""What may follow a closing quote beside the next field: white space."""
MAX_COLUMNS = 100_000
DELIMITERS = {"csv": ",", "tsv": "\t"}
OTHER_DELIMITERS = (";", "\t", "|")
"""What splits the columns of .csv files that are not split at commas."""
FIRST_BYTES = 1 << 16
"""Bytes read for the header, at first."""
RECORDS_TO_GUESS_BY = 100
DELIMITER_NAMES = {"\t": "tabs", " ": "blanks"}


@dataclass(frozen=True)
class Layout:
    """How a file is laid out: what its columns are named, and where its records begin."""

    delimiter: str
    names: list[str]
    encoding: str
    start: int
    """Of the first record, in unpacked bytes."""
    note: str = ""
    """What was guessed, for the user to see."""

    @property
    def cut(self) -> Records:
        """How records are told apart."""
        return Records(self.encoding, self.delimiter)


@dataclass(frozen=True)
class Records:
    """Records that end where a line does outside of quotes.

    A quote opens only at the start of a field, as it does for Python's reader and for Arrow's.
    """

    encoding: str
    delimiter: str
    reach: int = 0

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole record ends, and how many there are up to there."""
        ends = self._breaks(data)
        return (int(ends[-1]), len(ends)) if len(ends) else (0, 0)

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each record ends."""
        return closed(self._breaks(data), data)

    def resumes(self) -> bool:
        """A quote that nobody closed leaves it open where records begin."""
        return False

    def unclosed(self, data: bytes) -> tuple[int, int] | None:
        """Give where a quote opens that is not closed in some records, and where its line ends."""
        starts, stops = self._stretches(data)
        if len(starts) == len(stops):
            return None
        quote = int(starts[-1]) * width(self.encoding)
        after = self._lines(data)
        line = int(np.searchsorted(after, quote, side="right"))
        return quote, int(after[line]) if line < len(after) else len(data)

    def unbalanced(self, data: bytes) -> list[tuple[int, int, int]]:
        """Give the place in the block of each record that took in others, and of two quotes in it.

        They are those of a field of several lines that goes on after its closing quote: that will
        be the opening one of another field, and the first was never closed.
        """
        codes = units(data, self.encoding)
        starts, stops = self._stretches(data)
        starts = starts[: len(stops)]
        ends = self._lines(data) // width(self.encoding)
        several = np.searchsorted(ends, starts) < np.searchsorted(ends, stops)
        after = codes[np.minimum(stops + 1, len(codes) - 1)]
        follows = ~np.isin(after, [*AFTER_QUOTES, ord(self.delimiter)]) & (stops + 1 < len(codes))
        wrong = several & follows
        records = np.searchsorted(self.ends(data) // width(self.encoding), starts, side="right")
        scale = width(self.encoding)
        places = (records[wrong], starts[wrong] * scale, stops[wrong] * scale)
        return list(zip(*(place.tolist() for place in places), strict=True))

    def _lines(self, data: bytes) -> NDArray[np.int64]:
        return Lines(self.encoding).breaks(data)

    def _stretches(self, data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give where quoted stretches begin and end, in code units; the last may not end."""
        codes = units(data, self.encoding)
        return self._quoted(codes, np.flatnonzero(codes == QUOTE))

    def _breaks(self, data: bytes) -> NDArray[np.int64]:
        breaks = self._lines(data)
        codes = units(data, self.encoding)
        quotes = np.flatnonzero(codes == QUOTE)
        if not len(quotes):
            return breaks
        starts, stops = self._quoted(codes, quotes)
        # A line ends a record if as many quoted stretches end before it as begin.
        ends = breaks // width(self.encoding) - 1
        begun = np.searchsorted(starts, ends, side="left")
        ended = np.searchsorted(stops, ends, side="left")
        outside: NDArray[np.int64] = breaks[begun == ended]
        return outside

    def _quoted(
        self, codes: NDArray[np.uint16], quotes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give where quoted stretches begin and end; the last may not end."""
        before = codes[np.maximum(quotes - 1, 0)]
        opens = (before == NEWLINE) | (before == ord(self.delimiter)) | (quotes == 0)
        starts, stops = [], []
        place, many = 0, len(quotes)
        at, can_open = quotes.tolist(), opens.tolist()
        while place < many:
            if not can_open[place]:
                place += 1
                continue
            starts.append(at[place])
            place += 1
            while place + 1 < many and at[place + 1] == at[place] + 1:
                place += 2  # a quote written twice stands for one
            if place < many:
                stops.append(at[place])
                place += 1
        return np.array(starts, np.int64), np.array(stops, np.int64)


def read_layout(shard: Shard, options: ReadOptions) -> Layout:
    """Read the header, and tell what splits the columns: what was asked for, or what fits.

    Commas split a .csv file that has the columns asked for if they do: no other is tried.
    """
    layout = _found_layout(shard, options)
    if not stands_alone(layout.delimiter, layout.encoding):
        raise SourceError(
            f"{shard.name} is split at {layout.delimiter}, which is a part of other characters in "
            f"{label(layout.encoding)}: convert it to UTF-8"
        )
    return layout


def _found_layout(shard: Shard, options: ReadOptions) -> Layout:
    usual = options.delimiter or DELIMITERS[shard.kind]
    if options.delimiter is not None or usual != ",":
        return _laid_out(shard, _first_records(shard, usual, options), options)
    problem: SourceError | None = None
    for delimiter in (",", *OTHER_DELIMITERS):
        try:
            first = _first_records(shard, delimiter, options)
        except SourceError as error:
            # A quote may open only where the columns are split so.
            problem = problem or error
            continue
        layout = _laid_out(shard, first, options)
        if not layout.names or options.vector is not None:
            return layout
        if not options.no_header and _has_columns(shard, layout, options):
            return _noted(layout)
    if problem is not None:
        raise problem
    # Without a header, or where no columns are those asked for: that these can be named at least.
    even = _most_even(_first_records(shard, ",", options))
    return _noted(_laid_out(shard, _first_records(shard, even, options), options))


def _noted(layout: Layout) -> Layout:
    """Say what splits the columns, unless it is what the name of the file says."""
    split = DELIMITER_NAMES.get(layout.delimiter, layout.delimiter)
    return layout if split == "," else replace(layout, note=f"columns are split at {split}")


@dataclass(frozen=True)
class FirstRecords:
    """The first records of a file, whole if columns are split in some way."""

    cut: Records
    data: bytes
    start: int
    """Of the data, after a mark of the encoding."""


def _first_records(shard: Shard, delimiter: str, options: ReadOptions) -> FirstRecords:
    with opened(shard) as stream:
        encoding, mark = table_encoding(stream, options.encodings)
        cut = Records(encoding, delimiter)
        found = blocks(stream, cut, mark, -1, FIRST_BYTES, bounds=options.bounds)
        return FirstRecords(cut, next((block.data for block in found), b""), mark)


def _laid_out(shard: Shard, first: FirstRecords, options: ReadOptions) -> Layout:
    """Read the header."""
    cut = first.cut
    if not first.data:
        return Layout(cut.delimiter, [], cut.encoding, first.start)
    end = int(cut.ends(first.data)[0])
    names = _names(shard, first.data[:end], cut, options)
    start = first.start if options.no_header else first.start + end
    return Layout(cut.delimiter, names, cut.encoding, start)


def _has_columns(shard: Shard, layout: Layout, options: ReadOptions) -> bool:
    """Tell whether a header has the columns asked for."""
    try:
        choose_columns(shard, layout.names, options)
    except SourceError:
        return False
    return True


def _most_even(first: FirstRecords) -> str:
    """Tell what splits the first records into several fields, as many in each; else a comma."""
    text = first.data.decode(first.cut.encoding, "replace")
    for delimiter in (",", *OTHER_DELIMITERS):
        try:
            records = itertools.islice(_reader(text, delimiter), RECORDS_TO_GUESS_BY)
            widths = {len(fields) for fields in records if fields}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return delimiter
    return ","


def _names(shard: Shard, data: bytes, cut: Records, options: ReadOptions) -> list[str]:
    """Read the names of the columns, or count them."""
    delimiters = np.count_nonzero(units(data, cut.encoding) == ord(cut.delimiter))
    if delimiters >= MAX_COLUMNS:
        raise SourceError(
            f"the header of {shard.name} has more than {MAX_COLUMNS:,} columns, the most that a "
            "table may have: leave out those that are not needed"
        )
    where = f"{shard.name}:1" if options.no_header else f"the header of {shard.name}"
    ((_, names),) = _rows(shard, data, 0, 1, cut, where)
    if isinstance(names, SourceError):
        raise names
    return [str(place + 1) for place in range(len(names))] if options.no_header else names


def choose_columns(shard: Shard, names: list[str], options: ReadOptions) -> Choice:
    """Choose the columns by their names."""
    if options.vector is not None:
        raise no_vectors(shard.name)

    def find(name: str) -> Path | None:
        # A number may be given as one, where columns have no other name.
        return (str(name),) if str(name) in names else None

    if options.no_header and len(names) == 1 and options.text is None:
        options = replace(options, text=names[0])
    try:
        (text, *more), id_path = choose(names, options, find)
        for path in (text, *more, id_path):
            if path is not None and names.count(path[0]) > 1:
                many = names.count(path[0])
                raise SourceError(f"there are {many} columns {quoted(path[0])}: rename all but one")
    except SourceError as error:
        headless = ""
        if shard.kind in DELIMITERS and not options.no_header:
            headless = f"; where these are a record and no header, give {setting('no_header')}"
        raise SourceError(f"{shard.name}: {error.raw}{headless}") from None
    columns = {name: (name,) for name in options.columns or ()}
    return Choice(text, id_path, "text", columns, more=tuple(more))


def parse_records(
    shard: Shard,
    number: int,
    block: Block,
    layout: Layout,
    choice: Choice,
    options: ReadOptions,
) -> Piece:
    """Read the documents of a block of records."""
    names = layout.names
    unbalanced = _unbalanced(shard, block, layout.cut)
    piece = None
    if not unbalanced:
        piece = _by_arrow(shard, number, block, layout, choice, options)
    if piece is not None:
        return piece
    rows = Rows(choice, options.columns is None)
    broken: list[Unread] = []
    found = _rows(
        *(shard, block.data, block.first, block.count, layout.cut, ""), advise=not options.skip_bad
    )
    for record_number, fields in found:
        where = f"{shard.name}:{record_number}"
        try:
            if record_number in unbalanced:
                raise unbalanced[record_number]
            if isinstance(fields, SourceError):
                raise fields
            if not fields:
                continue
            if len(fields) != len(names):
                first = "first record" if options.no_header else "header"
                raise SourceError(
                    f"{where} (a record, not a line) has {count(len(fields), 'field')} where the "
                    f"{first} has {len(names):,}: fix or remove the record"
                )
            record = dict(zip(names, fields, strict=True))
            if choice.id is not None and not record[choice.id[0]]:
                raise SourceError(f"{where}: the id in {quoted(choice.id[0])} is empty")
            rows.add(record, record_number, where, shard.label)
        except SourceError as error:
            if not options.skip_bad:
                raise
            broken.append(Unread(shard.name, error.raw))
    return from_rows(rows, number, broken)


def _unbalanced(shard: Shard, block: Block, cut: Records) -> dict[int, SourceError]:
    """Give what is wrong with records that took in others, by their numbers."""
    encoding = cut.encoding
    if int(Lines(encoding).last(block.data)[1]) <= block.count:
        return {}  # every record is one line
    wrong: dict[int, SourceError] = {}
    found = cut.unbalanced(block.data)
    before = line_at(shard, block.start, encoding) if found else 0
    breaks = Lines(encoding).breaks(block.data)
    for record, *quotes in found:
        first, last = (before + np.searchsorted(breaks, quotes)).tolist()
        wrong[block.first + record] = SourceError(
            f"{shard.name}:{block.first + record} opens a quote in line {first:,} that closes "
            f"within a field in line {last:,}: close it before, or write it twice "
            '("") where it belongs to the text'
        )
    return wrong


def _by_arrow(
    shard: Shard,
    number: int,
    block: Block,
    layout: Layout,
    choice: Choice,
    options: ReadOptions,
) -> Piece | None:
    """Read a block by Arrow; None where a record is bad, or is one for only one of the readers."""
    try:
        data = as_utf8(block.data, layout.encoding)
    except UnicodeDecodeError:
        return None
    delimiter, names = layout.delimiter, layout.names
    if data.startswith(BOM_UTF8) or _has_lone_returns(data) or not is_utf8(data):
        return None
    if _holds_blanks(data, delimiter):
        return None
    others = choice.columns
    if options.columns is None:
        others = {name: (name,) for name in names if (name,) not in choice.texts}
    # The last of those that have one name, as in a record that is read by itself.
    places = {name: place for place, name in enumerate(names)}
    chosen = [*(path[0] for path in choice.texts), *(choice.id or ()), *others]
    wide = [str(places[name]) for name in chosen if name in places]
    table = _table(data, delimiter, len(names), wide)
    if table is None or len(table) != block.count:
        return None

    def column(name: str) -> pa.Array:
        return table.column(str(places[name])).combine_chunks()

    records = np.arange(block.first, block.first + block.count)
    if choice.id is None:
        ids = numbered(shard.label, records)
    else:
        ids = column(choice.id[0])
        if pc.any(pc.equal(ids, "")).as_py():
            return None
    return Piece(
        ids,
        joined_texts([column(path[0]).cast(TEXT) for path in choice.texts]),
        np.full(block.count, number, np.int32),
        records,
        {n: column(n) if n in names else pa.nulls(block.count) for n in others},
    )


def _has_lone_returns(data: bytes) -> bool:
    """Tell whether some line might end in a carriage return only, where readers differ."""
    returns = data.count(b"\r")
    return returns > 0 and returns != data.count(b"\r\n")


def _holds_blanks(data: bytes, delimiter: str) -> bool:
    """Tell whether there are records without anything in them, which Arrow takes for empty ones."""
    if not len(_short(Lines().ends(data))):
        return False  # as is quicker to tell than where quoted lines are
    ends = Records("utf-8", delimiter).ends(data)
    return any(not data[max(end - 2, 0) : end].strip(b"\r\n") for end in _short(ends).tolist())


def _short(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the ends of those stretches that hold no more than the end of a line can."""
    short: NDArray[np.int64] = ends[np.diff(ends, prepend=0) <= 2]
    return short


def _table(data: bytes, delimiter: str, fields: int, chosen: list[str]) -> pa.Table | None:
    """Read chosen fields as text, by their places; None where records have more or fewer."""
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(fields)]
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(chosen, pa.string()),
                include_columns=list(dict.fromkeys(chosen)),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except pa.ArrowException:
        return None


def _rows(
    shard: Shard,
    data: bytes,
    first: int,
    count: int,
    cut: Records,
    where: str,
    *,
    advise: bool = True,
) -> Iterator[tuple[int, list[str] | SourceError]]:
    """Give number and fields of each record; an error for one that cannot be read.

    That says in which encoding it may be, if it shall advise.
    """
    encoding, delimiter = cut.encoding, cut.delimiter
    csv.field_size_limit(2**31 - 1)  # the reader's own limit is 128 KB; ours is in `streams`
    text = ""
    try:
        text = data.decode(encoding)
        # Records without a field take more memory than their bytes: they are not all held.
        found = sum(1 for _ in _reader(text, delimiter))
    except (UnicodeDecodeError, csv.Error):
        found = -1
    if found == count and not _has_lone_returns(as_utf8(data, encoding)):
        yield from enumerate(_reader(text, delimiter), first)
        return
    start = 0
    for place, end in enumerate(cut.ends(data).tolist()):
        here = where or f"{shard.name}:{first + place}"
        sample = data if advise else None
        yield first + place, _row(data[start:end], encoding, delimiter, here, sample)
        start = end


def _reader(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _row(
    data: bytes, encoding: str, delimiter: str, where: str, sample: bytes | None
) -> list[str] | SourceError:
    try:
        return next(csv.reader([data.decode(encoding)], delimiter=delimiter), [])
    except UnicodeDecodeError as error:
        return not_text(where, error, encoding, sample)
    except csv.Error as error:
        return SourceError(f"{where} is not a valid record: {error}; fix or remove it")
