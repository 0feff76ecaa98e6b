"""Many at once: one is told that a page is new, and nobody sees half a change."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from psycopg.errors import DeadlockDetected, SerializationFailure

from index_model import answers, edited_texts
from lookalike import LookalikeError, SourceError
from lookalike.base.errors import OutputError, UnreadableError
from lookalike.index import adding
from lookalike.index.index import Index
from lookalike.index.postgres_changes import Writing
from processes import environment

RECIPE: dict[str, Any] = {"shingle": "chars:4", "threshold": 0.5, "bands": 30, "rows": 1}
FEW_BANDS: dict[str, Any] = {**RECIPE, "bands": 4}
MANY_SLOTS = 2048
"""Of which two documents with few bands have none in common."""
PAGE = "the ferry came in with bread, candles and letters for the winter"


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path) -> str:
    """Give an index of each kind."""
    if request.param == "postgres":
        found = str(request.getfixturevalue("postgres").address())
    else:
        found = str(tmp_path / "a.lookalike")
    Index.create(found, **RECIPE).close()
    return found


def together(work: Callable[[int], Any], many: int) -> list[Any]:
    """Let threads begin some work at the same moment."""
    barrier = threading.Barrier(many)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(many) as pool:
        return [*pool.map(begin, range(many))]


@pytest.mark.parametrize("near", [False, True])
def test_of_threads_that_bring_the_same_page_one_is_told_that_it_is_new(address, near):
    with Index(address) as index:
        for turn in range(8):
            page = f"{PAGE} {turn * 7919} " * 2

            def admit(number: int, page: str = page, turn: int = turn) -> Any:
                return index.admit(f"{turn}-{number}", f"{page} {number}" if near else page)

            admissions = together(admit, 4)
            (first,) = [number for number, one in enumerate(admissions) if one.added]
            for number, one in enumerate(admissions):
                assert [match.id for match in one.matches[:1]] == (
                    [] if number == first else [f"{turn}-{first}"]
                )
            index.remove([f"{turn}-{first}"])


def begun(code: str, address: str, given: Sequence[Sequence[str]]) -> list[Any]:
    """Let processes that say when they are ready begin at the same moment."""
    processes: list[Any] = [
        subprocess.Popen(
            [sys.executable, "-c", code, address, *mine],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for mine in given
    ]
    for one in processes:
        assert one.stdout.readline() == "ready\n"
    for one in processes:
        one.stdin.write("go\n")
        one.stdin.flush()
    return processes


ADMITTING = """
import json, sys
from lookalike.index.index import Index
with Index(sys.argv[1]) as index:
    print("ready", flush=True)
    sys.stdin.readline()
    added = []
    for n in range(60):
        text = " ".join(str((n + 2) ** k) for k in range(2, 12)) + sys.argv[2]
        if index.admit(f"{n}-{sys.argv[2]}", text).added:
            added.append(n)
