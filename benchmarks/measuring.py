"""One contestant in a process of its own, so that its memory and its threads are its own.

The process is this module: python -m benchmarks.measuring FOLDER, where the parent left the data
and the job, and finds the answer.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from benchmarks.contestants import Contestant, entries
from benchmarks.job import Answer, Clock, Job

RUNS, ENOUGH = 3, 10.0
"""Each runs up to three times, while that takes less than ten seconds; the fastest counts."""


@dataclass
class Measured:
    """What a contestant did, and what it took."""

    answer: Answer | None
    prints: npt.NDArray[np.uint64] | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    peak: int = 0
    """The most memory that it held, in bytes, with the data and its libraries."""
    problem: str = ""


def store(folder: Path, data: Any) -> None:
    """Leave the data for the contestants."""
    if isinstance(data, np.ndarray):
        np.save(folder / "vectors.npy", data)
    else:
        parquet.write_table(pa.table({"text": data}), folder / "texts.parquet")


def measure(folder: Path, benchmark: str, name: str, job: Job, limit: float) -> Measured:
    """Run one contestant on the data in a folder."""
    order = {"benchmark": benchmark, "name": name, "limit": limit, "job": asdict(job)}
    (folder / "order.json").write_text(json.dumps(order))
    pools = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")
    threads = {f"{pool}_NUM_THREADS": str(job.threads) for pool in pools}
    patience = 2 * limit + 300  # of those that do not watch the clock, and for what is not counted
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.measuring", str(folder)],
            env={**os.environ, **threads},
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Measured(None, problem=f"not done after {patience:,.0f} s")
    if done.returncode:
        return Measured(None, problem=f"ended with status {done.returncode}")
    told = json.loads((folder / "told.json").read_text())
    if told["problem"]:
        return Measured(None, problem=told["problem"])
    with np.load(folder / "answer.npz") as arrays:
        answer = Answer(arrays["first"], arrays["second"], **told["answer"])
        prints = arrays.get("prints")
    return Measured(answer, prints, told["seconds"], told["cpu"], told["stages"], told["peak"])


def main(folder: Path) -> None:
    """Do what the parent left."""
    order = json.loads((folder / "order.json").read_text())
    run = entries(order["benchmark"])[order["name"]].run
    job = Job(**order["job"])
    told: dict[str, Any] = {"problem": ""}
    try:
        data = _load(folder)
        run(data[:1000], job, Clock())  # not counted: Lookalike compiles
        _forget_peak()
        answer, clock = _fastest(run, data, job, order["limit"], told)
        answer.each_once(len(data))
        arrays: dict[str, Any] = {"first": answer.first, "second": answer.second}
        if answer.prints is not None:
            arrays["prints"] = answer.prints()
        np.savez(folder / "answer.npz", **arrays)
        told["stages"] = clock.stages
        told["answer"] = {name: getattr(answer, name) for name in _PLAIN}
    except Exception as error:
        told["problem"] = f"{type(error).__name__}: {error}"
    (folder / "told.json").write_text(json.dumps(told))


_PLAIN = ("setting", "done", "fixed", "squared", "block")


def _fastest(
    run: Contestant, data: Any, job: Job, limit: float, told: dict[str, Any]
) -> tuple[Answer, Clock]:
    runs: list[tuple[float, float, Answer, Clock]] = []
    while len(runs) < RUNS and sum(one[0] for one in runs) < ENOUGH:
        clock = Clock(limit)
        answer = run(data, job, clock)
        runs.append((clock.spent(), clock.spent_cpu(), answer, clock))
        # Of the first run alone: later ones stand beside what is kept of it.
        told.setdefault("peak", _peak())
    told["seconds"], told["cpu"], answer, clock = min(runs, key=itemgetter(0))
    return answer, clock


def _load(folder: Path) -> Any:
    vectors = folder / "vectors.npy"
    if vectors.exists():
        return np.load(vectors)
    return parquet.read_table(folder / "texts.parquet")["text"].to_pylist()


def _peak() -> int:
    # The maximum that `resource` knows is, on Linux, that of the parent where that had more.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _forget_peak() -> None:
    """Begin to measure memory here, where the system can; else with what compiling took."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
