"""Vectors of a cosine: every pair at or above the threshold, each with an exact check at the end.

A peer that compares all with all, or that searches tables, is given the vectors block by block:
a block is added, then searched for, so that each pair is looked at once. Its answer is then whole
for the vectors it came to, should its time run out.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.contestants import Entry
from benchmarks.contestants.own import asked, found
from benchmarks.job import Answer, Clock, Job, Rows
from benchmarks.truth import TrueVectors, recall_of, sampled
from benchmarks.vectors import Vectors

BLOCK = 4096
RECALL = 0.99
ALL_WITH_ALL: dict[str, Any] = {"squared": ("search",), "block": BLOCK}


def lookalike(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Run the whole job: a pair at the threshold is found with a probability of 0.99."""
    return found(vectors, clock, **asked(job), metric="cosine", recall=RECALL)


def lookalike_exact(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Find every pair."""
    return found(vectors, clock, **asked(job), metric="cosine", recall=1)


def faiss_flat(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Multiply all by all, by faiss's range search of inner products."""
    import faiss

    faiss.omp_set_num_threads(job.threads)
    index = faiss.IndexFlatIP(vectors.shape[1])
    parts, done = _by_blocks(index, _as_they_are, job.threshold, vectors, job, clock)
    return Answer.joined(parts, setting="IndexFlatIP, exact", done=done, **ALL_WITH_ALL)


def faiss_lsh(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Compare the bits of faiss's IndexLSH, all with all, then the vectors of those close.

    The radius is that within which 0.99 of the pairs at the threshold are. There are as many bits
    as make chance meetings rarer than one a vector.
    """
    import faiss

    faiss.omp_set_num_threads(job.threads)
    with clock.pause():
        bits, radius = _bits_and_radius(vectors, job)
    encode = faiss.IndexLSH(vectors.shape[1], bits).sa_encode
    # The radius of a range search is that of the nearest left out.
    index = faiss.IndexBinaryFlat(bits)
    parts, done = _by_blocks(index, encode, radius + 1, vectors, job, clock)
    setting = f"IndexLSH, {bits} bits, within {radius}"
    return Answer.joined(parts, setting=setting, done=done, **ALL_WITH_ALL)


def faiss_tables(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Look the bits of faiss's IndexLSH up in its hash tables, then compare the vectors.

    A table is probed at the bits of a vector and with each one of them flipped. There are as many
    tables as find a pair at the threshold with a probability of 0.99.
    """
    import faiss
    from scipy.stats import binom

    faiss.omp_set_num_threads(job.threads)
    key = round(math.log2(max(len(vectors), 2))) + 3
    meeting = binom.cdf(1, key, _differing(job))
    tables = math.ceil(math.log(1 - RECALL) / math.log(1 - meeting))
    bits = -(-tables * key // 64) * 64
    encode = faiss.IndexLSH(vectors.shape[1], bits).sa_encode
    index = faiss.IndexBinaryMultiHash(bits, tables, key)
    index.nflip = 1
    # So wide that none at the threshold is lost to it: the vectors are compared anyway.
    radius = int(binom.ppf(1 - 1e-6, bits, _differing(job)))
    parts, done = _by_blocks(index, encode, radius + 1, vectors, job, clock)
    setting = f"IndexBinaryMultiHash, {tables} tables of {key} bits, 1 flipped"
    return Answer.joined(parts, setting=setting, done=done)


def faiss_lists(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Search the nearest lists of faiss's IndexIVFFlat: so many as find 0.99 of some pairs."""
    import faiss

    faiss.omp_set_num_threads(job.threads)
    dimension = vectors.shape[1]
    lists = max(1, min(int(4 * math.sqrt(len(vectors))), len(vectors) // 39))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(dimension), dimension, lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.max_points_per_centroid = 64  # its guide asks for 30 to 256
    with clock.stage("train"):
        index.train(vectors)

    def search(rows: Rows, probes: int) -> tuple[Rows, Rows]:
        index.nprobe = probes
        limits, _, near = index.range_search(vectors[rows], job.threshold)
        return np.repeat(rows, np.diff(limits.astype(np.int64))), near

    with clock.pause():
        index.add(vectors)
        probes = _tuned(search, [2**power for power in range(11)], vectors, job, both_ways=False)
        index.reset()
    index.nprobe = probes
    parts, done = _by_blocks(index, _as_they_are, job.threshold, vectors, job, clock)
    setting = f"IndexIVFFlat, {lists:,} lists, {probes} probed"
    return Answer.joined(parts, setting=setting, done=done, fixed=("train",))


def usearch(vectors: Vectors, job: Job, clock: Clock) -> Answer:
    """Search USearch's graph for the nearest of each, and on where all of them are in range.

    The search is as wide as finds 0.99 of a sample's pairs. Where time runs short, half of it goes
    to adding, and those added are searched for.
    """
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="cos", dtype="bf16")
    added = 0
    with clock.stage("add"):
        for begin, end in _blocks(len(vectors), clock, 1 / 2):
            index.add(np.arange(begin, end), vectors[begin:end], threads=job.threads)
            added = end
    # Numbers of 16 bits are a little off: the vectors are compared anyway.
    reach = 1 - job.threshold + 0.01

    def search(rows: Rows, width: int) -> tuple[Rows, Rows]:
        index.expansion_search = width
        left, right = [rows[:0]], [rows[:0]]
        wanted = min(16, added)
        while len(rows):
            matches = index.search(vectors[rows], wanted, threads=job.threads)
            keys = matches.keys.reshape(len(rows), -1).astype(np.int64)
            near = matches.distances.reshape(keys.shape) <= reach
            more = near.all(axis=1) & (wanted < added)
            near[more] = False
            left.append(np.repeat(rows, near.sum(axis=1)))
            right.append(keys[near])
            rows, wanted = rows[more], min(4 * wanted, added)
        return _checked(vectors, np.concatenate(left), np.concatenate(right), job.threshold)

    with clock.pause():
        width = _tuned(
            search, [16 * 2**power for power in range(8)], vectors[:added], job, both_ways=True
        )
    with clock.stage("search"):
        parts = [search(np.arange(begin, end), width) for begin, end in _blocks(added, Clock())]
    setting = f"graph, bf16, expansion_search {width}"
    return Answer.joined(parts, setting=setting, done=added)


def _blocks(count: int, clock: Clock, share: float = 1.0) -> Iterator[tuple[int, int]]:
    """Cut the vectors into blocks, until that share of the time is up."""
    for begin in range(0, count, BLOCK):
        if begin and clock.over(share):
            return
        yield begin, min(begin + BLOCK, count)


def _by_blocks(
    index: Any,
    encode: Callable[[Vectors], Any],
    radius: float,
    vectors: Vectors,
    job: Job,
    clock: Clock,
) -> tuple[list[tuple[Rows, Rows]], int]:
    """Add each block to an index of faiss, then find those in range of it so far."""
    parts, done = [], 0
    for begin, end in _blocks(len(vectors), clock):
        with clock.stage("encode"):
            block = encode(vectors[begin:end])
        with clock.stage("add"):
            index.add(block)
        with clock.stage("search"):
            limits, _, near = index.range_search(block, radius)
        with clock.stage("check"):
            here = np.repeat(np.arange(begin, end), np.diff(limits.astype(np.int64)))
            earlier = near < here
            parts.append(_checked(vectors, here[earlier], near[earlier], job.threshold))
        done = end
    return parts, done


def _as_they_are(vectors: Vectors) -> Vectors:
    return vectors


def _checked(vectors: Vectors, first: Rows, second: Rows, threshold: float) -> tuple[Rows, Rows]:
    """Keep the pairs whose cosine is at or above the threshold."""
    kept = np.empty(len(first), np.bool_)
    for begin in range(0, len(first), BLOCK):
        cut = slice(begin, begin + BLOCK)
        kept[cut] = np.einsum("ij,ij->i", vectors[first[cut]], vectors[second[cut]]) >= threshold
    return first[kept], second[kept]


def _differing(job: Job) -> float:
    """Give the share of bits in which two vectors at the threshold differ."""
    return math.acos(job.threshold) / math.pi


def _bits_and_radius(vectors: Vectors, job: Job) -> tuple[int, int]:
    import faiss
    from scipy.stats import binom

    some = vectors[sampled(len(vectors), 2000, job.seed)]
    for bits in (64, 128, 256, 512, 1024):
        radius = int(binom.ppf(RECALL, bits, _differing(job)))
        codes = faiss.IndexLSH(vectors.shape[1], bits).sa_encode(some)
        index = faiss.IndexBinaryFlat(bits)
        index.add(codes)
        limits, _, _ = index.range_search(codes, radius + 1)
        by_chance = (int(limits[-1]) - len(some)) / len(some) ** 2
        if by_chance * len(vectors) / 2 <= 1:
            break
    return bits, radius


def _tuned(
    search: Callable[[Rows, int], tuple[Rows, Rows]],
    settings: list[int],
    vectors: Vectors,
    job: Job,
    *,
    both_ways: bool,
) -> int:
    """Choose the first setting that finds 0.99 of the pairs of some vectors, or the last one.

    A pair has two chances where each vector is searched for among all, one where it is searched
    for among those before it.
    """
    rows = sampled(len(vectors), 4000, job.seed + 1)
    wanted = TrueVectors(vectors).pairs(rows, job.threshold, len(vectors))
    ends = np.unique(np.concatenate(wanted) if both_ways else np.maximum(*wanted))
    for setting in settings:
        recall, _ = recall_of(wanted, *search(ends, setting), len(vectors))
        if recall >= RECALL:
            break
    return setting


CONTESTANTS = {
    "lookalike": Entry("lookalike", "Lookalike", lookalike),
    "lookalike-exact": Entry("lookalike", "Lookalike, exact", lookalike_exact),
    "faiss-flat": Entry("faiss-cpu", "faiss, flat", faiss_flat),
    "faiss-lsh": Entry("faiss-cpu", "faiss, LSH", faiss_lsh),
    "faiss-tables": Entry("faiss-cpu", "faiss, hash tables", faiss_tables),
    "faiss-lists": Entry("faiss-cpu", "faiss, inverted lists", faiss_lists),
    "usearch": Entry("usearch", "USearch", usearch),
}
