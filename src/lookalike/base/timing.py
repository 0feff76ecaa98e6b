"""The seconds that each stage takes."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping

__all__ = ["Seconds", "timed", "timed_items"]

T = TypeVar("T")


class Seconds(dict[str, float]):
    """The seconds of each stage, and when the first began."""

    began: float = 0.0
    """By the clock of `time.perf_counter`."""


@contextmanager
def timed(seconds: MutableMapping[str, float], stage: str) -> Iterator[None]:
    """Add the time that a block takes to that of its stage, without that of stages within it."""
    begin, before = time.perf_counter(), sum(seconds.values())
    try:
        yield
    finally:
        within = sum(seconds.values()) - before
        spent = time.perf_counter() - begin - within
        seconds[stage] = seconds.get(stage, 0.0) + max(spent, 0.0)


def timed_items(items: Iterable[T], seconds: MutableMapping[str, float], stage: str) -> Iterator[T]:
    """Give items, and add the time that it takes to make them, not to use them."""
    iterator = iter(items)
    while True:
        with timed(seconds, stage):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item
