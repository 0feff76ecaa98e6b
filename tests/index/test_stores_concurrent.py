"""Stores that many use at once, in threads and processes, and writers that are killed."""

import json
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest

from lookalike.base.errors import UnreadableError
from lookalike.index.store import Document
from store_places import in_processes, in_threads
from store_rows import entries, entry, numbers


class TestCounters:
    def test_a_counter_begins_at_0(self, place):
        store = place.create()
        for locks in (None, numbers(), numbers(3)):
            with store.write(locks) as writer:
                begin = writer.count_up("n", 5)
                assert writer.count_up("n", 0) == writer.count_up("n", 2) == begin + 5
                assert writer.fact("n") == str(begin + 7)
        with store.read() as reader:
            assert reader.fact("n") == "21"

    def test_one_that_was_set_goes_on_from_there(self, place):
        store = place.create()
        for locks in (None, numbers(3)):
            with store.write(locks) as writer:
                writer.set_fact("n", "40")
                assert writer.count_up("n", 2) == 40
                assert writer.count_up("n", 2) == 42

    def test_no_number_is_given_out_twice(self, place):
        store = place.create()
        given: list[int] = []

        def count_some(lock: int) -> None:
            for turn in range(15):
                try:
                    with store.write(numbers(lock)) as writer:
                        first = writer.count_up("n", 3)
                        writer.put_entries(entries(*(entry(first + one) for one in range(3))))
                        if turn % 5 == 0:
                            raise KeyError
                        given.extend(range(first, first + 3))
                except KeyError:
                    pass

        in_threads(*(lambda lock=lock: count_some(lock) for lock in range(4)))
        assert len(given) == len(set(given)) == 4 * 12 * 3
        with store.read() as reader:
            assert [one.number for one in reader.next_entries(-1, 1000)] == sorted(given)

    def test_no_writer_in_postgres_waits_for_the_end_of_another(self, new_place):
        place = new_place("postgres")
        store, other = place.create(), place.open(wait=0.05)
        with store.write(numbers(1)) as writer, other.write(numbers(2)) as hasty:
            given = [writer.count_up("n", 1), hasty.count_up("n", 1), writer.count_up("n", 1)]
        assert given == [0, 1, 2]

    def test_nor_by_processes(self, place):
        store = place.create()
        code = """
for _ in range(20):
    with store.write(np.array([int(sys.argv[1])])) as writer:
        print(writer.count_up("n", 2))
"""
        told = [int(line) for output in in_processes(place, code, 3) for line in output.split()]
        assert sorted(told) == [*range(0, 120, 2)]
        with store.read() as reader:
            assert reader.fact("n") == "120"


class TestManyWriters:
    def test_writers_of_several_processes_lose_nothing(self, place):
        store = place.create()
        code = """
from lookalike.index.store import Document
mine = int(sys.argv[1])
for turn in range(20):
    locks = np.array([mine]) if turn % 5 else None
    with store.write(locks) as writer:
        writer.put_documents([Document(f"{mine}-{turn}", turn, json.dumps({"n": mine}), mine)])
        if turn % 3 == 0:
            shared = json.loads(writer.fact("shared") or "[]") if locks is None else None
            if shared is not None:
                writer.set_fact("shared", json.dumps([*shared, [mine, turn]]))
"""
        in_processes(place, code, 3)
        with store.read() as reader:
            found = reader.next_documents(None, 100)
            shared = json.loads(reader.fact("shared") or "")
        assert Counter(one.run for one in found) == {0: 20, 1: 20, 2: 20}
        assert sorted(shared) == [[mine, turn] for mine in range(3) for turn in (0, 15)]

    def test_readers_of_many_threads_and_a_writer_agree(self, place):
        store = place.create({"many": "0"})
        ended = threading.Event()

        def write() -> None:
            for number in range(1, 30):
                with store.write(numbers(number)) as writer:
                    writer.put_entries(entries(entry(number)))
                    writer.put_documents([Document(str(number), number, None, 0)])
                    writer.set_fact("many", str(number))
            ended.set()

        def read() -> None:
            while True:
                last = ended.is_set()
                with store.read() as reader:
                    many = int(reader.fact("many") or 0)
                    assert len(reader.next_entries(-1, 1000)) == many
                    assert reader.counts() == {
                        "documents": many,
                        "entries": many,
                        "loose": 2 * many,
                        "blocks": 0,
                        "bodies": many,
                    }
                if last:
                    return

        in_threads(write, read, read)


