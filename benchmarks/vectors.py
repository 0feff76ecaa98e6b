"""Seeded vectors of any number, with near-duplicates planted at known cosines."""

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

COMMON = 0.15  # the mean cosine of two vectors that have nothing to do with each other
COPIES = 0.1  # the share of vectors that are an earlier one with noise
NEAREST, FARTHEST = 0.999, 0.85
BLOCK = 1 << 16


def vectors(count: int, dimension: int, seed: int = 1, topic: float = 0.0) -> Vectors:
    """Make vectors of length 1, as an embedding model would.

    Two of them have a mean cosine of some 0.15, since real embeddings are no random directions:
    they share a common component. One in ten is an earlier one turned by a random angle, so that
    their cosines are spread evenly from 0.85 to 0.999. Where `topic` is given, each vector has one
    of some directions, about one for a thousand vectors, and vectors of one topic have a cosine
    higher by that much.
    """
    chance = np.random.default_rng(seed)
    common = _directions(chance, 1, dimension)
    topics = _directions(chance, max(count // 1000, 1), dimension)
    made = np.empty((count, dimension), np.float32)
    is_copy = chance.random(count) < COPIES
    is_copy[:1] = False
    originals = np.flatnonzero(~is_copy)
    for begin in range(0, count, BLOCK):
        block = made[begin : begin + BLOCK]
        block[:] = _directions(chance, len(block), dimension)
        copies = begin + np.flatnonzero(is_copy[begin : begin + BLOCK])
        fresh = np.flatnonzero(~is_copy[begin : begin + BLOCK])
        mixed = block[fresh] * np.float32((1 - COMMON - topic) ** 0.5)
        mixed += common * np.float32(COMMON**0.5)
        if topic:
            mixed += topics[chance.integers(len(topics), size=len(fresh))] * np.float32(topic**0.5)
        block[fresh] = _unit(mixed)
        earlier = np.searchsorted(originals, copies)
        sources = originals[(chance.random(len(copies)) * earlier).astype(np.int64)]
        cosines = chance.uniform(FARTHEST, NEAREST, (len(copies), 1)).astype(np.float32)
        made[copies] = _turned(made[sources], made[copies], cosines)
    return made


def _directions(chance: np.random.Generator, count: int, dimension: int) -> Vectors:
    return _unit(chance.standard_normal((count, dimension), np.float32))


def _turned(vectors: Vectors, noise: Vectors, cosines: Vectors) -> Vectors:
    """Turn vectors towards noise, to given cosines."""
    aside = noise - np.einsum("ij,ij->i", noise, vectors)[:, None] * vectors
    return _unit(cosines * vectors + np.sqrt(np.float32(1) - cosines**2) * _unit(aside))


def _unit(vectors: Vectors) -> Vectors:
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors
