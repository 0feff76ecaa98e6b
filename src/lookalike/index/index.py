"""The index: documents that were seen, and which of them a new one is similar to."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import LookalikeError, SettingsError, SourceError
from lookalike.base.options import takes, takes_two
from lookalike.base.progress import asked_for
from lookalike.base.threads import available
from lookalike.base.wording import quoted, setting
from lookalike.index import adding, crowded, metadata
from lookalike.index.adding import Added, Prepared, Put
from lookalike.index.bulk import Incoming, Progressed, chunks
from lookalike.index.columns import Columns, id_text, is_whole
from lookalike.index.creating import chosen_facts
from lookalike.index.export import write_export
from lookalike.index.filters import Filter
from lookalike.index.info import info_of
from lookalike.index.matches import Admission, Match, Nearest, Queried
from lookalike.index.matching import Matching, by_similarity, values_of
from lookalike.index.merging import check_mergeable, prepared_pages
from lookalike.index.opening import Opened, create_store, open_store
from lookalike.index.packed import damaged
from lookalike.index.querying import Asked
from lookalike.index.sqlite import SqliteStore
from lookalike.index.store import Sought
from lookalike.job.running import Running
from lookalike.planning.plan import Plan
from lookalike.read import read
from lookalike.recipe import Recipe, StoredSketches
from lookalike.settings.index_options import (
    IndexAddOptions,
    IndexCreateOptions,
    IndexQueryOptions,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lookalike.index.store import Document, Reader, Store, Turn, Writer
    from lookalike.read.files import Unread
    from lookalike.text.normalise import Canonical

__all__ = ["Admission", "Index", "Match"]

PAGE = 1000
"""Documents that are gone through, or removed, at a time."""
RUN_COUNTER, SWEPT_COUNTER = "counter.runs", "counter.swept"
SWEPT_SHARE, MIN_SWEPT = 0.5, 10_000
"""Entries that are gone, beside those that are there, from which on their rows are swept."""


class Index(Opened):
    """Documents that were seen, on disk, and which of them a new one is similar to.

    `Index("pages.lookalike")` opens a file, `Index("postgresql://…")` one on a server; both are
    made by `Index.create`. It may be used by several threads, and closed by `close` or `with`.
    """

    def __init__(
        self,
        address: str | os.PathLike[str],
        *,
        durable: bool = False,
        timeout: float = 60.0,
        threads: int | None = None,
        read_only: bool = False,
    ) -> None:
        """Open an index that there is.

        A change that was acknowledged outlives the death of this process; with `durable` also that
        of the machine, at the price of a wait for the disk. `timeout` is how many seconds a writer
        waits for another. With `read_only` it cannot be changed.
        """
        self._threads = threads or available()
        self._store: Store = open_store(address, durable=durable, wait=timeout, read_only=read_only)
        try:
            with self._store.read() as reader:
                facts = {name: reader.fact(name) for name in ("recipe", "chosen", "columns")}
            self._take(facts)
        except BaseException:
            self._store.close()
            raise

    def _take(self, facts: Mapping[str, str | None]) -> None:
        try:
            self.recipe = Recipe.load(facts["recipe"] or "")
            self._chosen = json.loads(facts["chosen"] or "{}")
            self._columns = Columns.load(facts["columns"])
        except SourceError as error:
            raise SourceError(f"{self.address}: {error.raw}") from None
        except (ValueError, KeyError, TypeError):
            raise damaged(self.address, "what it says of itself is not JSON") from None
        self._sketches = StoredSketches(self.recipe)
        self._matching = Matching(self._sketches, self.address)

    @staticmethod
    @takes(IndexCreateOptions)
    def create(address: Any, options: IndexCreateOptions) -> Index:
        """Make a new index, and open it.

        How documents are compared is chosen once: by `like`, a sample of what will come, or else by
        the options alone. Queries may ask for any threshold from that of the index on.
        """
        create_store(address, chosen_facts(options))
        return Index(address, threads=options.threads)

    @property
    def address(self) -> str:
        """Where the index is."""
        return self._store.address

    @property
    def threshold(self) -> float:
        """The lowest similarity that can be asked for."""
        return self.recipe.threshold

    @property
    def keeps_text(self) -> bool:
        """Whether the documents themselves are kept; if not, scores are estimated."""
        return not self.recipe.by_sketches

    @property
    def plan(self) -> Plan:
        """How documents are found: the bands and rows, and the curve of them."""
        try:
            return Plan.from_dict(self._chosen["plan"])
        except (LookalikeError, AttributeError, KeyError, TypeError, ValueError):
            raise damaged(self.address, "its plan is not what was written") from None

    @property
    def warnings(self) -> list[str]:
        """What spoke against the sample that the index was made by."""
        return [*self._chosen["warnings"]]

    @property
    def metadata(self) -> dict[str, str]:
        """The fields of the metadata, and the type of each."""
        with self._store.read() as reader:
            return dict(self._seen(reader).metadata)

    @property
    def has_whole_ids(self) -> bool:
        """Whether all ids are whole numbers, as they are where there are none."""
        return self._seen_now().whole_ids

    def __len__(self) -> int:
        """Count the documents."""
        with self._store.read() as reader:
            return reader.counts()["documents"]

    def __contains__(self, id: object) -> bool:
        """Tell whether there is a document with an id."""
        with self._store.read() as reader:
            return bool(reader.documents([id_text(id)]))

    def __iter__(self) -> Iterator[str | int]:
        """Give the ids, in the order of their text."""
        for page in self._pages():
            columns = self._seen_now()
            yield from (columns.id(one.id) for one in page)

    def __repr__(self) -> str:
        """Name the index."""
        return f"Index({self.address!r})"

    def __enter__(self) -> Index:
        """Use it until the end of a block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the file or the server."""
        self._store.close()

    def add(self, id: str | int, document: Any, metadata: Mapping[str, Any] | None = None) -> Added:
        """Add a document, in the place of one with the same id."""
        prepared = self._prepared(id, document, metadata)
        added = self._store.change(
            lambda writer: adding.put(writer, prepared),
            adding.locks_of(prepared),
            _sought(prepared.asked, [one.id for one in prepared.puts]),
        )
        if added.replaced:
            self._sweep_if_worth()
        return added

    def admit(
        self, id: str | int, document: Any, metadata: Mapping[str, Any] | None = None
    ) -> Admission:
        """Add a document if it is similar to none in the index; say what it is similar to.

        Of two that bring similar documents at once, one is told that its own is new, and the other
        one what that is similar to.
        """
        prepared = self._prepared(id, document, metadata)
        locks = adding.locks_of(prepared)
        sought = _sought(prepared.asked, [one.id for one in prepared.puts])
        gone: set[int | None] = set()
        while True:
            added, found, matches = self._store.change(
                lambda writer: self._admitted(writer, prepared), locks, sought
            )
            if matches or not found:
                break
            # Another writer has replaced all of them since they were found: look again.
            if not gone.isdisjoint(found):
                raise damaged(self.address, "a text in it is of no document")
            gone.update(found)
        if added.replaced:
            self._sweep_if_worth()
        return Admission(not found, by_similarity(matches))

    def _admitted(
        self, writer: Writer, prepared: Prepared
    ) -> tuple[Added, list[int | None], list[Match]]:
        """Add a document, or give the entries that it is similar to, and their documents."""
        added, ((*found,),) = adding.admit(
            writer,
            prepared,
            self._sketches,
            threshold=self.threshold,
            address=self.address,
            threads=1,
        )
        scores = {one.entry: one[2:] for one in found}
        documents = writer.documents_of(np.array([*scores], np.int64)) if found else []
        columns = self._seen(writer)
        matches = [self._matching.match(one, columns, *scores[one.entry]) for one in documents]
        return added, [*scores], matches

    @takes_two(IndexAddOptions)
    def add_all(self, source: Any, options: IndexAddOptions) -> Added:
        """Add the documents of a source, each in the place of one with its id.

        The source is as that of `find`. With `new_only`, add only those that are similar to none in
        the index, nor to one before them. Of files that are added, a job that was stopped goes on
        when it is called again.
        """
        names = _names(options.metadata)
        with asked_for(options.progress) as progress:
            running = _running(options, progress)
            incoming = Incoming.of(source, options, running, self.recipe.form, names)
            return self._add_all(incoming, new_only=options.new_only)

    def _add_all(self, incoming: Incoming, *, new_only: bool) -> Added:
        running, total = incoming.running, incoming.source.size
        digest = incoming.digest(new_only=new_only)
        fact = None if digest is None else f"adding.{digest}"
        at = self._begun(fact, running, incoming.source.unread)
        noted = at.dump()
        columns = self._seen_now()
        running.progress("add", at.read, total)
        for chunk in chunks(
            incoming,
            at,
            self._sketches,
            columns,
            with_text=self.keeps_text,
            admitted=new_only,
        ):
            self._declare(chunk.columns)
            for note in chunk.notes:
                running.say(note)
            at.next, at.read = chunk.next, chunk.read
            at.added.unread.add(chunk.unread)
            with self._store.write() as writer:
                self._check_alone(writer, fact, noted)
                if chunk.prepared is not None and new_only:
                    added, _ = adding.admit(
                        writer,
                        chunk.prepared,
                        self._sketches,
                        threshold=self.threshold,
                        address=self.address,
                        run=at.run,
                        threads=running.threads,
                    )
                    at.added += added
                elif chunk.prepared is not None:
                    at.added += adding.put(writer, chunk.prepared, run=at.run)
                noted = at.dump()
                if fact is not None:
                    writer.set_fact(fact, noted)
            running.progress("add", at.read, total)
        if fact is not None:
            with self._store.write() as writer:
                self._check_alone(writer, fact, noted)
                writer.set_fact(fact, None)
        self._sweep_if_worth()
        incoming.check_any(at.added.documents + at.added.similar, at.added.unread)
        for name in incoming.names:
            if name not in self._columns.metadata:
                running.say(f"No document has a value in column {quoted(name)}, kept as metadata.")
        for line in at.added.unread.lines():
            running.say(line)
        at.added.unread = at.added.unread.spelled()
        return at.added

    def _begun(self, fact: str | None, running: Running, unread: Sequence[Unread]) -> Progressed:
        """Begin an addition, or go on with one that was stopped."""
        with self._store.write() as writer:
            text = None if fact is None else writer.fact(fact)
            if text is not None:
                running.say("Going on with an addition that was stopped.")
                return Progressed.load(text)
            at = Progressed(writer.count_up(RUN_COUNTER, 1) + 1)
            at.added.unread.skip(unread)
            if fact is not None:
                writer.set_fact(fact, at.dump())
            return at

    def _check_alone(self, writer: Reader, fact: str | None, noted: str) -> None:
        """Refuse to go on where another has added of the same source since."""
        if fact is not None and writer.fact(fact) != noted:
            raise SourceError(
                f"another process adds the same source to {self.address} at the same time: let one "
                "of them do it"
            )

    def query(
        self,
        document: Any,
        *,
        threshold: float | None = None,
        top: int | None = None,
        where: str | None = None,
        containment: bool = False,
    ) -> list[Match]:
        """Give the documents that are similar to one, the most similar first.

        `where` is a condition on their metadata, as "source = 'web' and year >= 2020". With
        `containment`, each match has the share of either document's shingles that the other has.
        """
        asked = Asked.of(self._canonical(document), self._sketches)
        with self._store.read(_sought(asked)) as reader:
            columns, given = self._seen(reader), (threshold, top, where)
            (found,) = self._matching.matches(
                reader, columns, asked, *given, containment=containment, threads=1
            )
        return found

    @takes_two(IndexQueryOptions)
    def query_all(self, source: Any, options: IndexQueryOptions) -> pa.Table:
        """Give the documents that are similar to those of a source, a row for each.

        The source is as that of `find`.
        """
        with self.queried(source, options) as queried:
            return pa.concat_tables([*queried])

    @contextmanager
    def queried(self, source: Any, options: IndexQueryOptions) -> Iterator[Queried]:
        """Give the tables of `query_all` one by one, as they are made; there is at least one."""
        with asked_for(options.progress) as progress:
            running = _running(options, progress)
            incoming = Incoming.of(source, options, running, self.recipe.form, ())
            queried = Queried()
            queried.tables = self._match_tables(incoming, options, queried)
            yield queried

    def _match_tables(
        self, incoming: Incoming, options: IndexQueryOptions, queried: Queried
    ) -> Iterator[pa.Table]:
        """Look for documents as they are read, in the index as it is when the first is."""
        with self._store.read() as reader:
            columns = self._seen(reader)
            yield from self._matching.tables(reader, columns, incoming, options, queried)

    def most_similar(self, asked: Asked, threshold: float, threads: int) -> dict[int, Nearest]:
        """Give the most similar document for each that has one; of equal ones the first by id."""
        with self._store.read() as reader:
            columns = self._seen(reader)
            return self._matching.most_similar(reader, columns, asked, threshold, threads)

    def prepared(self, puts: Sequence[Put], documents: Canonical) -> Prepared:
        """Make of canonical documents what is stored of them, on whatever thread."""
        return Prepared.of(puts, documents, self._sketches, with_text=self.keeps_text, keep=False)

    def turn(self) -> Turn | None:
        """Give the right to be the one job that adds what it decides; None while another has it."""
        return self._store.turn()

    def put_all(self, prepared: Iterable[Prepared], columns: Columns) -> Iterator[Added]:
        """Add documents that were prepared, each in the place of one with its id, all or none.

        What was added of each part is told as it goes; other writers wait until all is done. What
        is there already as it is brought stays so.
        """
        self._declare(columns)
        with self._store.write() as writer:
            for part in prepared:
                yield adding.put(writer, part)
        self._sweep_if_worth()

    def remove(self, ids: Iterable[str | int] = (), *, where: str | None = None) -> int:
        """Remove documents by their ids, or those whose metadata meets a condition; count them."""
        if isinstance(ids, (str, int)):
            ids = [ids]
        names = [id_text(id) for id in ids]
        if names and where is not None:
            raise SettingsError(f"ids and {setting('where')} cannot be given together: give one")
        removed = 0
        if where is None:
            for begin in range(0, len(names), PAGE):
                with self._store.write() as writer:
                    found = writer.documents(names[begin : begin + PAGE])
                    removed += _removed(writer, found)
        else:
            condition, columns = self._condition(where)
            after: str | None = None
            while True:
                with self._store.write() as writer:
                    page = writer.next_documents(after, PAGE)
                    if not page:
                        break
                    met = [one for one in page if condition.holds(values_of(one, columns))]
                    removed += _removed(writer, met)
                    after = page[-1].id
        self._sweep_if_worth()
        return removed

    def missing(self, ids: Iterable[str | int]) -> list[str | int]:
        """Give those ids, of some, that no document has."""
        asked = list(ids)
        found: set[str] = set()
        for begin in range(0, len(asked), PAGE):
            with self._store.read() as reader:
                names = [id_text(id) for id in asked[begin : begin + PAGE]]
                found |= {one.id for one in reader.documents(names)}
        return [id for id in asked if id_text(id) not in found]

    def merge(self, other: Index | str | os.PathLike[str]) -> Added:
        """Add the documents of another index with the same recipe, each in the place of one here.

        The other one is not changed.
        """
        if not isinstance(other, Index):
            with Index(other, threads=self._threads) as opened:
                return self.merge(opened)
        check_mergeable(self, other)
        added = Added()
        with other._store.read() as reader:
            self._declare(self._columns.joined(other._seen(reader)))
            for prepared in prepared_pages(
                reader, self._sketches, other.address, with_text=self.keeps_text
            ):
                with self._store.write() as writer:
                    added += adding.put(writer, prepared)
        self._sweep_if_worth()
        return added

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the documents to a Parquet file, in the order of their ids, and count them.

        The columns are `id`, `text` as it is compared (or `vector`) where it is kept, and a column
        for each field of the metadata.
        """
        return write_export(self._store, self.recipe, path)

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Copy an index in a file as it is at this moment, while others may write to it."""
        if not isinstance(self._store, SqliteStore):
            raise SettingsError(
                f"{self.address} is on a server, whose own tools copy it, as pg_dump; or merge it "
                "into a file"
            )
        self._store.copy(Path(path))

    def info(self) -> dict[str, Any]:
        """Tell what the index is made by, what it holds, and what a query costs at worst."""
        return info_of(self._store, self.recipe, self.plan)

    def compact(self) -> None:
        """Sweep what is left of removed documents, pack crowded buckets, give room back."""
        self._sweep()
        with self._store.write() as writer:
            crowded.pack(writer, crowded.largest(writer))
        self._store.compact()

    def _sweep_if_worth(self) -> None:
        with self._store.read() as reader:
            gone, swept, ever = (
                adding.counter(reader, name)
                for name in (adding.GONE_COUNTER, SWEPT_COUNTER, adding.ENTRY_COUNTER)
            )
        if gone >= MIN_SWEPT and gone > SWEPT_SHARE * (ever - swept - gone):
            self._sweep()

    def _sweep(self) -> None:
        with self._store.write() as writer:
            writer.sweep()
            writer.count_up(SWEPT_COUNTER, adding.counter(writer, adding.GONE_COUNTER))
            writer.set_fact(adding.GONE_COUNTER, None)

    def _pages(self) -> Iterator[list[Document]]:
        """Give all documents, some at a time, in the order of their ids."""
        after: str | None = None
        while True:
            with self._store.read() as reader:
                page = reader.next_documents(after, PAGE)
            if not page:
                return
            yield page
            after = page[-1].id

    def _prepared(self, id: Any, document: Any, given: Mapping[str, Any] | None) -> Prepared:
        name = id_text(id)
        values = metadata.values_of(id, given or {})
        put = Put(name, metadata.encode(values))
        prepared = Prepared.of(
            [put], self._canonical(document), self._sketches, with_text=self.keeps_text
        )
        columns = self._columns.with_ids(whole=is_whole(id))
        self._declare(columns.with_metadata(metadata.types_of(values), id))
        return prepared

    def _canonical(self, document: Any) -> Canonical:
        """Make one document canonical."""
        if self.recipe.form.kind == "text":
            if not isinstance(document, str):
                raise SourceError(
                    f"the index is of texts, and this is of type {type(document).__name__}: give a "
                    "text"
                )
            return self.recipe.canonical(_one_text(document))
        # Of no tokens nobody can tell that they are some; an empty document is None, of any kind.
        given = None if isinstance(document, (list, tuple)) and not document else document
        return self.recipe.canonical(read([given]).texts)

    def _declare(self, columns: Columns) -> None:
        """Note what ids and metadata are, before the first that are so."""
        if columns == self._columns:
            return
        with self._store.write() as writer:
            known = Columns.load(writer.fact("columns")).joined(columns)
            writer.set_fact("columns", known.dump())
        self._columns = known

    def _seen(self, reader: Reader) -> Columns:
        """Give what ids and metadata are by now, which others may have changed."""
        text = reader.fact("columns")
        if text is not None and text != self._columns.dump():
            self._columns = Columns.load(text)
        return self._columns

    def _seen_now(self) -> Columns:
        with self._store.read() as reader:
            return self._seen(reader)

    def _condition(self, where: str) -> tuple[Filter, Columns]:
        condition, columns = Filter.parse(where), self._seen_now()
        condition.check(columns.metadata)
        return condition, columns


def _sought(asked: Asked, ids: Sequence[str] = ()) -> Sought:
    """Give what will be asked of a store for documents."""
    keys = asked.stored.keys[~asked.stored.empty]
    return Sought(ids, asked.contents(), np.unique(keys), ("columns",))


def _one_text(text: str) -> pa.Array:
    try:
        return pa.array([text], pa.large_string())
    except UnicodeEncodeError:
        raise SourceError("the text is no valid Unicode: it holds a lone surrogate") from None


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _running(options: Any, progress: Any) -> Running:
    return Running.of(
        threads=options.threads,
        memory=options.memory,
        skip_bad=options.skip_bad,
        progress=progress,
        say=options.say,
    )


def _removed(writer: Any, documents: Sequence[Document]) -> int:
    if documents:
        writer.drop_documents([one.id for one in documents])
        adding.drop_unused(writer, sorted({one.entry for one in documents}))
    return len(documents)
