"""Patterns as of a shell: what they match below a folder, each file once, as a walk finds it."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lookalike.read.spark_folders import is_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["ANY", "Matches", "Pattern", "is_hidden", "is_own", "is_pattern", "match_files"]

ANY = "**"
"""Stands for any number of folders, none among them."""


HIDDEN_BEGINNINGS = (".", "~$")
OWN_INFIX = ".lookalike-"
"""In the name of every file and folder that a job makes for itself."""


@dataclass
class Matches:
    """What a pattern stands for, and what it would stand for but for a rule."""

    paths: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    """To folders: they are not followed, as they may lead round in a loop."""


def is_hidden(name: str) -> bool:
    """Tell a file or folder that is hidden, a lock file of Office, or a marker of Spark."""
    return name.startswith(HIDDEN_BEGINNINGS) or is_marker(name)


def is_own(name: str) -> bool:
    """Tell what a job made for itself: what it finds must not depend on where that stands."""
    return OWN_INFIX in PurePosixPath(name).name


def is_pattern(part: str) -> bool:
    """Tell whether a path, or a part of one, is a pattern."""
    return glob.has_magic(part)


class Pattern:
    """A pattern, of which any number of parts may be matched at a time.

    A state is the number of parts that are matched; a folder is in several where `**` stands for
    more than one stretch of its path. So every folder is looked at once.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        """Compile the parts; all that is below a folder that matches does, too."""
        self.end = len(parts)
        self.recursive = ANY in parts
        self._parts = (*parts, ANY)
        self._regexes = [re.compile(fnmatch.translate(os.path.normcase(part))) for part in parts]

    @property
    def start(self) -> frozenset[int]:
        """The states of the folder that the pattern begins in."""
        return self._closed({0})

    def _closed(self, states: set[int]) -> frozenset[int]:
        """Add the states in which `**` stands for no folder."""
        found = set(states)
        for state in sorted(states):
            while state < self.end and self._parts[state] == ANY:
                state += 1
                found.add(state)
        return frozenset(found)

    def step(
        self, states: frozenset[int], name: str, *, with_hidden: bool = False
    ) -> frozenset[int]:
        """Give the states of a file or folder in a folder, by its name."""
        after = set()
        for state in states:
            part = self._parts[state]
            if is_hidden(name) and not is_hidden(part) and not with_hidden:
                continue
            if part == ANY:
                after.add(state)
            elif self._regexes[state].match(os.path.normcase(name)):
                after.add(state + 1)
        return self._closed(after)

    def matches(self, path: str, *, with_hidden: bool = False) -> bool:
        """Tell whether a path below the folder matches."""
        states = self.start
        for name in path.split("/"):
            states = self.step(states, name, with_hidden=with_hidden)
        return self.end in states


def match_files(
    pattern: str, fail: Callable[[object, OSError], None], *, with_hidden: bool = False
) -> Matches:
    """Find the files that a pattern stands for, and the folders where it has no `**`.

    Links to folders are followed only where the pattern names them before its first magic part.
    Folders that cannot be read are given to `fail`.
    """
    parts = Path(pattern).parts
    plain = next(place for place, part in enumerate(parts) if is_pattern(part))
    base = os.path.join("", *parts[:plain])  # noqa: PTH118 - paths stay as they were given
    matcher = Pattern(parts[plain:])
    folders_only = pattern.endswith("/") and not matcher.recursive
    found = Matches()
    waiting = [(base, matcher.start)]
    while waiting:
        folder, states = waiting.pop()
        for entry in _entries(folder, fail, may_lack=folder == base):
            path = os.path.join(folder, entry.name)  # noqa: PTH118
            is_folder = _is_folder(entry)
            shown = with_hidden and not is_own(entry.name)
            after = matcher.step(states, entry.name, with_hidden=shown)
            more = matcher.step(states, entry.name, with_hidden=True) - after
            if more and (is_folder or matcher.end in more):
                found.hidden.add(path)
            if is_folder and after and entry.is_symlink():
                found.links.add(path)
            elif is_folder and after and (matcher.recursive or matcher.end not in after):
                waiting.append((path, after))
            elif matcher.end in after and (is_folder or not folders_only):
                found.paths.append(path)
    found.paths.sort()
    return found


def _entries(
    folder: str, fail: Callable[[object, OSError], None], *, may_lack: bool
) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if not (may_lack and isinstance(error, (FileNotFoundError, NotADirectoryError))):
            fail(folder, error)
        return
    yield from found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a loop is refused where files are listed
        return False
