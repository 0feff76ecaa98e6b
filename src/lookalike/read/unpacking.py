"""Members of archives as files: what of one is asked for is unpacked, and no more."""

from __future__ import annotations

import io
import os
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.base.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["METHODS", "Member", "MemberFile", "Window", "XzFile", "ZipMember"]

STORED_BYTES = 1 << 16
"""Bytes read at once of what is packed."""
LOCAL_HEADER, LOCAL_MARK = 30, b"PK\x03\x04"
XZ_MEMORY = 128 << 20
"""Bytes that unpacking .xz may take: the dictionary of `xz -9` has half of it."""


class Member(NamedTuple):
    """Where a member stands in its archive."""

    start: int
    """Of its header in a ZIP archive, of its bytes in the unpacked bytes of a tar."""
    size: int
    """In bytes, unpacked."""
    stored: int = 0
    """In bytes, as a ZIP archive holds it."""
    method: int = 0
    """By which a ZIP archive packs it."""
    check: int = 0
    """The CRC-32 of its bytes."""


class MemberFile(io.RawIOBase):
    """A member of an archive as a file, from which bytes are read in their order."""

    seeks = False
    """Whether any place in it is reached at once."""

    def __init__(self, size: int) -> None:
        """Begin at the first byte."""
        super().__init__()
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that there is a way to any place, though it may be long."""
        return True

    def tell(self) -> int:
        """Give the place of the next byte."""
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = min(max(base + place, 0), self._size)
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes: as many as asked for, fewer only at the end."""
        left = self._size - self._place
        missing = left if size < 0 else min(size, left)
        pieces = []
        while missing:
            piece = self._next(missing)
            self._place += len(piece)
            missing -= len(piece)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _next(self, size: int) -> bytes:
        """Give bytes from here on, of those that there must be: at least one, and no more."""
        raise NotImplementedError


class Window(MemberFile):
    """A stretch of a file, of which any place is reached at once."""

    seeks = True

    def __init__(self, file: Any, name: str, start: int, size: int) -> None:
        """Take a file, which is closed with this."""
        super().__init__(size)
        self._file, self._name, self._start = file, name, start

    def _next(self, size: int) -> bytes:
        self._file.seek(self._start + self._place)
        piece: bytes = self._file.read(size)
        if len(piece) < size:
            raise damaged(self._name, "it breaks off")
        return piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def damaged(name: str, reason: object) -> SourceError:
    """Say that a member cannot be unpacked."""
    return SourceError(f"{name} is damaged in its archive ({reason}): make the archive again")


def _inflating() -> Any:
    return zlib.decompressobj(-zlib.MAX_WBITS)


def _bunzipping() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


METHODS: dict[int, Callable[[], Any] | None] = {0: None, 8: _inflating, 12: _bunzipping}
"""How ZIP archives pack members, by the numbers of the format; None for not at all."""


class ZipMember(MemberFile):
    """A member of a ZIP archive; one that is packed is read backwards from its start again."""

    def __init__(self, file: Any, name: str, member: Member) -> None:
        """Take the archive as an open file, which is closed with this."""
        super().__init__(member.size)
        self._file, self._name, self._member = file, name, member
        self.seeks = METHODS[member.method] is None
        file.seek(member.start)
        header = file.read(LOCAL_HEADER)
        if len(header) < LOCAL_HEADER or not header.startswith(LOCAL_MARK):
            file.close()
            raise damaged(name, "it does not begin as a member")
        # What the name and the further fields take, which may differ from what the directory says.
        lengths = (header[26:28], header[28:30])
        self._start = (
            member.start + LOCAL_HEADER + sum(int.from_bytes(n, "little") for n in lengths)
        )
        self._begin()

    def _begin(self) -> None:
        unpacker = METHODS[self._member.method]
        self._unpacker: Any = None if unpacker is None else unpacker()
        self._unpacked, self._read, self._fed = 0, 0, b""
        self._checked, self._sum = 0, 0

    def _next(self, size: int) -> bytes:
        if self._unpacker is None:
            self._file.seek(self._start + self._place)
            piece: bytes = self._file.read(size)
        else:
            if self._unpacked > self._place:
                self._begin()
            while self._unpacked < self._place:
                if not self._more(min(self._place - self._unpacked, STORED_BYTES)):
                    break
            piece = self._more(size)
        if len(piece) < size:
            raise damaged(self._name, "it breaks off")
        self._verify(piece)
        return piece

    def _more(self, size: int) -> bytes:
        """Unpack the next bytes, fewer where there are no more."""
        found: list[bytes] = []
        missing = size
        while missing and not self._unpacker.eof:
            takes_more = getattr(self._unpacker, "needs_input", True)
            if takes_more and not self._fed and self._read < self._member.stored:
                self._file.seek(self._start + self._read)
                self._fed = self._file.read(min(STORED_BYTES, self._member.stored - self._read))
                self._read += len(self._fed)
            ended = takes_more and not self._fed
            try:
                piece = self._unpacker.decompress(self._fed, missing)
            except (zlib.error, OSError, EOFError) as error:
                raise damaged(self._name, error) from None
            # The one gives back what it did not look at yet, the other holds it.
            self._fed = getattr(self._unpacker, "unconsumed_tail", b"")
            if ended and not piece:
                break
            found.append(piece)
            missing -= len(piece)
            self._unpacked += len(piece)
        return b"".join(found)

    def _verify(self, piece: bytes) -> None:
        """Check the sum of what was read from the first byte to the last."""
        if self._checked != self._place:
            return
        self._sum = zlib.crc32(piece, self._sum)
        self._checked += len(piece)
        if self._checked == self._size and self._sum != self._member.check:
            raise damaged(self._name, "its bytes do not add up to its checksum")

    def close(self) -> None:
        """Close the archive."""
        self._file.close()
        super().close()


class XzFile:
    """The unpacked bytes of an .xz file, of one stream or of several one after the other."""

    def __init__(self, file: Any) -> None:
        """Take the file as stored."""
        self._file = file
        self._fed = b""
        self._unpacker: Any = None

    def read(self, size: int) -> bytes:
        """Give the next bytes, as many as asked for or fewer; none at the end."""
        import lzma

        while True:
            if self._unpacker is None:
                if not self._fed.lstrip(b"\0"):
                    self._fed = self._file.read(STORED_BYTES)
                    if not self._fed:
                        return b""
                    continue
                # Zeros may stand between streams.
                self._fed = self._fed.lstrip(b"\0")
                self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
            if self._unpacker.needs_input and not self._fed:
                self._fed = self._file.read(STORED_BYTES)
                if not self._fed:
                    raise OSError("it ends before the end of its data")
            try:
                piece: bytes = self._unpacker.decompress(self._fed, size)
            except lzma.LZMAError as error:
                raise OSError(str(error)) from None
            self._fed = b""
            if self._unpacker.eof:
                self._fed, self._unpacker = self._unpacker.unused_data, None
            if piece:
                return piece
