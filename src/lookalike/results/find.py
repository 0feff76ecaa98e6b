"""Similar pairs and clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import OutputError
from lookalike.base.option_types import check_path
from lookalike.base.wording import Message, count, in_full, setting, similarity_text
from lookalike.planning.plan import Plan
from lookalike.results.record import Run, counts_of, place_of, record_of
from lookalike.results.result import Result, first_of, is_folder, write_file, write_folder
from lookalike.results.showing import SHOWN_ROWS, Section, cluster_section
from lookalike.results.similar_pairs import CONTAINMENTS, HeldPairs, LinkedPairs, StoredPairs
from lookalike.results.stored import stored_table
from lookalike.results.summary import Summary
from lookalike.settings import Settings
from lookalike.write.files import format_of, write_atomically, write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.results.clusters import Clusters
    from lookalike.results.documents import Documents
    from lookalike.results.pairs import Links
    from lookalike.results.result import Progress

__all__ = ["FindResult"]

GIANT_DOCUMENTS = 100
"""Documents from which a cluster counts as a giant, if it holds one in a hundred of all too."""
PAIRS, CLUSTERS = "pairs.parquet", "clusters.parquet"
CLUSTERED = pa.schema(
    {"id": pa.string(), "cluster": pa.int64(), "size": pa.int64(), "similarity": pa.float64()}
)
"""The columns of clusters; ids may be numbers."""


@dataclass(frozen=True, repr=False)
class FindResult(Result):
    """Similar pairs and clusters, with the plan and the settings that found them."""

    command = "find"

    plan: Plan
    settings: Settings
    summary: Summary
    similar: LinkedPairs | StoredPairs | HeldPairs
    run: Run = field(default_factory=Run)
    grouped: Clusters | None = None
    """The clusters as numbers of documents; None of a result that was opened again."""
    documents: Documents | None = None
    known: dict[str, Any] | None = None
    """The record of a result that was opened again."""
    clusters_file: Path | None = None

    @property
    def links(self) -> Links:
        """Pairs of groups of identical documents, with what they share, as they were found."""
        if not isinstance(self.similar, LinkedPairs):
            raise OutputError("a result that was opened again has pairs of documents alone")
        return self.similar.links

    @property
    def pair_count(self) -> int:
        """The number of similar pairs."""
        return self.similar.count

    def __len__(self) -> int:
        """Count the pairs."""
        return self.pair_count

    def _facts(self) -> list[str]:
        found = f"{count(len(self), 'pair')} in {count(self.summary.documents, 'document')}"
        if self.settings.simhash is not None:
            return [found, f"simhash {self.settings.simhash}"]
        return [found, f"threshold {in_full(self.settings.threshold)}"]

    def _tables(self) -> dict[str, Any]:
        tables = self._empty_ids() | {"similar": self.similar.held(), "grouped": None}
        if self.grouped is not None or self.clusters_file is not None:
            tables["clusters"] = self.clusters
        return tables

    def _sections(self) -> list[Section]:
        pairs = count(self.pair_count, "similar pair")
        sections = [Section(pairs, self.top(SHOWN_ROWS), self.pair_count)]
        if self.grouped is not None or self.clusters_file is not None:
            sections.append(cluster_section(self.clusters, self.cluster_count))
        return sections

    def _found(self) -> tuple[str, Iterator[NDArray[np.float64]]]:
        blocks = (block["similarity"].to_numpy() for block in self.pair_blocks())
        return count(self.pair_count, "pair") + " found", blocks

    @cached_property
    def pairs(self) -> pa.Table:
        """Every pair once: a, b, similarity, score; the most similar first, then by ids.

        With simhash also `distance`, the bits in which the fingerprints differ.
        """
        self.similar.refuse_too_many()
        return pa.concat_tables([*self.pair_blocks()]).combine_chunks()

    @cached_property
    def containments(self) -> pa.Table:
        """The pairs again: which share of a's shingles b has, and which share of b's a has.

        Null where similarities are estimated, and with the cosine.
        """
        self.similar.refuse_too_many()
        blocks = self.similar.blocks(containments=True)
        names = ["a", "b", *CONTAINMENTS]
        return pa.concat_tables([block.select(names) for block in blocks]).combine_chunks()

    def pair_blocks(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first may be empty."""
        return self.similar.blocks(progress=progress)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`, without laying out all of them."""
        return self.similar.top(first_of(most))

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are similar to nothing, in order."""
        if self.documents is None:
            raise OutputError("a result that was opened again does not name the empty documents")
        return self.documents.empty()

    @cached_property
    def clusters(self) -> pa.Table:
        """The members of each cluster of two or more: id, cluster, size, similarity.

        Clusters are connected components, numbered from 1, the largest first. The similarity is
        the smallest between any two members (of at most 200, see `smallest_similarities`).
        """
        if self.grouped is not None:
            return self.grouped.table(self.metadata)
        if self.clusters_file is None:
            raise OutputError(
                "the clusters were not written: write the result to a folder, which holds both"
            )
        return stored_table(self.clusters_file, "parquet", CLUSTERED)

    @property
    def cluster_count(self) -> int:
        """The number of clusters."""
        if self.known is not None:
            known: int = self.known["counts"]["clusters"]
            return known
        return self.clusters["cluster"][-1].as_py() if len(self.clusters) else 0

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the clusters: giants that hang together by chains."""
        if not len(self.clusters):
            return ()
        first = self.clusters.slice(0, 1).to_pylist()[0]
        size, least = first["size"], first["similarity"]
        giant = size >= max(GIANT_DOCUMENTS, self.summary.documents // 100)
        if not giant or least >= self.settings.threshold:
            return ()
        message = (
            f"the largest cluster has {size:,} documents, and two of them are only "
            f"{similarity_text(least, self.settings.threshold)} similar: each is similar to the "
            "next, the first not to the last. dedup compares each document with the one it keeps; "
            f"or raise {setting('threshold')}"
        )
        return (Message(message),)

    def record(self) -> dict[str, Any]:
        """Give the record of the run: settings, plan, counts, seconds, versions."""
        if self.known is not None:
            return self.known
        counts = {"pairs": self.pair_count, "clusters": self.cluster_count}
        ids = str(self.clusters.schema.field("id").type)
        facts = (self.run, self.settings, self.plan, self.summary, counts)
        return record_of(self.command, *facts, ids=ids)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the result, whole or not at all: to a folder, or the pairs alone to a file.

        A folder gets `pairs.parquet`, with the containments, `clusters.parquet` and `run.json`, the
        record of the run. Beside a file, which ends in .jsonl, .csv or .parquet unless a format is
        named, the record is FILE.run.json. `Result.open` opens both.
        """
        if not is_folder(path, format):
            write_file(Path(path), self.pair_blocks(progress), self, format)
            return

        def fill(folder: Path) -> None:
            pairs = self.similar.blocks(containments=True, progress=progress)
            write_atomically(folder / PAIRS, lambda stream: write_tables(pairs, stream, "parquet"))
            self.write_clusters(folder / CLUSTERS)

        write_folder(Path(path), fill, self)

    def write_clusters(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the clusters to a file."""
        check_path("path", path)
        kind = format or format_of(path)
        table = self.clusters
        write_atomically(path, lambda stream: write_tables(iter([table]), stream, kind))

    @classmethod
    def _opened(cls, path: Path, record: dict[str, Any]) -> Self:
        settings = Settings.from_dict(record["settings"])
        ids, counts = pa.type_for_alias(record["ids"]), counts_of(record, "pairs", "clusters")
        columns = {"a": ids, "b": ids, "similarity": pa.float64(), "score": pa.string()}
        if settings.simhash is not None:
            columns["distance"] = pa.int64()
        place = place_of(path, record, PAIRS)
        return cls(
            plan=Plan.from_dict(record["plan"]),
            settings=settings,
            summary=Summary.of_record(record, path),
            similar=StoredPairs(*place, counts["pairs"], pa.schema(columns)),
            run=Run.of_record(record),
            known=record,
            clusters_file=path / CLUSTERS if path.is_dir() else None,
        )
