"""What is PostgreSQL's own: addresses, connections that are lost, rights, formats."""

import secrets
import subprocess
import sys
import threading

import numpy as np
import psycopg
import pytest

from lookalike.base.errors import OutputError, SettingsError, SourceError, UnreadableError
from lookalike.index import postgres_connections, postgres_schema
from lookalike.index.index import Index
from lookalike.index.postgres import PostgresStore
from lookalike.index.postgres_address import PostgresAddress
from lookalike.index.postgres_ahead import LOOK_AHEAD, Ahead
from lookalike.index.postgres_schema import STEPS
from lookalike.index.store import FORMAT, Block, Document, Sought
from store_places import postgres_place

NAME = f"test_{secrets.token_hex(8)}"
"""Of what all users of a server share."""


class TestAddresses:
    @pytest.mark.parametrize(
        ("given", "index", "shown"),
        [
            ("postgresql://", "lookalike", "postgresql:///?index=lookalike"),
            ("postgres://host/db", "lookalike", "postgresql://host/db?index=lookalike"),
            ("postgresql://host/db?index=pages", "pages", "postgresql://host/db?index=pages"),
            ("postgresql://host:5433?index=a", "a", "postgresql://host:5433/?index=a"),
            (
                "postgresql://me:secret@host/db?index=a%20b%C3%A4&sslmode=disable",
                "a bä",
                "postgresql://me@host/db?index=a%20b%C3%A4",
            ),
            (
                "postgresql://me:sec%40r%2Fet@host/db?sslmode=disable&index=a&password=secret",
                "a",
                "postgresql://me@host/db?index=a",
            ),
            ("postgresql://[::1]:1/db", "lookalike", "postgresql://[::1]:1/db?index=lookalike"),
            ("postgresql://a:1,b:2/db?index=x", "x", "postgresql://a:1,b:2/db?index=x"),
            ("postgresql:///db?host=/run/pg&index=x", "x", "postgresql://%2Frun%2Fpg/db?index=x"),
            ("postgresql://me:sec#ret@host/db?index=x", "x", "postgresql://me@host/db?index=x"),
        ],
    )
    def test_an_address_is_read_and_shown_without_its_password(self, given, index, shown):
        found = PostgresAddress.parse(given)
        assert (found.index, found.shown) == (index, shown)
        assert "index" not in found.parameters
        assert "sec" not in repr(found)
        assert PostgresAddress.parse(shown).index == index

    def test_other_parameters_are_handed_on(self):
        found = PostgresAddress.parse("postgresql://me:a%40b@host/db?index=x&sslmode=require")
        assert found.parameters == {
            "user": "me",
            "password": "a@b",
            "host": "host",
            "dbname": "db",
            "sslmode": "require",
        }

    @pytest.mark.parametrize(
        "given",
        [
            "postgresql://me:secret@more@host/db",
            "postgresql://me:secret/more@host/db",
            "postgresql://me:secret?more@host/db",
            "postgresql://me:secret/db",
            "postgresql://me:secret%zz@host/db",
            "postgresql://me:secret@host/db?wrong=1",
            "postgresql://me:secret@host/db?wrong",
            "postgresql://me:secret@[::1/db",
        ],
    )
    def test_what_is_no_address_is_refused_and_not_shown(self, given):
        with pytest.raises(SettingsError, match=r"write it as|is written as") as caught:
            PostgresAddress.parse(given)
        assert "secret" not in str(caught.value)
        assert "postgresql://user@host/database?index=pages" in str(caught.value)

    @pytest.mark.parametrize("name", ["", "pg_x", "a" * 64, "ä" * 32, "a%00b", "a%0Ab"])
    def test_names_that_postgresql_does_not_take_are_refused(self, name):
        with pytest.raises(SettingsError, match="it has 1 to 63 bytes, and does not begin with"):
            PostgresAddress.parse(f"postgresql://host/db?index={name}")

    @pytest.mark.parametrize("name", ['quo"te', "it's", "Größe", "drop table; --", "a" * 63, "%"])
    def test_any_other_name_is_one(self, postgres, name):
        place = postgres_place(postgres.address(name))
        with place.create({"n": "1"}).write() as writer:
            writer.count_up("n", 1)
        place.close()
        with place.open().read() as reader:
            assert reader.fact("n") == "2"
        place.open().compact()
        place.close()


@pytest.fixture
def place(postgres):
    place = postgres_place(postgres.address())
    yield place
    place.close()


