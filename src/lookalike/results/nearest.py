"""The most similar documents that are no result: what a search came closest to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.candidates.hamming import bits_apart

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NearestDocuments"]


@dataclass(frozen=True)
class NearestDocuments:
    """Two documents that are more similar than all others below the threshold."""

    similarity: float
    a: Any
    """An id, and that of the other, in their order."""
    b: Any
    whole: bool
    """Whether every pair was looked at, not only those that were compared."""

    @property
    def bits(self) -> int:
        """The bits in which they differ, of fingerprints."""
        return int(bits_apart(self.similarity))

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values, for the record of a run."""
        return {"similarity": self.similarity, "a": self.a, "b": self.b, "whole": self.whole}

    @classmethod
    def of(cls, plain: Mapping[str, Any] | None) -> NearestDocuments | None:
        """Read what `as_dict` gave."""
        if plain is None:
            return None
        return cls(plain["similarity"], plain["a"], plain["b"], whole=plain["whole"])
