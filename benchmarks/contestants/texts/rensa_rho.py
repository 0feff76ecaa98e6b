"""rensa, its rho path: one batch of hashes to sketches, and of sketches to flags.

The path tells which documents have a duplicate, not of which. Those told are then linked where a
band of their sketches is the same.
"""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.contestants.texts import hash_rows, rows_of, setting, sketched, within
from benchmarks.job import Answer, Clock, Job, Rows

REQUIRES = ["rensa==0.5.0"]
TITLE = "rensa, rho"
NOTE = "samples positions, not a full MinHash; it flags documents, linked here by its sketches"
HELPED = "hashes made by NumPy in processes"

EMPTY = np.uint32(0xFFFFFFFF)
"""What it has in a place of a sketch that no shingle fell in."""


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Flag the documents that have a duplicate, then link them."""
    os.environ["RAYON_NUM_THREADS"] = str(job.threads)
    with clock.pause():
        from rensa import RMinHash, RMinHashLSH

    blocks = list(sketched(path, job, clock, hash_rows, "shingle"))
    with clock.stage("join"):
        hashes = np.concatenate([rows for rows, _ in blocks])
        counts = np.concatenate([np.diff(ends) for _, ends in blocks])
        blocks.clear()
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    rows, bands = rows_of(job), job.options["bands"]
    with clock.stage("sketch"):
        sketches = RMinHash.digest_matrix_from_flat_token_hashes_rho(hashes, ends, rows, job.seed)
    with clock.stage("query"):
        lsh = RMinHashLSH(job.threshold, rows, bands)
        flags = np.array(lsh.query_duplicate_flags_matrix_one_shot(sketches), np.bool_)
    with clock.stage("link"):
        some = np.flatnonzero(flags)
        kept = np.repeat(flags, counts.astype(np.int64))
        within_some = np.concatenate([[0], np.cumsum(counts[flags])]).astype(np.uint64)
        sketches = RMinHash.digest_matrix_from_flat_token_hashes_rho(
            hashes[kept], within_some, rows, job.seed
        )
        values = np.array(sketches.to_rows(), np.uint32).reshape(len(some), rows)
        pairs: list[tuple[int, int]] = []
        for band in np.split(values, bands, axis=1):
            pairs.extend(within(_equal(band, some)))
    return Answer.of(pairs, setting=setting(job, "flags"))


def _equal(band: npt.NDArray[np.uint32], numbers: Rows) -> list[list[int]]:
    """Give the documents whose band is the same, and not empty."""
    filled = (band != EMPTY).any(axis=1)
    band, numbers = np.ascontiguousarray(band[filled]), numbers[filled]
    keys = band.view(f"V{band.itemsize * band.shape[1]}").ravel()
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    return [group.tolist() for group in np.split(numbers[order], cuts) if len(group) > 1]
