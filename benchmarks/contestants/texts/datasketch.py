"""datasketch: sketches in batches, an index that is asked, then told, document by document."""

import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.contestants.texts import (
    hashes_of,
    helped,
    rows_of,
    setting,
    shingles_of,
    sketched,
)
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["datasketch==2.0.0"]
TITLE = "datasketch"
NOTE = "confirmed by the estimate of its signatures; a faster hash function than its own"
HELPED = "hashes made by NumPy, and sketched, in processes"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Look each document up among those before it, as its own documentation filters them."""
    with clock.pause():
        from datasketch import LeanMinHash, MinHashLSH

    bands, rows = job.options["bands"], job.options["rows"]
    lsh = MinHashLSH(num_perm=rows_of(job), params=(bands, rows))
    sketches: list[LeanMinHash] = []
    pairs: list[tuple[int, int]] = []
    for block in sketched(path, job, clock, _signatures):
        with clock.stage("query"):
            for values in block:
                number = len(sketches)
                own = LeanMinHash(seed=job.seed, hashvalues=values, scheme="affine32")
                near = (
                    one for one in lsh.query(own) if own.jaccard(sketches[one]) >= job.threshold
                )
                pairs.extend((other, number) for other in near)
                lsh.insert(number, own, check_duplication=False)
                sketches.append(own)
        if clock.over():
            break
    return Answer.of(pairs, setting=setting(job, "estimated"), done=len(sketches))


def _signatures(texts: list[str], job: Job) -> npt.NDArray[np.uint32]:
    from datasketch import MinHash

    settings = {"num_perm": rows_of(job), "seed": job.seed}
    if helped(job):
        hashed = ((hashes_of(text, job) >> np.uint64(32)).tolist() for text in texts)
        made = MinHash.generator(hashed, hashfunc=int, **settings)
    else:
        cut = (shingles_of(text, job) for text in texts)
        made = MinHash.generator(cut, hashfunc=zlib.crc32, **settings)
    return np.array([one.hashvalues for one in made], np.uint32)
