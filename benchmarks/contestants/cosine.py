"""Texts of a cosine, as bags of three words in a row: every pair at or above the threshold."""

import numpy as np

from benchmarks.contestants import Entry
from benchmarks.contestants.own import asked, found
from benchmarks.job import Answer, Clock, Job

WORDS = 3
BLOCK = 1000


def lookalike(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Run the whole job: a pair at the threshold is found with a probability of 0.99."""
    return found(texts, clock, **asked(job), metric="cosine", shingle=f"words:{WORDS}", recall=0.99)


def lookalike_exact(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Find every pair."""
    return found(texts, clock, **asked(job), metric="cosine", shingle=f"words:{WORDS}", recall=1)


def scikit_learn(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Multiply the sparse matrix of counted shingles by itself, block by block."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    count = CountVectorizer(ngram_range=(WORDS, WORDS), token_pattern=r"\S+", lowercase=False)
    with clock.stage("count"):
        rows = normalize(count.fit_transform(texts).astype(np.float64)).tocsr()
        columns = rows.T.tocsr()
    parts, done = [], 0
    for begin in range(0, len(texts), BLOCK):
        if begin and clock.over():
            break
        with clock.stage("multiply"):
            products = (rows[begin : begin + BLOCK] @ columns).tocoo()
            a, b = products.row.astype(np.int64) + begin, products.col.astype(np.int64)
            # Sums of rounded numbers: a pair at the very threshold must not be lost to that.
            near = (b < a) & (products.data >= job.threshold - 1e-9)
            parts.append((b[near], a[near]))
        done = min(begin + BLOCK, len(texts))
    return Answer.joined(parts, setting="CountVectorizer, exact", done=done, fixed=("count",))


CONTESTANTS = {
    "lookalike": Entry("lookalike", "Lookalike", lookalike),
    "lookalike-exact": Entry("lookalike", "Lookalike, exact", lookalike_exact),
    "scikit-learn": Entry("scikit-learn", "scikit-learn", scikit_learn),
}
