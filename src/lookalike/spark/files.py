"""`find` and `dedup` of files on Spark: read, do the job, write the tables and the record."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lookalike import __version__
from lookalike.base.errors import OutputError
from lookalike.base.timing import timed
from lookalike.results.record import FORMAT, LIBRARIES
from lookalike.spark.places import Place, absolute, listed, usual_scheme
from lookalike.spark.preflight import check_workers
from lookalike.spark.session import conf_of, running_session
from lookalike.spark.tables import ORDER, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from lookalike.planning.plan import Plan
    from lookalike.spark.dedup_result import SparkDedupResult
    from lookalike.spark.find_result import SparkFindResult

__all__ = ["Done", "Engine", "dedup_files", "find_files"]

LIBRARIES_OF_SPARK = (*LIBRARIES, "pyspark")
WRITE = "write"
FIRST_PAIRS = 20


@dataclass(frozen=True)
class Engine:
    """Where a job runs, and who hears of it."""

    master: str | None = None
    conf: Sequence[str] | None = None
    progress: Callable[[str, int, int], None] | None = None
    say: Callable[[str], None] = lambda _line: None


@dataclass(frozen=True)
class Done:
    """What came of a job on files."""

    record: dict[str, Any]
    was_there: bool = False
    plan: Plan | None = None
    pairs: list[dict[str, Any]] = field(default_factory=list)
    """The most similar ones, where no folder was named for all."""


@dataclass
class _Run:
    """One job: its session, its sources, and what it took."""

    command: str
    session: SparkSession
    engine: Engine
    sources: Sequence[str]
    reading: Mapping[str, Any]
    options: Mapping[str, Any]
    place: Place | None
    seconds: dict[str, float]
    began: float

    def name(self, **asked: Any) -> str:
        """Name this very job: what is read, as it is now, and what is asked."""
        facts = {
            "command": self.command,
            "version": __version__,
            "sources": [absolute(one) for one in self.sources],
            "files": _files(self.session, self.sources),
            "reading": dict(self.reading),
            "options": {k: v for k, v in self.options.items() if v is not None} | asked,
        }
        text = json.dumps(facts, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def record(
        self, job: str, result: Any, counts: Mapping[str, int], **facts: Any
    ) -> dict[str, Any]:
        """Give what a reader of the result should know of the run."""
        stages = {**_seconds_of(result), **self.seconds}
        total = time.perf_counter() - self.began
        rest = max(total - sum(stages.values()), 0.0)
        seconds = {name: round(spent, 3) for name, spent in (stages | {"other": rest}).items()}
        settings = result.settings
        return {
            "lookalike": __version__,
            "format": FORMAT,
            "command": self.command,
            "engine": "spark",
            "job": job,
            "sources": [*self.sources],
            "reading": dict(self.reading),
            "recipe": result.recipe.fingerprint,
            **facts,
            "settings": settings.as_dict(),
            "fingerprint": settings.fingerprint(),
            "plan": result.plan.as_dict(),
            "counts": {**result.counts, **counts},
            "warnings": list(result.warnings),
            "seconds": seconds | {"total": round(total, 3)},
            "spark": {"version": self.session.version, "master": _master_of(self.session)},
            "versions": {"python": platform.python_version()}
            | {name: version(name) for name in LIBRARIES_OF_SPARK},
        }

    def save(self, what: str, write: Callable[[str], object]) -> None:
        """Write one of the tables of the result, which is when Spark makes it."""
        if self.place is not None:
            stage = f"{WRITE} {what}"
            if self.engine.progress is not None:
                self.engine.progress(stage, 0, 1)
            with timed(self.seconds, stage):
                write(f"{self.place.target}/{what}")


def find_files(
    sources: Sequence[str],
    options: Mapping[str, Any],
    engine: Engine,
    *,
    out: str | None,
    kind: str = "parquet",
    **reading: Any,
) -> Done:
    """Find similar pairs and clusters of files, and write both to a folder if one is named."""
    with _running("find", sources, options, engine, out, reading) as run:
        job = run.name(format=kind)
        there = _there(run, job)
        if there is not None:
            return Done(there, was_there=True)
        table = _opened(run)
        result: SparkFindResult = _api().find(table.frame, progress=engine.progress, **options)
        with _written(run.place):
            run.save("pairs", lambda to: _write_as(result.pairs, kind, to))
            run.save("clusters", lambda to: _write_as(result.clusters, kind, to))
            pairs = _rows(run, "pairs", result.pairs, kind)
            clusters = _rows(run, "clusters", result.clusters, kind)
            first = [] if run.place else _first(pairs)
            with timed(run.seconds, WRITE):
                counts = {
                    "pairs": pairs.count(),
                    "clustered": clusters.count(),
                    "clusters": clusters.select("cluster").distinct().count(),
                }
            record = run.record(job, result, counts, tables=kind if run.place else None)
            if run.place is not None:
                run.place.finish(record)
        return Done(record, plan=result.plan, pairs=first)


def dedup_files(
    sources: Sequence[str],
    options: Mapping[str, Any],
    engine: Engine,
    *,
    out: str,
    annotate: bool = False,
    list_only: bool = False,
    **reading: Any,
) -> Done:
    """Write the records of files that are kept, or all with what was decided of each."""
    with _running("dedup", sources, options, engine, out, reading) as run:
        job = run.name(annotate=annotate, list_only=list_only)
        there = _there(run, job)
        if there is not None:
            return Done(there, was_there=True)
        table = _opened(run)
        if annotate:
            table.check_names_free()
        result: SparkDedupResult = _api().dedup(
            table.frame, order=ORDER, progress=engine.progress, **options
        )
        with _written(run.place):
            if annotate:
                frame = result.annotated
                run.save("annotated", lambda to: table.write(frame, to, annotated=True))
            elif list_only:
                ids = result.kept.select(result.job.documents.source.id.alias("id"))
                run.save("kept", lambda to: _write_as(ids, "parquet", to))
            else:
                run.save("kept", lambda to: table.write(result.kept, to))
            run.save("removed", lambda to: _write_as(result.removed, "parquet", to))
            run.save("clusters", lambda to: _write_as(result.clusters, "parquet", to))
            clusters = _rows(run, "clusters", result.clusters, "parquet")
            with timed(run.seconds, WRITE):
                counts = {"clusters": clusters.select("cluster").distinct().count()}
            keep = options.get("keep", "first")
            record = run.record(job, result, counts, keep=keep, tables="parquet")
            if run.place is not None:
                run.place.finish(record)
        return Done(record, plan=result.plan)


@contextmanager
def _running(
    command: str,
    sources: Sequence[str],
    options: Mapping[str, Any],
    engine: Engine,
    out: str | None,
    reading: Mapping[str, Any],
) -> Iterator[_Run]:
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    conf = conf_of(engine.conf)
    if engine.progress is not None:
        engine.progress("start", 0, 1)
    with running_session(engine.master, conf) as session:
        seconds["start"] = time.perf_counter() - began
        remote = not hasattr(session, "_jvm")
        place = None
        if out is not None:
            usual = usual_scheme(session, sources)
            place = Place.of(session, out, usual, remote=remote)
            place.check_apart(sources)
        run = _Run(command, session, engine, sources, reading, options, place, seconds, began)
        yield run


def _opened(run: _Run) -> Table:
    """Look at the workers, and open what is read."""
    if run.engine.progress is not None:
        run.engine.progress("check", 0, 1)
    with timed(run.seconds, "check"):
        check_workers(run.session, run.engine.say)
    with timed(run.seconds, "open"):
        return Table.read(run.session, run.sources, **run.reading)


def _there(run: _Run, job: str) -> dict[str, Any] | None:
    """Give the record of this job where it is done, and say so; another is refused."""
    if run.place is None:
        return None
    record = run.place.done()
    if record is None:
        return None
    if record.get("job") != job:
        raise OutputError(
            f"{run.place.name} holds the result of another job: name a folder that is new or empty"
        )
    run.engine.say(f"{run.place.name} already holds the result of this job.")
    return record


@contextmanager
def _written(place: Place | None) -> Iterator[None]:
    """Let a folder appear as a whole, or leave nothing."""
    if place is None:
        yield
        return
    place.begin()
    try:
        yield
    except BaseException:
        place.give_up()
        raise


def _files(session: SparkSession, sources: Sequence[str]) -> list[Any]:
    """Sum up the files of sources, so that a change shows: how many, how long, and a sum."""
    from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

    files = listed(session, *[absolute(one) for one in sources])
    sums = F.xxhash64("path", "length", F.col("modificationTime").cast("string"))
    told = files.agg(F.count("*"), F.sum("length"), F.sum(sums.cast("decimal(38,0)")))
    return [str(one) for one in told.head() or ()]


def _rows(run: _Run, what: str, made: DataFrame, kind: str) -> DataFrame:
    """Give a table of the result: as it was written, which costs nothing to make again."""
    if run.place is None:
        return made
    reader = run.session.read.option("header", True).schema(made.schema)
    formats = {"jsonl": "json"}
    return reader.format(formats.get(kind, kind)).load(f"{run.place.target}/{what}")


def _first(pairs: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as F  # noqa: N812 # as above

    top = pairs.orderBy(F.desc("similarity"), "a", "b").limit(FIRST_PAIRS)
    found: list[dict[str, Any]] = top.toArrow().to_pylist()
    return found


def _write_as(frame: DataFrame, kind: str, target: str) -> None:
    if kind == "csv":
        frame.write.option("header", True).option("escape", '"').csv(target)
    elif kind == "jsonl":
        frame.write.json(target)
    else:
        frame.write.parquet(target)


def _seconds_of(result: Any) -> dict[str, float]:
    found: dict[str, float] = result.job.seconds
    return found


def _master_of(session: SparkSession) -> str | None:
    found: str | None = session.conf.get("spark.master", None)
    return found


def _api() -> Any:
    from lookalike.spark import api

    return api