print(json.dumps(added))
"""


def test_of_processes_that_bring_the_same_pages_one_is_told_that_each_is_new(address):
    processes = begun(ADMITTING, address, ["a", "b"])
    added = [json.loads(one.communicate()[0]) for one in processes]
    assert sorted(added[0] + added[1]) == [*range(60)]
    with Index(address) as index:
        expected = [f"{n}-{name}" for name, mine in zip("ab", added, strict=True) for n in mine]
        assert sorted(map(str, index)) == sorted(expected)


def test_readers_see_whole_documents_while_one_writes(address):
    """A document is replaced over and over: text and metadata are always of the same one."""
    texts = [PAGE, f"{PAGE}, and snow", f"{PAGE}, and ice on the river"]
    done = threading.Event()
    seen = []
    with Index(address) as index, Index(address) as other:
        index.add("a", texts[0], {"text": 0})

        def read() -> None:
            while not done.is_set():
                (match,) = other.query(PAGE)
                seen.append((match.similarity, match.metadata["text"]))

        with ThreadPoolExecutor(2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            for turn in range(60):
                index.add("a", texts[turn % 3], {"text": turn % 3})
            done.set()
            for one in readers:
                one.result()
        expected = []
        for number, text in enumerate(texts):
            index.add("a", text, {"text": number})
            (match,) = index.query(PAGE)
            expected.append((match.similarity, number))
    assert set(seen) <= set(expected)
    assert len(seen) > 20


def test_two_may_add_different_sources_at_once(address, tmp_path):
    sources = []
    for number in range(2):
        path = tmp_path / f"{number}.jsonl"
        texts = edited_texts(number, 100)
        rows = [{"id": f"{number}-{place}", "text": text} for place, text in enumerate(texts)]
        path.write_text("\n".join(map(json.dumps, rows)))
        sources.append(path)
    with Index(address) as index:
        added = together(lambda number: index.add_all(sources[number], id="id"), 2)
        assert [one.documents for one in added] == [400, 400]
        assert len(index) == 800
        for number in range(2):
            text = edited_texts(number, 100)[7]
            assert f"{number}-7" in [one.id for one in index.query(text, threshold=1)]


def test_two_that_add_the_same_source_at_once_do_not_add_it_by_halves(
    address, tmp_path, monkeypatch
):
    """One goes on; the other is told so, not that ids are there twice."""
    monkeypatch.setattr("lookalike.index.bulk.MAX_CHUNK_DOCUMENTS", 1)
    monkeypatch.setattr("lookalike.index.bulk.BATCH_BYTES", 4096)
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(8):
        rows = [{"id": f"{number}-{place}", "text": f"{PAGE} {place}"} for place in range(20)]
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Index(address) as index:

        def add(_number: int) -> str:
            try:
                return f"{index.add_all(folder, id='id').documents}"
            except SourceError as error:
                return str(error)

        said = together(add, 2)
        assert "160" in said
        assert all(one == "160" or "adds the same source" in one for one in said)
        assert len(index) == 160


def test_an_index_that_one_thread_closes_is_closed_for_all_in_a_line(address):
    index = Index(address)
    index.add("a", PAGE)
    begun = threading.Event()

    def ask() -> str:
        try:
            while True:
                assert [id for id, _ in answers(index, PAGE)] == ["a"]
                begun.set()
        except LookalikeError as error:
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        begun.wait(20)
        index.close()
        assert all("is closed: open it again" in one.result(20) for one in asking)
    with Index(address) as again:
        assert list(again) == ["a"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies of processes here")
@pytest.mark.parametrize("closed_first", [False, True])
def test_a_copy_of_the_process_writes_what_is_there_when_both_are_done(tmp_path, closed_first):
    path = tmp_path / "a.lookalike"
    context = multiprocessing.get_context("fork")
    go = context.Event()

    def child() -> None:
        go.wait(20)
        index.add("child", PAGE)
        index.close()

    index = Index.create(path, **RECIPE)
    index.add("parent", PAGE)
    process = context.Process(target=child)
    process.start()
    index.add("parent too", PAGE)
    if closed_first:
        index.close()
    go.set()
    process.join(30)
    assert process.exitcode == 0
    index.close()
    with Index(path) as again:
        assert list(again) == ["child", "parent", "parent too"]
        assert len(again.query(PAGE)) == 3
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_of_several_that_make_an_index_one_does(tmp_path):
    path = tmp_path / "a.lookalike"

    def make(_number: int) -> bool:
        try:
            Index.create(path, **RECIPE).close()
        except OutputError as error:
            assert "is there already" in str(error)  # noqa: PT017
            return False
        return True

    assert sum(together(make, 4)) == 1
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_to_open_an_index_does_not_take_the_locks_of_others_in_the_process(tmp_path):
    """Another process must not hold the file for its own alone while this one has it open."""
    path = tmp_path / "a.lookalike"
    with Index.create(path, **RECIPE) as index:
        index.add("a", PAGE)
        Index(path).close()
        code = "import sys; from lookalike.index.index import Index; Index(sys.argv[1]).close()"
        subprocess.run([sys.executable, "-c", code, str(path)], env=environment(), check=True)
        # The other one was not the last to close it, and has left the log where it is.
        assert Path(f"{path}-wal").exists()
        index.add("b", PAGE)
    with Index(path) as index:
        assert list(index) == ["a", "b"]


class TestWritersThatWantEachOthersTexts:
    """Each replaces a document by the text that another one's had: none is refused or lost."""

    TEXTS = tuple(f"{number} {PAGE} " * 2 for number in range(3))

    def check_each_has_its_own(self, index: Index) -> None:
        """After a multiple of three turns each has the text that it began with."""
        assert sorted(map(str, index)) == ["0", "1", "2"]
        for number, text in enumerate(self.TEXTS):
            assert [one.id for one in index.query(text, threshold=1)] == [f"{number}"]

    def test_two_that_swap_texts_do_not_wait_for_each_other(self, postgres, monkeypatch):
        """As each is about to remove the text that the other one takes."""
        monkeypatch.setattr("lookalike.index.postgres.SLOTS", MANY_SLOTS)
        monkeypatch.setattr("lookalike.index.postgres.AGAIN", ())
        drop_unused, met = Writing.drop_unused, threading.Barrier(2)

        def meet_and_drop(writer: Any, entries: Any) -> int:
            with suppress(threading.BrokenBarrierError):
                met.wait(0.3)
            return drop_unused(writer, entries)

        one, other = "one fish, two fish, red fish, blue fish", PAGE
        with Index.create(postgres.address(), **FEW_BANDS) as index:
            for id, text in (("a", one), ("b", other)):
                index.add(id, text)
            monkeypatch.setattr(Writing, "drop_unused", meet_and_drop)
            swapped = [("a", other), ("b", one)]
            together(lambda number: index.add(*swapped[number]), 2)
            for id, text in swapped:
                assert [match.id for match in index.query(text, threshold=1)] == [id]

    def test_threads_that_swap_texts_all_succeed(self, address):
        with Index(address) as index:
            for number, text in enumerate(self.TEXTS):
                index.add(f"{number}", text)

            def replace(number: int) -> None:
                for turn in range(1, 13):
                    index.add(f"{number}", self.TEXTS[(number + turn) % 3])

            together(replace, 3)
            self.check_each_has_its_own(index)

    def test_processes_that_swap_texts_all_succeed(self, postgres):
        code = """
import sys
from lookalike.index.index import Index
mine, texts = int(sys.argv[2]), sys.argv[3:]
with Index(sys.argv[1]) as index:
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(1, 31):
        index.add(str(mine), texts[(mine + turn) % len(texts)])
"""
        address = postgres.address()
        with Index.create(address, **RECIPE) as index:
            for number, text in enumerate(self.TEXTS):
                index.add(f"{number}", text)
            processes = begun(code, address, [[str(one), *self.TEXTS] for one in range(2)])
            for one in processes:
                _, said = one.communicate()
                assert (one.returncode, said) == (0, "")
            self.check_each_has_its_own(index)


