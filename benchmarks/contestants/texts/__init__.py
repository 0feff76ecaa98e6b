"""The peers of whole jobs on texts, one module each: from a Parquet file to pairs of ids.

A peer that leaves reading and shingling to Python gets shingles as its documentation does, cut in
the process that calls it, and has the job's threads for itself. A job that helps does more than any
peer's documentation: each block of documents is cut, and sketched by the peer, in a process of its
own, as many as there are threads, and one that takes hashes gets those of shingles, made by NumPy.
"""

import os
import re
import unicodedata
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from benchmarks.job import Clock, Job

Hashes = npt.NDArray[np.uint64]
Sketch = TypeVar("Sketch")

BLOCK = 1000
LARGE = 50
"""Members from which on a cluster is told by the links to its first alone."""

SINGLE = (
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_ONE = re.compile(f"[{SINGLE}]")
_OF_A_RUN = "".join(
    "x" if unicodedata.category(char)[0] in "LMN" and not _ONE.match(char) else " "
    for char in map(chr, range(0x10000))
)
# A class of characters up to U+FFFF is a bitmap; one with any beyond is searched one by one.
_PLAIN = "".join(
    f"\\u{run.start():04x}-\\u{run.end() - 1:04x}" for run in re.finditer("x+", _OF_A_RUN)
)
WORD = re.compile(f"(?:[{_PLAIN}]+|[^\\W\\0-\\uffff{SINGLE}]+)+|[^\\W\\0-\\u3040]")
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128))
_ASCII += bytes(range(128, 256))
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def canonical(text: str) -> str:
    """Compose, lower-case and compose again."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def spaced(text: str) -> str:
    """Make every run of white space of a canonical text one blank, with none at the ends."""
    return " ".join(canonical(text).split())


def words_of(text: str) -> list[bytes]:
    """Give the words: runs of letters, marks and digits; an ideograph or kana by itself.

    A text that has characters but no words is one word.
    """
    if text.isascii():
        words = text.encode().translate(_ASCII).split()
    else:
        words = []
        for part in canonical(text).encode().translate(_ASCII).split():
            if part.isascii():
                words.append(part)
            else:
                words.extend(" ".join(WORD.findall(part.decode())).encode().split())
    return words or [line for line in [spaced(text).encode()] if line]


def shingles_of(text: str, job: Job) -> list[bytes]:
    """Give the shingles in order, or one of all that there is if it is too little for one."""
    size, chars = size_of(job)
    if chars:
        line = spaced(text)
        cuts = range(max(len(line) - size + 1, 1))
        return [line[i : i + size].encode() for i in cuts] if line else []
    words = words_of(text)
    if len(words) <= size:
        return [b" ".join(words)] if words else []
    return list(map(b" ".join, zip(*(words[i:] for i in range(size)), strict=False)))


def hashes_of(text: str, job: Job) -> Hashes:
    """Give 64-bit hashes of the shingles in order: polynomials of checksums or characters."""
    size, chars = size_of(job)
    if chars:
        units = np.frombuffer(spaced(text).encode("utf-32-le"), np.uint32).astype(np.uint64)
    else:
        words = words_of(text)
        units = np.fromiter(map(zlib.crc32, words), np.uint64, len(words))
    size = min(size, len(units))
    if not size:
        return units
    count = len(units) - size + 1
    rolled = units[:count] + np.uint64(1)
    for begin in range(1, size):
        rolled *= _FACTOR
        rolled += units[begin : begin + count]
    # The upper half of a product is better mixed than the lower.
    rolled *= _FACTOR
    rolled ^= rolled >> np.uint64(32)
    return rolled


def hash_rows(texts: list[str], job: Job) -> tuple[Hashes, Hashes]:
    """Give the hashes of the documents' shingles one after the other, and where each begins."""
    rows = [hashes_of(text, job) for text in texts]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.uint64)
    return np.concatenate([np.empty(0, np.uint64), *rows]), ends


def size_of(job: Job) -> tuple[int, bool]:
    """Give the size of a shingle, and whether that is in characters."""
    chars = job.options.get("chars")
    return (int(chars), True) if chars else (int(job.options["words"]), False)


def rows_of(job: Job) -> int:
    """Give the numbers that a signature needs."""
    return int(job.options["bands"] * job.options["rows"])


def helped(job: Job) -> bool:
    """Tell whether the peer gets more than its documentation shows."""
    return bool(job.options.get("helped"))


def own_threads(job: Job) -> int:
    """Give the threads that a peer may use where it sketches."""
    return 1 if helped(job) else job.threads


def setting(job: Job, *more: str) -> str:
    """Say what the peer was told."""
    return ", ".join([f"{job.options['bands']} bands of {job.options['rows']} rows", *more])


def blocks_of(path: Path) -> Iterator[list[str]]:
    """Read the texts of a Parquet file, a thousand at a time; a text's number is its id."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BLOCK, columns=["text"]):
            yield batch.column(0).to_pylist()


def sketched(
    path: Path,
    job: Job,
    clock: Clock,
    sketch: Callable[[list[str], Job], Sketch],
    stage: str = "sketch",
) -> Iterator[Sketch]:
    """Sketch each block of documents; by other processes, a few blocks ahead, where that helps."""
    if not helped(job):
        for texts in _timed(blocks_of(path), clock, "read"):
            with clock.stage(stage):
                made = sketch(texts, job)
            yield made
        return
    waiting: deque[Any] = deque()
    with get_context("fork").Pool(job.threads, _alone) as pool:

        def oldest() -> Sketch:
            with clock.stage(stage):
                made: Sketch = waiting.popleft().get()
                return made

        for texts in _timed(blocks_of(path), clock, "read"):
            waiting.append(pool.apply_async(sketch, (texts, job)))
            if len(waiting) > 2 * job.threads:
                yield oldest()
        while waiting:
            yield oldest()


def within(clusters: Iterable[Iterable[int]]) -> list[tuple[int, int]]:
    """Give all pairs within each cluster, of a large one those with its first alone."""
    pairs: list[tuple[int, int]] = []
    for cluster in clusters:
        members = sorted(cluster)
        if len(members) <= LARGE:
            pairs.extend(combinations(members, 2))
        else:
            pairs.extend((members[0], other) for other in members[1:])
    return pairs


def _alone() -> None:
    """Keep a peer's own threads from crowding the processes."""
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"


def _timed(source: Iterator[Any], clock: Clock, stage: str) -> Iterator[Any]:
    while True:
        with clock.stage(stage):
            item = next(source, None)
        if item is None:
            return
        yield item
