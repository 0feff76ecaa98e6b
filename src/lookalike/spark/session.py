"""A session of Spark for the command line: started, quiet, and ended with the job."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lookalike.base.errors import LookalikeError, MissingExtraError, SettingsError, SparkError
from lookalike.base.memory import default_memory
from lookalike.base.wording import setting
from lookalike.spark.failures import clear_errors, described
from lookalike.spark.java import use_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

__all__ = ["BUFFERED", "KEPT_MEMORY", "conf_of", "java_options", "running_session"]

REACH_SECONDS = 10.0
"""That a master may take to be reached."""
PORTS = {"spark": 7077, "sc": 15002}
"""Of masters that are reached over a socket, unless they name another."""
MASTERS = re.compile(r"local(\[[^\]]+\])?|local-cluster\[.+\]|yarn|(spark|sc|k8s)://.+")
ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER")
"""Where any of these is set, the master may be configured already."""
OUR_CONF = {
    "spark.sql.adaptive.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
"""Of a Java that runs one job: its second compiler takes longer than what it compiles then saves,
or at a million documents as long."""
YOUNG_BYTES = 256 << 20
"""Of memory for what is new, for each core. Java takes as much as it may, and memory that was not
used before costs more than to collect what is in it."""
YOUNG_SHARE = 4
"""The share of all memory that it has at the most: one in so many."""
FEW_CORES = 2
"""Up to so many, one thread collects in less time than several do beside the work."""
OF_JAVA = ("SPARK_DRIVER_MEMORY", "SPARK_MEM", "PYSPARK_SUBMIT_ARGS", "SPARK_SUBMIT_OPTS")
"""Where any of these is set, Java has its memory and options from there."""
OF_COLLECTORS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Where options for Java may stand; it does not start where two of them name a collector."""
BUFFERED = {"spark.buffer.size": str(1 << 20)}
"""Java and Python hand each other texts through it: the more at a time, the fewer calls."""
KEPT_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 29),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_ARENA_MAX": "1",
}
"""For the C library of Java and of Python, which otherwise gives the memory of each batch back to
the system, and takes it again, page by page, for the next one; so it does with that of threads of
which each has an arena of its own."""
LOCAL_CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "32",
    "spark.ui.enabled": "false",
}
"""Of one machine alone, whatever its network is like."""
MEMORY = "spark.driver.memory"
"""On one machine all of Java has it. Spark's own default is 1 GB; half of what is free leaves
as much for the workers."""
JAVA_SAYS = re.compile(r"(?:Exception|Error)\b[^\n]*")


def conf_of(given: Sequence[str] | None) -> dict[str, str]:
    """Read configuration as it is typed: name=value."""
    found = {}
    for one in given or ():
        name, sign, value = one.partition("=")
        if not sign or not name.strip():
            raise SettingsError(
                f"{setting('spark_conf', one)}: use a name and a value, as spark.executor.memory=8g"
            )
        found[name.strip()] = value.strip()
    return found


@contextmanager
def running_session(master: str | None, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """Give a session, with what Java says kept from the screen; one that was started is ended."""
    sessions = _sessions()
    chosen = master or _configured()
    if chosen is not None:
        check_master(chosen)
    running = sessions.getActiveSession()
    if running is not None and master is None:
        # That of a program that runs commands, as a notebook does: it stays as it is.
        with clear_errors():
            yield running
        return
    remote = (chosen or "").startswith("sc://") or (master is None and "SPARK_REMOTE" in os.environ)
    if not remote:
        use_java()
        for name, value in {"PYSPARK_PYTHON": sys.executable, **KEPT_MEMORY}.items():
            os.environ.setdefault(name, value)
    builder = _configure(sessions.builder.appName("lookalike"), chosen, conf, remote=remote)
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"pyspark\.")
        log = Path(folder, "java.log")
        session = _started(builder, log)
        try:
            with clear_errors(), _unlogged():
                yield session
        finally:
            with _stderr_to(log), _unlogged():
                session.stop()


def _sessions() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("jobs on Spark", "spark") from None
    return SparkSession


def _configured() -> str | None:
    """Give this machine as the master where nothing says another."""
    return None if any(name in os.environ for name in ELSEWHERE) else "local[*]"


