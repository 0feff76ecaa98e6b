"""Which files of a folder are read: those that options and `.gitignore` files leave in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.read.patterns import ANY, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["EXCLUDED", "IGNORED", "NOT_INCLUDED", "ChosenFiles", "Ignored"]

EXCLUDED, NOT_INCLUDED, IGNORED = "excluded", "not included", "left out by .gitignore"
"""Why a file is skipped."""
IGNORE_FILE = ".gitignore"


@dataclass(frozen=True)
class ChosenFiles:
    """What was asked for: patterns of paths below a folder, of names where they have no slash."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    all_files: bool = False
    """Also hidden files, and what a `.gitignore` file leaves out."""

    @cached_property
    def _included(self) -> list[Pattern]:
        return [*map(_pattern, self.include)]

    @cached_property
    def _excluded(self) -> list[Pattern]:
        return [*map(_pattern, self.exclude)]

    def excludes(self, path: str) -> bool:
        """Tell whether a file or folder is left out, with all that is below it."""
        return any(pattern.matches(path, with_hidden=True) for pattern in self._excluded)

    def refusal(self, path: str) -> str:
        """Say why a file is not among those asked for; nothing where it is."""
        if self.excludes(path):
            return EXCLUDED
        asked_for = not self.include or any(
            pattern.matches(path, with_hidden=True) for pattern in self._included
        )
        return "" if asked_for else NOT_INCLUDED


def _pattern(text: str) -> Pattern:
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return Pattern(parts if "/" in text.rstrip("/") else (ANY, *parts))


@dataclass
class Ignored:
    """What the `.gitignore` files of a folder and of those below it leave out."""

    folder: Path
    _rules: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    """Of each folder that was entered: where rules were found, from the top, and what they are."""

    def enter(self, place: str, files: Iterable[str]) -> None:
        """Learn the rules of a folder, after those above it."""
        above = self._rules.get(str(Path(place).parent), []) if place != str(self.folder) else []
        rules = above
        if IGNORE_FILE in files:
            from pathspec import GitIgnoreSpec

            text = Path(place, IGNORE_FILE).read_bytes().decode("utf-8", "replace")
            rules = [*above, (place, GitIgnoreSpec.from_lines(text.splitlines()))]
        if rules:
            self._rules[place] = rules

    def leaves_out(self, place: str, name: str, *, is_folder: bool = False) -> bool:
        """Tell whether rules leave out a file or folder: the nearest that say anything decide."""
        for base, spec in reversed(self._rules.get(place, ())):
            path = Path(place, name).relative_to(base).as_posix()
            found = spec.check_file(f"{path}/" if is_folder else path).include
            if found is not None:
                return bool(found)
        return False
