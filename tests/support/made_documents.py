"""What the tests hand to the package, made of plain lists, sets and strings."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pyarrow as pa

from lookalike.base.columns import Column
from lookalike.kernels.jit import INTERPRETED
from lookalike.text.documents import Texts
from lookalike.text.normalise import Canonical, Normalisation, normalise
from lookalike.text.shingles import Sets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from numpy.typing import NDArray


@functools.cache
def callable_from_python(inner: Any) -> Any:
    """Compile a part of a kernel by itself: a call of the part as it is ends the interpreter."""
    return inner if INTERPRETED else numba.njit(inner.py_func)


def documents_of(texts: list[str]) -> Canonical:
    """Take texts as they are, canonical already."""
    return normalise(pa.array(texts, pa.large_string()), Normalisation(raw=True))


def texts_of(texts: list[str], path: Path | None = None) -> Texts:
    """Put texts, canonical already, into a column, of a file where there is a path."""
    documents = documents_of(texts)
    data = Column(np.uint8, path)
    data.append(documents.data)
    return Texts(data, documents.offsets, documents.fingerprints)


def sets_of(sets: Iterable[Collection[int]]) -> Sets:
    """Lay out sets of whole numbers, each sorted, one after the other."""
    laid_out = [sorted(one) for one in sets]
    elements = np.array([element for one in laid_out for element in one], np.uint64)
    sizes = np.array([0, *map(len, laid_out)], np.int64)
    return Sets(elements, sizes.cumsum())


def rows_of(pairs: Collection[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split pairs into their first and their second rows."""
    table = np.array(list(pairs), np.int64).reshape(len(pairs), 2)
    return table[:, 0].copy(), table[:, 1].copy()


def pairs_of(first: NDArray[np.integer], second: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Join first and second rows to pairs."""
    return list(zip(first.tolist(), second.tolist(), strict=True))


def random_pairs(
    generator: np.random.Generator, pairs: int, union: int, shared: int
) -> tuple[Sets, float]:
    """Make pairs of random sets with `shared` elements of `union` in common, and their similarity.

    Set i and set `pairs` + i belong together; what they do not share is split in halves.
    """
    everything = generator.integers(0, 2**64, (pairs, union), np.uint64)
    half = (union - shared + 1) // 2
    first = everything[:, : shared + half]
    second = np.concatenate([everything[:, :shared], everything[:, shared + half :]], axis=1)
    sizes = np.repeat([first.shape[1], second.shape[1]], pairs)
    elements = np.concatenate([np.sort(first).ravel(), np.sort(second).ravel()])
    return Sets(elements, np.concatenate([[0], sizes]).cumsum()), shared / union


def near_duplicates(count: int, *, seed: int) -> list[str]:
    """Make texts of random words, of which every second is the one before it with words changed."""
    numbers = np.random.default_rng(seed)
    words = ["".join(chr(97 + c) for c in numbers.integers(0, 26, 6)) for _ in range(3000)]
    texts: list[list[str]] = []
    for at in range(count):
        if at % 2 and at:
            text = texts[-1].copy()
            for place in numbers.integers(0, len(text), int(numbers.integers(0, 8))):
                text[place] = words[numbers.integers(0, len(words))]
        else:
            text = [words[i] for i in numbers.integers(0, len(words), int(numbers.integers(5, 60)))]
        texts.append(text)
    return [" ".join(text) for text in texts]


def place_of_texts(result: Any) -> Path:
    """Tell in which file the canonical texts of a result's job are."""
    path: Path | None = result.documents.storage.store.columns["read.texts"].path
    assert path is not None
    return path
