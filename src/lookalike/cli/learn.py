"""`lookalike learn`: the textbook method on a few documents, every table shown."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lookalike.cli.options import with_options
from lookalike.settings import LessonOptions

__all__ = ["learn"]


@with_options(LessonOptions)
def learn(
    options: dict[str, Any],
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="2 to 8 documents: files, folders or JSONL; by default a sample.",
        ),
    ] = None,
) -> None:
    """Walk a few documents through the textbook method, with every table on the way.

    Shingles, the characteristic matrix, permutations, minhashing row by row, signatures, bands,
    candidates and the exact check; nothing is hashed out of sight.

    Example: lookalike learn essay-1.txt essay-2.txt essay-3.txt --shingle words:2
    """
    import lookalike
    from lookalike.cli import screen

    documents = lookalike.paths(*source) if source else None
    lookalike.lesson(documents, **options).show(screen.results())
