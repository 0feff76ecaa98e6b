"""The wheel is looked through before it is installed; the oldest versions are those declared."""

import re
import tomllib
import zipfile

import pytest
from conftest import ROOT  # type: ignore[import-not-found]
from tools import fresh_install

GOOD = [
    "lookalike/__init__.py",
    "lookalike/py.typed",
    "lookalike/text/unicode.bin",
    "lookalike/learn/samples/1-original.txt",
    "lookalike/learn/web/page.html",
    "lookalike/learn/web/page.css",
    "lookalike/learn/web/start.js",
    "lookalike/reports/page/page.html",
    "lookalike/reports/page/page.css",
    "lookalike/reports/page/main.js",
    "lookalike-0.1.0.dist-info/METADATA",
    "lookalike-0.1.0.dist-info/licenses/LICENSE",
]


def wheel_of(folder, names):
    path = folder / "lookalike-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "")
    return path


def test_a_wheel_with_the_package_alone_is_good(tmp_path):
    fresh_install.check_contents(wheel_of(tmp_path, GOOD))


@pytest.mark.parametrize(
    "name",
    [
        "tests/test_api.py",
        "lookalike/kernels/__pycache__/sets.py",
        "lookalike/kernels/sets.so",
        "other.py",
    ],
)
def test_what_is_no_part_of_the_package_is_refused(name, tmp_path):
    with pytest.raises(SystemExit, match=re.escape(name)):
        fresh_install.check_contents(wheel_of(tmp_path, [*GOOD, name]))


@pytest.mark.parametrize("name", [*GOOD[1:4], GOOD[-1]])
def test_what_is_missing_is_told(name, tmp_path):
    with pytest.raises(SystemExit, match="lacks"):
        fresh_install.check_contents(wheel_of(tmp_path, [one for one in GOOD if one != name]))


def test_each_dependency_has_an_oldest_version(tmp_path):
    project = ROOT / "pyproject.toml"
    declared = tomllib.loads(project.read_text())["project"]["dependencies"]
    assert fresh_install.oldest(project) == [one.replace(">=", "==") for one in declared]
    unbounded = tmp_path / "pyproject.toml"
    unbounded.write_text('[project]\ndependencies = ["numpy"]\n')
    with pytest.raises(SystemExit, match="numpy"):
        fresh_install.oldest(unbounded)


def test_the_tests_that_are_run_in_fresh_environments_are_there():
    assert all((ROOT / name).is_file() for name in fresh_install.TESTS)
    assert [one.partition("==")[0] for one in fresh_install.testing()] == [*fresh_install.TESTING]
