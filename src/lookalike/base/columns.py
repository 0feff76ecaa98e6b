"""Arrays that grow at their end, in memory or in files of a folder."""

from __future__ import annotations

import errno
import functools
import os
import threading
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lookalike.base.errors import OutputError
from lookalike.base.wording import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Column", "Columns", "Store", "unwritable"]


BESIDE_RESULT = ".lookalike-work"
"""How the names of work folders end that stand beside a result."""


def unwritable(path: object, error: OSError) -> OutputError:
    """Say that a file of the work folder cannot be written, and how to go on."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "free some space, or choose" if full else "choose"
    # Not every command that writes a result has an option for its work.
    is_beside = any(part.endswith(BESIDE_RESULT) for part in Path(str(path)).parts)
    return OutputError(
        f"{path} cannot be written: {error.strerror or error}; {remedy} another folder with "
        f"{setting('out' if is_beside else 'work')}, and run the same again"
    )


WRITE_BUFFER_BYTES = 1 << 20
"""Bytes of items that wait to be written together: a call of the system for each takes long."""

_SEEK_LOCK = threading.Lock()


def _read_at(file: int, buffer: Any, at: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file, [buffer], at)
    with _SEEK_LOCK:
        os.lseek(file, at, os.SEEK_SET)
        data = os.read(file, len(buffer))
    buffer[: len(data)] = np.frombuffer(data, np.uint8)
    return len(data)


def _write_at(file: int, data: Any, at: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, at)
    with _SEEK_LOCK:
        os.lseek(file, at, os.SEEK_SET)
        return os.write(file, data)


class Column:
    """An array of one type that grows at its end; in a file, only what is read is in memory."""

    def __init__(self, dtype: Any, path: Path | None = None, length: int = 0) -> None:
        """Begin a column, or go on with the first `length` items of one that a file holds."""
        self.dtype = np.dtype(dtype)
        self.path: Path | None = None
        self._chunks: list[NDArray[Any]] = []
        self._starts: list[int] = []
        self._length = length
        self._reserved: NDArray[Any] | None = None
        self._buffered: list[NDArray[Any]] = []
        self._lock = threading.Lock()
        self._buffered_bytes = 0
        self.file = -1
        """The descriptor of the file that it is in."""
        self._closed = False
        if path is not None:
            self._open(path, length)

    def _open(self, path: Path, length: int) -> None:
        needed = length * self.dtype.itemsize
        try:
            self.file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            if os.fstat(self.file).st_size < needed:
                raise OutputError(
                    f"{path} is shorter than its checkpoint says, as after a power cut: remove "
                    f"{path.parent} and run again"
                )
            # What a killed job wrote after its last checkpoint does not count.
            os.ftruncate(self.file, needed)
        except OSError as error:
            raise unwritable(path, error) from None
        self.path = path

    def __len__(self) -> int:
        """Count the items."""
        return self._length

    def reserve(self, items: int) -> None:
        """Make room in memory for so many items to come, which then need not be put together."""
        if self.path is None and not self._length:
            with suppress(MemoryError):
                self._reserved = np.empty(items, self.dtype)

    def claim(self, count: int) -> Callable[[NDArray[Any]], None] | None:
        """Take a place at the end for so many items, which any thread may then write there.

        They count as items at once. None where there is no such place: items must then be appended.
        """
        start, after = self._length, self._length + count
        if self.path is not None:
            self.flush()
            self._length = after
            return lambda values: self._write(values, start)
        if self._reserved is None or after > len(self._reserved):
            return None
        self._chunks, self._starts = [self._reserved[:after]], [0]
        self._length = after
        return functools.partial(np.copyto, self._reserved[start:after])

    def append(self, values: NDArray[Any]) -> None:
        """Put items at the end."""
        values = np.ascontiguousarray(values, self.dtype).ravel()
        if self.path is not None:
            if self._buffered_bytes + values.nbytes > WRITE_BUFFER_BYTES:
                self.flush()
                self._write(values, self._length)
                self._length += len(values)
                return
            with self._lock:
                self._buffered.append(values.copy())
                self._buffered_bytes += values.nbytes
                self._length += len(values)
            return
        if (write := self.claim(len(values))) is not None:
            write(values)
            return
        self._reserved = None
        self._chunks.append(values)
        self._starts.append(self._length)
        self._length += len(values)

    def flush(self) -> None:
        """Write what waits to be written."""
        with self._lock:
            count = sum(map(len, self._buffered))
            if count:
                self._write(np.concatenate(self._buffered), self._length - count)
            # Only now: what could not be written waits on, so that no checkpoint counts it.
            self._buffered, self._buffered_bytes = [], 0

    def _write(self, values: NDArray[Any], start: int) -> None:
        data: Any = values.view(np.uint8)
        at = start * self.dtype.itemsize
        try:
            while len(data):
                written = _write_at(self.file, data, at)
                data, at = data[written:], at + written
        except OSError as error:
            raise unwritable(self.path, error) from None

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Give some of the items, by default all; of a column in memory they are not copied."""
        stop = self._length if stop is None else stop
        if self.path is None:
            self._check_open()
            with self._lock:
                return self._slice(start, stop)
        values = np.empty(max(0, stop - start), self.dtype)
        self.read_into(values, start)
        return values

    def _slice(self, start: int, stop: int) -> NDArray[Any]:
        if start == 0 and stop == self._length and len(self._chunks) != 1:
            self._join()
        found = [np.empty(0, self.dtype)]
        for at in range(max(0, bisect_right(self._starts, start) - 1), len(self._chunks)):
            begin = self._starts[at]
            if begin >= stop:
                break
            found.append(self._chunks[at][max(0, start - begin) : stop - begin])
        return found[-1] if len(found) <= 2 else np.concatenate(found)

    def _join(self) -> None:
        """Put all chunks in one array, and let go of each as it is copied: never hold all twice."""
        whole = np.empty(self._length, self.dtype)
        chunks, at = self._chunks[::-1], 0
        self._chunks, self._starts = [], []
        while chunks:
            chunk = chunks.pop()
            whole[at : at + len(chunk)] = chunk
            at += len(chunk)
        self._chunks, self._starts = [whole], [0]

    def read_into(self, values: NDArray[Any], start: int) -> None:
        """Read as many items from a file as there is room for."""
        if not len(values):
            return
        self._check_open()
        self.flush()
        data: Any = values.view(np.uint8)
        at = start * self.dtype.itemsize
        while data.size:
            try:
                count = _read_at(self.file, data, at)
            except OSError as error:
                raise OutputError(f"{self.path} cannot be read: {error.strerror}") from None
            if not count:
                self._check_size()
                raise OutputError(f"{self.path} ends before its items do: run again")
            data, at = data[count:], at + count

    def _check_open(self) -> None:
        if self._closed:
            raise OutputError("the result is closed: read what you need of it before")

    def _check_size(self) -> None:
        if os.fstat(self.file).st_size < self._length * self.dtype.itemsize:
            raise OutputError(
                f"{self.path} became shorter while it was in use: remove its folder, run again"
            )

    def move(self, path: Path) -> None:
        """Move what is in memory to a file."""
        chunks, self._chunks, self._starts = self._chunks, [], []
        self._reserved = None
        self._open(path, 0)
        self._length = 0
        while chunks:
            self.append(chunks.pop(0))

    def clear(self, length: int = 0) -> None:
        """Forget the items from a place on."""
        if self.path is None:
            self._reserved = None
            self._chunks, self._starts = [self._slice(0, length)], [0]
        else:
            self.flush()
            os.ftruncate(self.file, length * self.dtype.itemsize)
        self._length = length

    def close(self) -> None:
        """Let go of the file, and of what waits to be written there."""
        self._closed = True
        file, self.file = self.file, -1
        if file >= 0:
            os.close(file)
        self._chunks, self._starts, self._reserved = [], [], None
        self._buffered, self._buffered_bytes = [], 0

    def __del__(self) -> None:
        """Let go of a file that nobody closed."""
        self.close()


