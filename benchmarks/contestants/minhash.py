"""Texts of a Jaccard similarity: the same bands and rows of signatures for all."""

from benchmarks.contestants import Entry
from benchmarks.contestants.own import asked, found
from benchmarks.job import Answer, Clock, Job

BANDS, ROWS, WORDS = 12, 5, 5


def lookalike(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Run the whole job, exact check included."""
    banding = {"bands": BANDS, "rows": ROWS}
    shingle = f"words:{WORDS}"
    return found(texts, clock, **asked(job), shingle=shingle, **banding)


def datasketch(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Run datasketch in batches of bytes, with a session of inserts.

    Its answer is unverified candidates, so that the signatures are compared as it offers.
    """
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    with clock.stage("sketch"):
        shingles = ([s.encode() for s in _word_shingles(text)] for text in texts)
        sketches = list(MinHash.generator(shingles, num_perm=BANDS * ROWS))
    with clock.stage("insert"), lsh.insertion_session() as session:
        for number, sketch in enumerate(sketches):
            session.insert(number, sketch, check_duplication=False)
    pairs: list[tuple[int, int]] = []
    with clock.stage("query"):
        for number, sketch in enumerate(sketches):
            later = (other for other in lsh.query(sketch) if other > number)
            near = (one for one in later if sketch.jaccard(sketches[one]) >= job.threshold)
            pairs.extend((number, one) for one in near)
    return Answer.of(pairs, setting=f"{BANDS} bands of {ROWS} rows, estimated")


def _word_shingles(text: str) -> set[str]:
    words = text.split()
    return {" ".join(words[i : i + WORDS]) for i in range(max(len(words) - WORDS + 1, 1))}


CONTESTANTS = {
    "lookalike": Entry("lookalike", "Lookalike", lookalike),
    "datasketch": Entry("datasketch", "datasketch", datasketch),
}
