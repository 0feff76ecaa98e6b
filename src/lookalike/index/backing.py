"""What an open index stands on: its store, how documents are compared, and what its columns are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import InvalidTextError, SourceError
from lookalike.index.adding import locks_of
from lookalike.index.asked import Asked
from lookalike.index.columns import Columns
from lookalike.index.packed import content_of, damaged
from lookalike.index.store import Made, Sought
from lookalike.read import read
from lookalike.recipe import Recipe, StoredSketches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from lookalike.index.prepared import Prepared
    from lookalike.index.store import Reader, Store, Writer
    from lookalike.text.normalise import Canonical

__all__ = ["Backing"]

COLUMNS = "columns"
"""The fact that says what ids and metadata are."""


class Backing:
    """A store with the recipe of its documents, and their columns as far as they were seen."""

    def __init__(self, store: Store) -> None:
        """Read what a store says of itself."""
        self.store = store
        with store.read() as reader:
            facts = {name: reader.fact(name) for name in ("recipe", "chosen", COLUMNS)}
        try:
            self.recipe = Recipe.load(facts["recipe"] or "")
            self.chosen: dict[str, Any] = json.loads(facts["chosen"] or "{}")
            self.columns, self._columns_text = Columns.load(facts[COLUMNS]), facts[COLUMNS]
        except SourceError as error:
            raise SourceError(f"{store.address}: {error.raw}") from None
        except (ValueError, KeyError, TypeError):
            raise damaged(store.address, "what it says of itself is not JSON") from None
        self.sketches = StoredSketches(self.recipe)

    @property
    def address(self) -> str:
        """Where the index is."""
        return self.store.address

    @property
    def keeps_text(self) -> bool:
        """Whether the documents themselves are kept; if not, scores are estimated."""
        return not self.recipe.by_sketches

    def asked(self, document: Any) -> Asked:
        """Make of one document all that it is looked up by."""
        made = self.sketches.of_text(document) if isinstance(document, str) else None
        if made is None:
            return Asked.of(self.canonical(document), self.sketches)
        canonical, stored = made
        return Asked(canonical, stored, content_of(canonical.fingerprints))

    def canonical(self, document: Any) -> Canonical:
        """Make one document canonical."""
        if self.recipe.form.kind == "text":
            if not isinstance(document, str):
                raise SourceError(
                    f"the index is of texts, and this is of type {type(document).__name__}: give a "
                    "text"
                )
            try:
                return self.recipe.canonical_text(document)
            except InvalidTextError:
                raise SourceError(
                    "the text is no valid Unicode, it holds a lone surrogate: correct it"
                ) from None
        # Of no tokens nobody can tell that they are some; an empty document is None, of any kind.
        given = None if isinstance(document, (list, tuple)) and not document else document
        return self.recipe.canonical(read([given]).texts)

    def seen(self, reader: Reader) -> Columns:
        """Give what ids and metadata are by now, which others may have changed."""
        text = reader.fact(COLUMNS)
        if text is not None and text != self._columns_text:
            self.columns, self._columns_text = Columns.load(text), text
        return self.columns

    def seen_now(self) -> Columns:
        """Give what ids and metadata are, of no change in particular."""
        with self.store.read() as reader:
            return self.seen(reader)

    def declare(self, writer: Writer, columns: Columns) -> None:
        """Note what ids and metadata are besides, in the change that brings the first of them."""
        known = self.seen(writer)
        joined = known.joined(columns)
        if joined != known:
            writer.set_fact(COLUMNS, joined.dump())

    def change(self, work: Callable[[Writer], Made], prepared: Prepared, columns: Columns) -> Made:
        """Change the store by some documents, with such columns.

        Others may write at the same time, unless there is something to declare of the columns,
        which every writer has to know of.
        """
        if not self.store.on_server:
            return self.store.change(work)
        locks = locks_of(prepared) if columns == self.columns else None
        ids = [one.id for one in prepared.puts]
        return self.store.change(work, locks, _sought(prepared.asked, ids))

    def looking_for(self, asked: Asked) -> AbstractContextManager[Reader]:
        """Look at the store for what is similar to some documents."""
        return self.store.read(_sought(asked) if self.store.on_server else None)


def _sought(asked: Asked, ids: Sequence[str] = ()) -> Sought:
    """Give what will be asked of a store for documents."""
    keys = asked.stored.keys[~asked.stored.empty]
    return Sought(ids, asked.contents, np.unique(keys), (COLUMNS,))
