"""The work of reading shards, in tasks that any thread can do, by the format of each."""

from __future__ import annotations

import itertools
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import BinaryFileError, EncodingError, NoTextError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.read import (
    delimited,
    json_arrays,
    jsonl,
    mbox,
    npy,
    single_files,
    streams,
    text_lines,
)
from lookalike.read.archives import HELD_BYTES, in_memory, is_in_turn
from lookalike.read.arrow_files import ArrowTable
from lookalike.read.batches import NO_ID
from lookalike.read.blocks import Lines, blocks
from lookalike.read.column_batches import choose_from_schema, parse_rows, type_at
from lookalike.read.content import BINARY, NO_TEXT, UNKNOWN_ENCODING
from lookalike.read.document_text import refused_if_broken
from lookalike.read.encodings import table_encoding
from lookalike.read.fields import TEXT, Piece, as_column, no_documents, no_vectors
from lookalike.read.files import BATCHES, FileNote, Unread
from lookalike.read.orc import OrcTable
from lookalike.read.parquet import ParquetTable
from lookalike.read.partitions import partitions, with_partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lookalike.read.batches import Position
    from lookalike.read.blocks import Block, Cut
    from lookalike.read.column_batches import StoredTable
    from lookalike.read.fields import Choice, Kind, ReadOptions
    from lookalike.read.files import Shard

    Task = Callable[[], Piece | Iterator[Piece]]

__all__ = ["Part", "Reading", "ShardReader", "in_turn"]

BATCH_BYTES = 8 << 20
BATCH_FILES = 256
"""Files of one document that are read in one go, at the most."""
FIRST_LINES = 1 << 16
"""Bytes read to choose the fields by."""
KINDS: dict[Kind, str] = {"text": "texts", "tokens": "lists of tokens", "vectors": "vectors"}
STORED_TABLES: dict[str, Callable[[Shard, streams.Bounds], StoredTable]] = {
    "parquet": ParquetTable,
    "arrow": ArrowTable,
    "orc": OrcTable,
}
"""Kinds of files that are not read from the first byte to the last."""
JSON_TEXT = "read as text, as others of its kind: it holds no records with the text"
UNITS = {"jsonl": "line", "json": "record", "object": "record", "mbox": "message"}
"""What the number in an id counts; rows in other files."""
WITHOUT_MARKUP = ("mbox", "npy", "warc")
"""Kinds of files whose records are read as text already, or hold none."""
AHEAD_BYTES = 32 << 20
"""Bytes of a row group that one thread reads before they are asked for."""


@dataclass(frozen=True)
class Part:
    """What of a shard is read, and in which pieces."""

    number: int
    """Of the shard."""
    start: int
    """How far in it, in unpacked bytes, row groups or rows."""
    before: int
    """Records that lie before."""
    size: int
    """Bytes of a piece, about."""
    done: int = 0
    """Bytes of the shards before."""
    records: NDArray[np.int64] | None = None
    """Sorted numbers of the only records wanted; None for all.

    Pieces then hold no more than the stretch between the first and the last of those in them.
    """

    def stretch(self, first: int, count: int) -> tuple[int, int]:
        """Give the first record that is wanted of some side by side, and how many from it on."""
        if self.records is None:
            return first, count
        low, high = np.searchsorted(self.records, [first, first + count])
        if low == high:
            return first, 0
        begin = int(self.records[low])
        return begin, int(self.records[high - 1]) - begin + 1


@dataclass
class Reading:
    """What one reading of a corpus has noted, and which kind its documents are of."""

    kind: Kind | None = None
    kind_shard: str = ""
    """The shard that told the kind."""
    notes: set[str] = field(default_factory=set)

    def note_once(self, key: str, note: str) -> tuple[str, ...]:
        """Give a note the first time."""
        if key in self.notes:
            return ()
        self.notes.add(key)
        return (note,)

    def settle_kind(self, shard: Shard, kind: Kind | None) -> None:
        """Let the first shard that tells decide for all."""
        if self.kind is None and kind is not None:
            self.kind, self.kind_shard = kind, shard.name

    def check_kind(self, shard: Shard, kind: Kind | None) -> None:
        """Refuse documents of one kind among those of another."""
        self.settle_kind(shard, kind)
        if kind is not None and self.kind is not None and kind != self.kind:
            raise SourceError(
                f"{shard.name} holds {KINDS[kind]} where {self.kind_shard} holds "
                f"{KINDS[self.kind]}: compare documents of one kind at a time"
            )


