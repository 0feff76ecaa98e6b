"""The first stage: documents read in batches, made canonical, and put where there is room."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import (
    RECORDS_OF_WARC,
    Message,
    count,
    in_python,
    setting,
)
from lookalike.job.canonical_parts import CanonicalParts
from lookalike.read.batches import is_missing
from lookalike.read.fields import picked
from lookalike.read.files import FileNote, Unread, counts_of, described
from lookalike.results.ids import Ids, IdWriter
from lookalike.settings.options import FOLDER
from lookalike.text.documents import Strings, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.job.canonical_parts import Part
    from lookalike.job.running import Running
    from lookalike.job.work_folder import Work
    from lookalike.read import Batch, Corpus
    from lookalike.read.source import InMemory
    from lookalike.recipe import CanonicalForm

__all__ = ["Collection", "Described", "read_all"]

IN_MEMORY_BYTES = 1 << 29
"""Text kept in memory at the most: more is in a file, of which the system keeps what it can."""
DROP_CACHE_BYTES = 1 << 28
"""Bytes of sources that the system keeps at the least where all are more than the memory."""
MAX_NAMED_BAD = 1000
"""Records skipped that are named; all are counted."""


@dataclass(frozen=True)
class Described:
    """Columns of the corpus that are kept with each document, and who writes them down."""

    names: Sequence[str]
    types: Mapping[str, str]
    """Of the fields that there are already."""
    write: Callable[
        [Sequence[object], Mapping[str, Any], Mapping[str, str]],
        tuple[list[str | None], dict[str, str]],
    ]
    """Given ids, columns and types: the text of each document, and the types with theirs."""


@dataclass
class Collection:
    """All that was read."""

    sources: Sequence[Corpus | InMemory]
    ids: Ids
    texts: Texts
    counts: list[int]
    """Documents of each source."""
    form: CanonicalForm
    """With the kind of the documents; None where there are none."""
    characters: Column
    """Of each document as it was read."""
    shards: Column
    records: Column
    values: Column
    value_lengths: Column
    groups: str | None
    """The column by which documents are grouped."""
    group_prints: Column
    """Two words of each document, those of its group; both 0 where it has none."""
    skipped: Mapping[str, int]
    """Files skipped, by reason."""
    passed: Column
    """What was skipped in reading, as lines of JSON."""
    file_notes: Column
    """How files were read, where a user should know, as lines of JSON."""
    bad: list[str]
    """Records and files that could not be read and were skipped, as asked; the first 1,000."""
    bad_count: int
    notes: list[str]
    described: Strings | None = None
    """What is kept with each document, as text; empty where there is nothing."""
    described_types: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.ids)

    def place(self, row: int) -> str:
        """Say where a document stands."""
        source = 0
        while source + 1 < len(self.counts) and row >= sum(self.counts[: source + 1]):
            source += 1
        shard, record = self.shards.read(row, row + 1)[0], self.records.read(row, row + 1)[0]
        return self.sources[source].place(int(shard), int(record))

    def unread(self) -> list[Unread]:
        """Name the files that were skipped, and the records that could not be read."""
        listed = [one for source in self.sources for one in source.unread]
        lines = map(json.loads, self.passed.read().tobytes().splitlines())
        records: Counter[tuple[str, str]] = Counter()
        for path, reason, many, detail in lines:
            if reason.startswith(RECORDS_OF_WARC):
                records[path, reason] += many
            else:
                listed.append(Unread(in_python(path), in_python(reason), detail=detail))
        return listed + [Unread(*of, many) for of, many in records.items()]

    def noted_files(self) -> list[FileNote]:
        """Name the files of which a user should know how they were read."""
        lines = self.file_notes.read().tobytes().splitlines()
        return [FileNote(*json.loads(line)) for line in lines]

    def column(self) -> list[Any]:
        """Give the values of the column to keep by, None where there is none."""
        ends = np.cumsum(self.value_lengths.read(), dtype=np.int64)
        data = self.values.read().tobytes()
        starts = np.append(0, ends[:-1]) if len(ends) else ends
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [json.loads(data[start:end]) for start, end in spans]

    def group_labels(self) -> NDArray[np.int64] | None:
        """Number the groups; a document without one has a number of its own."""
        if self.groups is None:
            return None
        prints = self.group_prints.read().reshape(-1, 2)
        grouped = np.flatnonzero(prints.any(axis=1))
        if len(prints) and not len(grouped) and self.groups == FOLDER:
            raise SourceError(
                "no file stands in a folder below the source, and no record has a column "
                f"'{FOLDER}': give the folder above those that {setting('groups', FOLDER)} is to "
                "keep apart"
            )
        if len(prints) and not len(grouped):
            raise SourceError(
                f"no document has a value in column {self.groups!r}: name another in "
                f"{setting('groups')}, or for files without columns {setting('groups', FOLDER)}"
            )
        labels = np.arange(len(prints), dtype=np.int64)
        mine = prints[grouped]
        order = np.lexsort((mine[:, 1], mine[:, 0]))
        new = np.ones(len(order), np.bool_)
        new[1:] = (mine[order[1:]] != mine[order[:-1]]).any(axis=1)
        # The number of a group is that of one of its documents, which no other one has.
        firsts = grouped[order[np.flatnonzero(new)]]
        labels[grouped[order]] = firsts[np.cumsum(new) - 1]
        return labels


@dataclass
class _Reader:
    sources: Sequence[Corpus | InMemory]
    work: Work
    form: CanonicalForm
    column: str | None
    groups: str | None
    described: Described | None
    running: Running
    known: dict[str, Any] = field(init=False)
    _copying: ThreadPoolExecutor | None = None
    _copies: deque[Future[None]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        stage = self.work.stage("read")
        self.known = stage.known
        defaults: dict[str, Any] = {
            "source": 0,
            "next": None,
            "read": 0,
            "counts": [0] * len(self.sources),
            "skipped": {},
            "bad": [],
            "bad_count": 0,
            "notes": [],
            "noted": [],
            "whole": True,
            "kind": None,
            "dimension": None,
            "done": False,
        }
        for name, value in defaults.items():
            self.known.setdefault(name, value)
        self.ids = IdWriter(stage, "ids")
        self.texts = stage.column("texts", np.uint8)
        self.lengths = stage.column("texts.lengths", np.int64)
        self.prints = stage.column("texts.fingerprints", np.uint64)
        self.characters = stage.column("characters", np.int64)
        self.shards = stage.column("shards", np.int32)
        self.records = stage.column("records", np.int64)
        self.values = stage.column("values", np.uint8)
        self.value_lengths = stage.column("values.lengths", np.int32)
        self.passed = stage.column("passed", np.uint8)
        self.file_notes = stage.column("file_notes", np.uint8)
        self.group_prints = stage.column("groups", np.uint64)
        self.descriptions = stage.column("metadata", np.uint8)
        self.description_lengths = stage.column("metadata.lengths", np.int32)
        if self.described is not None:
            self.known.setdefault("metadata", dict(self.described.types))

    def run(self) -> None:
        """Read all sources."""
        large = sum(source.size for source in self.sources) > self._in_memory_bytes
        if large and not self.work.durable:
            self.work.spill()
        if self.running.threads < 2 or self.work.durable:
            # What a checkpoint counts must have been written.
            self._read()
            return
        # Who writes to a file waits for who is writing to it.
        writers = 1 if large else self.running.threads
        with ThreadPoolExecutor(writers, thread_name_prefix="lookalike") as pool:
            self._copying = pool
            self._read()
            self._finish_copies()
            self._copying = None

    @property
    def _in_memory_bytes(self) -> int:
        """Bytes of text that are held in memory."""
        return min(self.running.memory // 4, IN_MEMORY_BYTES)

    def _read(self) -> None:
        total = sum(source.size for source in self.sources)
        known, in_memory_bytes = self.known, self._in_memory_bytes
        # Room that is never filled costs nothing, and texts may be packed in their sources.
        self.texts.reserve(min(16 * total, in_memory_bytes + in_memory_bytes // 4))
        self.running.progress("read", known["read"], total)
        while known["source"] < len(self.sources):
            number = known["source"]
            source = self.sources[number]
            before = sum(other.size for other in self.sources[:number])
            start = tuple(known["next"]) if known["next"] else None
            batches = source.batches(start, threads=self.running.threads)
            parts = CanonicalParts(source, self.form, self.running, known).of(batches)
            kept: list[Part] = []
            dropped = known["read"] - before
            for part in parts:
                kept.append(part)
                if part.last:
                    known["read"] = before + part.batch.read
                    self._commit(kept, number)
                    kept = []
                    self.running.progress("read", known["read"], total)
                    # What was read is of no more use, and what is written will be read again.
                    if total > self.running.memory and part.batch.read - dropped > DROP_CACHE_BYTES:
                        source.drop_cached(dropped, part.batch.read)
                        dropped = part.batch.read
            known.update(source=number + 1, next=None, noted=[])
            self.work.checkpoint()
        known["done"] = True
        self.work.checkpoint()

    def _commit(self, parts: list[Part], number: int) -> None:
        """Put a whole batch into the columns, and make it count."""
        batch, known = parts[0].batch, self.known
        for part in parts:
            self._append_text(part.canonical.data)
            self.lengths.append(np.diff(part.canonical.offsets))
            self.prints.append(part.canonical.fingerprints)
            self.characters.append(part.characters)
        rows = np.concatenate([part.rows for part in parts])
        whole = len(rows) == len(batch.ids)
        self.ids.append(batch.ids if whole else batch.ids.take(pa.array(rows)))
        self.shards.append(batch.shards[rows])
        self.records.append(batch.records[rows])
        if self.column is not None:
            # A reference corpus, of which nothing is removed, is read without the column.
            values = batch.columns.get(self.column, [None] * len(batch.ids))
            self._append_values(values, rows)
        if self.groups is not None:
            self._append_groups(batch, rows, number)
        if self.described is not None:
            self._append_descriptions(self.described, batch, rows, number)
        if len(rows) and not pa.types.is_integer(batch.ids.type):
            known["whole"] = False
        broken = [*batch.broken, *(one for part in parts for one in part.bad)]
        bad = [one.reason for one in broken]
        lines = "".join(f"{json.dumps(one)}\n" for one in (*batch.unread, *broken))
        self.passed.append(np.frombuffer(lines.encode(), np.uint8))
        noted = "".join(f"{json.dumps(one)}\n" for one in batch.file_notes)
        self.file_notes.append(np.frombuffer(noted.encode(), np.uint8))
        known["counts"][number] += len(rows)
        known["next"] = list(batch.next)
        known["skipped"] = dict(Counter(known["skipped"]) + Counter(batch.skipped))
        known["bad_count"] += len(bad)
        known["bad"] += bad[: max(0, MAX_NAMED_BAD - len(known["bad"]))]
        # A reader that goes on in the middle tells again what it chose.
        fresh = [note for note in batch.notes if _choice(note) not in known["noted"]]
        known["noted"] += map(_choice, fresh)
        known["notes"] += fresh
        self.work.checkpoint()
        if self.work.store.folder is None and len(self.texts) > self._in_memory_bytes:
            self._finish_copies()
            self.work.spill()

    def _append_text(self, data: NDArray[np.uint8]) -> None:
        """Put text at the end, by other threads.

        To touch fresh memory, or to hand pages to the system, takes longer than to read them.
        """
        write = None if self._copying is None else self.texts.claim(len(data))
        if self._copying is None or write is None:
            self.texts.append(data)
            return
        self._copies.append(self._copying.submit(write, data))
        if len(self._copies) > 4 * self.running.threads:
            self._copies.popleft().result()

    def _finish_copies(self) -> None:
        while self._copies:
            self._copies.popleft().result()

    def _append_values(self, column: Any, rows: NDArray[np.int64]) -> None:
        values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        texts = [json.dumps(_json_value(values[row])).encode() for row in rows.tolist()]
        self.values.append(np.frombuffer(b"".join(texts), np.uint8))
        self.value_lengths.append(np.array([len(text) for text in texts], np.int32))

    def _append_groups(self, batch: Batch, rows: NDArray[np.int64], number: int) -> None:
        column = batch.columns.get(self.groups or "", [None] * len(batch.ids))
        values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        prints: dict[str | None, bytes] = {None: bytes(16)}
        found = []
        for row in rows.tolist():
            name = _group_name(values[row])
            if name is None and self.groups == FOLDER:
                name = self.sources[number].folder(int(batch.shards[row]))
            if name is not None and name not in prints:
                prints[name] = _fingerprint(name)
            found.append(prints[name])
        self.group_prints.append(np.frombuffer(b"".join(found), np.uint64))

    def _append_descriptions(
        self, described: Described, batch: Batch, rows: NDArray[np.int64], number: int
    ) -> None:
        """Write down what is kept with each document; of a reference, nothing."""
        texts = [b""] * len(rows)
        if number == len(self.sources) - 1:
            chosen = {name: picked(batch.columns[name], rows) for name in described.names}
            ids = batch.ids.take(pa.array(rows)).to_pylist()
            found, self.known["metadata"] = described.write(ids, chosen, self.known["metadata"])
            texts = [(text or "").encode() for text in found]
        self.descriptions.append(np.frombuffer(b"".join(texts), np.uint8))
        self.description_lengths.append(np.array([len(text) for text in texts], np.int32))


def _group_name(value: Any) -> str | None:
    """Write the group of a document as text, as 3 is in every format; None where it has none."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def _fingerprint(name: str) -> bytes:
    """Give 16 bytes for a name, of which those of two names are never alike."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _choice(note: str) -> str:
    """Give what was chosen, without the file that it was first told of."""
    return note.rpartition(": ")[2]


def _json_value(value: Any) -> Any:
    """Give a value that JSON knows, and that sorts as the value does."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return float(value) if isinstance(value, (Decimal, np.number)) else str(value)


