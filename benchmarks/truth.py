"""What there is to find, by comparing every pair: nothing here comes from Lookalike."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from pyarrow import parquet
from scipy import sparse

from benchmarks.job import Job, Rows
from benchmarks.shingles import Shingles, jaccard
from benchmarks.vectors import Vectors

BLOCK = 1 << 10
SLACK = 1e-6  # 32-bit numbers may put a pair on either side of a threshold
CHECKED = 20_000
"""Of the pairs that were found in a file, so many are compared for the precision."""


@dataclass(frozen=True)
class Wanted:
    """True pairs, each once, and how many pairs each stands for where they are a sample."""

    first: Rows
    second: Rows
    weights: npt.NDArray[np.float64]
    told: dict[str, int]
    """Of what they are the pairs."""

    def recall(self, first: Rows, second: Rows, count: int) -> float:
        """Tell which share of them is among these pairs."""
        if not len(self.first):
            return 1.0
        found = np.isin(
            np.minimum(self.first, self.second) * count + np.maximum(self.first, self.second),
            np.minimum(first, second) * count + np.maximum(first, second),
        )
        return float((found * self.weights).sum() / self.weights.sum())


class Truth(Protocol):
    """What a judge asks."""

    def wanted(self, done: int) -> Wanted:
        """Give true pairs among the first documents."""
        ...

    def precision(self, first: Rows, second: Rows) -> tuple[float, int]:
        """Give the share of true ones among these pairs, and how many of them were compared."""
        ...


def sampled(count: int, most: int, seed: int) -> Rows:
    """Choose the documents whose pairs are looked for: all, where there are no more than `most`."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


