"""The ways to find similar pairs that are measured, each from documents to pairs of numbers.

A peer is driven as its own documentation shows for speed. Each does the same job on the same data:
the same shingles, the same threshold, every pair once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.job import Answer, Clock, Job

Contestant = Callable[[Any, Job, Clock], Answer]


@dataclass(frozen=True)
class Entry:
    """A contestant: the distribution that it is part of, and what it is called in the table."""

    distribution: str
    title: str
    run: Contestant


def entries(benchmark: str) -> dict[str, Entry]:
    """Give the contestants of a benchmark by name, Lookalike first."""
    module = import_module(f"benchmarks.contestants.{benchmark}")
    contestants: dict[str, Entry] = module.CONTESTANTS
    return contestants
