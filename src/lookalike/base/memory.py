"""How much memory a job may take."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lookalike.base.errors import MemoryLimitError, SettingsError
from lookalike.base.wording import setting

__all__ = ["check_address_space", "default_memory", "parse_size", "size"]

DECIMAL_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
MIN_BYTES = 5 * 10**8
"""Bytes below which the compiler, the libraries and a few batches do not fit."""
COMPILER_BYTES = 10**9
"""Bytes of address space that the compiler and a small job take, beside what Python and NumPy have.

Measured: with 0.8e9 jobs on a few files are done, compiled anew and not, on 1 to 16 threads; with
less, libraries abort the process.
"""
ASSUMED_FREE_BYTES = 4 * 10**9
"""Bytes that are taken to be free where the system does not say."""


def parse_size(given: str | float) -> int:
    """Read `2GB`, `500 MB`, `1.5GiB` or a number of bytes."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?\s*", str(given).lower())
    units = DECIMAL_UNITS | BINARY_UNITS
    if not found or found[2] not in units:
        raise SettingsError(
            f"{setting('memory', given)} is not understood: use a size, as 2GB or 500MB"
        )
    number = int(float(found[1]) * units[found[2]])
    if number < MIN_BYTES:
        raise SettingsError(
            f"{setting('memory', given)} is {size(number)}: use {size(MIN_BYTES)} or more, as 2GB"
        )
    return number


def size(number: float) -> str:
    """Write a number of bytes: `2.0 GB`."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= scale:
            return f"{number / scale:.1f} {unit}"
    return f"{number / 1e3:.0f} KB"


def address_limit() -> int | None:
    """Give the limit of this process's address space, where the system has one and it is set."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def check_address_space() -> None:
    """Refuse to begin under a limit of the address space at which libraries abort the process."""
    limit, used = address_limit(), _address_space()
    if limit is None or limit - used >= COMPILER_BYTES:
        return
    raise MemoryLimitError(
        f"the address space of this process is limited to {size(limit)}, of which "
        f"{size(max(0, limit - used))} is free, and compiled code takes {size(COMPILER_BYTES)}: "
        f"raise the limit, by ulimit -v {_kilobytes(used + COMPILER_BYTES)} or more"
    )


def _kilobytes(number: int) -> int:
    """Give a round number of units of 1024 bytes, as shells count, that is a little larger."""
    return (number // 1024 // 100_000 + 1) * 100_000


def _address_space() -> int:
    """Give the bytes that are mapped, 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def default_memory() -> int:
    """Give half of the memory that is free."""
    free = _free()
    limit = _container_limit()
    if limit is not None:
        free = min(free, limit)
    return max(MIN_BYTES, free // 2)


def _free() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return ASSUMED_FREE_BYTES


def _cached(limit: Path) -> int:
    """Give what a container counts as used but would give back: pages of files read before."""
    try:
        lines = limit.with_name("memory.stat").read_text().splitlines()
    except OSError:
        return 0
    pages = dict(line.split() for line in lines if len(line.split()) == 2)
    return int(pages.get("inactive_file", pages.get("total_inactive_file", 0)))


def _container_limit() -> int | None:
    """Give what a container leaves to its processes, where there is one with a bound."""
    folder = Path("/sys/fs/cgroup")
    for limit_file, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            limit, taken = (
                (folder / limit_file).read_text().strip(),
                (folder / used).read_text().strip(),
            )
        except OSError:
            continue
        if limit.isdigit() and int(limit) < 1 << 60:
            return max(0, int(limit) - int(taken) + _cached(folder / limit_file))
    return None
