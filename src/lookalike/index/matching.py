"""Documents of an index as matches of others: with their ids, scores and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.threads import in_order
from lookalike.base.wording import setting
from lookalike.index import metadata
from lookalike.index.asked import Asked
from lookalike.index.bulk import Progressed
from lookalike.index.filters import Filter
from lookalike.index.matches import Match, Nearest, match_table
from lookalike.index.querying import check_threshold, hits, most_similar_of, similar_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.index.bulk import Incoming
    from lookalike.index.columns import Columns
    from lookalike.index.matches import Queried
    from lookalike.index.store import Document, Reader
    from lookalike.recipe import StoredSketches
    from lookalike.settings.index_options import IndexQueryOptions

__all__ = ["Matching", "by_similarity", "values_of"]


@dataclass(frozen=True)
class Matching:
    """Finds the matches of documents in an index."""

    sketches: StoredSketches
    address: str

    def matches(
        self,
        reader: Reader,
        columns: Columns,
        asked: Asked,
        threshold: float | None,
        top: int | None,
        where: str | None,
        *,
        containment: bool,
        threads: int,
    ) -> list[list[Match]]:
        """Give the matches of each document, the most similar first."""
        least = check_threshold(threshold, self.sketches.recipe.threshold)
        if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
            raise SettingsError(f"{setting('top', top)}: use a whole number from 1, as 10")
        condition = None if where is None else Filter.parse(where)
        if condition is not None:
            condition.check(columns.metadata)
        similar = hits(
            reader, asked, self.sketches, threshold=least, address=self.address, threads=threads
        )
        entries = sorted({hit.entry for hit in similar})
        documents = reader.documents_of(np.array(entries, np.int64)) if entries else []
        by_entry: dict[int, list[Document]] = {}
        for one in documents:
            if condition is None or condition.holds(values_of(one, columns)):
                by_entry.setdefault(one.entry, []).append(one)
        found: list[list[Match]] = [[] for _ in range(len(asked))]
        for row, entry, *scores in similar:
            shown = scores if containment else [scores[0], None, None]
            found[row] += [self.match(one, columns, *shown) for one in by_entry.get(entry, ())]
        return [by_similarity(mine)[:top] for mine in found]

    def match(
        self,
        document: Document,
        columns: Columns,
        similarity: float,
        query_in_match: float | None,
        match_in_query: float | None,
    ) -> Match:
        """Give a document of the index as a match."""
        known = query_in_match is not None and not np.isnan(query_in_match)
        return Match(
            columns.id(document.id),
            similarity,
            "estimated" if self.sketches.recipe.by_sketches else "exact",
            values_of(document, columns),
            query_in_match if known else None,
            match_in_query if known else None,
        )

    def tables(
        self,
        reader: Reader,
        columns: Columns,
        incoming: Incoming,
        options: IndexQueryOptions,
        queried: Queried,
    ) -> Iterator[pa.Table]:
        """Give tables of the matches of a source, as it is read; there is at least one."""
        running, total = incoming.running, incoming.source.size
        queried.unread.skip(incoming.source.unread)
        first: pa.Table | None = None
        running.progress("query", 0, total)
        prepared = in_order(
            lambda part: (part, Asked.of(part.canonical, self.sketches)),
            incoming.parts(Progressed(0)),
            running.threads,
        )
        for part, asked in prepared:
            batch = part.batch
            matches = self.matches(
                reader,
                columns,
                asked,
                options.threshold,
                options.top,
                options.where,
                containment=options.containment,
                threads=running.threads,
            )
            queried.count(matches)
            ids = batch.ids.take(pa.array(part.rows))
            found = match_table(
                ids if first is None else _cast_ids(ids, first["id"].type),
                matches,
                columns.metadata,
                whole_ids=columns.whole_ids,
                containment=options.containment,
            )
            first = found.slice(0, 0) if first is None else first
            yield found
            queried.unread.fail(part.bad)
            if part.last:
                for note in batch.notes:
                    running.say(note)
                queried.unread.take(batch)
                running.progress("query", batch.read, total)
        incoming.check_any(queried.documents, queried.unread)
        if first is None:
            no_ids = pa.array([], pa.int64())
            options_of_table = {"whole_ids": columns.whole_ids, "containment": options.containment}
            yield match_table(no_ids, [], columns.metadata, **options_of_table)
        for line in queried.unread.lines():
            running.say(line)
        queried.unread = queried.unread.spelled()

    def most_similar(
        self, reader: Reader, columns: Columns, asked: Asked, threshold: float, threads: int
    ) -> dict[int, Nearest]:
        """Give the most similar document for each that has one; of equal ones the first by id."""
        similar = similar_entries(
            reader,
            asked,
            self.sketches,
            threshold=threshold,
            address=self.address,
            threads=threads,
        )
        best = most_similar_of(similar)
        documents = reader.documents_of(np.unique(best.entry)) if len(best) else []
        first: dict[int, Any] = {}
        for one in documents:
            name: Any = columns.id(one.id)
            first[one.entry] = min(first.get(one.entry, name), name)
        found: dict[int, Nearest] = {}
        for row, entry, similarity, *_ in best.hits():
            nearest = Nearest(similarity, first[entry])
            found[row] = min(found.get(row, nearest), nearest)
        return found


def _cast_ids(ids: pa.Array, id_type: pa.DataType) -> pa.Array:
    try:
        return ids.cast(id_type)
    except pa.ArrowInvalid:
        raise SourceError(
            f"some ids of the source are numbers and some are texts: use {setting('id', 'none')}, "
            "or look for them in two queries"
        ) from None


def values_of(document: Document, columns: Columns) -> dict[str, metadata.Value]:
    """Give the metadata of a document."""
    return metadata.decode(document.metadata, columns.metadata)


def by_similarity(matches: list[Match]) -> list[Match]:
    """Put the most similar first; of equal ones, by their ids."""
    return sorted(matches, key=lambda one: (-one.similarity, one.id))