def test_no_server_is_told_without_the_password(monkeypatch):
    monkeypatch.setattr(postgres_connections, "PAUSES", (0.01,))
    with pytest.raises(UnreadableError) as caught:
        PostgresStore("postgresql://me:secret@127.0.0.1:1/db?index=pages")
    said = str(caught.value)
    assert said.startswith("postgresql://me@127.0.0.1:1/db?index=pages cannot be reached: ")
    assert "refused" in said
    assert said.endswith("see that the server runs, and that the address is right")
    assert "secret" not in said
    assert len(said.splitlines()) == 1


def test_a_server_that_does_not_answer_at_once_is_tried_again(place, monkeypatch):
    place.create({"n": "1"}).close()
    monkeypatch.setattr(postgres_connections, "PAUSES", (0.0, 0.0))
    connect, failed = psycopg.connect, []

    def fail_twice(*arguments, **options):
        if len(failed) < 2:
            failed.append(1)
            raise psycopg.OperationalError("the database system is starting up")
        return connect(*arguments, **options)

    monkeypatch.setattr(psycopg, "connect", fail_twice)
    with place.open().read() as reader:
        assert reader.fact("n") == "1"
    assert len(failed) == 2


class TestLostConnections:
    @pytest.fixture
    def place(self, postgres):
        place = postgres_place(f"{postgres.address()}&application_name={NAME}")
        yield place
        place.close()

    def end_all(self, postgres):
        """End the connections of the test, as a server does that restarts."""
        assert postgres.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            f" WHERE application_name = '{NAME}'"
        )

    def test_those_that_wait_for_work_are_replaced(self, postgres, place):
        store = place.create({"n": "1"})
        both = threading.Barrier(2)

        def read():
            with store.read():
                both.wait()

        other = threading.Thread(target=read)
        other.start()
        read()
        other.join()
        for use in (store.read, store.write):
            self.end_all(postgres)
            with use() as rows:
                assert rows.fact("n") == "1"

    def test_so_are_those_that_look_ahead(self, postgres, place):
        store = place.create({"n": "1"})
        locks = np.array([1])
        sought = Sought(["a"], [bytes(16)], locks, ["n"])
        for use in (lambda: store.read(sought), lambda: store.write(locks, sought)):
            with use() as rows:
                assert rows.fact("n") == "1"
            self.end_all(postgres)
            with use() as rows:
                assert rows.fact("n") == "1"
                assert rows.documents(["a"]) == []

    def test_a_change_that_was_undone_so_is_made_again(self, postgres, place):
        store, calls = place.create({"n": "1"}), []

        def work(writer):
            calls.append(writer.fact("n"))
            writer.set_fact("n", "2")
            if len(calls) == 1:
                self.end_all(postgres)
                writer.documents(["b"])
            return "done"

        for sought in (None, Sought(["a"], [], np.array([1]), ["n"])):
            with store.write() as writer:
                writer.set_fact("n", "1")
            calls.clear()
            assert store.change(work, np.array([1]), sought) == "done"
            assert calls == ["1", "1"]
            with store.read() as reader:
                assert reader.fact("n") == "2"

    @pytest.mark.parametrize(
        "lost",
        [
            psycopg.errors.AdminShutdown("terminating connection"),
            psycopg.errors.IdleInTransactionSessionTimeout("terminating connection"),
            psycopg.OperationalError("cannot exit pipeline mode while busy"),
        ],
    )
    def test_so_is_one_whose_end_was_told_before_it_was_noticed(self, place, lost):
        """Its last words, or those of the library, come while the connection seems to be whole."""
        store, calls = place.create({"n": "1"}), []

        def work(writer):
            calls.append(writer.fact("n"))
            writer.set_fact("n", "2")
            if len(calls) == 1:
                raise lost

        store.change(work, np.array([1]))
        assert calls == ["1", "1"]
        with pytest.raises(UnreadableError, match=r"the connection to .* was lost"), store.read():
            raise lost

    @pytest.mark.parametrize(
        "other", [psycopg.errors.PipelineAborted("aborted"), psycopg.errors.LockNotAvailable("no")]
    )
    def test_what_else_fails_is_not_tried_again(self, place, other):
        store, calls = place.create({"n": "1"}), []

        def work(writer):
            calls.append(1)
            raise other

        with pytest.raises(UnreadableError) as told:
            store.change(work, np.array([1]))
        assert "was lost" not in str(told.value)
        assert len(calls) == 1

    def test_one_that_was_ending_is_not_made_again(self, postgres, place):
        store, calls = place.create({"n": "1"}), []

        def work(writer):
            calls.append(1)
            self.end_all(postgres)

        for sought in (None, Sought([], [], np.array([1]))):
            with pytest.raises(UnreadableError, match="which may be there or not"):
                store.change(work, np.array([1]), sought)
        assert len(calls) == 2

    def test_a_read_that_loses_its_own_is_told(self, postgres, place):
        store = place.create({"n": "1"})
        with (  # noqa: PT012
            pytest.raises(UnreadableError, match=r"the connection to .* was lost \(.*\): run it"),
            store.read() as reader,
        ):
            self.end_all(postgres)
            reader.fact("n")
        with store.read() as reader:
            assert reader.fact("n") == "1"

    def test_a_change_that_loses_its_own_is_undone(self, postgres, place):
        store = place.create({"n": "1"})
        with (  # noqa: PT012
            pytest.raises(UnreadableError, match="was lost, and what was under way was undone"),
            store.write() as writer,
        ):
            writer.set_fact("n", "2")
            self.end_all(postgres)
            writer.put_documents([Document("a", 1, None, 0)])
        with store.read() as reader:
            assert reader.fact("n") == "1"
            assert reader.counts()["documents"] == 0

    def test_one_that_was_ending_may_be_there_or_not(self, postgres, place):
        store = place.create({"n": "1"})
        with (  # noqa: PT012
            pytest.raises(UnreadableError, match="as a change ended, which may be there or not"),
            store.write() as writer,
        ):
            writer.set_fact("n", "2")
            self.end_all(postgres)


