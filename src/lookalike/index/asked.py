"""Documents that are looked for, with all that they are looked up by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lookalike.index.packed import content_of

if TYPE_CHECKING:
    from lookalike.recipe.stored_sketches import Stored, StoredSketches
    from lookalike.text.normalise import Canonical

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """Documents that are looked for."""

    documents: Canonical
    stored: Stored
    contents: list[bytes]
    """The fingerprints of their contents."""

    @classmethod
    def of(cls, documents: Canonical, sketches: StoredSketches) -> Asked:
        """Take canonical documents."""
        return cls(documents, sketches.of(documents), content_of(documents.fingerprints))

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.documents)