def _nothing_in(collection: Collection) -> SourceError:
    """Say that files were found, and no document in them."""
    unread = [one for one in collection.unread() if one.reason in collection.skipped]
    why = f", with {count(len(unread), 'file')} skipped: {described(unread)}" if unread else ""
    return SourceError(
        f"the folders and patterns hold no document that can be read{why}; give others"
    )


def read_all(
    sources: Sequence[Corpus | InMemory],
    work: Work,
    form: CanonicalForm,
    *,
    shingle: str,
    column: str | None,
    groups: str | None = None,
    described: Described | None = None,
    running: Running,
) -> Collection:
    """Read all sources, or go on where the work folder says.

    `column` is kept for a policy, the values of `groups` are told apart, and what is `described` is
    kept with each document.
    """
    reader = _Reader(sources, work, form, column, groups, described, running)
    known = reader.known
    if not known["done"]:
        reader.run()
    if known["kind"] == "tokens" and shingle not in ("auto", "tokens"):
        raise SettingsError(
            f"the documents are lists of tokens, which are compared as they are: "
            f"leave out {setting('shingle', shingle)}"
        )
    if known["kind"] == "text" and shingle == "tokens":
        raise SettingsError(
            f"the documents are text, not lists of tokens: leave out "
            f"{setting('shingle', 'tokens')}, or use chars:K or words:K"
        )
    if known["counts"][-1] == 0 and known["bad_count"]:
        raise SourceError(
            f"no document could be read; {known['bad_count']:,} skipped, the first: "
            f"{known['bad'][0]}"
        )
    offsets = np.append(0, np.cumsum(reader.lengths.read(), dtype=np.int64))
    texts = Texts(reader.texts, offsets, reader.prints.read().reshape(-1, 2))
    collection = Collection(
        sources=sources,
        ids=reader.ids.finish(whole=known["whole"]),
        texts=texts,
        counts=known["counts"],
        form=replace(form, kind=known["kind"], dimension=known["dimension"] or 0),
        characters=reader.characters,
        shards=reader.shards,
        records=reader.records,
        values=reader.values,
        value_lengths=reader.value_lengths,
        groups=groups,
        group_prints=reader.group_prints,
        skipped=sum((Counter(counts_of(one.unread)) for one in sources), Counter(known["skipped"])),
        passed=reader.passed,
        file_notes=reader.file_notes,
        bad=[*map(Message, known["bad"])],
        bad_count=known["bad_count"],
        notes=[*map(Message, known["notes"])],
        described_types=known.get("metadata", {}),
    )
    if described is not None:
        lengths = reader.description_lengths.read()
        ends = np.append(0, np.cumsum(lengths, dtype=np.int64))
        collection.described = Strings(reader.descriptions, ends)
    begin = 0
    for source, documents in zip(sources, collection.counts, strict=True):
        if not documents and source.is_found:
            raise _nothing_in(collection)
        collection.ids.check_distinct(collection.place, begin, begin + documents)
        begin += documents
    return collection
