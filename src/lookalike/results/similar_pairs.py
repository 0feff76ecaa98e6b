"""Pairs as tables: laid out of pairs of groups, or read from a file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.timing import timed, timed_items
from lookalike.base.wording import setting
from lookalike.candidates.hamming import bits_apart
from lookalike.results.documents import (
    ByRank,
    first_members,
    names_of,
    paired,
    refuse_too_many,
)
from lookalike.results.pairs import SORTED, Best, cell_links, laid_out, laid_out_cells
from lookalike.results.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.results.documents import Documents
    from lookalike.results.pairs import Block, Links, Sorter
    from lookalike.results.result import Progress
    from lookalike.score.jaccard import Scored
    from lookalike.settings import Settings

__all__ = ["CONTAINMENTS", "DirectedPairs", "HeldPairs", "LinkedPairs", "StoredPairs"]

TOO_MANY_REMEDY = (
    f"ask for the clusters, drop duplicates with dedup, or raise {setting('threshold')}"
)
CONTAINMENTS = ("a_in_b", "b_in_a")
SORT = "sort"
"""The stage that lays out pairs and puts them in order."""


@dataclass(frozen=True)
class LaidOutPairs:
    """Pairs of groups of identical documents, laid out as pairs of documents when asked for."""

    documents: Documents
    links: Links
    settings: Settings
    seconds: dict[str, float] = field(default_factory=dict)
    """The time of laying out is put to that of the other stages."""
    across: bool = False
    """The first document of a pair is of the source, the second of a reference."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of pairs of documents."""

    @abstractmethod
    def _append(self, sorter: Sorter | Best, block: Block) -> int:
        """Put pairs of documents to be sorted, by the ranks of their ids; tell how many."""

    @abstractmethod
    def _table(self, records: NDArray[np.void], *, containments: bool = False) -> pa.Table:
        """Make a table of sorted pairs."""

    def blocks(
        self, *, containments: bool = False, progress: Progress | None = None
    ) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first is empty."""
        sorter = self.documents.sorter("pairs")
        with timed(self.seconds, SORT):
            self._fill(sorter, progress=progress)
        yield self._table(np.empty(0, SORTED), containments=containments)
        for records in timed_items(sorter.blocks(), self.seconds, SORT):
            yield self._table(records, containments=containments)

    def top(self, most: int) -> pa.Table:
        """Give the first pairs, without laying out all of them."""
        with timed(self.seconds, SORT):
            best = Best(most)
            self._fill(best, *first_members(self.documents.joined, self.by_id, most + 1))
            return self._table(best.records)

    def joined_links(self) -> Iterator[Scored]:
        """Give the pairs of groups of `documents.joined`, in blocks."""
        if self.documents.cells is None:
            return self.links.blocks()
        return (scored for scored, _ in cell_links(self.links, self.documents.cells))

    def _pairs_of_cells(self) -> int:
        """Count the pairs of documents, of cells of which each pair is given once."""
        sizes = self.documents.joined.sizes
        blocks = self.joined_links()
        return sum(int((sizes[one.first] * sizes[one.second]).sum()) for one in blocks)

    @abstractmethod
    def refuse_too_many(self) -> None:
        """Refuse to lay out more pairs than fit in memory."""

    def held(self) -> HeldPairs:
        """Give the pairs as one table, which stands without the job."""
        self.refuse_too_many()
        whole = pa.concat_tables([*self.blocks(containments=True)]).combine_chunks()
        return HeldPairs(whole, self.top(0).column_names)

    @cached_property
    def by_id(self) -> ByRank:
        """Those that are in a pair; the ids of others are not needed."""
        return self.documents.by_id(paired(self.links, self.documents.groups))

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file of these pairs."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    def _fill(
        self,
        sorter: Sorter | Best,
        members: NDArray[np.int64] | None = None,
        starts: NDArray[np.int64] | None = None,
        progress: Progress | None = None,
    ) -> None:
        done = 0
        links, cells = self.links, self.documents.cells
        if cells is None:
            blocks = laid_out(links, self.documents.groups, members=members, starts=starts)
        else:
            blocks = laid_out_cells(links, cells, members=members, starts=starts)
        for block in blocks:
            done += self._append(sorter, block)
            if progress is not None:
                progress(SORT, done, self.count)


class LinkedPairs(LaidOutPairs):
    """Similar pairs, in which neither document comes first but by its id."""

    @cached_property
    def count(self) -> int:
        """The number of pairs."""
        if self.documents.cells is not None:
            return self._pairs_of_cells()
        sizes = self.documents.groups.sizes
        return self.links.between(sizes) + int((sizes * (sizes - 1) // 2).sum())

    def refuse_too_many(self) -> None:
        """Refuse to lay out more pairs than fit in memory."""
        refuse_too_many(self.count, TOO_MANY_REMEDY)

    def _append(self, sorter: Sorter | Best, block: Block) -> int:
        ranks = self.by_id.ranks
        first, second = ranks[block.first], ranks[block.second]
        swapped = first > second
        if self.across:
            swapped = block.first < self.documents.origin.before
        sorter.append(
            block.similarity,
            np.where(swapped, second, first),
            np.where(swapped, first, second),
            # A containment of identical documents is known even where others are estimated.
            np.where(swapped, block.backward, block.forward),
            np.where(swapped, block.forward, block.backward),
        )
        return len(first)

    def _table(self, records: NDArray[np.void], *, containments: bool = False) -> pa.Table:
        labels = pa.array(["exact", "estimated"])
        # Only identical documents have a containment where others are estimated.
        estimated = np.isnan(records["forward"]) & self.settings.by_sketches
        similarity = (~records["score"]).view(np.float64)
        columns = {
            **names_of(records, self.by_id, self.documents.ids),
            "similarity": pa.array(similarity),
            "score": labels.take(pa.array(estimated.astype(np.int8))),
        }
        if self.settings.simhash is not None:
            columns["distance"] = pa.array(bits_apart(similarity))
        if containments:
            shares = records["forward"].copy(), records["backward"].copy()
            columns |= {
                name: pa.array(share, from_pandas=True)
                for name, share in zip(CONTAINMENTS, shares, strict=True)
            }
        return pa.table(columns, metadata=self.metadata)


class DirectedPairs(LaidOutPairs):
    """Pairs of which the first document is inside the second.

    The similarity of their links is the share of the first that is in the second, and
    `first_in_second` the similarity of both. Where that is 1 the two are copies, each inside the
    other, and one pair: the first is the one whose id is.
    """

    @cached_property
    def count(self) -> int:
        """The number of pairs, each two copies counted once."""
        cells, sizes = self.documents.cells, self.documents.joined.sizes
        directed = mutual = identical = 0
        if cells is None:
            blocks: Iterator[tuple[Scored, bool]] = ((one, False) for one in self.links.blocks())
            identical = int((sizes * (sizes - 1) // 2).sum())
        else:
            blocks = cell_links(self.links, cells)
        for block, same in blocks:
            pairs = sizes[block.first] * sizes[block.second]
            if same:
                identical += int(pairs.sum())
                continue
            copies = block.first_in_second == 1
            directed += int(pairs[~copies].sum())
            mutual += int(pairs[copies].sum())
        return directed + mutual // 2 + identical

    @cached_property
    def inside_count(self) -> int:
        """The number of documents that are inside another."""
        cells, sizes = self.documents.cells, self.documents.joined.sizes
        if cells is not None:
            inside = np.zeros(len(sizes), np.bool_)
            for block, same in cell_links(self.links, cells):
                inside[block.first] = True
                if same:
                    inside[block.second] = True
            return int(sizes[inside].sum())
        inside = sizes > 1
        for block in self.links.blocks():
            inside[block.first] = True
        return int(sizes[inside].sum())

    def refuse_too_many(self) -> None:
        """Refuse to lay out more pairs than fit in memory."""
        refuse_too_many(self.count, f"raise {setting('containment')}")

    def _append(self, sorter: Sorter | Best, block: Block) -> int:
        ranks = self.by_id.ranks
        first, second = ranks[block.first], ranks[block.second]
        if block.same:
            first, second = np.minimum(first, second), np.maximum(first, second)
        # Other copies come from both sides.
        once = np.flatnonzero((block.forward < 1) | (first < second))
        scores = block.similarity[once], block.forward[once], block.backward[once]
        sorter.append(scores[0], first[once], second[once], *scores[1:])
        return len(once)

    def _table(self, records: NDArray[np.void], *, containments: bool = False) -> pa.Table:
        del containments  # they are what the pairs are of
        names = names_of(records, self.by_id, self.documents.ids)
        return pa.table(
            {
                "part": names["a"],
                "whole": names["b"],
                "share": pa.array((~records["score"]).view(np.float64)),
                "similarity": pa.array(records["forward"].copy()),
                "copies": pa.array(records["forward"] == 1),
                "score": pa.array(["exact"] * len(records), pa.string()),
            },
            metadata=self.metadata,
        )


def parts_of(pairs: pa.Table) -> pa.ChunkedArray:
    """Give the documents of directed pairs that are inside another; of two copies both are."""
    copies = pairs.filter(pairs["copies"])["whole"]
    return pa.chunked_array([*pairs["part"].chunks, *copies.chunks], pairs["part"].type)


@dataclass(frozen=True)
class StoredPairs:
    """Pairs in a file."""

    path: Path
    kind: str
    count: int
    schema: pa.Schema
    """The columns, of which a Parquet file may have containments beside."""

    @cached_property
    def inside_count(self) -> int:
        """The number of documents that are inside another, of directed pairs."""
        inside: set[object] = set()
        for block in self.blocks():
            inside.update(parts_of(block).to_pylist())
        return len(inside)

    def refuse_too_many(self) -> None:
        """Refuse to read more pairs than fit in memory."""
        refuse_too_many(self.count, "read the file in parts")

    def held(self) -> HeldPairs:
        """Give the pairs as one table, which stands without the file."""
        self.refuse_too_many()
        tables = stored_tables(self.path, self.kind, self.schema, self.count)
        return HeldPairs(pa.concat_tables([*tables]).combine_chunks(), self.schema.names)

    def blocks(
        self, *, containments: bool = False, progress: Progress | None = None
    ) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time."""
        done = 0
        for table in stored_tables(self.path, self.kind, self.schema, self.count):
            if containments and CONTAINMENTS[0] not in table.column_names:
                raise SourceError(
                    f"{self.path} holds no containments: write the result to a folder, which does"
                )
            done += len(table)
            yield table if containments else table.select(self.schema.names)
            if progress is not None:
                progress("read", done, self.count)

    def top(self, most: int) -> pa.Table:
        """Give the first pairs."""
        found = []
        for table in self.blocks():
            found.append(table.slice(0, most))
            most -= len(found[-1])
            if most <= 0:
                break
        return pa.concat_tables(found)


@dataclass(frozen=True)
class HeldPairs:
    """Pairs as one table in memory."""

    whole: pa.Table
    """With containments beside, where they are known."""
    names: list[str]
    """The columns without them."""

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.whole)

    @property
    def inside_count(self) -> int:
        """The number of documents that are inside another, of directed pairs."""
        return len(parts_of(self.whole).unique())

    def refuse_too_many(self) -> None:
        """Do nothing: they are in memory."""

    def held(self) -> HeldPairs:
        """Give themselves."""
        return self

    def blocks(
        self, *, containments: bool = False, progress: Progress | None = None
    ) -> Iterator[pa.Table]:
        """Give the pairs in order, all at once."""
        del progress  # there is nothing to wait for
        if containments and CONTAINMENTS[0] not in self.whole.column_names:
            raise SourceError(
                "this result holds no containments: open one that was written to a folder"
            )
        yield self.whole if containments else self.whole.select(self.names)

    def top(self, most: int) -> pa.Table:
        """Give the first pairs."""
        return self.whole.select(self.names).slice(0, most)
