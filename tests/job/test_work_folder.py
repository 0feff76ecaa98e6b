"""The work folder of a job: taken up where it stood, and never by the wrong job."""

import errno
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from itertools import count
from typing import Any

import numpy as np
import pytest

import lookalike
from lookalike.base.columns import Column
from lookalike.base.errors import OutputError
from lookalike.job import compare
from lookalike.job.work_folder import Work
from lookalike.read import Corpus

pytestmark = pytest.mark.long

READING = {"sources": [["a.jsonl", 12]], "text": None, "multiset": False}


def begun(folder, **stages):
    """Make a folder with five numbers and a checkpoint, and let go of it."""
    work = Work(folder, reading=READING)
    work.store.column("numbers", np.int64).append(np.arange(5))
    for name, known in stages.items():
        work.stage(name).known.update(known)
    work.checkpoint()
    work.close()


def test_a_job_goes_on_where_the_last_checkpoint_was(tmp_path):
    begun(tmp_path, read={"next": [0, 1, 2]})
    killed = Work(tmp_path, reading=READING)
    killed.store.column("numbers", np.int64).append(np.arange(90, 99))
    killed.store.column("fresh", np.int64).append(np.arange(3))
    killed.stage("read").known["next"] = [7, 7, 7]
    killed.close()
    again = Work(tmp_path, reading=READING)
    assert again.stage("read").known == {"next": [0, 1, 2]}
    assert again.store.column("numbers", np.int64).read().tolist() == [0, 1, 2, 3, 4]
    assert len(again.store.column("fresh", np.int64)) == 0
    again.close()


def test_columns_that_nobody_opened_count_at_the_next_checkpoint_too(tmp_path):
    begun(tmp_path)
    between = Work(tmp_path, reading=READING)
    between.checkpoint()
    between.close()
    again = Work(tmp_path, reading=READING)
    assert len(again.store.column("numbers", np.int64)) == 5
    again.close()


def test_stages_that_are_forgotten_begin_anew(tmp_path):
    begun(tmp_path, read={"done": True}, compare={"place": 9})
    work = Work(tmp_path, reading=READING)
    work.stage("compare").column("links", np.int64).append(np.arange(4))
    work.stage("read").column("links", np.int64).append(np.arange(7))
    work.stage("compare").restart()
    work.stage("never begun").restart()
    assert work.stage("compare").known == {}
    assert len(work.stage("compare").column("links", np.int64)) == 0
    # Another stage has a column of that name for itself.
    assert len(work.stage("read").column("links", np.int64)) == 7
    assert work.stage("read").known == {"done": True}
    work.close()


def test_a_second_job_is_refused_while_the_first_lives(tmp_path):
    pytest.importorskip("fcntl")
    first = Work(tmp_path, reading=READING)
    with pytest.raises(OutputError, match=r"another job is at work in .*: wait for its end"):
        Work(tmp_path, reading=READING)
    first.close()
    Work(tmp_path, reading=READING).close()


def test_the_folder_of_a_process_that_was_killed_is_free(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from lookalike.job.work_folder import Work\n"
        "work = Work(Path(sys.argv[1]), reading={}); work.checkpoint(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode != 0
    assert (tmp_path / "state.json").exists()
    Work(tmp_path, reading={}).close()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": "body"}, "text=None then, text='body' now"),
        ({"multiset": True}, "another multiset=, metric= or simhash="),
        ({"sources": [["a.jsonl", 13]]}, "the files are different, or were changed"),
        ({"column": "stars"}, "the column of keep= was None and is 'stars'"),
    ],
)
def test_another_reading_is_refused_with_what_differs(tmp_path, changed, message):
    begun(tmp_path)
    with pytest.raises(OutputError, match=f"holds the work of another job.*{message}"):
        Work(tmp_path, reading=READING | changed)


def test_after_a_refusal_the_right_job_is_let_in(tmp_path):
    begun(tmp_path)
    with pytest.raises(OutputError, match="another job"):
        Work(tmp_path, reading=READING | {"multiset": True})
    Work(tmp_path, reading=READING).close()


def test_a_reading_is_the_same_after_json(tmp_path):
    Work(tmp_path, reading={"sources": ("a", 1)}).checkpoint()
    Work(tmp_path, reading={"sources": ("a", 1)}).close()


