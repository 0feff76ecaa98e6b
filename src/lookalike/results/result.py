"""What every result has in common: it can be written, opened again and closed."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from numbers import Integral
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from lookalike.base.errors import OutputError, SettingsError, SourceError, UnreadableError
from lookalike.base.option_types import check_path
from lookalike.base.plots.shapes import BINS
from lookalike.base.timing import timed
from lookalike.base.wording import quoted, setting
from lookalike.results.record import RUN, beside_file, read_record, result_of, write_record
from lookalike.results.showing import found_histogram, plot_result, result_html, sizes_of
from lookalike.results.unread import write_unread
from lookalike.write.files import (
    PART,
    beside,
    check_new,
    check_targets,
    format_of,
    is_device,
    write_atomically,
    write_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.base.plots.shapes import Histogram
    from lookalike.results.documents import Documents
    from lookalike.results.record import Run
    from lookalike.results.showing import Section
    from lookalike.results.summary import Summary
    from lookalike.settings import Settings

    Tables = Mapping[str, Callable[[], Iterator[pa.Table]]]
    Progress = Callable[[str, int, int], None]

__all__ = ["Result", "first_of", "is_folder", "write_file", "write_folder"]

WRITE = "write"
"""The stage that writes a result."""
MAX_FIRST = 1 << 40
"""First rows that can be asked for: more than there ever are."""


class Result(ABC):
    """Data that a job found, which stands by itself.

    A result holds files open, or memory, until it is closed or no longer used; with `with` it is
    closed at the end of the block.
    """

    command: ClassVar[str]
    _commands: ClassVar[dict[str, type[Result]]] = {}
    settings: Settings
    summary: Summary
    run: Run
    documents: Documents | None
    """What the job stood on; None of a result that was opened again."""

    def __init_subclass__(cls, **given: Any) -> None:
        """Remember which result is of which command."""
        super().__init_subclass__(**given)
        Result._commands[cls.command] = cls

    @property
    def was_there(self) -> bool:
        """Whether it was opened again, not made."""
        return self.documents is None

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @abstractmethod
    def __len__(self) -> int:
        """Count what was found: pairs, kept documents or passages."""

    def __bool__(self) -> bool:
        """Say that there is a result, whatever was found."""
        return True

    def __repr__(self) -> str:
        """Give a line with the counts, and from where on documents are similar."""
        # Vectors have no shingles, and none was chosen.
        shingle = [self.settings.shingle] if self.settings.shingle != "auto" else []
        return f"<{type(self).__name__}: {', '.join(self._facts() + shingle)}>"

    @abstractmethod
    def _facts(self) -> list[str]:
        """Give a few words on what was found, for the line that stands for the result."""

    def _repr_html_(self) -> str:
        """Show the result in a notebook: its tables, folded, and the plan that found it."""
        return result_html(self)

    def plot(self, what: str = "similarities", *, ax: Any = None) -> Any:
        """Draw what was found with Matplotlib, and give the axes: those given, or new ones.

        `similarities` are pairs by their similarity, under the curve of the plan and over the pairs
        of the corpus; `clusters` is how many clusters there are of each size.
        """
        return plot_result(self, what, ax)

    def histogram(self, bins: int = BINS) -> Histogram:
        """Count what was found by similarity: `counts`, and the `edges` of the bins."""
        return found_histogram(self, bins)

    def cluster_sizes(self) -> dict[int, int]:
        """Count the clusters by how many documents they have."""
        return dict(sorted(Counter(sizes_of(self).tolist()).items()))

    def _sections(self) -> list[Section]:
        """Give the tables that a notebook shows, the first of them unfolded."""
        return []

    def _found(self) -> tuple[str, Iterable[NDArray[np.float64]]] | None:
        """Give the similarities of what was found, some at a time, and what they are."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Give for pickle and copies what stands without the job: the tables, not its files."""
        return vars(self) | self._tables() | {"known": self.record(), "documents": None}

    @abstractmethod
    def _tables(self) -> dict[str, Any]:
        """Give what stands on files of the job as tables, or refuse those that are too large."""

    def _empty_ids(self) -> dict[str, Any]:
        """Give the ids of the empty documents, where they are known."""
        return {} if self.documents is None else {"empty": self.documents.empty()}

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Give the record of the run: settings, plan, counts, seconds, versions."""

    @classmethod
    @abstractmethod
    def _opened(cls, path: Path, record: dict[str, Any]) -> Self:
        """Make the result of what is at a path."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a result that was written: a folder, or a file with its record beside it."""
        check_path("path", path)
        record = read_record(Path(path))
        if record.get("engine") == "spark":
            raise SourceError(
                f"{path} was written on Spark, as folders of part files: read them as tables"
            )
        place = result_of(Path(path))
        kind = Result._commands.get(str(record.get("command")))
        if kind is None:
            raise SourceError(f"{path} is of a command that this version does not know: run again")
        if not issubclass(kind, cls):
            raise SourceError(
                f"{path} is a result of {record['command']}: open it with Result.open"
            )
        try:
            opened = kind._opened(place, record)
            same = opened.settings.fingerprint() == record["fingerprint"]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise SourceError(
                f"the record of {path} is damaged, {quoted(error)}: run again"
            ) from None
        if not same:
            raise SourceError(f"the record of {path} is damaged, in its settings: run again")
        return opened

    def originals(self, ids: Iterable[Any], columns: Sequence[str] | None = None) -> pa.Table:
        """Read some documents again as their source has them: id, text, and columns.

        Of files only what is near them is read. `columns` names some; by default all are there.
        """
        if self.documents is None:
            raise OutputError(
                "a result that was opened again has no sources: read the documents from their files"
            )
        import pyarrow as pa

        rows = self.documents.rows_of(ids)
        found = self.documents.origin.originals(rows, columns)
        named = {"id": self.documents.ids.take(rows), "text": found.texts}
        return pa.table(named | {k: v for k, v in found.columns.items() if k not in named})

    def close(self) -> None:
        """Let go of files and memory; what was not laid out by then cannot be any more."""
        if self.documents is not None:
            self.documents.storage.close()

    def __enter__(self) -> Self:
        """Begin a block at the end of which the result is closed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


def first_of(most: int) -> int:
    """Give how many first rows are asked for, refusing what is no number of rows."""
    if isinstance(most, bool) or not isinstance(most, Integral) or most < 0:
        raise SettingsError(f"{setting('most', most)}: use a whole number from 0, as 20")
    return min(int(most), MAX_FIRST)


def is_folder(path: str | os.PathLike[str], kind: str | None = None) -> bool:
    """Tell whether a result goes to a folder: one that is there, or a name without an ending."""
    check_path("path", path)
    name = os.fspath(path)
    if name.endswith(("/", os.sep)) or Path(name).is_dir():
        return True
    return kind is None and not Path(name).suffix and not Path(name).exists()


def write_file(path: Path, tables: Iterator[pa.Table], result: Result, kind: str | None) -> None:
    """Write tables to a file, whole or not at all, and the record of their result beside it.

    A pipe or a device has no place for a record.
    """
    kind = kind or format_of(path)
    read = [str(one[0]) for one in (*result.run.sources, *result.run.against)]
    check_targets([path], [name for name in read if Path(name).name == path.name])

    def write(stream: IO[bytes]) -> None:
        with timed(result.summary.seconds, WRITE):
            write_tables(tables, stream, kind)
            stream.flush()
        if not is_device(path):
            # The file takes its place after this, so that a failure leaves neither.
            write_record(beside_file(path), result.record() | {"file": kind})
            write_unread(path, result.summary.unread)

    write_atomically(path, write)


def write_folder(
    path: Path,
    fill: Callable[[Path], None],
    result: Result,
    *,
    going_on: bool | None = None,
    facts: Mapping[str, Any] | None = None,
    before_it_appears: Callable[[], None] | None = None,
) -> None:
    """Let `fill` write files beside a folder, then put them in its place as a whole.

    The record of the result is beside them, with further facts. When all is written,
    `before_it_appears` is called.

    With `going_on`, what an earlier try left there stays. With None nobody will go on, and nothing
    is left where it fails.
    """
    folder = Path(os.path.realpath(path))
    partial = beside(folder, "partial")
    check_new(path)
    try:
        if partial.exists() and not going_on:
            shutil.rmtree(partial)
        partial.mkdir(exist_ok=True)
        with timed(result.summary.seconds, WRITE):
            fill(partial)
        write_unread(partial, result.summary.unread)
        write_record(partial / RUN, result.record() | dict(facts or {}))
        for left in partial.rglob(f".*.lookalike-{PART}"):
            left.unlink()
        if before_it_appears is not None:
            before_it_appears()
        if hasattr(os, "sync"):
            # Once for all the small files, for which one by one would take long.
            os.sync()
        if folder.exists():
            folder.rmdir()
        partial.replace(folder)
    except BaseException as error:
        changed = isinstance(error, SourceError) and not isinstance(error, UnreadableError)
        if going_on is None or changed:
            # Of other sources, what was copied of these is of no use.
            shutil.rmtree(partial, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        where = error.filename or folder
        raise OutputError(
            f"{where} cannot be written: {error.strerror or error}; fix that and run the same "
            "command again to go on"
        ) from None
