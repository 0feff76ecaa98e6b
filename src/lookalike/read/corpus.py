"""A corpus: documents of any number of files, given in batches, from any place on."""

from __future__ import annotations

import copy
import itertools
import os
import weakref
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.threads import in_order
from lookalike.read import annotated_copies, record_copies, streams
from lookalike.read.batches import Batch, Documents, check_distinct
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.encoding_names import Encodings
from lookalike.read.fields import TEXT, ReadOptions, joined, joined_columns, no_ids
from lookalike.read.file_groups import first_folders
from lookalike.read.files import counts_of, file_note_lines
from lookalike.read.listing import find_shards
from lookalike.read.marks import Marks
from lookalike.read.originals import Places, read_originals
from lookalike.read.shard_tasks import BATCH_BYTES, BATCH_FILES, Part, ShardReader, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Set
    from pathlib import Path, PurePosixPath

    from numpy.typing import NDArray

    from lookalike.read.batches import Names, Position
    from lookalike.read.fields import Piece
    from lookalike.read.files import Shard, Unread
    from lookalike.read.shard_tasks import Reading, Task

__all__ = ["Corpus", "open_corpus", "read_paths"]

MARKED = ("lines", "jsonl", "json", "csv", "tsv", "mbox", "warc")
"""Kinds of files in which nothing else tells where a record is."""