def test_a_folder_with_foreign_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="holds files that no job made: give work= an empty"):
        Work(tmp_path, reading=READING)
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("state", ["", "{", "[]", "7", "null", "{}", "\x00", '{"format": 1}'])
def test_a_damaged_state_is_refused(tmp_path, state):
    begun(tmp_path)
    (tmp_path / "state.json").write_text(state)
    with pytest.raises(OutputError, match=r"state\.json cannot be read: remove .* and run again"):
        Work(tmp_path, reading=READING)


def test_the_work_of_another_version_is_refused(tmp_path):
    begun(tmp_path)
    path = tmp_path / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))
    with pytest.raises(OutputError, match="was made by another version of Lookalike"):
        Work(tmp_path, reading=READING)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Work(tmp_path / "file" / "work", reading=READING)


def test_a_checkpoint_that_fails_leaves_the_one_before(tmp_path, monkeypatch):
    begun(tmp_path)
    work = Work(tmp_path, reading=READING)
    work.stage("read").known["done"] = True

    def full(*_given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.write_text", full)
        with pytest.raises(OutputError, match=r"state\.json cannot be written: No space left"):
            work.checkpoint()
    work.close()
    again = Work(tmp_path, reading=READING)
    assert again.stage("read").known == {}
    again.close()


def test_what_no_disk_has_room_for_is_not_counted(tmp_path, monkeypatch):
    begun(tmp_path)
    work = Work(tmp_path, reading=READING)

    def full(*_given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    work.store.column("numbers", np.int64).append(np.arange(5, 9))
    with monkeypatch.context() as patched:
        patched.setattr("os.pwrite", full)
        for _ in range(2):
            with pytest.raises(OutputError, match="numbers cannot be written: No space left"):
                work.checkpoint()
    work.close()
    again = Work(tmp_path, reading=READING)
    assert again.store.column("numbers", np.int64).read().tolist() == [0, 1, 2, 3, 4]
    again.close()


def test_a_killed_process_loses_what_no_checkpoint_counted_and_nothing_else(tmp_path):
    code = (
        "import os, sys; import numpy as np; from pathlib import Path\n"
        "from lookalike.job.work_folder import Work\n"
        "work = Work(Path(sys.argv[1]), reading={})\n"
        "numbers = work.store.column('numbers', np.int64)\n"
        "for number in range(6): numbers.append(np.array([number]))\n"
        "work.checkpoint()\n"
        "for number in range(90, 99): numbers.append(np.array([number]))\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode != 0
    again = Work(tmp_path, reading={})
    assert again.store.column("numbers", np.int64).read().tolist() == [0, 1, 2, 3, 4, 5]
    again.close()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Give the folder in which temporary ones are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class TestInMemory:
    def test_it_leaves_no_trace(self, temporary):
        work = Work(reading=READING)
        work.store.column("numbers", np.int64).append(np.arange(3))
        work.checkpoint()
        work.close()
        assert list(temporary.iterdir()) == []

    def test_what_needs_room_goes_to_a_temporary_folder_that_goes_away(self, temporary):
        work = Work(reading=READING)
        column = work.store.column("numbers", np.int64)
        column.append(np.arange(3))
        assert work.place == temporary
        work.spill()
        work.spill()
        (folder,) = temporary.iterdir()
        assert column.path
        assert work.place == folder == column.path.parent
        assert column.read().tolist() == [0, 1, 2]
        work.checkpoint()
        assert not (folder / "state.json").exists()
        work.close()
        assert list(temporary.iterdir()) == []

    def test_the_temporary_folder_goes_away_with_the_job(self, temporary):
        work = Work(reading=READING)
        work.spill()
        assert len(list(temporary.iterdir())) == 1
        del work
        assert list(temporary.iterdir()) == []

    def closed(self, temporary):
        """Make a job with a temporary folder, close it, and give its column."""
        work = Work(reading=READING)
        work.spill()
        column = work.store.column("numbers", np.int64)
        column.append(np.arange(3))
        work.close()
        assert list(temporary.iterdir()) == []
        return work, column

    def test_its_files_are_closed_once_however_often_it_is_closed(self, temporary):
        work, column = self.closed(temporary)
        for thread in threading.enumerate():
            if thread.name == "lookalike-closing":
                thread.join()
        assert column.file == -1
        work.close()
        work.close()
        assert list(temporary.iterdir()) == []

    def test_the_names_are_gone_while_files_are_still_being_closed(self, temporary, monkeypatch):
        # As when a disk lets the system wait.
        waiting, close = threading.Event(), Column.close
        monkeypatch.setattr(Column, "close", lambda column: (waiting.wait(20), close(column)))
        try:
            _, column = self.closed(temporary)
            assert column.file >= 0
        finally:
            waiting.set()
        for thread in threading.enumerate():
            if thread.name == "lookalike-closing":
                thread.join()
        assert column.file == -1

    def test_where_no_thread_can_be_started_files_are_closed_at_once(self, temporary, monkeypatch):
        def refuse(_thread):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        work, column = self.closed(temporary)
        assert column.file == -1
        work.close()

    def test_a_program_that_ends_with_a_job_open_ends(self, temporary):
        code = (
            "import sys, tempfile; import numpy as np; from lookalike.job.work_folder import Work\n"
            "tempfile.tempdir = sys.argv[1]\n"
            "work = Work(); work.spill()\n"
            "work.store.column('numbers', np.int64).append(np.arange(3))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(temporary)],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert list(temporary.iterdir()) == []

    def test_without_a_place_for_it_the_job_ends_with_a_word(self, monkeypatch, tmp_path):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(OutputError, match="cannot be written"):
            Work(reading=READING).spill()


def test_a_folder_of_its_own_needs_no_other_room(tmp_path):
    work = Work(tmp_path / "deep" / "work", reading=READING)
    work.spill()
    assert work.place == tmp_path / "deep" / "work"
    work.remove()
    assert list((tmp_path / "deep").iterdir()) == []


class PowerCutError(Exception):
    """Ends a job as the end of its process does."""


def end(*_given, **_options):
    raise PowerCutError


def documents(number=120):
    """Make edits of a few texts, copies among them, and one of nothing but what is ignored."""
    choice = random.Random(3)
    words = [f"word{at}" for at in range(50)]
    originals = [choice.choices(words, k=30) for _ in range(8)]
    for at in range(number):
        text = list(choice.choice(originals))
        for _ in range(choice.choice([0, 1, 2, 4, 8])):
            text[choice.randrange(30)] = choice.choice(words)
        yield {"id": f"d{at:03}", "text": "ebb flow tide" if at == 44 else " ".join(text)}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in documents()))
    return path


def tables(result):
    if isinstance(result, lookalike.FindResult):
        return [result.pairs, result.clusters, result.containments, result.empty]
    return [result.removed, result.clusters, result.kept_ids]


def same(result, expected):
    for mine, other in zip(tables(result), tables(expected), strict=True):
        assert mine.equals(other)
    for name in ("documents", "identical", "candidates", "rejected"):
        assert getattr(result.summary, name) == getattr(expected.summary, name)
    assert result.settings == expected.settings


OPTIONS = {"shingle": "words:2", "threshold": 0.6, "ignore": "ebb flow tide"}


@pytest.fixture
def unread(monkeypatch):
    """Let no source be read any more."""

    def forbid():
        def batches(*_given, **_options):
            raise AssertionError("this job read its source again")

        monkeypatch.setattr(Corpus, "batches", batches)

    return forbid


@pytest.mark.parametrize("run", [lookalike.find, lookalike.dedup], ids=["find", "dedup"])
class TestJobs:
    @pytest.mark.parametrize("options", [{}, {"recall": 1}, {"cascade": "or:4 and:2 or:6"}])
    def test_in_a_folder_the_result_is_the_same(self, tmp_path, source, run, options):
        expected = run(source, **OPTIONS, **options)
        same(run(source, work=tmp_path / "work", **OPTIONS, **options), expected)
        assert (tmp_path / "work" / "state.json").exists()

    def test_a_finished_folder_gives_its_result_again(self, tmp_path, source, run, unread):
        expected = run(source, **OPTIONS)
        run(source, work=tmp_path / "work", **OPTIONS)
        unread()
        same(run(source, work=tmp_path / "work", **OPTIONS), expected)

    @pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
    def test_another_threshold_is_answered_without_reading_again(
        self, tmp_path, source, run, unread, threshold
    ):
        expected = run(source, **OPTIONS | {"threshold": threshold})
        run(source, work=tmp_path / "work", **OPTIONS)
        unread()
        same(run(source, work=tmp_path / "work", **OPTIONS | {"threshold": threshold}), expected)

    def test_a_result_at_hand_neither_bars_another_threshold_nor_changes_by_it(
        self, tmp_path, source, run
    ):
        first = run(source, work=tmp_path / "work", **OPTIONS)
        second = run(source, work=tmp_path / "work", **OPTIONS | {"threshold": 0.3})
        same(first, run(source, **OPTIONS))
        same(second, run(source, **OPTIONS | {"threshold": 0.3}))

    def test_a_folder_serves_both_commands(self, tmp_path, source, run, unread):
        other: Any = {lookalike.find: lookalike.dedup, lookalike.dedup: lookalike.find}[run]
        expected = run(source, **OPTIONS)
        other(source, work=tmp_path / "work", **OPTIONS)
        unread()
        same(run(source, work=tmp_path / "work", **OPTIONS), expected)

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"shingle": "words:3"}, "shingle='words:2' then, shingle='words:3' now"),
            ({"seed": 2}, "seed=1 then, seed=2 now"),
            ({"max_df": 0.5}, "max_df=None then, max_df=0.5 now"),
            ({"ignore": "more of the same"}, "with other settings: another ignore=;"),
            ({"multiset": True}, "another multiset=, metric= or simhash="),
            ({"metric": "cosine"}, "another multiset=, metric= or simhash="),
            ({"normalise": "keep-case"}, "normalise='default' then, normalise='keep-case' now"),
            ({"text": "text"}, "text=None then, text='text' now"),
        ],
    )
    def test_other_settings_of_the_sketches_are_refused(
        self, tmp_path, source, run, changed, message
    ):
        run(source, work=tmp_path / "work", **OPTIONS)
        with pytest.raises(OutputError, match=message):
            run(source, work=tmp_path / "work", **OPTIONS | changed)

    def test_a_source_that_changed_is_refused(self, tmp_path, source, run):
        run(source, work=tmp_path / "work", **OPTIONS)
        with source.open("a") as file:
            file.write(json.dumps({"id": "new", "text": "one more"}) + "\n")
        with pytest.raises(OutputError, match="the files are different, or were changed"):
            run(source, work=tmp_path / "work", **OPTIONS)

    def test_an_unfinished_job_is_not_taken_up_with_another_threshold(
        self, tmp_path, source, run, monkeypatch
    ):
        with monkeypatch.context() as patched:
            patched.setattr(compare, "find_near", end)
            with pytest.raises(PowerCutError):
                run(source, work=tmp_path / "work", **OPTIONS)
        with pytest.raises(
            OutputError, match=r"threshold=0\.6 then, threshold=0\.7 now; run that job"
        ):
            run(source, work=tmp_path / "work", **OPTIONS | {"threshold": 0.7})

    @pytest.mark.parametrize("before", [None, 0.9], ids=["new", "after another threshold"])
    def test_killed_at_any_checkpoint_it_goes_on_to_the_same_result(
        self, tmp_path, source, run, monkeypatch, before
    ):
        for name in ("candidates.buckets", "job.sketch"):
            monkeypatch.setattr(f"lookalike.{name}.BLOCK_DOCUMENTS", 20)
        monkeypatch.setattr("lookalike.cluster.thinning.BATCH_DOCUMENTS", 20)
        monkeypatch.setattr("lookalike.job.sketch.PIECE_BYTES", 2000)
        batches = Corpus.batches
        monkeypatch.setattr(
            Corpus,
            "batches",
            lambda *given, **options: batches(*given, **options, batch_bytes=2000),
        )
        expected = run(source, **OPTIONS)
        checkpoint = Work.checkpoint
        kills = 0
        for moment in count(1):
            work, seen = tmp_path / f"work{moment}", 0
            if before:
                run(source, work=work, **OPTIONS | {"threshold": before})

            def dying(self, moment=moment):
                nonlocal seen
                checkpoint(self)
                seen += 1
                if seen == moment:
                    # What a job writes after its last checkpoint does not count.
                    for column in self.store.columns.values():
                        column.append(np.zeros(3, column.dtype))
                    raise PowerCutError

            try:
                with monkeypatch.context() as patched:
                    patched.setattr(Work, "checkpoint", dying)
                    run(source, work=work, **OPTIONS)
                break
            except PowerCutError:
                kills += 1
            same(run(source, work=work, **OPTIONS), expected)
        # There are several batches, blocks of keys and stretches.
        assert kills > (5 if before else 15)


def test_a_job_killed_while_it_clears_up_does_not_stand_in_the_way(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    work = Work(folder, reading=READING)
    work.store.column("some", np.int64).append(np.arange(3))
    work.checkpoint()

    def killed(path, **_options):
        if (path / "some").exists():
            (path / "some").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            work.remove()
    again = Work(folder, reading=READING)
    assert len(again.store.column("some", np.int64)) == 0
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
