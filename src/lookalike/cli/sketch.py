"""`lookalike sketch`: the fingerprints and signatures of documents."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.output import Format

__all__ = ["sketch"]


def sketch(
    source: options.Source,
    out: options.Out = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Some of simhash, minhash, bits; default simhash,minhash, and bits for vectors.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows of a minhash signature.")] = 128,
    bits: Annotated[
        int, typer.Option("--bits", help="Bits of hyperplanes: a multiple of 32, 64 to 2048.")
    ] = 256,
    shingle: options.Shingle = "auto",
    multiset: options.Multiset = False,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    max_df: options.MaxDf = None,
    normalise: options.Normalise = "default",
    text: options.Text = None,
    vector: options.Vector = None,
    id_: options.Id = None,
    skip_bad: options.SkipBad = False,
    format_: Annotated[
        Format | None, typer.Option("--format", help="By default as --out ends, else jsonl.")
    ] = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write the sketches of documents: 64-bit fingerprints, minhash signatures, hyperplane bits.

    One row a document, in the order of the source; an empty document has nulls. docs/hashing.md
    defines every number.

    Example: lookalike sketch pages.jsonl -o sketches.parquet
    """
    from lookalike.api import Columns
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import count, visible
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, write_out
    from lookalike.job.sketch_table import Wanted, sketch_tables
    from lookalike.read import read_text
    from lookalike.settings import Settings
    from lookalike.write.files import check_targets

    names = None if columns is None else columns.replace(",", " ").split()
    wanted = Wanted(names, rows, bits, multiset)
    settings = Settings(
        shingle=shingle,
        metric="cosine",
        weights=weights.value if weights else None,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=None if ignore is None else read_text(ignore),
    )
    if format_ is Format.table:
        raise SettingsError("sketches are for programs: use the format jsonl, csv or parquet")
    kind = "jsonl" if format_ is None and out is None else kind_of(format_, out)
    check_targets([out] if out else [], source)
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    with screen.progress(console) as progress:
        job = working.job(
            source,
            settings,
            console,
            progress,
            work=None,
            target=out,
            columns=Columns(text, vector, id_),
            threads=threads,
            memory=memory,
            skip_bad=skip_bad,
        )
        with working.given_up_if_hopeless(job, None):
            write_out(sketch_tables(job, wanted), kind, out)
    collection = job.collection
    where = f", in {visible(out)}" if out else ""
    passed = f"; {collection.bad_count:,} passed over" if collection.bad_count else ""
    console.print(f"Sketched {count(len(collection), 'document')}{where}{passed}.", soft_wrap=True)
    job.work.remove()
