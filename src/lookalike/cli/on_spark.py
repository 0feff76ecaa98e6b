"""`find` and `dedup` with `--engine spark`."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from lookalike.cli import find_everything

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.spark.files import Done, Engine

__all__ = ["Shown", "asks_for_spark", "dedup_on_spark", "find_on_spark"]

OWN = ("engine", "master", "spark_conf")
HANDLED = {"out", "format", "annotate", "list_only", "delimiter", "no_header"}
"""Options that are no matter of the engine, and that work here too."""
ONE_MACHINE = "the engine on one machine does it"
TABLES = "Spark reads tables of records in UTF-8, as Parquet, JSONL and CSV"
REASONS = {
    "work": "Spark keeps what it made on its workers while the job runs",
    "memory": "memory is set by --spark-conf spark.executor.memory=8g",
    "threads": "cores are set by --master local[N], or --spark-conf spark.executor.cores=N",
    "clusters": "-o DIR gets the clusters as well",
    "skip_bad": "Spark ends a job at the first record that it cannot read",
    "drop_unread": "Spark ends a job at the first record that it cannot read",
    "include": "name files by a pattern, as 'corpus/*.parquet'",
    "exclude": "name files by a pattern, as 'corpus/*.parquet'",
    "all_files": "name files by a pattern, as 'corpus/*.parquet'",
}
REASONS |= dict.fromkeys(
    ("lines", "main_text", "markup", "encoding", "strict_encoding"), f"{TABLES}: {ONE_MACHINE}"
)


def asks_for_spark(options: dict[str, Any]) -> bool:
    """Tell whether Spark is asked for; where it is not, take its options away."""
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import setting

    if options["engine"] == "spark":
        find_everything()  # Spark runs functions of batches only where pandas is
        return True
    for name in OWN:
        given = options.pop(name)
        if name != "engine" and given is not None:
            raise SettingsError(
                f"{setting(name)} is for {setting('engine', 'spark')}: give that too, or leave it "
                "out"
            )
    return False


def find_on_spark(source: tuple[str, ...], options: dict[str, Any], shown: Shown) -> None:
    """Find similar pairs and clusters on Spark."""
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import count
    from lookalike.cli import screen
    from lookalike.settings import FindOptions, SparkFindOptions
    from lookalike.spark.files import find_files

    kind, out = options["format"], options["out"]
    if kind == "table" or (kind is not None and out is None):
        raise SettingsError("--format of a job on Spark is that of its folder: name one by -o DIR")
    asked = _asked(options, FindOptions, SparkFindOptions)
    done = find_files(
        source,
        asked,
        _engine(options, shown.console),
        out=None if out is None else str(out),
        kind=kind or "parquet",
        **_reading(options),
    )
    counts = done.record["counts"]
    if out is None and not shown.as_json:
        _show_pairs(done, screen.results())
    facts = [
        f"Found      {count(counts['pairs'], 'similar pair')}",
        f"Clusters   {counts['clusters']:,}, of {counts['clustered']:,} documents",
    ]
    more = {"pairs": done.pairs} if out is None else {}
    shown.end(done, facts, out, counts["pairs"], counts["clustered"], **more)


def dedup_on_spark(source: tuple[str, ...], options: dict[str, Any], shown: Shown) -> None:
    """Write the corpus without near-duplicates on Spark."""
    from lookalike.base.errors import SettingsError
    from lookalike.settings import DedupOptions, SparkDedupOptions
    from lookalike.spark.files import dedup_files

    out = options["out"]
    if out is None:
        raise SettingsError(
            "--dry-run is not for Spark: name a folder for the results with -o DIR, and use "
            "--annotate to decide later"
        )
    asked = _asked(options, DedupOptions, SparkDedupOptions)
    done = dedup_files(
        source,
        asked,
        _engine(options, shown.console),
        out=str(out),
        annotate=options["annotate"],
        list_only=options["list_only"],
        **_reading(options),
    )
    counts = done.record["counts"]
    empty = f" and {counts['empty']:,} empty" if counts["empty"] else ""
    facts = [
        f"Kept       {counts['kept']:,}{empty}, removed {counts['removed']:,}",
        f"Clusters   {counts['clusters']:,}",
    ]
    shown.end(done, facts, out, counts["removed"], counts["removed"])


@dataclass(frozen=True)
class Shown:
    """What a command tells of its result, and the status that it ends with."""

    console: Console
    explain: bool
    as_json: bool
    fail_on: str | None

    def end(
        self, done: Done, facts: list[str], out: Any, found: int, documents: int, **more: Any
    ) -> None:
        """Tell what was done, unless it was there before, and end by what was found."""
        from lookalike.cli import working
        from lookalike.cli.output import show_facts

        if self.as_json:
            show_facts(done.record, **more)
        if not done.was_there:
            _summarise(done, facts, out, self.console, explain=self.explain)
        working.end_if(self.fail_on, found, documents, done.record["counts"]["read"])


def _asked(options: dict[str, Any], declared: Any, on_spark: Any) -> dict[str, Any]:
    """Give the options of the engine that were given, after refusing what it has no use for."""
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import setting

    known = {one.name for one in fields(on_spark)}
    context = click.get_current_context()

    def is_given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name != "DEFAULT"

    for one in fields(declared):
        if one.name not in known | HANDLED and is_given(one.name):
            reason = REASONS.get(one.name, ONE_MACHINE)
            raise SettingsError(f"{setting(one.name)} is not for Spark: {reason}")
    return {name: options[name] for name in sorted(known & {*options}) if is_given(name)}


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    return {"delimiter": options["delimiter"], "no_header": options["no_header"]}


def _engine(options: dict[str, Any], console: Console) -> Engine:
    from lookalike.base.wording import on_command_line, visible
    from lookalike.cli import screen
    from lookalike.spark.files import Engine

    screen.say_if_stopped("stopped; nothing was written. Run the same command again")
    return Engine(
        master=options["master"],
        conf=options["spark_conf"],
        progress=_Stages(console),
        say=lambda line: console.print(visible(on_command_line(line)), soft_wrap=True),
    )


class _Stages:
    """A line for each stage when it begins, with the time that has passed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._last = ""

    def __call__(self, stage: str, done: int, _total: int) -> None:
        if done or stage == self._last:
            return
        from lookalike.base.progress import duration

        self._last = stage
        passed = duration(time.monotonic() - self._began)
        self._console.print(f"{passed:>12}  {stage}", soft_wrap=True)


