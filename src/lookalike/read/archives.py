"""Archives as file systems: their members are opened as the files of a store are."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.read.streams import Stream, opened
from lookalike.read.unpacking import Member, MemberFile, Window, ZipMember

if TYPE_CHECKING:
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds

__all__ = ["HELD_BYTES", "Archive", "Turn", "in_memory", "is_in_turn"]

HELD_BYTES = 8 << 20
"""Bytes of a member that may be in memory for each piece of work that waits: those of a batch."""
HEAD_BYTES = 1 << 20
"""Bytes at the start of a member that are kept: fields are chosen by them, then it is read."""


class Info(NamedTuple):
    """What a file system tells of a file."""

    size: int
    mtime_ns: int


class Turn:
    """Where a compressed tar was left: the next member is read on from there.

    One is left at a time, whichever archive it is of, so that few files are open.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._left: tuple[Shard, int, bytes, Stream] | None = None

    def take(self, archive: Shard, start: int) -> tuple[Stream, bytes]:
        """Give the bytes of an archive, not further than a member, and what is known of that."""
        with self._lock:
            left, self._left = self._left, None
        if left is not None:
            of, begun, head, stream = left
            if of is archive and begun == start:
                return stream, head
            if of is archive and stream.place <= start and stream.broken is None:
                return stream, b""
            stream.close()
        return Stream(archive), b""

    def leave(self, archive: Shard, start: int, head: bytes, stream: Stream) -> None:
        """Let others read on from here."""
        with self._lock:
            left, self._left = self._left, (archive, start, head, stream)
        if left is not None:
            left[3].close()

    def __del__(self) -> None:
        """Close what was left."""
        if self._left is not None:
            self._left[3].close()


class _MemberInTurn(MemberFile):
    """A member of a compressed tar, which is unpacked from where the archive was left."""

    def __init__(self, turn: Turn, archive: Shard, name: str, member: Member) -> None:
        super().__init__(member.size)
        self._turn, self._archive, self._name, self._start = turn, archive, name, member.start
        self._stream, self._head = turn.take(archive, member.start)

    def _next(self, size: int) -> bytes:
        if self._place < len(self._head):
            return self._head[self._place : self._place + size]
        target = self._start + self._place
        if self._stream.place > target or self._stream.broken is not None:
            self._stream.close()
            self._stream = Stream(self._archive)
        self._stream.skip_to(target)
        piece = self._stream.read(size) if self._stream.place == target else b""
        if size and not piece:
            raise SourceError(f"{self._name} breaks off with its archive: make the archive again")
        if self._place == len(self._head) and len(self._head) + len(piece) <= HEAD_BYTES:
            self._head += piece
        return piece

    def close(self) -> None:
        if not self.closed:
            self._turn.leave(self._archive, self._start, self._head, self._stream)
        super().close()


class Archive:
    """A ZIP archive or a tar, as far as readers know file systems."""

    def __init__(self, shard: Shard, bounds: Bounds, turn: Turn) -> None:
        """Take the archive as a file, whose members are yet to be listed."""
        self.shard, self.bounds = shard, bounds
        self.members: dict[str, Member] = {}
        self._turn = turn

    @property
    def is_in_turn(self) -> bool:
        """Whether members are reached only through all that stands before them."""
        return self.shard.packed is not None

    def open_input_file(self, path: str) -> MemberFile:
        """Open a member."""
        member, name = self.members[path], f"{self.shard.name}/{path}"
        if self.is_in_turn:
            return _MemberInTurn(self._turn, self.shard, name, member)
        if self.shard.kind == "zip":
            return ZipMember(self.stored(), name, member)
        return Window(self.stored(), name, member.start, member.size)

    def stored(self) -> Any:
        """Open the archive itself."""
        if self.shard.system is None:
            return Path(self.shard.path).open("rb")
        return self.shard.system.open_input_file(self.shard.path)

    def get_file_info(self, path: str) -> Info:
        """Tell of a member, and of one in an archive that has changed nothing that is so."""
        shard = self.shard
        if shard.system is None:
            state = Path(shard.path).stat()
            now = state.st_size, state.st_mtime_ns
        else:
            info = shard.system.get_file_info(shard.path)
            now = info.size, info.mtime_ns or 0
        changed = now != (shard.size, shard.modified)
        return Info(-1 if changed else self.members[path].size, shard.modified)


class _Held:
    """The bytes of one member, as far as readers know file systems."""

    def __init__(self, data: bytes, shard: Shard) -> None:
        self._data, self._info = data, Info(shard.size, shard.modified)

    def open_input_file(self, _path: str) -> Any:
        return pa.BufferReader(self._data)

    def get_file_info(self, _path: str) -> Info:
        return self._info


def is_in_turn(shard: Shard) -> bool:
    """Tell a member of a compressed tar, which is to be read after those before it."""
    return isinstance(shard.system, Archive) and shard.system.is_in_turn


def in_memory(shard: Shard) -> Shard:
    """Read a member of an archive: give it as a file in memory."""
    try:
        with opened(shard) as stream:
            data = b"".join(stream.rest())
    except SourceError as error:
        return replace(shard, problem=error.raw)
    return replace(shard, system=_Held(data, shard), is_streamed=False)
