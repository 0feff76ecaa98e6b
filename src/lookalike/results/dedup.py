"""The corpus without near-duplicates, and what was removed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import OutputError
from lookalike.base.timing import timed
from lookalike.base.wording import count, in_full
from lookalike.planning.plan import Plan
from lookalike.results import kept_files
from lookalike.results.annotated_files import Annotations, annotated_tables, write_annotated
from lookalike.results.documents import numbered
from lookalike.results.record import Run, counts_of, record_of
from lookalike.results.result import Result, write_folder
from lookalike.results.showing import SHOWN_ROWS, Section, cluster_section
from lookalike.results.stored import stored_table
from lookalike.results.summary import Summary
from lookalike.results.unread import no_texts
from lookalike.settings import Settings
from lookalike.write.files import write_atomically, write_table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

    from lookalike.results.documents import Documents
    from lookalike.results.origin import Origin
    from lookalike.results.result import Progress

__all__ = ["DedupResult", "KeptRows"]

REMOVED, CLUSTERS = "removed.jsonl", "clusters.parquet"
CLUSTERED = pa.schema(
    {
        "id": pa.string(),
        "cluster": pa.int64(),
        "size": pa.int64(),
        "similarity": pa.float64(),
        "kept": pa.bool_(),
        "corpus": pa.string(),
    }
)
"""The columns of clusters; ids may be numbers."""
COUNTED = ("read", "kept", "removed", "empty")
FOR_INDEX = "removed_for_index"
"""Counted too, where documents were looked up in an index: the removed ones that name one there."""


@dataclass(frozen=True)
class KeptRows:
    """Which documents stay, as their numbers."""

    kept: NDArray[np.int64]
    """Those that stay, in the order of the source; empty ones among them."""
    removed: NDArray[np.int64]
    """The others, by id."""
    named: NDArray[np.int64]
    """The kept document that each of them names; those of an index are counted after all."""
    similarity: NDArray[np.float64]
    references: int
    """Documents, the first ones, of a reference corpus that is never touched."""
    empty: int
    """Empty documents, which all stay."""
    for_index: int | None = None
    """Removed documents that name one of an index; None where there is none."""


@dataclass(frozen=True, repr=False)
class DedupResult(Result):
    """The corpus without near-duplicates, and what was removed."""

    command = "dedup"

    plan: Plan | None
    """None where what is contained is removed, which is found without one."""
    settings: Settings
    summary: Summary
    run: Run = field(default_factory=Run)
    thinned: KeptRows | None = None
    documents: Documents | None = None
    known: dict[str, Any] | None = None
    """The record of a result that was opened again."""
    folder: Path | None = None
    """Where a result is that was opened again."""

    def __len__(self) -> int:
        """Count the kept documents, empty ones among them."""
        return self.counts["kept"] + self.counts["empty"]

    def _facts(self) -> list[str]:
        found = f"{len(self):,} of {count(self.counts['read'], 'document')} kept"
        if self.settings.rule == "contained":
            return [found, f"containment {in_full(self.settings.containment or 0)}"]
        return [found, f"threshold {in_full(self.settings.threshold)}"]

    def _sections(self) -> list[Section]:
        removed = count(self.counts["removed"], "removed document")
        first = self.removed.slice(0, SHOWN_ROWS)
        clusters = self.clusters
        number = clusters["cluster"][-1].as_py() if len(clusters) else 0
        return [
            Section(removed, first, self.counts["removed"]),
            cluster_section(clusters, number),
        ]

    def _found(self) -> tuple[str, list[NDArray[np.float64]]]:
        label = count(self.counts["removed"], "document") + f" removed, by {self.score}"
        return label, [self.removed[self.score].to_numpy()]

    @property
    def score(self) -> str:
        """What tables say of a removed document and the kept one: similarity, or containment."""
        return "containment" if self.settings.rule == "contained" else "similarity"

    def _tables(self) -> dict[str, Any]:
        """Give the tables; the kept documents too, if they are in memory already."""
        if self.documents is None and self.folder is None:
            return {}
        tables = self._empty_ids() | {"removed": self.removed, "clusters": self.clusters}
        if self.documents is None:
            return tables
        in_memory = {"kept": self.kept} if self.documents.origin.in_memory else {}
        return tables | {"kept_ids": self.kept_ids, "annotated": self.annotated} | in_memory

    @cached_property
    def kept(self) -> Any:
        """The kept documents in the kind of the source: a list of texts, a dict, a table, …"""
        return self._origin().as_given(self._thinned().kept)

    @property
    def kept_rows(self) -> NDArray[np.int64]:
        """Their numbers, from 0, those of a reference corpus counted before them."""
        return self._thinned().kept

    @cached_property
    def kept_ids(self) -> pa.Array:
        """Their ids, in the order of the source."""
        return self._documents().ids.take(self._thinned().kept)

    @cached_property
    def removed(self) -> pa.Table:
        """id, kept, similarity, kept_in: each removed document and the kept one it names, by id.

        That is the most similar of the kept documents that were preferred to it, or to the first
        of its identical copies. `kept_in` says of which corpus it is, the source, the reference or
        an index, whose most similar document goes before all others: an id may appear in each.
        With the rule contained the third column is `containment`, the share of the removed one's
        shingles that the kept one has: of all kept ones, the most.
        """
        if self.folder is not None and self.known is not None:
            ids = pa.type_for_alias(self.known["ids"])
            columns = {"id": ids, "kept": ids, self.score: pa.float64(), "kept_in": pa.string()}
            schema, rows = pa.schema(columns), self.counts["removed"]
            return stored_table(self.folder / REMOVED, "jsonl", schema, rows)
        found, documents = self._thinned(), self._documents()
        return pa.table(
            {
                "id": documents.ids.take(found.removed),
                "kept": documents.named.take(found.named),
                self.score: pa.array(found.similarity),
                "kept_in": documents.corpora(found.named),
            },
            metadata=self.metadata,
        )

    @cached_property
    def clusters(self) -> pa.Table:
        """The kept documents that others name, and those: id, cluster, size, similarity, kept.

        Last comes `corpus`, of which the document is: the source, the reference or an index. The
        similarity is that of a document with the kept one of its cluster, which was compared with
        it: there are no chains. With the rule contained it is the containment, and named so.
        """
        if self.folder is not None:
            names = [self.score if name == "similarity" else name for name in CLUSTERED.names]
            schema = pa.schema([*map(pa.field, names, CLUSTERED.types)])
            return stored_table(self.folder / CLUSTERS, "parquet", schema)
        with timed(self.summary.seconds, "cluster"):
            return self._clusters()

    @cached_property
    def _numbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The documents of clusters, in order, and the number and the size of each one's."""
        found, documents = self._thinned(), self._documents()
        labels = np.full(len(documents.named), -1, np.int64)
        labels[found.named] = found.named
        labels[found.removed] = found.named
        return numbered(labels, documents.in_order(np.flatnonzero(labels >= 0)))

    def _clusters(self) -> pa.Table:
        found, documents = self._thinned(), self._documents()
        similarity = np.ones(len(documents.named))
        similarity[found.removed] = found.similarity
        stays = np.ones(len(documents.named), np.bool_)
        stays[found.removed] = False
        rows, numbers, sizes = self._numbered
        columns = {
            "id": documents.named.take(rows),
            "cluster": pa.array(numbers),
            "size": pa.array(sizes),
            self.score: pa.array(similarity[rows]),
            "kept": pa.array(stays[rows]),
            "corpus": documents.corpora(rows),
        }
        return pa.table(columns, metadata=self.metadata)

    @cached_property
    def annotated(self) -> pa.Table:
        """Every document in the order of the source: id, cluster, cluster_size, kept, similarity.

        The cluster is null, and its size 1, of a document that is like no other; the similarity is
        that with the kept document of its cluster, null of a kept one. With the rule contained it
        is the containment, and named so.
        """
        origin = self._origin()
        rows = np.arange(origin.before, len(self._documents()))
        return pa.concat_tables([*annotated_tables(origin, rows, self._annotations())])

    def _annotations(self) -> Annotations:
        found, documents = self._thinned(), len(self._documents().named)
        cluster, size = np.zeros(documents, np.int64), np.ones(documents, np.int64)
        rows, numbers, sizes = self._numbered
        cluster[rows], size[rows] = numbers, sizes
        kept, score = np.ones(documents, np.bool_), np.full(documents, np.nan)
        kept[found.removed], score[found.removed] = False, found.similarity
        return Annotations(cluster, size, kept, score, self.score)

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are similar to nothing and stay, in order."""
        return self._documents().empty()

    @property
    def counts(self) -> dict[str, int]:
        """The documents: kept, removed and empty ones make up those that were read."""
        if self.known is not None:
            there = [name for name in (*COUNTED, FOR_INDEX) if name in self.known["counts"]]
            return counts_of(self.known, *there)
        found = self._thinned()
        counts = {
            "read": self.summary.documents - found.references,
            "kept": len(found.kept) - found.empty,
            "removed": len(found.removed),
            "empty": found.empty,
        }
        return counts if found.for_index is None else counts | {FOR_INDEX: found.for_index}

    def record(self) -> dict[str, Any]:
        """Give the record of the run: settings, plan, counts, seconds, versions."""
        if self.known is not None:
            return self.known
        ids = str(self.clusters.schema.field("id").type)
        counts = self.counts
        # Those are of the corpus alone.
        counts |= {"reference_empty": self.summary.empty - counts["empty"]}
        facts = (self.run, self.settings, self.plan, self.summary, counts)
        return record_of(self.command, *facts, ids=ids)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        list_only: bool = False,
        drop_unread: bool = False,
        annotate: bool = False,
        progress: Progress | None = None,
        going_on: bool | None = None,
        before_it_appears: Callable[[], None] | None = None,
    ) -> None:
        """Write a folder, whole or not at all; `Result.open` opens it again.

        It gets the kept documents in the format of their files (`kept/`), or with `list_only` the
        ids of them (`kept.txt`); in `kept/` also, unless `drop_unread`, the files of a folder that
        cannot be read; `removed.jsonl`; `clusters.parquet`; and `run.json`, the record of the run.
        With `annotate` it gets all documents instead, with the columns of `annotated` added to the
        records of their files (`annotated/`), and those of other files as a table
        (`annotated.jsonl`).

        With `going_on`, files that an earlier try wrote are not written again; where it is
        not None, they stay for another try when this one fails. Last of all, before the folder
        takes its place, `before_it_appears` is called.
        """
        documents, rows = self._documents(), self._thinned().kept

        bad = set(self.summary.unread["path"].to_pylist())

        def fill(folder: Path) -> None:
            if annotate:
                write_annotated(self._origin(), self._annotations(), folder, progress, bad)
            elif list_only:
                kept_files.list_kept(documents.ids, rows, folder)
            else:
                unread = None if drop_unread else no_texts(self.summary.unread)
                kept_files.copy_kept(self._origin(), rows, folder, progress, unread, bad=bad)
            write_atomically(
                folder / REMOVED, lambda stream: write_table(self.removed, stream, "jsonl")
            )
            write_atomically(
                folder / CLUSTERS, lambda stream: write_table(self.clusters, stream, "parquet")
            )

        facts = {"annotated": True} if annotate else None
        write_folder(
            Path(path),
            fill,
            self,
            going_on=going_on,
            facts=facts,
            before_it_appears=before_it_appears,
        )

    def _thinned(self) -> KeptRows:
        if self.thinned is None:
            raise self._not_in_memory()
        return self.thinned

    def _documents(self) -> Documents:
        if self.documents is None:
            raise self._not_in_memory()
        return self.documents

    def _origin(self) -> Origin:
        return self._documents().origin

    def _not_in_memory(self) -> OutputError:
        if self.folder is None:
            return OutputError(
                "a result that was pickled holds no documents of files, only their ids: write it "
                "to a folder before"
            )
        what = "kept documents are there, in kept or kept.txt"
        if self.known is not None and self.known.get("annotated"):
            what = "documents are there, in annotated or annotated.jsonl"
        return OutputError(f"this result was opened again from {self.folder}: its {what}")

    @classmethod
    def _opened(cls, path: Path, record: dict[str, Any]) -> Self:
        counts_of(record, *COUNTED)
        pa.type_for_alias(record["ids"])
        return cls(
            plan=None if record["plan"] is None else Plan.from_dict(record["plan"]),
            settings=Settings.from_dict(record["settings"]),
            summary=Summary.of_record(record, path),
            run=Run.of_record(record),
            known=record,
            folder=path if path.is_dir() else path.parent,
        )
