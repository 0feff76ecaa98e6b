"""Where the sources of a result are now: where the job ran, here, or where somebody says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.base.errors import SettingsError
from lookalike.base.wording import count, setting
from lookalike.read.listing import ADDRESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Place", "places_of"]


@dataclass(frozen=True)
class Place:
    """Sources under the names by which they are opened, and the names that a result knows."""

    opened: Mapping[str, list[str]]
    """By what they are of: the source, and the reference."""
    renamed: Sequence[tuple[str, str]] = ()
    """How names begin that are opened, and how the result has them."""
    is_given: bool = False
    """Whether somebody named it: then files may be copies, which are younger than the result."""

    def known(self, name: str) -> str:
        """Give the name that a result knows for a file that was opened, or the label of one."""
        for now, before in self.renamed:
            if name == now:
                return before
            if name.startswith(f"{now}/"):
                below = name[len(now) + 1 :]
                return below if before in ("", ".") else f"{before}/{below}"
        return name

    def in_words(self, message: object) -> str:
        """Give a message on files with the names that a result knows."""
        text = str(message)
        for now, before in self.renamed:
            text = text.replace(f"{now}/", f"{before}/" if before else "").replace(now, before)
        return text


def places_of(
    named: Mapping[str, list[str]], folder: str, texts: Sequence[str] | None
) -> list[Place]:
    """Give the places to look in, in turn: where the job ran, and the current folder.

    `texts` names where the sources are instead, one for each of them, those of a reference last.
    """
    if texts is not None:
        return [_given(named, texts)]
    here = Place(named)
    if not folder or Path(folder) == Path.cwd():
        return [here]
    there = {which: [_below(folder, name) for name in names] for which, names in named.items()}
    return [Place(there, [(folder.rstrip("/"), "")]), here]


def _is_fixed(name: str) -> bool:
    return bool(ADDRESS.match(name)) or Path(name).is_absolute()


def _below(folder: str, name: str) -> str:
    return name if _is_fixed(name) else str(Path(folder, name))


def _given(named: Mapping[str, list[str]], texts: Sequence[str]) -> Place:
    """Put a name that was given in the place of each source."""
    wanted = sum(map(len, named.values()))
    if len(texts) != wanted:
        raise SettingsError(
            f"{setting('texts')}: the result is of {count(wanted, 'source')}, and "
            f"{count(len(texts), 'name')} given: name one for each, in the same order"
        )
    # Absolute, so that no path below a source begins as it does.
    left = iter([name if ADDRESS.match(name) else os.path.abspath(name) for name in texts])  # noqa: PTH100 - Path.resolve follows links
    opened = {which: [next(left) for _ in names] for which, names in named.items()}
    renamed = []
    for which, names in named.items():
        for now, before in zip(opened[which], names, strict=True):
            renamed.append((now, before if ADDRESS.match(before) else str(Path(before))))
            if wanted == 1 and Path(now).is_file():
                # The ids of the records of a single table begin with its name alone.
                renamed.append((Path(now).name, Path(before).name))
    return Place(opened, renamed, is_given=True)
