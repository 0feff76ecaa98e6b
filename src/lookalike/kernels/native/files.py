"""Calls of the system on files."""

from __future__ import annotations

from numba.core import types

__all__ = ["posix_fadvise", "pread"]

posix_fadvise = types.ExternalFunction(
    "posix_fadvise", types.int32(types.int32, types.int64, types.int64, types.int32)
)
pread = types.ExternalFunction(
    "pread", types.intp(types.int32, types.voidptr, types.uintp, types.int64)
)
