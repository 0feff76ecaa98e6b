"""`lookalike dedup`: the corpus without near-duplicates, and what was removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import options
from lookalike.cli.output import Format

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.results import DedupResult

__all__ = ["dedup"]

SHOWN = 20


def dedup(
    source: options.Source,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder of the results, new or empty."),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="POLICY",
            help="Which of similar documents stays: first, last, longest, shortest, max:COLUMN or "
            "min:COLUMN.",
        ),
    ] = "first",
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="REF",
            help="Reference corpus: what is similar to one of its documents goes; it is never "
            "touched. May be given several times.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; print what would go.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="Write the ids of the kept documents, not the documents.")
    ] = False,
    threshold: options.Threshold = 0.8,
    recall: options.Recall = 0.99,
    shingle: options.Shingle = "auto",
    multiset: options.Multiset = False,
    bands: options.Bands = None,
    rows: options.Rows = None,
    cascade: options.Cascade = None,
    metric: options.Metric = options.MetricName.jaccard,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    max_df: options.MaxDf = None,
    normalise: options.Normalise = "default",
    text: options.Text = None,
    vector: options.Vector = None,
    id_: options.Id = None,
    skip_bad: options.SkipBad = False,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="Of what --dry-run prints; by default a short table."),
    ] = None,
    work: options.WorkFolder = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write the corpus without near-duplicates, and what was removed.

    DIR gets the kept documents in the input's own format (kept/), every removed document with the
    kept one it matched and their similarity (removed.jsonl), the clusters (clusters.parquet) and
    a record of the run (run.json). Input is never changed, and DIR appears as a whole or not at
    all; a job that was stopped goes on when the same command is run again.

    Example: lookalike dedup corpus.jsonl -o clean --keep longest
    """
    from lookalike.api import Columns
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import visible
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of
    from lookalike.job.dedup_folder import check_folder, deliver
    from lookalike.read import read_text
    from lookalike.settings import Settings
    from lookalike.write.files import check_apart

    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        metric=metric.value,
        weights=weights.value if weights else None,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=None if ignore is None else read_text(ignore),
    )
    if dry_run and list_:
        raise SettingsError("--list is for -o DIR: --dry-run prints what would go")
    if out is not None and dry_run:
        raise SettingsError("-o DIR and --dry-run exclude each other: give one")
    if out is None and not dry_run:
        raise SettingsError("name a folder for the results with -o DIR, or use --dry-run")
    if format_ is not None and not dry_run:
        raise SettingsError("--format is for --dry-run: DIR gets files of its own formats")
    kind = kind_of(format_, None)
    if out is not None:
        check_apart(out, [*source, *(against or ()), *([work] if work else [])])
    if work is not None:
        check_apart(work, [*source, *(against or ())])
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    with screen.progress(console) as progress:
        job = working.job(
            source,
            settings,
            console,
            progress,
            work=work,
            target=out,
            columns=Columns(text, vector, id_),
            threads=threads,
            memory=memory,
            skip_bad=skip_bad,
            keep=keep,
            against=against or (),
        )
        with working.given_up_if_hopeless(job, work):
            if done := out is not None and check_folder(out, job, listed=list_):
                console.print(f"{visible(out)} holds the result of this very job already.")
            else:
                result = job.dedup()
                if out is not None:
                    deliver(job, result, out, listed=list_)
                job.finish()
    if not done:
        _tell(result, out, kind, console)
    if work is None:
        job.work.remove()


def _tell(result: DedupResult, out: Path | None, kind: str, console: Console) -> None:
    from lookalike.cli import screen
    from lookalike.cli.output import write_out
    from lookalike.cli.summary import compared_told, say_warnings, sizes_told, summarise
    from lookalike.job.dedup_folder import counts_of

    if result.summary.documents:
        screen.show_plan(console, result.plan)
    say_warnings(console, result.summary.warnings)
    counts = counts_of(result)
    if out is None and kind == "table":
        _show(result, counts["removed"])
    elif out is None:
        write_out(iter([result.removed]), kind, None)
    summary = result.summary
    distinct = len(result.ground.groups)
    facts = [compared_told(summary, distinct), _kept_told(counts, out)]
    if len(result.clusters):
        first = result.clusters.slice(0, 1).to_pylist()[0]
        size = first["size"]
        least = min(result.clusters["similarity"].slice(0, size).to_pylist())
        total = result.clusters["cluster"][-1].as_py()
        facts.append(
            f"Clusters   {total:,} ({sizes_told(result.clusters)}); in the largest, of {size:,}, "
            f"all are {screen.number(least)} or more like the kept one"
        )
    empty = result.ground.empty()
    summarise(console, summary, facts, empty, references=result.references)


def _kept_told(counts: dict[str, int], out: Path | None) -> str:
    from lookalike.base.wording import visible

    empty = f" and {counts['empty']:,} empty" if counts["empty"] else ""
    if out is None:
        return f"Would keep {counts['kept']:,}{empty}, and remove {counts['removed']:,}"
    return f"Kept       {counts['kept']:,}{empty}, removed {counts['removed']:,}, in {visible(out)}"


def _show(result: DedupResult, removed: int) -> None:
    from lookalike.base.wording import count
    from lookalike.cli import screen

    console = screen.results()
    if not removed:
        console.print("Nothing would be removed.")
        return
    title = f"{count(removed, 'document')} would go"
    if removed > SHOWN:
        title += f", the first {SHOWN}; --format jsonl prints all"
    console.print(f"{title}\n")
    pairs = [_marked(row) for row in result.removed.slice(0, SHOWN).to_pylist()]
    screen.show_pairs(console, pairs, "similarity", ("id", "kept"), ("would go", "would stay"))
    console.print()


def _marked(row: dict[str, Any]) -> dict[str, Any]:
    """Say of a kept document of the reference that it is there: its id may stand in both."""
    return row | {"kept": f"{row['kept']} (reference)"} if row["kept_in"] == "reference" else row
