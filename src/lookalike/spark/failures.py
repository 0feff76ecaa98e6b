"""What Spark says when it fails, in one line that says what, where and what to do."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lookalike.base import errors
from lookalike.base.errors import LookalikeError, OutputError, SourceError, SparkError
from lookalike.base.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["PACKAGE_MISSING", "clear_errors", "described", "place_of"]

SAID_CHARACTERS = 300
"""Of what Spark says where nothing here knows it."""
PACKAGE_MISSING = (
    "{} has no package {}: install lookalike and what it needs on every worker, in the "
    "Python that runs there"
)
REASON = r"^(?:: |Caused by: )?([\w.$]+(?:Exception|Error): .+)$"
ROOTS = ("pyspark.", "py4j.", "grpc.")
"""Packages whose errors are those of Spark."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """Let no error of Spark through but as one of Lookalike, of one line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(ROOTS):
            raise
        if _is_stopped(error):
            raise KeyboardInterrupt from None
        raise described(error) from None


def _is_stopped(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C ended the job: PySpark cancels it, and fails with that on its way out."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def described(error: BaseException | str) -> LookalikeError:
    """Say what a failure of Spark is about."""
    text = str(error)
    ours = re.findall(r"^lookalike\.base\.errors\.(\w+): (.+)$", text, re.MULTILINE)
    if ours:
        kind, message = ours[-1]
        made = LookalikeError(message)
        made.__class__ = getattr(errors, kind, LookalikeError)
        return made
    for pattern, made_of in _KNOWN:
        found = re.search(pattern, text)
        if found:
            return made_of(found, place_of(text))
    # The last reason is what the others came of.
    reasons = re.findall(REASON, text, re.MULTILINE)
    said = reasons[-1] if reasons else next(filter(str.strip, text.splitlines()), "for no reason")
    return SparkError(f"Spark failed: {shortened(' '.join(said.split()), SAID_CHARACTERS)}")


def place_of(text: str) -> str:
    """Name the worker on which a task failed, where the message does."""
    found = re.search(r"\(TID \d+\) \(([^ )]+)", text)
    return f"worker {found[1]}" if found else "a worker"


def _python_differs(found: re.Match[str], place: str) -> LookalikeError:
    versions = re.findall(r"\d+[., ]+\d+", found[0])
    there, here = [*versions, "another", "this one"][:2]
    return SparkError(
        f"{place} runs Python {there}, and this is Python {here}: install the same there, "
        "and name it by the configuration spark.pyspark.python"
    )


def _no_store(found: re.Match[str], _: str) -> LookalikeError:
    if "s3a" in found[0].lower():
        return SourceError(
            "Spark reads s3a:// with the library hadoop-aws, which is missing: add it by the "
            "configuration spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with the "
            "version of the Hadoop that Spark has"
        )
    return SourceError(
        f"Spark has no library for this store, {found[1]}: name a path that it can read, or add "
        "the library by the configuration spark.jars.packages"
    )


_KNOWN: tuple[tuple[str, Callable[[re.Match[str], str], LookalikeError]], ...] = (
    (
        r"ModuleNotFoundError: (?:No module named ')?([\w.]+)",
        lambda found, place: SparkError(PACKAGE_MISSING.format(place, found[1])),
    ),
    (
        r"\[PACKAGE_NOT_INSTALLED\] (\S+)",
        lambda found, _: SparkError(
            f"Spark needs the package {found[1].lower()}: pip install 'lookalike[spark]'"
        ),
    ),
    (r"(?s)PYTHON_VERSION_MISMATCH.{0,200}", _python_differs),
    (
        r"\[PATH_NOT_FOUND\] Path does not exist: (\S+?)\.? ",
        lambda found, _: SourceError(f"{found[1]} does not exist: name another source"),
    ),
    (
        r"\[PATH_ALREADY_EXISTS\] Path (\S+) already exists",
        lambda found, _: OutputError(f"{found[1]} exists: remove it, or name another folder"),
    ),
    (r"ClassNotFoundException: Class (\S+FileSystem) not found", _no_store),
    (r'No FileSystem for scheme "?([\w+.-]+)', _no_store),
    (
        r"\[MALFORMED_RECORD_IN_\w+\S*\] Malformed records are detected in [\w ]+[:.] ?(.*)",
        lambda found, _: SourceError(
            f"a record cannot be read, {shortened(found[1], 120)}: fix or remove it"
        ),
    ),
    (
        r"\[UNABLE_TO_INFER_SCHEMA\]",
        lambda *_: SourceError("the sources hold no table with columns: name others"),
    ),
    (
        r"OutOfMemoryError|Container killed by YARN for exceeding|exit code 137|OOMKilled",
        lambda _, place: SparkError(
            f"{place} ran out of memory: raise spark.executor.memory and "
            "spark.executor.memoryOverhead, or with a local master spark.driver.memory"
        ),
    ),
    (
        r"No space left on device",
        lambda _, place: SparkError(
            f"a disk of {place} is full: make space, or name another folder by the "
            "configuration spark.local.dir"
        ),
    ),
    (
        (
            r"All masters are unresponsive|Cannot call methods on a stopped SparkContext|"
            r"Could not parse Master URL: '?([^']*)"
        ),
        lambda found, _: SparkError(
            f"{found[1]} is no master of Spark: use local[4], spark://HOST:PORT, yarn, "
            "k8s://HOST:PORT or sc://HOST:PORT"
            if found[1]
            else "the master of Spark ended the job, or cannot be reached: is it running?"
        ),
    ),
    (
        r"StatusCode\.UNAVAILABLE|UNAVAILABLE: (?:io exception|failed to connect)",
        lambda *_: SparkError("the server of Spark Connect cannot be reached: is it running?"),
    ),
    (
        r"AccessControlException|Permission denied: ?(.*)",
        lambda found, _: OutputError(
            f"Spark may not read or write there: {shortened(found[0].splitlines()[0], 120)}"
        ),
    ),
)
"""What is looked for in the message, and what is made of it."""
