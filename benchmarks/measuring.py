"""One contestant in a process of its own, so that its memory and its threads are its own.

The process is this module: python -m benchmarks.measuring FOLDER, where the parent left the data
and the job, and finds the answer. In a peer's environment it imports NumPy, Arrow and the peer.
"""

import contextlib
import gc
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from benchmarks.contestants import Contestant, Entry, entries
from benchmarks.job import Answer, Clock, Job

ROOT = Path(__file__).parent.parent
RUNS, ENOUGH = 3, 30.0
"""Each runs up to three times, while that takes less than half a minute; the fastest counts.

A run is a process: one that has done the job before has its memory still, which no user's has.
"""
SPARE = 1 << 30
"""Memory that is left to the machine: a contestant that would take it is stopped."""


@dataclass
class Measured:
    """What a contestant did, and what it took."""

    answer: Answer | None
    prints: npt.NDArray[np.uint64] | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    peak: int = 0
    """The most memory that it and its children held, in bytes, with the data and libraries."""
    problem: str = ""
    documents: int = 0
    """How many it was given, where these were not all."""
    runs: list[tuple[int, float]] = field(default_factory=list)
    """The documents that it was given, and the seconds, of every run on more than before."""
    versions: dict[str, str] = field(default_factory=dict)

    def is_whole(self, files: Sequence[tuple[int, Path]]) -> bool:
        """Tell whether it came to the end of all data."""
        if self.problem or self.answer is None:
            return False
        count = files[-1][0] if files else self.documents
        return self.documents == count and self.answer.done in (None, count)

    def expected(self, count: int) -> float:
        """Give the seconds for more documents, as if each took no longer the more there are."""
        return expected(self.runs, count)


def expected(runs: Sequence[tuple[int, float]], count: int) -> float:
    """Draw a line through the last two runs, or from nothing through the only one."""
    (before, began), (last, seconds) = [(0, 0.0), *runs][-2:]
    each = max((seconds - began) / (last - before), 0.0)
    return seconds + each * (count - last)


def foreseen(runs: Sequence[tuple[int, float]], count: int) -> float:
    """Give the seconds for more documents if they grow as between the last two runs, or evenly."""
    line = expected(runs, count)
    if len(runs) == 1:
        return line
    (before, began), (last, seconds) = runs[-2:]
    growth = math.log(max(seconds / began, 1.0)) / math.log(last / before)
    return max(line, seconds * math.pow(count / last, growth))


def store(folder: Path, data: Any) -> None:
    """Leave the data for the contestants."""
    if isinstance(data, np.ndarray):
        np.save(folder / "vectors.npy", data)
    else:
        parquet.write_table(pa.table({"text": data}), folder / "texts.parquet")


def measure(
    folder: Path,
    benchmark: str,
    name: str,
    job: Job,
    limit: float,
    *,
    files: Sequence[tuple[int, Path]] = (),
    few: Path | None = None,
    python: Path | str = sys.executable,
) -> Measured:
    """Run one contestant on the data in a folder, or on ever more documents, each in a file.

    One that came to all of them soon runs again, and the fastest run counts. Before all, a run on
    a `few` documents is not counted; by default these are the first file.
    """
    few = few or (files[0][1] if files else None)

    def run(files: Sequence[tuple[int, Path]]) -> Measured:
        return _measured_once(folder, benchmark, name, job, limit, few, files, python)

    found = run(files)
    spent, runs = found.seconds, 1
    while found.is_whole(files) and runs < RUNS and spent < ENOUGH:
        again = run(files[-1:])
        if not again.is_whole(files):
            break
        spent, runs = spent + again.seconds, runs + 1
        if again.seconds < found.seconds:
            found = replace(again, runs=[*found.runs[:-1], *again.runs])
    return found


