"""What of a source was not read, and what was asked for and is not there: counted and named."""

import json

import pyarrow as pa
import pytest

import lookalike
from lookalike.index import bulk, unread
from lookalike.index.unread import NotRead
from lookalike.read.files import Unread
from lookalike.settings.index_options import IndexQueryOptions

FERRY = "The ferry leaves at six in the morning, and the lemons go with it to the mainland."
BREAD = "Bread is flour and water, salt and time, and nobody has found a way around the time."


@pytest.fixture
def index(tmp_path):
    with lookalike.Index.create(tmp_path / "a.lookalike", shingle="chars:4") as made:
        yield made


def lines_of(*names):
    return [Unread(name, "binary") for name in names]


class TestNotRead:
    def test_all_is_counted_and_the_first_is_named(self, monkeypatch):
        monkeypatch.setattr(unread, "MOST_NAMED", 3)
        found = NotRead()
        assert not found
        for name in "abcde":
            found.skip(lines_of(name))
            found.fail([Unread(f"{name}.jsonl", f"{name}.jsonl:1 is broken")])
        assert found
        assert found.skipped == {"binary": 5}
        assert [path for path, _, _ in found.files] == ["a", "b", "c"]
        assert found.bad_count == 5
        assert len(found.bad) == 3

    def test_two_are_added_up(self):
        one, two = NotRead(), NotRead()
        one.skip(lines_of("a"))
        two.skip([*lines_of("b"), Unread("c", "hidden"), Unread("w", "WARC records: request", 40)])
        two.fail([Unread("d", "d is broken")])
        one.add(two)
        assert one.skipped == {"binary": 2, "hidden": 1, "WARC records: request": 40}
        assert one.lines() == [
            "Skipped 3 files: 2 binary, 1 hidden: a, b, c. Skipped 40 WARC records: 40 request.",
            "Skipped, as asked: d is broken",
        ]

    def test_many_bad_ones_are_told_in_a_few_lines(self):
        found = NotRead()
        found.fail([Unread(f"{at}", f"line {at} is broken") for at in range(2_000)])
        assert found.lines()[-1] == "Skipped, as asked: 1,997 more that cannot be read"
        assert len(found.lines()) == 4

    def test_it_outlives_a_stop(self):
        at = bulk.Progressed(3, next=[1, 2, 3])
        at.added.unread.skip(lines_of("a"))
        at.added.unread.fail([Unread("d", "d is broken")])
        again = bulk.Progressed.load(at.dump())
        assert json.loads(again.dump()) == json.loads(at.dump())
        assert again.added.unread.lines() == at.added.unread.lines()

    def test_what_was_said_of_an_addition_is_in_its_result(self, index, tmp_path):
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "a.txt").write_text(FERRY)
        (folder / "b.txt").write_bytes("caf\xe9, fa\xe7ade, d\xe9j\xe0 vu".encode("cp1252"))
        (folder / ".hidden").write_text(BREAD)
        said: list[str] = []
        added = index.add_all(folder, say=said.append)
        assert added.documents == 2
        assert added.unread.skipped == {"hidden": 1}
        assert any("b.txt" in line and "guess" in line for line in said)
        assert any(line.startswith("Skipped 1 file: 1 hidden") for line in said)


class TestAsked:
    def test_ids_that_no_document_has_are_given_as_they_were_asked_for(self, index):
        index.add_all({1: FERRY, 2: BREAD})
        assert index.missing([2, "x", 1, 3, "3"]) == ["x", 3, "3"]
        assert index.missing([]) == []
        assert index.missing(str(at) for at in range(2_500)) == [
            "0",
            *(str(at) for at in range(3, 2_500)),
        ]

    def test_an_id_that_is_named_twice_is_removed_once(self, index):
        index.add_all({1: FERRY, 2: BREAD})
        assert index.remove([1, "1", 1, 9]) == 1
        assert list(index) == [2]

    def test_nothing_is_looked_for_in_a_table_without_rows(self, index):
        index.add("a", FERRY, {"n": 1})
        table = index.query_all([], containment=True)
        assert len(table) == 0
        shown = ["id", "match", "similarity", "score", "query_in_match", "match_in_query"]
        assert table.column_names == [*shown, "metadata.n"]
        assert table["metadata.n"].type == pa.int64()

    def test_what_is_looked_for_is_counted(self, index):
        index.add_all({"a": FERRY, "b": FERRY, "c": BREAD})
        with index.queried([FERRY, "quite another text", BREAD], IndexQueryOptions()) as queried:
            rows = sum(map(len, queried))
        assert (queried.documents, queried.similar, queried.matches) == (3, 2, 3)
        assert rows == 3

    def test_a_document_of_another_kind_is_told_from_those_of_the_index(self, index):
        for ask in (index.add_all, index.query_all):
            with pytest.raises(
                lookalike.SourceError, match="holds tokens where the index holds text"
            ):
                ask([["a", "b"]])