def _java_is_configured(conf: Mapping[str, str]) -> bool:
    """Tell whether somebody has said what Java gets, but for its memory in `conf`."""
    import pyspark

    defaults = Path(pyspark.__file__).with_name("conf") / "spark-defaults.conf"
    given = any(name in os.environ for name in OF_JAVA) or defaults.exists()
    return given or "spark.driver.defaultJavaOptions" in conf


def _configure(builder: Any, master: str | None, conf: Mapping[str, str], *, remote: bool) -> Any:
    if remote:
        builder = builder.remote(master) if master else builder
        ours: dict[str, str] = {}
    else:
        builder = builder.master(master) if master else builder
        on_this_machine = master == "local" or (master or "").startswith("local[")
        ours = OUR_CONF | (LOCAL_CONF | BUFFERED if on_this_machine else {})
        if on_this_machine and _configured() is not None and not _java_is_configured(conf):
            # Whoever configures Spark may have options for Java there, which these would replace.
            memory = _bytes_of(conf[MEMORY]) if MEMORY in conf else default_memory()
            options = java_options(os.cpu_count() or 1, memory)
            ours |= {MEMORY: f"{memory >> 20}m", "spark.driver.extraJavaOptions": options}
    for name, value in {**ours, **conf}.items():
        builder = builder.config(name, value)
    return builder


def java_options(cores: int, memory: int) -> str:
    """Give the options of a Java that runs one job on this machine, in so much memory."""
    young = min(YOUNG_BYTES * cores, memory // YOUNG_SHARE)
    options = [ONE_COMPILER, f"-Xmn{young >> 20}m"]
    given = " ".join(os.environ.get(name, "") for name in OF_COLLECTORS)
    if cores <= FEW_CORES and not re.search(r"-XX:\+Use\w*GC\b", given):
        options.append("-XX:+UseSerialGC")
    return " ".join(options)


def _bytes_of(memory: str) -> int:
    """Read a size as Spark does, mebibytes without a unit; what is none Spark itself refuses."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", memory.strip().lower())
    if not found:
        return default_memory()
    return int(found[1]) << {"k": 10, "m": 20, "": 20, "g": 30, "t": 40}[found[2]]


def check_master(master: str) -> None:
    """Refuse a master that is none, or that does not answer."""
    if not MASTERS.fullmatch(master):
        raise SettingsError(
            f"{setting('master', master)}: use local[4], spark://HOST:PORT, yarn, k8s://HOST:PORT "
            "or sc://HOST:PORT"
        )
    scheme, _, rest = master.partition("://")
    if scheme not in PORTS:
        return
    places = rest.split(";")[0].rstrip("/").split(",")
    reasons = [reason for place in places if (reason := _unreached(place, PORTS[scheme]))]
    if len(reasons) == len(places):
        raise SparkError(
            f"{master} cannot be reached, {reasons[0]}: is it running, and is its address right?"
        )


def _unreached(place: str, usual: int) -> str | None:
    """Say why a place does not answer, or None where it does."""
    try:
        split = urlsplit(f"//{place}")
        address = split.hostname or "", split.port or usual
        with socket.create_connection(address, timeout=REACH_SECONDS):
            return None
    except TimeoutError:
        return f"no answer within {REACH_SECONDS:.0f} seconds"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()


def _started(builder: Any, log: Path) -> SparkSession:
    try:
        with _stderr_to(log):
            session: SparkSession = builder.getOrCreate()
            return session
    except Exception as error:
        if isinstance(error, LookalikeError):
            raise
        said = log.read_text(errors="replace") if log.exists() else ""
        raise _not_started(f"{error}\n{said}") from None


def _not_started(text: str) -> LookalikeError:
    """Say why Java, or the master, did not start the job."""
    found = described(text)
    if "Spark failed" not in str(found):
        return found
    said = JAVA_SAYS.findall(text)
    reason = " ".join((said[-1] if said else text.splitlines()[0]).split())
    return SparkError(
        f"Spark cannot be started, {reason[:200]}: check the master and the configuration"
    )


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep from the screen what is logged by nobody who asked for it.

    The bridge to Java does that where Ctrl-C ends Java before this process has seen it.
    """
    nowhere = logging.NullHandler()
    logging.root.addHandler(nowhere)
    try:
        yield
    finally:
        logging.root.removeHandler(nowhere)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Send what this process and those that it starts write to standard error into a file."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
