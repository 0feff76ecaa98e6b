"""The same job on Apache Spark: frames in, frames out, the answer of the local engine.

It needs `pip install 'lookalike[spark]'`, and loads PySpark when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.base.errors import MissingExtraError
from lookalike.base.lazy_names import on_first_use

if TYPE_CHECKING:
    from lookalike.spark.api import annotate, dedup, find
    from lookalike.spark.dedup_result import SparkDedupResult
    from lookalike.spark.find_result import SparkFindResult

_HOMES = {
    "SparkDedupResult": "dedup_result",
    "SparkFindResult": "find_result",
    "annotate": "api",
    "dedup": "api",
    "find": "api",
}

_load = on_first_use(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    """Load what is asked for, or say what is missing for it."""
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise MissingExtraError("jobs on Spark", "spark") from None


__all__ = ["SparkDedupResult", "SparkFindResult", "annotate", "dedup", "find"]