def _show_pairs(done: Done, console: Console) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.screen import scores_of, show_pairs

    total, pairs = done.record["counts"]["pairs"], done.pairs
    if not total:
        console.print("No two documents are similar.")
        return
    more = f", the {len(pairs)} most similar; -o DIR writes all" if total > len(pairs) else ""
    console.print(f"{count(total, 'similar pair')}{more}\n")
    show_pairs(console, pairs, ("a", "b"), "similarity", scores_of(pairs), None)
    console.print()


def _summarise(done: Done, facts: list[str], out: Any, console: Console, *, explain: bool) -> None:
    from lookalike.base.wording import count, visible
    from lookalike.cli.screen import show_curve
    from lookalike.cli.summary import say_warnings, wrapped

    counts, seconds = done.record["counts"], done.record["seconds"]
    say_warnings(console, tuple(done.record["warnings"]))
    lines = [f"Read       {count(counts['read'], 'document')}"]
    if counts["empty"]:
        lines.append(f"Empty      {counts['empty']:,}, similar to nothing")
    if counts["identical"]:
        lines.append(f"Identical  {counts['identical']:,} to another, compared as one")
    lines.append(f"Compared   {count(counts['candidates'], 'candidate')}")
    lines += facts
    if done.plan is not None and counts["read"]:
        lines.append(f"Plan       {done.plan.sentence()}")
    if out is not None:
        lines.append(f"Written    to {visible(out)}")
    stages = ", ".join(f"{name} {spent:.1f}" for name, spent in seconds.items() if name != "total")
    lines.append(f"Seconds    {seconds['total']:.1f}: {stages}")
    for line in lines:
        console.print(wrapped(line, console.width, indent=11), soft_wrap=True)
    if explain and done.plan is not None:
        show_curve(console, done.plan)
