"""One cluster and one session for all tests on Spark; without Java or PySpark they are skipped."""

import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import pytest

from lookalike.base.errors import SparkError


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark what needs the cluster, and so runs in one process."""
    for item in items:
        if "spark_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[Any]:
    """Give a master with two workers, and what stands around them."""
    for needed in ("pyspark", "psutil"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: pip install 'lookalike[dev]'")
    from spark_cluster import Cluster

    try:
        cluster = Cluster()
    except SparkError as error:
        pytest.skip(str(error))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def spark(spark_cluster: Any) -> Iterator[Any]:
    """Give a session on the cluster, the same for all tests."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in spark_cluster.environment.items():
            if os.environ.get(name) != value:
                patched.setenv(name, value)
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master(spark_cluster.master).appName("tests").getOrCreate()
        try:
            yield session
        finally:
            session.stop()
