"""The seconds that each stage takes."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from lookalike.base.wording import adding_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, MutableMapping

__all__ = ["START", "TOTAL", "Seconds", "began_at", "call_began", "timed", "timed_items"]

T = TypeVar("T")
START, OTHER, TOTAL = "start", "other", "total"
"""What passes before the first stage and beside all of them, and the sum."""
_command: list[float] = []
"""When the command began that is running."""


def began_at(moment: float | None) -> None:
    """Let the calls of a command count from when it began; None at its end."""
    _command[:] = [] if moment is None else [moment]


def call_began() -> float:
    """Tell from when on the time of a call counts that begins now."""
    return _command[0] if _command else time.perf_counter()


class Seconds(dict[str, float]):
    """The seconds of each stage, and when the call and the first stage began.

    Moments are of the clock of `time.perf_counter`.
    """

    called: float = 0.0
    began: float = 0.0
    _beside: float | None = None
    """What passed beside the stages, once the call is over or was recorded."""

    def end(self) -> None:
        """Take note that the call is over; stages that are done later still count."""
        if self._beside is None:
            passed = time.perf_counter() - max(self.began, self.called)
            self._beside = max(passed - sum(self.values()), 0.0)

    def recorded(self) -> dict[str, float]:
        """Give the seconds of each stage and beside them, and the total, which they add up to."""
        self.end()
        parts = {START: max(self.began - self.called, 0.0), **self, OTHER: self._beside or 0.0}
        total, written = adding_up([*parts.values()], 3)
        return {name: float(text) for name, text in zip(parts, written, strict=True)} | {
            TOTAL: float(total)
        }

    @classmethod
    def of_record(cls, recorded: Mapping[str, float]) -> Seconds:
        """Give the seconds of the stages in a record."""
        beside = (START, OTHER, TOTAL)
        return cls({name: spent for name, spent in recorded.items() if name not in beside})


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
