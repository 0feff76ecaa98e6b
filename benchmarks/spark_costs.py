"""What a job on Spark costs a document, from Spark's own log: python -m benchmarks.spark_costs.

Each job runs on files of two sizes. What a document costs is the difference of both, divided by
the documents between them, so that what a job costs whatever its size does not count.
"""

import argparse
import json
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import corpus, table
from benchmarks.contestants.spark.session import session
from benchmarks.job import Clock

SHINGLE = "chars:9"
FILE = table.RESULTS / "spark-costs.json"


@dataclass
class Costs:
    """What one job took, of all tasks together."""

    documents: int
    seconds: float
    """By the clock."""
    slot_seconds: float = 0.0
    """Of all slots, with the Python processes that work for them."""
    shuffled: int = 0
    """Bytes written for a shuffle, compressed."""
    spilled: int = 0
    """Bytes written to disk since memory was short."""
    read: int = 0
    """Bytes read from files."""
    largest_task: int = 0
    """The most memory that Spark itself took for a task."""
    tasks: int = 0

    def a_document_beyond(self, other: "Costs") -> dict[str, float]:
        """Give what each document costs that this job had more than another."""
        more = self.documents - other.documents
        names = ("seconds", "slot_seconds", "shuffled", "spilled", "read")
        return {name: (getattr(self, name) - getattr(other, name)) / more for name in names}


def main() -> None:
    """Run both jobs on both sizes, print what a document costs, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_costs", description=__doc__)
    parser.add_argument("--documents", type=int, nargs=2, default=(100_000, 400_000))
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, default=FILE)
    asked = parser.parse_args()
    kept: dict[str, Any] = {"machine": table.machine(), "slots": asked.slots, "shingle": SHINGLE}
    for job in ("find", "dedup"):
        costs = [measured(job, count, asked.slots, asked.seed) for count in asked.documents]
        each = costs[1].a_document_beyond(costs[0])
        kept[job] = {"runs": [asdict(one) for one in costs], "a document": each}
        print(f"{job}: " + ", ".join(f"{name} {value:.6g}" for name, value in each.items()))
    asked.json.write_text(json.dumps(kept, indent=1) + "\n")


def measured(job: str, count: int, slots: int, seed: int) -> Costs:
    """Run one job on a file of so many documents, and read Spark's log of it."""
    path = corpus.made(count, seed).path
    folder = Path(tempfile.mkdtemp(prefix="lookalike-bench-events-"))
    try:
        clock = Clock()
        log = {"spark_eventLog_enabled": "true", "spark_eventLog_dir": folder.as_uri()}
        log |= {"spark_eventLog_rolling_enabled": "false", "spark_eventLog_compress": "false"}
        with session(slots, clock, **log) as spark:
            import lookalike.spark

            documents = spark.read.parquet(str(path))
            # Workers compile, or load what was compiled, before anything counts.
            lookalike.spark.find(documents.limit(1000), id="id", shingle=SHINGLE).pairs.count()
            began = time.time()
            if job == "find":
                found = lookalike.spark.find(documents, id="id", shingle=SHINGLE)
                found.pairs.write.format("noop").mode("overwrite").save()
                found.clusters.write.format("noop").mode("overwrite").save()
            else:
                result = lookalike.spark.dedup(documents, id="id", shingle=SHINGLE)
                result.kept.write.format("noop").mode("overwrite").save()
                result.removed.write.format("noop").mode("overwrite").save()
            seconds = time.time() - began
        return logged(folder, Costs(count, seconds), began)
    finally:
        shutil.rmtree(folder)


def logged(folder: Path, costs: Costs, began: float) -> Costs:
    """Add up the tasks that Spark's log in a folder has from a moment on."""
    for file in folder.rglob("*"):
        if not file.is_file():
            continue
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event.get("Event") != "SparkListenerTaskEnd" or "Task Metrics" not in event:
                continue
            if event["Task Info"]["Launch Time"] < began * 1000:
                continue
            metrics = event["Task Metrics"]
            costs.tasks += 1
            costs.slot_seconds += metrics["Executor Run Time"] / 1000
            costs.shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            costs.spilled += metrics["Disk Bytes Spilled"]
            costs.read += metrics["Input Metrics"]["Bytes Read"]
            costs.largest_task = max(costs.largest_task, metrics["Peak Execution Memory"])
    return costs


if __name__ == "__main__":
    main()
