"""The few documents of a lesson."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from lookalike.base.errors import SettingsError
from lookalike.read import read_paths
from lookalike.text.shingles import Shingling

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MAX_CHARACTERS", "few_documents", "unit_and_size"]

MAX_CHARACTERS = 50_000
"""Of all documents together: tables of more cannot be read."""


def few_documents(
    paths: Sequence[str] = (), *, text: str | None = None, id: str | None = None
) -> dict[str, str]:
    """Read a few short documents by their ids, by default those of the sample."""
    documents = read_paths(paths or [str(files("lookalike.learn") / "samples")], text=text, id=id)
    texts = [value or "" for value in documents.texts.to_pylist()]
    if (total := sum(map(len, texts))) > MAX_CHARACTERS:
        raise SettingsError(
            f"learn was given {total:,} characters and shows at most {MAX_CHARACTERS:,}, so that "
            "its tables can be read: name shorter files, or use find"
        )
    return dict(zip(map(str, documents.ids.to_pylist()), texts, strict=True))


def unit_and_size(shingle: str) -> tuple[str, int]:
    """Read `chars:3` or `words:2`."""
    parsed = Shingling.parse(shingle)
    return parsed.unit, parsed.size
