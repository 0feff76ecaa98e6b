"""Compiled code on disk: where it is kept, and how a file is known to be whole.

A file is a digest and what it is of: the code, the name of the file, and a stamp of all that the
code depends on. One that is damaged, another's or out of date has another digest, and is as good as
none: nothing of it is looked at, and what is compiled instead takes its place. A file appears whole
under its name, so that processes which compile at once do not disturb each other.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import uuid
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

__all__ = ["KERNEL_FOLDER", "SOURCES", "CacheFolder", "cache_folder", "read", "write"]

KERNEL_FOLDER = Path(__file__).parent
SOURCES = tuple(
    (str(path.relative_to(KERNEL_FOLDER)), path.stat().st_mtime, path.stat().st_size)
    for path in sorted(KERNEL_FOLDER.rglob("*.py"))
)
"""The files that kernels are written in, which call each other's."""

DIGEST_BYTES = 32
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CacheFolder(NamedTuple):
    """A folder for compiled code."""

    path: Path
    persistent: bool
    """Whether it stays until somebody removes it."""


@cache
def cache_folder() -> CacheFolder | None:
    """Give the first folder that can be written to; None where there is none.

    That is the one of NUMBA_CACHE_DIR, the one beside the kernels, the user's, or one in the
    system's folder of temporary files.
    """
    # Installations that share a folder do not take turns in replacing each other's files.
    own = blake2b(os.fsencode(KERNEL_FOLDER), digest_size=8).hexdigest()
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and _can_be_used(folder := Path(named) / f"lookalike-{own}"):
        return CacheFolder(folder, persistent=True)
    if _can_be_used(folder := KERNEL_FOLDER / "__pycache__"):
        return CacheFolder(folder, persistent=True)
    users = _users_folder()
    if users and _can_be_used(folder := users / "lookalike" / own, private=True):
        return CacheFolder(folder, persistent=True)
    temporary = _temporary_folder()
    if temporary and _can_be_used(folder := temporary / f"lookalike-{_user()}-{own}", private=True):
        return CacheFolder(folder, persistent=False)
    return None


def _users_folder() -> Path | None:
    """Give where programs of this user keep what can be made again, if there is such a folder."""
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    given = Path(os.environ.get(variable, ""))
    # A relative one would be another folder wherever the program is run.
    if given.is_absolute():
        return given
    try:
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    except RuntimeError:
        return None


def _temporary_folder() -> Path | None:
    """Give the folder of temporary files, if nobody can put another folder in the place of ours."""
    try:
        folder = Path(tempfile.gettempdir())
        found = folder.stat()
    except OSError:
        return None
    if not hasattr(os, "getuid"):
        return folder
    by_owner_alone = found.st_mode & stat.S_ISVTX or not found.st_mode & OTHERS_MAY_WRITE
    return folder if by_owner_alone and found.st_uid in (0, os.getuid()) else None


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _can_be_used(folder: Path, *, private: bool = False) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        if private and not _is_private(folder):
            return False
    except OSError:
        return False
    return os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _is_private(folder: Path) -> bool:
    """Tell whether nobody else can have put a file in a folder: what is kept there is run."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & OTHERS_MAY_WRITE


def _digest(path: Path, stamp: bytes, code: bytes) -> bytes:
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in (os.fsencode(path.name), stamp):
        digest.update(len(part).to_bytes(8, "little") + part)
    digest.update(code)
    return digest.digest()


def read(path: Path, stamp: bytes) -> bytes | None:
    """Give the code that is kept in a file; None where there is none, or it is not to be run."""
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    code = kept[DIGEST_BYTES:]
    return code if kept[:DIGEST_BYTES] == _digest(path, stamp, code) else None


def write(path: Path, stamp: bytes, code: bytes) -> None:
    """Keep code in a file, whole or not at all: without room on the disk the job goes on."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with suppress(OSError):
            temporary.write_bytes(_digest(path, stamp, code) + code)
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
