"""The documents of one index on their way into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.index import adding
from lookalike.index.asked import Asked
from lookalike.index.opening import identity
from lookalike.index.packed import damaged, unpacked
from lookalike.index.prepared import Prepared, Put, no_documents
from lookalike.index.removing import sweep_if_worth
from lookalike.index.store import Body
from lookalike.recipe import Stored

if TYPE_CHECKING:
    from lookalike.index.adding import Added
    from lookalike.index.backing import Backing
    from lookalike.index.store import Document, Entry
    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe, StoredSketches

__all__ = ["check_mergeable", "merge"]

PAGE = 5000
"""Documents that are taken over in one change."""


class Made(Protocol):
    """What tells how an index was made."""

    @property
    def address(self) -> str:
        """Where it is."""

    @property
    def recipe(self) -> Recipe:
        """How its documents are compared."""

    @property
    def plan(self) -> Plan:
        """How they are found."""


def check_mergeable(into: Made, other: Made) -> None:
    """Refuse to merge what was made in another way."""
    if into.recipe != other.recipe:
        raise SettingsError(
            f"{other.address} was made by another recipe ({_told(other)}) than {into.address} "
            f"({_told(into)}): make both with the same settings, or the one like the other"
        )
    if identity(into.address) == identity(other.address):
        raise SettingsError(f"{into.address} is named twice: merge other indexes into it")


def _told(one: Made) -> str:
    """Tell what matters of how an index was made in a few words."""
    what, plan = one.recipe.shingle or "vectors", one.plan
    return (
        f"{what}, {plan.bands} bands of {plan.rows} rows, threshold {one.recipe.threshold:g}, "
        f"recipe {one.recipe.fingerprint}"
    )


def merge(into: Backing, other: Backing) -> Added:
    """Add the documents of another index, each in the place of one with its id."""
    added = adding.Added()
    with other.store.read() as reader:
        columns, after = other.seen(reader), None
        while page := reader.next_documents(after, PAGE):
            entries = reader.entries(np.unique([one.entry for one in page]))
            prepared = _prepared(
                page, entries, into.sketches, other.address, with_text=into.keeps_text
            )
            with into.store.write() as writer:
                into.declare(writer, columns)
                added += adding.put(writer, prepared, into.sketches)
            after = page[-1].id
    sweep_if_worth(into.store)
    return added


def _prepared(
    page: list[Document],
    entries: list[Entry],
    sketches: StoredSketches,
    address: str,
    *,
    with_text: bool,
) -> Prepared:
    place_of = {entry.number: place for place, entry in enumerate(entries)}
    if any(one.entry not in place_of for one in page):
        raise damaged(address, "a document in it has no content")
    places = np.array([place_of[one.entry] for one in page], np.int64)
    if with_text:
        # What is stored was made of the text, and is made of it again.
        bodies = [Body(one.number, one.content, one.length, one.body or b"") for one in entries]
        stored = sketches.of(unpacked(bodies, address))
    else:
        joined = np.frombuffer(b"".join(one.sketch for one in entries), np.uint8)
        empty = np.array([one.empty for one in entries], np.bool_)
        stored = sketches.again(joined.reshape(len(entries), -1), empty)
    rows = Stored(stored.keys[places], stored.sketches[places], stored.empty[places])
    return Prepared(
        [Put(one.id, one.metadata) for one in page],
        Asked(no_documents(len(page)), rows, [entries[place].content for place in places.tolist()]),
        [entries[place].length for place in places.tolist()],
        [entries[place].body or b"" for place in places.tolist()] if with_text else None,
    )
