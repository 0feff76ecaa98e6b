"""`lookalike find`: similar pairs and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET, SOURCE, flag
from lookalike.cli.on_spark import Shown, asks_for_spark, find_on_spark
from lookalike.cli.options import command
from lookalike.cli.working import FAIL_ON
from lookalike.settings import FindCommandOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from lookalike.results import FindResult

__all__ = ["find"]

SUMMARISED_PAIRS = 3
SHOWN_PAIRS = 20
SHOWN_CLUSTERS = 10
SHOWN_MEMBERS = 8
PLANNING = ("threshold", "recall", "bands", "rows", "cascade", "estimate", "seed", "metric")
"""Options that fingerprints, and a search for what is contained, have no use for."""

EXPLAIN = flag(["--explain"], "Show the curve of the plan, and why this shingle.")


@command(FindCommandOptions, SOURCE, EXPLAIN, AS_JSON, FAIL_ON, QUIET)
def find(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    explain: bool,
    as_json: bool,
    fail_on: str | None,
    quiet: bool,
) -> None:
    """Find similar pairs and clusters.

    A person sees the most similar pairs, the clusters and a summary; --format jsonl streams every
    pair. Each pair was compared exactly and carries that score.

    With --engine spark the same job runs on a cluster, for tables that one machine cannot hold; DIR
    of -o gets the pairs, the clusters and a record of the run.

    Example: lookalike find essays/ --threshold 0.7
    """
    import lookalike
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, read_by_another, show_facts, write_out

    working.limit_of(fail_on)
    if asks_for_spark(options):
        shown = screen.status(quiet=quiet)
        find_on_spark(source, options, Shown(shown, explain, as_json, fail_on))
        return
    if options["simhash"] is not None:
        working.refuse_given(PLANNING, "with --simhash")
    kind = kind_of(options, as_json=as_json)
    options["against"] = lookalike.paths(*options["against"]) if options["against"] else None
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        result, failure = working.found_by(
            lambda: lookalike.find(lookalike.paths(*source), **given)
        )
    with result:
        with read_by_another():
            if as_json:
                top, clusters = result.top(SHOWN_PAIRS), result.clusters.slice(0, SHOWN_PAIRS)
                show_facts(result.record(), pairs=top.to_pylist(), clusters=clusters.to_pylist())
            elif kind == "table":
                _show(result, source, screen.results())
            elif kind is not None:
                write_out(result.pair_blocks(), kind, result.summary.seconds)
        if not result.was_there:
            _summarise(result, console, options["out"], explain=explain, shown=kind == "table")
        working.end_if_failed(failure)
        # Of two corpora, the share is that of the source.
        documents = result.summary.documents - result.summary.references
        working.end_if(fail_on, result.pair_count, _members(result), documents)


def named(name: Any, corpus: str | None) -> Any:
    """Say of a document that is not of the source where it is: its id may appear in both."""
    return f"{name} ({corpus})" if corpus in ("reference", "index") else name


def _members(result: FindResult) -> int:
    """Count the documents of the source that are in a cluster."""
    members = result.clusters
    if "corpus" not in members.column_names:
        return len(members)
    return sum(one == "source" for one in members["corpus"].to_pylist())


def _summarise(
    result: FindResult, console: Console, out: Path | None, *, explain: bool, shown: bool
) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.nearest import nearest_lines
    from lookalike.cli.summary import compared_line, plan_lines, say_warnings, summarise

    found = result.pair_count
    nearest: list[str] = []
    # Where the table says that there is nothing, it says this too.
    if found or not shown:
        nearest = nearest_lines(result, found=found)
    say_warnings(console, (*result.summary.warnings, *result.doubts))
    facts = [
        compared_line(result.summary),
        f"Found      {count(found, 'similar pair')}",
        *([] if shown or out is None else _most_similar_lines(result, out)),
        f"Clusters   {_clusters_text(result)}",
        *nearest,
        *plan_lines(result.plan, result.summary),
    ]
    summarise(console, result.summary, facts, result.empty, out)
    if explain:
        from lookalike.cli.screen import show_curve

        show_curve(console, result.plan)


def _most_similar_lines(result: FindResult, out: Path) -> list[str]:
    """Name the most similar pairs of a result that went to a file, where nobody sees them yet."""
    from lookalike.base.wording import similarity_text, visible

    lines = []
    for pair in result.top(SUMMARISED_PAIRS).to_pylist():
        estimated = "~" if pair["score"] == "estimated" else ""
        score = similarity_text(pair["similarity"], result.settings.threshold)
        lines.append(f"           {estimated}{score}  {visible(pair['a'])}  {visible(pair['b'])}")
    if result.pair_count > SUMMARISED_PAIRS:
        lines.append(f"           the others are in {out}")
    return lines


def _clusters_text(result: FindResult) -> str:
    from lookalike.base.wording import similarity_text
    from lookalike.cli.summary import sizes_text

    members = result.clusters
    if not len(members):
        return "none"
    first = members.slice(0, 1).to_pylist()[0]
    least = similarity_text(first["similarity"], result.settings.threshold)
    return (
        f"{result.cluster_count:,} ({sizes_text(members)}); the largest has {first['size']:,} "
        f"documents, its least similar pair {least}"
    )


def _show(result: FindResult, source: Sequence[str], console: Console) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.comparing import compare_hint
    from lookalike.cli.screen import scores_of, show_pairs
    from lookalike.cli.summary import wrapped

    total = result.pair_count
    if not result.summary.documents:
        console.print("There are no documents to compare.")
        return
    if not total:
        for line in _none_found_lines(result):
            console.print(wrapped(line, console.width), soft_wrap=True)
        return
    title = f"{count(total, 'similar pair')} by {result.plan.compared}"
    if total > SHOWN_PAIRS:
        title += f", the {SHOWN_PAIRS} most similar; --format jsonl writes all"
    console.print(f"{title}\n")
    also = "distance" if result.settings.simhash is not None else None
    titles = ("source", "reference") if result.summary.references else None
    pairs = result.top(SHOWN_PAIRS).to_pylist()
    show_pairs(console, pairs, ("a", "b"), "similarity", scores_of(pairs), titles, also=also)
    console.print()
    _show_clusters(result, console)
    hint = compare_hint(source, pairs[0]["a"], pairs[0]["b"], result, console.width)
    if hint:
        console.print(f"{hint}\n")


def _none_found_lines(result: FindResult) -> list[str]:
    from lookalike.base.wording import in_full
    from lookalike.cli.nearest import nearest_text, where_to_look

    distance = result.settings.simhash
    if distance is not None:
        none = f"No two fingerprints differ in {distance} bits or fewer."
    elif result.summary.references:
        least = in_full(result.settings.threshold)
        none = f"No document is at least {least} similar to one of the reference."
    else:
        none = f"No two documents are at least {in_full(result.settings.threshold)} similar."
    if result.summary.distinct <= 1:
        return [none]
    return [line for line in (none, nearest_text(result), where_to_look(result)) if line]


def _show_clusters(result: FindResult, console: Console) -> None:
    from rich.text import Text

    from lookalike.base.wording import count, similarity_text, visible
    from lookalike.cli.screen import simple_table

    members, total = result.clusters, result.cluster_count
    title = count(total, "cluster")
    if total > SHOWN_CLUSTERS:
        title += f", the {SHOWN_CLUSTERS} largest; --clusters FILE writes all"
    table = simple_table("cluster>", "size>", "least similar>", "members")
    at = 0
    for _ in range(min(total, SHOWN_CLUSTERS)):
        first = members.slice(at, 1).to_pylist()[0]
        size = first["size"]
        shown = members.slice(at, min(size, SHOWN_MEMBERS)).to_pylist()
        names = [visible(named(one["id"], one.get("corpus"))) for one in shown]
        if size > SHOWN_MEMBERS:
            names.append(f"and {size - SHOWN_MEMBERS:,} more")
        estimated = "~" if result.settings.by_sketches else ""
        least = estimated + similarity_text(first["similarity"], result.settings.threshold)
        table.add_row(str(first["cluster"]), f"{size:,}", least, Text("\n".join(names)))
        at += size
    console.print(f"{title}\n")
    console.print(table)
    console.print()
