"""Draw the figures of the documentation, which a test compares with what is kept.

python tools/figures.py
"""

from collections.abc import Callable
from pathlib import Path

import lookalike
from lookalike.base.plots.figures import picture_bytes
from lookalike.base.plots.pictures import draw_curves

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def curve() -> bytes:
    """Draw two bandings and a cascade, with their thresholds and areas."""
    specs = ("bands:20 rows:5", "bands:50 rows:10", "and:4 or:4 and:4 or:4")
    curves = [lookalike.Cascade.parse(spec).curve() for spec in specs]
    return picture_bytes(draw_curves(curves), "svg")


def error() -> bytes:
    """Draw the error of estimates by the rows of a signature, by theory and measured."""
    return picture_bytes(lookalike.estimator_error().plot(), "svg")


FIGURES: dict[str, Callable[[], bytes]] = {"curve.svg": curve, "estimates.svg": error}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (IMAGES / name).write_bytes(draw())
