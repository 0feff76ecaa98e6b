"""The record of a run: which settings ran, by which plan, what came of it, and how long it took."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lookalike import __version__
from lookalike.base.errors import OutputError, SourceError
from lookalike.write.files import json_text, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lookalike.planning.plan import Plan
    from lookalike.results.summary import Summary
    from lookalike.settings import Settings

__all__ = [
    "RUN",
    "Run",
    "beside_file",
    "counts_of",
    "place_of",
    "read_record",
    "record_of",
    "result_of",
    "write_record",
]

RUN = "run.json"
FORMAT = 1
"""Raised when a record changes its meaning."""
LIBRARIES = ("numba", "numpy", "pyarrow", "scipy")


@dataclass(frozen=True)
class Run:
    """What a result came from."""

    sources: list[Any] = field(default_factory=list)
    """What tells whether the sources are the same as before."""
    against: list[Any] = field(default_factory=list)
    recipe: str | None = None
    """The fingerprint of the recipe."""
    keep: str | None = None
    job: str | None = None
    """The name of this very job: its sources, how they are read, its settings, what it writes."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the sources were read, as it was asked for."""
    indexes: list[str] = field(default_factory=list)
    """The indexes in which documents were looked up."""
    named: Mapping[str, list[str]] = field(default_factory=dict)
    """The files and folders of the source and of the reference, as they were given."""
    folder: str = ""
    """The folder in which the job ran: there a relative name is found."""

    def as_dict(self) -> dict[str, Any]:
        """Give the facts, for the record."""
        found: dict[str, Any] = {"job": self.job, "sources": self.sources, "against": self.against}
        found |= {"indexes": self.indexes} if self.indexes else {}
        if self.named:
            found |= {"named": dict(self.named), "folder": self.folder}
        return found | {"reading": dict(self.reading), "recipe": self.recipe, "keep": self.keep}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Run:
        """Read them again."""
        return cls(
            record["sources"],
            record["against"],
            record["recipe"],
            record["keep"],
            record["job"],
            record["reading"],
            record.get("indexes", []),
            record.get("named", {}),
            record.get("folder", ""),
        )


def record_of(
    command: str,
    run: Run,
    settings: Settings,
    plan: Plan | None,
    summary: Summary,
    counts: Mapping[str, Any],
    **facts: Any,
) -> dict[str, Any]:
    """Give what a reader of a result should know of the run."""
    return {
        "lookalike": __version__,
        "format": FORMAT,
        "command": command,
        **run.as_dict(),
        "settings": settings.as_dict(),
        "fingerprint": settings.fingerprint(),
        "plan": None if plan is None else plan.as_dict(),
        "counts": {**summary.counts(), **counts},
        **facts,
        **summary.lines(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
    }


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record, for people too."""
    text = json_text(record, indent=2)
    write_atomically(path, lambda stream: stream.write(f"{text}\n".encode()))


def beside_file(path: Path) -> Path:
    """Give the place of the record of a result that is one file."""
    return path.with_name(f"{path.name}.{RUN}")


def read_record(path: Path) -> dict[str, Any]:
    """Read the record of a result: of a folder, of a file with one beside it, or the record."""
    where = path / RUN if path.is_dir() else path
    if where.is_file() and where.name != RUN and not where.name.endswith(f".{RUN}"):
        where = beside_file(where)
    try:
        record: dict[str, Any] = json.loads(where.read_bytes())
        known = record["format"]
    except OSError as error:
        raise SourceError(
            f"{path} is not a result of Lookalike: {where} cannot be read, {error.strerror}"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SourceError(
            f"{where} is not the record of a run of Lookalike: name another"
        ) from None
    if known != FORMAT:
        raise OutputError(f"{where} was written by another version of Lookalike: run again")
    return record


def result_of(path: Path) -> Path:
    """Give the place of the result, where its record may be named instead."""
    if path.name == RUN:
        return path.parent
    ending = f".{RUN}"
    return path.with_name(path.name.removesuffix(ending)) if path.name.endswith(ending) else path


def place_of(path: Path, record: Mapping[str, Any], name: str) -> tuple[Path, str]:
    """Give the file that holds a table of a result, and its format: that of a folder, or all."""
    return (path / name, "parquet") if path.is_dir() else (path, str(record["file"]))


def counts_of(record: Mapping[str, Any], *names: str) -> dict[str, int]:
    """Give some of the numbers in a record."""
    return {name: int(record["counts"][name]) for name in names}
