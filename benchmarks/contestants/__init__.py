"""The ways to find similar pairs that are measured, each from documents to pairs of numbers.

A peer is driven as its own documentation shows for speed, and where one can help it with more, as
processes that cut its shingles, a second time with that. Each does the same job on the same data:
the same shingles, the same threshold, every pair once.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from benchmarks.job import Answer, Clock, Job

Contestant = Callable[[Any, Job, Clock], Answer]

HELPED = "-helped"
"""What the name of a contestant ends with that gets more than its documentation shows."""


@dataclass(frozen=True)
class Entry:
    """A contestant: the distribution that it is part of, and what it is called in the table."""

    distribution: str
    title: str
    run: Contestant
    requires: tuple[str, ...] = ()
    """What is installed into an environment of its own; nothing, where it runs in this one."""
    note: str = ""
    needs: Callable[[], str | None] | None = None
    """Tells why it cannot run here, if so."""


def entries(benchmark: str) -> dict[str, Entry]:
    """Give the contestants of a benchmark by name, Lookalike first."""
    if benchmark == "texts":
        return _whole_jobs()
    module = import_module(f"benchmarks.contestants.{benchmark}")
    contestants: dict[str, Entry] = module.CONTESTANTS
    return contestants


def _whole_jobs() -> dict[str, Entry]:
    """Give those that read a file: a module of `texts` each, after Lookalike."""
    from benchmarks.contestants import own

    found = dict(own.CONTESTANTS)
    try:
        package = import_module("benchmarks.contestants.texts")
    except ModuleNotFoundError:
        return found
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        peer = import_module(f"benchmarks.contestants.texts.{module.name}")
        if hasattr(peer, "REQUIRES"):
            needs = getattr(peer, "NEEDS", None)
            requires = tuple(peer.REQUIRES)
            name = module.name.replace("_", "-")
            found[name] = Entry("", peer.TITLE, peer.run, requires, peer.NOTE, needs)
            if hasattr(peer, "HELPED"):
                note = f"{peer.NOTE}; {peer.HELPED}"
                title = f"{peer.TITLE}, helped"
                found[name + HELPED] = Entry("", title, _helped(peer.run), requires, note, needs)
    return found


def _helped(run: Contestant) -> Contestant:
    def with_help(data: Any, job: Job, clock: Clock) -> Answer:
        return run(data, replace(job, options={**job.options, "helped": True}), clock)

    return with_help
