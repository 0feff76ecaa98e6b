"""Folders that Lookalike wrote: a result is not read as documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.base.wording import shortened

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["refuse_result"]

RECORD = "run.json"
RECORD_LIMIT_BYTES = 64 << 20
DOCUMENTS = {"kept": "the kept documents", "annotated": "all documents, annotated"}
"""The folders of a result of `dedup` that can be read again."""


def refuse_result(folder: Path) -> None:
    """Refuse a folder that holds a result, and say what of it can be read."""
    path = folder / RECORD
    try:
        if not path.is_file() or path.stat().st_size > RECORD_LIMIT_BYTES:
            return
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    if not isinstance(record, dict) or not {"lookalike", "command", "counts"} <= set(record):
        return
    there = [name for name in DOCUMENTS if (folder / name).is_dir()]
    inside = " or ".join(f"{folder / name} for {DOCUMENTS[name]}" for name in there)
    raise SourceError(
        f"{folder} holds a result of lookalike {shortened(record['command'])}, not documents: give "
        f"{inside or 'the documents that it was made of'}; in Python lookalike.Result.open opens it"
    )
