"""Documents that leave an index, and the rows of theirs that are swept later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.index import adding
from lookalike.index.filters import Filter
from lookalike.index.matching import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lookalike.index.backing import Backing
    from lookalike.index.store import Document, Store, Writer

__all__ = ["pages", "remove_ids", "remove_where", "sweep", "sweep_if_worth"]

PAGE = 1000
"""Documents that are gone through, or removed, at a time."""
SWEPT_COUNTER = "counter.swept"
SWEPT_SHARE, MIN_SWEPT = 0.5, 10_000
"""Entries that are gone, beside those that are there, from which on their rows are swept."""


def pages(store: Store) -> Iterator[list[Document]]:
    """Give all documents, some at a time, in the order of their ids."""
    after: str | None = None
    while True:
        with store.read() as reader:
            page = reader.next_documents(after, PAGE)
        if not page:
            return
        yield page
        after = page[-1].id


def remove_ids(store: Store, ids: Sequence[str]) -> int:
    """Remove documents by their ids; count those that were there."""
    removed = 0
    for begin in range(0, len(ids), PAGE):
        with store.write() as writer:
            removed += _removed(writer, writer.documents(ids[begin : begin + PAGE]))
    sweep_if_worth(store)
    return removed


def remove_where(backing: Backing, where: str) -> int:
    """Remove the documents whose metadata meets a condition; count them."""
    condition, columns = Filter.parse(where), backing.seen_now()
    condition.check(columns.metadata)
    removed, after = 0, None
    while True:
        with backing.store.write() as writer:
            page = writer.next_documents(after, PAGE)
            if not page:
                break
            met = [one for one in page if condition.holds(values_of(one, columns))]
            removed += _removed(writer, met)
            after = page[-1].id
    sweep_if_worth(backing.store)
    return removed


def _removed(writer: Writer, documents: Sequence[Document]) -> int:
    if documents:
        writer.drop_documents([one.id for one in documents])
        adding.drop_unused(writer, sorted({one.entry for one in documents}))
    return len(documents)


def sweep_if_worth(store: Store) -> None:
    """Sweep the rows of entries that are gone, if these are many."""
    with store.read() as reader:
        gone, swept, ever = (
            adding.counter(reader, name)
            for name in (adding.GONE_COUNTER, SWEPT_COUNTER, adding.ENTRY_COUNTER)
        )
    if gone >= MIN_SWEPT and gone > SWEPT_SHARE * (ever - swept - gone):
        sweep(store)


def sweep(store: Store) -> None:
    """Remove what names entries that are gone."""
    with store.write() as writer:
        writer.sweep()
        writer.count_up(SWEPT_COUNTER, adding.counter(writer, adding.GONE_COUNTER))
        writer.set_fact(adding.GONE_COUNTER, None)