def test_a_statement_that_failed_and_was_passed_over_is_no_change(place):
    store = place.create({"n": "1"})
    with pytest.raises(OutputError, match="a change failed, and nothing of it was made"):  # noqa: PT012, SIM117
        with store.write() as writer:
            writer.set_fact("n", "2")
            with pytest.raises(psycopg.Error):
                writer.connection.execute("SELECT 1 / 0")
    with store.read() as reader:
        assert reader.fact("n") == "1"


class TestFormats:
    def test_another_schema_is_refused(self, postgres, place):
        name = PostgresAddress.parse(place.place).index
        postgres.run("CREATE SCHEMA {}", name)
        postgres.run("CREATE TABLE {}.fact (name text)", name)
        with pytest.raises(SourceError, match=r"is no index of Lookalike: its schema .* holds"):
            place.open()
        with pytest.raises(OutputError, match="is there already: give another name, or drop the"):
            place.create()
        assert postgres.run("SELECT count(*) FROM {}.fact", name) == [(0,)]

    def test_a_newer_format_is_refused(self, postgres, place):
        place.create().close()
        postgres.run(f"UPDATE {{}}.format SET version = {FORMAT + 1}")
        with pytest.raises(SourceError, match=f"of a newer format, {FORMAT + 1}, and this version"):
            place.open()

    def test_there_is_a_step_to_each_format(self):
        assert len(STEPS) == FORMAT

    def test_the_crowds_of_the_first_format_are_loose_rows_again(self, postgres, place):
        store = place.create()
        numbers = [1, 255, 256, 65537, 2**40 + 3]
        with store.write() as writer:
            for begin, key in ((0, -7), (3, -7), (1, 9)):
                entries = np.array(numbers[begin : begin + 3], np.int64)
                writer.put_blocks([Block(key, entries, np.ones((len(entries), 158), np.uint8))])
        store.close()
        for table in ("entry", "document"):
            postgres.run(f"ALTER TABLE {{}}.{table} DROP COLUMN mark")
        postgres.run("UPDATE {}.format SET version = 1")
        with place.open().read() as reader:
            keys, entries = reader.loose(np.array([-7, 9]))
            assert not [*reader.blocks(np.array([-7, 9]))]
        expected = [*((-7, one) for one in numbers), *((9, one) for one in numbers[1:4])]
        assert sorted(zip(keys.tolist(), entries.tolist(), strict=True)) == expected

    def test_rows_of_a_format_without_checksums_are_checked_without(self, postgres):
        address = postgres.address()
        with Index.create(address, shingle="chars:4") as index:
            index.add("a", "a text that is there", {"n": 1})
        for table in ("entry", "document"):
            postgres.run(f"ALTER TABLE {{}}.{table} DROP COLUMN mark")
        postgres.run("UPDATE {}.format SET version = 2")
        with Index(address) as index:
            index.add("b", "another text that is there")
            assert index.check().whole
            postgres.run("DELETE FROM {}.loose WHERE entry = 1")
            assert index.check().faults[0].ids == ["a"]

    def test_an_older_one_is_brought_up_to_date_once(self, postgres, place, monkeypatch):
        place.create({"n": "1"}).close()
        step = "ALTER TABLE document ADD COLUMN colour text DEFAULT 'red'"
        monkeypatch.setattr(postgres_schema, "STEPS", (*STEPS, step))
        monkeypatch.setattr(postgres_schema, "FORMAT", FORMAT + 1)
        opened = []

        def open_it(read_only):
            opened.append(place.open(read_only=read_only))

        # No other format is read, so that those who only read bring it up to date too.
        threads = [threading.Thread(target=open_it, args=(n % 2 > 0,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(opened) == 4
        with place.open().write() as writer:
            writer.put_documents([Document("a", 1, None, 0)])
            assert writer.fact("n") == "1"
        assert postgres.run("SELECT colour FROM {}.document") == [("red",)]
        assert postgres.run("SELECT version FROM {}.format") == [(FORMAT + 1,)]

    def test_a_step_that_fails_leaves_the_format_as_it_was(self, postgres, place, monkeypatch):
        place.create({"n": "1"}).close()
        with monkeypatch.context() as patched:
            wrong = "ALTER TABLE document ADD COLUMN colour text; SELECT 1 / 0"
            patched.setattr(postgres_schema, "STEPS", (*STEPS, wrong))
            patched.setattr(postgres_schema, "FORMAT", FORMAT + 1)
            with pytest.raises(SourceError, match="division by zero"):
                place.open()
        with place.open().read() as reader:
            assert reader.fact("n") == "1"

    def test_one_that_lost_a_table_is_refused_in_a_line(self, postgres, place):
        store = place.create()
        postgres.run("DROP TABLE {}.loose")
        with (
            pytest.raises(SourceError, match=r"is not there any more, or lacks a part: relation"),
            store.read() as reader,
        ):
            reader.counts()

    def test_one_that_is_dropped_meanwhile_is_told(self, postgres, place):
        store = place.create()
        postgres.run("DROP SCHEMA {} CASCADE")
        with pytest.raises(SourceError, match="is not there any more"), store.write() as writer:
            writer.set_fact("n", "1")


def test_what_one_document_needs_is_answered_by_one_process(place):
    """A server that expects many rows would start others, which takes longer than the answer."""
    sought = Sought(["a"], [bytes(16)], np.array([1, 2]), ["n"])
    with place.create().read(sought) as reader:
        setting = reader.connection.execute("SHOW max_parallel_workers_per_gather").fetchone()
        rows = reader.connection.execute(f"EXPLAIN {LOOK_AHEAD}", Ahead.values(sought)).fetchall()
    plan = "\n".join(line for (line,) in rows)
    assert setting == ("0",)
    assert "loose_pkey" in plan
    assert "Seq Scan" not in plan


def test_ids_are_ordered_by_their_bytes_whatever_the_language_of_the_database(postgres, place):
    place.create()
    name = PostgresAddress.parse(place.place).index
    assert postgres.run(
        "SELECT table_name, collation_name FROM information_schema.columns"
        f" WHERE table_schema = '{name}' AND column_name IN ('id', 'name') ORDER BY 1"
    ) == [("document", "C"), ("fact", "C")]


class TestRights:
    @pytest.fixture
    def reader_address(self, postgres, place):
        place.create({"n": "1"})
        postgres.run(f"CREATE ROLE {NAME} LOGIN")
        postgres.run(f"GRANT USAGE ON SCHEMA {{}} TO {NAME}")
        postgres.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {{}} TO {NAME}")
        yield f"{place.place}&user={NAME}"
        postgres.drop()
        postgres.run(f"DROP OWNED BY {NAME}")
        postgres.run(f"DROP ROLE {NAME}")

    def test_one_who_may_only_read_does(self, reader_address):
        other = postgres_place(reader_address)
        store = other.open()
        with store.read() as reader:
            assert reader.fact("n") == "1"
        with (
            pytest.raises(OutputError, match="cannot be used so by this user: permission denied"),
            store.write() as writer,
        ):
            writer.set_fact("n", "2")
        other.close()

    def test_a_reader_changes_nothing(self, place):
        store = place.create({"n": "1"})
        with pytest.raises(OutputError, match="read-only transaction"), store.read() as reader:
            reader.connection.execute("DELETE FROM fact")


def test_an_index_in_a_database_of_another_encoding_is_refused(postgres, place):
    postgres.run(f"CREATE DATABASE {NAME} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(OutputError, match="is in LATIN1: make one in UTF8"):
            PostgresStore.create(f"{place.place}&dbname={NAME}", {})
    finally:
        postgres.run(f"DROP DATABASE {NAME}")


def test_connections_are_not_kept_without_end(postgres, place):
    store = place.create()
    many = 12
    barrier = threading.Barrier(many)

    def read():
        with store.read() as reader:
            reader.counts()
            barrier.wait()

    threads = [threading.Thread(target=read) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store._connections.idle) == postgres_connections.MOST_IDLE
    store.close()
    assert store._connections.idle == []


def test_without_the_library_the_extra_is_named():
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0].startswith("psycopg"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import lookalike
try:
    from lookalike.index.postgres import PostgresStore
except lookalike.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "indexes in PostgreSQL need another library: pip install 'lookalike[postgres]'\n"
    )
