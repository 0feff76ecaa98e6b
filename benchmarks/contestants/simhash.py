"""Texts whose 64-bit SimHash fingerprints differ in at most so many bits.

Each has fingerprints of its own, made of the same counted shingles, three words in a row.
"""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.contestants import Entry
from benchmarks.contestants.own import found
from benchmarks.job import Answer, Clock, Job

Prints = npt.NDArray[np.uint64]

WORDS = 3
BLOCK = 10_000


def lookalike(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Find the pairs by one call, and have the fingerprints made again, for the judge."""
    answer = found(
        texts, clock, threads=job.threads, shingle=f"words:{WORDS}", simhash=job.options["distance"]
    )

    def prints() -> Prints:
        from lookalike.sketches.hyperplanes import fingerprints
        from lookalike.text.normalise import normalise
        from lookalike.text.shingles import Shingling
        from lookalike.text.weighted_shingles import Weighting

        documents = normalise(pa.array(texts))
        return fingerprints(documents, Shingling.parse(f"words:{WORDS}"), Weighting())[0]

    answer.prints = prints
    return answer


def gaoya(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Insert and query in bulk, by gaoya's own threads and its own splitting into words.

    It finds what is nearer than the distance it is given, not what is as near, so it is given one
    more; it wants more blocks than that.
    """
    from gaoya.simhash import SimHashStringIndex

    distance = job.options["distance"] + 1
    index = SimHashStringIndex(64, distance + 1, distance, "word", False, (WORDS, WORDS)).index
    pairs: list[tuple[int, int]] = []
    done = 0
    while done < len(texts) and not clock.over():
        block = texts[done : done + BLOCK]
        with clock.stage("insert"):
            index.par_bulk_insert_docs(list(range(done, done + len(block))), block)
        with clock.stage("query"):
            for number, near in enumerate(index.par_bulk_query(block), done):
                pairs.extend((other, number) for other in near if other < number)
        done += len(block)

    def prints() -> Prints:
        return np.array(index.par_bulk_doc2signatures(texts[:done]), np.uint64)

    return Answer.of(pairs, setting=f"{distance + 1} blocks", done=done, prints=prints)


def text_dedup(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Make fingerprints and permuted keys in processes, then look keys up in one dictionary.

    These are the functions of its command, given words where it cuts texts into characters.
    """
    from multiprocessing import get_context

    from bitarray import frozenbitarray
    from text_dedup.simhash import _create_permutations, _hamming_distance

    distance = job.options["distance"]
    permutations = _create_permutations(64, k=distance, b=distance + 1)
    buckets: dict[tuple[bytes, bytes], list[tuple[int, frozenbitarray]]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    prints: list[int] = []
    with get_context("fork").Pool(job.threads, _remember, (permutations,)) as pool:
        made = pool.imap(_permuted, texts, chunksize=100)
        for number in range(len(texts)):
            if number % 1000 == 0 and number and clock.over():
                break
            with clock.stage("sketch"):
                signature, keys = next(made)
            with clock.stage("query"):
                own, near = frozenbitarray(buffer=signature), set()
                for key in keys:
                    for other, its in buckets[key]:
                        if other not in near and _hamming_distance(own, its) <= distance:
                            near.add(other)
                    buckets[key].append((number, own))
                pairs.extend((other, number) for other in near)
            prints.append(int.from_bytes(signature, "big"))
    return Answer.of(
        pairs,
        setting=f"{distance + 1} blocks, {job.threads} processes",
        done=len(prints),
        prints=lambda: np.array(prints, np.uint64),
    )


_permutations: list[Any] = []


def _remember(permutations: list[Any]) -> None:
    _permutations[:] = permutations


def _permuted(text: str) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Make a fingerprint of counted words in a row, and its key under each permutation."""
    from text_dedup.simhash import _unsigned_hash, compute
    from text_dedup.utils import xxh3_64_digest

    words = text.split()
    hashes = [_unsigned_hash(s.encode(), xxh3_64_digest) for s in _shingles(words)]
    signature = compute(hashes)
    keys = [
        (one.search_mask.tobytes(), (one.permute(signature) & one.search_mask).tobytes())
        for one in _permutations
    ]
    return signature.tobytes(), keys


def simhash(texts: list[str], job: Job, clock: Clock) -> Answer:
    """Look each text up among those before it, then add it; it has no threads."""
    from simhash import Simhash, SimhashIndex

    distance = job.options["distance"]
    index = SimhashIndex([], k=distance)
    index.log.disabled = True  # it warns of every bucket of more than 200
    pairs: list[tuple[int, int]] = []
    prints: list[int] = []
    for number, text in enumerate(texts):
        if number % 1000 == 0 and number and clock.over():
            break
        with clock.stage("sketch"):
            own = Simhash(Counter(_shingles(text.split())))
        with clock.stage("query"):
            pairs.extend((int(other), number) for other in index.get_near_dups(own))
        with clock.stage("insert"):
            index.add(str(number), own)
        prints.append(own.value)
    return Answer.of(
        pairs,
        setting=f"{distance + 1} blocks, 1 thread",
        done=len(prints),
        prints=lambda: np.array(prints, np.uint64),
    )


def _shingles(words: list[str]) -> list[str]:
    return [" ".join(words[i : i + WORDS]) for i in range(max(len(words) - WORDS + 1, 1))]


CONTESTANTS = {
    "lookalike": Entry("lookalike", "Lookalike", lookalike),
    "gaoya": Entry("gaoya", "gaoya", gaoya),
    "text-dedup": Entry("text-dedup", "text-dedup", text_dedup),
    "simhash": Entry("simhash", "simhash", simhash),
}
