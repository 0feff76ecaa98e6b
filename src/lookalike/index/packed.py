"""Canonical documents as an index stores them: short, and checked when they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import DamagedError
from lookalike.text.normalise import Canonical, fingerprints_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.index.store import Body

__all__ = ["content_of", "damaged", "packed", "unpacked"]

CODEC, LEVEL = "zstd", 1
"""Higher levels make articles hardly shorter, and take longer."""


def content_of(fingerprints: NDArray[np.uint64]) -> list[bytes]:
    """Give the fingerprints of documents as 16 bytes each."""
    joined = fingerprints.astype("<u8").tobytes()
    return [joined[begin : begin + 16] for begin in range(0, len(joined), 16)]


def packed(documents: Canonical, rows: Sequence[int] | None = None) -> list[bytes]:
    """Compress documents, or some, one by one; one that does not get shorter stays as it is."""
    codec = pa.Codec(CODEC, compression_level=LEVEL)
    data, offsets = documents.data.data, documents.offsets.tolist()
    found = []
    for row in range(len(documents)) if rows is None else rows:
        plain = data[offsets[row] : offsets[row + 1]]
        short = codec.compress(plain, asbytes=True)
        found.append(short if len(short) < len(plain) else bytes(plain))
    return found


def unpacked(bodies: Sequence[Body], address: str) -> Canonical:
    """Give documents as they were, and refuse those that are not what their fingerprints say."""
    codec = pa.Codec(CODEC)
    parts = []
    for one in bodies:
        if len(one.body) == one.length:
            parts.append(one.body)
            continue
        try:
            parts.append(codec.decompress(one.body, one.length, asbytes=True))
        except (OSError, SystemError, ValueError, MemoryError, pa.ArrowException):
            raise damaged(address, "a text in it is not what was added") from None
    lengths = np.array([len(part) for part in parts], np.int64)
    # Not bytes, which are never written to: kernels would be compiled for those too.
    data = np.frombuffer(bytearray().join(parts), np.uint8)
    offsets = np.append(0, np.cumsum(lengths))
    fingerprints = fingerprints_of(data, offsets)
    if content_of(fingerprints) != [one.content for one in bodies]:
        raise damaged(address, "a text in it is not what was added")
    return Canonical(data, offsets, fingerprints)


def damaged(address: str, how: str) -> DamagedError:
    """Give what is raised where an index holds what was never put into it."""
    return DamagedError(f"{address} is damaged, {how}: restore a copy of it, or make it again")
