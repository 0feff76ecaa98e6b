"""One process at a time: a file that is held until it is closed, or its holder dies."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Lock", "try_lock"]

LOCKED_ERRORS = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""What says that another process holds a file; some file systems know no locks at all."""


def try_lock(file: int) -> bool:
    """Hold an open file, and tell whether that could be done."""
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt

            # The checker knows this module on Windows only.
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in LOCKED_ERRORS
    return True


class Lock:
    """A file held by this process."""

    def __init__(self, path: Path) -> None:
        """Hold a file, new or old; `acquired` tells whether no other process does."""
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self.acquired = try_lock(self._file)

    def is_there(self) -> bool:
        """Tell whether the file is still there, and no other in its place."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others hold it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def remove(self) -> None:
        """Let go of the file, and leave none."""
        if os.name == "nt":
            # There, an open file cannot be removed; elsewhere nobody can hold it in between.
            self.release()
        self._path.unlink(missing_ok=True)
        self.release()

    def __del__(self) -> None:
        """Let go of what nobody released."""
        if hasattr(self, "_file"):
            self.release()
