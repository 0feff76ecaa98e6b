"""The documents of a result, read again from where they were: in memory, or in files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import LookalikeError
from lookalike.base.wording import count, quoted
from lookalike.read import open_corpus
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.fields import TEXT
from lookalike.read.source import InMemory
from lookalike.reports.places import places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lookalike.read import Corpus
    from lookalike.read.batches import Batch
    from lookalike.reports.places import Place
    from lookalike.results import Result
    from lookalike.results.record import Run

__all__ = ["REFERENCE", "SOURCE", "Sources"]

SOURCE, REFERENCE = "source", "reference"
READ_AS = (
    *("text", "id", "vector", "markup", "main_text", "encoding", "strict_encoding"),
    *("lines", "delimiter", "no_header", "skip_bad"),
)


@dataclass(frozen=True)
class Sources:
    """Where documents are read again; `problem` says why they cannot be, if so."""

    corpora: Mapping[str, Corpus | InMemory]
    """By what they are of: the source, and the reference."""
    problem: str | None = None
    known: frozenset[str] | None = None
    """The files that were read; what is there beside them now is not; None for all."""
    can_be_named: bool = False
    """Whether they may be somewhere else, and could be read if they were named."""

    @classmethod
    def of(cls, result: Result, texts: Sequence[str] | None = None) -> Sources:
        """Find the sources of a result that is in memory, or those that its record names.

        `texts` says where they are now, if not where they were.
        """
        if result.documents is not None:
            # The corpus itself comes last.
            given = zip((SOURCE, REFERENCE), result.documents.origin.sources[::-1], strict=False)
            return cls({which: one.with_columns() for which, one in given})
        run = result.run
        lost = _lost(run)
        if lost is not None and (texts is None or not run.named):
            return cls({}, lost, can_be_named=bool(run.named))
        first, *others = places_of(run.named, run.folder, texts)
        there = cls._at(first, run)
        if there.problem is None:
            return there
        # What was wrong where they were is what a reader wants to know.
        elsewhere = (cls._at(place, run) for place in others)
        return next((one for one in elsewhere if one.problem is None), there)

    @classmethod
    def _at(cls, place: Place, run: Run) -> Sources:
        """Open the sources at a place, if they are there as they were."""
        known = {SOURCE: run.sources, REFERENCE: run.against}
        corpora = {}
        for which, names in place.opened.items():
            try:
                corpora[which] = corpus = _opened(names, run.reading).known_as(place.known)
            except LookalikeError as error:
                if place.is_given:
                    raise
                why = place.in_words(error).partition(": ")[0]
                return cls({}, f"the files cannot be read again, {why}", can_be_named=True)
            parts = 2 if place.is_given else 3  # a copy has the name and the size, not the date
            changed = _changed(corpus.identity(), known[which], parts)
            if changed:
                return cls({}, changed, can_be_named=True)
        files = frozenset(str(one[0]) for one in (*run.sources, *run.against))
        return cls(corpora, known=files)

    @property
    def size(self) -> int:
        """The bytes of all."""
        return sum(one.size for one in self.corpora.values())

    def batches(self, progress: Callable[[int, int], None]) -> Iterator[tuple[str, Batch]]:
        """Give all documents in order, those of a reference first, each batch with its corpus.

        Documents that are no texts, lists of tokens or vectors, are not given. `progress` hears how
        many bytes are done, of how many.
        """
        before, total = 0, self.size
        for which in (REFERENCE, SOURCE):
            if which not in self.corpora:
                continue
            corpus = self.corpora[which]
            old = self._old_shards(corpus)
            for batch in corpus.batches():
                if batch.texts.type == TEXT:
                    yield which, batch if old is None else _rows_of(batch, old[batch.shards])
                progress(before + batch.read, total)
            before += corpus.size

    @property
    def are_as_they_were(self) -> bool:
        """Whether there is nothing beside what was read before."""
        every = [self._old_shards(one) for one in self.corpora.values()]
        return all(one is None or bool(one.all()) for one in every)

    def _old_shards(self, corpus: Corpus | InMemory) -> NDArray[np.bool_] | None:
        """Tell of each file whether it was read before; None where all were."""
        if self.known is None or isinstance(corpus, InMemory):
            return None
        return np.array([str(one[0]) in self.known for one in corpus.identity()], np.bool_)


def _rows_of(batch: Batch, chosen: NDArray[np.bool_]) -> Batch:
    if chosen.all():
        return batch
    mask = pa.array(chosen)
    columns = {name: column.filter(mask) for name, column in batch.columns.items()}
    return replace(
        batch,
        ids=batch.ids.filter(mask),
        texts=batch.texts.filter(mask),
        shards=batch.shards[chosen],
        records=batch.records[chosen],
        columns=columns,
    )


def _lost(run: Run) -> str | None:
    """Say why documents cannot be read again, where the record of their result tells."""
    if any("-" in names for names in run.named.values()):
        return "the documents came by standard input, which is not kept"
    if run.named.get(SOURCE):
        return None
    if run.sources:
        return "the record of the result does not say where its documents are"
    return "the documents were in memory, and are not there any more"


def _opened(names: Sequence[str], reading: Mapping[str, Any]) -> Corpus:
    chosen = ChosenFiles(tuple(reading["include"]), tuple(reading["exclude"]), reading["all_files"])
    read_as = {name: reading[name] for name in READ_AS}
    return open_corpus(names, columns=None, chosen=chosen, **read_as)


def _changed(now: Sequence[Any], before: Sequence[Any], parts: int) -> str | None:
    """Say which files are not as they were, or None; that there are more of them is no matter.

    So many `parts` of what tells them are compared: name, size, and when they were changed.
    """
    then = {str(one[0]): list(one)[:parts] for one in before}
    there = {str(one[0]): list(one)[:parts] for one in now}
    gone = [name for name in then if name not in there]
    other = [name for name in then if name in there and then[name] != there[name]]
    for names, what in ((gone, "are gone"), (other, "were changed")):
        if names:
            said = what if len(names) > 1 else what.replace("are", "is").replace("were", "was")
            named = f"{quoted(names[0])}" if len(names) == 1 else f"as {quoted(names[0])}"
            return f"{count(len(names), 'file')} {said} since the documents were read, {named}"
    return None