class TestEntriesThatTwoWritersWant:
    """In PostgreSQL one may drop an entry while another gives it a document: neither is lost."""

    def made(self, new_place):
        place = new_place("postgres")
        store = place.create()
        with store.write() as writer:
            writer.put_entries(entries(entry(1)))
            writer.put_documents([Document("old", 1, None, 0)])
        return store

    def test_one_that_is_about_to_be_used_stays(self, new_place):
        store, dropped = self.made(new_place), []

        def drop() -> None:
            with store.write(numbers(2)) as writer:
                writer.drop_documents(["old"])
                dropped.append(writer.drop_unused(numbers(1)))

        thread = threading.Thread(target=drop)
        with store.write(numbers(1)) as writer:
            assert writer.claim([entry(1).content], []) == {entry(1).content: 1}
            thread.start()
            thread.join(0.2)
            assert thread.is_alive()
            writer.put_documents([Document("new", 1, None, 0)])
        thread.join()
        assert dropped == [0]
        with store.read() as reader:
            assert [one.number for one in reader.entries(numbers(1))] == [1]

    def test_one_that_is_being_dropped_is_not_found(self, new_place):
        store, found = self.made(new_place), []

        def use() -> None:
            with store.write(numbers(2)) as writer:
                found.append(writer.claim([entry(1).content], []))

        thread = threading.Thread(target=use)
        with store.write(numbers(1)) as writer:
            writer.drop_documents(["old"])
            assert writer.drop_unused(numbers(1)) == 1
            thread.start()
            thread.join(0.2)
            assert thread.is_alive()
        thread.join()
        assert found == [{}]

    def test_two_that_wait_for_each_other_are_told(self, new_place):
        store = self.made(new_place)
        with store.write() as writer:
            writer.put_entries(entries(entry(2)))
        barrier, told = threading.Barrier(2), []

        def use(mine: int, other: int) -> None:
            try:
                with store.write(numbers(mine)) as writer:
                    writer.claim([entry(mine).content], [])
                    barrier.wait()
                    writer.drop_documents(["old"] if other == 1 else [])
                    writer.drop_unused(numbers(other))
                told.append("done")
            except UnreadableError as error:
                told.append(str(error))

        in_threads(lambda: use(1, 2), lambda: use(2, 1))
        assert sorted(one == "done" for one in told) == [False, True]
        assert "another writer was in the way, and nothing of this change was made" in str(told)


OFTEN = """
import lookalike.index.sqlite
lookalike.index.sqlite_log.LOG_ROWS = 1
"""
"""Puts the log of a file into it after every change, beside all else."""


class TestForks:
    CODE = """
import os
with store.read() as reader:
    assert reader.fact("n") == "0"
pids = []
for number in range(3):
    pid = os.fork()
    if pid == 0:
        for _ in range(5):
            with store.write() as writer:
                writer.set_fact("n", str(int(writer.fact("n")) + 1))
        store.close()
        os._exit(0)
    pids.append(pid)
for pid in pids:
    assert os.waitpid(pid, 0)[1] == 0
with store.write() as writer:
    writer.set_fact("n", str(int(writer.fact("n")) + 100))
"""

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
    @pytest.mark.parametrize("busy", [False, True])
    def test_a_store_may_be_used_after_a_fork(self, place, busy):
        store = place.create({"n": "0"})
        set_up = f"import warnings; warnings.simplefilter('ignore'){OFTEN if busy else ''}"
        warned = set_up + self.CODE
        in_processes(place, warned, 1)
        with store.read() as reader:
            assert reader.fact("n") == "115"


KILLING = """
import os, random, signal, time
from lookalike.index.store import Document, Entries, Block

def go_on(pipe):
    while True:
        with store.write(np.array([1])) as writer:
            first = writer.count_up("n", 5) + 1
            new = range(first, first + 5)
            contents = [number.to_bytes(16, "little") for number in new]
            sketches, bodies = np.zeros((5, 5), np.uint8), [os.urandom(3000) for _ in new]
            columns = new, contents, sketches, [1] * 5, [False] * 5, bodies
            put = Entries(*columns, np.array([*new, *new]), np.array([*new] * 2))
            writer.put_entries(put)
            writer.put_documents([Document(str(one), one, None, 0) for one in new])
            taken = writer.take_loose(first)
            sketches = np.zeros((len(taken), 5), np.uint8)
            writer.put_blocks([Block(first, taken, sketches)])
        os.write(pipe, b"%d " % first)

order = random.Random(7)
for turn in range(40):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            go_on(writing)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
    os.close(writing)
    # After some changes, and from then on at any step of the next.
    told, least = b"", turn % 4
    while told.count(b" ") < least:
        told += os.read(reading, 100)
    time.sleep(order.random() * (0.012 if least else 0.03))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as rest:
        print((told + rest.read()).decode())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("often", ["", OFTEN])
def test_a_writer_killed_at_any_moment_leaves_what_was_done(place, often):
    place.create().close()
    source = f"import sys, numpy as np{often}{place.code()}{KILLING}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    told = [int(first) for first in done.stdout.split()]
    assert len(told) >= 60
    assert len(told) == len(set(told))
    with place.open().write() as writer:
        there = {one.number for one in writer.next_entries(-1, 10**6)}
        assert {first + one for first in told for one in range(5)} <= there
        documents = writer.next_documents(None, 10**6)
        assert {one.entry for one in documents} == {int(one.id) for one in documents} == there
        every = np.array(sorted(there), np.int64)
        assert {one.entry for one in writer.bodies(every)} == there
        firsts = every[::5]
        assert {block.key for block in writer.blocks(every)} == {*firsts.tolist()}
        keys, _ = writer.loose(every)
        assert {*keys.tolist()} == there - {*firsts.tolist()}
        assert writer.count_up("n", 1) >= max(there)
