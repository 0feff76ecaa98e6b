"""Some documents by their places, as a plain reading gives them, and without reading the rest."""

import json
import os
import random
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import jsonl, marks, open_corpus, originals, parquet, read, shard_tasks, streams
from lookalike.read.blocks import Block, Lines
from lookalike.read.marks import Marks
from lookalike.read.source import InMemory
from source_files import PACKINGS, RECORD_KINDS, as_lines, pack, write_records

HARD = ["plain", 'quotes " and "" more', "two\nlines\r\nand more", "comma, tab\t", "é 漢字 😀", ""]
VECTORS = [[1.0, 0, 0], [0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, 0, 1.0]]


def records_of(many):
    draw = random.Random(many)
    return [
        {"id": f"k{row}", "text": draw.choice(HARD) + " x" * draw.randrange(20), "n": str(row)}
        for row in range(many)
    ]


def folder_of_all_kinds(folder):
    for place, kind in enumerate(RECORD_KINDS):
        part = [{**record, "id": f"{place}-{record['id']}"} for record in records_of(20 + place)]
        write_records(folder / f"part{place}{kind}", part)
    for place in range(5):
        (folder / f"page{place}.txt").write_text(f"page {place} " * place)
        (folder / f"page{place}.html").write_text(f"<p>page {place}")
    (folder / "blank.jsonl").write_text('\n{"id": "p", "text": "1"}\n\n\n{"id": "q", "text": "2"}')
    (folder / "wide.jsonl").write_bytes('\ufeff{"text": "é"}\n\n{"text": "漢"}'.encode("utf-16-be"))
    (folder / "wide.csv").write_bytes('\ufefftext\n"é\n"\n漢\nx\ny'.encode("utf-16-le"))
    return folder


def plain_reading(corpus, names=(), **options):
    """Give place, id, text and columns of every document."""
    return [
        ((int(shard), int(record)), *rest)
        for batch in corpus.batches(**options)
        for shard, record, *rest in zip(
            batch.shards,
            batch.records,
            batch.ids.to_pylist(),
            batch.texts.to_pylist(),
            *(batch.columns[name].to_pylist() for name in names),
            strict=True,
        )
    ]


def asked_for(corpus, places, names=()):
    """Give the same of some places."""
    shards = np.array([shard for shard, _ in places], np.int32)
    records = np.array([record for _, record in places], np.int64)
    found = corpus.originals(shards, records, names)
    columns = [found.columns[name].to_pylist() for name in names]
    values = zip(found.ids.to_pylist(), found.texts.to_pylist(), *columns, strict=True)
    return [(place, *rest) for place, rest in zip(places, values, strict=True)]


@pytest.fixture
def close_marks(monkeypatch):
    """Let marks be close, and blocks be small."""
    monkeypatch.setattr(marks, "MARK_BYTES", 50)
    monkeypatch.setattr(originals, "SEEK_BYTES", 100)


@pytest.mark.long
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_documents_of_every_format_are_those_of_a_plain_reading(tmp_path, close_marks, size):
    corpus = open_corpus([folder_of_all_kinds(tmp_path)], columns=("n",))
    whole = plain_reading(corpus, ("n",), batch_bytes=size)
    assert len(whole) > 200
    assert (len(corpus.marks) > 10) == (size == 100)
    fresh = open_corpus([tmp_path])
    draw = random.Random(size)
    for many in (1, 2, 30, 400):
        chosen = draw.choices(whole, k=many)
        for one in (corpus, fresh):
            assert asked_for(one, [place for place, *_ in chosen], ("n",)) == chosen
    for one in (corpus, fresh):
        assert asked_for(one, [place for place, *_ in whole], ("n",)) == whole


