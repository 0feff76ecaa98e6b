"""The work folder of a job: what it has done so far, so that a killed one goes on from there.

`reading.json` says what is read and how, `measured.json` what a sample of it told. `state.json` is
replaced as a whole at each checkpoint and says how much of each file counts; what was written after
the last checkpoint is cut off when the job is taken up again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.columns import Store, unwritable
from lookalike.base.errors import OutputError
from lookalike.base.lock import Lock
from lookalike.base.wording import quoted, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lookalike.base.columns import Column

__all__ = ["SPOOL", "SPOOL_BEFORE", "Claim", "Stage", "Work", "claim", "difference"]

FORMAT = 3
"""Raised when the files of a work folder change their meaning."""
STATE, READING, LOCK = "state.json", "reading.json", "lock"
MEASURED = "measured.json"
"""What was measured of the corpus, whatever the threshold: to measure again takes time."""
SPOOL = "standard-input"
"""The folder to which standard input is copied, so that it can be read again."""
SPOOL_BEFORE = f"{SPOOL}.before"
"""The copy of an earlier job, until it is known whether this one may replace it."""
EARLY_FILES = (LOCK, SPOOL, SPOOL_BEFORE, READING, "reading.new", "state.new")
"""What a job that is killed early may leave before there is a state."""


def _removal_name(folder: Path) -> Path:
    """Give the name of a folder that is being removed, which nobody else gives to one."""
    return folder.with_name(f".{folder.name}.lookalike-gone")


@dataclass(frozen=True)
class Claim:
    """A work folder that is held against other jobs, and how it was found."""

    folder: Path
    lock: Lock
    existed: bool
    contents: frozenset[str]

    def undo(self) -> None:
        """Leave the folder as it was found, without what was added to it since."""
        added = [path for path in self.folder.iterdir() if path.name not in self.contents]
        for path in added:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK:
                path.unlink(missing_ok=True)
        if LOCK in self.contents:
            self.lock.release()
        else:
            self.lock.remove()
        if not self.existed:
            self.folder.rmdir()


def claim(folder: Path) -> Claim:
    """Make a work folder, and hold it against other jobs; refuse one that is not a job's."""
    # A job may have been killed while it cleared up.
    shutil.rmtree(_removal_name(folder), ignore_errors=True)
    try:
        existed = folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        contents = frozenset(path.name for path in folder.iterdir())
        if STATE not in contents and not contents <= set(EARLY_FILES):
            raise OutputError(
                f"{folder} holds files that no job made: give {setting('work')} an empty or "
                "a new folder"
            )
        lock = Lock(folder / LOCK)
    except OSError as error:
        raise unwritable(folder, error) from None
    if not lock.acquired:
        lock.release()
        raise OutputError(
            f"another job is at work in {folder}: wait for its end, or give {setting('work')} "
            "another folder"
        )
    return Claim(folder, lock, existed, contents)