def _measured_once(
    folder: Path,
    benchmark: str,
    name: str,
    job: Job,
    limit: float,
    few: Path | None,
    files: Sequence[tuple[int, Path]],
    python: Path | str,
) -> Measured:
    order = {
        "benchmark": benchmark,
        "name": name,
        "limit": limit,
        "job": asdict(job),
        "few": str(few),
        "files": [[count, str(path)] for count, path in files],
    }
    (folder / "answer.npz").unlink(missing_ok=True)
    if is_own(entries(benchmark)[name]):
        patience = math.inf
    elif benchmark == "spark":
        patience = 2 * limit
    else:
        # Of those that do not watch the clock, and for what is not counted.
        patience = 2 * limit + 300
    told, problem, peaks = carried_out(
        folder, "benchmarks.measuring", order, python=python, threads=job.threads, patience=patience
    )
    if "answer" not in told:
        return Measured(None, problem=problem or "gave no answer")
    if problem:
        problem = f"on more than {told['documents']:,}: {problem}"
    with np.load(folder / "answer.npz") as arrays:
        answer = Answer(arrays["first"], arrays["second"], **told["answer"])
        prints = arrays.get("prints")
    return Measured(
        answer,
        prints,
        told["seconds"],
        told["cpu"],
        told["stages"],
        max(told["peak"], peaks.get(str(told["documents"]), 0)),
        problem,
        told["documents"],
        [(count, seconds) for count, seconds in told["runs"]],
        told["versions"],
    )


def is_own(entry: Entry) -> bool:
    """Tell whether it is Lookalike itself, which does the whole job whatever the limit."""
    return entry.distribution == "lookalike"


def carried_out(
    folder: Path,
    module: str,
    order: dict[str, Any],
    *,
    python: Path | str,
    threads: int,
    patience: float,
) -> tuple[dict[str, Any], str, dict[str, int]]:
    """Have a module do what is ordered, in a process of its own.

    Gives what it told, what went wrong, and the most memory that it and its children had, by what
    it said to be running.
    """
    for left in ("told.json", "running"):
        (folder / left).unlink(missing_ok=True)
    (folder / "order.json").write_text(json.dumps(order))
    pools = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")
    settings = {f"{pool}_NUM_THREADS": str(threads) for pool in pools}
    # The Lookalike that is measured is the one beside this file, whichever is installed.
    found_in = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    settings |= {"POLARS_MAX_THREADS": str(threads), "PYTHONPATH": found_in}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(python), "-m", module, str(folder)],
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            problem, peaks = _watched(process, folder / "running", patience)
        finally:
            _end(process)
    told = _told(folder)
    if not problem and process.returncode:
        problem = f"ended with status {process.returncode}: {_last_line(folder / 'log')}"
    return told, problem or told.get("problem", ""), peaks


def main(folder: Path) -> None:
    """Do what the parent left."""
    order = json.loads((folder / "order.json").read_text())
    entry = entries(order["benchmark"])[order["name"]]
    job = Job(**order["job"])
    told: dict[str, Any] = {}
    limit = math.inf if is_own(entry) else order["limit"]
    try:
        if order["files"]:
            files = [(count, Path(path)) for count, path in order["files"]]
            few = Path(order["few"])
        else:
            data = _load(folder)
            files, few = [(len(data), data)], data[:1000]
        began = time.monotonic()
        entry.run(few, job, Clock(limit))  # not counted: Lookalike compiles
        if order["benchmark"] == "spark":
            # Sizes are many there: all runs together have to end in time.
            limit -= time.monotonic() - began
        _by_sizes(folder, entry, files, job, limit, together=order["benchmark"] == "spark")
        return
    except Exception as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        told = {**_told(folder), "problem": lines[0]}
    tell(folder, told)