def open_corpus(  # noqa: PLR0913 - each is a choice of its own
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    text: Names = None,
    id: str | None = None,
    vector: str | None = None,
    markup: str | None = None,
    main_text: bool = False,
    columns: Sequence[str] | None = (),
    skip_bad: bool = False,
    spool: Path | None = None,
    memory: int | None = None,
    chosen: ChosenFiles | None = None,
    encoding: str | None = None,
    strict_encoding: bool = False,
    lines: bool = False,
    delimiter: str | None = None,
    no_header: bool = False,
) -> Corpus:
    """List the files that folders, files, patterns and addresses stand for.

    `-` is JSONL on standard input, which is copied to the folder `spool`, or for as long as the
    corpus lives to a temporary file. `vector` names the field of vectors, which are read instead of
    texts. `columns` None stands for all. With `skip_bad` records and files that cannot be read are
    skipped and named in the batches. What would not fit in some bytes of `memory` is refused.
    `chosen` says which files of folders are read, `encoding` in what those are that are not UTF-8
    and declare nothing else; with `strict_encoding` none is read by a guess. With `lines` each line
    of a text file is a document; `delimiter` splits the columns of CSV and TSV files, which with
    `no_header` are named by their numbers. `markup` says what the texts of records are written in;
    with `main_text` only the main text of HTML is read.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    named = None if columns is None else tuple(columns)
    options = ReadOptions(
        text,
        id,
        named,
        skip_bad,
        vector,
        streams.Bounds(memory),
        Encodings.of(encoding, strict=strict_encoding),
        lines,
        delimiter,
        no_header,
        markup,
        main_text,
    )
    return Corpus(paths, options, spool, chosen or ChosenFiles())


class Corpus:
    """Files, in a fixed order, and the documents in them."""

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        options: ReadOptions,
        spool: Path | None,
        chosen: ChosenFiles,
    ) -> None:
        """List the files; nothing is read but standard input and what archives hold."""
        found = find_shards(paths, spool=spool, options=options, chosen=chosen)
        self.names: Sequence[str] = [os.fspath(path) for path in paths]
        self.shards: Sequence[Shard] = found.shards
        self.unread: Sequence[Unread] = found.unread
        self._sources: Sequence[int] = found.sources
        self._copied: Sequence[Shard] = [*found.shards, *found.set_aside]
        self.size = sum(shard.size for shard in found.shards)
        self._options = options
        self._reader = ShardReader(self.shards, options)
        self._marks = Marks()
        self._of: Corpus | None = None
        if found.temporary is not None:
            weakref.finalize(self, found.temporary.unlink, missing_ok=True)

    @property
    def is_found(self) -> bool:
        """Whether no file was named: all were found in folders or by patterns."""
        return all(shard.within for shard in self.shards)

    @property
    def skipped(self) -> dict[str, int]:
        """How many files the listing skipped, by reason."""
        return counts_of(self.unread)

    def identity(self) -> list[Any]:
        """Give what tells whether the sources are the same as before, for JSON."""
        return [shard.identity() for shard in self.shards]

    def place(self, shard: int, record: int) -> str:
        """Say where a document stands, for a message."""
        one = self.shards[shard]
        if one.is_one_document:
            return one.name
        if one.kind == "xlsx":
            from lookalike.read.xlsx_tables import place_in

            return f"{one.name}:{place_in(record)}"
        return f"{one.name}:{record}"

    def folder(self, shard: int) -> str | None:
        """Give the first folder below the source of a file that is one document; None for others.

        One that stands directly in the source has none either.
        """
        return self._folders[shard] if self.shards[shard].is_one_document else None

    @cached_property
    def _folders(self) -> list[str | None]:
        return first_folders([shard.name for shard in self.shards], self._sources)

    def drop_cached(self, begin: int, end: int) -> None:
        """Let the system forget some bytes of the files, which were read and will not be again."""
        before = 0
        for shard in self.shards:
            inside = max(begin - before, 0), min(end - before, shard.size)
            before += shard.size
            if inside[0] < inside[1] and shard.system is None:
                streams.forget(shard.path, *inside)

    def unread_files(self, paths: Set[str]) -> list[int]:
        """Number the files that can be copied, not read.

        These are those that the listing set aside, which come after the shards, and those that
        turned out to be no text, by their paths.
        """
        late = [number for number, shard in enumerate(self.shards) if shard.name in paths]
        return [*late, *range(len(self.shards), len(self._copied))]

    def copied_name(self, shard: int) -> PurePosixPath:
        """Give the path, below a folder of results, of what is kept of a shard."""
        return self._copied_names[shard]

    @cached_property
    def _copied_names(self) -> list[PurePosixPath]:
        return record_copies.distinct_names(self._copied)

    def copy(self, shard: int, records: NDArray[np.int64], target: Path) -> None:
        """Write records of a shard, by their sorted numbers, as they are in the shard."""
        record_copies.copy_records(self._copied[shard], records, target, self._options)

    def copy_whole(self, shard: int, target: Path) -> None:
        """Write a file as it is, whatever it holds."""
        record_copies.copy_file(self._copied[shard], target)

    def has_fields(self, shard: int) -> bool:
        """Tell whether the records of a shard have fields, to which others can be added."""
        return self.shards[shard].kind in annotated_copies.ANNOTATED

    def annotate(
        self,
        shard: int,
        records: NDArray[np.int64],
        added: Callable[[int, int], pa.Table],
        target: Path,
    ) -> None:
        """Write records of a shard, by their sorted numbers, with columns added.

        `added` gives the columns of some of these records, from one place among them to another.
        """
        annotated_copies.annotate_records(self.shards[shard], records, added, target, self._options)

    @property
    def marks(self) -> list[Position]:
        """Places inside files that were passed in reading, for JSON.

        Given back to the same files, as `identity` tells them, they let `originals` begin near a
        record where nothing was read yet.
        """
        return self._marks.positions()

    @marks.setter
    def marks(self, positions: Iterable[Sequence[int]]) -> None:
        self._marks = Marks(positions)

    def originals(
        self,
        shards: NDArray[np.int32],
        records: NDArray[np.int64],
        columns: Sequence[str] | None = (),
    ) -> Documents:
        """Read documents again by their places in a batch, in any order, and little else.

        `columns` None stands for all but the text or vector. What cannot be read any more is an
        error, also where bad records are skipped.
        """
        named = None if columns is None else tuple(columns)
        options = replace(self._options, columns=named)
        reader = ShardReader(self.shards, options, skip_shards=False)
        return read_originals(reader, self._marks, Places.of(shards, records))

    def as_given(
        self, ids: pa.Array, shards: NDArray[np.int32], records: NDArray[np.int64]
    ) -> dict[Any, Any]:
        """Give documents by their places, with the ids that a job knows them by, as a dict."""
        texts = self.originals(shards, records).texts
        return dict(zip(ids.to_pylist(), texts.to_pylist(), strict=True))

    def with_columns(self) -> Corpus:
        """Give the same files, of which all columns are read, not only those asked for before."""
        other = copy.copy(self)
        other._options = replace(self._options, columns=None)
        other._reader = ShardReader(self.shards, other._options)
        other._marks = Marks()
        # What is there only as long as this corpus, standard input, must outlive the other too.
        other._of = self
        return other

    def known_as(self, named: Callable[[str], str]) -> Corpus:
        """Give the same files under other names, from which the ids of their documents follow."""
        other = copy.copy(self)
        other.shards = [
            replace(shard, name=named(shard.name), label=named(shard.label))
            for shard in self.shards
        ]
        other._reader = ShardReader(other.shards, self._options)
        other._marks = Marks()
        other._of = self
        return other

    def declared(self, threads: int = 1) -> Iterator[tuple[str, dict[str, pa.DataType]]]:
        """Give the name of each file that declares its columns, and the types of those asked for.

        Files of Parquet, Arrow and ORC do; of others a type is known when the rows are read.
        """
        numbers = range(len(self.shards))
        for number, types in zip(
            numbers, in_order(self._reader.declared, numbers, threads), strict=True
        ):
            if types:
                yield self.shards[number].name, types

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
        for piece in in_turn(done):
            gathered.append(piece)
            weight += piece.weight
            if 2 * weight >= batch_bytes:
                self._mark(piece.next)
                yield self._batch(gathered)
                gathered, weight = [], 0
        if any(len(piece.ids) or piece.broken or piece.unread or piece.notes for piece in gathered):
            yield self._batch(gathered)

    def _mark(self, position: Position) -> None:
        if position[0] < len(self.shards) and self.shards[position[0]].kind in MARKED:
            self._marks.add(position)

    def _batch(self, pieces: Sequence[Piece]) -> Batch:
        full = [piece for piece in pieces if len(piece.ids)]
        return Batch(
            joined([piece.ids for piece in full]) if full else no_ids(),
            joined([piece.texts for piece in full]) if full else pa.array([], TEXT),
            _concatenated([piece.shards for piece in full], np.int32),
            _concatenated([piece.records for piece in full], np.int64),
            joined_columns(full, self._options.columns),
            tuple(one for piece in pieces for one in piece.unread),
            tuple(one for piece in pieces for one in piece.broken),
            tuple(line for piece in pieces for line in piece.notes),
            pieces[-1].next,
            pieces[-1].read,
            tuple(one for piece in pieces for one in piece.file_notes),
        )

    def _tasks(self, start: Position, size: int) -> Iterator[Task]:
        """Give work, in order: each piece of it can be done on any thread."""
        reading = self._reader.begin()
        self._settle_kind(start[0], reading)
        done = sum(shard.size for shard in self.shards[: start[0]])
        number = start[0]
        while number < len(self.shards):
            if self.shards[number].is_one_document and not self.shards[number].problem:
                end = self._end_of_group(number, size)
                done += sum(shard.size for shard in self.shards[number:end])
                reading.settle_kind(self.shards[number], "text")
                group = range(number, end)
                yield self._reader.group_task(group, done, replace(reading))
                number = end
                continue
            first = (start[1], start[2]) if number == start[0] else (0, 0)
            yield from self._reader.tasks(Part(number, *first, size, done), reading)
            done += self.shards[number].size
            number += 1

    def _settle_kind(self, until: int, reading: Reading) -> None:
        """Learn from the shards before the start of which kind documents are."""
        for number in range(until):
            if reading.kind is not None:
                return
            try:
                reading.check_kind(self.shards[number], self._reader.kind(number))
            except SourceError:
                continue

    def _end_of_group(self, number: int, size: int) -> int:
        end, weight = number, 0
        while end < len(self.shards) and end - number < BATCH_FILES and 2 * weight < size:
            shard = self.shards[end]
            if not shard.is_one_document or shard.problem:
                break
            weight += shard.size
            end += 1
        return end


def _concatenated(arrays: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def read_paths(  # noqa: PLR0913 - each is a choice of its own
    paths: Sequence[str | os.PathLike[str]],
    *,
    text: Names = None,
    id: str | None = None,
    vector: str | None = None,
    markup: str | None = None,
    main_text: bool = False,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    strict_encoding: bool = False,
) -> Documents:
    """Read all documents of folders, files, patterns and addresses into memory.

    Files of several sources are named with the path of their source. `columns` None stands for all
    but the text or vector.
    """
    corpus = open_corpus(
        paths,
        text=text,
        id=id,
        vector=vector,
        markup=markup,
        main_text=main_text,
        columns=columns,
        encoding=encoding,
        strict_encoding=strict_encoding,
    )
    found = list(corpus.batches())
    notes = tuple(note for batch in found for note in batch.notes)
    notes += file_note_lines([note for batch in found for note in batch.file_notes])
    unread = (*corpus.unread, *(one for batch in found for one in batch.unread))
    full = [batch for batch in found if len(batch)]
    if not full:
        return Documents(no_ids(), pa.array([], TEXT), {}, unread, notes)
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
        unread,
        notes,
    )
