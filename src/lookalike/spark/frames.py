"""How frames are kept while a job runs, and cut off from what they were made of."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark import StorageLevel

from lookalike.spark import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Frames",
    "collected",
    "kept_plainly",
    "mapped",
    "mapped_by",
    "partitions_for",
    "unioned",
]

PARTITION_BYTES = 64 << 20
"""Bytes of rows that a task is given, about."""
PARTITION_ROWS = 1 << 20
MIN_PARTITION_ROWS = 20_000
"""Rows under which a task takes longer to start than to run."""
AS_OBJECTS = StorageLevel.MEMORY_AND_DISK_DESER
"""How frames are kept. Else Java writes them out and compresses them, and reads them each time."""
AS_OBJECTS_TWICE = StorageLevel(*[True] * 2, False, True, 2)
COMPRESSION = "spark.sql.inMemoryColumnarStorage.compressed"
WHILE_IT_RUNS = {COMPRESSION: "false", "spark.sql.maxPlanStringLength": "4096"}
"""Settings of a session while a job runs. Names and packed rows have nothing to compress. And the
plan of a frame that stands on kept ones is told with all of theirs, each time it is used."""


def mapped(frame: DataFrame, function: Callable[..., Any], schema: str, *given: Any) -> DataFrame:
    """Run a function of batches on the workers, with what it is given before them."""
    return mapped_by(frame, partial(tasks.run, function, *given), schema)


def mapped_by(frame: DataFrame, function: Callable[..., Any], schema: str) -> DataFrame:
    """Run a function of batches on the workers, which need nothing of this package for it."""
    with warnings.catch_warnings():
        # PySpark warns of versions of pandas, which is not used here.
        warnings.filterwarnings("ignore", ".* pandas ", FutureWarning)
        return frame.mapInArrow(function, schema)


@contextmanager
def kept_plainly(session: SparkSession) -> Iterator[None]:
    """Have frames kept as they are, and plans told in short, while a job runs."""
    before = {name: str(session.conf.get(name)) for name in WHILE_IT_RUNS}
    for name, value in WHILE_IT_RUNS.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


class Frames:
    """The frames that a job keeps, and may let go."""

    def __init__(self, session: SparkSession) -> None:
        """Keep none yet."""
        self.session = session
        self._kept: list[DataFrame] = []
        master = str(session.conf.get("spark.master", "") or "")
        one_machine = master.startswith("local") and not master.startswith("local-cluster")
        self._level = AS_OBJECTS if one_machine else AS_OBJECTS_TWICE
        self._durable = bool(session.conf.get("spark.checkpoint.dir", "") or "")

    @property
    def shuffle_partitions(self) -> int:
        """The partitions that the session asks for."""
        return int(self.session.conf.get("spark.sql.shuffle.partitions", "200") or 200)

    def keep(self, frame: DataFrame) -> DataFrame:
        """Keep what a frame holds once it is made; what is lost is made again."""
        kept = frame.persist(AS_OBJECTS)
        self._kept.append(kept)
        return kept

    def checkpoint(self, frame: DataFrame) -> DataFrame:
        """Make a frame, keep it, and forget what it was made of.

        In the folder of `spark.checkpoint.dir`, where one is set; else on two executors, so that
        the loss of one does not end the job.
        """
        if self._durable:
            return frame.checkpoint(eager=True)
        kept = frame.localCheckpoint(eager=True, storageLevel=self._level)
        self._kept.append(kept)
        return kept

    def of_table(self, table: pa.Table, schema: str) -> DataFrame:
        """Make a frame of a small table."""
        return self.session.createDataFrame(table, schema)

    def empty(self, schema: str) -> DataFrame:
        """Make a frame without rows."""
        return self.session.createDataFrame([], schema)

    def release(self) -> None:
        """Let go of all that is kept."""
        for frame in self._kept:
            with suppress(Exception):  # the session may have ended before
                frame.unpersist()
        self._kept.clear()

    def partitions_for(self, rows: int, row_bytes: int) -> int:
        """Tell in how many parts so many rows are best shuffled."""
        return partitions_for(rows, row_bytes, self.shuffle_partitions)


def partitions_for(rows: int, row_bytes: int, usual: int) -> int:
    """Tell in how many parts rows are best shuffled: as many as usual, unless few or many."""
    least = max(-(-rows * row_bytes // PARTITION_BYTES), -(-rows // PARTITION_ROWS))
    return max(1, least, min(usual, -(-rows // MIN_PARTITION_ROWS)))


def unioned(frames: list[DataFrame]) -> DataFrame:
    """Put frames of the same columns one after the other."""
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """Give the rows of a small frame."""
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return rows