@pytest.mark.parametrize("kind", [*RECORD_KINDS, ".npy"])
def test_each_document_alone_is_that_of_a_plain_reading(tmp_path, close_marks, kind):
    path = tmp_path / f"docs{kind}"
    if kind == ".npy":
        np.save(path, np.random.default_rng(1).normal(size=(60, 8)).astype(np.float32))
    else:
        write_records(path, records_of(60))
    corpus = open_corpus([path])
    whole = plain_reading(corpus, batch_bytes=200)
    assert len(whole) == 60
    for one in whole:
        assert asked_for(corpus, [one[0]]) == [one]
    ends = [whole[-1], whole[0], whole[-1], whole[30]]
    assert asked_for(corpus, [place for place, *_ in ends]) == ends


def test_no_places_give_no_documents(tmp_path):
    corpus = open_corpus([write_records(tmp_path / "a.jsonl", records_of(3))])
    found = corpus.originals(np.empty(0, np.int32), np.empty(0, np.int64), ["n"])
    assert (len(found), len(found.ids), found.columns["n"].to_pylist()) == (0, 0, [])


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet"])
def test_columns_are_those_named_or_all_but_the_text(tmp_path, kind):
    rows = [{"id": f"k{row}", "text": "t", "n": f"{row}", "u": "é"} for row in range(5)]
    corpus = open_corpus([write_records(tmp_path / f"a{kind}", rows)], columns=("u",))
    place = np.array([0, 0], np.int32), np.array([4, 2])
    assert corpus.originals(*place).columns == {}
    for names, expected in ((["n"], {"n"}), (None, {"id", "n", "u"})):
        found = corpus.originals(*place, names).columns
        assert {name: column.to_pylist() for name, column in found.items()} == {
            name: [rows[3][name], rows[1][name]] for name in expected
        }
    assert corpus.originals(*place, ["none"]).columns["none"].to_pylist() == [None, None]


def test_columns_of_views_are_taken_in_their_type(tmp_path):
    views = pa.array(["a", None, "c"]).cast(pa.string_view())
    table = pa.table({"text": ["1", "2", "3"], "v": views})
    pq.write_table(table, tmp_path / "a.parquet")
    place = np.zeros(2, np.int32), np.array([3, 2])
    for corpus in (open_corpus([tmp_path / "a.parquet"]), InMemory(read(table), source=table)):
        assert corpus.originals(*place, ["v"]).columns["v"].to_pylist() == ["c", None]
    found = InMemory(read(table), source=table).as_given(None, *place)
    assert (found.schema, found.to_pylist()) == (table.schema, table.to_pylist()[:0:-1])


def test_a_stretch_of_a_block_knows_where_it_is():
    block = Block(b"a\nbb\nccc\nd", 100, 7, 4, 50, 110)
    assert block.stretch(Lines(), 8, 2) == Block(b"bb\nccc\n", 102, 8, 2, 50, 109)
    assert block.stretch(Lines(), 10, 1) == Block(b"d", 109, 10, 1, 50, 110)
    assert block.stretch(Lines(), 7, 4) is block


