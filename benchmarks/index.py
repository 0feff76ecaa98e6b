"""Measure indexes that last: python -m benchmarks index.

Documents are added in bulk, new ones are looked for one by one, then admitted one by one. Then, of
an index that another process can open, the file is dropped from the system's memory, and new ones
are looked for from the disk.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import index_table, table
from benchmarks.contestants.indexes import ENTRIES, Entry
from benchmarks.environments import NotInstalledError, interpreter
from benchmarks.index_corpus import Documents
from benchmarks.index_process import UNCOUNTED
from benchmarks.index_table import Row
from benchmarks.index_truth import Asked, SeenTruth, admitted
from benchmarks.job import Job
from benchmarks.measuring import carried_out
from benchmarks.shingles import Shingles

SHINGLES = Shingles("words", 5)
FEW, SAMPLE, COLD = 1000, 10_000, 200
"""Documents of the run that does not count, of the sample, and that are asked for from the disk."""


def run(asked: argparse.Namespace) -> None:
    """Measure each contestant, print the table, and keep the figures."""
    documents = Documents(asked.documents, asked.seed, skewed=asked.skewed, pieces=asked.pieces)
    job = Job(
        asked.threshold,
        asked.threads,
        asked.seed,
        {SHINGLES.unit: SHINGLES.size, "memory": asked.memory},
    )
    truth = SeenTruth(documents.text, documents.originals, SHINGLES, job.threshold)
    extra = UNCOUNTED + asked.queries + asked.admissions
    truth.know(documents.count + extra)
    told = f"{documents.count:,} documents of {documents.kind}"
    about = {"told": told}
    path = asked.json or table.RESULTS / f"{_name(asked)}.json"
    arguments = {key: value for key, value in vars(asked).items() if key != "json"}
    rows: list[Row] = []
    questions: list[dict[str, Asked]] = []
    print(f"{told}; {asked.queries:,} looked for, {asked.admissions:,} admitted\n", flush=True)
    with _folder() as folder:
        order = _order(documents, asked, job, folder, extra)
        for name, entry in ENTRIES.items():
            if asked.peers is not None and name not in ("lookalike", *asked.peers):
                continue
            row, answered = _competed(name, entry, order, job, folder)
            rows.append(row)
            questions.append(answered)
            for one in answered.values():
                truth.learn(one)
            # What one found may be what another one missed.
            for former, its in zip(rows, questions, strict=True):
                former.answered = {stage: truth.judged(one) for stage, one in its.items()}
            table.write(path, arguments, about, rows)
            print(f"{row.title}: {row.problem or 'done'}", file=sys.stderr, flush=True)
    print(index_table.printed([asdict(row) for row in rows]))


def _order(
    documents: Documents, asked: argparse.Namespace, job: Job, folder: Path, extra: int
) -> dict[str, Any]:
    """Write the files, and say what each contestant does."""
    following, sample = folder / "following.parquet", folder / "sample.parquet"
    documents.write_following(following, extra)
    documents.write_sample(sample, SAMPLE)
    return {
        "job": asdict(job),
        "count": documents.count,
        "files": [str(documents.file(documents.count)), str(following)],
        "few": str(documents.file(min(FEW, documents.count))),
        "sample": str(sample),
        "queries": asked.queries,
        "admissions": asked.admissions,
        "limit": asked.limit,
        "cold": 0,
    }


def _competed(
    name: str, entry: Entry, order: dict[str, Any], job: Job, folder: Path
) -> tuple[Row, dict[str, Asked]]:
    """Run one contestant; give its figures, and what it was asked and answered."""
    row = Row(entry.title, note=entry.note, bytes_to_reach=entry.bytes_to_reach)
    missing = [needed for needed in entry.needs if not find_spec(needed)]
    if missing:
        row.problem = f"{', '.join(missing)} is not installed"
        return row, {}
    home = folder / name
    home.mkdir()
    patience = 2 * order["limit"] + 300
    try:
        python = str(interpreter(name, entry.requires)) if entry.requires else sys.executable

        def child(**more: Any) -> tuple[dict[str, Any], str, dict[str, int]]:
            return carried_out(
                folder,
                "benchmarks.index_process",
                {**order, "name": name, "home": str(home), **more},
                python=python,
                threads=job.threads,
                patience=patience,
            )

        told, row.problem, peaks = child()
        if "size" not in told:
            return row, {}
        questions = _figures(row, told, order, max(peaks.values(), default=0))
        if entry.lasts:
            drop_from_memory(home)
            again, row.problem, _ = child(cold=COLD, **{"from": told["done"]})
            if "seconds" in again:
                row.cold = _milliseconds(again["seconds"])
                questions["cold"] = Asked(
                    told["done"],
                    told["done"],
                    again["answers"],
                    others=admitted(told["admitted from"], told["admissions"]),
                )
        return row, questions
    except NotInstalledError as error:
        row.problem = str(error)
        return row, {}
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _figures(row: Row, told: dict[str, Any], order: dict[str, Any], peak: int) -> dict[str, Asked]:
    """Take the figures that a process told."""
    done = row.done = told["done"]
    row.of = order["count"]
    row.setting, row.versions = told["setting"], told["versions"]
    row.adding, row.cpu = told["adding"], told["cpu"]
    row.added_per_second = done / told["adding"]
    row.warm = _milliseconds(told["seconds"])
    row.admitted_per_second = len(told["admitting"]) / sum(told["admitting"])
    row.admitting = _milliseconds(told["admitting"])
    new = admitted(told["admitted from"], told["admissions"])
    row.bytes_per_document = told["size"] / (done + len(new))
    row.peak = max(told["peak"], peak)
    return {
        "query": Asked(told["asked from"], done, told["answers"]),
        "admit": Asked(told["admitted from"], done, told["admissions"], admits=True),
    }


def drop_from_memory(folder: Path) -> None:
    """Have the system read the files of a folder from the disk when they are asked for next."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    median, most = np.percentile(seconds, [50, 99]) * 1e3
    return {"count": len(seconds), "median": float(median), "p99": float(most)}


@contextmanager
def _folder() -> Iterator[Path]:
    # A server may run as another user, and has to get there.
    with tempfile.TemporaryDirectory(prefix="lookalike-bench-") as folder:
        yield Path(folder)


def _name(asked: argparse.Namespace) -> str:
    name = f"index-{asked.documents}"
    name += "-skewed" if asked.skewed else ""
    name += f"-in-{asked.pieces}" if asked.pieces > 1 else ""
    return name + (f"-{asked.memory}" if asked.memory else "")