class ShardReader:
    """Reads shards of any format, of which it chooses the fields."""

    def __init__(
        self,
        shards: Sequence[Shard] | Mapping[int, Shard],
        options: ReadOptions,
        *,
        skip_shards: bool | None = None,
    ) -> None:
        """Take the shards of a corpus; none is opened yet.

        `skip_shards` says whether those that cannot be read are skipped, as bad records are
        where nothing is said.
        """
        self.shards = shards
        self.options = options
        self._skip_shards = options.skip_bad if skip_shards is None else skip_shards
        self._choices: dict[int, Choice | None] = {}
        self._layouts: dict[int, delimited.Layout] = {}

    def begin(self) -> Reading:
        """Begin a reading, of vectors where they were asked for."""
        return Reading(None if self.options.vector is None else "vectors")

    def kind(self, number: int) -> Kind | None:
        """Tell of which kind the documents of a shard are, if it tells."""
        shard = self.shards[number]
        if shard.is_one_document or shard.kind in ("lines", "warc", "xlsx"):
            return "text"
        if shard.kind == "npy":
            return "vectors"
        choice = self._choice(number)
        return None if choice is None else choice.kind

    def tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        """Give the work of a shard of records; what fails in between fails in its turn."""
        shard = self.shards[part.number]
        is_held = shard.is_streamed and shard.kind in STORED_TABLES
        if is_held and shard.size <= self.options.bounds.part:
            # Once for all of its parts; of those that are large, one at a time.
            tasks = self._with({part.number: in_memory(shard)}).tasks(part, reading)
            yield from tasks if shard.size <= HELD_BYTES else map(_done, tasks)
            return
        readers = {
            **dict.fromkeys(BATCHES.values(), self._batch_tasks),
            "lines": self._text_line_tasks,
            "jsonl": self._line_tasks,
            "json": self._element_tasks,
            "object": self._element_tasks,
            "npy": self._array_tasks,
            "mbox": self._message_tasks,
            "xlsx": self._sheet_tasks,
            "warc": self._warc_tasks,
        }
        reader = readers.get(shard.kind, self._record_tasks)
        told = partitions(shard.name)
        try:
            tasks = reader(part, reading)
            if self.options.markup is not None and shard.kind not in WITHOUT_MARKUP:
                tasks = (partial(self._pages, task, shard) for task in tasks)
            for task in tasks:
                yield partial(self._with_partitions, task, part.number) if told else task
        except SourceError as error:
            yield partial(self._failed, error, part)
            return
        yield partial(self._end, part)

    def _with_partitions(self, task: Task, number: int) -> Piece | Iterator[Piece]:
        """Give documents what the path of their file tells of them."""
        told = partitions(self.shards[number].name)
        choice = self._choices.get(number)
        options = self.options
        by_path = choice is not None and choice.id is None and options.id in told
        id = options.id if by_path else None
        done = task()
        if isinstance(done, Piece):
            return with_partitions(done, told, options.columns, id)
        return (with_partitions(piece, told, options.columns, id) for piece in done)

    def _pages(self, task: Task, shard: Shard) -> Piece | Iterator[Piece]:
        """Read records whose texts are pages of HTML as the texts of the pages."""
        from lookalike.read.pages import read_as_pages

        done = task()
        if isinstance(done, Piece):
            return read_as_pages(done, shard, self.options)
        return (read_as_pages(piece, shard, self.options) for piece in done)

    def _end(self, part: Part, broken: tuple[Unread, ...] = ()) -> Piece:
        """Make the last piece of a shard."""
        read = part.done + self.shards[part.number].size
        return no_documents(broken=broken, next=(part.number + 1, 0, 0), read=read)

    def _failed(self, error: SourceError, part: Part) -> Piece:
        """Stop at a shard that cannot be read, or skip the rest of it."""
        if not self._skip_shards:
            within = self.shards[part.number].within and type(error) is SourceError
            raise _with_way_on(error) if within else error
        return self._end(part, (Unread(self.shards[part.number].name, error.raw),))

    def group_task(self, numbers: Sequence[int], read: int, reading: Reading) -> Task:
        """Give the work of shards that are one document each.

        Those that are reached only one after the other are read here, in their order.
        """
        work = partial(self.single_files, numbers, read, reading)
        shards = {number: self.shards[number] for number in numbers}
        streamed = [shard for shard in shards.values() if is_in_turn(shard)]
        if not streamed:
            return work
        if any(shard.size > HELD_BYTES for shard in streamed):
            return _done(work)
        held = {n: in_memory(shard) if is_in_turn(shard) else shard for n, shard in shards.items()}
        return partial(self._with(held).single_files, numbers, read, reading)

    def _with(self, shards: Mapping[int, Shard]) -> ShardReader:
        """Give a reader of some of the shards, by their numbers, as they are in memory."""
        other = copy(self)
        other.shards = shards
        return other

    def single_files(self, numbers: Sequence[int], read: int, reading: Reading) -> Piece:
        """Read shards that are one document each, in one go."""
        ids, texts, found = [], [], []
        broken: list[Unread] = []
        unread: list[Unread] = []
        notes: tuple[str, ...] = ()
        file_notes: list[FileNote] = []
        for number in numbers:
            shard = self.shards[number]
            try:
                if self.options.vector is not None:
                    raise no_vectors(shard.name)
                reading.check_kind(shard, "text")
                text, note = single_files.document_text(
                    *(shard, self.options.bounds, self.options.encodings),
                    main_text=self.options.main_text,
                )
                if shard.is_json_text:
                    notes += reading.note_once(JSON_TEXT, f"{shard.name}: {JSON_TEXT}")
            except SourceError as error:
                if reason := _no_text(error, shard):
                    unread.append(Unread.of(shard.name, reason))
                elif self._skip_shards:
                    broken.append(Unread.of(shard.name, error.raw))
                elif shard.within and type(error) is SourceError:
                    raise _with_way_on(error) from None
                else:
                    raise
                continue
            ids.append(shard.label)
            texts.append(text)
            if note:
                file_notes.append(FileNote(shard.name, note))
            found.append(number)
        column = pa.array(texts, TEXT)
        return Piece(
            pa.array(ids, pa.string()),
            column,
            np.array(found, np.int32),
            np.ones(len(ids), np.int64),
            self._told_by_paths(found),
            unread=tuple(unread),
            broken=tuple(broken),
            notes=notes,
            file_notes=tuple(file_notes),
            weight=max(column.nbytes, sum(self.shards[number].size for number in numbers)),
            next=(numbers[-1] + 1, 0, 0),
            read=read,
        )

    def _told_by_paths(self, numbers: Sequence[int]) -> dict[str, pa.Array]:
        """Give the columns asked for of files that are one document: what their paths tell."""
        names = self.options.columns or ()
        told = [partitions(self.shards[number].name) for number in numbers if names]
        values = {
            name: [one[name].as_py() if name in one else None for one in told] for name in names
        }
        return {name: as_column(column) for name, column in values.items()}

    def _choice(self, number: int) -> Choice | None:
        """Choose the fields of a shard, once."""
        if number not in self._choices:
            shard, options = self.shards[number], self.options
            try:
                choice = self._chosen(number, options)
            except SourceError:
                if options.id not in partitions(shard.name):
                    raise
                choice = self._chosen(number, replace(options, id=NO_ID))
            self._choices[number] = choice
        return self._choices[number]

    def _chosen(self, number: int, options: ReadOptions) -> Choice | None:
        shard = self.shards[number]
        if shard.kind in STORED_TABLES:
            return choose_from_schema(shard, self._table(shard).schema, options)
        if shard.kind in delimited.DELIMITERS:
            names = self._layout(number).names
            return delimited.choose_columns(shard, names, options) if names else None
        with streams.opened(shard) as stream:
            if shard.kind == "jsonl":
                return jsonl.choose_fields(shard, _first_lines(stream, options), options)
            if shard.kind == "mbox":
                mbox.check_begin(shard, stream.head(len(mbox.FROM)))
                return mbox.choose_fields(shard, options)
            opening = json_arrays.read_opening(stream, options.encodings)
            first = _first_elements(stream, opening, options)
            choice = jsonl.choose_fields(shard, first, options)
            return choice and replace(choice, is_whole=not opening.holds_objects)

    def _layout(self, number: int) -> delimited.Layout:
        """Tell how a CSV or TSV file is laid out, once."""
        if number not in self._layouts:
            shard, options = self.shards[number], self.options
            if options.id in partitions(shard.name):
                options = replace(options, id=None)
            self._layouts[number] = delimited.read_layout(shard, options)
        return self._layouts[number]

    def declared(self, number: int) -> dict[str, pa.DataType]:
        """Give the types of the columns asked for, where a shard declares them before its rows."""
        shard = self.shards[number]
        if shard.kind not in STORED_TABLES or shard.is_streamed or shard.problem:
            return {}
        try:
            choice, schema = self._choice(number), self._table(shard).schema
        except SourceError:
            # Told, or passed over, when the shard is read.
            return {}
        paths = {} if choice is None else choice.columns
        found = {name: type_at(schema, path) for name, path in paths.items()}
        return {name: kind for name, kind in found.items() if kind is not None}

    def _table(self, shard: Shard) -> StoredTable:
        return STORED_TABLES[shard.kind](shard, self.options.bounds)

    def _notes(
        self, number: int, choice: Choice | None, reading: Reading, sheet: str = ""
    ) -> tuple[str, ...]:
        shard = self.shards[number]
        if choice is None:
            return ()
        reading.check_kind(shard, choice.kind)
        options = self.options
        notes: tuple[str, ...] = ()
        if shard.kind in delimited.DELIMITERS and (note := self._layout(number).note):
            notes = reading.note_once(note, f"{shard.name}: {note}")
        if (options.text is not None or options.vector is not None) and options.id is not None:
            return notes
        note = choice.note("sheet:row" if sheet else UNITS.get(shard.kind, "row"))
        if sheet:
            note = f"{shard.name}, sheet {quoted(sheet)}: {note}"
            return notes + reading.note_once(note, note)
        return notes + reading.note_once(note, f"{shard.name}: {note}")

    def _text_line_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        text_lines.check_names(shard, self.options)
        reading.check_kind(shard, "text")
        notes = reading.note_once(text_lines.NOTE, f"{shard.name}: {text_lines.NOTE}")
        with streams.opened(shard) as stream:
            encoding, mark = table_encoding(stream, self.options.encodings)
            cut = Lines(encoding)

            def parse(block: Block) -> Piece:
                return text_lines.parse_lines(shard, number, block, encoding, self.options)

            for block in self._blocks(stream, cut, part, mark):
                yield partial(_finished, parse, block, cut, part, shard, notes)
                notes = ()

    def _element_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        choice = self._choice(number)
        notes = self._notes(number, choice, reading)
        with streams.opened(shard) as stream:
            opening = json_arrays.read_opening(stream, self.options.encodings)
            cut = json_arrays.Elements(opening.encoding)

            def parse(block: Block) -> Piece:
                lines = json_arrays.as_lines(block, opening)
                return jsonl.parse_lines(shard, number, lines, "utf-8", choice, self.options)

            skip_bad, bounds = self.options.skip_bad, self.options.bounds
            for block in json_arrays.elements(
                *(stream, opening, part.start, part.before, part.size),
                skip_bad=skip_bad,
                bounds=bounds,
            ):
                yield partial(_finished, parse, block, cut, part, shard, notes)
                notes = ()

    def _line_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        choice = self._choice(number)
        notes = self._notes(number, choice, reading)
        with streams.opened(shard) as stream:
            encoding, mark = table_encoding(stream, self.options.encodings)
            cut = Lines(encoding)

            def parse(block: Block) -> Piece:
                return jsonl.parse_lines(shard, number, block, encoding, choice, self.options)

            for block in self._blocks(stream, cut, part, mark):
                yield partial(_finished, parse, block, cut, part, shard, notes)
                notes = ()

    def _record_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        choice = self._choice(number)
        notes = self._notes(number, choice, reading)
        if choice is None:
            return
        layout = self._layout(number)
        with streams.opened(shard) as stream:

            def parse(block: Block) -> Piece:
                return delimited.parse_records(shard, number, block, layout, choice, self.options)

            for block in self._blocks(stream, layout.cut, part, layout.start):
                yield partial(_finished, parse, block, layout.cut, part, shard, notes)
                notes = ()

    def _message_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        choice = self._choice(number)
        notes = self._notes(number, choice, reading)
        if choice is None:
            return
        with streams.opened(shard) as stream:
            cut = mbox.Messages()

            def parse(block: Block) -> Piece:
                return mbox.parse_messages(shard, number, block, choice, self.options)

            small = replace(part, size=min(part.size, mbox.BLOCK_BYTES))
            for block in self._blocks(stream, cut, small, 0):
                yield partial(_finished, parse, block, cut, part, shard, notes)
                notes = ()

    def _sheet_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        from lookalike.read import xlsx_tables
        from lookalike.read.xlsx import Workbook

        number, shard = part.number, self.shards[part.number]
        options = self.options
        wanted = None if part.records is None else set(part.records.tolist())
        with streams.opened(shard) as stream, refused_if_broken(shard.name, "XLSX"):
            book = Workbook(stream.whole(options.bounds), shard.name, options.bounds)
            tables, unread = xlsx_tables.tables_of(shard, book, options)
            if unread and (part.start, part.before) == (0, 0):
                noted = {"unread": tuple(unread), "next": (number, 0, 1), "read": part.done}
                yield partial(no_documents, **noted)
            for place, table in enumerate(tables[part.start :], part.start):
                sheet = table.sheet.name if table.label else ""
                notes = self._notes(number, table.choice, reading, sheet)
                read = part.done + shard.size * (place + 1) // len(tables)
                for last, piece in xlsx_tables.documents(
                    shard,
                    number,
                    book,
                    table,
                    options,
                    after=part.before,
                    size=part.size,
                    wanted=wanted,
                ):
                    position = (number, place, last)
                    noted = {"notes": notes, "next": position, "read": read}
                    yield partial(replace, piece, **noted)
                    notes = ()
            stream.check()

    def _blocks(self, stream: streams.Stream, cut: Cut, part: Part, first: int) -> Iterator[Block]:
        """Cut a part of a shard whose records begin at a byte."""
        skip_bad, bounds = self.options.skip_bad, self.options.bounds
        start = max(part.start, first)
        return blocks(stream, cut, start, part.before, part.size, skip_bad=skip_bad, bounds=bounds)

    def _batch_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        choice = self._choice(number)
        notes = self._notes(number, choice, reading)
        if choice is None:
            return
        table = self._table(shard)
        rows = max(table.rows, 1)

        def read(group: int, start: int, notes: tuple[str, ...]) -> Iterator[Piece]:
            try:
                for at, batch in table.stretches(choice, group, start, part.before, part.size):
                    after = at + len(batch)
                    first, count = part.stretch(at + 1, len(batch))
                    chosen = batch.slice(first - 1 - at, count)
                    piece = parse_rows(shard, number, chosen, first - 1, choice, self.options)
                    read = part.done + shard.size * after // rows
                    yield replace(piece, next=(number, group, after), read=read, notes=notes)
                    notes = ()
            except SourceError as error:
                yield self._failed(error, part)

        for group, start, many in table.groups(part.start):
            if not part.stretch(start + 1, many)[1]:
                continue
            work = partial(read, group, start, notes)
            yield partial(_ahead, work) if part.records is None else work
            notes = ()

    def _array_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        number, shard = part.number, self.shards[part.number]
        reading.check_kind(shard, "vectors")
        npy.check_names(shard, self.options)
        with streams.opened(shard) as stream:
            layout = npy.read_layout(stream, self.options.bounds)
            for before, rows, data in npy.stretches(stream, layout, part.before, part.size):
                after = before + rows
                parse = partial(npy.parse_rows, shard, number, layout, before, rows, data)
                read = part.done + shard.size * after // layout.rows
                yield partial(_placed, parse, {"next": (number, after, after), "read": read})
            stream.check()

    def _warc_tasks(self, part: Part, reading: Reading) -> Iterator[Task]:
        from lookalike.read import warc

        number, shard = part.number, self.shards[part.number]
        warc.check_names(shard, self.options)
        reading.check_kind(shard, "text")
        wanted = None if part.records is None else set(part.records.tolist())
        stored = warc.record_by_record(shard)
        with streams.opened(stored) as stream:
            for block in warc.blocks(
                *(stream, part.start, part.before, part.size),
                wanted=wanted,
                options=self.options,
            ):
                parse = partial(warc.parse, shard, number, block, self.options)
                place = {"next": (number, *block.next), "read": part.done + block.consumed}
                yield partial(_placed, parse, place)


