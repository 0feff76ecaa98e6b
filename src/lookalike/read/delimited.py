"""CSV and TSV: a header and records, whose fields may be quoted and hold ends of lines."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.base.wording import count, quoted
from lookalike.read.blocks import Lines, closed, line_at, units, width
from lookalike.read.encodings import not_text
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
from lookalike.read.streams import as_utf8, is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.read.blocks import Block
    from lookalike.read.files import Shard

__all__ = ["Records", "choose_columns", "parse_header", "parse_records"]

QUOTE, NEWLINE = 34, 10
AFTER_QUOTES = (9, NEWLINE, 13, 32)
"""What may follow a closing quote beside the next field: white space."""
MAX_COLUMNS = 100_000
DELIMITERS = {"csv": ",", "tsv": "\t"}


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


def parse_header(shard: Shard, data: bytes, encoding: str) -> list[str]:
    """Read the names of the columns."""
    delimiters = np.count_nonzero(units(data, encoding) == ord(DELIMITERS[shard.kind]))
    if delimiters >= MAX_COLUMNS:
        raise SourceError(
            f"the header of {shard.name} has more than {MAX_COLUMNS:,} columns, the most that a "
            "table may have: leave out those that are not needed"
        )
    ((_, names),) = _rows(shard, data, 0, 1, encoding, f"the header of {shard.name}")
    if isinstance(names, SourceError):
        raise names
    return names


def choose_columns(shard: Shard, names: list[str], options: ReadOptions) -> Choice:
    """Choose the columns by their names."""
    if options.vector is not None:
        raise no_vectors(shard.name)

    def find(name: str) -> Path | None:
        return (name,) if name in names else None

    try:
        (text, *more), id_path = choose(names, options, find)
        for path in (text, *more, id_path):
            if path is not None and names.count(path[0]) > 1:
                many = names.count(path[0])
                raise SourceError(f"there are {many} columns {quoted(path[0])}: rename all but one")
    except SourceError as error:
        raise SourceError(f"{shard.name}: {error.raw}") from None
    columns = {name: (name,) for name in options.columns or ()}
    return Choice(text, id_path, "text", columns, more=tuple(more))


def parse_records(
    shard: Shard,
    number: int,
    block: Block,
    encoding: str,
    choice: Choice,
    names: list[str],
    options: ReadOptions,
) -> Piece:
    """Read the documents of a block of records."""
    unbalanced = _unbalanced(shard, block, encoding)
    piece = None
    if not unbalanced:
        piece = _by_arrow(shard, number, block, encoding, choice, names, options)
    if piece is not None:
        return piece
    rows = Rows(choice, options.columns is None)
    broken: list[Unread] = []
    found = _rows(
        *(shard, block.data, block.first, block.count, encoding, ""), advise=not options.skip_bad
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
                raise SourceError(
                    f"{where} (a record, not a line) has {count(len(fields), 'field')} where the "
                    f"header has {len(names):,}: fix or remove the record"
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


def _unbalanced(shard: Shard, block: Block, encoding: str) -> dict[int, SourceError]:
    """Give what is wrong with records that took in others, by their numbers."""
    if int(Lines(encoding).last(block.data)[1]) <= block.count:
        return {}  # every record is one line
    wrong: dict[int, SourceError] = {}
    found = Records(encoding, DELIMITERS[shard.kind]).unbalanced(block.data)
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
    encoding: str,
    choice: Choice,
    names: list[str],
    options: ReadOptions,
) -> Piece | None:
    """Read a block by Arrow; None where a record is bad, or is one for only one of the readers."""
    try:
        data = as_utf8(block.data, encoding)
    except UnicodeDecodeError:
        return None
    delimiter = DELIMITERS[shard.kind]
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
    encoding: str,
    where: str,
    *,
    advise: bool = True,
) -> Iterator[tuple[int, list[str] | SourceError]]:
    """Give number and fields of each record; an error for one that cannot be read.

    That says in which encoding it may be, if it shall advise.
    """
    delimiter = DELIMITERS[shard.kind]
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
    for place, end in enumerate(Records(encoding, delimiter).ends(data).tolist()):
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
