"""Work in pieces on several threads, with results in the order of the pieces."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["ahead", "available", "in_order", "pieces"]

T = TypeVar("T")
R = TypeVar("R")


def available() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Give `work(item)` for each item, in order, with at most two pieces a thread under way."""
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="lookalike") as pool:
        under_way: deque[Future[R]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                if len(under_way) >= 2 * threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def ahead(items: Iterable[T], threads: int) -> Generator[T]:
    """Give items as they are, each made on another thread while the one before it is used."""
    if threads <= 1:
        yield from items
        return
    iterator = iter(items)

    def one_more() -> list[T]:
        return [*islice(iterator, 1)]

    with ThreadPoolExecutor(1, thread_name_prefix="lookalike") as pool:
        try:
            following = pool.submit(one_more)
            while made := following.result():
                following = pool.submit(one_more)
                # Not held here while it is used.
                yield made.pop()
        finally:
            pool.shutdown()
            close = getattr(iterator, "close", None)
            if close is not None:
                close()


def pieces(weights: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Cut a row of weights into slices of at most `most` in all, or of one item that is heavier."""
    if len(weights) == 1:
        # One document by itself, for which the sums would take longer than the work.
        yield slice(0, 1)
        return
    ends = np.cumsum(weights)
    start = 0
    while start < len(weights):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
