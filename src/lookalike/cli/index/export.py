"""`lookalike index export`: the documents as a table that other programs read."""

from __future__ import annotations

from pathlib import Path

import click

from lookalike.cli.command import AS_JSON, QUIET, file_name
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command

__all__ = ["export"]

OUT = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    required=True,
    help="Write here, to a file that ends in .parquet; replaces a file.",
)


@command(None, INDEX, OUT, AS_JSON, QUIET)
def export(address: str, *, out: Path, as_json: bool, quiet: bool) -> None:
    """Write the documents to a Parquet file: ids, metadata, and texts as they are compared.

    Example: lookalike index export pages.lookalike -o pages.parquet
    """
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import count, visible
    from lookalike.cli import screen
    from lookalike.cli.index.facts import say_facts, seconds_fact
    from lookalike.write.files import check_targets

    if out.suffix.lower() != ".parquet":
        other = f"; lookalike index copy INDEX {out} makes another index"
        copy = other if out.suffix == ".lookalike" else ""
        raise SettingsError(f"an index is exported to Parquet: end {out} in .parquet{copy}")
    check_targets([out], [])
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    with opened(address, read_only=True) as index:
        written = index.export(out)
    what = f"{count(written, 'document')}, in {visible(out)}"
    say_facts(console, [f"Exported   {what}", seconds_fact()])
    if as_json:
        screen.show_json({"index": index.address, "documents": written, "out": str(out)})
