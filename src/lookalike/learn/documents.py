"""The few documents of a lesson."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import setting
from lookalike.read import kind_of, read, read_paths
from lookalike.text.shingles import Shingling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.read import Documents
    from lookalike.read.batches import Names

__all__ = ["MAX_CHARACTERS", "compared_by", "few_documents", "unit_and_size"]

MAX_CHARACTERS = 50_000
"""Of all documents together: tables of more cannot be read."""


def few_documents(
    source: Any = None,
    *,
    text: Names = None,
    id: str | None = None,
    encoding: str | None = None,
    strict_encoding: bool = False,
) -> tuple[dict[str, str | list[str]], tuple[str, ...]]:
    """Read a few short texts or lists of tokens by their ids, by default those of the sample.

    With them comes what a user should know of how files were read.
    """
    told = {"encoding": encoding, "strict_encoding": strict_encoding}
    documents = _read(source, {"text": text, "id": id}, told)
    kind = kind_of(documents.texts.type)
    if kind in ("vectors", "sparse"):
        raise SourceError(
            "learn was given vectors and shows how texts and lists of tokens become sets: "
            f"name the column that holds them, as {setting('text', 'words')}"
        )
    nothing: str | list[str] = [] if kind == "tokens" else ""
    found = [value or nothing for value in documents.texts.to_pylist()]
    if (total := sum(_length(value) for value in found)) > MAX_CHARACTERS:
        raise SettingsError(
            f"learn was given {total:,} characters and shows at most {MAX_CHARACTERS:,}, so that "
            "its tables can be read: name shorter files, or use find"
        )
    by_id = dict(zip(map(str, documents.ids.to_pylist()), found, strict=True))
    return by_id, documents.notes


def _read(source: Any, fields: dict[str, Any], told: dict[str, Any]) -> Documents:
    if source is None:
        for name, given in (fields | told).items():
            if given:
                raise SettingsError(f"{setting(name)} is for documents of your own: name them too")
        return read_paths([str(files("lookalike.learn") / "samples")], **fields)
    if isinstance(source, (str, os.PathLike)):
        return read_paths([source], **fields, **told)
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    if listed and all(isinstance(one, os.PathLike) for one in source):
        return read_paths(source, **fields, **told)
    return read(source, **fields)


def _length(document: str | list[str]) -> int:
    return len(document) if isinstance(document, str) else sum(map(len, document))


def compared_by(documents: Mapping[str, str | list[str]], shingle: str | None) -> str:
    """Say what is compared: the shingle that was asked for, of texts chars:3, of lists tokens."""
    is_tokens = any(not isinstance(document, str) for document in documents.values())
    if is_tokens and shingle not in (None, "tokens"):
        raise SettingsError(
            "the documents are lists of tokens, which are compared as they are: "
            f"leave out {setting('shingle', shingle)}"
        )
    if not is_tokens and shingle == "tokens":
        raise SettingsError(
            f"the documents are text, not lists of tokens: leave out "
            f"{setting('shingle', shingle)}, or use chars:K or words:K"
        )
    return "tokens" if is_tokens else shingle or "chars:3"


def unit_and_size(shingle: str) -> tuple[str, int]:
    """Read `chars:3` or `words:2`."""
    parsed = Shingling.parse(shingle)
    return parsed.unit, parsed.size
