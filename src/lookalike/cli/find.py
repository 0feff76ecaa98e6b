"""`lookalike find`: similar pairs and clusters."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.results import FindResult

__all__ = ["find"]

SHOWN_PAIRS = 20
SHOWN_CLUSTERS = 10
SHOWN_MEMBERS = 8


class Format(StrEnum):
    """How results are written."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


def find(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Folders, .txt, .md and .jsonl files; - is JSONL on standard input.",
        ),
    ],
    threshold: options.Threshold = 0.8,
    recall: options.Recall = 0.99,
    shingle: options.Shingle = "auto",
    multiset: options.Multiset = False,
    bands: options.Bands = None,
    rows: options.Rows = None,
    cascade: options.Cascade = None,
    estimate: options.Estimate = False,
    normalise: options.Normalise = "default",
    text: options.Text = None,
    id_: options.Id = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="For a person, or every pair for a program; by default as --out ends.",
        ),
    ] = None,
    out: options.Out = None,
    clusters: Annotated[
        Path | None,
        typer.Option("--clusters", metavar="FILE", help="Write the clusters too: id, cluster, …"),
    ] = None,
    threads: options.Threads = None,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Find similar pairs and clusters.

    A person sees the plan, the most similar pairs, the clusters and a summary; --format jsonl
    streams every pair. Each pair was compared exactly and carries that score.

    Example: lookalike find essays/ --threshold 0.7
    """
    from lookalike.cli import screen
    from lookalike.kernels import sketch
    from lookalike.pipeline import search
    from lookalike.read import read_paths
    from lookalike.settings import Settings
    from lookalike.write import check_targets, format_of, write_atomically, write_table

    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        estimate=estimate,
        normalise=normalise,
        seed=seed,
    )
    kind = _kind(format_, out)
    clusters_kind = format_of(clusters) if clusters else None
    check_targets([path for path in (out, clusters) if path], source)
    console = screen.status(quiet=quiet)
    documents = read_paths(source, text=text, id=id_)
    for note in documents.notes:
        console.print(screen.visible(note))
    screen.announce_compiling(console, sketch.element_sets)
    with screen.progress(console) as progress:
        result = search(documents, settings, threads=threads, progress=progress)
    if len(documents):
        screen.show_plan(console, result.plan)
    for warning in result.summary.warnings:
        console.print(f"Warning: {warning}.\n")
    if clusters is not None and clusters_kind is not None:
        write_atomically(
            clusters, lambda stream: write_table(result.clusters, stream, clusters_kind)
        )
    if kind == "table":
        _show(result, screen.results())
    elif out is not None:
        write_atomically(out, lambda stream: write_table(result.pairs, stream, kind))
    else:
        sys.stdout.flush()
        write_table(result.pairs, sys.stdout.buffer, kind)
        sys.stdout.buffer.flush()
    _summarise(result, console)


def _kind(given: Format | None, out: Path | None) -> str:
    from lookalike.errors import SettingsError
    from lookalike.write import format_of

    if given is None:
        return format_of(out) if out else "table"
    if given is Format.table and out is not None:
        raise SettingsError("a table is for the screen: with --out use jsonl, csv or parquet")
    if given is Format.parquet and out is None and sys.stdout.isatty():
        raise SettingsError("Parquet is not for the screen: name a file with --out")
    return given.value


def _show(result: FindResult, console: Console) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    from lookalike.cli.screen import number, simple_table, visible
    from lookalike.wording import count

    total = result.pair_count
    if not result.summary.documents:
        console.print("There are no documents to compare.")
        return
    if not total:
        console.print(f"No two documents are {result.settings.threshold:g} alike or more.")
        return
    title = f"{count(total, 'similar pair')} by {result.plan.shingle}"
    if total > SHOWN_PAIRS:
        title += f", the {SHOWN_PAIRS} most similar; --format jsonl writes all"
    console.print(f"{title}\n")
    shown = result.top(SHOWN_PAIRS).to_pylist()
    names = [(visible(pair["a"]), visible(pair["b"])) for pair in shown]
    scores = [
        ("" if pair["score"] == "exact" else "~") + number(pair["similarity"]) for pair in shown
    ]
    if any(cell_len(a) + cell_len(b) + 16 > console.width for a, b in names):
        # Long names stand one below the other, so that none is broken.
        for score, (a, b) in zip(scores, names, strict=True):
            console.print(Text(f"{score:>7}  {a}\n         {b}"), soft_wrap=True)
    else:
        table = simple_table("similarity>", "a", "b")
        for score, (a, b) in zip(scores, names, strict=True):
            table.add_row(score, Text(a), Text(b))
        console.print(table)
    console.print()
    _show_clusters(result, console)


def _show_clusters(result: FindResult, console: Console) -> None:
    from rich.text import Text

    from lookalike.cli.screen import number, simple_table, visible
    from lookalike.wording import count

    members = result.clusters
    total = members["cluster"][-1].as_py() if len(members) else 0
    title = count(total, "cluster")
    if total > SHOWN_CLUSTERS:
        title += f", the {SHOWN_CLUSTERS} largest; --clusters FILE writes all"
    table = simple_table("cluster>", "size>", "least alike>", "members")
    at = 0
    for _ in range(min(total, SHOWN_CLUSTERS)):
        first = members.slice(at, 1).to_pylist()[0]
        size = first["size"]
        ids = members["id"].slice(at, min(size, SHOWN_MEMBERS)).to_pylist()
        names = [visible(name) for name in ids]
        if size > SHOWN_MEMBERS:
            names.append(f"and {size - SHOWN_MEMBERS:,} more")
        least = ("~" if result.settings.estimate else "") + number(first["similarity"])
        table.add_row(str(first["cluster"]), f"{size:,}", least, Text("\n".join(names)))
        at += size
    console.print(f"{title}\n")
    console.print(table)
    console.print()


def _summarise(result: FindResult, console: Console) -> None:
    from lookalike.cli.screen import visible
    from lookalike.wording import count

    summary = result.summary
    facts = [f"Read {count(summary.documents, 'document')}"]
    if summary.skipped:
        reasons = ", ".join(f"{number} {reason}" for reason, number in summary.skipped.items())
        facts.append(f"passed over {sum(summary.skipped.values()):,} files ({reasons})")
    if summary.empty:
        names = ", ".join(visible(name) for name in result.empty[:3].to_pylist())
        more = ", …" if summary.empty > 3 else ""
        facts.append(f"{summary.empty:,} empty, similar to nothing ({names}{more})")
    if summary.identical:
        facts.append(f"{summary.identical:,} identical to another")
    facts.append(
        f"{count(summary.candidates, 'candidate')} among "
        f"{count(len(result.groups), 'distinct document')}, {summary.rejected:,} rejected"
    )
    facts.append(count(result.pair_count, "similar pair"))
    seconds = ", ".join(f"{name} {spent:.2f}" for name, spent in summary.seconds.items())
    console.print(f"{'; '.join(facts)}. Seconds: {seconds}.")
