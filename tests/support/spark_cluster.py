"""A cluster of Spark on loopback: a master, workers that may be killed, and a server of Connect."""

import atexit
import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyspark

from lookalike.spark.java import use_java

WORKERS = 2
DEADLINE = 90
"""Seconds within which a process of the cluster is there, or the tests fail."""
HOME = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"
LOG = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
logger.tasks.name = org.apache.spark
logger.tasks.level = fatal
"""
SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Java that starts soon, for jobs of seconds."""
DEFAULTS = {
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": SMALL,
    "spark.executor.memory": "1g",
    "spark.executor.extraJavaOptions": SMALL,
    "spark.executor.cores": "1",
    "spark.pyspark.python": sys.executable,
    # Plans of a few rows are interpreted sooner than compiled.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def free_port() -> int:
    """Give a port of loopback that nobody has."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


def wait_for(what: str, is_there: Callable[[], Any], deadline: float = DEADLINE) -> Any:
    """Wait until something is so, and give what it is."""
    end = time.monotonic() + deadline
    while not (found := is_there()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)
    return found


def _listens(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((LOOPBACK, port)) == 0


def _ends_with_parent() -> None:
    """Let a process end when the tests do, however they end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Cluster:
    """A standalone master and its workers, each a process of its own."""

    def __init__(self) -> None:
        use_java()
        self.folder = Path(tempfile.mkdtemp(prefix="lookalike-spark-"))
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self._connect: str | None = None
        atexit.register(self.stop)
        conf = self.folder / "conf"
        conf.mkdir()
        (conf / "log4j2.properties").write_text(LOG)
        self.store = self.folder / "store"
        self.store.mkdir()
        defaults = DEFAULTS | {
            "spark.local.dir": str(self.folder / "local"),
            # What Spark reads and writes as viewfs://tests/store, and Python cannot.
            "spark.hadoop.fs.viewfs.mounttable.tests.link./store": self.store.as_uri(),
        }
        lines = [f"{name} {value}\n" for name, value in defaults.items()]
        (conf / "spark-defaults.conf").write_text("".join(lines))
        sources = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *sys.path])
        self.environment = os.environ | {
            "PYTHONPATH": sources,
            "SPARK_CONF_DIR": str(conf),
            "SPARK_DAEMON_JAVA_OPTS": SMALL,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LAUNCHER_OPTS": SMALL,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
        }
        self._port, self._page = free_port(), free_port()
        self.master = f"spark://{LOOPBACK}:{self._port}"

    def start(self) -> None:
        """Start the master and the workers."""
        places = ["--host", LOOPBACK, "--port", self._port, "--webui-port", self._page]
        self._start("deploy.master.Master", *places)
        wait_for("the master listens", lambda: _listens(self._page) and _listens(self._port))
        for _ in range(WORKERS):
            self.add_worker()
        self.wait_for_workers()

    def add_worker(self) -> None:
        """Start a worker of one core."""
        self._count = getattr(self, "_count", 0) + 1
        work = self.folder / f"work-{self._count}"
        given = ["--host", LOOPBACK, "--cores", 1, "--memory", "1200m", "--webui-port", 0]
        one = self._start("deploy.worker.Worker", *given, "--work-dir", work, self.master)
        self.workers.append(one)

    def wait_for_workers(self) -> None:
        """Wait until all workers are known to the master."""
        wait_for("the workers are there", lambda: self._alive() == len(self.workers))

    def _alive(self) -> int:
        """Count the workers that the master knows; none while its page is not laid out yet."""
        address = f"http://{LOOPBACK}:{self._page}/json/"
        try:
            with urllib.request.urlopen(address, timeout=5) as page:
                return int(json.load(page)["aliveworkers"])
        except (OSError, ValueError):
            return 0

    def executors(self) -> list[tuple[subprocess.Popen[bytes], psutil.Process]]:
        """Give the processes of executors, each with its worker."""
        return [
            (worker, child)
            for worker in self.workers
            for child in psutil.Process(worker.pid).children()
            if child.name() == "java"
        ]

    def kill_worker(self) -> None:
        """Kill a worker that runs an executor, and that executor, as a machine that fails does."""
        worker, executor = wait_for("an executor", self.executors)[0]
        worker.send_signal(signal.SIGKILL)
        executor.kill()
        worker.wait()
        self.workers.remove(worker)

    def connect(self) -> str:
        """Start a server of Connect, once, and give its address."""
        if self._connect is None:
            port = free_port()
            conf = {
                "spark.connect.grpc.binding.address": LOOPBACK,
                "spark.connect.grpc.binding.port": port,
            }
            server = self._start(
                "deploy.SparkSubmit",
                "--master=local[2]",
                *[f"--conf={name}={value}" for name, value in conf.items()],
                "--class=org.apache.spark.sql.connect.service.SparkConnectServer",
                "spark-internal",
                SPARK_DAEMON_MEMORY="1g",
            )
            wait_for("the server listens", lambda: _listens(port) or server.poll() is not None)
            if server.poll() is not None:
                raise RuntimeError(f"the server of Connect ended: {self.said(server)}")
            self._connect = f"sc://{LOOPBACK}:{port}"
        return self._connect

    def said(self, process: subprocess.Popen[bytes]) -> str:
        """Give what a process of the cluster wrote to its log."""
        return (self.folder / f"log-{self._processes.index(process)}").read_text()

    def _start(self, name: str, *given: object, **changes: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"log-{len(self._processes)}"
        with log.open("wb") as said:
            one = subprocess.Popen(
                [HOME / "bin" / "spark-class", f"org.apache.spark.{name}", *map(str, given)],
                env=self.environment | changes,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=_ends_with_parent,  # noqa: PLW1509 # which takes no lock
            )
        self._processes.append(one)
        return one

    def stop(self) -> None:
        """End every process of the cluster, and remove what it wrote."""
        atexit.unregister(self.stop)
        every = [one for one in self._processes if one.poll() is None]
        below = [child for one in every for child in psutil.Process(one.pid).children(True)]
        for process in [*every, *below]:
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                process.kill()
        for one in every:
            one.wait()
        psutil.wait_procs(below, timeout=10)
        shutil.rmtree(self.folder, ignore_errors=True)
