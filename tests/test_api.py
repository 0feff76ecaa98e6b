"""Python can do what a command can: name sources, write, keep work, and go on after a kill."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike import Result

TEXTS = [f"{word} is the first word of a text that goes on as all the others do" for word in "abcd"]


def write(path: Path, texts: list[str], begin: int = 0) -> Path:
    lines = [json.dumps({"id": begin + at, "text": text}) for at, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def several(tmp_path, monkeypatch) -> Path:
    """Give a folder with several files, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", TEXTS[:2])
    write(tmp_path / "b1.jsonl", TEXTS[1:3], 10)
    write(tmp_path / "b2.jsonl", TEXTS[2:], 20)
    return tmp_path


def test_several_paths_and_patterns_are_one_source_as_on_the_command_line(several, told):
    status, output, _ = told("find", "a.jsonl", "b*.jsonl", "--format", "jsonl", "-q")
    assert status == 0
    pairs = [json.loads(line) for line in output.splitlines()]
    assert len(pairs) >= 2
    names = "a.jsonl", "b1.jsonl", "b2.jsonl"
    for source in (
        lookalike.paths("a.jsonl", "b*.jsonl"),
        lookalike.paths(several / "a.jsonl", "b?.jsonl"),
        lookalike.paths(*names),
        [Path(name) for name in names],
        tuple(several / name for name in names),
        [Path("a.jsonl"), Path("b*.jsonl")],
        lookalike.paths("*.jsonl"),
        "*.jsonl",
        several,
    ):
        assert lookalike.find(source).pairs.to_pylist() == pairs


def test_strings_in_a_list_are_texts_and_one_string_is_a_path(several):
    assert lookalike.find(["a.jsonl", "a.jsonl"]).pairs.num_rows == 1
    assert lookalike.find("a.jsonl").summary.documents == 2
    assert lookalike.find(lookalike.paths()).summary.documents == 0
    with pytest.raises(lookalike.SourceError, match=r"none\.jsonl"):
        lookalike.find(lookalike.paths("a.jsonl", "none.jsonl"))


def test_an_address_keeps_its_slashes():
    (name,) = lookalike.paths("s3://bucket//key")
    assert name.__fspath__() == "s3://bucket//key"


def test_standard_input_is_a_source_too(several, told, monkeypatch):
    given = (several / "a.jsonl").read_bytes() + (several / "b1.jsonl").read_bytes()
    _, output, _ = told("find", "-", "--format", "jsonl", "-q", given=given)
    pairs = [json.loads(line) for line in output.splitlines()]
    assert pairs
    for source in ("-", lookalike.paths("-")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert lookalike.find(source).pairs.to_pylist() == pairs


def test_several_references_are_one_as_on_the_command_line(several, told):
    write(several / "texts.jsonl", TEXTS, 30)
    more = "--against", "a.jsonl", "--against", "b1.jsonl"
    told("dedup", "texts.jsonl", "-o", "by-command", *more, "-q", "-t", "0.99")
    wanted = Result.open("by-command")
    for at, against in enumerate(
        (lookalike.paths("a.jsonl", "b1.jsonl"), [Path("a.jsonl"), Path("b1.jsonl")])
    ):
        found = lookalike.dedup("texts.jsonl", against=against, threshold=0.99, out=f"out-{at}")
        assert found.counts == {"read": 4, "kept": 1, "removed": 3, "empty": 0}
        opened: Any = Result.open(f"out-{at}")
        assert opened.removed.equals(found.removed)
        assert opened.record()["job"] == wanted.record()["job"]
        assert opened.removed.equals(wanted.removed)  # type: ignore[attr-defined]


def test_files_that_python_writes_are_those_of_the_command(several, told):
    told("find", "a.jsonl", "b1.jsonl", "-q", "-o", "c.jsonl", "--clusters", "c.csv")
    sources = lookalike.paths("a.jsonl", "b1.jsonl")
    lookalike.find(sources, out="p.jsonl", clusters="p.csv", work="work")
    assert Path("c.jsonl").read_bytes() == Path("p.jsonl").read_bytes()
    assert Path("c.csv").read_bytes() == Path("p.csv").read_bytes()
    said: list[str] = []
    lookalike.find(sources, out="again.jsonl", work="work", say=said.append)
    assert "Resuming from the work in work." in said
    assert Path("again.jsonl").read_bytes() == Path("p.jsonl").read_bytes()
    assert not [*several.glob(".*")]


KILLED = """
import json, os, signal, sys
import lookalike
from lookalike.job.work_folder import Work
checkpoint, seen = Work.checkpoint, 0
def killed(self):
    global seen
    checkpoint(self)
    seen += 1
    if seen == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
Work.checkpoint = killed
getattr(lookalike, sys.argv[2])(sys.argv[3], **json.loads(sys.argv[4]))
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Give a corpus that takes more than one checkpoint."""
    texts = [f"{at} {at * 7919 % 1009} {at * 104729 % 997} and so on" for at in range(600)]
    return write(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts + texts[::3])


@pytest.mark.long
@pytest.mark.parametrize("moment", [2, 4])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("find", {"out": "found"}),
        ("find", {"out": "found.parquet", "estimate": True}),
        ("dedup", {"out": "clean"}),
        ("contained", {"out": "inside.csv", "work": "work"}),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_killed_call_goes_on_when_it_is_made_again(
    command, options, moment, corpus, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    call: Any = getattr(lookalike, command)
    given = [str(moment), command, str(corpus), json.dumps(options)]
    ended = subprocess.run([sys.executable, "-c", KILLED, *given], check=False, cwd=tmp_path)
    assert ended.returncode == -signal.SIGKILL
    assert not Path(options["out"]).exists()
    said: list[str] = []
    result = call(corpus, **options, say=said.append)
    # Before the first stage has begun there is nothing to go on from.
    assert moment == 2 or any(line.startswith("Resuming from the work in") for line in said)
    whole = call(corpus, **{name: value for name, value in options.items() if name == "estimate"})
    name = "removed" if command == "dedup" else "pairs"
    opened: Any = Result.open(options["out"])
    assert getattr(whole, name).num_rows > 100
    for found in (result, opened):
        assert getattr(found, name).equals(getattr(whole, name))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
