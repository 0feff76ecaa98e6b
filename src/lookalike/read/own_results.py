"""Folders that Lookalike wrote: a result is not read as documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SourceError
from lookalike.base.wording import shortened

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["OWN_RESULT", "RECORD", "is_result", "refuse_result"]

OWN_RESULT = "result of Lookalike"
"""Why a folder among others is skipped as a whole."""
RECORD = "run.json"
RECORD_LIMIT_BYTES = 64 << 20
DOCUMENTS = {"kept": "the kept documents", "annotated": "all documents, annotated"}
"""The folders of a result of `dedup` that can be read again."""


def is_result(folder: Path) -> bool:
    """Tell a folder that holds a result."""
    return _record_of(folder) is not None


def refuse_result(folder: Path) -> None:
    """Refuse a folder that holds a result, and say what of it can be read."""
    record = _record_of(folder)
    if record is None:
        return
    there = [name for name in DOCUMENTS if (folder / name).is_dir()]
    inside = " or ".join(f"{folder / name} for {DOCUMENTS[name]}" for name in there)
    raise SourceError(
        f"{folder} holds a result of lookalike {shortened(record['command'])}, not documents: give "
        f"{inside or 'the documents that it was made of'}; in Python lookalike.Result.open opens it"
    )


def _record_of(folder: Path) -> dict[str, Any] | None:
    """Read the record of the run whose result a folder holds; None where it holds none."""
    path = folder / RECORD
    try:
        if not path.is_file() or path.stat().st_size > RECORD_LIMIT_BYTES:
            return None
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not {"lookalike", "command", "counts"} <= set(record):
        return None
    return record
