"""Checksums of rows, written beside them, by which damage on the disk is told from what was added.

Of 32 bits, which is much for a byte that changed and little to store: the rows of documents and of
entries have one. Those of bands need none, as they are made again of what the entry has.
"""

from __future__ import annotations

from zlib import crc32

__all__ = ["of_document", "of_entry"]

SPREAD = 0x9E3779B1
PRIME = 2**32 - 5
"""What numbers are taken modulo, so that none of their bytes is lost."""
BITS = 0xFFFFFFFF


def of_document(id: str, entry: int, metadata: str | None, run: int) -> int:
    """Give the checksum of a document."""
    begun = crc32(id.encode(), (entry + run * SPREAD) % PRIME)
    return begun if metadata is None else crc32(metadata.encode(), begun ^ BITS)


def of_entry(number: int, content: bytes, sketch: bytes, length: int, empty: bool) -> int:
    """Give the checksum of an entry; its body is checked by the content."""
    return crc32(sketch, crc32(content, (number + (length << 1 | empty) * SPREAD) % PRIME))