def _with_way_on(error: SourceError) -> SourceError:
    """Say of a file in a folder how the others are read without it."""
    return SourceError(f"{error.raw}; {setting('skip_bad')} reads the others without it")


def _no_text(error: SourceError, shard: Shard) -> str:
    """Say why a file that was not named is no text; nothing where it is one that cannot be read."""
    if shard.within and isinstance(error, BinaryFileError):
        return BINARY
    if shard.within and isinstance(error, NoTextError):
        return NO_TEXT
    if shard.within and shard.is_guessed and isinstance(error, EncodingError):
        return UNKNOWN_ENCODING
    return ""


def _done(task: Task) -> Task:
    """Do a piece of work here and now; what fails in it fails in its turn."""
    try:
        piece = task()
    except SourceError as error:
        return partial(_fail, error)
    return lambda: piece


def _fail(error: SourceError) -> Piece:
    raise error


def in_turn(done: Iterator[Piece | Iterator[Piece]]) -> Iterator[Piece]:
    """Give the pieces in order, without those that a break of their shard skipped."""
    place: Position = (0, 0, 0)
    for one in done:
        for piece in (one,) if isinstance(one, Piece) else one:
            if piece.next > place:
                place = piece.next
                yield piece


def _ahead(read: Callable[[], Iterator[Piece]]) -> Iterator[Piece]:
    """Read pieces ahead, up to some bytes; what is left is read when its turn comes."""
    rest = read()
    pieces, weight = [], 0
    for piece in rest:
        pieces.append(piece)
        weight += piece.weight
        if weight >= AHEAD_BYTES:
            break
    return itertools.chain(pieces, rest)


