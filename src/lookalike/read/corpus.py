"""A corpus: documents of any number of files, given in batches, from any place on."""

from __future__ import annotations

import itertools
import os
import weakref
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import BinaryFileError, SourceError
from lookalike.base.threads import in_order
from lookalike.read import delimited, jsonl, npy, parquet, record_copies, single_files, streams
from lookalike.read.batches import Documents, check_distinct
from lookalike.read.blocks import Block, Cut, Lines, blocks
from lookalike.read.fields import TEXT, Choice, Kind, Piece, Wanted, joined, no_ids, no_vectors
from lookalike.read.listing import find_shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path, PurePosixPath

    from numpy.typing import NDArray

    from lookalike.read.files import Shard

    Task = Callable[[], Piece | Iterator[Piece]]

__all__ = ["Batch", "Corpus", "Position", "open_corpus", "read_paths"]

Position = tuple[int, int, int]
"""A shard; how far in it, in unpacked bytes, row groups or rows; how many records lie before."""

BATCH_BYTES = 8 << 20
FIRST_LINES = 1 << 16
"""Bytes read to choose the fields by."""
KINDS: dict[Kind, str] = {"text": "texts", "tokens": "lists of tokens", "vectors": "vectors"}
AHEAD_BYTES = 32 << 20
"""Bytes of a row group that one thread reads before they are asked for."""
GROUP = 256
"""Files of one document that are read in one go, at the most."""


@dataclass(frozen=True)
class Batch:
    """Some documents of a corpus, in its order."""

    ids: pa.Array
    """int64 where all are whole numbers, else strings."""
    texts: pa.Array
    """Large strings, or large lists of large strings where they are tokens, or of floats where they
    are vectors (`VECTORS`, `WIDE_VECTORS` or `SPARSE` in `fields`); null for none."""
    shards: NDArray[np.int32]
    """Of each document."""
    records: NDArray[np.int64]
    """Of each document: the number of its record in its shard, from 1."""
    columns: Mapping[str, pa.Array]
    """Those asked for; null where a record has none."""
    skipped: Mapping[str, int]
    """Files passed over since the batch before, by reason."""
    bad: tuple[str, ...]
    """What could not be read since the batch before, and where."""
    notes: tuple[str, ...]
    """What the reader chose by itself."""
    next: Position
    """Where the batch after this one begins."""
    read: int
    """Bytes of the sources read so far."""

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.texts)


