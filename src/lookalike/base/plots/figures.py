"""Matplotlib, loaded when it is first used: figures that nothing else knows of, and their files.

Figures are made without pyplot, which would keep each until it is closed; only in a notebook is it
asked, as the kernel shows what pyplot made and closes it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from lookalike.base.errors import MissingExtraError, SettingsError
from lookalike.base.notebooks import in_notebook
from lookalike.base.wording import either, setting

__all__ = [
    "ENDINGS",
    "OWN_AXES",
    "SIZE",
    "axes_or_new",
    "matplotlib",
    "picture_bytes",
    "picture_kind",
]

ENDINGS = ("png", "svg", "pdf")
SIZE = (7.2, 5.4)
"""Inches of a figure."""
OWN_AXES = "lookalike axes"
"""The id of axes that were made here, whose figure holds nothing else."""
DOTS_PER_INCH = 150
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.6,
    # The same figures give the same file.
    "svg.hashsalt": "lookalike",
}
UNDATED: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def matplotlib() -> Any:
    """Give Matplotlib, or name the extra that has it."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("plots", "plot") from None
    return mpl


def axes_or_new(ax: Any, size: tuple[float, float] = SIZE) -> Any:
    """Give the axes to draw on: those that were given, or those of a new figure."""
    matplotlib()
    if ax is not None:
        return ax
    if in_notebook():
        from matplotlib import pyplot as plt

        return plt.figure(figsize=size, layout="constrained").add_subplot(gid=OWN_AXES)
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot(gid=OWN_AXES)


def picture_kind(path: str | os.PathLike[str]) -> str:
    """Tell by its name what kind of picture a file is to be."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        names = either([f".{one}" for one in ENDINGS])
        raise SettingsError(f"{setting('out', os.fspath(path))}: end the name in {names}")
    return ending


def picture_bytes(ax: Any, kind: str) -> bytes:
    """Give the figure of axes as a file: the same bytes for the same picture."""
    stream = io.BytesIO()
    with matplotlib().rc_context(STYLE):
        ax.figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=UNDATED[kind])
    return stream.getvalue()
