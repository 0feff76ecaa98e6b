"""The same job on Apache Spark: frames in, frames out, the answer of the local engine.

It needs `pip install 'lookalike[spark]'`, and loads PySpark when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

__getattr__ = on_first_use(__name__, _HOMES)

__all__ = ["SparkDedupResult", "SparkFindResult", "annotate", "dedup", "find"]