def open_corpus(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,
    vector: str | None = None,
    columns: Sequence[str] | None = (),
    skip_bad: bool = False,
    spool: Path | None = None,
    memory: int | None = None,
) -> Corpus:
    """List the files that folders, files, patterns and addresses stand for.

    `-` is JSONL on standard input, which is copied to the folder `spool`, or for as long as the
    corpus lives to a temporary file. `vector` names the field of vectors, which are read instead of
    texts. `columns` None stands for all. With `skip_bad` records and files that cannot be read are
    passed over and named in the batches. What would not fit in some bytes of `memory` is refused.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    named = None if columns is None else tuple(columns)
    wanted = Wanted(text, id, named, skip_bad, vector, streams.Bounds(memory))
    return Corpus(paths, wanted, spool)


class Corpus:
    """Files, in a fixed order, and the documents in them."""

    def __init__(
        self, paths: Sequence[str | os.PathLike[str]], wanted: Wanted, spool: Path | None
    ) -> None:
        """List the files; nothing is read but standard input."""
        found = find_shards(paths, spool=spool, skip_bad=wanted.skip_bad)
        self.shards: Sequence[Shard] = found.shards
        self.skipped: Mapping[str, int] = dict(found.skipped)
        self.size = sum(shard.size for shard in found.shards)
        self._wanted = wanted
        self._choices: dict[int, Choice | None] = {}
        if found.temporary is not None:
            weakref.finalize(self, found.temporary.unlink, missing_ok=True)

    def identity(self) -> list[Any]:
        """Give what tells whether the sources are the same as before, for JSON."""
        return [shard.identity() for shard in self.shards]

    def place(self, shard: int, record: int) -> str:
        """Say where a document stands, for a message."""
        one = self.shards[shard]
        return one.name if one.is_one_document else f"{one.name}:{record}"

    def let_go(self, begin: int, end: int) -> None:
        """Let the system forget some bytes of the files, which were read and will not be again."""
        before = 0
        for shard in self.shards:
            inside = max(begin - before, 0), min(end - before, shard.size)
            before += shard.size
            if inside[0] < inside[1] and shard.system is None:
                streams.forget(shard.path, *inside)

    def copied_name(self, shard: int) -> PurePosixPath:
        """Give the path, below a folder of results, of the records kept of a shard."""
        return self._copied_names[shard]

    @cached_property
    def _copied_names(self) -> list[PurePosixPath]:
        return record_copies.distinct_names(self.shards)

    def copy(self, shard: int, records: NDArray[np.int64], target: Path) -> None:
        """Write records of a shard, by their sorted numbers, as they are in the shard."""
        record_copies.copy_records(self.shards[shard], records, target)

    def batches(
        self,
        start: Position | None = None,
        *,
        threads: int = 1,
        batch_bytes: int = BATCH_BYTES,
    ) -> Iterator[Batch]:
        """Read the documents, from a place on that an earlier batch named as the next."""
        begin = (0, 0, 0) if start is None else (int(start[0]), int(start[1]), int(start[2]))
        gathered: list[Piece] = []
        weight = 0
        done = in_order(lambda task: task(), self._tasks(begin, batch_bytes), threads)
        for piece in _one_by_one(done):
            gathered.append(piece)
            weight += piece.weight
            if 2 * weight >= batch_bytes:
                yield self._batch(gathered)
                gathered, weight = [], 0
        if any(len(piece.ids) or piece.bad or piece.skipped or piece.notes for piece in gathered):
            yield self._batch(gathered)

    def _batch(self, pieces: Sequence[Piece]) -> Batch:
        full = [piece for piece in pieces if len(piece.ids)]
        names = self._wanted.columns
        if names is None:
            names = tuple(sorted({name for piece in full for name in piece.columns}))
        skipped: Counter[str] = Counter()
        for piece in pieces:
            skipped.update(piece.skipped)
        return Batch(
            joined([piece.ids for piece in full]) if full else no_ids(),
            joined([piece.texts for piece in full]) if full else pa.array([], TEXT),
            _concatenated([piece.shards for piece in full], np.int32),
            _concatenated([piece.records for piece in full], np.int64),
            {
                name: joined([p.columns.get(name, pa.nulls(len(p.ids))) for p in full])
                if full
                else pa.nulls(0)
                for name in names
            },
            dict(skipped),
            tuple(line for piece in pieces for line in piece.bad),
            tuple(line for piece in pieces for line in piece.notes),
            pieces[-1].next,
            pieces[-1].read,
        )

    def _tasks(self, start: Position, size: int) -> Iterator[Task]:
        """Give work, in order: each piece of it can be done on any thread."""
        said = _Said(kind=None if self._wanted.vector is None else "vectors")
        self._settle_kind(start[0], said)
        done = sum(shard.size for shard in self.shards[: start[0]])
        number = start[0]
        while number < len(self.shards):
            if self.shards[number].is_one_document and not self.shards[number].problem:
                end = self._end_of_group(number, size)
                done += sum(shard.size for shard in self.shards[number:end])
                said.settle(self.shards[number], "text")
                yield _bound(self._read_papers, number, end, done, replace(said))
                number = end
                continue
            first = (start[1], start[2]) if number == start[0] else (0, 0)
            yield from self._shard_tasks(number, first, size, done, said)
            done += self.shards[number].size
            number += 1

    def _settle_kind(self, until: int, said: _Said) -> None:
        """Learn from the shards before the start of which kind documents are."""
        for number in range(until):
            if said.kind is not None:
                return
            try:
                said.check(self.shards[number], self._kind(number))
            except SourceError:
                continue

    def _kind(self, number: int) -> Kind | None:
        shard = self.shards[number]
        if shard.is_one_document:
            return "text"
        if shard.kind == "npy":
            return "vectors"
        choice = self._choice(number)
        return None if choice is None else choice.kind

    def _end_of_group(self, number: int, size: int) -> int:
        end, weight = number, 0
        while end < len(self.shards) and end - number < GROUP and 2 * weight < size:
            shard = self.shards[end]
            if not shard.is_one_document or shard.problem:
                break
            weight += shard.size
            end += 1
        return end

    def _shard_tasks(
        self, number: int, first: tuple[int, int], size: int, done: int, said: _Said
    ) -> Iterator[Task]:
        """Give the work of a shard of records; what fails in between fails in its turn."""
        shard = self.shards[number]
        end = (number + 1, 0, 0)
        readers = {
            "parquet": self._parquet_tasks,
            "jsonl": self._line_tasks,
            "npy": self._array_tasks,
        }
        reader = readers.get(shard.kind, self._record_tasks)
        try:
            yield from reader(number, first, size, done, said)
        except SourceError as error:
            yield _bound(self._failed, error, end, done + shard.size)
            return
        yield _bound(_nothing, next=end, read=done + shard.size)

    def _failed(self, error: SourceError, end: Position, read: int) -> Piece:
        if not self._wanted.skip_bad:
            raise error
        return _nothing(bad=(str(error),), next=end, read=read)

    def _read_papers(self, first: int, end: int, read: int, said: _Said) -> Piece:
        ids, texts, numbers = [], [], []
        bad: list[str] = []
        skipped: Counter[str] = Counter()
        for number in range(first, end):
            shard = self.shards[number]
            try:
                if self._wanted.vector is not None:
                    raise no_vectors(shard.name)
                said.check(shard, "text")
                text = single_files.paper_text(shard, self._wanted.bounds)
            except SourceError as error:
                if isinstance(error, BinaryFileError) and shard.within:
                    skipped["binary"] += 1
                elif self._wanted.skip_bad:
                    bad.append(str(error))
                else:
                    raise
                continue
            ids.append(shard.label)
            texts.append(text)
            numbers.append(number)
        column = pa.array(texts, TEXT)
        return Piece(
            pa.array(ids, pa.string()),
            column,
            np.array(numbers, np.int32),
            np.ones(len(ids), np.int64),
            skipped=dict(skipped),
            bad=tuple(bad),
            weight=max(column.nbytes, sum(shard.size for shard in self.shards[first:end])),
            next=(end, 0, 0),
            read=read,
        )

    def _choice(self, number: int) -> Choice | None:
        """Choose the fields of a shard, once."""
        if number not in self._choices:
            shard = self.shards[number]
            choice: Choice | None = None
            with streams.opened(shard) as stream:
                if shard.kind == "parquet":
                    file = parquet.open_parquet(stream, bounds=self._wanted.bounds)
                    choice = parquet.choose_from_schema(shard, file.schema_arrow, self._wanted)
                elif shard.kind == "jsonl":
                    found = _encoded_blocks(stream, self._wanted)
                    choice = jsonl.choose_fields(shard, found, self._wanted)
                else:
                    names, _, _ = _header(stream, shard, self._wanted.bounds)
                    if names:
                        choice = delimited.choose_columns(shard, names, self._wanted)
            self._choices[number] = choice
        return self._choices[number]

    def _notes(self, number: int, choice: Choice | None, said: _Said) -> tuple[str, ...]:
        shard = self.shards[number]
        if choice is None:
            return ()
        said.check(shard, choice.kind)
        wanted = self._wanted
        if (wanted.text is not None or wanted.vector is not None) and wanted.id is not None:
            return ()
        note = choice.note("line" if shard.kind == "jsonl" else "row")
        return said.once(note, f"{shard.name}: {note}")

    def _line_tasks(
        self, number: int, first: tuple[int, int], size: int, done: int, said: _Said
    ) -> Iterator[Task]:
        shard = self.shards[number]
        choice = self._choice(number)
        notes = self._notes(number, choice, said)
        with streams.opened(shard) as stream:
            encoding, mark = streams.encoding_of(stream.head(), shard.name)
            begin = max(first[0], mark)
            cut = Lines(encoding)
            for block in self._blocks(stream, cut, begin, first[1], size):
                parse = _bound(
                    jsonl.parse_lines, shard, number, block, encoding, choice, self._wanted
                )
                yield _bound(_finished, parse, block, number, done, notes)
                notes = ()

    def _record_tasks(
        self, number: int, first: tuple[int, int], size: int, done: int, said: _Said
    ) -> Iterator[Task]:
        shard = self.shards[number]
        choice = self._choice(number)
        notes = self._notes(number, choice, said)
        if choice is None:
            return
        with streams.opened(shard) as stream:
            names, encoding, body = _header(stream, shard, self._wanted.bounds)
        with streams.opened(shard) as stream:
            cut = delimited.Records(encoding, delimited.DELIMITERS[shard.kind])
            for block in self._blocks(stream, cut, max(first[0], body), first[1], size):
                parse = _bound(
                    delimited.parse_records,
                    *(shard, number, block, encoding, choice, names, self._wanted),
                )
                yield _bound(_finished, parse, block, number, done, notes)
                notes = ()

    def _blocks(
        self, stream: streams.Stream, cut: Cut, start: int, before: int, size: int
    ) -> Iterator[Block]:
        skip_bad, bounds = self._wanted.skip_bad, self._wanted.bounds
        return blocks(stream, cut, start, before, size, skip_bad=skip_bad, bounds=bounds)

    def _parquet_tasks(
        self, number: int, first: tuple[int, int], size: int, done: int, said: _Said
    ) -> Iterator[Task]:
        shard = self.shards[number]
        choice = self._choice(number)
        notes = self._notes(number, choice, said)
        if choice is None:
            return
        with streams.opened(shard) as stream:
            metadata = parquet.open_parquet(stream, bounds=self._wanted.bounds).metadata
        rows = max(metadata.num_rows, 1)

        def read(group: int, start: int, before: int, notes: tuple[str, ...]) -> Iterator[Piece]:
            try:
                for at, batch in parquet.stretches(
                    shard, metadata, choice, group, start, before, size, self._wanted.bounds
                ):
                    after = at + len(batch)
                    piece = parquet.parse_rows(shard, number, batch, at, choice, self._wanted)
                    read = done + shard.size * after // rows
                    yield replace(piece, next=(number, group, after), read=read, notes=notes)
                    notes = ()
            except SourceError as error:
                yield self._failed(error, (number + 1, 0, 0), done + shard.size)

        for group, start in parquet.row_groups(metadata, first[0]):
            yield _bound(_ahead, _bound(read, group, start, first[1], notes))
            notes = ()

    def _array_tasks(
        self, number: int, first: tuple[int, int], size: int, done: int, said: _Said
    ) -> Iterator[Task]:
        shard = self.shards[number]
        said.check(shard, "vectors")
        npy.check_names(shard, self._wanted)
        with streams.opened(shard) as stream:
            layout = npy.read_layout(stream, self._wanted.bounds)
            for before, rows, data in npy.stretches(stream, layout, first[1], size):
                after = before + rows
                parse = _bound(npy.parse_rows, shard, number, layout, before, rows, data)
                read = done + shard.size * after // layout.rows
                yield _bound(_placed, parse, {"next": (number, after, after), "read": read})
            stream.check()


@dataclass
class _Said:
    """What one reading of a corpus has said, and which kind its documents are of."""

    notes: set[str] = field(default_factory=set)
    kind: Kind | None = None
    witness: str = ""

    def once(self, key: str, note: str) -> tuple[str, ...]:
        """Give a note the first time."""
        if key in self.notes:
            return ()
        self.notes.add(key)
        return (note,)

    def settle(self, shard: Shard, kind: Kind | None) -> None:
        """Let the first shard that tells decide for all."""
        if self.kind is None and kind is not None:
            self.kind, self.witness = kind, shard.name

    def check(self, shard: Shard, kind: Kind | None) -> None:
        """Refuse documents of one kind among those of another."""
        self.settle(shard, kind)
        if kind is not None and self.kind is not None and kind != self.kind:
            raise SourceError(
                f"{shard.name} holds {KINDS[kind]} where {self.witness} holds {KINDS[self.kind]}: "
                "compare documents of one kind at a time"
            )


def _bound(work: Callable[..., Any], *given: Any, **named: Any) -> Callable[[], Any]:
    return lambda: work(*given, **named)


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


def _one_by_one(found: Iterator[Piece | Iterator[Piece]]) -> Iterator[Piece]:
    """Give the pieces in order, without those that a break of their shard passed over."""
    place: Position = (0, 0, 0)
    for one in found:
        for piece in (one,) if isinstance(one, Piece) else one:
            if piece.next > place:
                place = piece.next
                yield piece


def _nothing(**told: Any) -> Piece:
    """Make a piece without documents, for what it tells."""
    empty = pa.array([], TEXT)
    return Piece(no_ids(), empty, np.empty(0, np.int32), np.empty(0, np.int64), **told)


def _placed(parse: Callable[[], Piece], place: Mapping[str, Any]) -> Piece:
    return replace(parse(), **place)


def _finished(
    parse: Callable[[], Piece], block: Block, number: int, done: int, notes: tuple[str, ...]
) -> Piece:
    """Read a block of lines or records, and say where the next one is."""
    place: dict[str, Any] = {
        "weight": len(block.data),
        "next": (number, *block.next),
        "read": done + block.consumed,
        "notes": notes,
    }
    if block.problem:
        return _nothing(bad=(block.problem,), **place)
    return replace(parse(), **place)


def _encoded_blocks(stream: streams.Stream, wanted: Wanted) -> Iterator[tuple[Block, str]]:
    """Give the first lines of a shard, and more of them for as long as it takes."""
    encoding, mark = streams.encoding_of(stream.head(), stream.shard.name)
    cut = Lines(encoding)
    found = blocks(
        stream, cut, mark, 0, FIRST_LINES, skip_bad=wanted.skip_bad, bounds=wanted.bounds
    )
    return ((block, encoding) for block in found)


def _header(
    stream: streams.Stream, shard: Shard, bounds: streams.Bounds
) -> tuple[list[str], str, int]:
    """Give the names of the columns, the encoding, and where the records begin."""
    encoding, mark = streams.encoding_of(stream.head(), shard.name)
    cut = delimited.Records(encoding, delimited.DELIMITERS[shard.kind])
    for block in blocks(stream, cut, mark, -1, FIRST_LINES, bounds=bounds):
        end = int(cut.ends(block.data)[0])
        names = delimited.parse_header(shard, block.data[:end], encoding)
        return names, encoding, mark + end
    return [], encoding, mark


def _concatenated(arrays: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def read_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,
    vector: str | None = None,
    columns: Sequence[str] | None = None,
) -> Documents:
    """Read all documents of folders, files, patterns and addresses into memory.

    Files of several sources are named with the path of their source. `columns` None stands for all
    but the text or vector.
    """
    corpus = open_corpus(paths, text=text, id=id, vector=vector, columns=columns)
    found = list(corpus.batches())
    skipped = Counter(corpus.skipped)
    for batch in found:
        skipped.update(batch.skipped)
    full = [batch for batch in found if len(batch)]
    if not full:
        notes = tuple(note for batch in found for note in batch.notes)
        return Documents(no_ids(), pa.array([], TEXT), {}, dict(skipped), notes)
    ids = joined([batch.ids for batch in full])
    shards = np.concatenate([batch.shards for batch in full])
    records = np.concatenate([batch.records for batch in full])
    check_distinct(ids, lambda row: corpus.place(int(shards[row]), int(records[row])))
    names = dict.fromkeys(itertools.chain.from_iterable(sorted(b.columns) for b in full))
    return Documents(
        ids,
        joined([batch.texts for batch in full]),
        {
            name: joined([b.columns.get(name, pa.nulls(len(b))) for b in full])
            for name in sorted(names)
        },
        dict(skipped),
        tuple(note for batch in found for note in batch.notes),
    )
