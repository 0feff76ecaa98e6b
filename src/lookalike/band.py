"""Signatures to buckets to candidate pairs: locality-sensitive hashing.

A band of r rows is a bucket key; two documents with an equal key in at least one band are
candidates. That is the cascade `and:r or:b`; any other cascade of ANDs and ORs works as well.
Each candidate comes once, in blocks, and no list of all of them is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import QuadraticError, SettingsError
from lookalike.kernels import band as kernels
from lookalike.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.curves import Cascade

__all__ = ["band_keys", "candidates"]

BLOCK = 1 << 20
"""Candidates that are held at a time."""
LEAST_LIMIT = 50_000_000
PAIRS_PER_DOCUMENT = 1000
"""Pairs in shared buckets that are worked off; the larger of the two bounds holds."""


def band_keys(signatures: NDArray[np.uint32], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """Give the keys of all documents, a row a band: the same hash for all, buckets apart."""
    if bands * rows > signatures.shape[1]:
        raise SettingsError(
            f"{bands} bands of {rows} rows need signatures of {bands * rows} rows; "
            f"these have {signatures.shape[1]}"
        )
    keys = np.empty((bands, len(signatures)), np.uint64)
    kernels.band_keys(signatures, rows, keys)
    return keys


def candidates(
    signatures: NDArray[np.uint32],
    cascade: Cascade,
    *,
    most: int | None = None,
    threads: int = 1,
    block: int = BLOCK,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give the pairs of documents for which the cascade holds, each once, the smaller row first.

    Documents without shingles have equal signatures and shall not be among them.

    `most` bounds the pairs that the buckets of one band may hold (by default 1,000 a document and
    50 million at the least); above it, QuadraticError says what to change before any is compared.
    `progress` is told how many bands are done, and of how many.
    """
    steps = list(cascade.steps)
    rows = steps.pop(0)[1] if steps and steps[0][0] == "and" else 1
    bands = int(np.prod([size for _, size in steps], dtype=np.int64))
    keys = band_keys(signatures, bands=bands, rows=rows)
    generators = _generators(steps)
    orders = list(
        in_order(lambda band: np.argsort(keys[band], kind="stable"), generators.tolist(), threads)
    )
    _refuse_if_quadratic(keys, generators, orders, cascade, most)
    operations = np.array([kernels.AND if name == "and" else kernels.OR for name, _ in steps])
    sizes = np.array([size for _, size in steps], np.int64)
    filtered = any(name == "and" for name, _ in steps)
    for band, order in enumerate(orders):
        state = np.array([0, -1, -1])
        while state[0] < len(order):
            first, second = np.empty(block, np.int64), np.empty(block, np.int64)
            written = kernels.emit_pairs(
                keys,
                generators,
                band,
                order,
                filtered,
                operations.astype(np.int64),
                sizes,
                state,
                first,
                second,
            )
            if written:
                yield first[:written], second[:written]
        if progress:
            progress(band + 1, len(orders))


def _generators(steps: list[tuple[str, int]]) -> NDArray[np.int64]:
    """Give the bands of which at least one is shared by every pair that passes the cascade.

    All parts of an AND must hold, so that the first stands for the rest; of an OR any may.
    """
    bands = np.zeros(1, np.int64)
    width = 1
    for name, size in steps:
        if name == "or":
            bands = (bands[None, :] + width * np.arange(size)[:, None]).ravel()
        width *= size
    return bands


def _refuse_if_quadratic(
    keys: NDArray[np.uint64],
    generators: NDArray[np.int64],
    orders: list[NDArray[np.int64]],
    cascade: Cascade,
    most: int | None,
) -> None:
    documents = keys.shape[1]
    if most is None:
        most = max(LEAST_LIMIT, PAIRS_PER_DOCUMENT * documents)
    total = 0
    largest = 0
    for generator, order in zip(generators, orders, strict=True):
        pairs, size = kernels.count_pairs(keys[generator][order])
        total = max(total, pairs)
        largest = max(largest, size)
    if total > most:
        share = total / (documents * (documents - 1) / 2)
        raise QuadraticError(
            f"the cascade '{cascade}' puts {total:,} pairs of {documents:,} documents in the "
            f"buckets of one band ({share:.1%} of all, the largest bucket holds {largest:,}), more "
            f"than {most:,}: use longer shingles, a higher threshold, or a cascade that begins "
            "with a larger 'and'"
        )