class TrueFile:
    """The Jaccard similarities of the texts in a Parquet file, by sets of shingles.

    Copies of one original are compared with each other, all or, where they are many, those of a
    sample of originals. A sample of documents is compared with all, in case that others are alike.
    """

    def __init__(
        self,
        path: Path,
        originals: Rows,
        shingles: Shingles,
        job: Job,
        *,
        copies: int = 100_000,
        sample: int = 2000,
        cache: Path | None = None,
    ) -> None:
        self.path, self.originals, self.shingles, self.job = path, originals, shingles, job
        self.copies, self.sample, self.cache = copies, sample, cache

    def wanted(self, done: int) -> Wanted:
        if self.cache is None:
            return self._wanted(done)
        job = f"{self.job.threshold} {self.job.seed}"
        asked = f"{self.shingles} {job} {self.copies} {self.sample} {done}"
        digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
        path = self.cache / f"{self.path.stem}-truth-{digest}.npz"
        if not path.exists():
            new = self._wanted(done)
            arrays: dict[str, Any] = {f"told {name}": number for name, number in new.told.items()}
            np.savez(path, first=new.first, second=new.second, weights=new.weights, **arrays)
        with np.load(path) as kept:
            told = {name.partition(" ")[2]: int(kept[name]) for name in kept if " " in name}
            return Wanted(kept["first"], kept["second"], kept["weights"], told)

    def precision(self, first: Rows, second: Rows) -> tuple[float, int]:
        some = sampled(len(first), CHECKED, self.job.seed)
        first, second = first[some], second[some]
        texts = self._texts(np.unique(np.concatenate([first, second])))
        right, known = 0, (-1, set[Hashable]())
        for a, b in zip(first.tolist(), second.tolist(), strict=True):
            if known[0] != a:
                known = a, self.shingles(texts[a])
            right += self._are_near(known[1], self.shingles(texts[b]))
        return (right / len(first) if len(first) else 1.0), len(first)

    def _wanted(self, done: int) -> Wanted:
        inside, families, all_families = self._inside(done)
        between, rows = self._between(done)
        # A pair is seen if one of its two is of the sample.
        seen = 1 - (1 - rows / max(done, 1)) ** 2
        weights = [
            np.full(len(inside), all_families / max(families, 1)),
            np.full(len(between), 1 / seen if seen else 0.0),
        ]
        told = {
            "families": families,
            "of families": all_families,
            "pairs within families": len(inside),
            "documents compared with all": rows,
            "pairs between families": len(between),
        }
        table = np.array(inside + between, np.int64).reshape(-1, 2)
        return Wanted(table[:, 0], table[:, 1], np.concatenate(weights), told)

    def _inside(self, done: int) -> tuple[list[tuple[int, int]], int, int]:
        """Find the pairs of documents with one original."""
        originals = self.originals[:done]
        order = np.argsort(originals, kind="stable")
        cuts = np.flatnonzero(np.diff(originals[order])) + 1
        families = [one for one in np.split(order, cuts) if len(one) > 1]
        chosen: list[Rows] = []
        left = self.copies
        for place in np.random.default_rng(self.job.seed).permutation(len(families)):
            if left <= 0:
                break
            chosen.append(families[place])
            left -= len(families[place])
        if not chosen:
            return [], 0, 0
        texts = self._texts(np.sort(np.concatenate(chosen)))
        pairs = []
        for family in chosen:
            sets = [(row, self.shingles(texts.pop(row))) for row in family.tolist()]
            for (a, first), (b, second) in combinations(sets, 2):
                if self._are_near(first, second):
                    pairs.append((a, b))
        return pairs, len(chosen), len(families)

    def _between(self, done: int) -> tuple[list[tuple[int, int]], int]:
        """Find the pairs of a sample's documents with any of another original."""
        rows = sampled(done, self.sample, self.job.seed)
        if not len(rows):
            return [], 0
        sets = {row: self.shingles(text) for row, text in self._texts(rows).items()}
        # Of a pair, at least the threshold's share of either one's shingles is in the other. So,
        # of some more than may be missing, as many are met as there are more: the rarest, here.
        common = Counter(shingle for one in sets.values() for shingle in one)
        holders: dict[Hashable, list[int]] = defaultdict(list)
        least: dict[int, int] = {}
        for row, one in sets.items():
            missing = int((1 - self.job.threshold) * len(one) + SLACK)
            some = sorted(one, key=common.__getitem__)[: missing + 1 + len(one) // 5]
            least[row] = len(some) - missing
            for shingle in some:
                holders[shingle].append(row)
        known = set(holders)
        pairs = set()
        for row, text in self._all(done):
            here = self.shingles(text)
            met = Counter(other for shingle in here & known for other in holders[shingle])
            for other, count in met.items():
                if count < least[other] or self.originals[other] == self.originals[row]:
                    continue
                if self._are_near(sets[other], here):
                    pairs.add((min(row, other), max(row, other)))
        return sorted(pairs), len(rows)

    def _are_near(self, first: set[Hashable], second: set[Hashable]) -> bool:
        return jaccard(first, second) >= self.job.threshold

    def _texts(self, rows: Rows) -> dict[int, str]:
        """Read some rows, which are sorted."""
        texts: dict[int, str] = {}
        begin = 0
        with parquet.ParquetFile(self.path) as file:
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, end)]
                if len(inside):
                    column = file.read_row_group(group, ["text"])["text"]
                    some = column.take(inside - begin).to_pylist()
                    texts.update(zip(inside.tolist(), some, strict=True))
                begin = end
        return texts

    def _all(self, done: int) -> Iterator[tuple[int, str]]:
        row = 0
        with parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(1000, columns=["text"]):
                for text in batch["text"].to_pylist():
                    if row == done:
                        return
                    yield row, text
                    row += 1


class Sampled:
    """The pairs that a sample has with any, where those of some rows can be asked for."""

    def __init__(self, truth: "TrueVectors | TrueTexts", job: Job, sample: int) -> None:
        self.truth, self.job, self.sample = truth, job, sample
        self._known: dict[int, Wanted] = {}

    def wanted(self, done: int) -> Wanted:
        if done not in self._known:
            rows = sampled(done, self.sample, self.job.seed)
            first, second = self.truth.pairs(rows, self.job.threshold, done)
            keys = np.unique(np.minimum(first, second) * done + np.maximum(first, second))
            told = {"documents compared with all": len(rows), "pairs": len(keys)}
            self._known[done] = Wanted(keys // done, keys % done, np.ones(len(keys)), told)
        return self._known[done]

    def precision(self, first: Rows, second: Rows) -> tuple[float, int]:
        similarities = self.truth.similarities(first, second)
        return precision_of(similarities, self.job.threshold), len(first)


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