def _by_sizes(
    folder: Path,
    entry: Entry,
    files: list[tuple[int, Any]],
    job: Job,
    limit: float,
    *,
    together: bool,
) -> None:
    """Run on more and more documents, as long as there is time for the next, and tell of each.

    The time is that of a run, or of all `together`. Who watches the clock by himself is given all
    at once, after the first few.
    """
    began = time.monotonic()
    runs: list[tuple[int, float]] = []
    watches = False
    for place, (count, data) in enumerate(files):
        is_last = place == len(files) - 1
        left = limit - (time.monotonic() - began if together else 0.0)
        if runs and (foreseen(runs, count) > left if not watches else not is_last):
            continue
        gc.collect()
        forget_peak()
        running = folder / "running"
        running.write_text(str(count))
        told: dict[str, Any] = {
            "documents": count,
            "versions": versions((entry.distribution, *entry.requires)),
        }
        answer, clock = _timed(entry.run, data, job, limit, told)
        running.unlink()
        watches = answer.done is not None
        answer.each_once(files[-1][0])
        arrays: dict[str, Any] = {"first": answer.first, "second": answer.second}
        if answer.prints is not None:
            arrays["prints"] = answer.prints()
        np.savez(folder / "answer.npz", **arrays)
        runs.append((count, told["seconds"]))
        told |= {"stages": clock.stages, "runs": runs}
        told["answer"] = {name: getattr(answer, name) for name in _PLAIN}
        tell(folder, told)


_PLAIN = ("setting", "done", "fixed", "squared", "block", "reads_only")


def _timed(
    run: Contestant, data: Any, job: Job, limit: float, told: dict[str, Any]
) -> tuple[Answer, Clock]:
    clock = Clock(limit)
    answer = run(data, job, clock)
    told["seconds"], told["cpu"] = clock.spent(), clock.spent_cpu()
    told["peak"] = peak()
    return answer, clock


def _told(folder: Path) -> dict[str, Any]:
    path = folder / "told.json"
    told: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return told


def tell(folder: Path, told: dict[str, Any]) -> None:
    """Leave for the parent what was found out."""
    part = folder / "told.part"
    part.write_text(json.dumps(told))
    part.replace(folder / "told.json")


def _load(folder: Path) -> Any:
    vectors = folder / "vectors.npy"
    if vectors.exists():
        return np.load(vectors)
    return parquet.read_table(folder / "texts.parquet")["text"].to_pylist()


def versions(requirements: Sequence[str]) -> dict[str, str]:
    """Tell the versions of what the contestant asks for."""
    found: dict[str, str] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]*", requirement)
        with contextlib.suppress(PackageNotFoundError, ValueError):
            found[name[0] if name else requirement] = version(name[0] if name else requirement)
    return found


def _watched(
    process: "subprocess.Popen[bytes]", running: Path, patience: float
) -> tuple[str, dict[str, int]]:
    """Wait for a process; tell what went wrong, and the most memory that its children had too.

    That of the process alone it knows better itself.
    """
    begin, peaks, pause = time.monotonic(), dict[str, int](), 0.05
    while True:
        try:
            process.wait(pause)
            return "", peaks
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() - begin > patience:
            return f"not done after {patience:,.0f} s", peaks
        if _available() < SPARE:
            return "stopped, since the machine had no memory left", peaks
        started = time.monotonic()
        with contextlib.suppress(OSError):
            attempt = running.read_text()
            peaks[attempt] = max(peaks.get(attempt, 0), _memory_with_children(process.pid))
        # Looking must not take of the time that is measured: one part in twenty of one core.
        pause = max(0.05, 20 * (time.monotonic() - started))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and what it left running: they are the group that was made for it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _memory_with_children(pid: int) -> int:
    """Sum the memory of a process and those below it; what they share counts once."""
    family = [pid]
    for one in family:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                family += map(int, children.read_text().split())
    if len(family) == 1:
        return 0
    sizes = 0
    for one in family:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            share = re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)
            sizes += int(share[1]) << 10 if share else 0
    return sizes


def _available() -> float:
    try:
        known = Path("/proc/meminfo").read_text()
    except OSError:
        return float("inf")
    available = re.search(r"^MemAvailable:\s+(\d+)", known, re.MULTILINE)
    return int(available[1]) << 10 if available else float("inf")


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def peak() -> int:
    """Give the most memory that this process held."""
    # The maximum that `resource` knows is, on Linux, that of the parent where that had more.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Begin to measure memory here, where the system can; else with what compiling took."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
