"""What runs in a task, in a process of Python that one task after the other has."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

__all__ = ["run"]

_kept: set[int] = set()
"""How many modules were loaded when what is loaded was kept."""


def run(function: Callable[..., Iterator[pa.RecordBatch]], *given: Any) -> Iterator[pa.RecordBatch]:
    """Run a function of batches, and let the process keep what it has loaded for it."""
    yield from function(*given)
    _keep_what_is_loaded()


def _keep_what_is_loaded() -> None:
    """Take what is loaded out of the search for objects that only name each other.

    Spark has Python search after each task, and with the compiled code and its libraries that takes
    longer than a small task does. Only after more was loaded: what a task leaves is still found.
    """
    loaded = len(sys.modules)
    if loaded not in _kept:
        _kept.add(loaded)
        gc.collect()
        gc.freeze()
