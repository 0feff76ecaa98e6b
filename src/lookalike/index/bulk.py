"""Whole sources on their way into an index: prepared on several threads, written in turn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.threads import in_order
from lookalike.base.wording import count
from lookalike.index import metadata
from lookalike.index.adding import Added
from lookalike.index.columns import is_whole
from lookalike.index.prepared import Prepared, Put
from lookalike.index.unread import NotRead
from lookalike.job.canonical_parts import CanonicalParts
from lookalike.job.sources import Reading
from lookalike.read.fields import picked
from lookalike.read.files import described
from lookalike.read.shard_tasks import BATCH_BYTES
from lookalike.read.source import InMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lookalike.index.columns import Columns
    from lookalike.job.canonical_parts import Part
    from lookalike.job.running import Running
    from lookalike.read import Batch, Corpus
    from lookalike.recipe import CanonicalForm, StoredSketches

__all__ = ["Chunk", "Incoming", "Progressed", "chunks"]

MAX_CHUNK_DOCUMENTS = 1 << 16
"""Documents that are written in one change, at the most, into an index of up to a million: others
wait for it."""
CHUNK_SHARE, MOST_CHUNKS = 16, 4
"""A change of a larger index has one document for so many that are there, up to so many times as
many: the rows of its bands are spread over all of the file, and the more of them come at once, the
more of them a page that is written has."""
MAX_ADMITTED_DOCUMENTS = 2000
MIXED = "the index holds {}: use one that was made for such documents"
BASE_BYTES = 300 << 20
"""Memory that is taken whatever is added: compiled code, the cache of the file, what is read
ahead."""
CHUNK_COPIES = 14
"""How many times the texts of one change are in memory at the most, in one form or another, with
those of the next that are prepared meanwhile."""
MIN_CHUNK_BYTES = 4 << 20
BATCH_SHARE = 128
"""Of the memory allowed, the part that a batch of each thread takes, as it is read."""
MIN_BATCH_BYTES = 1 << 19
READER_BYTES = 512 << 20
"""Memory from which on there is another thread that reads."""


@dataclass
class Progressed:
    """How far a source was added; what is written with each change, so that it can go on."""

    run: int
    next: list[int] | None = None
    read: int = 0
    kind: str | None = None
    dimension: int | None = None
    added: Added = field(default_factory=Added)

    def dump(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Progressed:
        """Read what `dump` wrote."""
        plain = json.loads(text)
        added = plain.pop("added")
        unread = NotRead(**added.pop("unread"))
        return cls(**plain, added=Added(**added, unread=unread))


@dataclass(frozen=True)
class Incoming:
    """A source that is to be added or looked for."""

    source: Corpus | InMemory
    running: Running
    form: CanonicalForm
    names: tuple[str, ...]
    """Columns that are kept as metadata."""
    told: Mapping[str, Any]

    @classmethod
    def of(
        cls, source: Any, options: Any, running: Running, form: CanonicalForm, names: Sequence[str]
    ) -> Incoming:
        """Open a source as the options say."""
        reading = Reading.of(options)
        columns = dict.fromkeys(names, "describe documents")
        opened = reading.open(source, running, columns)
        reading.check([opened])
        return cls(opened, running, form, tuple(names), reading.told())

    def digest(self, **others: Any) -> str | None:
        """Name the source and how it is read; None for one that no other process can have."""
        identity = self.source.identity()
        if identity is None:
            return None
        plain = json.dumps([identity, self.told, self.names, others], sort_keys=True, default=str)
        return hashlib.sha256(plain.encode()).hexdigest()[:24]

    def parts(self, at: Progressed) -> Iterator[Part]:
        """Give the documents from where an addition has come to."""
        start = None if at.next is None else (at.next[0], at.next[1], at.next[2])
        known = {"kind": self.form.kind, "dimension": self.form.dimension or None}
        threads, memory = self.running.threads, self.running.memory
        batch_bytes = min(max(memory // (BATCH_SHARE * threads), MIN_BATCH_BYTES), BATCH_BYTES)
        # A thread that reads holds two parts of a file as these are cut, whatever is asked for.
        readers = min(threads, max(memory // READER_BYTES, 1))
        batches = self.source.batches(start, threads=readers, batch_bytes=batch_bytes)
        parts = CanonicalParts(self.source, self.form, self.running, known, mixed=MIXED)
        yield from parts.of(batches)

    def check_metadata(self, types: Mapping[str, str]) -> None:
        """Refuse columns whose types are not those of before, as far as it is known before reading.

        Of files that declare their columns, by that; of what is in memory, by every value.
        """
        if not self.names:
            return
        if isinstance(self.source, InMemory):
            for batch in self.source.batches():
                chosen = {name: batch.columns[name] for name in self.names if name in batch.columns}
                _, types = metadata.encode_rows(batch.ids.to_pylist(), chosen, types)
            return
        for name, declared in self.source.declared(self.running.threads):
            try:
                types = metadata.merged(types, metadata.types_declared(declared), None)
            except SourceError as error:
                raise SourceError(f"{name}: {error.raw}") from None

    def check_any(self, documents: int, unread: NotRead) -> None:
        """Refuse a source of which nothing could be read."""
        if documents:
            return
        if unread.bad_count:
            raise SourceError(
                f"no document could be read; {unread.bad_count:,} skipped, the first: "
                f"{unread.bad[0]}"
            )
        if self.source.is_found:
            passed = unread.unread()
            files = sum(unread.skipped.values())
            why = f", with {count(files, 'file')} skipped: {described(passed)}" if passed else ""
            raise SourceError(
                f"the folders and patterns hold no document that can be read{why}; give others"
            )


@dataclass(frozen=True)
class Chunk:
    """Documents that are written in one change, and where the next ones begin."""

    prepared: Prepared | None
    """None where there is no document, only something that was not read."""
    columns: Columns
    next: list[int]
    read: int
    unread: NotRead
    notes: list[str]


def chunks(
    incoming: Incoming,
    at: Progressed,
    sketches: StoredSketches,
    columns: Columns,
    *,
    with_text: bool,
    there: int = 0,
    admitted: bool = False,
) -> Iterator[Chunk]:
    """Prepare a source, and give it in chunks that end where a batch does.

    `there` counts the documents of the index. Those to be `admitted` are few at a time, as each is
    compared with those before it.
    """
    running = incoming.running
    most_bytes = max((running.memory - BASE_BYTES) // CHUNK_COPIES, MIN_CHUNK_BYTES)

    def prepare(part: Part) -> tuple[Part, Prepared, dict[str, str]]:
        ids = part.batch.ids.take(pa.array(part.rows)).cast(pa.string()).to_pylist()
        written: list[str | None] = [None] * len(ids)
        types = dict(columns.metadata)
        if incoming.names:
            chosen = {name: picked(part.batch.columns[name], part.rows) for name in incoming.names}
            written, types = metadata.encode_rows(ids, chosen, columns.metadata)
        puts = [Put(*row) for row in zip(ids, written, strict=True)]
        prepared = Prepared.of(puts, part.canonical, sketches, with_text=with_text, keep=admitted)
        return part, prepared, types

    gathered = _Gathered(columns)
    for part, prepared, types in in_order(prepare, incoming.parts(at), running.threads):
        gathered.add(part, prepared, types)
        there += len(prepared)
        most = MAX_ADMITTED_DOCUMENTS if admitted else _most_documents(there)
        full = gathered.documents >= most or gathered.bytes >= most_bytes
        if part.last and full:
            yield gathered.chunk(part.batch)
    if gathered.batch is not None:
        yield gathered.chunk(gathered.batch)


def _most_documents(there: int) -> int:
    """Tell how many documents are written in one change to an index of so many."""
    return min(max(there // CHUNK_SHARE, MAX_CHUNK_DOCUMENTS), MOST_CHUNKS * MAX_CHUNK_DOCUMENTS)


def _are_whole(ids: pa.Array) -> bool:
    """Tell whether ids can stand in a column of whole numbers."""
    if not pa.types.is_uint64(ids.type):
        return bool(pa.types.is_integer(ids.type))
    return all(is_whole(id) for id in ids.to_pylist())


class _Gathered:
    """What was prepared since the last chunk."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._clear()

    def _clear(self) -> None:
        self.batch: Batch | None = None
        self.documents = self.bytes = 0
        self._prepared: list[Prepared] = []
        self._unread = NotRead()
        self._notes: list[str] = []

    def add(self, part: Part, prepared: Prepared, types: Mapping[str, str]) -> None:
        """Take one more part."""
        self.batch = batch = part.batch
        if len(prepared):
            self.columns = self.columns.with_ids(whole=_are_whole(batch.ids))
            self.columns = self.columns.with_metadata(types, prepared.puts[0].id)
            self._prepared.append(prepared)
            self.documents += len(prepared)
            self.bytes += len(part.canonical.data)
        self._unread.fail(part.bad)
        if part.last:
            self._unread.take(batch)
            self._notes += batch.notes

    def chunk(self, batch: Batch) -> Chunk:
        """Give all of it as one chunk, which ends where its last batch does."""
        prepared = Prepared.joined(self._prepared) if self._prepared else None
        found = Chunk(
            prepared, self.columns, list(batch.next), batch.read, self._unread, self._notes
        )
        self._clear()
        return found
