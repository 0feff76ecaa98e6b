"""A tiny job that comes first: do the workers have Lookalike, and the same one as here?"""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import lookalike
from lookalike.base.errors import SparkError
from lookalike.settings import FORMAT
from lookalike.spark.failures import PACKAGE_MISSING, clear_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

__all__ = ["check_workers", "probe"]

REPORT = "host string, python string, version string, format int, missing string"
WAIT_SECONDS = 30.0
"""That a first task may take before a word is said."""
WAITING = (
    "Spark has not run a first task yet, and waits until a worker is free: are there workers, and "
    "do other applications hold all of their cores?"
)
_checked: WeakSet[SparkSession] = WeakSet()
"""Sessions whose workers were looked at."""


def check_workers(session: SparkSession, say: Callable[[str], object] | None = None) -> None:
    """Refuse workers without the package, or with another version of it; once in a session.

    A task for each core: where workers come later, what they lack is said when they fail. Where no
    worker is free, Spark waits, which is said too; without `say` as a warning.
    """
    # Of a session there is Spark: this module is loaded where there may be none.
    from lookalike.spark.frames import collected, mapped_by

    if session in _checked:
        return
    with clear_errors(), _said_if_waiting(say or _warn):
        found = collected(mapped_by(session.range(0, 1 << 10), probe(), REPORT))
    for report in sorted(found, key=lambda report: str(report["host"])):
        _check(report)
    _checked.add(session)


def _warn(line: str) -> None:
    warnings.warn(line, RuntimeWarning, stacklevel=2)


@contextmanager
def _said_if_waiting(say: Callable[[str], object]) -> Iterator[None]:
    """Say it where a first task takes long."""
    waiting = threading.Timer(WAIT_SECONDS, say, [WAITING])
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


def _check(report: dict[str, Any]) -> None:
    host = report["host"]
    if report["missing"] is not None:
        raise SparkError(PACKAGE_MISSING.format(f"worker {host}", report["missing"]))
    here = ".".join(map(str, sys.version_info[:2]))
    if report["python"] != here:
        raise SparkError(
            f"worker {host} runs Python {report['python']}, and this is Python {here}: install the "
            "same there, and name it by the configuration spark.pyspark.python"
        )
    there = report["version"], report["format"]
    if there != (lookalike.__version__, FORMAT):
        raise SparkError(
            f"worker {host} has lookalike {there[0]} (format {there[1]}), and here is "
            f"{lookalike.__version__} (format {FORMAT}): install the same version on every worker"
        )


def probe() -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Give what runs on the workers, which travels as a whole: they may not have this module."""

    def report(batches: Iterable[Any]) -> Iterator[Any]:
        import socket
        import sys

        import pyarrow as pa

        facts: dict[str, Any] = {
            "host": socket.gethostname(),
            "python": ".".join(map(str, sys.version_info[:2])),
            "version": None,
            "format": None,
            "missing": None,
        }
        try:
            # With all that a job needs, as its compiler.
            import numba  # noqa: F401
            import scipy  # noqa: F401

            import lookalike
            from lookalike.settings import FORMAT

            facts |= {"version": lookalike.__version__, "format": FORMAT}
        except ImportError as error:
            facts["missing"] = error.name or str(error)
        if any(batch.num_rows for batch in batches):
            kinds = [pa.string()] * 3 + [pa.int32(), pa.string()]
            columns = [pa.array([facts[name]], kind) for name, kind in zip(facts, kinds)]  # noqa: B905 # as old a Python as there is
            yield pa.RecordBatch.from_arrays(columns, list(facts))

    return report
