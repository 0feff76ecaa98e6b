"""The passages that many documents share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import OutputError
from lookalike.base.wording import count
from lookalike.results.record import Run, counts_of, place_of, record_of
from lookalike.results.result import Result, is_folder, write_file, write_folder
from lookalike.results.showing import SHOWN_ROWS, Section
from lookalike.results.stored import stored_table
from lookalike.results.summary import Summary
from lookalike.settings import Settings
from lookalike.write.files import write_atomically, write_table

if TYPE_CHECKING:
    import os
    from typing import Self

    from lookalike.results.documents import Documents
    from lookalike.results.result import Progress

__all__ = ["BoilerplateResult"]

PASSAGES = "passages.parquet"
COLUMNS = pa.schema(
    {"documents": pa.int64(), "share": pa.float64(), "words": pa.int64(), "text": pa.string()}
)


@dataclass(frozen=True, repr=False)
class BoilerplateResult(Result):
    """The passages shared by the most documents, the most shared first."""

    command = "boilerplate"

    settings: Settings
    summary: Summary
    passages: pa.Table
    """documents, share of the distinct documents, words, text."""
    run: Run = field(default_factory=Run)
    documents: Documents | None = None
    known: dict[str, Any] | None = None
    """The record of a result that was opened again."""

    def __len__(self) -> int:
        """Count the passages."""
        return len(self.passages)

    def __repr__(self) -> str:
        """Give a line with the counts."""
        return f"<{type(self).__name__}: {self._facts()[0]}>"

    def _facts(self) -> list[str]:
        documents = count(self.summary.documents, "document")
        return [f"{count(len(self), 'passage')} of {documents}"]

    def _tables(self) -> dict[str, Any]:
        return self._empty_ids()

    def _sections(self) -> list[Section]:
        passages = count(len(self), "passage")
        return [Section(passages, self.passages.slice(0, SHOWN_ROWS), len(self))]

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, in order."""
        if self.documents is None:
            raise OutputError("a result that was opened again does not name the empty documents")
        return self.documents.empty()

    def record(self) -> dict[str, Any]:
        """Give the record of the run: settings, counts, seconds, versions."""
        if self.known is not None:
            return self.known
        counts = {"passages": len(self.passages)}
        return record_of(self.command, self.run, self.settings, None, self.summary, counts)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the passages, whole or not at all, to a folder or a file, with the record."""
        del progress  # a few passages are written at once
        if not is_folder(path, format):
            write_file(Path(path), iter([self.passages]), self, format)
            return

        def fill(folder: Path) -> None:
            write_atomically(
                folder / PASSAGES, lambda stream: write_table(self.passages, stream, "parquet")
            )

        write_folder(Path(path), fill, self)

    @classmethod
    def _opened(cls, path: Path, record: dict[str, Any]) -> Self:
        passages = counts_of(record, "passages")["passages"]
        return cls(
            settings=Settings.from_dict(record["settings"]),
            summary=Summary.of_record(record, path),
            passages=stored_table(*place_of(path, record, PASSAGES), COLUMNS, passages),
            run=Run.of_record(record),
            known=record,
        )