class TestLittleIsRead:
    @pytest.fixture
    def read_bytes(self, monkeypatch):
        """Count the bytes that streams give, by file."""
        counts = {}
        read_before = streams.Stream.read

        def counted(stream, size):
            piece = read_before(stream, size)
            name = stream.shard.name.rpartition("/")[2]
            counts[name] = counts.get(name, 0) + len(piece)
            return piece

        monkeypatch.setattr(streams.Stream, "read", counted)
        return counts

    @pytest.mark.long
    @pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv"])
    def test_a_record_of_a_large_file_is_entered_near_it(self, tmp_path, read_bytes, kind):
        rows = [{"id": f"k{row}", "text": f"line\n{row} " * 100} for row in range(10_000)]
        path = write_records(tmp_path / f"a{kind}", rows)
        size = path.stat().st_size
        assert size > 8 << 20
        corpus = open_corpus([path])
        whole = plain_reading(corpus, batch_bytes=1 << 20)
        head = 3 * shard_tasks.FIRST_LINES
        near = head + marks.MARK_BYTES + 3 * originals.SEEK_BYTES
        for chosen, most in (([-1], near), ([5000], near), ([9990, 0, 9995], 2 * near)):
            read_bytes.clear()
            expected = [whole[row] for row in chosen]
            assert asked_for(corpus, [place for place, *_ in expected]) == expected
            assert 0 < read_bytes[f"a{kind}"] < most < size
        read_bytes.clear()
        assert asked_for(open_corpus([path]), [whole[0][0]]) == whole[:1]
        assert read_bytes[f"a{kind}"] < near
        read_bytes.clear()
        assert asked_for(open_corpus([path]), [whole[-1][0]]) == whole[-1:]
        assert read_bytes[f"a{kind}"] > size

    @pytest.mark.parametrize("packing", PACKINGS[1:])
    def test_a_packed_file_is_unpacked_once_and_parsed_near_the_records(
        self, tmp_path, read_bytes, packing, monkeypatch
    ):
        rows = [{"id": f"k{row}", "text": f"{row} " * 100} for row in range(6000)]
        path = tmp_path / f"a.jsonl{packing}"
        path.write_bytes(pack(as_lines(rows), path.name))
        corpus = open_corpus([path])
        whole = plain_reading(corpus, batch_bytes=1 << 18)
        assert corpus.marks
        parsed = []
        parse = jsonl.parse_lines
        monkeypatch.setattr(
            jsonl,
            "parse_lines",
            lambda shard, number, block, *rest: (
                parsed.append(block.count) or parse(shard, number, block, *rest)
            ),
        )
        read_bytes.clear()
        chosen = [whole[5999], whole[3000], whole[3001]]
        assert asked_for(corpus, [place for place, *_ in chosen]) == chosen
        assert parsed == [2, 1]
        assert read_bytes[path.name] < len(as_lines(rows)) + 3 * shard_tasks.FIRST_LINES

    def test_only_the_files_that_are_named_are_opened(self, tmp_path, monkeypatch):
        corpus = open_corpus([folder_of_all_kinds(tmp_path)])
        whole = plain_reading(corpus)
        opened = set()
        start = streams.Stream.__init__
        monkeypatch.setattr(
            streams.Stream,
            "__init__",
            lambda self, shard: opened.add(shard.name) or start(self, shard),
        )
        for chosen in (whole[::60], whole[-1:], whole[:3]):
            opened.clear()
            asked_for(corpus, [place for place, *_ in chosen])
            assert opened == {corpus.shards[shard].name for (shard, _), *_ in chosen}

    def test_only_the_row_groups_with_the_rows_are_read(self, tmp_path, monkeypatch):
        path = write_records(tmp_path / "a.parquet", records_of(300))
        corpus = open_corpus([path])
        whole = plain_reading(corpus)
        groups = []
        stretches = parquet.stretches
        monkeypatch.setattr(
            parquet,
            "stretches",
            lambda shard, metadata, choice, group, *rest: (
                groups.append(group) or stretches(shard, metadata, choice, group, *rest)
            ),
        )
        chosen = [whole[row] for row in (299, 4, 3, 150)]
        assert asked_for(corpus, [place for place, *_ in chosen]) == chosen
        assert groups == [1, 50, 99]

    def test_only_the_rows_near_are_read_of_an_array(self, tmp_path, read_bytes):
        array = np.random.default_rng(1).normal(size=(100_000, 16))
        np.save(tmp_path / "a.npy", array)
        rows = np.array([99_999, 7, 50_000])
        found = open_corpus([tmp_path / "a.npy"]).originals(np.zeros(3, np.int32), rows + 1)
        assert found.texts.to_pylist() == array[rows].tolist()
        assert read_bytes["a.npy"] < 3 * originals.SEEK_BYTES < array.nbytes / 4


