"""`lookalike find`: similar pairs and clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import options
from lookalike.cli.output import Format, kind_of, write_out

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.results import ContainmentResult, FindResult

__all__ = ["find"]

SHOWN_PAIRS = 20
SHOWN_CLUSTERS = 10
SHOWN_MEMBERS = 8
SHOWN_PASSAGES = 20
PLANNING = ("threshold", "recall", "bands", "rows", "cascade", "estimate", "seed")
"""Options of similar pairs found by a plan alone."""
UNSKETCHED = (*PLANNING, "clusters", "metric", "weights", "simhash")
"""Options of similar pairs alone."""


def find(
    context: typer.Context,
    source: options.Source,
    threshold: options.Threshold = 0.8,
    recall: options.Recall = 0.99,
    shingle: options.Shingle = "auto",
    multiset: options.Multiset = False,
    bands: options.Bands = None,
    rows: options.Rows = None,
    cascade: options.Cascade = None,
    estimate: options.Estimate = False,
    metric: options.Metric = options.MetricName.jaccard,
    weights: options.Weights = None,
    simhash: Annotated[
        int | None,
        typer.Option(
            "--simhash",
            metavar="BITS",
            help="Report instead every pair whose 64-bit fingerprints differ in at most so many.",
        ),
    ] = None,
    containment: Annotated[
        float | None,
        typer.Option(
            "--containment",
            metavar="SHARE",
            help="Report instead which documents are inside others to this share, exactly.",
        ),
    ] = None,
    boilerplate: Annotated[
        bool,
        typer.Option(
            "--boilerplate",
            help=f"List instead the {SHOWN_PASSAGES} passages shared by the most documents.",
        ),
    ] = False,
    ignore: options.Ignore = None,
    max_df: options.MaxDf = None,
    normalise: options.Normalise = "default",
    text: options.Text = None,
    vector: options.Vector = None,
    id_: options.Id = None,
    skip_bad: options.SkipBad = False,
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
    work: options.WorkFolder = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Find similar pairs and clusters.

    A person sees the plan, the most similar pairs, the clusters and a summary; --format jsonl
    streams every pair. Each pair was compared exactly and carries that score.

    Example: lookalike find essays/ --threshold 0.7
    """
    from lookalike.api import Columns
    from lookalike.base.errors import SettingsError
    from lookalike.cli import screen, working
    from lookalike.cli.shared import show_shared
    from lookalike.read import read_text
    from lookalike.settings import Settings
    from lookalike.write.files import check_apart, check_targets, format_of

    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        estimate=estimate,
        metric=metric.value,
        weights=weights.value if weights else None,
        simhash=simhash,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=None if ignore is None else read_text(ignore),
        containment=containment,
    )
    if boilerplate and containment is not None:
        raise SettingsError("--boilerplate and --containment exclude each other: give one")
    if containment is not None:
        working.refuse_given(context, UNSKETCHED, "with --containment, which is exact")
    if simhash is not None:
        working.refuse_given(context, (*PLANNING, "metric"), "with --simhash")
    if boilerplate:
        unused = (*UNSKETCHED, "shingle", "multiset", "ignore", "max_df")
        working.refuse_given(context, unused, "with --boilerplate")
    kind = kind_of(format_, out)
    if clusters:
        format_of(clusters)
    check_targets([path for path in (out, clusters) if path], source)
    if work is not None:
        check_apart(work, source)
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
        )
        with working.given_up_if_hopeless(job, work):
            if boilerplate:
                passages, summary, ground = job.most_shared(SHOWN_PASSAGES)
            elif containment is not None:
                contained = job.contain()
            else:
                result = job.find()
    if boilerplate:
        show_shared(passages, summary, len(ground.groups), ground.empty(), kind, out, console)
    elif containment is not None:
        _tell_contained(contained, kind, out, console)
    else:
        _tell(result, kind, out, clusters, console)
    if work is None:
        job.work.remove()


