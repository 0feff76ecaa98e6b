"""datasketch as its quick start has it: shingle by shingle, its own hash, its own bands."""

from itertools import chain
from pathlib import Path

from benchmarks.contestants.texts import blocks_of, shingles_of
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["datasketch==2.0.0"]
TITLE = "datasketch, quick start"
NOTE = "one update a shingle, 128 rows, bands by its own optimiser; candidates are not confirmed"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Look each document up among those before it."""
    with clock.pause():
        from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=job.threshold, num_perm=128)
    pairs: list[tuple[int, int]] = []
    number = 0
    for text in chain.from_iterable(blocks_of(path)):
        with clock.stage("sketch"):
            own = MinHash(num_perm=128)
            for shingle in set(shingles_of(text, job)):
                own.update(shingle)
        with clock.stage("query"):
            pairs.extend((other, number) for other in lsh.query(own))
            lsh.insert(number, own)
        number += 1
        if clock.over():
            break
    setting = f"{lsh.b} bands of {lsh.r} rows, candidates"
    return Answer.of(pairs, setting=setting, done=number)
