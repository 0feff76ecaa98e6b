"""What a contestant is given, and what it gives back."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


class Clock:
    """The time that a contestant spent, in all and by stage, and how much it has left."""

    def __init__(self, limit: float = float("inf")) -> None:
        self.limit = limit
        self.stages: dict[str, float] = {}
        self.begin, self.begin_cpu = time.perf_counter(), _cpu()
        self.paused = self.paused_cpu = 0.0

    def spent(self) -> float:
        return time.perf_counter() - self.begin - self.paused

    def spent_cpu(self) -> float:
        """Give the time that all cores spent on it, however busy the machine is otherwise."""
        return _cpu() - self.begin_cpu - self.paused_cpu

    def over(self, share: float = 1.0) -> bool:
        """Tell whether that share of the time is up."""
        return self.spent() > self.limit * share

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin, paused = time.perf_counter(), self.paused
        yield
        spent = time.perf_counter() - begin - (self.paused - paused)
        self.stages[name] = self.stages.get(name, 0.0) + spent

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave out what does not belong to the job, as the choice of a peer's settings."""
        begin, begin_cpu = time.perf_counter(), _cpu()
        yield
        self.paused += time.perf_counter() - begin
        self.paused_cpu += _cpu() - begin_cpu


def _cpu() -> float:
    """Sum the time of this process, of those that it started and that ended, and that still run."""
    return sum(os.times()[:4]) + _cpu_below(os.getpid())


def _cpu_below(pid: int) -> float:
    total = 0.0
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError, IndexError):
            for child in map(int, children.read_text().split()):
                # The name, in brackets, may have blanks in it.
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                total += _cpu_below(child)
    return total


@dataclass(frozen=True)
class Job:
    """What is asked for."""

    threshold: float
    threads: int
    seed: int
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Answer:
    """The pairs that were found, and how."""

    first: Rows
    second: Rows
    setting: str = ""
    done: int | None = None
    """Where time ran out: how many documents, from the first, the answer is about."""
    fixed: tuple[str, ...] = ()
    """The stages that were done for all documents, even where time ran out."""
    squared: tuple[str, ...] = ()
    """The stages in which each document is compared with each; others take so long a document."""
    block: int = 1
    """How many are compared at a time, also with each other, with all before them."""
    prints: Callable[[], npt.NDArray[np.uint64]] | None = None
    """Gives the fingerprints that the answer was found by, of the documents done."""
    reads_only: bool = False
    """Nothing was looked for: it tells what reading alone takes."""

    @classmethod
    def of(cls, pairs: list[tuple[int, int]], **more: Any) -> "Answer":
        """Take pairs as Python has them."""
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return cls(table[:, 0], table[:, 1], **more)

    @classmethod
    def joined(cls, parts: list[tuple[Rows, Rows]], **more: Any) -> "Answer":
        """Take pairs found block by block."""
        none = np.empty(0, np.int64)
        first, second = ([none, *column] for column in zip(*parts, strict=True))
        return cls(np.concatenate(first), np.concatenate(second), **more)

    def whole(self, seconds: float, stages: Mapping[str, float], count: int) -> float:
        """Estimate the time for all documents, from the time for those done."""
        done = self.done or count
        squared = sum(stages.get(name, 0.0) for name in self.squared)
        fixed = sum(stages.get(name, 0.0) for name in self.fixed)
        comparisons = count * (count + self.block) / (done * (done + self.block))
        return fixed + squared * comparisons + (seconds - fixed - squared) * count / done

    def each_once(self, count: int) -> "Answer":
        """Give each pair once, the smaller number first."""
        small, large = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        keys = np.unique((small * count + large)[small != large])
        self.first, self.second = keys // count, keys % count
        return self
