"""Install the wheel into a fresh environment, and use it there as a stranger would.

    python tools/fresh_install.py dist/lookalike-0.1.0-py3-none-any.whl oldest

The environment gets the oldest versions that pyproject.toml allows of what Lookalike needs, or with
`newest` whatever pip takes. The contents of the wheel are checked, then the program and the package
from a folder outside the source tree, then those tests that need no other library. All of it uses
the Python that runs this, which needs nothing but the standard library.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCE = ".dist-info/licenses/LICENSE"
NEEDED = (
    *("lookalike/py.typed", "lookalike/text/unicode.bin", "lookalike/learn/samples/"),
    *("lookalike/learn/web/page.html", "lookalike/learn/web/page.css"),
    *("lookalike/learn/web/start.js", "lookalike/reports/page/page.html"),
    *("lookalike/reports/page/page.css", "lookalike/reports/page/main.js"),
)
ALLOWED = (".py", ".txt", ".bin", ".typed", ".html", ".css", ".js")
TESTING = ("hypothesis", "pytest", "pytest-xdist")
TESTS = (
    "tests/cli/test_cli_commands.py",
    "tests/cli/test_cli_completion.py",
    "tests/cli/test_cli_dedup.py",
    "tests/index/test_index_answers.py",
    "tests/read/test_read_json.py",
    "tests/read/test_read_patterns.py",
    "tests/results/test_pairs.py",
    "tests/score/test_jaccard.py",
    "tests/sketches/test_hyperplanes.py",
    "tests/sketches/test_minhash.py",
    "tests/test_options.py",
    "tests/write/test_files.py",
)
"""Every stage and every library once: a part of the tests, which `make test` runs as a whole."""
IN_PYTHON = """
import sys
import lookalike
assert "site-packages" in lookalike.__file__, lookalike.__file__
found = lookalike.find(["a rose is a rose", "A rose  is a rose", "another text"])
assert found.pairs.to_pylist() == [{"a": 0, "b": 1, "similarity": 1.0, "score": "exact"}]
assert len(lookalike.dedup(sys.argv[1]).removed) == 6
"""


def check_contents(wheel: Path) -> None:
    """See that the wheel has what the package needs, and nothing that was left lying about."""
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        if not any(name.startswith(needed) for name in names):
            sys.exit(f"{wheel} lacks {needed}")
    if not any(name.endswith(LICENCE) for name in names):
        sys.exit(f"{wheel} lacks the text of its licence")
    for name in names:
        package, _, rest = name.partition("/")
        if package.endswith(".dist-info"):
            continue
        if package != "lookalike" or not name.endswith(ALLOWED) or "__pycache__" in rest:
            sys.exit(f"{wheel} has {name}, which is no part of the package")


def oldest(project: Path) -> list[str]:
    """Give the oldest versions that a pyproject.toml allows of what its package needs."""
    needs = tomllib.loads(project.read_text())["project"]["dependencies"]
    pinned = [one.replace(">=", "==") for one in needs]
    for one in pinned:
        if one.count("==") != 1:
            sys.exit(f"{project}: no oldest version can be told of {one}")
    return pinned


def testing() -> list[str]:
    """Give what runs the tests, in the versions that are known to work."""
    known = (ROOT / "constraints.txt").read_text().split()
    return [one for one in known if one.partition("==")[0] in TESTING]


def run(*command: object, **options: str) -> None:
    """Run a command outside the source tree, or in a folder, and end where it fails."""
    print("+", *command, flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)],
        env=environment,
        cwd=options.get("cwd", tempfile.gettempdir()),
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}")


def main(wheel: Path, which: str) -> None:
    check_contents(wheel)
    folder = ROOT / ".cache" / "fresh" / f"{which}-{sys.version_info[0]}.{sys.version_info[1]}"
    venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    versions = oldest(ROOT / "pyproject.toml") if which == "oldest" else []
    run(python, "-m", "pip", "install", "--quiet", wheel.resolve(), *versions, *testing())
    run(programs / "lookalike", "--version")
    examples = ROOT / "examples" / "documents"
    run(programs / "lookalike", "find", examples)
    run(python, "-c", IN_PYTHON, examples)
    workers = ("--numprocesses", "auto", "--maxprocesses", "4")
    run(python, "-m", "pytest", "-q", "-m", "not long", *workers, *TESTS, cwd=str(ROOT))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
