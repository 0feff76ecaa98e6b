"""An index checked whole: whether everything that is stored agrees with itself.

All rows are gone through once, in one look at the store, which nobody waits for. Documents and
entries have marks; a text has its fingerprint. The rows of bands are added up by entry, and so are
the keys that an entry has to have, which are made again of its text, or stand in its sketch: where
the sums differ, a row is missing, or there is one that should not be.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.errors import DamagedError, LookalikeError
from lookalike.base.randomness import mixed
from lookalike.base.threads import in_order
from lookalike.base.wording import count, quoted
from lookalike.index import adding, marks, metadata
from lookalike.index.bulk import Progressed
from lookalike.index.columns import Columns
from lookalike.index.packed import unpacked
from lookalike.index.prepared import no_documents
from lookalike.index.store import Body
from lookalike.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.index.backing import Backing
    from lookalike.index.store import Block, Document, Entry, Whole
    from lookalike.text.normalise import Canonical

__all__ = ["Checked", "Fault", "check"]

NUMBERS = 1 << 24
"""Numbers of entries whose rows are added up at a time, in some 150 MB."""
BATCH_ENTRIES, BATCH_BYTES = 1000, 1 << 24
"""Entries that are compared at a time, and bytes of their texts."""
MOST_NAMED = 1000
"""Documents of a fault that are named; all are counted."""
STEP = 10_000
"""Documents from one report of the progress to the next."""
STRAY = "rows of bands name what was never added"
"""A fault of no document: such rows are swept with those of what is gone."""
SWEEP = "compact it, which removes them"
AGAIN = "restore a copy of it, or make it again, of what lookalike index export can still read"
REPAIR = (
    "restore a copy of it, or remove these documents, whose ids it gives as JSON, compact it, and "
    "add them again"
)


@dataclass
class Fault:
    """What of an index is not what was put into it."""

    what: str
    ids: list[str | int] = field(default_factory=list)
    """The documents that it is of, the first 1,000; none where it is of no document."""
    count: int = 0
    """All of them; of copies of one text, at most 1,000."""

    def __str__(self) -> str:
        """Say what it is, and of how many documents."""
        if not self.count:
            return self.what
        first = f" {quoted(self.ids[0])}" if self.ids else ""
        if self.count == 1:
            return f"{self.what} of document{first}"
        return f"{self.what} of {self.count:,} documents" + (f", as{first}" if first else "")


@dataclass
class Checked:
    """What a check went through, and what it found."""

    documents: int = 0
    distinct: int = 0
    """Contents that they have."""
    rows: int = 0
    """Of bands, those in blocks included."""
    faults: list[Fault] = field(default_factory=list)
    """What is damaged; nothing of an index that is whole."""

    @property
    def whole(self) -> bool:
        """Whether everything is as it was added."""
        return not self.faults

    def told(self, address: str) -> str:
        """Say on a line what is damaged, and what to do."""
        faults = sorted(self.faults, key=lambda one: one.what == STRAY)
        first, *others = faults
        more = f", and {count(len(others), 'other fault')}" if others else ""
        remedy = REPAIR if all(one.ids or one.what == STRAY for one in faults) else AGAIN
        if first.what == STRAY:
            remedy = SWEEP
        return f"{address} is damaged, {first}{more}: {remedy}"


def check(
    backing: Backing, progress: Callable[[str, int, int], None] | None = None, threads: int = 1
) -> Checked:
    """Go through all of an index, and tell what of it does not agree."""
    checked = Checked()
    try:
        with backing.store.read_whole() as reader:
            _Check(backing, reader, checked, progress, threads).run()
    except DamagedError as error:
        # What could not be read at all ends the check.
        checked.faults.append(Fault(_without_frame(error.raw, backing.address)))
    return checked


def _without_frame(text: str, address: str) -> str:
    """Give what an error says is damaged, without what it says around it."""
    for frame in (f"{address} is damaged, ", "the index is damaged, "):
        text = text.removeprefix(frame)
    return text.partition(": restore")[0]


class _Sums(NamedTuple):
    """What was found of the entries with numbers from one on, a place each."""

    begin: int
    rows: NDArray[np.uint64]
    """The sum of the mixed keys of their rows."""
    named: NDArray[np.bool_]
    """Whether a document names them."""

    def inside(self, entries: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which entries are among them."""
        inside: NDArray[np.bool_] = (entries >= self.begin) & (
            entries < self.begin + len(self.rows)
        )
        return inside

    def add(self, entries: NDArray[np.int64], keys: NDArray[np.int64]) -> None:
        """Add rows of bands up."""
        mine = self.inside(entries)
        places, found = entries[mine] - self.begin, keys[mine]
        np.add.at(self.rows, places, mixed(found.view(np.uint64)))


class _Made(NamedTuple):
    """Entries, and what they have to have by what is stored of them."""

    entries: list[Entry]
    wrong: list[Entry]
    """Those whose marks are not theirs."""
    unread: list[Entry]
    """Those whose texts are not, among the entries."""
    unlike: list[Entry]
    """Those whose sketches are not what their texts make."""
    sums: NDArray[np.uint64]
    """The sums of their mixed keys, of the entries that could be read."""
    read: list[Entry]


