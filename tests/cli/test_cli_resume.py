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
from typing import Any

import pytest

from lookalike.base.errors import UnreadableError
from lookalike.candidates import buckets
from lookalike.cli import main
from lookalike.cluster import thinning
from lookalike.job import compare, sketch
from lookalike.job.work_folder import Work
from lookalike.read import Corpus
from processes import DEADLINE, environment
from source_files import ids_and_texts, write_records

pytestmark = pytest.mark.long

COMMON = "so it is said"
OPTIONS = ("-s", "words:2", "-t", "0.6", "--max-df", "0.5", "--text", "text", "--id", "id")
TARGETS = {
    "dedup": "clean",
    "find": "pairs.jsonl",
    "find as parquet": "pairs.parquet",
}
SPOTS = {
    "after a checkpoint": (Work, "checkpoint", True),
    "before a file takes its place": (Path, "replace", False),
    "before a file is safe on disk": (os, "fsync", False),
    "amid a copy": (Corpus, "copy", True),
}

HERE = Path(__file__).parent


class PowerCut(BaseException):
    """Ends a job as the end of its process does, past every handler of errors."""


def end_by_power_cut():
    raise PowerCut


def end_by_kill():
    os.kill(os.getpid(), signal.SIGKILL)


def end_by_ctrl_c():
    # As in a terminal: what a shell runs in the background does not hear of it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)


