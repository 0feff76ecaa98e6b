"""`lookalike sketch`: the fingerprints and signatures of documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lookalike.cli.command import QUIET, SOURCE, file_name
from lookalike.cli.options import command
from lookalike.cli.values import OneOf
from lookalike.settings import FORMATS, SketchOptions

__all__ = ["sketch"]


OUT = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    help="Write here, not to standard output; replaces a file.",
)
FORMAT = click.Option(
    ["--format", "format_"],
    type=OneOf(FORMATS[1:]),
    metavar=f"<{'|'.join(FORMATS[1:])}>",
    help="By default as --out ends, else jsonl.",
)


@command(SketchOptions, SOURCE, OUT, FORMAT, QUIET)
def sketch(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    out: Path | None,
    format_: str | None,
    quiet: bool,
) -> None:
    """Write the sketches of documents: 64-bit fingerprints, minhash signatures, hyperplane bits.

    One row a document, in the order of the source; an empty document has nulls. docs/hashing.md
    defines every number.

    Example: lookalike sketch pages.jsonl -o sketches.parquet
    """
    import lookalike
    from lookalike.base.wording import count, visible
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of
    from lookalike.cli.summary import seconds_line, wrapped

    kind = kind_of({"format": format_ or "jsonl", "out": out}) or format_
    console = screen.status(quiet=quiet)
    with working.session(console, options, out) as given:
        target = sys.stdout.buffer if out is None else out
        summary = lookalike.write_sketches(lookalike.paths(*source), target, format=kind, **given)
        sys.stdout.buffer.flush()
    where = f", in {visible(out)}" if out else ""
    passed = f"; {summary.bad_count:,} skipped" if summary.bad_count else ""
    done = count(summary.documents, "document")
    console.print(f"Sketched {done}{where}{passed}.", soft_wrap=True)
    console.print(wrapped(seconds_line(summary), console.width, indent=11), soft_wrap=True)
