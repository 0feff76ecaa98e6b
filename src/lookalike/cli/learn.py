"""`lookalike learn`: the textbook method on a few documents, every table shown."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli.options import one

__all__ = ["learn"]

EXAMPLE_SEED = 21
"""With it, the sample also has candidates that the exact check refuses."""


def learn(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="2 to 8 documents: files, folders or JSONL; by default a sample.",
        ),
    ] = None,
    shingle: Annotated[
        str, typer.Option("--shingle", "-s", metavar="chars:K|words:K", help="What is compared.")
    ] = "chars:3",
    bands: Annotated[int, typer.Option("--bands", min=1, help="Bands of the signatures.")] = 6,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows of a band.")] = 3,
    threshold: one("threshold") = 0.7,  # type: ignore[valid-type]
    text: one("text") = None,  # type: ignore[valid-type]
    id_: one("id") = None,  # type: ignore[valid-type]
    seed: one("seed") = EXAMPLE_SEED,  # type: ignore[valid-type]
) -> None:
    """Walk a few documents through the textbook method, with every table on the way.

    Shingles, the characteristic matrix, permutations, minhashing row by row, signatures, bands,
    candidates and the exact check; nothing is hashed out of sight.

    Example: lookalike learn essay-1.txt essay-2.txt essay-3.txt --shingle words:2
    """
    from lookalike.cli import lesson, screen
    from lookalike.learn.documents import few_documents, unit_and_size

    unit, size = unit_and_size(shingle)
    lesson.show(
        few_documents(source or (), text=text, id=id_),
        k=size,
        unit=unit,
        bands=bands,
        rows=rows,
        threshold=threshold,
        seed=seed,
        console=screen.results(),
    )
