"""`lookalike learn`: the textbook method on a few documents, every table shown."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import options

__all__ = ["learn"]

MOST_CHARACTERS = 50_000
TELLING_SEED = 21
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
    threshold: options.Threshold = 0.7,
    text: options.Text = None,
    id_: options.Id = None,
    seed: options.Seed = TELLING_SEED,
) -> None:
    """Walk a few documents through the textbook method, with every table on the way.

    Shingles, the characteristic matrix, permutations, minhashing row by row, signatures, bands,
    candidates and the exact check; nothing is hashed out of sight.

    Example: lookalike learn essay-1.txt essay-2.txt essay-3.txt --shingle words:2
    """
    from lookalike.base.errors import SettingsError
    from lookalike.cli import lesson, screen
    from lookalike.read import read_paths
    from lookalike.text.shingles import Shingling

    shingling = Shingling.parse(shingle)
    documents = read_paths(source or [_sample()], text=text, id=id_)
    texts = [value or "" for value in documents.texts.to_pylist()]
    if (total := sum(map(len, texts))) > MOST_CHARACTERS:
        raise SettingsError(
            f"learn was given {total:,} characters and shows at most {MOST_CHARACTERS:,}, so that "
            "its tables can be read: name shorter files, or use find"
        )
    lesson.show(
        dict(zip(map(str, documents.ids.to_pylist()), texts, strict=True)),
        k=shingling.size,
        unit=shingling.unit,
        bands=bands,
        rows=rows,
        threshold=threshold,
        seed=seed,
        console=screen.results(),
    )


def _sample() -> str:
    from importlib.resources import files

    return str(files("lookalike.learn") / "samples")
