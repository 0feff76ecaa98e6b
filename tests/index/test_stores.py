"""Every store does what the protocol says: one suite, over a file of SQLite and over PostgreSQL."""

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from lookalike.base.errors import OutputError, SourceError, UnreadableError
from lookalike.index.store import Block, Document, Sought
from store_fixtures import KINDS
from store_places import StorePlace, in_threads
from store_rows import IDS, KEYS, entries, entry, listed, numbers
from store_twin import WIDTH, StoreTwin, laid_out


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

    def test_one_that_was_opened_to_be_read_is_not_changed(self, place):
        with place.create({"n": "1"}).write() as writer:
            writer.put_documents([Document("a", 1, None, 0)])
        store = place.open(read_only=True)
        said = r"was opened to be read only: to change it, open it without that"
        for locks in (None, numbers(1)):
            with pytest.raises(OutputError, match=said), store.write(locks) as writer:
                writer.set_fact("n", "2")
            with pytest.raises(OutputError, match=said):
                store.change(lambda writer: writer.drop_documents(["a"]), locks)
        with store.read() as reader:
            assert reader.fact("n") == "1"
            assert reader.counts()["documents"] == 1

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
