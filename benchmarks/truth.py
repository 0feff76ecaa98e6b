"""What there is to find, by comparing every pair: nothing here comes from Lookalike."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.job import Rows
from benchmarks.vectors import Vectors

BLOCK = 1 << 10
SLACK = 1e-6  # 32-bit numbers may put a pair on either side of a threshold


def sampled(count: int, most: int, seed: int) -> Rows:
    """Choose the documents whose pairs are looked for: all, where there are no more than `most`."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


class TrueVectors:
    """The cosines of vectors."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def pairs(self, rows: Rows, threshold: float, count: int) -> tuple[Rows, Rows]:
        """Find every pair of one of the rows with one of the first `count`."""
        first, second = [], []
        for begin in range(0, len(rows), BLOCK):
            some = rows[begin : begin + BLOCK]
            for start in range(0, count, 64 * BLOCK):
                others = self.vectors[start : min(start + 64 * BLOCK, count)]
                near = self.vectors[some] @ others.T >= threshold - 1e-3
                here, there = np.nonzero(near)
                first.append(some[here])
                second.append(start + there)
        a, b = np.concatenate(first), np.concatenate(second)
        kept = (a != b) & (self.similarities(a, b) >= threshold)
        return a[kept], b[kept]

    def similarities(self, first: Rows, second: Rows) -> npt.NDArray[np.float64]:
        out = np.empty(len(first))
        for begin in range(0, len(first), 64 * BLOCK):
            cut = slice(begin, begin + 64 * BLOCK)
            a, b = (self.vectors[side[cut]].astype(np.float64) for side in (first, second))
            lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            out[cut] = np.einsum("ij,ij->i", a, b) / lengths
        return out


class TrueTexts:
    """The cosines, or the Jaccard similarities, of texts as bags, or sets, of words in a row."""

    def __init__(self, texts: Sequence[str], words: int, metric: str) -> None:
        shingles = _counted_shingles(texts, words)
        self.metric = metric
        if metric == "jaccard":
            shingles.data[:] = 1
        self.sizes = np.asarray(shingles.multiply(shingles).sum(axis=1)).ravel()
        # A shingle that stands in one text alone makes its text longer, and nothing else.
        shared = np.flatnonzero(np.bincount(shingles.indices, minlength=shingles.shape[1]) > 1)
        self.shingles = shingles[:, shared]

    def pairs(self, rows: Rows, threshold: float, count: int) -> tuple[Rows, Rows]:
        """Find every pair of one of the rows with one of the first `count`."""
        others = self.shingles[:count].T.tocsr()
        first, second = [], []
        for begin in range(0, len(rows), BLOCK):
            some = rows[begin : begin + BLOCK]
            products = (self.shingles[some] @ others).tocoo()
            a, b = some[products.row], products.col.astype(np.int64)
            near = (a != b) & (self._similar(products.data, a, b) >= threshold)
            first.append(a[near])
            second.append(b[near])
        return np.concatenate(first), np.concatenate(second)

    def similarities(self, first: Rows, second: Rows) -> npt.NDArray[np.float64]:
        out = np.empty(len(first))
        for begin in range(0, len(first), 16 * BLOCK):
            a, b = first[begin : begin + 16 * BLOCK], second[begin : begin + 16 * BLOCK]
            products = self.shingles[a].multiply(self.shingles[b]).sum(axis=1)
            out[begin : begin + 16 * BLOCK] = self._similar(np.asarray(products).ravel(), a, b)
        return out

    def _similar(
        self, products: npt.NDArray[np.float64], a: Rows, b: Rows
    ) -> npt.NDArray[np.float64]:
        if self.metric == "jaccard":
            whole = self.sizes[a] + self.sizes[b] - products
        else:
            whole = np.sqrt(self.sizes[a] * self.sizes[b])
        out: npt.NDArray[np.float64] = products / np.maximum(whole, 1)
        return out


def close_prints(
    prints: npt.NDArray[np.uint64], rows: Rows, distance: int, count: int
) -> tuple[Rows, Rows]:
    """Find every pair of fingerprints, of one of the rows, that differ in few bits."""
    first, second = [], []
    for begin in range(0, len(rows), 64):
        some = rows[begin : begin + 64]
        differing = np.bitwise_count(prints[some, None] ^ prints[None, :count])
        here, there = np.nonzero(differing <= distance)
        first.append(some[here])
        second.append(there)
    a, b = np.concatenate(first), np.concatenate(second)
    return a[a != b], b[a != b]


def recall_of(
    wanted: tuple[Rows, Rows], first: Rows, second: Rows, count: int
) -> tuple[float, int]:
    """Tell which share of the wanted pairs is there, and how many are wanted."""
    keys = np.unique(np.minimum(*wanted) * count + np.maximum(*wanted))
    found = np.isin(keys, np.minimum(first, second) * count + np.maximum(first, second))
    return (float(found.mean()) if len(keys) else 1.0), len(keys)


def precision_of(similarities: npt.NDArray[np.float64], threshold: float) -> float:
    """Tell which share of the found pairs is at or above the threshold."""
    return float((similarities >= threshold - SLACK).mean()) if len(similarities) else 1.0


def _counted_shingles(texts: Sequence[str], words: int) -> sparse.csr_array:
    """Count the words in a row of each text; a text of fewer has one shingle, of all its words."""
    numbers: dict[str, int] = {}
    each = [[numbers.setdefault(word, len(numbers) + 1) for word in text.split()] for text in texts]
    lengths = np.array([len(one) for one in each], np.int64)
    padded = [number for one in each for number in (*one, *[0] * (words - 1))]
    stream = np.array(padded, np.int64)
    keys, room = stream.copy(), len(numbers) + 1
    for step in range(1, words):
        if room * (len(numbers) + 1) >= 2**63:
            distinct, keys = np.unique(keys, return_inverse=True)
            room = len(distinct)
        keys[:-step] = keys[:-step] * (len(numbers) + 1) + stream[step:]
        room *= len(numbers) + 1
    begins = np.concatenate([[0], np.cumsum(lengths + words - 1)[:-1]])
    shingles = np.where(lengths == 0, 0, np.maximum(lengths - words + 1, 1))
    owners = np.repeat(np.arange(len(texts)), shingles)
    nth = np.arange(len(owners)) - np.repeat(np.cumsum(shingles) - shingles, shingles)
    _, columns = np.unique(keys[begins[owners] + nth], return_inverse=True)
    shape = len(texts), int(columns.max(initial=0)) + 1
    return sparse.coo_array((np.ones(len(owners)), (owners, columns)), shape).tocsr()