def in_small_pieces(patch):
    """Let a small corpus make many batches, blocks of keys and stretches."""
    for module in (buckets, sketch):
        patch(module, "BLOCK_DOCUMENTS", 40)
    patch(thinning, "BATCH_DOCUMENTS", 40)
    patch(sketch, "PIECE_BYTES", 4000)
    batches = Corpus.batches
    patch(Corpus, "batches", lambda *given, **named: batches(*given, **named, batch_bytes=6000))


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
            if name == "copy":
                os.truncate(given[-1], given[-1].stat().st_size // 2)
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
    code = (
        f"import sys; sys.path += {[str(HERE), str(HERE.parent / 'support')]}; "
        "import test_cli_resume as here; here.run_to_its_end(*sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, spot, str(moment), end.__name__, *map(str, arguments)],
        capture_output=True,
        env=environment(),
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def records():
    """Make edits of a few texts, copies among them, and two without a shingle that counts."""
    choice = random.Random(3)
    words = [f"word{at}" for at in range(50)]
    originals = [choice.choices(words, k=30) for _ in range(8)]
    for at in range(120):
        text = list(choice.choice(originals))
        for _ in range(choice.choice([0, 1, 2, 4, 8])):
            text[choice.randrange(30)] = choice.choice(words)
        if at % 4:
            text.append(COMMON)
        told = {30: COMMON, 75: COMMON[3:]}.get(at, " ".join(text))
        yield {"id": f"d{at:03}", "text": told, "note": f"row {at}"}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Give a folder of files of several kinds."""
    folder = tmp_path_factory.mktemp("source")
    made = list(records())
    write_records(folder / "a.jsonl", made[:50])
    write_records(folder / "b.csv.gz", made[50:80])
    write_records(folder / "c.parquet", made[80:117])
    for record in made[117:]:
        (folder / f"{record['id']}.txt").write_text(record["text"])
    return folder


def read_again(path):
    return [{"id": int(name), "text": text} for name, text in ids_and_texts(path)]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def delivered(out):
    """Give the names of what a job leaves: a file of pairs has the record of the run beside it."""
    return [out.name, f"{out.name}.run.json"] if out.name.startswith("pairs") else [out.name]


def tree(path):
    """Give the bytes of a file, or of all files below a folder; of run.json what is of the run."""
    if path.is_file():
        return path.read_bytes()
    found: dict[str, Any] = {}
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
        return told(command.split()[0], source, *OPTIONS, "-o", out, "-q", *more)

    return run


def cut_off(job, command, out):
    """Run a job that may be cut off; tell whether it was."""
    try:
        assert job(command, out, "--threads", 1) == (0, "", "")
    except PowerCut:
        # The lock of such a job goes with its objects.
        gc.collect()
        return True
    return False


@pytest.fixture(scope="module")
def undisturbed():
    """Hold what undisturbed jobs wrote."""
    return {}


@pytest.fixture
def expected(job, tmp_path_factory, undisturbed):
    """Give a function that tells what an undisturbed job writes."""

    def of(command, *more):
        if (command, more) not in undisturbed:
            out = tmp_path_factory.mktemp("undisturbed") / TARGETS[command]
            assert job(command, out, *more) == (0, "", "")
            assert names(out.parent) == delivered(out)
            undisturbed[command, more] = tree(out)
        return undisturbed[command, more]

    return of


@pytest.mark.parametrize(
    ("command", "spot", "first"),
    [
        # The first of all is the first checkpoint, which has a test of its own.
        ("dedup", "before a file takes its place", 2),
        ("find", "before a file takes its place", 2),
        ("dedup", "amid a copy", 1),
        ("dedup", "before a file is safe on disk", 1),
        ("find as parquet", "before a file is safe on disk", 1),
    ],
)
def test_a_job_cut_off_anywhere_goes_on_to_the_same_bytes(
    command, spot, first, job, expected, tmp_path, monkeypatch
):
    wanted = expected(command)
    for moment in count(first):
        out = tmp_path / str(moment) / TARGETS[command]
        out.parent.mkdir()
        with monkeypatch.context() as patched:
            end_at(patched.setattr, spot, moment, end_by_power_cut)
            if not cut_off(job, command, out):
                break
        assert not out.exists() or tree(out) == wanted
        assert job(command, out) == (0, "", "")
        assert tree(out) == wanted
        assert names(out.parent) == delivered(out)
    assert moment > first


@pytest.mark.parametrize(
    ("command", "spot", "moment"),
    [
        ("dedup", "after a checkpoint", 3),
        ("dedup", "before a file takes its place", 10),
        ("dedup", "amid a copy", 2),
        ("dedup", "before a file is safe on disk", 5),
        ("find", "after a checkpoint", 9),
        ("find as parquet", "before a file is safe on disk", 1),
    ],
)
def test_a_killed_job_goes_on_to_the_same_bytes(
    command, spot, moment, source, job, expected, tmp_path
):
    out = tmp_path / TARGETS[command]
    arguments = command.split()[0], source, *OPTIONS, "-o", out
    status, output, errors = ended(spot, moment, end_by_kill, *arguments)
    assert (status, output) == (-signal.SIGKILL, ""), errors
    assert not out.exists()
    assert job(command, out) == (0, "", "")
    assert tree(out) == expected(command)
    assert names(tmp_path) == delivered(out)


def test_a_job_cut_off_in_its_first_checkpoint_begins_again(job, expected, tmp_path, monkeypatch):
    out = tmp_path / "clean"
    with monkeypatch.context() as patched:
        end_at(patched.setattr, "before a file takes its place", 1, end_by_power_cut)
        assert cut_off(job, "dedup", out)
    assert job("dedup", out) == (0, "", "")
    assert tree(out) == expected("dedup")


def test_what_was_guessed_of_the_files_is_told_once(told, source, tmp_path, monkeypatch):
    in_small_pieces(monkeypatch.setattr)
    command = "dedup", source, "-s", "words:2", "-q", "--threads", 1, "-o"
    assert told(*command, tmp_path / "undisturbed")[0] == 0
    wanted = json.loads((tmp_path / "undisturbed" / "run.json").read_bytes())["notes"]
    for moment in range(2, 9):
        out = tmp_path / str(moment)
        with monkeypatch.context() as patched, contextlib.suppress(PowerCut):
            end_at(patched.setattr, "after a checkpoint", moment, end_by_power_cut)
            told(*command, out)
        gc.collect()
        assert told(*command, out)[0] == 0
        assert json.loads((out / "run.json").read_bytes())["notes"] == wanted


@pytest.fixture
def unfinished(job, monkeypatch):
    """Give a function that leaves the work of a job half done."""

    def leave(command, out, *more, moment=4):
        with monkeypatch.context() as patched:
            end_at(patched.setattr, "after a checkpoint", moment, end_by_power_cut)
            with contextlib.suppress(PowerCut):
                job(command, out, *more)
        gc.collect()

    return leave


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-t", "0.7"], "--threshold 0.6 then, --threshold 0.7 now"),
        (["-s", "words:3"], "--shingle words:2 then, --shingle words:3 now"),
        (["--keep", "last"], "--keep first then, --keep last now"),
        (["--recall", "0.9"], "--recall 0.99 then, --recall 0.9 now"),
        (["--seed", "7"], "--seed 1 then, --seed 7 now"),
        (["--multiset"], "another --multiset, --metric or --simhash"),
        (["--skip-bad"], "no --skip-bad then, --skip-bad now"),
        (["--text", "note"], "--text text then, --text text --text note now"),
        (["--normalise", "keep-case"], "--normalise default then, --normalise keep-case now"),
        (["--keep", "max:note"], "the column of --keep was None and is 'note'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_unfinished_work_of_other_settings_is_refused_and_left_alone(
    more, message, job, unfinished, expected, tmp_path
):
    out = tmp_path / "clean"
    unfinished("dedup", out)
    before = tree(tmp_path)
    status, output, errors = job("dedup", out, *more)
    gc.collect()
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert message in errors
    assert str(tmp_path / ".clean.lookalike-work") in errors
    assert tree(tmp_path) == before
    assert job("dedup", out) == (0, "", "")
    assert tree(out) == expected("dedup")


def test_the_unfinished_work_on_files_that_changed_is_refused(
    told, unfinished, source, tmp_path, monkeypatch
):
    in_small_pieces(monkeypatch.setattr)
    path = tmp_path / "a.jsonl"
    path.write_bytes((source / "a.jsonl").read_bytes())
    out = tmp_path / "clean"
    with monkeypatch.context() as patched, contextlib.suppress(PowerCut):
        end_at(patched.setattr, "after a checkpoint", 3, end_by_power_cut)
        told("dedup", path, "-o", out, "-q")
    gc.collect()
    with path.open("a") as file:
        file.write('{"id": "new", "text": "one more"}\n')
    status, output, errors = told("dedup", path, "-o", out, "-q")
    assert (status, output) == (1, "")
    assert re.fullmatch(
        r"lookalike: [^\n]+the files are different, or were changed[^\n]+\n", errors
    )
    assert not out.exists()


@pytest.fixture
def unread(monkeypatch):
    """Let no source be read any more."""

    def batches(*given, **named):
        raise AssertionError("this job read its source again")

    return lambda: monkeypatch.setattr(Corpus, "batches", batches)


@pytest.mark.parametrize("threshold", [0.4, 0.8])
def test_a_finished_work_folder_serves_other_thresholds_and_both_commands_unread(
    threshold, job, expected, unread, tmp_path
):
    wanted = {name: expected(name, "-t", threshold) for name in TARGETS}
    work = tmp_path / "work"
    assert job("find", tmp_path / "first.jsonl", "--work", work) == (0, "", "")
    unread()
    for command, name in TARGETS.items():
        out = tmp_path / name
        assert job(command, out, "-t", threshold, "--work", work) == (0, "", "")
        assert tree(out) == wanted[command]
    left = [name for target in TARGETS.values() for name in delivered(tmp_path / target)]
    assert names(tmp_path) == sorted(["first.jsonl", "first.jsonl.run.json", "work", *left])


def test_a_finished_work_folder_refuses_another_shingle(job, tmp_path):
    work = tmp_path / "work"
    assert job("find", tmp_path / "first.jsonl", "--work", work) == (0, "", "")
    before = tree(work)
    second = job("find", tmp_path / "second.jsonl", "--work", work, "-s", "chars:5")
    status, output, errors = second
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert "--shingle words:2 then, --shingle chars:5 now" in errors
    assert tree(work) == before
    assert not (tmp_path / "second.jsonl").exists()


def test_work_killed_on_another_threshold_goes_on_with_it(
    job, expected, unfinished, unread, tmp_path
):
    work = tmp_path / "work"
    assert job("find", tmp_path / "first.jsonl", "--work", work) == (0, "", "")
    wanted = expected("dedup", "-t", "0.7")
    out = tmp_path / "clean"
    unread()
    for moment in (1, 2, 3, 4):
        unfinished("dedup", out, "-t", "0.7", "--work", work, moment=moment)
    assert not out.exists()
    assert job("dedup", out, "-t", "0.7", "--work", work) == (0, "", "")
    assert tree(out) == wanted


def test_two_jobs_in_one_work_folder_are_one_too_many(job, expected, tmp_path):
    out = tmp_path / "clean"
    folder = tmp_path / ".clean.lookalike-work"
    other = Work(folder, reading="another job")
    status, output, errors = job("dedup", out)
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert f"another job is at work in {folder}" in errors
    assert folder.exists()
    other.remove()
    gc.collect()
    assert job("dedup", out) == (0, "", "")
    assert tree(out) == expected("dedup")


def test_ctrl_c_tells_how_to_go_on(job, expected, source, tmp_path):
    out = tmp_path / "clean"
    arguments = "dedup", source, *OPTIONS, "-o", out
    status, output, errors = ended("after a checkpoint", 6, end_by_ctrl_c, *arguments)
    assert (status, output) == (130, "")
    assert re.fullmatch(
        r"lookalike: stopped; run the same command again to resume, or remove \S+ to give it up\n",
        errors,
    )
    assert str(tmp_path / ".clean.lookalike-work") in errors
    assert not out.exists()
    assert job("dedup", out) == (0, "", "")
    assert tree(out) == expected("dedup")
    assert names(tmp_path) == ["clean"]


def test_ctrl_c_without_a_target_says_that_nothing_was_kept(told, source, monkeypatch):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "find_near", interrupt)
    status, output, errors = told("dedup", source, "--dry-run", "-q")
    assert (status, output) == (130, "")
    assert errors == (
        "lookalike: stopped; nothing was saved. With --work FOLDER a stopped job can be resumed\n"
    )


def fail_with(number, original, room):
    """Make a system call that fails after the first so many calls."""
    left = [room]

    def failing(*given, **named):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number))
        return original(*given, **named)

    return failing


def one_line(errors):
    return re.fullmatch(r"lookalike: [^\n]+\n", errors) and "a bug in Lookalike" not in errors


@pytest.mark.parametrize(
    ("command", "call", "room"),
    [
        *(("dedup", "pwrite", room) for room in (0, 1, 7, 30, 55)),
        *(("find", "pwrite", room) for room in (3, 40)),
        *(("dedup", "fsync", room) for room in (0, 2, 3, 5)),
        ("find", "fsync", 0),
        ("find as parquet", "fsync", 0),
        ("dedup", "replace", 9),
    ],
)
def test_a_full_disk_is_one_line_and_with_room_again_the_job_goes_on(
    command, call, room, job, expected, tmp_path, monkeypatch
):
    out = tmp_path / TARGETS[command]
    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail_with(errno.ENOSPC, getattr(os, call), room))
        status, output, errors = job(command, out)
    gc.collect()
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert "cannot be written: No space left on device" in errors
    assert not out.exists()
    assert job(command, out) == (0, "", "")
    assert tree(out) == expected(command)
    assert names(tmp_path) == delivered(out)


@pytest.mark.skipif(os.name == "nt", reason="there is no such bound")
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zst", "a.csv", "a.csv.gz", "a.parquet"])
def test_a_copy_that_does_not_fit_is_one_line_and_with_room_again_the_job_goes_on(
    name, told, tmp_path, monkeypatch
):
    import resource

    choice = random.Random(4)
    rows = [{"id": at, "text": f"{choice.getrandbits(4000):x}"} for at in range(60)]
    path = write_records(tmp_path / name, rows)
    copy = Corpus.copy
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def cramped(*given):
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            copy(*given)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    command = "dedup", path, "-o", tmp_path / "clean", "-q"
    with monkeypatch.context() as patched:
        patched.setattr(Corpus, "copy", cramped)
        status, output, errors = told(*command)
    gc.collect()
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert "cannot be written: File too large" in errors
    assert not (tmp_path / "clean").exists()
    assert told(*command) == (0, "", "")
    assert read_again(tmp_path / "clean" / "kept" / name) == rows
    assert names(tmp_path) == [name, "clean"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("command", [["plan"], ["find", "{}", "-q"], ["sketch", "{}", "-q"]])
def test_a_full_standard_output_is_named(command, source):
    arguments = [sys.executable, "-m", "lookalike", *(one.format(source) for one in command)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            arguments, stdout=full, stderr=subprocess.PIPE, timeout=DEADLINE, check=False
        )
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said == "lookalike: standard output cannot be written: No space left on device\n"


def test_ctrl_c_in_sketch_says_how_it_is_resumed(told, source, tmp_path, monkeypatch):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("lookalike.job.sketch_table.sketch_tables", interrupt)
    status, _, errors = told("sketch", source, "-q")
    assert (status, errors) == (
        130,
        "lookalike: stopped; nothing was saved. With --out FILE a stopped job can be resumed\n",
    )
    status, _, errors = told("sketch", source, "-q", "-o", tmp_path / "s.jsonl")
    assert status == 130
    assert "stopped; run the same command again to resume, or remove" in errors
    assert f"{tmp_path / '.s.jsonl.lookalike-work'} to give it up\n" in errors


def test_ctrl_c_where_nothing_is_written_says_no_more():
    code = (
        "import signal, sys; from lookalike.planning import plan; from lookalike.cli import main; "
        "plan.plan_for = lambda *_: signal.raise_signal(signal.SIGINT); "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "sys.argv = ['lookalike', 'plan']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"lookalike: stopped\n")


def test_where_the_work_cannot_be_written_an_option_of_the_command_is_named(
    told, source, tmp_path, monkeypatch
):
    for given in (["sketch", "-o", tmp_path / "s.jsonl"], ["find", "-o", tmp_path / "p.jsonl"]):
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", fail_with(errno.ENOSPC, os.pwrite, 0))
            status, _, errors = told(given[0], source, "-q", *given[1:])
        assert status == 1
        assert "free some space, or choose another folder with --out, and run" in errors


def test_where_the_list_of_kept_ids_does_not_fit_it_is_said_what_to_do(
    told, source, tmp_path, monkeypatch
):
    def full(_name):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    command = "dedup", source, "--list", "-o", tmp_path / "clean", "-q"
    with monkeypatch.context() as patched:
        patched.setattr("lookalike.results.kept_files.on_one_line", full)
        status, _, errors = told(*command)
    assert status == 1
    assert one_line(errors)
    assert "kept.txt cannot be written: No space left on device; free some space, and run" in errors
    assert told(*command) == (0, "", "")
    assert (tmp_path / "clean" / "kept.txt").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_device_is_one_line(told, source):
    before = names(Path("/dev"))
    status, output, errors = told(
        "find", source, *OPTIONS, "-q", "-o", "/dev/full", "--format", "jsonl"
    )
    assert (status, output) == (1, "")
    assert errors == "lookalike: /dev/full cannot be written: No space left on device\n"
    assert names(Path("/dev")) == before


def test_a_job_taken_up_with_other_outputs_writes_only_those(job, expected, tmp_path, monkeypatch):
    wanted = expected("dedup", "--list")
    out = tmp_path / "clean"
    with monkeypatch.context() as patched:
        end_at(patched.setattr, "amid a copy", 2, end_by_power_cut)
        assert cut_off(job, "dedup", out)
    assert job("dedup", out, "--list") == (0, "", "")
    assert tree(out) == wanted


def test_a_source_that_vanishes_before_it_is_copied_leaves_nothing(
    told, source, tmp_path, monkeypatch
):
    path = tmp_path / "a.jsonl"
    path.write_bytes((source / "a.jsonl").read_bytes())
    copy = Corpus.copy

    def copy_of_nothing(*given):
        path.unlink()
        copy(*given)

    monkeypatch.setattr(Corpus, "copy", copy_of_nothing)
    status, output, errors = told("dedup", path, "-o", tmp_path / "clean", "-q")
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert f"{path} cannot be read: it does not exist, or no longer" in errors
    assert names(tmp_path) == []


def test_what_was_done_stays_when_a_device_fails(told, source, tmp_path, monkeypatch):
    out = tmp_path / "clean"
    command = ["dedup", source, *OPTIONS, "-q", "-o", out]

    def fails(*_given):
        raise UnreadableError("a.jsonl cannot be read: Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("lookalike.read.Corpus.copy", fails)
        status, output, errors = told(*command)
    assert (status, output) == (1, "")
    assert errors == "lookalike: a.jsonl cannot be read: Input/output error\n"
    assert not out.exists()
    assert (tmp_path / ".clean.lookalike-work" / "state.json").exists()

    def read_again(*_given, **_options):
        raise AssertionError("what was read is read again")

    with monkeypatch.context() as patched:
        patched.setattr("lookalike.read.Corpus.batches", read_again)
        assert told(*command) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["clean"]