@pytest.mark.parametrize("text", [PAGE, f"{PAGE} and more"])
def test_what_is_replaced_as_it_is_found_is_not_in_the_way(postgres, monkeypatch, text):
    """An admission that could not name what it is similar to looks again, and adds."""
    monkeypatch.setattr("lookalike.index.postgres.SLOTS", MANY_SLOTS)
    address = postgres.address()
    with Index.create(address, **FEW_BANDS) as other:
        other.add("page", PAGE)
    with Index(address) as index, Index(address, timeout=5) as other:
        documents_of, replaced = Writing.documents_of, []

        def replace_first(writer: Any, entries: Any) -> Any:
            if not replaced:
                replaced.append(other.add("page", "1234567890 of another kind"))
            return documents_of(writer, entries)

        monkeypatch.setattr(Writing, "documents_of", replace_first)
        admission = index.admit("new", text)
        assert (admission.added, admission.matches) == (True, [])
        again = index.admit("newer", text)
        assert (again.added, [one.id for one in again.matches]) == (False, ["new"])


def test_a_change_that_the_server_undoes_is_made_again(postgres, monkeypatch):
    address = postgres.address()
    with Index.create(address, **RECIPE) as index:
        index.add("a", PAGE)
        put, failed = adding.put, []

        def fail_twice(writer: Any, *given: Any, **options: Any) -> Any:
            added = put(writer, *given, **options)
            if len(failed) < 2:
                failed.append(1)
                raise [DeadlockDetected, SerializationFailure][len(failed) - 1]
            return added

        monkeypatch.setattr(adding, "put", fail_twice)
        assert index.add("b", f"{PAGE} 2").documents == 1
        assert sorted(map(str, index)) == ["a", "b"]
        monkeypatch.setattr("lookalike.index.postgres.AGAIN", ())
        failed.clear()
        with pytest.raises(UnreadableError, match="another writer was in the way, and nothing of"):
            index.add("c", PAGE)
        assert sorted(map(str, index)) == ["a", "b"]
