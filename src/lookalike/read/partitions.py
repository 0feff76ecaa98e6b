"""Columns that the path of a file tells, as of `lang=en/part-0.parquet`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting

if TYPE_CHECKING:
    from lookalike.read.fields import Piece

__all__ = ["partitions", "with_partitions"]

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""What stands for a missing value."""
WHOLE, DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})"), re.compile(r"-?[0-9]{1,300}\.[0-9]{1,300}")


@lru_cache(maxsize=64)
def partitions(name: str) -> dict[str, pa.Scalar]:
    """Give the columns that the folders of a path stand for, and the value of each."""
    folders = re.split(r"[/\\]", name)[:-1]
    pairs = (folder.partition("=") for folder in folders)
    return {unquote(key): _value(unquote(text)) for key, found, text in pairs if key and found}


def _value(text: str) -> pa.Scalar:
    if text == NOTHING:
        return pa.scalar(None)
    if WHOLE.fullmatch(text):
        return pa.scalar(int(text), pa.int64())
    if DECIMAL.fullmatch(text):
        return pa.scalar(float(text))
    return pa.scalar(text)


def with_partitions(
    piece: Piece, found: dict[str, pa.Scalar], names: tuple[str, ...] | None, id: str | None
) -> Piece:
    """Give documents the columns that their path tells, where the file itself has no such column.

    `names` are the columns asked for, None for all; `id` the column of ids, if the path tells it.
    """
    rows = len(piece.ids)
    columns = dict(piece.columns)
    for name, value in found.items():
        own = columns.get(name)
        if (names is None or name in names) and (own is None or own.null_count == rows):
            columns[name] = pa.repeat(value, rows)
    if id is not None and not found[id].is_valid:
        raise SourceError(
            f"the path tells no {quoted(id)}, which holds the id: name another column by "
            f"{setting('id')}"
        )
    ids = piece.ids if id is None else pa.repeat(found[id], rows)
    return replace(piece, columns=columns, ids=ids)
