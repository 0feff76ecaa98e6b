"""What goes wrong with an index, through the program: one line, and nothing lost."""

import os
import re
import signal
import sqlite3
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.index import adding, bulk, sources
from lookalike.index.sqlite import SqliteStore
from source_files import write_records

RECORDS = [
    {"id": f"d{at:03}", "text": f"{at} bottles of {at * 7} kinds stand on shelf {at * at}", "n": at}
    for at in range(200)
]
ADD = ("index", "add", "pages.lookalike", "docs.jsonl", "--metadata", "n")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Give two files of documents, an empty index, and short names for all."""
    monkeypatch.chdir(tmp_path)
    write_records(Path("docs.jsonl"), RECORDS)
    lookalike.Index.create("pages.lookalike", shingle="chars:4").close()


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Let a few documents be added in many changes."""
    monkeypatch.setattr(bulk, "BATCH_BYTES", 500)
    monkeypatch.setattr(bulk, "MAX_CHUNK_DOCUMENTS", 5)
    monkeypatch.setattr(bulk, "MAX_ADMITTED_DOCUMENTS", 5)


def refused(answer, status=1):
    found, output, errors = answer
    assert (found, output) == (status, ""), errors
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert "a bug in Lookalike" not in errors
    return errors.removeprefix("lookalike: ").strip()


def table_of(path):
    """Give all that an index holds."""
    with lookalike.Index(path) as index:
        index.export("held.parquet")
    return pq.read_table("held.parquet")


def afresh(**options):
    """Give what the index holds after one addition that nothing stops."""
    with lookalike.Index.create("fresh.lookalike", shingle="chars:4") as index:
        index.add_all(Path("docs.jsonl"), metadata=["n"], **options)
    return table_of("fresh.lookalike")


