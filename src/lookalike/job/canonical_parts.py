"""Batches of a source made canonical, piece by piece, on several threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import InvalidTextError, InvalidVectorError, SourceError
from lookalike.base.memory import size
from lookalike.base.threads import in_order, pieces
from lookalike.base.wording import quoted, setting
from lookalike.job.running import PIECE_BYTES
from lookalike.read import kind_of
from lookalike.read.files import Unread
from lookalike.read.vectors import byte_lengths
from lookalike.text.vectors import dimension_of

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from numpy.typing import NDArray

    from lookalike.job.running import Running
    from lookalike.read import Batch, Corpus
    from lookalike.read.source import InMemory
    from lookalike.recipe import CanonicalForm
    from lookalike.text.normalise import Canonical

__all__ = ["CanonicalParts", "Part"]

MEMORY_PER_BYTE = {"text": 40, "tokens": 40, "vectors": 8, "sparse": 8}
"""Memory that a byte of a document takes, with another as long, while both are compared."""


class Part(NamedTuple):
    """A piece of a batch, made canonical."""

    batch: Batch
    rows: NDArray[np.int64]
    canonical: Canonical
    characters: NDArray[np.int64]
    bad: list[Unread]
    last: bool


@dataclass
class CanonicalParts:
    """The documents of a source in canonical form."""

    source: Corpus | InMemory
    form: CanonicalForm
    running: Running
    known: MutableMapping[str, Any]
    """The `kind` of the documents and their `dimension`, None until some were seen."""
    mixed: str = "others before it hold {}: compare them in two jobs"
    """What is said of documents of another kind."""

    def of(self, batches: Iterator[Batch]) -> Iterator[Part]:
        """Give the parts of batches, in order."""
        yield from in_order(self._prepare, self._cut(batches), self.running.threads)

    def _cut(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, slice, bool]]:
        for batch in batches:
            self._check_kind(batch)
            cuts = list(pieces(byte_lengths(batch.texts), PIECE_BYTES)) or [slice(0, 0)]
            for cut in cuts:
                yield batch, cut, cut is cuts[-1]

    def _check_kind(self, batch: Batch) -> None:
        """Refuse a job in which some documents are text and some are tokens or vectors."""
        if batch.texts.null_count == len(batch.texts):
            return
        kind = kind_of(batch.texts.type)
        if kind == "vectors" and self.known["dimension"] is None:
            self.known["dimension"] = dimension_of(batch.texts)
        if self.known["kind"] not in (None, kind):
            where = self.source.place(int(batch.shards[0]), int(batch.records[0]))
            raise SourceError(f"{where} holds {kind} where {self.mixed.format(self.known['kind'])}")
        self.known["kind"] = kind

    def _prepare(self, item: tuple[Batch, slice, bool]) -> Part:
        batch, cut, last = item
        rows = np.arange(cut.start, cut.stop)
        bad: list[Unread] = []
        lengths = byte_lengths(batch.texts[cut.start : cut.stop])
        factor = MEMORY_PER_BYTE[kind_of(batch.texts.type)]
        for row in rows[lengths * factor > self.running.memory].tolist():
            length = int(lengths[row - cut.start])
            problem = (
                f"of {size(length)} takes about {size(length * factor)} of memory, more than the "
                f"{size(self.running.memory)} allowed: raise {setting('memory')}, or leave it out"
            )
            bad.append(self._passed_over(batch, row, problem))
            rows = rows[rows != row]
        while True:
            texts = batch.texts.take(pa.array(rows)) if bad else batch.texts[cut.start : cut.stop]
            try:
                canonical = self._canonical(texts)
                break
            except (InvalidTextError, InvalidVectorError) as error:
                for row, reason in error.wrong:
                    problem = f"{reason}: fix or remove it"
                    bad.append(self._passed_over(batch, int(rows[row]), problem))
                rows = np.delete(rows, [row for row, _ in error.wrong])
        counted = canonical.characters
        characters = _as_int64(pc.list_value_length(texts)) if counted is None else counted
        return Part(batch, rows, canonical, characters, bad, last)

    def _passed_over(self, batch: Batch, row: int, problem: str) -> Unread:
        """Stop at a document that cannot be compared, unless it is to be skipped: name it."""
        place = self.source.place(int(batch.shards[row]), int(batch.records[row]))
        name = batch.ids[row].as_py()
        is_named = place == name or place.endswith(quoted(name))
        message = f"{place if is_named else f'document {quoted(name)} ({place})'} {problem}"
        if not self.running.skip_bad:
            raise SourceError(message)
        return Unread(place, message)

    def _canonical(self, texts: pa.Array) -> Canonical:
        return replace(self.form, dimension=self.known["dimension"] or 0).canonical(texts)


def _as_int64(lengths: pa.Array) -> NDArray[np.int64]:
    numbers = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    found: NDArray[np.int64] = numbers.astype(np.int64)
    return found
