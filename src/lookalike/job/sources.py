"""Sources opened as the options of a function say."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.columns import unwritable
from lookalike.job.unused_options import ASKED_OF_FILES, check_used
from lookalike.job.work_folder import SPOOL, SPOOL_BEFORE, claim
from lookalike.read import Corpus, open_corpus, read
from lookalike.read.batches import as_names
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.encoding_names import Encodings
from lookalike.read.source import InMemory
from lookalike.read.tables import hold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lookalike.job.running import Running
    from lookalike.job.work_folder import Claim
    from lookalike.read.batches import Names

__all__ = ["Reading", "names_of", "standard_input"]

LAYOUT = ("lines", "delimiter", "no_header")
"""Options that say how files are laid out."""


@dataclass(frozen=True)
class Reading:
    """How sources are read."""

    fields: Mapping[str, Any]
    """The fields of a record that hold the text, or the vector, and the id; and of pages what."""
    layout: Mapping[str, Any]
    encodings: Mapping[str, Any]
    chosen: ChosenFiles
    asked: Mapping[str, Any]
    """All that was asked of files, as it was given."""

    @classmethod
    def of(cls, options: Any) -> Reading:
        """Take what the options say."""
        fields = {name: getattr(options, name, None) for name in ("text", "vector", "id")}
        # Named only where they are asked for: a job without them is the one that it always was.
        pages = {name: getattr(options, name, None) for name in ("markup", "main_text")}
        fields |= {name: value for name, value in pages.items() if value}
        fields["text"] = _plain_names(fields["text"])
        told = Encodings.of(options.encoding, strict=options.strict_encoding)
        return cls(
            fields,
            {name: getattr(options, name) for name in LAYOUT},
            {"encoding": told.encoding, "strict_encoding": told.strict},
            ChosenFiles(_patterns(options.include), _patterns(options.exclude), options.all_files),
            {name: getattr(options, name, None) for name in ASKED_OF_FILES},
        )

    def told(self) -> dict[str, Any]:
        """Give what decides how files are read, for JSON."""
        return {**self.fields, **self.encodings, **self.layout}

    def recorded(self) -> dict[str, Any]:
        """Give all that can be asked for of reading, for the record of a run."""
        pages = {"markup": self.fields.get("markup"), "main_text": "main_text" in self.fields}
        chosen = self.chosen
        files = {"include": [*chosen.include], "exclude": [*chosen.exclude]}
        return {**self.told(), **pages, **files, "all_files": chosen.all_files}

    def open(
        self,
        source: Any,
        running: Running,
        columns: Mapping[str, str] | None = None,
        spool: Path | None = None,
    ) -> Corpus | InMemory:
        """Open a source; of `columns`, by name, each says what it is for."""
        names = names_of(source)
        if names is None:
            held = hold(source)
            return InMemory(read(held, **self.fields), columns or {}, source=held)
        return open_corpus(
            names,
            **self.fields,
            columns=tuple(columns or ()),
            skip_bad=running.skip_bad,
            memory=running.memory,
            spool=spool,
            chosen=self.chosen,
            **self.encodings,
            **self.layout,
        )

    def check(self, sources: Sequence[Corpus | InMemory]) -> None:
        """Refuse options for files of which there are none: they would do nothing."""
        check_used(sources, self.asked)


def _plain_names(text: Names) -> Names:
    """Give the fields of the text as a work folder holds them: one alone as it is."""
    names = as_names(text)
    return list(names) if len(names) > 1 else next(iter(names), None)


def names_of(source: Any) -> list[str] | None:
    """Give the names of the files that a source stands for; None of what is in memory."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    if listed and all(isinstance(one, os.PathLike) for one in source):
        return [os.fspath(one) for one in source]
    return None


def _patterns(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Take one pattern, or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


@contextmanager
def standard_input(
    names: Sequence[str], running: Running
) -> Iterator[tuple[Path | None, Claim | None]]:
    """Give a place for a copy of standard input, where that is read and there is a work folder.

    The folder is claimed before anything in it is replaced, and where it then turns out to be that
    of another job, the copy that was there before comes back.
    """
    if running.work is None or "-" not in names:
        yield None, None
        return
    claimed = claim(running.work)
    spool, before = running.work / SPOOL, running.work / SPOOL_BEFORE
    try:
        if spool.exists():
            shutil.rmtree(before, ignore_errors=True)
            spool.rename(before)
        spool.mkdir()
        yield spool, claimed
        shutil.rmtree(before, ignore_errors=True)
    except BaseException as error:
        if before.exists():
            shutil.rmtree(spool, ignore_errors=True)
            before.rename(spool)
        claimed.undo()
        if isinstance(error, OSError):
            raise unwritable(spool, error) from None
        raise
