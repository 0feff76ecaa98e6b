"""What a shell asks of the program: completion, help and the version, all at once and light."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from lookalike import __version__
from lookalike.cli import app, completion, index
from processes import DEADLINE, environment

HEAVY = ("numba", "numpy", "pandas", "polars", "pyarrow", "scipy")
COMMANDS = sorted(app.COMMANDS)
SHELLS = ("bash", "zsh", "fish")


def completed(told, monkeypatch, shell, *words):
    """Give what a shell is offered for the last of some words."""
    line = " ".join(["lookalike", *words])
    monkeypatch.setenv("_LOOKALIKE_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    # Fish gives the word itself, the others its place.
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words)))
    status, output, errors = told()
    assert (status, errors) == (0, "")
    return output


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_names_the_program(shell, told, monkeypatch):
    status, output, errors = told("--show-completion", shell)
    assert (status, errors) == (0, "")
    assert f"_LOOKALIKE_COMPLETE={shell}_complete" in output
    asks = {
        "bash": r"^ *complete .*-F _lookalike_completion lookalike$",
        "zsh": r"^ *compdef _lookalike_completion lookalike;?$",
        "fish": r"^complete .*--command lookalike ",
    }
    assert re.search(asks[shell], output, re.MULTILINE)
    monkeypatch.setenv("_LOOKALIKE_COMPLETE", f"{shell}_source")
    assert told()[1].strip() == output.strip()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_begin_of_a_command_is_completed(shell, told, monkeypatch):
    output = completed(told, monkeypatch, shell, "de")
    assert "dedup" in output
    assert not any(name in output for name in COMMANDS if name != "dedup")


def test_every_command_is_offered(told, monkeypatch):
    offered = completed(told, monkeypatch, "bash", "").split()
    assert sorted(offered) == [f"plain,{name}" for name in COMMANDS]
    shown = completed(told, monkeypatch, "zsh", "")
    assert all(sentence in shown for sentence in app.COMMANDS.values())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["dedup", "--ag"], ["--against"]),
        (["dedup", "docs.jsonl", "--th"], ["--threshold", "--threads"]),
        (["find", "--max"], ["--max-df"]),
        (["find", "docs.jsonl", "--format", "p"], ["parquet"]),
        (["lose"], []),
        (["index", "re"], ["remove"]),
        (["index", "query", "pages.lookalike", "--wh"], ["--where"]),
        (["index", "query", "pages.lookalike", "--format", "p"], ["parquet"]),
    ],
)
def test_options_and_their_values_are_completed(words, offered, told, monkeypatch):
    given = completed(told, monkeypatch, "bash", *words).split()
    assert given == [f"plain,{one}" for one in offered]


@pytest.mark.parametrize(
    "words",
    [
        ["find", "es"],
        ["compare", "a.txt", "es"],
        ["learn", "es"],
        ["find", "-o", "es"],
        ["index", "info", "es"],
        ["index", "add", "i", "es"],
    ],
)
def test_the_shell_completes_names_of_files(words, told, monkeypatch):
    assert completed(told, monkeypatch, "bash", *words) == "file,es\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Give a home of which nothing is known, to a user of no known shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SHELL", raising=False)
    monkeypatch.setattr(completion, "_parent", lambda: None)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("shell", "script", "started_by"),
    [
        ("bash", ".bash_completions/lookalike.sh", ".bashrc"),
        ("zsh", ".zfunc/_lookalike", ".zshrc"),
        ("fish", ".config/fish/completions/lookalike.fish", None),
    ],
)
def test_completion_is_installed_once_however_often_it_is_asked_for(
    shell, script, started_by, told, home
):
    if started_by:
        (home / started_by).write_bytes(b"# mine, in Latin-1: \xe9")
    for _ in range(2):
        status, output, errors = told("--install-completion", shell)
        assert (status, errors) == (0, "")
        assert str(home / script) in output
        assert (home / script).read_text() == told("--show-completion", shell)[1].rstrip("\n")
    if started_by:
        mine, line = (home / started_by).read_bytes().splitlines()
        assert mine == b"# mine, in Latin-1: \xe9"
        assert line.decode() in (completion.BASH_LINE, completion.ZSH_LINE)


def test_the_shell_is_told_by_the_parent_or_the_environment(told, home, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "fish" in told("--install-completion")[1]
    monkeypatch.setattr(completion, "_parent", lambda: "zsh")
    assert "#compdef lookalike" in told("--show-completion")[1]


def test_the_parent_is_asked_of_the_system(monkeypatch):
    asked = subprocess.CompletedProcess([], 0, "-bash\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: asked)
    assert completion._parent() == "bash"
    asked.stdout = "/usr/local/bin/pytest\n"
    assert completion._parent() is None
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: os.stat("/nowhere"))  # noqa: PTH116
    assert completion._parent() is None


@pytest.mark.parametrize(("given", "named"), [([], "this shell is not known"), (["csh"], "'csh'")])
@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_another_shell_is_refused_in_a_line(option, given, named, told, home):
    status, output, errors = told(option, *given)
    assert (status, output) == (2, "")
    assert re.fullmatch(rf"lookalike: completion is for bash, zsh, fish: {named}.*\n", errors)
    assert option in errors


def test_a_home_that_cannot_be_written_to_is_told_in_a_line(told, home):
    (home / ".zfunc").write_text("")
    status, output, errors = told("--install-completion", "zsh")
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: .*\.zfunc: .*--show-completion zsh prints .*\n", errors)


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_asks_the_program_by_its_script(told, tmp_path):
    script = tmp_path / "lookalike.sh"
    script.write_text(told("--show-completion", "bash")[1])
    program = tmp_path / "lookalike"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lookalike "$@"\n')
    program.chmod(0o755)
    asks = (
        f"source {script}; COMP_WORDS=(lookalike de); COMP_CWORD=1; "
        '_lookalike_completion lookalike de lookalike; echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", asks],
        capture_output=True,
        env=environment(PATH=path),
        timeout=DEADLINE,
        check=True,
    )
    assert done.stdout == b"dedup\n"


def test_version_help_and_completion_load_nothing_heavy():
    names = [*COMMANDS, *(f"index {name}" for name in index.COMMANDS)]
    asked = [["--version"], ["--help"], *([*name.split(), "--help"] for name in names), []]
    code = f"""
import json, os, sys
from lookalike.cli import main
for arguments in {asked}:
    sys.argv = ["lookalike", *arguments]
    if not arguments:
        os.environ |= dict(
            _LOOKALIKE_COMPLETE="bash_complete", COMP_WORDS="lookalike de", COMP_CWORD="1"
        )
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
    print("=====")
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=environment(COLUMNS="80"),
        timeout=DEADLINE,
        check=True,
    )
    version, general, *pages, offered, loaded = done.stdout.decode().split("=====\n")
    assert version.startswith(f"lookalike {__version__}\n")
    assert offered == "plain,dedup\n"
    assert json.loads(loaded) == []
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", general, re.MULTILINE)
    for name, page in zip(("", *names), (general, *pages), strict=True):
        assert re.search(rf"Example: lookalike {name or 'find'} ", " ".join(page.split()))
        assert max(map(cell_len, page.split("\n"))) <= 80
        assert "\x1b" not in page
        assert f"Usage: lookalike {name}" in page
