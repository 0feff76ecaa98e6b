"""What has a curve shows it: on the axes of Matplotlib, and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.base.plots.shapes import Curve

__all__ = ["HasCurve"]


class HasCurve(ABC):
    """A cascade: something with an S-curve."""

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
