"""The documents of a page, read again: their texts, columns and numbers of shingles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import LookalikeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lookalike.read.batches import Batch
    from lookalike.reports.fields import Fields
    from lookalike.reports.found import Key
    from lookalike.reports.scoring import Scorer
    from lookalike.reports.sources import Sources

__all__ = ["MAX_CHARACTERS", "Gathered", "gather", "in_turn"]

MAX_CHARACTERS = 20_000_000
"""Of all texts in a page."""


@dataclass
class Gathered:
    """What was read of the documents of a page."""

    texts: dict[Key, str] = field(default_factory=dict)
    lengths: dict[Key, int] = field(default_factory=dict)
    """Characters of every document that the page names."""
    shingles: dict[Key, int] = field(default_factory=dict)
    problem: str | None = None
    """Why nothing was read, if so."""


def in_turn(groups: Sequence[Any]) -> list[int]:
    """Put things in an order in which each group has its first before any has a second."""
    passed: dict[Any, int] = {}
    rank = np.empty(len(groups), np.int64)
    for place, group in enumerate(groups):
        rank[place] = passed[group] = passed.get(group, -1) + 1
    order: list[int] = np.argsort(rank, kind="stable").tolist()
    return order


@dataclass
class _Gathering:
    """Texts by how much they are wanted, within a number of characters."""

    found: Gathered
    wanted: Mapping[Key, int]
    """Documents whose texts are wanted, by their turn; the first go before all others."""
    characters: int = 0

    def add(self, key: Key, text: str) -> None:
        self.found.texts[key] = text
        self.characters += len(text)

    def drop_last(self) -> None:
        """Let go of texts that do not fit."""
        if self.characters <= MAX_CHARACTERS:
            return
        latest = sorted(self.found.texts, key=lambda key: -self.wanted[key])
        for key in latest:
            self.characters -= len(self.found.texts.pop(key))
            if self.characters <= MAX_CHARACTERS:
                return


def gather(
    sources: Sources,
    wanted: Sequence[Key],
    named: set[Key],
    scorer: Scorer | None,
    fields: Fields,
    progress: Callable[[int, int], None],
    *,
    every: int = 0,
) -> Gathered:
    """Read the texts of the wanted documents, the first of them first, and of all named ones facts.

    With `every`, texts of other documents are read after them, up to so many in all. `progress`
    hears of the bytes that are read.
    """
    turns = {key: turn for turn, key in enumerate(wanted)}
    gathered = Gathered(problem=sources.problem)
    gathering = _Gathering(gathered, turns)
    try:
        for which, batch in sources.batches(progress):
            keys = {row: (which, name) for row, name in enumerate(batch.ids.to_pylist())}
            for key in keys.values():
                if every and key not in turns and len(turns) < every:
                    turns[key] = len(turns)
            here = {row: key for row, key in keys.items() if key in named or key in turns}
            if here:
                _take(batch, here, gathering, scorer, fields)
    except LookalikeError as error:
        return Gathered(problem=f"the documents cannot be read again, {error}")
    return gathered


def _take(
    batch: Batch,
    here: dict[int, Key],
    gathering: _Gathering,
    scorer: Scorer | None,
    fields: Fields,
) -> None:
    gathered = gathering.found
    texts = batch.texts.take(pa.array([*here])).fill_null("")
    if scorer is not None:
        sizes = scorer.sizes(texts).tolist()
        gathered.shingles.update(zip(here.values(), sizes, strict=True))
    for key, text in zip(here.values(), texts.to_pylist(), strict=True):
        gathered.lengths[key] = len(text)
        is_empty = not gathered.shingles.get(key, text.strip())
        if key in gathering.wanted and not is_empty:
            gathering.add(key, text)
    gathering.drop_last()
    fields.add(here, batch.columns)
