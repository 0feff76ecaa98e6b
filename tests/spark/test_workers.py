"""Workers that differ from the program, and workers that are lost while they work."""

import json
import sys
import threading
import time
from pathlib import Path

import pytest

import lookalike
from lookalike.base.errors import SparkError
from lookalike.spark import preflight
from lookalike.spark.preflight import check_workers


@pytest.fixture
def another_python(spark, tmp_path, monkeypatch):
    """Let workers run a Python in which something else is so, by a module that it loads first."""

    def change(code: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(code)
        program = tmp_path / "python"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n'
        )
        program.chmod(0o755)
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
        monkeypatch.setattr(preflight, "_checked", set())

    return change


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == {!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
OTHER_VERSION = """
import sys, types
for name in ("lookalike", "lookalike.settings"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["lookalike"].__version__ = "0.0.9"
sys.modules["lookalike"].settings = sys.modules["lookalike.settings"]
sys.modules["lookalike.settings"].FORMAT = 1
"""
OTHER_PYTHON = """
import sys
sys.version_info = type("Version", (tuple,), {"major": 3, "minor": 99})((3, 99, 1, "final", 0))
"""


@pytest.mark.parametrize("package", ["lookalike", "numba", "pyarrow"])
def test_a_worker_without_a_package_is_named_with_it(package, spark, another_python) -> None:
    another_python(WITHOUT.format(package))
    with pytest.raises(SparkError, match=rf"^a? ?worker .*has no package {package}: install "):
        check_workers(spark)


def test_a_worker_with_another_version_is_named_with_it(spark, another_python) -> None:
    another_python(OTHER_VERSION)
    frame = spark.createDataFrame([(1, "a")], "id int, text string")
    here = lookalike.__version__
    with pytest.raises(SparkError, match=rf"has lookalike 0.0.9 \(format 1\), and here is {here}"):
        lookalike.spark.find(frame)


def test_a_worker_with_another_python_is_named_with_it(spark, another_python) -> None:
    another_python(OTHER_PYTHON)
    here = ".".join(map(str, sys.version_info[:2]))
    with pytest.raises(SparkError, match=rf"runs Python 3.99, and this is Python {here}"):
        check_workers(spark)


def test_workers_are_looked_at_once_in_a_session(spark, monkeypatch) -> None:
    monkeypatch.setattr(preflight, "_checked", set())
    check_workers(spark)
    monkeypatch.setattr(preflight, "probe", None)
    check_workers(spark)


def test_a_first_task_that_waits_for_a_worker_is_told_of(spark, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(preflight, "_checked", set())
    check_workers(spark, said.append)
    assert said == []
    monkeypatch.setattr(preflight, "_checked", set())
    monkeypatch.setattr(preflight, "WAIT_SECONDS", 0.0)
    check_workers(spark, said.append)
    assert len(said) == 1
    assert "waits until a worker is free" in said[0]


@pytest.mark.parametrize("stage", ["band", "compare"])
def test_a_job_whose_worker_is_killed_ends_with_the_same_answer(
    stage, spark, spark_cluster, corpora
) -> None:
    path = Path(corpora, "licenses", "docs.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()[:700]]
    documents = {one["id"]: one["text"] for one in records}
    frame = spark.createDataFrame([*documents.items()], "id string, text string").repartition(6)
    killed = []

    def kill() -> None:
        tracker = spark.sparkContext.statusTracker()
        end = time.monotonic() + 60
        while not tracker.getActiveStageIds() and time.monotonic() < end:
            time.sleep(0.01)
        spark_cluster.kill_worker()
        killed.append(True)

    def progress(name: str, done: int, _total: int) -> None:
        if name == stage and not done and not killers:
            killers.append(threading.Thread(target=kill))
            killers[0].start()

    killers: list[threading.Thread] = []
    try:
        found = lookalike.spark.find(frame, threshold=0.7, progress=progress)
        pairs, clusters = (one.toArrow().to_pylist() for one in (found.pairs, found.clusters))
    finally:
        for thread in killers:
            thread.join()
        spark_cluster.add_worker()
        spark_cluster.wait_for_workers()
    assert killed
    expected = lookalike.find(documents, threshold=0.7)
    assert sorted(pairs, key=str) == sorted(expected.pairs.to_pylist(), key=str)
    assert sorted(clusters, key=str) == sorted(expected.clusters.to_pylist(), key=str)
    assert pairs