class TestStopped:
    def stop_at(self, monkeypatch, name, moment, stop):
        """Let an addition be stopped when it comes to its n-th change."""
        module = sources if name == "admit" else adding
        original, seen = getattr(module, name), []

        def stopping(*given, **named):
            seen.append(1)
            if len(seen) == moment:
                stop()
            return original(*given, **named)

        monkeypatch.setattr(module, name, stopping)

    @pytest.fixture
    def heeds_ctrl_c(self):
        """What runs in the background of a shell does not."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    @pytest.mark.usefixtures("heeds_ctrl_c")
    @pytest.mark.parametrize("new_only", [False, True])
    def test_an_addition_goes_on_after_ctrl_c(self, told, monkeypatch, in_small_pieces, new_only):
        command = (*ADD, *(["--new-only"] if new_only else []))
        press = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
        self.stop_at(monkeypatch, "admit" if new_only else "put", 4, press)
        status, output, errors = told(*command, columns=200)
        assert (status, output) == (130, "")
        assert errors.endswith(
            "lookalike: stopped; what was added until now is in the index: run the same command "
            "again to go on\n"
        )
        with lookalike.Index("pages.lookalike") as index:
            before = len(index)
            assert 0 < before < 200
        status, _, errors = told(*command)
        assert status == 0
        assert "Going on with an addition that was stopped.\n" in errors
        fresh = afresh(new_only=new_only)
        assert f"Added      {len(fresh)} documents\n" in errors
        assert table_of("pages.lookalike").equals(fresh)

    def test_one_that_came_to_its_end_begins_anew(self, told, in_small_pieces):
        assert told(*ADD)[0] == 0
        status, _, errors = told(*ADD, columns=200)
        assert status == 0
        assert "Going on" not in errors
        assert "Added      200 documents, 200 in the place of others with the same id" in errors

    def test_a_full_disk_keeps_what_was_added_before(self, told, monkeypatch, in_small_pieces):
        with lookalike.Index("pages.lookalike"):
            connection = sqlite3.connect("pages.lookalike")
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.close()
        connect = SqliteStore._connect

        def with_little_room(store):
            connection = connect(store)
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
            return connection

        with monkeypatch.context() as full:
            full.setattr(SqliteStore, "_connect", with_little_room)
            line = refused(told(*ADD, "-q"))
            assert line == "pages.lookalike: the disk is full; what was done before is kept"
        with lookalike.Index("pages.lookalike") as index:
            assert 0 < len(index) < 200
        assert told(*ADD)[0] == 0
        assert table_of("pages.lookalike").equals(afresh())

    def test_a_writer_that_waits_in_vain_is_told_why(self, told, monkeypatch):
        monkeypatch.setitem(lookalike.Index.__init__.__kwdefaults__, "timeout", 0.05)
        other = sqlite3.connect("pages.lookalike", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            line = refused(told(*ADD, "-q"))
        finally:
            other.close()
        assert line.startswith("pages.lookalike was locked by another writer for 0.05 seconds")


class TestAsking:
    @pytest.mark.parametrize(
        "command",
        [
            ["query", "pages.lookalike", "docs.jsonl"],
            ["info", "pages.lookalike"],
            ["export", "pages.lookalike", "-o", "x.parquet"],
            ["copy", "pages.lookalike", "x.lookalike"],
        ],
        ids=lambda command: command[0],
    )
    def test_what_only_asks_leaves_the_file_as_it_is(self, told, command):
        with lookalike.Index("pages.lookalike") as index:
            index.add_all(Path("docs.jsonl"))
            index.copy("copy.lookalike")
        Path("copy.lookalike").replace("pages.lookalike")
        before = Path("pages.lookalike").read_bytes()
        assert told("index", *command)[0] == 0
        assert Path("pages.lookalike").read_bytes() == before


class TestWrongFiles:
    @pytest.mark.parametrize(
        "command",
        [
            ["info"],
            ["compact"],
            ["add", "docs.jsonl"],
            ["query", "docs.jsonl"],
            ["query", "--string", "x"],
            ["remove", "d001"],
            ["merge", "pages.lookalike"],
            ["export", "-o", "x.parquet"],
            ["copy", "x.lookalike"],
        ],
        ids=lambda command: command[0],
    )
    def test_what_is_no_index_is_refused_by_every_command(self, told, command):
        name, *rest = command
        missing = "there is no index nothing.lookalike: make one by lookalike index create"
        assert refused(told("index", name, "nothing.lookalike", *rest)) == missing
        Path("a.txt").write_text("some text")
        foreign = "a.txt is no index of Lookalike: give another file"
        assert refused(told("index", name, "a.txt", *rest)) == foreign
        Path("other.lookalike").write_bytes(b"SQLite format 3\0" + bytes(200))
        assert "is no index of Lookalike" in refused(told("index", name, "other.lookalike", *rest))
        assert "there is no index ." in refused(told("index", name, ".", *rest))
        assert sorted(path.name for path in Path().iterdir()) == [
            "a.txt",
            "docs.jsonl",
            "other.lookalike",
            "pages.lookalike",
        ]

    def test_a_newer_format_is_refused(self, told):
        connection = sqlite3.connect("pages.lookalike")
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        line = refused(told("index", "info", "pages.lookalike"))
        assert "is an index of a newer format, 99" in line

    def test_a_damaged_index_is_told_in_a_line(self, told):
        with lookalike.Index("pages.lookalike") as index:
            index.add_all(Path("docs.jsonl"))
        path = Path("pages.lookalike")
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        line = refused(told("index", "query", "pages.lookalike", "docs.jsonl", "-q"))
        assert line.startswith("pages.lookalike is damaged, SQLite says ")

    @pytest.mark.parametrize("name", ["add", "query"])
    def test_an_index_and_a_source_that_were_swapped_are_told_apart(self, told, name):
        line = refused(told("index", name, "docs.jsonl", "pages.lookalike"), 2)
        assert line == (
            "docs.jsonl is no index, and one is named after it: INDEX comes first, then SOURCE"
        )

    def test_the_documents_of_an_index_are_merged_not_added(self, told):
        line = refused(told("index", "add", "pages.lookalike", "other.lookalike"), 2)
        assert line == (
            "an index is no SOURCE: to add the documents of another one, lookalike index merge "
            "pages.lookalike OTHER"
        )

    @pytest.mark.parametrize("command", ["find", "contained", "boilerplate", "sketch"])
    def test_an_index_is_no_source_of_other_commands(self, told, command):
        told_of = (
            "pages.lookalike is an index, no document: lookalike index query asks it, and "
            "lookalike index export writes its documents to a file that can be read"
        )
        assert refused(told(command, "pages.lookalike", "-q")) == told_of

    def test_in_a_folder_it_is_skipped_as_other_binaries(self, told):
        status, _, errors = told("find", ".", columns=200)
        assert status == 0
        assert "Skipped 1 file: 1 binary: pages.lookalike." in errors


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["frob"], "there is no command 'frob': lookalike index --help lists them"),
            (["quary"], "there is no command 'quary': did you mean query? lookalike index --help"),
            (["pages.lookalike"], "'pages.lookalike' is no command of lookalike index: as in"),
            (["--top"], "there is no option '--top'"),
            (["info"], "INDEX is missing: as in lookalike index info pages.lookalike; see"),
            (["add", "pages.lookalike"], "SOURCE is missing: as in lookalike index add pages."),
            (["merge", "pages.lookalike"], "OTHER is missing: as in lookalike index merge all."),
            (["export", "pages.lookalike"], "FILE is missing: as in lookalike index export"),
            (["query", "pages.lookalike", "-x"], "there is no option '-x'; see lookalike index"),
            (["query", "pages.lookalike", "--top", "few"], "--top few: use a whole number, as 10"),
            (["create", "x.lookalike", "--recall", "1"], "with --recall 1 use find, here one"),
            (["create", "x.lookalike", "-n", "0"], "--documents 0: use a whole number from 1"),
            (["remove", "pages.lookalike", "--where", "n ="], "the filter 'n =' cannot be read"),
        ],
        ids=str,
    )
    def test_wrong_usage_is_told_in_one_line(self, told, arguments, message):
        assert message in refused(told("index", *arguments), 2)
        assert not Path("x.lookalike").exists()

    def test_without_a_command_the_help_is_shown(self, told):
        status, output, errors = told("index")
        assert (status, output) == (2, "")
        assert errors.startswith("Usage: lookalike index ")
        assert told("index", "--help") == (0, errors, "")
