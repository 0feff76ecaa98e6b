"""text-dedup: the functions of its MinHash command, without the copies that it writes to disk."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants.texts import rows_of, setting, size_of, sketched, within, words_of
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["text-dedup==0.4.0"]
TITLE = "text-dedup"
NOTE = "clusters of candidates, all pairs of those up to 50; its own hashes, in processes"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Make the keys of the bands in processes, then tables of them, then clusters."""
    if size_of(job)[1]:
        raise ValueError("its shingles are of words")
    with clock.pause():
        import text_dedup.minhash  # noqa: F401 (once, for the processes too)
        from text_dedup.utils import UnionFind

    bands = job.options["bands"]
    tables: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(bands)]
    done = 0
    for block in sketched(path, job, clock, _keys):
        with clock.stage("band"):
            for number, keys in enumerate(block, done):
                for table, key in zip(tables, keys, strict=True):
                    table[key].append(number)
        done += len(block)
        if clock.over():
            break
    with clock.stage("cluster"):
        joined = UnionFind()
        for table in tables:
            for members in table.values():
                for other in members[1:]:
                    joined.union(other, members[0])
        clusters: dict[int, list[int]] = defaultdict(list)
        for number in list(joined.parent):
            clusters[joined.find(number)].append(number)
        pairs = within(clusters.values())
    return Answer.of(pairs, setting=setting(job, "clusters"), done=done)


def _keys(texts: list[str], job: Job) -> list[list[bytes]]:
    """Make the keys by its own function, which is given the words with blanks between them."""
    from text_dedup.minhash import SIGNATURE_COLUMN, embed_func
    from text_dedup.utils import xxh3_32hash

    count, rows, size = rows_of(job), job.options["rows"], size_of(job)[0]
    random = np.random.RandomState(job.seed)
    prime = np.uint32((1 << 32) - 5)
    asked: dict[str, Any] = {
        "num_perm": count,
        "ngram_size": size,
        "min_length": 0,
        "hashranges": [(begin, begin + rows) for begin in range(0, count, rows)],
        "permutations": (
            random.randint(1, prime, count, np.uint32),
            random.randint(0, prime, count, np.uint32),
        ),
        "hash_func": xxh3_32hash,
        "dtype": np.uint32,
        "max_hash": np.uint32((1 << 32) - 1),
        "modulo_prime": prime,
    }
    lines = (b" ".join(words_of(text)).decode() for text in texts)
    return [embed_func(line, 0, **asked)[SIGNATURE_COLUMN] for line in lines]
