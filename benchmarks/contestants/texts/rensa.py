"""rensa, its full R-MinHash: sketches in batches, an index told and asked in batches."""

from pathlib import Path
from typing import Any

from benchmarks.contestants.texts import rows_of, setting, shingles_of, sketched
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["rensa==0.5.0"]
TITLE = "rensa"
NOTE = "full R-MinHash; confirmed by the estimate of its signatures"
HELPED = "shingles made, and sketched, in processes"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Add each block of documents, then find those before and among it."""
    with clock.pause():
        from rensa import RMinHashLSH

    lsh = RMinHashLSH(job.threshold, rows_of(job), job.options["bands"])
    sketches: list[Any] = []
    pairs: list[tuple[int, int]] = []
    for block in sketched(path, job, clock, _sketches):
        begin = len(sketches)
        with clock.stage("insert"):
            lsh.insert_many(block, begin)
            sketches.extend(block)
        with clock.stage("query"):
            for number, near in enumerate(lsh.query_all(block), begin):
                own, earlier = sketches[number], (other for other in near if other < number)
                similar = (other for other in earlier if lsh.is_similar(own, sketches[other]))
                pairs.extend((other, number) for other in similar)
        if clock.over():
            break
    return Answer.of(pairs, setting=setting(job, "estimated"), done=len(sketches))


def _sketches(texts: list[str], job: Job) -> list[Any]:
    from rensa import RMinHash

    shingles = [shingles_of(text, job) for text in texts]
    return list(RMinHash.from_token_sets(shingles, rows_of(job), job.seed))
