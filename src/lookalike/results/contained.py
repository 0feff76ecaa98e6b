"""Which documents are inside others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import OutputError
from lookalike.base.wording import count, in_full
from lookalike.results.record import Run, counts_of, place_of, record_of
from lookalike.results.result import Result, first_of, is_folder, write_file, write_folder
from lookalike.results.showing import SHOWN_ROWS, Section
from lookalike.results.similar_pairs import HeldPairs, StoredPairs
from lookalike.results.summary import Summary
from lookalike.settings import Settings
from lookalike.write.files import write_atomically, write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.results.documents import Documents
    from lookalike.results.result import Progress
    from lookalike.results.similar_pairs import DirectedPairs

__all__ = ["ContainmentResult"]

PAIRS = "pairs.parquet"


@dataclass(frozen=True, repr=False)
class ContainmentResult(Result):
    """Pairs of which one document is mostly inside the other, each with its direction."""

    command = "contained"

    settings: Settings
    summary: Summary
    inside: DirectedPairs | StoredPairs | HeldPairs
    run: Run = field(default_factory=Run)
    documents: Documents | None = None
    known: dict[str, Any] | None = None
    """The record of a result that was opened again."""

    @property
    def pair_count(self) -> int:
        """The number of pairs; two copies are one."""
        return self.inside.count

    def __len__(self) -> int:
        """Count the pairs."""
        return self.pair_count

    def _facts(self) -> list[str]:
        found = f"{count(len(self), 'pair')} in {count(self.summary.documents, 'document')}"
        return [found, f"containment {in_full(self.settings.containment or 0)}"]

    def _tables(self) -> dict[str, Any]:
        return self._empty_ids() | {"inside": self.inside.held()}

    def _sections(self) -> list[Section]:
        pairs = count(self.pair_count, "pair") + ", one inside the other"
        return [Section(pairs, self.top(SHOWN_ROWS), self.pair_count)]

    def _found(self) -> tuple[str, Iterator[NDArray[np.float64]]]:
        blocks = (block["share"].to_numpy() for block in self.pair_blocks())
        return count(self.pair_count, "pair") + ", by the share inside", blocks

    @cached_property
    def pairs(self) -> pa.Table:
        """part, whole, share, similarity, copies, score; the largest share first, then by ids.

        `share` is how much of the part's shingles the whole has, and `similarity` that of the two.
        Two documents of the same shingles are each inside the other: they are one row, whose
        `copies` is true.
        """
        self.inside.refuse_too_many()
        return pa.concat_tables([*self.pair_blocks()]).combine_chunks()

    def pair_blocks(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first may be empty."""
        return self.inside.blocks(progress=progress)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`."""
        return self.inside.top(first_of(most))

    @property
    def inside_count(self) -> int:
        """The number of documents that are inside another."""
        return self.inside.inside_count

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are inside nothing, in order."""
        if self.documents is None:
            raise OutputError("a result that was opened again does not name the empty documents")
        return self.documents.empty()

    def record(self) -> dict[str, Any]:
        """Give the record of the run: settings, counts, seconds, versions."""
        if self.known is not None:
            return self.known
        ids = str(self.top(0).schema.field("part").type)
        facts = (self.run, self.settings, None, self.summary, {"pairs": self.pair_count})
        return record_of(self.command, *facts, ids=ids)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the pairs, whole or not at all: to a folder or a file, with the record beside."""
        if not is_folder(path, format):
            write_file(Path(path), self.pair_blocks(progress), self, format)
            return

        def fill(folder: Path) -> None:
            pairs = self.pair_blocks(progress)
            write_atomically(folder / PAIRS, lambda stream: write_tables(pairs, stream, "parquet"))

        write_folder(Path(path), fill, self)

    @classmethod
    def _opened(cls, path: Path, record: dict[str, Any]) -> Self:
        ids, counts = pa.type_for_alias(record["ids"]), counts_of(record, "pairs")
        shares = {"share": pa.float64(), "similarity": pa.float64()}
        columns = {"part": ids, "whole": ids, **shares, "copies": pa.bool_(), "score": pa.string()}
        schema = pa.schema(columns)
        return cls(
            settings=Settings.from_dict(record["settings"]),
            summary=Summary.of_record(record, path),
            inside=StoredPairs(*place_of(path, record, PAIRS), counts["pairs"], schema),
            run=Run.of_record(record),
            known=record,
        )
