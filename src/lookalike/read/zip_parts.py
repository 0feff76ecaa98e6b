"""The parts of a document that is a zip file: refused by their sizes before they are unpacked."""

from __future__ import annotations

import os
import posixpath
import zipfile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.read.other_formats import OLE_MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.streams import Bounds

__all__ = ["Parts", "check_directory", "check_not_ole", "locked", "path_from"]

DIRECTORY_END, DIRECTORY_END_SIZE = b"PK\x05\x06", 22 + (1 << 16)
DIRECTORY_LIMIT_BYTES = 4 << 20
"""Bytes of the list of a document's parts, of which each takes ten times as much in memory."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What documents are packed with; other methods may ask for gigabytes to unpack a byte."""
ENCRYPTED = 1
BLOCK_BYTES = 1 << 16


def locked(name: str) -> SourceError:
    """Say that a file cannot be read without its password."""
    return SourceError(f"{name} is locked with a password: save it without one, or leave it out")


def check_not_ole(file: Any, name: str) -> None:
    """Refuse a file of Office that has a password or is older than its ending."""
    file.seek(0)
    head = file.read(len(OLE_MAGIC))
    file.seek(0)
    if head == OLE_MAGIC:
        raise SourceError(
            f"{name} is locked with a password, or in the format of Office before 2007: save it "
            "again without a password, or leave it out"
        )


def check_directory(file: Any, name: str, bounds: Bounds) -> None:
    """Refuse a document that lists more parts than can be held, before they are listed."""
    tail = min(file.seek(0, os.SEEK_END), DIRECTORY_END_SIZE)
    file.seek(-tail, os.SEEK_END)
    _, end, record = file.read().rpartition(DIRECTORY_END)
    if end and int.from_bytes(record[8:12], "little") > DIRECTORY_LIMIT_BYTES:
        raise bounds.too_much(f"{name} lists too many parts", DIRECTORY_LIMIT_BYTES)
    file.seek(0)


class Parts:
    """The parts of one document, of which those asked for may unpack to so much together."""

    def __init__(self, file: Any, name: str, bounds: Bounds) -> None:
        """List the parts; none is unpacked yet."""
        check_not_ole(file, name)
        check_directory(file, name, bounds)
        self._packed = zipfile.ZipFile(file)
        self._name, self._bounds = name, bounds
        self._unpacked = 0

    def __contains__(self, part: str) -> bool:
        """Tell whether there is a part of a name."""
        return part in self._packed.NameToInfo

    def read(self, part: str) -> bytes:
        """Unpack a part of markup; what it says of its size is the most that is unpacked."""
        info = self._info(part)
        self._unpacked += info.file_size
        if self._unpacked > self._bounds.record:
            what = f"{self._name} unpacks to {size(self._unpacked)} of markup"
            raise self._bounds.too_much(what, self._bounds.record)
        return b"".join(self.pieces(part, BLOCK_BYTES))  # at once, it would be unpacked to its end

    def pieces(self, part: str, length: int) -> Iterator[bytes]:
        """Unpack a part of any size, some bytes at a time."""
        with self._packed.open(self._info(part)) as stream:
            while piece := stream.read(length):
                yield piece

    def _info(self, part: str) -> zipfile.ZipInfo:
        if part not in self:
            raise ValueError(f"it has no part {part}")
        info = self._packed.getinfo(part)
        if info.flag_bits & ENCRYPTED:
            raise locked(self._name)
        if info.compress_type not in METHODS:
            raise ValueError(f"its part {part} is packed in an unknown way")
        return info


def path_from(part: str, reference: str) -> str:
    """Give the part that another one refers to."""
    path = unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")
