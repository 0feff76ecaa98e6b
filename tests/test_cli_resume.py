"""Jobs of the command line that are stopped, by anything, and run again."""

import contextlib
import errno
import gc
import json
import os
import random
import re
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from filing import write_records
from lookalike import band
from lookalike.cli import main
from lookalike.pipeline import comparing, sketching
from lookalike.read import Corpus
from lookalike.work import Work
from running import DEADLINE, environment

OPTIONS = ("-s", "words:2", "-t", "0.6", "--text", "text", "--id", "id")
TARGETS = {
    "dedup": "clean",
    "find": "pairs.jsonl",
    "find as parquet": "pairs.parquet",
}
SPOTS = {
    "before a checkpoint": (Work, "checkpoint", False),
    "after a checkpoint": (Work, "checkpoint", True),
    "before a file takes its place": (Path, "replace", False),
    "before a file is safe on disk": (os, "fsync", False),
    "after a copy": (Corpus, "copy", True),
}


class PowerCut(BaseException):  # noqa: N818
    """Ends a job as the end of its process does, past every handler of errors."""


def end_by_power_cut():
    raise PowerCut


def end_by_kill():
    os.kill(os.getpid(), signal.SIGKILL)


def end_by_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def in_small_pieces(patch):
    """Let a small corpus make many batches, blocks of keys and stretches."""
    for module in (band, sketching):
        patch(module, "TOGETHER", 20)
    patch(comparing, "STRETCH", 20)
    patch(sketching, "PIECE", 2000)
    batches = Corpus.batches
    patch(Corpus, "batches", lambda *given, **named: batches(*given, **named, batch_bytes=3000))


def end_at(patch, spot, moment, end):
    """End a job when it comes to a spot for the n-th time."""
    owner, name, after = SPOTS[spot]
    original = getattr(owner, name)
    seen = 0

    def ending(*given, **named):
        nonlocal seen
        seen += 1
        if seen == moment and not after:
            end()
        result = original(*given, **named)
        if seen == moment and after:
            end()
        return result

    patch(owner, name, ending)


def run_to_its_end(spot, moment, end, *arguments):
    """Run the program in this process, which is one of its own, until it comes to a spot."""
    in_small_pieces(setattr)
    end_at(setattr, spot, int(moment), globals()[end])
    sys.argv = ["lookalike", *arguments]
    main()


def ended(spot, moment, end, *arguments):
    """Run the program in a process of its own that ends at a spot: status, output, errors."""
    code = "import sys, test_cli_resume as here; here.run_to_its_end(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, spot, str(moment), end.__name__, *map(str, arguments)],
        capture_output=True,
        env=environment(PYTHONPATH=str(Path(__file__).parent)),
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def records():
    """Make edits of a few texts, copies among them."""
    choice = random.Random(3)
    words = [f"word{at}" for at in range(50)]
    originals = [choice.choices(words, k=30) for _ in range(8)]
    for at in range(120):
        text = list(choice.choice(originals))
        for _ in range(choice.choice([0, 1, 2, 4, 8])):
            text[choice.randrange(30)] = choice.choice(words)
        yield {"id": f"d{at:03}", "text": " ".join(text), "note": f"row {at}"}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Give a folder of files of several kinds."""
    folder = tmp_path_factory.mktemp("source")
    made = list(records())
    write_records(folder / "a.jsonl", made[:50])
    write_records(folder / "b.csv.gz", made[50:80])
    write_records(folder / "c.parquet", made[80:110])
    for record in made[110:]:
        (folder / f"{record['id']}.txt").write_text(record["text"])
    return folder


def tree(path):
    """Give the bytes of a file, or of all files below a folder; of run.json what is of the run."""
    if path.is_file():
        return path.read_bytes()
    found = {}
    for file in sorted(path.rglob("*")):
        name = str(file.relative_to(path))
        if file.is_dir():
            found[name] = None
        elif name == "run.json":
            found[name] = {k: v for k, v in json.loads(file.read_bytes()).items() if k != "seconds"}
        else:
            found[name] = file.read_bytes()
    return found


@pytest.fixture
def job(monkeypatch, told, source):
    """Give a function that runs a command in this process, in small pieces."""
    in_small_pieces(monkeypatch.setattr)

    def run(command, out, *more):
        # The lock of a job that was cut off goes with its objects.
        gc.collect()
        return told(command.split()[0], source, *OPTIONS, "-o", out, "-q", *more)

    return run


@pytest.fixture
def expected(job, tmp_path_factory):
    """Give a function that tells what an undisturbed job writes."""

    def of(command, *more):
        out = tmp_path_factory.mktemp("undisturbed") / TARGETS[command]
        assert job(command, out, *more) == (0, "", "")
        assert os.listdir(out.parent) == [out.name]
        return tree(out)

    return of


@pytest.mark.parametrize("spot", SPOTS)
@pytest.mark.parametrize("command", TARGETS)
def test_a_job_cut_off_anywhere_goes_on_to_the_same_bytes(
    command, spot, job, expected, tmp_path, monkeypatch
):
    if command != "dedup" and spot == "after a copy":
        pytest.skip("only dedup copies")
    wanted = expected(command)
    for moment in count(1):
        out = tmp_path / str(moment) / TARGETS[command]
        out.parent.mkdir()
        with monkeypatch.context() as patched:
            end_at(patched.setattr, spot, moment, end_by_power_cut)
            try:
                assert job(command, out) == (0, "", "")
                break
            except PowerCut:
                pass
        assert not out.exists() or tree(out) == wanted
        assert job(command, out) == (0, "", "")
        assert tree(out) == wanted
        assert os.listdir(out.parent) == [out.name]
    print(command, spot, moment)
