"""Many spans of a file, read without a call from Python for each."""

import os
from typing import Any

import numpy as np

from lookalike.kernels.jit import INTERPRETED, Instruction, kernel

__all__ = ["CAN_PREFETCH", "HAS_PREAD", "prefetch_spans", "read_spans"]

HAS_PREAD = hasattr(os, "pread") and not INTERPRETED
"""Whether the system has the call that reads at a place, and compiled code can make it."""

CAN_PREFETCH = HAS_PREAD and hasattr(os, "posix_fadvise")
"""Whether the system can be told what will be read."""
_WILL_NEED = np.int32(getattr(os, "POSIX_FADV_WILLNEED", 0))

_advise: Any = Instruction(__name__, "posix_fadvise")
_pread: Any = Instruction(__name__, "pread")


@kernel
def read_spans(file, starts, offsets, out):
    """Read spans of a file one after the other, and give the first that is not all there.

    Span i begins at `starts[i]` and goes from `offsets[i]` to `offsets[i + 1]`. What is not there,
    or cannot be read, is left to Python, which can say why.
    """
    for i in range(len(starts)):
        at = starts[i]
        done = offsets[i]
        while done < offsets[i + 1]:
            count = _pread(np.int32(file), out[done:].ctypes, offsets[i + 1] - done, at)
            if count <= 0:
                return i
            done += count
            at += count
    return len(starts)


@kernel
def prefetch_spans(file, starts, offsets):
    """Tell the system which spans of a file will be read, so that a disk brings many at once."""
    for i in range(len(starts)):
        _advise(np.int32(file), starts[i], offsets[i + 1] - offsets[i], _WILL_NEED)