class _Check:
    def __init__(
        self,
        backing: Backing,
        reader: Whole,
        checked: Checked,
        progress: Callable[[str, int, int], None] | None,
        threads: int,
    ) -> None:
        self._backing, self._reader, self._checked = backing, reader, checked
        self._progress, self._threads = progress, threads
        self._sketches = backing.sketches
        self._faults: dict[str, Fault] = {}
        self._columns: Columns | None = None
        self._done = self._total = self._top = 0
        self._width = self._sketches.of(no_documents(1)).sketches.shape[1]

    def run(self) -> None:
        """Check everything."""
        reader = self._reader
        counts = reader.counts()
        self._checked.documents, self._checked.distinct = counts["documents"], counts["entries"]
        rows = sum(counts[part] for part in ("documents", "loose", "blocks", "entries"))
        self._total = rows
        self._step(0)
        if faults := reader.faults():
            # What else such a file holds cannot be relied upon.
            self._checked.faults += map(Fault, faults)
            return
        self._top = top = adding.counter(reader, adding.ENTRY_COUNTER)
        begins = range(1, max(top, 1) + 1, NUMBERS)
        self._total = rows * len(begins)
        self._check_facts()
        entries = 0
        for begin in begins:
            entries += self._check_numbers(begin, min(NUMBERS, top + 1 - begin), first=begin == 1)
        if entries != counts["entries"]:
            self._find(f"it has more documents than the {top:,} that it says were ever added")
        if counts["bodies"] != (counts["entries"] if self._backing.keeps_text else 0):
            self._find("it has texts of no document, or documents without a text")
        self._checked.faults += self._faults.values()

    def _step(self, by: int) -> None:
        before, self._done = self._done, self._done + by
        if self._progress is not None and (not by or self._done // STEP > before // STEP):
            self._progress("check", self._done, self._total)

    def _find(self, what: str, entry: int | None = None, id: str | None = None) -> None:
        """Note a fault: of an index, of one document, or of all that are copies of an entry."""
        fault = self._faults.setdefault(what, Fault(what))
        ids = [] if id is None else [id]
        if entry is not None:
            ids = self._reader.ids_of(entry, MOST_NAMED)
        fault.count += len(ids)
        fault.ids += map(self._id, ids[: MOST_NAMED - len(fault.ids)])

    def _id(self, text: str) -> str | int:
        try:
            return text if self._columns is None else self._columns.id(text)
        except LookalikeError:
            return text

    def _check_facts(self) -> None:
        """Check what the index says of itself."""
        reader, layout = self._reader, self._backing.recipe.layout
        try:
            self._columns = Columns.load(reader.fact("columns"))
            plan = Plan.from_dict(self._backing.chosen["plan"])
            alike = (plan.bands, plan.rows) == (layout.bands, layout.rows)
            for text in reader.facts("adding.").values():
                Progressed.load(text)
            for text in reader.facts("counter.").values():
                alike &= text.isdecimal()
        except (LookalikeError, ValueError, TypeError, KeyError, AttributeError):
            alike = False
        if not alike:
            self._find("what it says of itself is not what was written")

    def _check_numbers(self, begin: int, many: int, *, first: bool) -> int:
        """Check all that is stored of the entries with some numbers, and count them."""
        sums = _Sums(begin, np.zeros(many, np.uint64), np.zeros(many, np.bool_))
        self._add_documents(sums, first=first)
        self._add_rows(sums, first=first)
        entries = 0
        there = np.zeros(many, np.bool_)
        batches = _batches(self._reader.every_entry(begin, begin + many))
        for made in in_order(self._made, batches, self._threads):
            entries += len(made.entries)
            there[np.array([one.number for one in made.entries], np.int64) - begin] = True
            self._compare(made, sums)
            self._step(len(made.entries))
        for number in np.flatnonzero(sums.named & ~there).tolist():
            self._find("the content is missing", number + begin)
        for _ in range(int((there & ~sums.named).sum())):
            self._find("it has contents of no document")
        return entries

    def _add_documents(self, sums: _Sums, *, first: bool) -> None:
        """Note which entries documents name; the first time, check the documents too."""
        for document, mark in self._reader.every_document():
            place = document.entry - sums.begin
            if 0 <= place < len(sums.named):
                sums.named[place] = True
            if first:
                if mark is not None and mark != marks.of_document(*document):
                    self._find("the id or the metadata is not what was added", id=document.id)
                elif not self._fits(document):
                    self._find("the metadata or the kind of the id does not fit", id=document.id)
                if not 0 < document.entry <= self._top:
                    self._find("the content is missing", id=document.id)
            self._step(1)

    def _fits(self, document: Document) -> bool:
        """Tell whether a document has fields and an id as the index says that all have."""
        columns = self._columns
        if columns is None:
            return True
        try:
            columns.id(document.id)
            values = metadata.decode(document.metadata, columns.metadata)
            return metadata.types_of(values).items() <= columns.metadata.items()
        except (LookalikeError, KeyError):
            return False

    def _add_rows(self, sums: _Sums, *, first: bool) -> None:
        for keys, entries in self._reader.every_loose():
            sums.add(entries, keys)
            self._step(len(keys))
            if first:
                self._check_numbered(entries)
        for block in self._reader.every_block():
            sums.add(block.entries, np.full(len(block.entries), block.key))
            self._step(1)
            if first:
                self._check_numbered(block.entries)
                self._check_block(block)

    def _check_numbered(self, entries: NDArray[np.int64]) -> None:
        """Check that rows of bands name entries that there were at some time."""
        self._checked.rows += len(entries)
        if len(entries) and not (entries.min() > 0 and entries.max() <= self._top):
            self._find(STRAY)

    def _check_block(self, block: Block) -> None:
        """Check that a block has the sketches of its entries."""
        numbers, whole = self._reader.sketches(np.unique(block.entries))
        if not len(numbers):
            return
        brief = self._sketches.brief(whole)
        order = np.argsort(numbers)
        numbers, brief = numbers[order], brief[order]
        places = np.searchsorted(numbers, block.entries).clip(max=len(numbers) - 1)
        there = numbers[places] == block.entries
        if brief.shape[1] != block.sketches.shape[1]:
            wrong = there
        else:
            wrong = there & (brief[places] != block.sketches).any(axis=1)
        for number in block.entries[wrong].tolist():
            self._find("a sketch in a crowd is not that", number)

    def _made(self, batch: list[tuple[Entry, int | None]]) -> _Made:
        """Make again what is stored of entries, on whatever thread."""
        right = [one for one, mark in batch if mark is None or mark == _mark(one)]
        wrong = [one for one, mark in batch if mark is not None and mark != _mark(one)]
        wrong += [one for one in right if len(one.sketch) != self._width]
        read = [one for one in right if len(one.sketch) == self._width]
        read, unread, documents = self._unpacked(read)
        entries = [one for one, _ in batch]
        if not read:
            return _Made(entries, wrong, unread, [], np.empty(0, np.uint64), [])
        if documents is not None:
            stored = self._sketches.of(documents)
        else:
            joined = np.frombuffer(b"".join(one.sketch for one in read), np.uint8)
            empty = np.array([one.empty for one in read], np.bool_)
            stored = self._sketches.again(joined.reshape(len(read), -1), empty)
        unlike = [
            one
            for one, sketch, empty in zip(read, stored.sketches, stored.empty.tolist(), strict=True)
            if one.sketch != sketch.tobytes() or one.empty != empty
        ]
        keys = np.sort(stored.keys, axis=1)
        parts = mixed(keys.view(np.uint64))
        # A row that two bands would have is there once.
        parts[:, 1:][keys[:, 1:] == keys[:, :-1]] = 0
        parts[stored.empty] = 0
        sums = parts.sum(axis=1, dtype=np.uint64)
        return _Made(entries, wrong, unread, unlike, sums, read)

    def _unpacked(self, entries: list[Entry]) -> tuple[list[Entry], list[Entry], Canonical | None]:
        """Part entries whose texts are what was added from the others, and give those texts."""
        if not self._backing.keeps_text:
            return entries, [], None
        try:
            return entries, [], self._texts(entries)
        except DamagedError:
            # One by one, as that does not tell which.
            read = [one for one in entries if self._has_text(one)]
        there = {one.number for one in read}
        return read, [one for one in entries if one.number not in there], self._texts(read)

    def _has_text(self, entry: Entry) -> bool:
        try:
            self._texts([entry])
        except DamagedError:
            return False
        return True

    def _texts(self, entries: list[Entry]) -> Canonical:
        bodies = [Body(one.number, one.content, one.length, one.body or b"") for one in entries]
        return unpacked(bodies, self._backing.address)

    def _compare(self, made: _Made, sums: _Sums) -> None:
        """Note what of some entries is not what it has to be."""
        for one in made.wrong:
            self._find("the sketch or the fingerprint is not that", one.number)
        for one in made.unread:
            self._find("the text is not that", one.number)
        for one in made.unlike:
            self._find("the sketch is not that", one.number)
        numbers = np.array([one.number for one in made.read], np.int64)
        differing = sums.rows[numbers - sums.begin] != made.sums
        for number in numbers[differing].tolist():
            self._find("the rows of bands are not those", number)


def _mark(entry: Entry) -> int:
    return marks.of_entry(entry.number, entry.content, entry.sketch, entry.length, entry.empty)


def _batches(
    entries: Iterable[tuple[Entry, int | None]],
) -> Iterator[list[tuple[Entry, int | None]]]:
    """Give entries some at a time, as many as are not too large together."""
    batch: list[tuple[Entry, int | None]] = []
    size = 0
    for entry, mark in entries:
        batch.append((entry, mark))
        size += entry.length
        if len(batch) >= BATCH_ENTRIES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
