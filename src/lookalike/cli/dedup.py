"""`lookalike dedup`: the corpus without near-duplicates, and what was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import AS_JSON, QUIET, SOURCE, flag
from lookalike.cli.find import EXPLAIN, PLANNING, named
from lookalike.cli.on_spark import Shown, asks_for_spark, dedup_on_spark
from lookalike.cli.options import command
from lookalike.cli.values import OneOf
from lookalike.cli.working import FAIL_ON
from lookalike.settings import FORMATS, DedupCommandOptions, DedupOptions

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lookalike.results import DedupResult

__all__ = ["dedup"]

SHOWN_REMOVED = 20


DRY_RUN = flag(["--dry-run"], "Write nothing; print what would go.")
FORMAT = click.Option(
    ["--format", "format_"],
    type=OneOf(FORMATS),
    metavar=f"<{'|'.join(FORMATS)}>",
    help="Of what --dry-run prints; by default a short table.",
)


@command(DedupCommandOptions, SOURCE, DRY_RUN, FORMAT, EXPLAIN, AS_JSON, FAIL_ON, QUIET)
def dedup(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    dry_run: bool,
    format_: str | None,
    explain: bool,
    as_json: bool,
    fail_on: str | None,
    quiet: bool,
) -> None:
    """Write the corpus without near-duplicates, and what was removed.

    DIR gets the kept documents in the input's own format (kept/), with the files of a folder that
    cannot be read, every removed document with the
    kept one it matched and their similarity (removed.jsonl), the clusters (clusters.parquet) and
    a record of the run (run.json). Input is never changed, and DIR appears as a whole or not at
    all; a job that was stopped goes on when the same command is run again.

    With --annotate DIR gets all documents, with the columns cluster, cluster_size, kept and
    similarity added to the records of their files (annotated/), or beside the names of other files
    (annotated.jsonl), for those who decide later.

    REF may be an index, as pages.lookalike, and with --index INDEX what is kept is added to one, so
    that each day's documents are cleaned against those of all days before. Documents are then
    compared as the index compares them.

    With --rule contained a document goes only if a kept one has all its shingles, or the share
    --containment of them: then nothing is removed that no kept document has.

    With --engine spark the same job runs on a cluster, for tables that one machine cannot hold, and
    DIR gets folders of part files: kept/ in the input's format, removed/ and clusters/.

    Example: lookalike dedup corpus.jsonl -o clean --keep longest
    """
    import lookalike
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, read_by_another, show_facts, write_out

    out = options["out"]
    _check_output(options, format_, dry_run=dry_run)
    working.limit_of(fail_on)
    if asks_for_spark(options):
        shown = screen.status(quiet=quiet)
        dedup_on_spark(source, options, Shown(shown, explain, as_json, fail_on))
        return
    if options["rule"] == "contained":
        working.refuse_given(PLANNING, "with --rule contained")
    kind = kind_of({"format": format_, "out": out}, as_json=as_json)
    options["against"] = lookalike.paths(*options["against"]) if options["against"] else None
    if dry_run and options["index"] is not None:
        # What would go is told by the index as it is; nothing is added.
        options["against"] = [*(options["against"] or ()), *lookalike.paths(options["index"])]
        options["index"] = options["metadata"] = None
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        told = working.as_given(given, DedupOptions)
        result, failure = working.found_by(
            lambda: lookalike.dedup(lookalike.paths(*source), **told)
        )
    with result:
        counts = result.counts
        with read_by_another():
            if as_json:
                show_facts(
                    result.record(), removed=result.removed.slice(0, SHOWN_REMOVED).to_pylist()
                )
            elif kind == "table":
                _show(result, counts["removed"])
            elif kind is not None:
                write_out(iter([result.removed]), kind, result.summary.seconds)
        if not result.was_there:
            _summarise(result, out, console, explain=explain)
        working.end_if_failed(failure)
        working.end_if(fail_on, counts["removed"], counts["removed"], counts["read"])


def _check_output(options: dict[str, Any], format_: str | None, *, dry_run: bool) -> None:
    """Refuse what is asked of the output and cannot be."""
    from lookalike.base.errors import SettingsError

    out = options["out"]
    if dry_run and options["list_only"]:
        raise SettingsError("--list is for -o DIR: --dry-run prints what would go")
    if options["annotate"] and dry_run:
        raise SettingsError("--annotate is for -o DIR: --dry-run writes nothing")
    if options["drop_unread"] and (dry_run or options["list_only"]):
        raise SettingsError("--drop-unread is for -o DIR without --list: no files are copied")
    if out is not None and dry_run:
        raise SettingsError("-o DIR and --dry-run cannot be used together: give one")
    if out is None and not dry_run:
        raise SettingsError("name a folder for the results with -o DIR, or use --dry-run")
    if format_ is not None and not dry_run:
        raise SettingsError("--format is for --dry-run: DIR gets files of its own formats")


def _summarise(result: DedupResult, out: Path | None, console: Console, *, explain: bool) -> None:
    from lookalike.base.wording import similarity_text, visible
    from lookalike.cli import screen
    from lookalike.cli.nearest import nearest_lines
    from lookalike.cli.summary import (
        compared_line,
        plan_lines,
        say_warnings,
        score_lines,
        sizes_text,
        summarise,
    )

    say_warnings(console, result.summary.warnings)
    by_similarity = result.plan is not None
    facts = [compared_line(result.summary)] if by_similarity else []
    facts.append(_kept_line(result.counts, out))
    if result.run.indexes:
        names = " or ".join(map(visible, result.run.indexes))
        gone = result.counts["removed_for_index"]
        facts.append(f"Index      {gone:,} removed for a document in {names}")
    if len(result.clusters):
        first = result.clusters.slice(0, 1).to_pylist()[0]
        size = first["size"]
        least = min(result.clusters[result.score].slice(0, size).to_pylist())
        like = "similar to" if by_similarity else "inside"
        total = result.clusters["cluster"][-1].as_py()
        facts.append(
            f"Clusters   {total:,} ({sizes_text(result.clusters)}); the largest has {size:,} "
            f"documents, all at least {similarity_text(least)} {like} the kept one"
        )
    if by_similarity:
        facts += nearest_lines(result, found=result.counts["removed"])
    if result.plan is not None:
        facts += plan_lines(result.plan, result.summary)
    else:
        facts += score_lines(result.summary)
    summarise(console, result.summary, facts, result.empty)
    if explain:
        screen.show_curve(console, result.plan)


def _kept_line(counts: dict[str, int], out: Path | None) -> str:
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
    if removed > SHOWN_REMOVED:
        title += f", the first {SHOWN_REMOVED}; --format jsonl prints all"
    console.print(f"{title}\n")
    rows = result.removed.slice(0, SHOWN_REMOVED).to_pylist()
    pairs = [row | {"kept": named(row["kept"], row["kept_in"])} for row in rows]
    titles = "would go", "would stay"
    scores = screen.scores_of(pairs, result.score)
    screen.show_pairs(console, pairs, ("id", "kept"), result.score, scores, titles)
    console.print()
