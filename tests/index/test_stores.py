"""Every store does what the protocol says: one suite, over a file of SQLite and over PostgreSQL."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from lookalike.base.errors import LookalikeError, OutputError, SourceError, UnreadableError
from lookalike.index.sqlite import SqliteStore
from lookalike.index.sqlite_log import ROUNDS
from lookalike.index.store import Block, Document, Entries, Entry, Sought
from store_places import StorePlace, postgres_place, sqlite_place
from store_twin import WIDTH, StoreTwin, laid_out

KINDS = ("sqlite", "postgres")
IDS = [
    "a",
    "b",
    "A",
    "ä",
    "\U0001f600",
    "\uffff",
    "it's",
    '"',
    "{a,b}",
    "NULL",
    "\\",
    " ",
    "é" * 99,
]
KEYS = [0, 1, -1, 2**47 - 1, -(2**47), 256, 1000]


def failing() -> None:
    raise sqlite3.OperationalError("database or disk is full")


def numbers(*given: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(given, np.int64)


def entry(number: int, *, text: bool = True) -> Entry:
    """Make the entry of a number."""
    content = hashlib.blake2b(str(number).encode(), digest_size=16).digest()
    body = content * (number % 400) if text else None
    return Entry(number, content, content[:WIDTH], 17 * number, number % 7 == 0, body)


def entries(*given: Entry, keys: tuple[int, ...] = (5, 6)) -> Entries:
    """Lay out entries that all are in some buckets."""
    return laid_out(
        given,
        numbers(*keys * len(given)),
        np.repeat(numbers(*(one.number for one in given)), len(keys)),
    )


@pytest.fixture
def new_place(request, tmp_path) -> Iterator[Callable[[str], StorePlace]]:
    """Give a function that names an index of a kind which is not there yet."""
    made = []
    number = count()

    def new(kind: str) -> StorePlace:
        if kind == "sqlite":
            place = sqlite_place(tmp_path / f"index {next(number)}.lookalike")
        else:
            place = postgres_place(request.getfixturevalue("postgres").address())
        made.append(place)
        return place

    yield new
    for place in made:
        place.close()


@pytest.fixture(params=KINDS)
def place(request, new_place) -> StorePlace:
    return new_place(request.param)


def listed(found: Any) -> list[Any]:
    """Give what a method found in an order that can be compared."""
    if isinstance(found, tuple):
        first, second = found
        assert first.dtype == np.int64
        return sorted(zip(first.tolist(), second.tolist(), strict=True))
    if isinstance(found, dict):
        return sorted(found.items())
    return sorted(
        (one.key, one.entries.tolist(), one.sketches.tolist()) if isinstance(one, Block) else one
        for one in found
    )


def check_alike(reader: Any, twin: StoreTwin) -> None:
    """Ask both everything."""
    there = [*twin.entry, 0, -5, 10**12]
    for asked in (numbers(), numbers(*there), numbers(*there[::2], *there[::2])):
        assert listed(reader.sketches(asked)) == listed(twin.sketches(asked))
        assert listed(reader.bodies(asked)) == listed(twin.bodies(asked))
        assert listed(reader.entries(asked)) == listed(twin.entries(asked))
        assert listed(reader.documents_of(asked)) == listed(twin.documents_of(asked))
    for asked in (numbers(), numbers(*KEYS), numbers(*KEYS[::2], 7)):
        assert listed(reader.loose(asked)) == listed(twin.loose(asked))
        assert listed(reader.blocks(asked)) == listed(twin.blocks(asked))
        there_now, sketches = twin.sketches(twin.loose(asked)[1])
        assert reader.near(asked) == dict(
            zip(there_now.tolist(), map(bytes, sketches), strict=True)
        )
    contents = [entry(number).content for number in there]
    assert reader.contents(contents) == twin.contents(contents)
    assert reader.contents([]) == {}
    if hasattr(reader, "claim"):
        assert reader.claim(contents, there) == twin.contents(contents)
    assert listed(reader.documents([*IDS, "x"])) == listed(twin.documents(IDS))
    assert reader.documents([]) == []
    for after, most in ((None, 100), ("", 100), ("a", 2), ("ä", 1), ("\uffff", 5)):
        assert reader.next_documents(after, most) == twin.next_documents(after, most)
    for behind, most in ((-1, 100), (3, 2)):
        assert reader.next_entries(behind, most) == twin.next_entries(behind, most)
    assert reader.counts() == twin.counts()
    assert reader.largest_buckets(3) == twin.largest_buckets(3)
    assert reader.facts("fact") == twin.facts("fact")
    assert reader.fact("fact a") == twin.fact("fact a")
    assert reader.fact("never noted") is None


class Changed(RuleBasedStateMachine):
    """A store and its twin, changed alike."""

    new: Callable[[], StorePlace]

    def __init__(self) -> None:
        super().__init__()
        self.place = self.new()

    @initialize()
    def create(self) -> None:
        facts = {"fact a": "1", "fact ä": "it's", "other": ""}
        self.store = self.place.create(facts)
        self.twin = StoreTwin(facts)

    def teardown(self) -> None:
        self.place.close()

    @rule(data=st.data(), locked=st.booleans(), undone=st.sampled_from([False, False, True]))
    def change(self, data: Any, locked: bool, undone: bool) -> None:
        locks = numbers(*data.draw(st.lists(st.sampled_from(KEYS)))) if locked else None
        twin = self.twin.copied()
        try:
            with self.store.write(locks, self.some_sought(data)) as writer:
                check_alike(writer, twin)
                for _ in range(data.draw(st.integers(1, 3))):
                    self.one_change(data, writer, twin)
                check_alike(writer, twin)
                if undone:
                    raise KeyError("undone")
        except KeyError:
            assert undone
        else:
            self.twin = twin
        with self.store.read(self.some_sought(data)) as reader:
            check_alike(reader, self.twin)

    def some_sought(self, data: Any) -> Sought | None:
        """Give what a transaction says that it will ask for: more or less than it does."""
        if data.draw(st.booleans()):
            return None
        there = [*self.twin.entry, 10**12]
        return Sought(
            data.draw(st.sampled_from([[], IDS[::2], [*IDS, "x"]])),
            [entry(number).content for number in data.draw(st.sampled_from([there, there[::2]]))],
            numbers(*data.draw(st.sampled_from([[], KEYS, KEYS[::2]]))),
            data.draw(st.sampled_from([[], ["fact a", "counter", "never noted"]])),
        )

    def one_change(self, data: Any, writer: Any, twin: StoreTwin) -> None:  # noqa: PLR0912
        """Make one change to both, and compare what they give."""
        some_ids = st.lists(st.sampled_from(IDS), max_size=4)
        some_entries = st.lists(st.sampled_from([*twin.entry, 10**12]), max_size=5)
        what = data.draw(
            st.sampled_from(
                ["entries", "entries", "documents", "drop", "unused", "crowd", "sweep", "fact"]
            )
        )
        if what == "entries":
            many = data.draw(st.integers(0, 3))
            first = writer.count_up("counter", many)
            # Numbers of changes that were undone may be lost, but none is given out again.
            assert first >= int(twin.noted.get("counter", 0))
            twin.set_fact("counter", str(first + many))
            assert writer.fact("counter") == twin.fact("counter")
            new = [entry(first + one, text=data.draw(st.booleans())) for one in range(many)]
            some = st.tuples(st.sampled_from(KEYS), st.sampled_from(new)) if new else st.nothing()
            pairs = data.draw(st.lists(some))
            put = laid_out(
                new,
                numbers(*(key for key, _ in pairs)),
                numbers(*(one.number for _, one in pairs)),
            )
            for one in (writer, twin):
                one.put_entries(put)
        elif what == "documents" and twin.entry:
            metadata = st.sampled_from([None, "{}", '{"a":"it\'s \\u0000 ä"}'])
            documents = [
                Document(name, data.draw(st.sampled_from([*twin.entry])), data.draw(metadata), run)
                for run, name in enumerate(data.draw(some_ids))
            ]
            for one in (writer, twin):
                one.put_documents(documents)
        elif what == "drop":
            ids = data.draw(some_ids)
            for one in (writer, twin):
                one.drop_documents(ids)
        elif what == "unused":
            asked = numbers(*data.draw(some_entries))
            assert writer.drop_unused(asked) == twin.drop_unused(asked)
        elif what == "crowd":
            key = data.draw(st.sampled_from(KEYS))
            taken = np.sort(writer.take_loose(key))
            assert taken.tolist() == sorted(twin.take_loose(key).tolist())
            there, sketches = writer.sketches(taken)
            cut = len(there) // 2
            blocks = [
                Block(key, there[begin:end], sketches[begin:end])
                for begin, end in ((0, cut), (cut, len(there)))
                if end > begin
            ]
            for one in (writer, twin):
                one.put_blocks(blocks)
        elif what == "sweep":
            for one in (writer, twin):
                one.sweep()
        elif what == "fact":
            name = data.draw(st.sampled_from(["fact a", "fact b", "fac", "other"]))
            text = data.draw(st.sampled_from([None, "", "a\nb", "ä", "7"]))
            for one in (writer, twin):
                one.set_fact(name, text)

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = self.place.open()

    @rule()
    def compact(self) -> None:
        self.store.compact()


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_is_its_twin_after_any_changes(kind, new_place):
    class Machine(Changed):
        new = staticmethod(lambda: new_place(kind))

    many = max(15, settings().max_examples // 4)
    bounded = settings(max_examples=many, stateful_step_count=12)
    run_state_machine_as_test(Machine, settings=bounded)


class TestTransactions:
    def test_what_an_exception_ends_leaves_nothing(self, place):
        store = place.create({"fact a": "1"})
        with store.write() as writer:
            writer.put_entries(entries(entry(1), entry(2)))
            writer.put_documents([Document("a", 1, None, 0), Document("b", 2, "{}", 3)])
        before = self.all_of(store)
        for locks in (None, numbers(), numbers(1, 2)):
            with pytest.raises(ZeroDivisionError), store.write(locks) as writer:  # noqa: PT012
                writer.set_fact("fact a", "2")
                writer.put_entries(entries(entry(3)))
                writer.put_documents([Document("a", 3, None, 0)])
                writer.drop_documents(["b"])
                writer.drop_unused(numbers(1, 2, 3))
                writer.take_loose(5)
                writer.put_blocks([Block(9, numbers(3), np.zeros((1, WIDTH), np.uint8))])
                writer.sweep()
                1 / 0  # noqa: B018
            assert self.all_of(store) == before
            assert self.all_of(place.open()) == before

    @staticmethod
    def all_of(store):
        with store.read() as reader:
            return (
                reader.facts(""),
                reader.next_documents(None, 100),
                reader.next_entries(-1, 100),
                listed(reader.loose(numbers(5, 6))),
                listed(reader.blocks(numbers(9))),
            )

    def test_a_reader_sees_one_moment(self, place):
        store, other = place.create({"n": "0"}), place.open()
        with store.read() as reader:
            for changing in (store, other):
                with changing.write() as writer:
                    writer.set_fact("n", "1")
                    writer.put_entries(entries(entry(1 if changing is store else 2)))
            assert reader.fact("n") == "0"
            assert reader.counts()["entries"] == 0
            with other.read() as later:
                assert later.fact("n") == "1"
                assert later.counts()["entries"] == 2
        with store.read() as reader:
            assert reader.fact("n") == "1"

    def test_what_is_not_done_is_not_seen(self, place):
        store = place.create({"n": "0"})
        with store.write() as writer:
            writer.set_fact("n", "1")
            assert writer.fact("n") == "1"
            with store.read() as reader:
                assert reader.fact("n") == "0"

    @pytest.mark.parametrize("kept", [(1,), (2,)], ids=["the same lock", "another"])
    def test_a_writer_waits_only_so_long(self, place, kept):
        store, hasty = place.create(), place.open(wait=0.05)
        with store.write(numbers(1)):
            meets = place.kind == "sqlite" or kept == (1,)
            if meets:
                with (
                    pytest.raises(UnreadableError, match=r"locked by another writer for 0\.05 sec"),
                    hasty.write(numbers(*kept)),
                ):
                    pass
            else:
                with hasty.write(numbers(*kept)) as writer:
                    writer.set_fact("n", "1")
            with hasty.read() as reader:
                assert reader.fact("n") == (None if meets else "1")
        with hasty.write(numbers(*kept)) as writer:
            writer.set_fact("n", "2")

    @pytest.mark.parametrize(
        ("first", "second", "wait"),
        [
            (None, (1,), True),
            ((1,), None, True),
            (None, (), True),
            ((), None, True),
            (None, None, True),
            ((1, 2, 3), (3, 9), True),
            ((1,), (257,), True),  # one slot
            ((-1,), (255,), True),
            ((1, 2), (3, 4), False),
            ((), (), False),
        ],
    )
    def test_writers_in_postgres_wait_for_those_with_a_lock_in_common(
        self, new_place, first, second, wait
    ):
        place = new_place("postgres")
        store, other = place.create(), place.open(wait=0.05)
        locks = [None if one is None else numbers(*one) for one in (first, second)]
        told = []
        with store.write(locks[0]):
            try:
                with other.write(locks[1]):
                    told.append("done")
            except UnreadableError:
                told.append("waited")
        assert told == (["waited"] if wait else ["done"])

    def test_a_waiting_writer_sees_what_it_waited_for(self, place):
        store = place.create({"n": "0"})

        def raise_it() -> None:
            for _ in range(20):
                with store.write(numbers(7)) as writer:
                    writer.set_fact("n", str(int(writer.fact("n") or 0) + 1))

        in_threads(*[raise_it] * 4)
        with store.read() as reader:
            assert reader.fact("n") == "80"

    def test_a_closed_store_says_so(self, place):
        store = place.create()
        store.close()
        for use in (store.read, store.write):
            with pytest.raises(SourceError, match="is closed: open it again"), use():
                pass

    def test_a_store_may_be_closed_while_it_is_read(self, place):
        store = place.create({"n": "1"})
        with store.read() as reader:
            store.close()
            assert reader.fact("n") == "1"


def in_threads(*work: Callable[[], None]) -> None:
    """Run functions side by side, and raise what one of them raises."""
    failed: list[BaseException] = []

    def run(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failed:
        raise error


def in_processes(place: StorePlace, code: str, many: int) -> list[str]:
    """Run code that has the store in several processes at once, and give their outputs."""
    source = f"import sys, json, numpy as np{place.code()}{code}\nstore.close()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", source, str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(many)
    ]
    try:
        told = [process.communicate(timeout=60) for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert [errors for _, errors in told] == [""] * many
    return [output for output, _ in told]


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


class TestIds:
    def test_ids_are_in_the_order_of_their_bytes(self, place):
        store = place.create()
        ids = [*IDS, "Z", "a b", "a-b", "a_b", "ab", "B", "\x01", "\x7f", "\ud7ff", "\ue000", "~"]
        with store.write() as writer:
            writer.put_documents([Document(name, 1, None, 0) for name in ids])
        with store.read() as reader:
            found: list[str] = []
            while some := reader.next_documents(found[-1] if found else None, 3):
                found += [one.id for one in some]
        assert found == sorted(ids, key=str.encode)

    def test_long_ids_are_stored_or_refused_in_a_line(self, place):
        store = place.create()
        for length in (2000, 3000, 100_000):
            # Not to be compressed.
            name = hashlib.shake_256(str(length).encode()).hexdigest(length // 2)
            document, refused = (
                Document(name, 1, None, 0),
                place.kind == "postgres" and length > 2704,
            )
            said = r"cannot take an id of more than 2,704 bytes"
            with (
                pytest.raises(SourceError, match=said) if refused else nullcontext(),
                store.write() as writer,
            ):
                writer.put_documents([document])
            with store.read() as reader:
                assert reader.documents([name]) == ([] if refused else [document])

    def test_a_nul_in_an_id_is_stored_or_refused_in_a_line(self, place):
        store = place.create()
        document = Document("a\0b", 1, None, 0)
        with pytest.raises(SourceError, match="holds a NUL"), store.write() as writer:
            writer.put_documents([document])
        with store.write() as writer:
            writer.drop_documents(["a\0b", "a"])
        with store.read() as reader:
            assert reader.documents(["a\0b"]) == []


class TestMaking:
    def test_an_index_is_made_once(self, place):
        place.create({"n": "1"})
        with pytest.raises(OutputError, match="is there already: give another name"):
            place.create({"n": "2"})
        with place.open().read() as reader:
            assert reader.facts("") == {"n": "1"}

    def test_of_several_who_make_one_at_once_one_does(self, place):
        told = []

        def make() -> None:
            try:
                place.create({"n": "1"})
                told.append("made")
            except OutputError:
                told.append("there")

        in_threads(*[make] * 4)
        assert sorted(told) == ["made", "there", "there", "there"]
        with place.open().read() as reader:
            assert reader.facts("") == {"n": "1"}

    def test_one_that_is_not_there_is_not_opened(self, place):
        with pytest.raises(SourceError, match=r"there is no index .*: make one by lookalike index"):
            place.open()

    def test_its_parts_are_told(self, place):
        store = place.create()
        with store.read() as reader:
            before = reader.bytes_by_part()
        with store.write() as writer:
            writer.put_entries(entries(*map(entry, range(1000))))
            writer.put_documents([Document(f"{n}", n, "{}", 0) for n in range(1000)])
            writer.put_blocks(
                [Block(n, numbers(*range(1000)), np.ones((1000, 9), np.uint8)) for n in range(9)]
            )
        with store.read() as reader:
            after = reader.bytes_by_part()
        assert set(after) == {"documents", "entries", "texts", "bands", "crowds"}
        assert all(after[part] > before[part] for part in after)

    def test_what_is_durable_is_so(self, place):
        store = place.create(durable=True)
        with store.write(numbers(1)) as writer:
            writer.set_fact("n", "1")
        with store.read() as reader:
            assert reader.fact("n") == "1"


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


class TestFilesOfSqlite:
    @pytest.fixture
    def place(self, new_place):
        place = new_place("sqlite")
        with place.create({"recipe": "some"}).write() as writer:
            writer.put_entries(entries(*map(entry, range(60))))
            writer.put_documents([Document(f"{n}", n, None, 0) for n in range(60)])
        place.close()
        return place

    @pytest.mark.parametrize("first", [0, 10**15])
    @pytest.mark.parametrize("metadata", [None, '{"a":"it\'s ä"}'])
    def test_few_rows_go_in_and_come_out_as_many_do(self, new_place, monkeypatch, first, metadata):
        asked, found = numbers(*range(first, first + 12)), []
        documents = [
            Document(name, first + n, metadata if n else None, first + n)
            for n, name in enumerate(["b", "a", "ä", "a"])
        ]
        for few in (16, -1):
            monkeypatch.setattr("lookalike.index.sqlite_rows.FEW", few)
            monkeypatch.setattr("lookalike.index.sqlite_changes.FEW", few)
            with new_place("sqlite").create({"recipe": "some"}).write() as writer:
                writer.put_entries(entries(*map(entry, range(first, first + 9))))
                writer.put_documents(documents)
                found.append(
                    [
                        writer.next_entries(-1, 20),
                        writer.next_documents(None, 20),
                        listed(writer.loose(numbers(*KEYS))),
                        listed(writer.sketches(asked)),
                        listed(writer.bodies(asked)),
                        listed(writer.entries(asked)),
                        listed(writer.documents(["a", "ä", "x"])),
                        listed(writer.documents_of(asked)),
                        listed(writer.contents([entry(n).content for n in asked.tolist()])),
                    ]
                )
        assert found[0] == found[1]
        assert found[0][0] == [entry(n) for n in range(first, first + 9)]
        assert found[0][1] == [documents[3], documents[0], documents[2]]

    def put_some(self, store, turns, first=1000):
        """Make changes one after the other, and give how long the log has become."""
        for begin in range(first, first + 20 * turns, 20):
            with store.write() as writer:
                new = map(entry, range(begin, begin + 20))
                writer.put_entries(entries(*new, keys=(7 * begin,)))
            store._log.end()
        return store._path.with_name(f"{store._path.name}-wal").stat().st_size

    def test_the_log_is_put_into_the_file_beside_the_writer(self, place, monkeypatch):
        """And begun again, so that it stays as long as some changes are."""
        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 40)
        store = place.open()
        bounded = self.put_some(store, 40)
        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 10**6)
        assert self.put_some(store, 40, 5000) > 5 * bounded
        with store.read() as reader:
            assert len(reader.next_entries(-1, 10**6)) == 60 + 1600

    @pytest.mark.skipif(sys.platform != "linux", reason="no other tells by which descriptor")
    def test_the_file_is_written_to_the_disk_before_writers_wait(self, place, monkeypatch):
        """By a descriptor of SQLite's, which stays open: its locks would end with another."""
        written, fsync = [], os.fsync

        def noted(descriptor):
            written.append(Path(f"/proc/self/fd/{descriptor}").readlink())
            fsync(descriptor)

        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 40)
        monkeypatch.setattr(os, "fsync", noted)
        monkeypatch.chdir(place.place.parent)
        store = SqliteStore(Path(place.place.name))
        before = len([*Path("/proc/self/fd").iterdir()])
        self.put_some(store, 1)
        assert written == [place.place.resolve()] * ROUNDS
        assert len([*Path("/proc/self/fd").iterdir()]) <= before + 1
        store.close()

    def test_no_thread_begins_once_the_store_is_closed(self, place, monkeypatch):
        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
        store = place.open()
        with store.write() as writer:
            writer.set_fact("n", "1")
            store.close()
        assert store._log._thread is None

    def test_a_reader_that_stays_keeps_no_writer_waiting_for_long(self, place, monkeypatch):
        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
        store = place.open(wait=0.5)
        with store.read() as reader:
            self.put_some(store, 10)
            assert len(reader.next_entries(-1, 10**6)) == 60
        with store.read() as reader:
            assert len(reader.next_entries(-1, 10**6)) == 260

    def test_a_log_that_cannot_be_put_into_the_file_now_waits(self, place, monkeypatch):
        monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
        store = place.open()
        monkeypatch.setattr(store, "_connect", failing)
        self.put_some(store, 3)
        monkeypatch.undo()
        with store.read() as reader:
            assert len(reader.next_entries(-1, 10**6)) == 120

    def test_what_cannot_be_written_is_read_as_it_is(self, place, monkeypatch):
        """As root nothing is refused: the question is answered for the system."""
        monkeypatch.setattr("lookalike.index.sqlite._can_be_written", lambda _: False)
        before = place.place.read_bytes()
        store = place.open()
        with store.read() as reader:
            assert reader.counts()["documents"] == 60
            assert [*place.place.parent.iterdir()] == [place.place]
        with pytest.raises(OutputError, match="cannot be opened for writing"), store.write() as one:
            one.set_fact("n", "1")
        assert place.place.read_bytes() == before
        place.place.with_name(f"{place.place.name}-wal").write_bytes(b"some")
        with pytest.raises(SourceError, match=r"has changes that are not in it: open it once"):
            place.open()

    def test_another_file_is_refused(self, place):
        for content in (
            b"some text",
            b"PK\x03\x04" + bytes(5000),
            b"SQLite format 3\0" + bytes(90),
        ):
            place.place.write_bytes(content)
            with pytest.raises(
                SourceError, match=r"(is no index of Lookalike|is damaged)"
            ) as caught:
                place.open()
            assert len(str(caught.value).splitlines()) == 1
            assert place.place.read_bytes() == content

    def test_an_empty_file_is_refused(self, place):
        place.place.write_bytes(b"")
        with pytest.raises(SourceError, match="is no index of Lookalike: give another file"):
            place.open()
        assert place.place.read_bytes() == b""

    def test_a_folder_is_refused(self, place, tmp_path):
        with pytest.raises(SourceError, match="there is no index"):
            sqlite_place(tmp_path).open()

    def test_another_database_is_refused(self, place):
        import sqlite3  # noqa: PLC0415

        place.place.unlink()
        with sqlite3.connect(place.place) as connection:
            connection.execute("CREATE TABLE fact (name TEXT)")
        connection.close()
        before = place.place.read_bytes()
        with pytest.raises(SourceError, match="is no index of Lookalike: give another file"):
            place.open()
        assert place.place.read_bytes() == before

    @pytest.mark.parametrize(("version", "said"), [(3, "a newer format, 3,"), (1, "an older")])
    def test_another_format_is_refused(self, place, version, said):
        import sqlite3  # noqa: PLC0415

        with sqlite3.connect(place.place) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        with pytest.raises(
            SourceError, match=f"is an index of {said}.*use the version of Lookalike"
        ):
            place.open()

    def used(self, place):
        """Ask everything of a file that may be damaged."""
        for beside in ("-wal", "-shm"):
            place.place.with_name(place.place.name + beside).unlink(missing_ok=True)
        try:
            store = place.open()
            with store.read() as reader:
                asked = numbers(*range(60))
                reader.facts("")
                reader.sketches(asked)
                reader.bodies(asked)
                reader.next_documents(None, 100)
                reader.next_entries(-1, 100)
                reader.documents_of(asked)
                reader.contents([entry(number).content for number in range(60)])
                found = listed(reader.loose(numbers(5, 6)))
            with store.write() as writer:
                writer.put_entries(entries(entry(1000)))
                writer.put_documents([Document("new", 1000, None, 0)])
        except LookalikeError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017
            return None
        finally:
            place.close()
        return found

    def test_a_file_that_was_cut_is_refused_in_a_line(self, place):
        whole = place.place.read_bytes()
        refused = 0
        for length in [*range(0, len(whole), len(whole) // 40), len(whole) - 1, 99, 100, 101]:
            place.place.write_bytes(whole[:length])
            refused += self.used(place) is None
        assert refused > 40
        place.place.write_bytes(whole)
        assert len(self.used(place) or []) == 120

    def test_a_file_that_was_damaged_never_ends_in_a_traceback(self, place):
        whole = place.place.read_bytes()
        random = np.random.default_rng(5)
        refused = 0
        for _ in range(60):
            damaged = bytearray(whole)
            begin = int(random.integers(len(whole)))
            end = min(begin + int(random.integers(1, 3000)), len(whole))
            damaged[begin:end] = random.bytes(end - begin)
            place.place.write_bytes(damaged)
            refused += self.used(place) is None
        assert refused > 5
