"""Which documents are inside others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.results.documents import (
    ByRank,
    first_members,
    names_of,
    paired,
    refuse_too_many,
)
from lookalike.results.pairs import SORTED, Best, Sorter, laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.results.documents import Ground, Summary
    from lookalike.results.pairs import Links
    from lookalike.settings import Settings

__all__ = ["ContainmentResult"]


@dataclass(frozen=True)
class ContainmentResult:
    """Pairs of which one document is mostly inside the other, each with its direction."""

    settings: Settings
    summary: Summary
    ground: Ground = field(repr=False)
    links: Links = field(repr=False)
    """Directed pairs of groups; the similarity of a link is the share of the first that is in the
    second, and `first_in_second` is the similarity of both."""

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def pair_count(self) -> int:
        """The number of directed pairs."""
        sizes = self.ground.groups.sizes
        return self.links.between(sizes) + int((sizes * (sizes - 1)).sum())

    @cached_property
    def pairs(self) -> pa.Table:
        """a, which is inside b; b; containment; similarity; score; the most contained first."""
        refuse_too_many(self.pair_count, "raise the containment")
        return pa.concat_tables([*self.pair_blocks()]).combine_chunks()

    def pair_blocks(self) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first may be empty."""
        sorter = self.ground.sorter("contained.sorted")
        self._fill(sorter)
        yield self._table(np.empty(0, SORTED))
        for records in sorter.blocks():
            yield self._table(records)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`."""
        best = Best(most)
        self._fill(best, *first_members(self.ground.groups, self._by_id, most + 1))
        return self._table(best.records)

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are inside nothing, in order."""
        return self.ground.empty()

    @cached_property
    def _by_id(self) -> ByRank:
        return self.ground.by_id(paired(self.links, self.ground.groups))

    def _fill(
        self,
        sorter: Sorter | Best,
        members: NDArray[np.int64] | None = None,
        starts: NDArray[np.int64] | None = None,
    ) -> None:
        ranks = self._by_id.ranks
        for block in laid_out(self.links, self.ground.groups, members=members, starts=starts):
            first, second = ranks[block.first], ranks[block.second]
            sorter.append(block.similarity, first, second, block.forward, block.backward)
            if block.same:
                sorter.append(block.similarity, second, first, block.forward, block.backward)

    def _table(self, records: NDArray[np.void]) -> pa.Table:
        return pa.table(
            {
                **names_of(records, self._by_id, self.ground.ids),
                "containment": pa.array((~records["score"]).view(np.float64)),
                "similarity": pa.array(records["forward"].copy()),
                "score": pa.array(["exact"] * len(records), pa.string()),
            },
            metadata=self.metadata,
        )
