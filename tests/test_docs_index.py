"""The guide to the index says what the program does: each of its examples is run."""

import ast
import re
import shlex

import pytest
from conftest import ROOT  # type: ignore[import-not-found]

from lookalike.cli.index import COMMANDS
from source_files import write_records

PAGE = (ROOT / "docs" / "index.md").read_text()
FERRY = "The ferry leaves at six in the morning, and the lemons go with it to the mainland."
TRAM = "The last tram of the day is empty but for the driver and a dog that sleeps."
WELL = "Nobody in the village remembered who had planted the chestnut beside the well."
BREAD = "Bread is flour and water, salt and time, and there is no way around the time."
KEEPER = "A keeper of the lighthouse wrote down the weather every evening for forty years."
DAYS = {
    "monday": {"a.example/ferry": FERRY, "a.example/tram": TRAM, "b.example/well": WELL},
    "tuesday": {
        "b.example/ferry": FERRY.replace("six", "ten"),
        "c.example/keeper": KEEPER,
        "c.example/tram": TRAM,
    },
}
DAYS["monday"]["c.example/bread"] = BREAD


@pytest.fixture(autouse=True)
def files_of_the_guide(tmp_path, monkeypatch):
    """Give the files that the guide speaks of, two days of a crawl."""
    monkeypatch.chdir(tmp_path)
    for (day, pages), seen in zip(DAYS.items(), ("2026-01-05", "2026-01-06"), strict=True):
        records = [
            {"url": f"https://{name}", "text": text, "site": name.split("/")[0], "seen": seen}
            for name, text in pages.items()
        ]
        write_records(tmp_path / f"{day}.jsonl", records)


def commands():
    """Give the commands of the guide in order, each with what it is said to write."""
    found = []
    for block in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            elif found and block.startswith("$ "):
                found[-1][1].append(line)
    return found


def test_the_commands_write_what_the_guide_says(told):
    for line, shown in commands():
        given, _, command = line.rpartition(" | ")
        program, *arguments = shlex.split(command)
        assert program == "lookalike"
        text = shlex.split(given)[1] if given else ""
        status, output, errors = told(*arguments, given=f"{text}\n".encode())
        assert status == 0, errors
        written = " ".join((output + errors).split())
        pattern = r".*".join(
            re.escape(part) for part in " ".join(" ".join(shown).split()).split("…")
        )
        assert re.search(pattern.replace(r"\ .*\ ", ".*"), written), (line, written)


def run_examples(text, scope):
    """Run code whose last lines, one before each comment at the margin, give what that says."""
    parts = re.findall(r"(.*?)\n([^\n]+)\n# ([^\n]+)\n", text, re.DOTALL)
    for code, last, expected in parts:
        told = re.sub(r"^( *)", r"\1given = ", last)
        exec(f"{code}\n{told}", scope)
        assert scope["given"] == ast.literal_eval(expected), last
    return len(parts)


def test_the_examples_in_python_give_what_the_guide_says():
    scope: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert sum(run_examples(block, scope) for block in blocks) == len(blocks) == 4


def test_those_of_the_python_page_do_too():
    page = (ROOT / "docs" / "python.md").read_text()
    first = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    section = re.search(r"## An index that lasts\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert first
    assert section
    scope: dict[str, object] = {}
    assert run_examples(first[1], scope) == 1
    assert run_examples(section[1], scope) == 2


def test_every_command_on_an_index_is_in_the_guide():
    for name in COMMANDS:
        assert f"lookalike index {name} " in PAGE, name
