"""What a shell asks of the program: completion, help and the version, all at once and light."""

import json
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len

from lookalike import __version__
from lookalike.cli.app import program
from processes import DEADLINE, environment

HEAVY = ("numba", "numpy", "pandas", "polars", "pyarrow", "scipy")
COMMANDS = sorted(str(command.name) for command in program().registered_commands)
SHELLS = ("bash", "zsh", "fish")


def completed(told, monkeypatch, shell, *words):
    """Give what a shell is offered for the last of some words."""
    line = " ".join(["lookalike", *words])
    monkeypatch.setenv("_LOOKALIKE_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    status, output, errors = told()
    assert (status, errors) == (0, "")
    return output


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_names_the_program(shell, told, monkeypatch):
    monkeypatch.setenv("_LOOKALIKE_COMPLETE", f"source_{shell}")
    status, output, errors = told()
    assert (status, errors) == (0, "")
    assert f"_LOOKALIKE_COMPLETE=complete_{shell}" in output
    assert re.search(r"\blookalike\b", output)
    asks = {
        "bash": "complete -o default -F _lookalike_completion lookalike",
        "zsh": "compdef _lookalike_completion lookalike",
        "fish": "complete --command lookalike",
    }
    assert asks[shell] in output


@pytest.mark.parametrize("shell", SHELLS)
def test_the_begin_of_a_command_is_completed(shell, told, monkeypatch):
    output = completed(told, monkeypatch, shell, "de")
    assert "dedup" in output
    assert not any(name in output for name in COMMANDS if name != "dedup")


def test_every_command_is_offered(told, monkeypatch):
    assert sorted(completed(told, monkeypatch, "bash", "").split()) == COMMANDS


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["dedup", "--ag"], ["--against"]),
        (["dedup", "docs.jsonl", "--th"], ["--threshold", "--threads"]),
        (["find", "--max"], ["--max-df"]),
        (["find", "docs.jsonl", "--format", "p"], ["parquet"]),
        (["lose"], []),
    ],
)
def test_options_and_their_values_are_completed(words, offered, told, monkeypatch):
    assert completed(told, monkeypatch, "bash", *words).split() == offered


def test_version_help_and_completion_load_nothing_heavy():
    asked = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS), []]
    code = f"""
import json, os, sys
from lookalike.cli import main
for arguments in {asked}:
    sys.argv = ["lookalike", *arguments]
    if not arguments:
        os.environ |= dict(
            _LOOKALIKE_COMPLETE="complete_bash", COMP_WORDS="lookalike de", COMP_CWORD="1"
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
    assert offered == "dedup\n"
    assert json.loads(loaded) == []
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", general, re.MULTILINE)
    for name, page in zip(("", *COMMANDS), (general, *pages), strict=True):
        assert re.search(rf"Example: lookalike {name or 'find'} ", " ".join(page.split()))
        assert max(map(cell_len, page.split("\n"))) <= 80
        assert "\x1b" not in page
        assert f"Usage: lookalike {name}" in page
