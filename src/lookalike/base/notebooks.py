"""Whether this runs in a notebook, and a line there that is updated in place."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["Line", "in_notebook"]


def _shell() -> Any:
    """Give the shell of IPython, if this runs in one; nothing is loaded to find out."""
    loaded = sys.modules.get("IPython")
    return None if loaded is None else loaded.get_ipython()


def in_notebook() -> bool:
    """Tell whether this runs in the kernel of a notebook."""
    return getattr(_shell(), "kernel", None) is not None


class Line:
    """A line of text below the cell that runs; each text takes the place of the one before."""

    def __init__(self) -> None:
        """Begin without a text: a cell that says nothing shows nothing."""
        self._shown: Any = None

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        content = {"text/plain": text}
        if self._shown is None:
            from IPython import display

            show: Any = display.display
            self._shown = show(content, raw=True, display_id=True)
        else:
            self._shown.update(content, raw=True)
