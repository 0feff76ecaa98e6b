"""Lookalike's index, in a file."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.contestants.indexes import Place


class OverError(Exception):
    """The time is over."""


class OwnIndex:
    """An index of Lookalike's, wherever it is."""

    def __init__(self, address: str, place: Place, *, exists: bool, no_text: bool = False) -> None:
        from lookalike import Index

        self.job = job = place.job
        if exists:
            self.index = Index(address, threads=job.threads)
        else:
            self.index = Index.create(
                address,
                like=str(place.sample),
                text="text",
                id="id",
                documents=place.count,
                threshold=job.threshold,
                shingle=f"words:{job.options['words']}",
                no_text=no_text,
                threads=job.threads,
            )
        plan = self.index.plan
        self.setting = f"{plan.bands} bands of {plan.rows} rows"

    def add(self, path: Path, over: Callable[[], bool]) -> int:
        def watch(*_: Any) -> None:
            if over():
                raise OverError

        memory = self.job.options.get("memory")
        more = {"memory": memory} if memory else {}
        with suppress(OverError):
            self.index.add_all(
                str(path), text="text", id="id", threads=self.job.threads, progress=watch, **more
            )
        # What was written is a beginning of the file, in its order.
        return len(self.index)

    def query(self, text: str) -> list[int]:
        return [int(one.id) for one in self.index.query(text)]

    def admit(self, number: int, text: str) -> list[int]:
        return [int(one.id) for one in self.index.admit(number, text).matches]

    def close(self) -> int:
        address = Path(self.index.address)
        self.index.close()
        return sum(one.stat().st_size for one in address.parent.glob(f"{address.name}*"))


def in_file(place: Place) -> OwnIndex:
    """Keep texts."""
    path = place.folder / "index.lookalike"
    return OwnIndex(str(path), place, exists=path.exists())


def without_text(place: Place) -> OwnIndex:
    """Keep sketches alone."""
    path = place.folder / "index.lookalike"
    return OwnIndex(str(path), place, exists=path.exists(), no_text=True)
