"""The index: documents that were seen, and which of them a new one is similar to."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import LookalikeError, SettingsError
from lookalike.base.index_files import Opened
from lookalike.base.options import takes, takes_two
from lookalike.base.progress import asked_for
from lookalike.base.threads import available
from lookalike.base.wording import setting
from lookalike.index import adding, crowded, metadata
from lookalike.index.admitting import admit
from lookalike.index.backing import Backing
from lookalike.index.bulk import Incoming
from lookalike.index.checking import check
from lookalike.index.columns import id_text, is_whole
from lookalike.index.creating import chosen_facts, facts_of
from lookalike.index.export import write_export
from lookalike.index.info import info_of
from lookalike.index.matches import Admission, Match, Nearest, Queried
from lookalike.index.matching import Matching, by_similarity
from lookalike.index.merging import check_mergeable, merge
from lookalike.index.opening import create_store, open_store
from lookalike.index.packed import damaged
from lookalike.index.prepared import Prepared, Put
from lookalike.index.removing import pages, remove_ids, remove_where, sweep, sweep_if_worth
from lookalike.index.sources import add_source
from lookalike.index.sqlite import SqliteStore
from lookalike.job.running import Running
from lookalike.planning.plan import Plan
from lookalike.settings.index_options import (
    IndexAddOptions,
    IndexCreateOptions,
    IndexQueryOptions,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lookalike.index.adding import Added
    from lookalike.index.asked import Asked
    from lookalike.index.checking import Checked
    from lookalike.index.columns import Columns
    from lookalike.index.store import Store, Turn, Writer
    from lookalike.recipe import Recipe
    from lookalike.text.normalise import Canonical

__all__ = ["Admission", "Index", "Match"]

PAGE = 1000
"""Ids that are looked up at a time."""


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
            self._backing = Backing(self._store)
        except BaseException:
            self._store.close()
            raise
        self._matching = Matching(self._backing.sketches, self.address)

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
    def recipe(self) -> Recipe:
        """How documents are compared."""
        return self._backing.recipe

    @property
    def threshold(self) -> float:
        """The lowest similarity that can be asked for."""
        return self.recipe.threshold

    @property
    def keeps_text(self) -> bool:
        """Whether the documents themselves are kept; if not, scores are estimated."""
        return self._backing.keeps_text

    @property
    def plan(self) -> Plan:
        """How documents are found: the bands and rows, and the curve of them."""
        try:
            return Plan.from_dict(self._backing.chosen["plan"])
        except (LookalikeError, AttributeError, KeyError, TypeError, ValueError):
            raise damaged(self.address, "its plan is not what was written") from None

    @property
    def warnings(self) -> list[str]:
        """What spoke against the sample that the index was made by."""
        return [*self._backing.chosen["warnings"]]

    @property
    def metadata(self) -> dict[str, str]:
        """The fields of the metadata, and the type of each."""
        return dict(self._backing.seen_now().metadata)

    @property
    def has_whole_ids(self) -> bool:
        """Whether all ids are whole numbers, as they are where there are none."""
        return self._backing.seen_now().whole_ids

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
        for page in pages(self._store):
            columns = self._backing.seen_now()
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
        prepared, columns = self._prepared(id, document, metadata)

        def put(writer: Writer) -> Added:
            self._backing.declare(writer, columns)
            return adding.put(writer, prepared, self._backing.sketches)

        added = self._backing.change(put, prepared, columns)
        if added.replaced:
            sweep_if_worth(self._store)
        return added

    def admit(
        self, id: str | int, document: Any, metadata: Mapping[str, Any] | None = None
    ) -> Admission:
        """Add a document if it is similar to none in the index; say what it is similar to.

        Of two that bring similar documents at once, one is told that its own is new, and the other
        one what that is similar to.
        """
        prepared, columns = self._prepared(id, document, metadata)
        gone: set[int | None] = set()
        while True:
            added, found, matches = self._backing.change(
                lambda writer: self._admitted(writer, prepared, columns), prepared, columns
            )
            if matches or not found:
                break
            # Another writer has replaced all of them since they were found: look again.
            if not gone.isdisjoint(found):
                raise damaged(self.address, "a text in it is of no document")
            gone.update(found)
        if added.replaced:
            sweep_if_worth(self._store)
        return Admission(not found, by_similarity(matches))

    def _admitted(
        self, writer: Writer, prepared: Prepared, columns: Columns
    ) -> tuple[Added, list[int | None], list[Match]]:
        """Add a document, or give the entries that it is similar to, and their documents."""
        backing = self._backing
        added, ((*found,),) = admit(
            writer, prepared, backing.sketches, threshold=self.threshold, address=self.address
        )
        if not found:
            backing.declare(writer, columns)
            return added, [], []
        scores = {one.entry: one[2:] for one in found}
        columns = backing.seen(writer)
        documents = writer.documents_of(np.array([*scores], np.int64))
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
            return add_source(self._backing, incoming, new_only=options.new_only)

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
        asked = self._backing.asked(document)
        with self._backing.looking_for(asked) as reader:
            columns, given = self._backing.seen(reader), (threshold, top, where)
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
            columns = self._backing.seen(reader)
            yield from self._matching.tables(reader, columns, incoming, options, queried)

    def most_similar(self, asked: Asked, threshold: float, threads: int) -> dict[int, Nearest]:
        """Give the most similar document for each that has one; of equal ones the first by id."""
        with self._store.read() as reader:
            columns = self._backing.seen(reader)
            return self._matching.most_similar(reader, columns, asked, threshold, threads)

    def prepared(self, puts: Sequence[Put], documents: Canonical) -> Prepared:
        """Make of canonical documents what is stored of them, on whatever thread."""
        sketches = self._backing.sketches
        return Prepared.of(puts, documents, sketches, with_text=self.keeps_text, keep=False)

    def made_by(self) -> dict[str, str]:
        """Give what another one is made by that is to be like this one."""
        return facts_of(self._store)

    def turn(self) -> Turn | None:
        """Give the right to be the one job that adds what it decides; None while another has it."""
        return self._store.turn()

    def put_all(self, prepared: Iterable[Prepared], columns: Columns) -> Iterator[Added]:
        """Add documents that were prepared, each in the place of one with its id, all or none.

        What was added of each part is told as it goes; other writers wait until all is done. What
        is there already as it is brought stays so.
        """
        with self._store.write() as writer:
            self._backing.declare(writer, columns)
            for part in prepared:
                yield adding.put(writer, part, self._backing.sketches)
        sweep_if_worth(self._store)

    def remove(self, ids: Iterable[str | int] = (), *, where: str | None = None) -> int:
        """Remove documents by their ids, or those whose metadata meets a condition; count them."""
        if isinstance(ids, (str, int)):
            ids = [ids]
        names = [id_text(id) for id in ids]
        if names and where is not None:
            raise SettingsError(f"ids and {setting('where')} cannot be given together: give one")
        if where is not None:
            return remove_where(self._backing, where)
        return remove_ids(self._store, names)

    def missing(self, ids: Iterable[str | int]) -> list[str | int]:
        """Give those ids, of some, that no document has."""
        asked = list(ids)
        found: set[str] = set()
        for begin in range(0, len(asked), PAGE):
            with self._store.read() as reader:
                names = [id_text(id) for id in asked[begin : begin + PAGE]]
                found |= {one.id for one in reader.documents(names)}
        return [id for id in asked if id_text(id) not in found]

    def merge(self, *others: Index | str | os.PathLike[str]) -> Added:
        """Add the documents of other indexes with the same recipe, each in the place of one here.

        The others are not changed. Of several, all are looked at before the first is merged.
        """
        added = adding.Added()
        with ExitStack() as opened:
            indexes = [
                one
                if isinstance(one, Index)
                else opened.enter_context(Index(one, threads=self._threads, read_only=True))
                for one in others
            ]
            for other in indexes:
                check_mergeable(self, other)
            for other in indexes:
                added += merge(self._backing, other._backing)
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

    def check(self, *, progress: Any = None) -> Checked:
        """Go through all that is stored, and tell whether it is what was added.

        Others may write meanwhile. What it finds is in `faults`; an index that is whole has none.
        """
        with asked_for(progress) as report:
            return check(self._backing, report, self._threads)

    def compact(self) -> None:
        """Sweep what is left of removed documents, pack crowded buckets, give room back."""
        sweep(self._store)
        with self._store.write() as writer:
            crowded.pack(writer, crowded.largest(writer), self._backing.sketches)
        self._store.compact()

    def _prepared(
        self, id: Any, document: Any, given: Mapping[str, Any] | None
    ) -> tuple[Prepared, Columns]:
        """Make of a document what is stored of it, and say what columns there are with it."""
        name = id_text(id)
        values = metadata.values_of(id, given) if given else {}
        put = Put(name, metadata.encode(values))
        columns = self._backing.columns.with_ids(whole=is_whole(id))
        columns = columns.with_metadata(metadata.types_of(values), id)
        asked = self._backing.asked(document)
        return Prepared.of_one(put, asked, with_text=self.keeps_text), columns


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
