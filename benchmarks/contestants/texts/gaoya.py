"""gaoya: texts go into its index in bulk, which cuts them into words by itself, and are asked for.

Its words are what stands between blanks and signs of ASCII: those of an ASCII text are the job's.
Any other text, and one that may be too short for a shingle, is given as its words.
"""

import os
from pathlib import Path

from benchmarks.contestants.texts import setting, size_of, sketched, spaced, words_of
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["gaoya==0.2.2"]
TITLE = "gaoya"
NOTE = "confirmed by the estimate of its signatures; its own words and threads, but for non-ASCII"
HELPED = "other texts cleaned in processes"

SHORT = 200
FILLING = b"\xc2\xb6"
"""What makes a shingle of a text that has too few words: no word, and no sign to it."""


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Add each block of documents, then find those before and among it."""
    os.environ["RAYON_NUM_THREADS"] = str(job.threads)
    with clock.pause():
        from gaoya.minhash import MinHashStringIndex

    size, chars = size_of(job)
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=job.threshold,
        num_bands=job.options["bands"],
        band_size=job.options["rows"],
        analyzer="char" if chars else "word",
        lowercase=not chars,
        ngram_range=(size, size),
        id_container="smallvec",
    )
    pairs: list[tuple[int, int]] = []
    done = 0
    for block in sketched(path, job, clock, _cleaned, "clean"):
        with clock.stage("insert"):
            index.par_bulk_insert_docs(list(range(done, done + len(block))), block)
        with clock.stage("query"):
            for number, near in enumerate(index.par_bulk_query(block), done):
                pairs.extend((other, number) for other in near if other < number)
        done += len(block)
        if clock.over():
            break
    return Answer.of(pairs, setting=setting(job, "estimated"), done=done)


def _cleaned(texts: list[str], job: Job) -> list[str]:
    size, chars = size_of(job)
    return [spaced(text) if chars else _worded(text, size) for text in texts]


def _worded(text: str, size: int) -> str:
    if len(text) > SHORT and text.isascii():
        return text
    words = words_of(text)
    return b" ".join(words + [FILLING] * (size - len(words))).decode()