def _placed(parse: Callable[[], Piece], place: Mapping[str, Any]) -> Piece:
    return replace(parse(), **place)


def _finished(
    parse: Callable[[Block], Piece],
    block: Block,
    cut: Cut,
    part: Part,
    shard: Shard,
    notes: tuple[str, ...],
) -> Piece:
    """Read a block of lines or records, and say where the next one is."""
    place: dict[str, Any] = {
        "weight": len(block.data),
        "next": (part.number, *block.next),
        "read": part.done + block.consumed,
        "notes": notes,
    }
    if block.problem:
        return no_documents(broken=(Unread(shard.name, block.problem),), **place)
    first, count = part.stretch(block.first, block.count)
    if not count:
        return no_documents(**place)
    return replace(parse(block.stretch(cut, first, count)), **place)


def _first_lines(stream: streams.Stream, options: ReadOptions) -> Iterator[tuple[Block, str]]:
    """Give the first lines of a shard, and more of them for as long as it takes."""
    encoding, mark = table_encoding(stream, options.encodings)
    found = blocks(
        stream,
        *(Lines(encoding), mark, 0, FIRST_LINES),
        skip_bad=options.skip_bad,
        bounds=options.bounds,
    )
    return ((block, encoding) for block in found)


def _first_elements(
    stream: streams.Stream, opening: json_arrays.Opening, options: ReadOptions
) -> Iterator[tuple[Block, str]]:
    """Give the first elements of an array as lines, and more of them for as long as it takes."""
    found = json_arrays.elements(
        *(stream, opening, 0, 0, FIRST_LINES),
        skip_bad=options.skip_bad,
        bounds=options.bounds,
    )
    return ((json_arrays.as_lines(block, opening), "utf-8") for block in found)
