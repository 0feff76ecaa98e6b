"""What `dedup` leaves in a folder: the kept documents as they were, and a record of the rest."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import time
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from lookalike import __version__
from lookalike.base.errors import OutputError, SourceError, UnreadableError
from lookalike.read import Corpus
from lookalike.write.files import PART, beside, json_text, write_atomically, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.job.job import Job
    from lookalike.results import DedupResult

__all__ = ["check_folder", "counts_of", "deliver"]

RUN = "run.json"
KEPT = "kept"
LISTED = 1 << 16
"""Ids that are listed at a time."""
BREAKS = re.compile("[\\\\\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Line breaks, of which shells know one and other readers more, and what they are escaped with."""
LIBRARIES = ("numba", "numpy", "pyarrow", "scipy")


def check_folder(folder: Path, job: Job, *, listed: bool) -> bool:
    """Refuse a folder that holds something else; tell whether it holds this job's result."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise OutputError(f"{folder} is a file: name a folder that is new or empty")
    if not any(folder.iterdir()):
        return False
    try:
        done = json.loads((folder / RUN).read_bytes()).get("job") == digest(job, listed=listed)
    except (OSError, ValueError, AttributeError):
        done = False
    if not done:
        raise OutputError(f"{folder} is not empty: name a folder that is new or empty")
    return True


def digest(job: Job, *, listed: bool) -> str:
    """Name a job: its sources, how they are read, its settings, what it keeps and writes."""
    plain = json.dumps([job.work.reading, job.settings.as_dict(), job.keep, listed])
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def deliver(job: Job, result: DedupResult, folder: Path, *, listed: bool) -> None:
    """Write everything beside the folder, then put it in its place as a whole.

    Of a job that is taken up again, files already written are not written again.
    """
    begin = time.perf_counter()
    folder = Path(os.path.realpath(folder))
    partial = beside(folder, "partial")
    known = job.work.stage("write")
    try:
        if known != {"folder": str(partial), "listed": listed}:
            if partial.exists():
                shutil.rmtree(partial)
            known.clear()
            known.update(folder=str(partial), listed=listed)
            job.work.checkpoint()
        partial.mkdir(exist_ok=True)
        if listed:
            _list_kept(result, partial)
        else:
            _copy_kept(job, result, partial / KEPT)
        write_atomically(
            partial / "removed.jsonl",
            lambda stream: write_table(result.removed, stream, "jsonl"),
        )
        write_atomically(
            partial / "clusters.parquet",
            lambda stream: write_table(result.clusters, stream, "parquet"),
        )
        job.seconds["write"] = time.perf_counter() - begin
        report = json_text(report_of(job, result, listed=listed), indent=2)
        write_atomically(partial / RUN, lambda stream: stream.write(f"{report}\n".encode()))
        for left in partial.rglob(f".*.lookalike-{PART}"):
            left.unlink()
        if hasattr(os, "sync"):
            # Once for all the small files, for which one by one would take long.
            os.sync()
        if folder.exists():
            folder.rmdir()
        partial.replace(folder)
    except UnreadableError:
        raise
    except SourceError:
        # Of other sources, what was copied of these is of no use.
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except OSError as error:
        where = error.filename or folder
        raise OutputError(
            f"{where} cannot be written: {error.strerror or error}; mend that and run the same "
            "command again to go on"
        ) from None


def _list_kept(result: DedupResult, partial: Path) -> None:
    """Write the kept ids, one a line."""

    def write(stream: IO[bytes]) -> None:
        for start in range(0, len(result.kept_rows), LISTED):
            names = result.ground.ids.take(result.kept_rows[start : start + LISTED]).to_pylist()
            stream.write("".join(f"{_on_one_line(name)}\n" for name in names).encode())

    write_atomically(partial / "kept.txt", write)


def _on_one_line(name: object) -> str:
    r"""Escape what ends a line to any reader, as `\n` or `\u2028`, and the backslash."""
    return BREAKS.sub(lambda found: json.dumps(found[0])[1:-1], str(name))


def _copy_kept(job: Job, result: DedupResult, target: Path) -> None:
    """Copy the kept records of each file, in its own format, to a file of its own."""
    corpus = job.sources[-1]
    if not isinstance(corpus, Corpus):
        raise OutputError("documents in memory are kept in memory: use the result's `kept`")
    target.mkdir(exist_ok=True)
    read = np.unique(job.collection.shards.read()[result.references :])
    # A file of which nothing could be read was passed over, as asked, and is so again.
    passed = set(range(len(corpus.shards))) - set(read.tolist()) if job.running.skip_bad else set()
    for shard, records in _by_shard(job, result, len(corpus.shards)):
        if shard in passed or (corpus.shards[shard].is_one_document and not len(records)):
            continue
        path = target / corpus.copied_name(shard)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = beside(path, PART)
            corpus.copy(shard, records, part)
            if not corpus.shards[shard].is_one_document:
                _sync(part)
            part.replace(path)
        job.running.progress("write", shard + 1, len(corpus.shards))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _by_shard(
    job: Job, result: DedupResult, shards: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    rows = result.kept_rows
    of_row = job.collection.shards.read()[rows]
    records = job.collection.records.read()[rows]
    ends = np.searchsorted(of_row, np.arange(shards), side="right")
    begin = 0
    for shard, end in enumerate(ends.tolist()):
        yield shard, records[begin:end]
        begin = end


def counts_of(result: DedupResult) -> dict[str, int]:
    """Count the documents: kept, removed and empty ones make up those that were read."""
    summary, references = result.summary, result.references
    empty = int(np.count_nonzero(result.ground.groups.of_document[references:] < 0))
    return {
        "read": summary.documents - references,
        "kept": len(result.kept_rows) - empty,
        "removed": len(result.removed_rows),
        "empty": empty,
        "identical": summary.identical,
        "reference": references,
        "candidates": summary.candidates,
        "rejected": summary.rejected,
        "bad": summary.bad_count,
    }


def report_of(job: Job, result: DedupResult, *, listed: bool) -> dict[str, Any]:
    """Give what a reader of the folder should know of the run."""
    plan, summary = result.plan, result.summary
    *against, sources = job.work.reading["sources"]
    return {
        "lookalike": __version__,
        "command": "dedup",
        "job": digest(job, listed=listed),
        "sources": sources,
        "against": against[0] if against else [],
        "keep": job.keep,
        "settings": result.settings.as_dict(),
        "fingerprint": result.settings.fingerprint(),
        "plan": {
            "sentence": plan.sentence(),
            "cascade": str(plan.cascade) if plan.cascade else None,
            "bands": plan.bands,
            "rows": plan.rows,
            "probability_at_threshold": plan.probability(plan.threshold),
            "shingle": plan.shingle,
            "shingle_reason": plan.shingle_reason,
        },
        "counts": counts_of(result) | {"skipped": dict(summary.skipped)},
        "bad": list(summary.bad),
        "notes": list(summary.notes),
        "warnings": list(summary.warnings),
        "seconds": {name: round(spent, 3) for name, spent in job.seconds.items()},
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
    }
