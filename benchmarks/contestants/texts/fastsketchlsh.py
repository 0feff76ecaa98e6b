"""FastSketchLSH: shingles to sketches by its batch call, an index told and asked in batches."""

from pathlib import Path

import numpy as np

from benchmarks.contestants.texts import (
    Hashes,
    hash_rows,
    helped,
    own_threads,
    rows_of,
    setting,
    shingles_of,
    sketched,
)
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["FastSketchLSH==1.0.1"]
TITLE = "FastSketchLSH"
NOTE = "candidates, as its documentation leaves them"
HELPED = "hashes made by NumPy, and sketched, in processes"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Add each block of documents, then find those before and among it."""
    with clock.pause():
        from FastSketchLSH import LSH

    lsh = LSH(rows_of(job), job.options["bands"], num_threads=job.threads)
    parts, done = [], 0
    for block in sketched(path, job, clock, _signatures):
        with clock.stage("insert"):
            lsh.insert(block)
        with clock.stage("query"):
            near, ends = lsh.query(block, format="csr")
            here = np.repeat(np.arange(done, done + len(block)), np.diff(ends).astype(np.int64))
            near = near.astype(np.int64)
            earlier = near < here
            parts.append((near[earlier], here[earlier]))
        done += len(block)
        if clock.over():
            break
    return Answer.joined(parts, setting=setting(job, "candidates"), done=done)


def _signatures(texts: list[str], job: Job) -> Hashes:
    """Sketch by the next power of two, which it wants, and keep as many numbers as are used."""
    from FastSketchLSH import FastSimilaritySketch

    rows = rows_of(job)
    sketch = FastSimilaritySketch(size=1 << (rows - 1).bit_length(), seed=job.seed)
    made: Hashes
    if helped(job):
        made = sketch.batch_csr(*hash_rows(texts, job), prehashed=True, num_threads=1)
    else:
        shingles = [shingles_of(text, job) for text in texts]
        made = np.asarray(sketch.batch(shingles, num_threads=own_threads(job)), np.uint64)
    return np.ascontiguousarray(made[:, :rows])
