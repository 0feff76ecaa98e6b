"""What a picture is made of: curves, and counts by similarity, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["BINS", "Curve", "Histogram", "positions", "ticks"]

BINS = 50
"""Bins of a histogram of similarities, all as wide."""
COSINE_TICKS = (-1.0, -0.5, 0.0, 0.5, 0.8, 0.95, 1.0)
"""Cosines that an axis names: they stand as far apart as their angles."""


@dataclass(frozen=True, eq=False)
class Curve:
    """How likely a pair of each similarity is to become a candidate, and what goes wrong with it.

    The areas are those of a picture whose width and height are 1: of false positives under the
    curve up to `split`, of false negatives over it from there on.
    """

    label: str
    similarities: Floats
    """Rising; from 0 to 1, of cosines from -1."""
    chances: Floats
    half: float | None
    """The similarity at which the chance is one half."""
    estimate: float | None
    """What the rule of thumb (1/b)^(1/r) says of it; None but for a banding."""
    split: float | None
    """The similarity that parts false positives from false negatives; None where none do."""
    false_positives: float = 0.0
    false_negatives: float = 0.0
    metric: str = "jaccard"
    shaded: bool = True
    """Whether both areas are part of the picture."""

    @property
    def positions(self) -> Floats:
        """How far to the right each similarity stands, from 0 to 1."""
        places: Floats = positions(self.similarities, self.metric)
        return places

    def chance(self, similarity: float) -> float:
        """Read the curve at a similarity."""
        return float(np.interp(similarity, self.similarities, self.chances))

    def areas_text(self) -> str:
        """Say how large both areas are."""
        return (
            f"false positives {self.false_positives:.4f}, "
            f"false negatives {self.false_negatives:.4f}"
        )


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many pairs there are of each similarity."""

    label: str
    counts: Floats
    edges: Floats

    @classmethod
    def of(
        cls,
        label: str,
        similarities: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        metric: str = "jaccard",
        bins: int = BINS,
    ) -> Histogram:
        """Count similarities, each by its weight."""
        least = -1.0 if metric == "cosine" else 0.0
        # Rounded, as a pair at 0.7 is in the bin that begins there; 35 times 0.02 is a hair more.
        edges = np.round(np.linspace(least, 1.0, bins + 1), 12)
        inside = np.clip(np.asarray(similarities, np.float64), least, 1)
        counts, _ = np.histogram(inside, bins=edges, weights=weights)
        return cls(label, counts.astype(np.float64), edges)

    def as_dict(self) -> dict[str, list[float]]:
        """Give the counts, and the similarities between which each is: one more."""
        return {"pairs": self.counts.tolist(), "edges": self.edges.tolist()}

    def __add__(self, other: Histogram) -> Histogram:
        """Add the counts of another part of the same pairs."""
        return Histogram(self.label, self.counts + other.counts, self.edges)


def positions(similarities: Any, metric: str) -> Any:
    """Give how far to the right similarities stand in a picture, from 0 to 1.

    Cosines stand as far apart as their angles, which is how a bit of a sketch sees them: the curve
    of a cascade has one shape then, and areas are shares of all angles.
    """
    values = np.asarray(similarities, np.float64)
    return 1 - np.arccos(np.clip(values, -1, 1)) / np.pi if metric == "cosine" else values


def ticks(metric: str) -> list[float]:
    """Give the similarities that an axis names."""
    if metric == "cosine":
        return [*COSINE_TICKS]
    return [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
