"""A session of Spark on this machine, the same for every contestant."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.job import Clock

PARTITIONS_PER_SLOT = 4
JAVA_MEMORY = 8 << 30


@contextmanager
def session(slots: int, clock: Clock, **config: str) -> Iterator[Any]:
    """Start Spark with so many slots, and stop it; neither is counted."""
    with clock.pause():
        from pyspark.sql import SparkSession

        # Workers run the Python of this environment, not the first on the path.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        folder = tempfile.mkdtemp(prefix="lookalike-bench-spark-")
        settings = {
            "spark.driver.memory": f"{JAVA_MEMORY >> 20}m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": folder,
            "spark.sql.shuffle.partitions": str(PARTITIONS_PER_SLOT * slots),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            **{name.replace("_", "."): value for name, value in config.items()},
        }
        builder = SparkSession.builder.master(f"local[{slots}]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        started = builder.getOrCreate()
    try:
        yield started
    finally:
        with clock.pause():
            started.stop()
            shutil.rmtree(folder, ignore_errors=True)
