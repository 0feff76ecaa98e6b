"""What `dedup` asks of indexes, and what it adds to one."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError, SourceError, UnreadableError
from lookalike.base.index_files import SERVERS
from lookalike.base.options import given_of
from lookalike.base.threads import available, in_order, pieces
from lookalike.base.timing import timed
from lookalike.base.wording import count, setting
from lookalike.index import metadata
from lookalike.index.asked import Asked
from lookalike.index.columns import Columns
from lookalike.index.index import Index
from lookalike.index.merging import check_mergeable
from lookalike.index.opening import identity, indexes_among
from lookalike.index.prepared import Put
from lookalike.index.querying import check_threshold
from lookalike.job.given import settings_from
from lookalike.job.read import Described
from lookalike.job.running import PIECE_BYTES, Running
from lookalike.job.seen import Best, Seen
from lookalike.job.sources import names_of
from lookalike.planning.plan import given_cascade
from lookalike.recipe import StoredSketches
from lookalike.settings import Settings
from lookalike.text.normalise import Normalisation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.index.store import Turn
    from lookalike.job.job import Job
    from lookalike.settings import DedupOptions

__all__ = ["Consulted", "consulted"]

TURN_SECONDS = 0.2
"""After which a job that waits for another one looks again."""
MAX_ADDED = 4096
"""Documents that are prepared at a time, at the most."""


@dataclass(frozen=True)
class Consulted:
    """Indexes that documents are looked up in, and the one that the kept are added to."""

    settings: Settings
    """Of the job: what decides a score is as the indexes have it."""
    seen: Seen
    options: DedupOptions
    """Without the indexes among what it is compared with."""
    target: Index | None
    turn: Turn | None = None
    """The right to add to that one, which no other job has meanwhile."""

    def add(self, job: Job, rows: NDArray[np.int64]) -> None:
        """Add documents of a job to the index; those that are there already stay as they are."""
        index = self.target
        if index is None or self.turn is None:
            return
        self.turn.check()
        ids, texts = job.collection.ids, job.texts
        progress, total = job.running.progress, len(rows)

        def cuts() -> Iterator[NDArray[np.int64]]:
            for piece in pieces(texts.lengths(rows), PIECE_BYTES):
                for begin in range(piece.start, piece.stop, MAX_ADDED):
                    yield rows[begin : min(begin + MAX_ADDED, piece.stop)]

        def prepare(some: NDArray[np.int64]) -> Any:
            names = map(str, ids.take(some).to_pylist())
            puts = [Put(*row) for row in zip(names, _descriptions(job, some), strict=True)]
            return index.prepared(puts, texts.chosen(some))

        columns = Columns(ids.whole, dict(job.collection.described_types))
        done = 0
        progress("index", done, total)
        try:
            with timed(job.seconds, "add"):
                parts = in_order(prepare, cuts(), job.running.threads)
                for added in index.put_all(parts, columns):
                    done += added.documents
                    progress("index", done, total)
        except SourceError as error:
            # Whatever is wrong with the index, what was decided is not lost by that.
            raise UnreadableError(error.raw) from None
        job.running.say(f"Added {count(total, 'document')} to {index.address}.")


def _descriptions(job: Job, rows: NDArray[np.int64]) -> list[str | None]:
    described = job.collection.described
    if described is None:
        return [None] * len(rows)
    data, offsets = described.gathered(rows)
    plain, ends = data.tobytes(), offsets.tolist()
    return [plain[begin:end].decode() or None for begin, end in pairwise(ends)]


@contextmanager
def consulted(source: Any, options: DedupOptions) -> Iterator[Consulted]:
    """Open the indexes that are named in options."""
    named, rest = indexes_among(options.against)
    _check_options(options)
    with ExitStack() as opened:

        def entered(one: Any, *, read_only: bool) -> Index:
            if isinstance(one, Index):
                return one
            return opened.enter_context(Index(one, threads=options.threads, read_only=read_only))

        target = None if options.index is None else entered(options.index, read_only=False)
        asked = [] if target is None else [target]
        for one in named:
            index = entered(one, read_only=True)
            if identity(index.address) not in [identity(other.address) for other in asked]:
                asked.append(index)
        for index in asked:
            _check_index(index, asked[0])
            _check_apart(index.address, [*(names_of(source) or ()), *(names_of(rest) or ())])
        turn = None
        if target is not None:
            # What another job adds is to be there when this one looks.
            turn = _turn(target, options.say)
            opened.callback(turn.release)
        settings = _settings(options, asked[0])
        described = None
        if target is not None and (names := _names(options.metadata)):
            described = Described(names, target.metadata, metadata.encode_rows)
        seen = _seen(asked, target, settings, described, options.threads or available())
        yield Consulted(settings, seen, replace(options, against=rest), target, turn)


def _turn(index: Index, say: Callable[[str], None] | None) -> Turn:
    """Wait until no other job adds to an index."""
    said = False
    while (turn := index.turn()) is None:
        if not said:
            Running.of(say=say).say(f"Waiting for another job that adds to {index.address}.")
            said = True
        time.sleep(TURN_SECONDS)
    return turn


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _check_options(options: DedupOptions) -> None:
    """Refuse what an index does not know of."""
    if options.rule != "similar":
        raise SettingsError(
            f"an index finds what is similar, not what is contained: leave out "
            f"{setting('rule', options.rule)}, or the index"
        )
    if options.groups is not None:
        raise SettingsError(
            f"an index does not know of which group its documents are: leave out "
            f"{setting('groups')}, or the index"
        )


def _check_index(index: Index, first: Index) -> None:
    if not index.keeps_text:
        raise SettingsError(
            f"{index.address} keeps no texts, so that its scores are estimates, and "
            "nothing is removed on an estimate: make an index that keeps texts"
        )
    if index.recipe != first.recipe:
        check_mergeable(first, index)


def _check_apart(address: str, sources: Sequence[str]) -> None:
    """Refuse an index among the files that are read: it would be read, and copied, as one."""
    if address.startswith(SERVERS):
        return
    place = os.path.realpath(address)
    for name in sources:
        if f"{place}{os.sep}".startswith(f"{os.path.realpath(name)}{os.sep}"):
            raise SettingsError(
                f"{address} is inside of {name}, which is read: move the index elsewhere"
            )


def _settings(options: DedupOptions, index: Index) -> Settings:
    """Give the settings of a job by the recipe of an index, and refuse those that disagree."""
    given, recipe = given_of(options), index.recipe
    asked = settings_from(options)
    shingling = recipe.metric.shingling
    known: dict[str, Any] = {
        "shingle": recipe.shingle or "auto",
        "multiset": shingling is not None and shingling.multiset,
        "metric": recipe.metric.name,
        "weights": recipe.weights,
        "normalise": str(recipe.form.normalisation),
        "seed": recipe.metric.seed,
        "recall": index.plan.recall,
    }
    for name, mine in known.items():
        told = getattr(asked, name)
        if name == "normalise":
            told = str(Normalisation.parse(told))
        if name in given and told not in (mine, None, "auto"):
            raise SettingsError(
                f"{setting(name, getattr(asked, name))} is not that of {index.address}, "
                f"{setting(name, mine)}: leave it out, or use another index"
            )
    for name in ("ignore", "max_df"):
        if getattr(asked, name) is not None:
            raise SettingsError(
                f"{setting(name)} was decided when {index.address} was made: leave it out"
            )
    if not asked.planned and str(given_cascade(asked)) != str(recipe.cascade):
        has = f"the cascade '{recipe.cascade}'"
        if (plan := index.plan).bands is not None:
            has = f"{count(plan.bands, 'band')} of {count(plan.rows or 0, 'row')}"
        names = ("cascade",) if asked.cascade is not None else ("bands", "rows")
        raise SettingsError(
            f"{index.address} has {has}: leave out {' and '.join(map(setting, names))}, or use "
            "another index"
        )
    threshold = check_threshold(asked.threshold if "threshold" in given else None, index.threshold)
    return Settings(threshold=threshold, cascade=str(recipe.cascade), **known)


def _seen(
    asked: Sequence[Index],
    target: Index | None,
    settings: Settings,
    described: Described | None,
    threads: int,
) -> Seen:
    """Give what a job is told of indexes that have one recipe."""
    recipe = replace(asked[0].recipe, threshold=settings.threshold)
    sketches = StoredSketches(recipe)
    reading: dict[str, Any] = {"recipe": asked[0].recipe.fingerprint}
    against = [identity(one.address) for one in asked if one is not target]
    if against:
        reading["against"] = against
    if target is not None:
        reading["index"] = identity(target.address)
    if described is not None:
        reading["metadata"] = [*described.names]

    def whole_ids() -> bool:
        return all(index.has_whole_ids for index in asked)

    def ask(documents: Asked) -> Best:
        best = Best([], [], [], [])
        answers = [index.most_similar(documents, settings.threshold, threads) for index in asked]
        for row in sorted(set().union(*answers)):
            found = [(number, one[row]) for number, one in enumerate(answers) if row in one]
            number, nearest = min(found, key=lambda one: (-one[1].similarity, str(one[1].id)))
            best.rows.append(row)
            best.similarity.append(nearest.similarity)
            best.of.append(number)
            best.ids.append(str(nearest.id))
        return best

    return Seen(
        recipe,
        replace(asked[0].plan, threshold=settings.threshold, shingle_reason=None),
        lambda documents: Asked.of(documents, sketches),
        ask,
        whole_ids,
        reading,
        [one.address for one in asked],
        target is not None,
        described,
    )
