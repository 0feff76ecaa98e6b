"""Columns of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["strings"]


def strings(values: Sequence[str]) -> pa.Array:
    """Make a column of strings by its buffers.

    Of a list, Arrow would first load pandas, where that is installed, which takes a fifth of a
    second.
    """
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    offsets = np.append(0, np.cumsum([len(text) for text in encoded], dtype=np.int64))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)
