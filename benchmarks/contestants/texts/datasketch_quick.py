"""datasketch as its quick start has it: shingle by shingle, its own hash, its own bands."""

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
    for texts in blocks_of(path):
        for text in texts:
            with clock.stage("sketch"):
                own = MinHash(num_perm=128)
                for shingle in set(shingles_of(text, job)):
                    own.update(shingle)
            with clock.stage("query"):
                pairs.extend((other, number) for other in lsh.query(own))
                lsh.insert(number, own)
            number += 1
            if clock.over():
                return _answer(pairs, number, lsh)
    return _answer(pairs, number, lsh)


def _answer(pairs: list[tuple[int, int]], done: int, lsh: object) -> Answer:
    bands, rows = lsh.b, lsh.r  # type: ignore[attr-defined]
    return Answer.of(pairs, setting=f"{bands} bands of {rows} rows, candidates", done=done)
