"""What has a curve shows it: on the axes of Matplotlib, and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.base.plots.shapes import Curve

__all__ = ["HasCurve", "chances_html"]


class HasCurve(ABC):
    """A cascade: something with an S-curve."""

    @abstractmethod
    def probability(self, s: float) -> float:
        """Tell how likely a pair of a similarity is to become a candidate."""

    @abstractmethod
    def curve(self, threshold: float | None = None, *, metric: str = "jaccard") -> Curve:
        """Give the curve."""

    def plot(
        self, ax: Any = None, *, threshold: float | None = None, metric: str = "jaccard"
    ) -> Any:
        """Draw the curve with Matplotlib, on axes that are given or on new ones, and give those.

        Areas of false positives and false negatives are told apart by the threshold; without one,
        by where the chance is one half. Several curves go onto the same axes, one after the other.
        """
        from lookalike.base.plots.pictures import draw_curves, draw_threshold

        ax = draw_curves([self.curve(threshold, metric=metric)], ax)
        if threshold is not None:
            draw_threshold(ax, threshold)
        return ax

    def _repr_html_(self) -> str:
        """Show the curve in a notebook, with its chances folded below."""
        from lookalike.base.html import block
        from lookalike.base.plots.svg import curve_svg

        steps = [round(0.1 * one, 1) for one in range(1, 10)]
        rows = [(s, self.probability(s)) for s in steps]
        chances = chances_html(("similarity", "becomes a candidate"), rows)
        return block(curve_svg([self.curve()]), chances)


def chances_html(columns: Sequence[str], rows: Sequence[Sequence[float]]) -> str:
    """Write the table of a curve, folded; the last chance of a row may be all but 1."""
    from lookalike.base.html import folded, table
    from lookalike.base.wording import chance_texts, in_full

    written = [(in_full(s), *(chance_texts(one, 1 - one)[0] for one in rest)) for s, *rest in rows]
    return folded("Probability by similarity", table(columns, written))
