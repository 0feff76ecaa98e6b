"""Lookalike itself, the same call in every benchmark, and what reading alone takes."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import Entry
from benchmarks.job import Answer, Clock, Job


def asked(job: Job) -> dict[str, Any]:
    """Give what every job has, as Lookalike calls it."""
    return {"threshold": job.threshold, "threads": job.threads}


def found(source: Any, clock: Clock, **settings: Any) -> Answer:
    """Find the pairs of a source, as a user does."""
    from lookalike import find

    result = find(source, **settings)
    table = result.pairs
    clock.stages.update(result.summary.seconds)
    return Answer(np.asarray(table["a"]), np.asarray(table["b"]), setting=planned(result.plan))


def lookalike(path: Path, job: Job, clock: Clock) -> Answer:
    """Find the pairs and the clusters of a file, each pair compared exactly."""
    from lookalike import find

    unit = "words" if "words" in job.options else "chars"
    more = {"memory": job.options["memory"]} if job.options.get("memory") else {}
    shingle = f"{unit}:{job.options[unit]}"
    result = find(path, text="text", id="id", shingle=shingle, **asked(job), **more)
    clock.stages.update(result.summary.seconds)
    with clock.stage("pairs"):
        table = result.pairs
    with clock.stage("clusters"):
        _ = result.clusters
    return Answer(np.asarray(table["a"]), np.asarray(table["b"]), setting=planned(result.plan))


def pyarrow(path: Path, job: Job, clock: Clock) -> Answer:
    """Read the file, and do nothing with it."""
    import pyarrow as pa
    from pyarrow import json, parquet

    pa.set_cpu_count(job.threads)
    with clock.stage("read"):
        if path.suffix == ".jsonl":
            json.read_json(path, json.ReadOptions(use_threads=True, block_size=1 << 24))
        else:
            parquet.read_table(path)
    return Answer.of([], reads_only=True)


def planned(plan: Any) -> str:
    """Say how candidates were found."""
    if plan.origin == "exact":
        return "exact"
    if plan.origin == "blocks":
        return f"{plan.signature} tables"
    return f"{plan.bands} bands of {plan.rows} rows"


CONTESTANTS = {
    "pyarrow": Entry("pyarrow", "Reading alone, pyarrow", pyarrow),
    "lookalike": Entry("lookalike", "Lookalike", lookalike, note="every pair compared exactly"),
}
