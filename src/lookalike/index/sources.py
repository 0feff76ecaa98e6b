"""Sources that are added to an index, in changes from which a job that was stopped goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.base.threads import ahead
from lookalike.base.wording import count, quoted
from lookalike.index import adding
from lookalike.index.admitting import admit
from lookalike.index.bulk import Progressed, chunks
from lookalike.index.removing import sweep_if_worth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.index.adding import Added
    from lookalike.index.backing import Backing
    from lookalike.index.bulk import Chunk, Incoming
    from lookalike.index.store import Reader, Writer
    from lookalike.job.running import Running
    from lookalike.read.files import Unread

__all__ = ["add_source"]

RUN_COUNTER = "counter.runs"
"""A fact: the additions of sources that were ever begun."""


def add_source(backing: Backing, incoming: Incoming, *, new_only: bool) -> Added:
    """Add the documents of a source, or those of them that are new, from where it has come to."""
    running = incoming.running
    incoming.check_metadata(backing.seen_now().metadata)
    digest = incoming.digest(new_only=new_only)
    fact = None if digest is None else f"adding.{digest}"
    at = _begun(backing, fact, running, incoming.source.unread)
    try:
        _add(backing, incoming, at, fact, new_only=new_only)
    except SourceError as error:
        if at.added.documents:
            were = "was" if at.added.documents == 1 else "were"
            some = f"{count(at.added.documents, 'document')} before it {were} added"
            error.add(f"; {some}, the others are when it runs again")
        raise
    sweep_if_worth(backing.store)
    incoming.check_any(at.added.documents + at.added.similar, at.added.unread)
    _say_what_is_missing(backing, incoming, at.added)
    at.added.unread = at.added.unread.spelled()
    return at.added


def _add(
    backing: Backing, incoming: Incoming, at: Progressed, fact: str | None, *, new_only: bool
) -> None:
    """Add what is left of a source, and count it."""
    running, total = incoming.running, incoming.source.size
    noted = at.dump()
    running.progress("add", at.read, total)
    prepared = chunks(
        incoming,
        at,
        backing.sketches,
        backing.seen_now(),
        with_text=backing.keeps_text,
        there=_entries_of(backing),
        admitted=new_only,
    )
    for chunk in ahead(prepared, running.threads):
        for note in chunk.notes:
            running.say(note)
        at.next, at.read = chunk.next, chunk.read
        at.added.unread.add(chunk.unread)
        with backing.store.write() as writer:
            _check_alone(backing, writer, fact, noted)
            at.added += _put(backing, writer, chunk, at.run, running.threads, new_only=new_only)
            noted = at.dump()
            if fact is not None:
                writer.set_fact(fact, noted)
        running.progress("add", at.read, total)
    if fact is not None:
        with backing.store.write() as writer:
            _check_alone(backing, writer, fact, noted)
            writer.set_fact(fact, None)


def _put(
    backing: Backing, writer: Writer, chunk: Chunk, run: int, threads: int, *, new_only: bool
) -> Added:
    """Add what a chunk has, and declare its columns if any of it was added."""
    prepared, sketches = chunk.prepared, backing.sketches
    if prepared is None:
        return adding.Added()
    if new_only:
        added, _ = admit(
            writer,
            prepared,
            sketches,
            threshold=backing.recipe.threshold,
            address=backing.address,
            run=run,
            threads=threads,
        )
    else:
        added = adding.put(writer, prepared, sketches, run=run)
    if added.documents:
        backing.declare(writer, chunk.columns)
    return added


def _begun(
    backing: Backing, fact: str | None, running: Running, unread: Sequence[Unread]
) -> Progressed:
    """Begin an addition, or go on with one that was stopped."""
    with backing.store.write() as writer:
        text = None if fact is None else writer.fact(fact)
        if text is not None:
            running.say("Going on with an addition that was stopped.")
            return Progressed.load(text)
        at = Progressed(writer.count_up(RUN_COUNTER, 1) + 1)
        at.added.unread.skip(unread)
        if fact is not None:
            writer.set_fact(fact, at.dump())
        return at


def _entries_of(backing: Backing) -> int:
    """Count the documents of an index, those that are gone included: it is told at once."""
    with backing.store.read() as reader:
        return adding.counter(reader, adding.ENTRY_COUNTER)


def _check_alone(backing: Backing, writer: Reader, fact: str | None, noted: str) -> None:
    """Refuse to go on where another has added of the same source since."""
    if fact is not None and writer.fact(fact) != noted:
        raise SourceError(
            f"another process adds the same source to {backing.address} at the same time: let one "
            "of them do it"
        )


def _say_what_is_missing(backing: Backing, incoming: Incoming, added: Added) -> None:
    known = backing.seen_now().metadata if incoming.names else {}
    for name in incoming.names:
        if name not in known:
            incoming.running.say(
                f"No document has a value in column {quoted(name)}, kept as metadata."
            )
    for line in added.unread.lines():
        incoming.running.say(line)
