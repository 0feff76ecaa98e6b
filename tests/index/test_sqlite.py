"""What is of files alone: the log beside them, other files, damaged ones, how rows go in."""

import os
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

from lookalike.base.errors import LookalikeError, OutputError, SourceError
from lookalike.index.sqlite import SqliteStore
from lookalike.index.sqlite_log import ROUNDS
from lookalike.index.store import Document
from store_places import sqlite_place
from store_rows import KEYS, entries, entry, listed, numbers


def failing() -> None:
    raise sqlite3.OperationalError("database or disk is full")


@pytest.fixture
def place(new_place):
    place = new_place("sqlite")
    with place.create({"recipe": "some"}).write() as writer:
        writer.put_entries(entries(*map(entry, range(60))))
        writer.put_documents([Document(f"{n}", n, None, 0) for n in range(60)])
    place.close()
    return place


@pytest.mark.parametrize("first", [0, 10**15])
@pytest.mark.parametrize("metadata", [None, '{"a":"it\'s ä"}'])
def test_few_rows_go_in_and_come_out_as_many_do(new_place, monkeypatch, first, metadata):
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


def put_some(store, turns, first=1000):
    """Make changes one after the other, and give how long the log has become."""
    for begin in range(first, first + 20 * turns, 20):
        with store.write() as writer:
            new = map(entry, range(begin, begin + 20))
            writer.put_entries(entries(*new, keys=(7 * begin,)))
        store._log.end()
    return store._path.with_name(f"{store._path.name}-wal").stat().st_size


def test_the_log_is_put_into_the_file_beside_the_writer(place, monkeypatch):
    """And begun again, so that it stays as long as some changes are."""
    monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 40)
    store = place.open()
    bounded = put_some(store, 40)
    monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 10**6)
    assert put_some(store, 40, 5000) > 5 * bounded
    with store.read() as reader:
        assert len(reader.next_entries(-1, 10**6)) == 60 + 1600


@pytest.mark.skipif(sys.platform != "linux", reason="no other tells by which descriptor")
def test_the_file_is_written_to_the_disk_before_writers_wait(place, monkeypatch):
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
    put_some(store, 1)
    assert written == [place.place.resolve()] * ROUNDS
    assert len([*Path("/proc/self/fd").iterdir()]) <= before + 1
    store.close()


def test_no_thread_begins_once_the_store_is_closed(place, monkeypatch):
    monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
    store = place.open()
    with store.write() as writer:
        writer.set_fact("n", "1")
        store.close()
    assert store._log._thread is None


def test_a_reader_that_stays_keeps_no_writer_waiting_for_long(place, monkeypatch):
    monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
    store = place.open(wait=0.5)
    with store.read() as reader:
        put_some(store, 10)
        assert len(reader.next_entries(-1, 10**6)) == 60
    with store.read() as reader:
        assert len(reader.next_entries(-1, 10**6)) == 260


def test_a_log_that_cannot_be_put_into_the_file_now_waits(place, monkeypatch):
    monkeypatch.setattr("lookalike.index.sqlite_log.LOG_ROWS", 1)
    store = place.open()
    monkeypatch.setattr(store, "_connect", failing)
    put_some(store, 3)
    monkeypatch.undo()
    with store.read() as reader:
        assert len(reader.next_entries(-1, 10**6)) == 120


def test_what_cannot_be_written_is_read_as_it_is(place, monkeypatch):
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


def test_another_file_is_refused(place):
    for content in (
        b"some text",
        b"PK\x03\x04" + bytes(5000),
        b"SQLite format 3\0" + bytes(90),
    ):
        place.place.write_bytes(content)
        with pytest.raises(SourceError, match=r"(is no index of Lookalike|is damaged)") as caught:
            place.open()
        assert len(str(caught.value).splitlines()) == 1
        assert place.place.read_bytes() == content


def test_an_empty_file_is_refused(place):
    place.place.write_bytes(b"")
    with pytest.raises(SourceError, match="is no index of Lookalike: give another file"):
        place.open()
    assert place.place.read_bytes() == b""


def test_a_folder_is_refused(place, tmp_path):
    with pytest.raises(SourceError, match="there is no index"):
        sqlite_place(tmp_path).open()


def test_another_database_is_refused(place):
    place.place.unlink()
    with sqlite3.connect(place.place) as connection:
        connection.execute("CREATE TABLE fact (name TEXT)")
    connection.close()
    before = place.place.read_bytes()
    with pytest.raises(SourceError, match="is no index of Lookalike: give another file"):
        place.open()
    assert place.place.read_bytes() == before


@pytest.mark.parametrize(("version", "said"), [(4, "a newer format, 4,"), (2, "an older")])
def test_another_format_is_refused(place, version, said):
    with sqlite3.connect(place.place) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(SourceError, match=f"is an index of {said}.*use the version of Lookalike"):
        place.open()


def used(place):
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


def test_a_file_that_was_cut_is_refused_in_a_line(place):
    whole = place.place.read_bytes()
    refused = 0
    for length in [*range(0, len(whole), len(whole) // 40), len(whole) - 1, 99, 100, 101]:
        place.place.write_bytes(whole[:length])
        refused += used(place) is None
    assert refused > 40
    place.place.write_bytes(whole)
    assert len(used(place) or []) == 120


def test_a_file_that_was_damaged_never_ends_in_a_traceback(place):
    whole = place.place.read_bytes()
    random = np.random.default_rng(5)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        begin = int(random.integers(len(whole)))
        end = min(begin + int(random.integers(1, 3000)), len(whole))
        damaged[begin:end] = random.bytes(end - begin)
        place.place.write_bytes(damaged)
        refused += used(place) is None
    assert refused > 5


class TestNames:
    """A file is the same file by whatever name, and from whatever folder."""

    def test_a_store_stays_with_its_file_when_the_program_goes_elsewhere(
        self, place, tmp_path, monkeypatch
    ):
        other = tmp_path / "other"
        other.mkdir()
        SqliteStore.create(other / place.place.name, {"recipe": "another"}).close()
        monkeypatch.chdir(place.place.parent)
        store = SqliteStore(Path(place.place.name))
        # A second look at the same time takes a connection of its own.
        with store.read() as first:
            monkeypatch.chdir(other)
            with store.read() as second:
                assert second.fact("recipe") == first.fact("recipe") == "some"
        store.close()

    def test_a_log_is_seen_through_a_link_too(self, place, tmp_path, monkeypatch):
        (tmp_path / "links").mkdir()
        link = tmp_path / "links" / "link.lookalike"
        link.symlink_to(place.place)
        place.place.with_name(f"{place.place.name}-wal").write_bytes(b"some")
        monkeypatch.setattr("lookalike.index.sqlite._can_be_written", lambda _: False)
        with pytest.raises(SourceError, match=r"link\.lookalike cannot be written, and index 0"):
            SqliteStore(link)

    def test_one_job_has_its_turn_by_whatever_name(self, place, tmp_path):
        link = tmp_path / "link.lookalike"
        link.symlink_to(place.place)
        linked, store = SqliteStore(link), place.open()
        turn = store.turn()
        assert turn is not None
        assert linked.turn() is None
        turn.release()
        again = linked.turn()
        assert again is not None
        again.release()
        linked.close()