class Columns(Protocol):
    """Whatever gives columns by name."""

    def column(self, name: str, dtype: Any) -> Column:
        """Give a column, new or as it was at the last checkpoint."""


class Store:
    """Columns by name: in the files of a folder, or in memory where there is none."""

    def __init__(self, folder: Path | None = None, lengths: dict[str, int] | None = None) -> None:
        """Begin in a folder, or go on there with columns of known lengths."""
        self.folder = folder
        self.columns: dict[str, Column] = {}
        self._lengths = lengths or {}

    def column(self, name: str, dtype: Any) -> Column:
        """Give a column, new or as it was at the last checkpoint."""
        if name not in self.columns:
            path = self.folder / name if self.folder else None
            self.columns[name] = Column(dtype, path, self._lengths.get(name, 0))
        return self.columns[name]

    def lengths(self) -> dict[str, int]:
        """Give the items of each column, for a checkpoint."""
        return self._lengths | {name: len(column) for name, column in self.columns.items()}

    def flush(self) -> None:
        """Write what waits to be written."""
        for column in self.columns.values():
            column.flush()

    def spill(self, folder: Path) -> None:
        """Move to a folder all that is in memory."""
        if self.folder is None:
            self.folder = folder
            for name, column in self.columns.items():
                column.move(folder / name)

    def drop(self, *names: str) -> None:
        """Forget columns, and remove their files."""
        for name in names:
            column = self.columns.pop(name, None)
            if column is not None:
                column.close()
            self._lengths.pop(name, None)
            if self.folder is not None:
                (self.folder / name).unlink(missing_ok=True)

    def drop_all(self, prefix: str) -> None:
        """Forget all columns whose names begin so."""
        self.drop(*[name for name in self.lengths() if name.startswith(prefix)])

    def close(self) -> None:
        """Let go of all files."""
        columns, self.columns = self.columns, {}
        for column in columns.values():
            column.close()