def _tell(
    result: FindResult, kind: str, out: Path | None, clusters: Path | None, console: Console
) -> None:
    from lookalike.base.wording import count
    from lookalike.cli import screen
    from lookalike.cli.summary import compared_told, say_warnings, summarise
    from lookalike.write.files import format_of

    if result.summary.documents:
        screen.show_plan(console, result.plan)
    say_warnings(console, result.summary.warnings)
    if clusters is not None:
        write_out(iter([result.clusters]), format_of(clusters), clusters)
    if kind == "table":
        _show(result, screen.results())
    else:
        write_out(result.pair_blocks(), kind, out)
    say_warnings(console, result.doubts)
    summary = result.summary
    distinct = len(result.ground.groups)
    facts = [
        compared_told(summary, distinct),
        f"Found      {count(result.pair_count, 'similar pair')}",
        f"Clusters   {_clusters_told(result)}",
    ]
    summarise(console, summary, facts, result.empty)


def _clusters_told(result: FindResult) -> str:
    from lookalike.cli.screen import number
    from lookalike.cli.summary import sizes_told

    members = result.clusters
    if not len(members):
        return "none"
    total = members["cluster"][-1].as_py()
    first = members.slice(0, 1).to_pylist()[0]
    return (
        f"{total:,} ({sizes_told(members)}); in the largest, of {first['size']:,}, the least alike "
        f"are {number(first['similarity'])}"
    )


def _show(result: FindResult, console: Console) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.screen import show_pairs

    total = result.pair_count
    if not result.summary.documents:
        console.print("There are no documents to compare.")
        return
    if not total:
        console.print(_none_told(result))
        return
    title = f"{count(total, 'similar pair')} by {result.plan.compared}"
    if total > SHOWN_PAIRS:
        title += f", the {SHOWN_PAIRS} most similar; --format jsonl writes all"
    console.print(f"{title}\n")
    also = "distance" if result.settings.simhash is not None else None
    show_pairs(console, result.top(SHOWN_PAIRS).to_pylist(), "similarity", ("a", "b"), also=also)
    console.print()
    _show_clusters(result, console)


def _none_told(result: FindResult) -> str:
    distance = result.settings.simhash
    if distance is not None:
        return f"No two fingerprints differ in {distance} bits or fewer."
    return f"No two documents are {result.settings.threshold:g} alike or more."


def _show_clusters(result: FindResult, console: Console) -> None:
    from rich.text import Text

    from lookalike.base.wording import count, visible
    from lookalike.cli.screen import number, simple_table

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
        least = ("~" if result.settings.by_sketches else "") + number(first["similarity"])
        table.add_row(str(first["cluster"]), f"{size:,}", least, Text("\n".join(names)))
        at += size
    console.print(f"{title}\n")
    console.print(table)
    console.print()


def _tell_contained(
    result: ContainmentResult, kind: str, out: Path | None, console: Console
) -> None:
    from lookalike.base.wording import count
    from lookalike.cli import screen
    from lookalike.cli.screen import show_pairs
    from lookalike.cli.summary import say_warnings, summarise

    share = result.settings.containment
    say_warnings(console, result.summary.warnings)
    if kind == "table":
        shown = screen.results()
        if not result.pair_count:
            shown.print(f"No document is to {share:g} inside another.")
        else:
            title = f"{count(result.pair_count, 'pair')} by {result.settings.shingle}"
            if result.pair_count > SHOWN_PAIRS:
                title += f", the {SHOWN_PAIRS} most contained; --format jsonl writes all"
            shown.print(f"{title}\n")
            pairs = result.top(SHOWN_PAIRS).to_pylist()
            titles = ("inside", "outside")
            show_pairs(shown, pairs, "containment", ("a", "b"), titles, also="similarity")
            shown.print()
    else:
        write_out(result.pair_blocks(), kind, out)
    facts = [f"Found      {count(result.pair_count, 'pair')} of which one is inside the other"]
    summarise(console, result.summary, facts, result.empty)