class Work:
    """The columns of a job and its checkpoints, in a folder or, where none is asked for, in memory.

    In memory nothing outlives the job; what grows past its bounds moves to a temporary folder.
    """

    def __init__(
        self, folder: Path | None = None, *, reading: Any = None, claimed: Claim | None = None
    ) -> None:
        """Open a folder, new or one of the same sources, read in the same way.

        A folder that is refused is left as it was found; where it was claimed before, by who
        claimed it.
        """
        self.folder = folder
        self.durable = folder is not None
        self.reading = json.loads(json.dumps(reading))
        self.state: dict[str, Any] = {"format": FORMAT, "stages": {}}
        self._temporary: Path | None = None
        self._scratch: Store | None = None
        self._remove_on_close = False
        self._claim: Claim | None = None
        if folder is not None:
            self._claim = claimed or claim(folder)
            try:
                self._resume(folder)
            except BaseException:
                if claimed is None:
                    self._claim.undo()
                raise
        self.store = Store(folder, dict(self.state.get("lengths", {})))
        # From now on the folder is known for a job's, however soon that is killed.
        self.checkpoint()

    def _resume(self, folder: Path) -> None:
        path = folder / STATE
        if not path.exists():
            _write_whole(folder / READING, self.reading)
            return
        try:
            state = json.loads(path.read_bytes())
            known, _ = state["format"], state["stages"]
            before = json.loads((folder / READING).read_bytes())
        except (OSError, ValueError, KeyError, TypeError):
            raise OutputError(f"{path} cannot be read: remove {folder} and run again") from None
        if known != FORMAT:
            raise OutputError(
                f"{folder} was made by another version of Lookalike: remove it, or give "
                f"{setting('work')} another"
            )
        if before != self.reading:
            raise OutputError(
                f"{folder} holds the work of another job, on other sources or read in another way: "
                f"{_first_difference(before, self.reading)}; run that job again, or remove the "
                "folder"
            )
        self.state = state

    def stage(self, name: str) -> Stage:
        """Give what is known of a stage, and its columns."""
        return Stage(self, name)

    def checkpoint(self) -> None:
        """Make all that was done so far count."""
        if not self.durable or self.folder is None:
            return
        self.store.flush()
        self.state["lengths"] = self.store.lengths()
        _write_whole(self.folder / STATE, self.state)

    def keep(self, text: str) -> None:
        """Keep what was measured of the corpus, for other thresholds."""
        if self.durable and self.folder is not None:
            _write_text(self.folder / MEASURED, text)

    def kept(self) -> bytes | None:
        """Give what was kept, if anything."""
        if not self.durable or self.folder is None:
            return None
        with suppress(OSError):
            return (self.folder / MEASURED).read_bytes()
        return None

    def spill(self) -> None:
        """Move what is in memory to a temporary folder."""
        if self.store.folder is None:
            try:
                self._temporary = Path(tempfile.mkdtemp(prefix="lookalike-"))
            except OSError as error:
                raise unwritable(tempfile.gettempdir(), error) from None
            self.store.spill(self._temporary)

    def scratch(self, name: str, dtype: Any) -> Column:
        """Make an empty column on disk for a result, which no checkpoint counts."""
        if self._scratch is None:
            inside = self.folder if self.folder is not None and self.folder.exists() else None
            try:
                folder = Path(tempfile.mkdtemp(prefix="lookalike-", dir=inside))
            except OSError as error:
                raise unwritable(inside or tempfile.gettempdir(), error) from None
            self._scratch = Store(folder)
        self._scratch.drop(name)
        return self._scratch.column(name, dtype)

    @property
    def place(self) -> Path:
        """The folder in which columns grow, or would."""
        return self.store.folder or Path(tempfile.gettempdir())

    def close(self) -> None:
        """Let go of the files; temporary ones go away."""
        if self._scratch is not None and self._scratch.folder is not None:
            self._scratch.close()
            shutil.rmtree(self._scratch.folder, ignore_errors=True)
            self._scratch = None
        if self._temporary is not None and os.name == "posix":
            # Their names go at once; what they hold goes when they are closed, for which the
            # system may wait for a disk.
            shutil.rmtree(self._temporary, ignore_errors=True)
            _in_background(self.store.close)
        else:
            self.store.close()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)
        self.release()
        if self._remove_on_close:
            self._remove_on_close = False
            self.remove()

    def unlink(self) -> None:
        """Remove the folder of a job that is done; its columns stay readable until the close.

        Where a file that is open cannot be removed, the folder goes with the close.
        """
        if self.folder is not None:
            if os.name == "posix":
                self.release()
                shutil.rmtree(self.folder, ignore_errors=True)
            else:
                self._remove_on_close = True

    def release(self) -> None:
        """Let another job take the folder; what this one holds open stays readable."""
        if self._claim is not None:
            self._claim.lock.release()

    def give_up(self) -> None:
        """End a job that cannot go on, and leave a folder that was new or empty as it was."""
        self.store.close()
        if self._claim is not None and not self._claim.contents:
            self._claim.undo()
        self.close()

    def remove(self) -> None:
        """Remove the folder with all that is in it.

        It gets another name first: half of a folder must not pass for a job's work.
        """
        self.close()
        if self.folder is not None and self.folder.exists():
            with suppress(OSError):
                self.folder.rename(_removal_name(self.folder))
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(_removal_name(self.folder), ignore_errors=True)

    def __del__(self) -> None:
        """Leave no temporary folder behind."""
        if hasattr(self, "store"):
            self.close()


class Stage:
    """What one stage of a job has done so far: a few facts, and columns that are its own.

    Two stages never share a column, so that no pass overwrites what another one made.
    """

    def __init__(self, work: Work, name: str) -> None:
        """Take up the stage of this name, or begin it."""
        self.work = work
        self.name = name

    @property
    def known(self) -> dict[str, Any]:
        """A dict to fill, written at the next checkpoint."""
        known: dict[str, Any] = self.work.state["stages"].setdefault(self.name, {})
        return known

    def column(self, name: str, dtype: Any) -> Column:
        """Give a column of this stage, new or as it was at the last checkpoint."""
        return self.work.store.column(f"{self.name}.{name}", dtype)

    def drop(self, *names: str) -> None:
        """Forget columns of this stage."""
        self.work.store.drop(*(f"{self.name}.{name}" for name in names))

    def restart(self) -> None:
        """Forget all of it."""
        self.work.state["stages"].pop(self.name, None)
        self.work.store.drop_all(f"{self.name}.")

    def checkpoint(self) -> None:
        """Make all that was done so far count."""
        self.work.checkpoint()


def _in_background(work: Callable[[], None]) -> None:
    """Do some work in another thread, or at once where none can be started any more."""
    if sys.is_finalizing():
        # Python 3.11 waits for the thread that it does not let run.
        work()
        return
    try:
        threading.Thread(target=work, name="lookalike-closing").start()
    except RuntimeError:
        work()


def _write_whole(path: Path, content: Any) -> None:
    """Replace a file of JSON as a whole."""
    _write_text(path, json.dumps(content))


def _write_text(path: Path, text: str) -> None:
    fresh = path.with_suffix(".new")
    try:
        fresh.write_text(text)
        fresh.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


def _first_difference(known: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Name the first thing in which two jobs differ."""
    for name in dict.fromkeys([*known, *given]):
        if known.get(name) != given.get(name):
            if name == "sources":
                return "the files are different, or were changed"
            if name == "recipe":
                return "the index is another, or was made anew with other settings"
            if name == "multiset":
                # The cosine counts too, and may be what is asked for.
                return f"another {setting('multiset')}, {setting('metric')} or {setting('simhash')}"
            return difference(name, known.get(name), given.get(name))
    return "the command is different"


def difference(name: str, before: object, now: object) -> str:
    """Say what a setting was, and what it is."""
    if name == "command":
        return f"the command was {quoted(before)} and is {quoted(now)}"
    if name == "column":
        return f"the column of {setting('keep')} was {quoted(before)} and is {quoted(now)}"
    if name == "ignore":
        # Of the text a digest is known, which would tell nobody anything.
        return f"another {setting('ignore')}"
    return f"{setting(name, before)} then, {setting(name, now)} now"
