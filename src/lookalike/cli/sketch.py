"""`lookalike sketch`: the fingerprints and signatures of documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.cli.options import Quiet, Source, with_options
from lookalike.settings import FORMATS, SketchOptions

__all__ = ["sketch"]


@with_options(SketchOptions)
def sketch(
    source: Source,
    options: dict[str, Any],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write here, not to standard output; replaces a file.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS[1:]),
            help="By default as --out ends, else jsonl.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the sketches of documents: 64-bit fingerprints, minhash signatures, hyperplane bits.

    One row a document, in the order of the source; an empty document has nulls. docs/hashing.md
    defines every number.

    Example: lookalike sketch pages.jsonl -o sketches.parquet
    """
    import lookalike
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import count, visible
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of

    if format_ is not None and format_ not in FORMATS[1:]:
        raise SettingsError("sketches are for programs: use the format jsonl, csv or parquet")
    kind = kind_of({"format": format_ or "jsonl", "out": out}) or format_
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        target = sys.stdout.buffer if out is None else out
        summary = lookalike.write_sketches(lookalike.paths(*source), target, format=kind, **given)
        sys.stdout.buffer.flush()
    where = f", in {visible(out)}" if out else ""
    passed = f"; {summary.bad_count:,} passed over" if summary.bad_count else ""
    done = count(summary.documents, "document")
    console.print(f"Sketched {done}{where}{passed}.", soft_wrap=True)