class TestMarks:
    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1 << 23))), st.data())
    def test_the_nearest_lies_at_or_before_a_record(self, drawn, data):
        # Records of ten bytes each, so that what lies before is known.
        made = Marks([(number, 10 * (at // 10), at // 10) for number, at in drawn])
        positions = made.positions()
        assert positions == sorted(positions)
        for (a, begin, _), (b, end, _) in zip([(-1, 0, 0), *positions], positions, strict=False):
            assert end - (begin if a == b else 0) >= marks.MARK_BYTES
        record = data.draw(st.integers(1, 1 << 20))
        for number in range(3):
            lower = [rest for n, *rest in positions if n == number and rest[1] < record]
            assert list(made.nearest(number, record)) == max(lower, default=[0, 0])

    def test_go_through_json_to_another_corpus(self, tmp_path, close_marks, monkeypatch):
        corpus = open_corpus([folder_of_all_kinds(tmp_path)])
        whole = plain_reading(corpus, batch_bytes=100)
        kept = json.loads(json.dumps(corpus.marks))
        other = open_corpus([tmp_path])
        assert other.marks == []
        other.marks = kept
        assert other.marks == corpus.marks
        entered = []
        skip = streams.Stream.skip_to
        monkeypatch.setattr(
            streams.Stream,
            "skip_to",
            lambda self, place: entered.append(place) or skip(self, place),
        )
        (number,) = [n for n, shard in enumerate(other.shards) if shard.name.endswith("t0.jsonl")]
        last = [one for one in whole if one[0][0] == number][-1:]
        assert asked_for(other, [last[0][0]]) == last
        reached = [start for n, start, before in kept if n == number and before < last[0][0][1]]
        assert max(entered) == max(reached) > 1000

    @pytest.mark.long
    def test_are_few_however_small_the_batches(self, tmp_path):
        path = write_records(tmp_path / "a.jsonl", [{"text": "x" * 1000}] * 5000)
        corpus = open_corpus([path])
        list(corpus.batches(batch_bytes=1 << 12))
        few = len(corpus.marks)
        assert 0 < few <= path.stat().st_size // marks.MARK_BYTES
        list(corpus.batches(batch_bytes=1 << 13))
        assert len(corpus.marks) == few

    def test_are_made_from_wherever_a_reading_goes_on(self, tmp_path, close_marks):
        path = write_records(tmp_path / "a.csv", records_of(60))
        corpus, other = open_corpus([path]), open_corpus([path])
        batches = list(corpus.batches(batch_bytes=200))
        whole = plain_reading(open_corpus([path]))
        list(other.batches(batches[3].next, batch_bytes=200))
        assert other.marks == [mark for mark in corpus.marks if mark > batches[3].next]
        assert asked_for(other, [whole[-1][0], whole[0][0]]) == [whole[-1], whole[0]]


class TestSourcesThatChanged:
    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv.gz", "a.parquet", "a.npy"])
    @pytest.mark.parametrize("skip_bad", [False, True])
    def test_a_file_that_changed_or_went_is_refused_by_name(self, tmp_path, name, skip_bad):
        path = tmp_path / name
        if name == "a.npy":
            np.save(path, np.eye(3))
        else:
            path.write_text("x") if name == "a.txt" else write_records(path, [{"text": "x"}])
        corpus = open_corpus([path], skip_bad=skip_bad)
        assert len(plain_reading(corpus)) > 0
        os.utime(path, ns=(7, 7))
        with pytest.raises(SourceError, match=rf"{name} has changed since .*: run again"):
            asked_for(corpus, [(0, 1)])
        path.unlink()
        with pytest.raises(SourceError, match=rf"{name} cannot be read: .*; check its name"):
            asked_for(corpus, [(0, 1)])

    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.parquet", "a.npy"])
    def test_a_record_that_is_not_there_is_refused(self, tmp_path, name):
        path = tmp_path / name
        if name == "a.npy":
            np.save(path, np.eye(2))
        else:
            path.write_text("x") if name == "a.txt" else write_records(path, [{"text": "x"}] * 2)
        corpus = open_corpus([path])
        for places in ([(0, 3)], [(0, 1), (0, 3)]):
            with pytest.raises(SourceError, match=rf"{name} has no document as its record 3 any"):
                asked_for(corpus, places)
        with pytest.raises(SourceError, match=r"file 2 is asked for, and there are 1: .*put them"):
            asked_for(corpus, [(0, 1), (1, 1)])

    def test_what_was_read_of_a_damaged_file_is_read_again(self, tmp_path):
        path = write_records(tmp_path / "a.jsonl.gz", records_of(5000))
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        corpus = open_corpus([path], skip_bad=True)
        whole = plain_reading(corpus)
        assert 0 < len(whole) < 5000
        assert asked_for(corpus, [place for place, *_ in whole]) == whole
        with pytest.raises(SourceError, match=r"a\.jsonl\.gz is not whole"):
            asked_for(corpus, [whole[0][0], (0, 5000)])

    def test_bad_records_beside_are_passed_over(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"text": "1"}\nbad\n{"text": 2}\n{"text": "3"}\n')
        corpus = open_corpus([tmp_path / "a.jsonl"], skip_bad=True)
        whole = plain_reading(corpus)
        assert [place for place, *_ in whole] == [(0, 1), (0, 4)]
        assert asked_for(corpus, [(0, 4), (0, 1)]) == whole[::-1]


TABLE = pa.table({"id": list("abcd"), "text": ["w", None, "", "z"], "n": [1, 2, None, 4]})


class TestInMemory:
    @pytest.mark.parametrize(
        "source",
        [
            TABLE["text"].to_pylist(),
            dict(zip("abcd", TABLE["text"].to_pylist(), strict=True)),
            TABLE["text"],
            TABLE,
            TABLE.to_batches()[0],
            TABLE.to_pandas(),
            pl.from_arrow(TABLE),
            [["a", "b"], None, [], ["c"]],
            np.arange(12.0).reshape(4, 3),
        ],
        ids=lambda source: type(source).__module__ + "." + type(source).__name__,
    )
    def test_documents_are_those_of_a_plain_reading(self, source):
        documents = read(source)
        corpus = InMemory(documents)
        whole = plain_reading(corpus, batch_bytes=10)
        chosen = [whole[row] for row in (3, 0, 0, 2, 1)]
        assert asked_for(corpus, [place for place, *_ in chosen]) == chosen
        found = corpus.originals(np.zeros(2, np.int32), np.array([4, 1]), None)
        assert set(found.columns) == set(documents.columns)
        for name, column in found.columns.items():
            assert isinstance(column, pa.Array)
            assert column.to_pylist() == [TABLE[name][3].as_py(), TABLE[name][0].as_py()]
        missing = corpus.originals(np.zeros(1, np.int32), np.array([1]), ["none"])
        assert missing.columns["none"].to_pylist() == [None]


class TestKept:
    def test_files_give_a_dict_with_the_ids_of_the_job(self, tmp_path):
        # One id is text, so that all are: also those of the kept documents alone.
        write_records(
            tmp_path / "a.jsonl", [{"id": 1, "text": "one of all"}, {"id": 2, "text": ""}]
        )
        write_records(tmp_path / "b.jsonl", [{"id": "x", "text": "one of all"}])
        result = lookalike.dedup(str(tmp_path))
        assert result.kept == {"1": "one of all", "2": ""}
        assert list(result.kept) == result.kept_ids.to_pylist()

    def test_documents_passed_over_by_the_job_shift_no_others(self, tmp_path):
        options: dict[str, Any] = {"metric": "cosine", "skip_bad": True}
        path = write_records(
            tmp_path / "a.jsonl", [{"id": n, "v": v} for n, v in enumerate(VECTORS)]
        )
        assert lookalike.dedup(VECTORS, **options).kept == [VECTORS[row] for row in (0, 2, 3)]
        result = lookalike.dedup(str(path), vector="v", **options)
        assert result.kept == {row: VECTORS[row] for row in (0, 2, 3)}

    def test_those_of_a_reference_corpus_come_before(self, tmp_path):
        path = write_records(tmp_path / "a.jsonl", records_of(5))
        texts = ["never seen before", records_of(5)[0]["text"], "nor was this one"]
        result = lookalike.dedup(texts, against=str(path), threshold=0.9)
        assert result.kept == [texts[row - 5] for row in result.kept_rows]
