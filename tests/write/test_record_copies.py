"""Records that were kept, copied byte for byte in the format of their shard."""

import os
import random
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, record_copies
from lookalike.read.files import Shard
from source_files import PACKINGS, documents, pack, unpack, write_records


def copy(path, records, target):
    corpus = open_corpus([path])
    corpus.copy(0, np.array(records, np.int64), target)
    return target.read_bytes()


LINES = [
    '{"text": "a"}\r\n',
    "\n",
    '{ "text":"b" }  \n',
    '{"text": "é\\n"}\n',
    '{"text": "no end"}',
]
TABLE = ["id,text\r\n", '1,"a\r\nb ""c"""\r\n', "2,x\n", "\n", '"4",\'y\n', "5,é"]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("kept", [[], [1], [3], [1, 3, 4, 5], [5], [1, 5], [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_lines_and_records_are_copied_byte_for_byte(tmp_path, packing, encoding, kept, kind):
    lines = LINES if kind == "jsonl" else TABLE[1:]
    head = "" if kind == "jsonl" else TABLE[0]
    path = tmp_path / f"a.{kind}{packing}"
    path.write_bytes(pack((head + "".join(lines)).encode(encoding), packing))
    data = copy(path, kept, tmp_path / "out")
    expected = (head + "".join(lines[record - 1] for record in kept)).encode(encoding)
    assert unpack(data, packing) == expected
    assert (data == expected) == (packing == "")


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.zst", ".csv.gz", ".tsv", ".parquet"])
def test_a_copy_is_read_as_the_documents_that_were_kept(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(record_copies, "PIECE_BYTES", 300)
    draw = random.Random(3)
    rows = [{"id": f"k{n}", "text": draw.choice(['a "b"', "c\nd", "é"]) * n} for n in range(80)]
    path = write_records(tmp_path / f"a{kind}", rows)
    kept = sorted(draw.sample(range(1, 81), 30))
    whole = documents(open_corpus([path]))
    target = tmp_path / f"out{kind}"
    copy(path, kept, target)
    found = documents(open_corpus([target]))
    assert [d[:2] for d in found] == [whole[record - 1][:2] for record in kept]


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.md"])
def test_a_file_of_one_document_is_copied_whole(tmp_path, name):
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf<p>x\r\n")
    assert copy(tmp_path / name, [1], tmp_path / "out") == b"\xef\xbb\xbf<p>x\r\n"


class TestParquet:
    def write(self, path):
        table = pa.table(
            {
                "id": pa.array(range(10), pa.int32()),
                "text": pa.array([f"t{n}" for n in range(10)]).dictionary_encode(),
                "meta": pa.array([{"x": n, "y": [n, None]} for n in range(10)]),
                "at": pa.array(range(10), pa.timestamp("us", "UTC")),
                "raw": pa.array([b"\xff"] * 10, pa.large_binary()),
            },
            metadata={"about": "all of it"},
        )
        field = table.schema.field("raw").with_metadata({"unit": "byte"})
        table = table.cast(table.schema.set(4, field))
        codecs = {"id": "GZIP", "text": "ZSTD", "meta.x": "NONE", "meta.y.list.element": "LZ4"}
        codecs |= {"at": "SNAPPY", "raw": "BROTLI"}
        pq.write_table(table, path, row_group_size=4, compression=codecs)
        return pq.read_table(path)

    def test_schema_metadata_order_and_compression_stay(self, tmp_path):
        table = self.write(tmp_path / "a.parquet")
        copy(tmp_path / "a.parquet", [2, 3, 9, 10], tmp_path / "out")
        found = pq.read_table(tmp_path / "out")
        assert found.schema.equals(table.schema, check_metadata=True)
        assert found.to_pylist() == table.take([1, 2, 8, 9]).to_pylist()
        before, after = (pq.ParquetFile(tmp_path / n).metadata for n in ("a.parquet", "out"))
        assert after.metadata[b"about"] == before.metadata[b"about"] == b"all of it"
        assert set(after.metadata) == set(before.metadata)
        assert [after.row_group(n).num_rows for n in range(after.num_row_groups)] == [2, 2]
        for column in range(before.num_columns):
            old, new = (m.row_group(0).column(column) for m in (before, after))
            assert new.path_in_schema == old.path_in_schema
            assert new.compression == old.compression

    def test_a_copy_of_nothing_has_the_schema(self, tmp_path):
        table = self.write(tmp_path / "a.parquet")
        copy(tmp_path / "a.parquet", [], tmp_path / "out")
        found = pq.read_table(tmp_path / "out")
        assert len(found) == 0
        assert found.schema.equals(table.schema, check_metadata=True)

    def test_a_file_without_an_arrow_schema_gets_none(self, tmp_path):
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"text": ["a", "b"]}), path, store_schema=False)
        copy(path, [2], tmp_path / "out")
        assert pq.ParquetFile(tmp_path / "out").metadata.metadata is None
        assert pq.read_table(tmp_path / "out").to_pylist() == [{"text": "b"}]


class TestFailures:
    @pytest.mark.parametrize(
        "kind", [".jsonl.gz", ".csv.zst", pytest.param(".parquet", marks=pytest.mark.long)]
    )
    def test_what_was_read_of_a_damaged_file_can_be_copied(self, tmp_path, kind):
        draw = random.Random(1)
        rows = [{"id": f"{n}", "text": f"{draw.random()} " * 5} for n in range(9000)]
        path = write_records(tmp_path / f"a{kind}", rows)
        data = path.read_bytes()
        if kind == ".parquet":
            chunk = pq.ParquetFile(path).metadata.row_group(2000).column(1)
            end = chunk.data_page_offset + chunk.total_compressed_size
            path.write_bytes(data[: end - 60] + bytes(50) + data[end - 10 :])
        else:
            path.write_bytes(data[: len(data) // 2])
        corpus = open_corpus([path], skip_bad=True)
        found = documents(corpus)
        assert 0 < len(found) < 9000
        assert documents(corpus, batch_bytes=5000, threads=2) == found
        target = tmp_path / f"out{kind}"
        corpus.copy(0, np.arange(1, len(found) + 1), target)
        assert [d[:2] for d in documents(open_corpus([target]))] == [d[:2] for d in found]

    def test_rows_before_a_damaged_page_of_their_row_group_are_copied(self, tmp_path):
        draw = random.Random(1)
        rows = [{"id": f"{n}", "text": f"{draw.random()} " * 5, "n": n} for n in range(400)]
        path = tmp_path / "a.parquet"
        pages = {"data_page_size": 999, "write_batch_size": 9, "use_dictionary": False}
        pq.write_table(pa.Table.from_pylist(rows), path, compression="gzip", **pages)
        chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
        data, end = path.read_bytes(), chunk.data_page_offset + chunk.total_compressed_size
        path.write_bytes(data[: end - 60] + bytes(50) + data[end - 10 :])
        corpus = open_corpus([path], skip_bad=True)
        found = len(documents(corpus, batch_bytes=9000))
        assert 300 < found < 400
        chosen = np.arange(2, found + 1)
        corpus.copy(0, chosen, tmp_path / "out")
        assert pq.read_table(tmp_path / "out").to_pylist() == rows[1:found]
        added = pa.table({"kept": [True] * found})
        corpus.annotate(0, chosen, lambda low, high: added[low:high], tmp_path / "all")
        assert pq.read_table(tmp_path / "all")["n"].to_pylist() == [*range(1, found)]
        with pytest.raises(SourceError, match="is damaged in other columns than those"):
            corpus.copy(0, np.array([400]), tmp_path / "none")

    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv.gz", "a.parquet"])
    def test_a_source_that_changed_is_refused(self, tmp_path, name):
        path = tmp_path / name
        path.write_text("x") if name == "a.txt" else write_records(path, [{"text": "x"}])
        corpus = open_corpus([path])
        os.utime(path, ns=(7, 7))
        with pytest.raises(SourceError, match=r"has changed since it was listed"):
            corpus.copy(0, np.array([1]), tmp_path / "out")
        path.unlink()
        with pytest.raises(SourceError, match=r"cannot be read: it does not exist, or no longer"):
            corpus.copy(0, np.array([1]), tmp_path / "out")

    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv.gz", "a.jsonl.zst", "a.parquet"])
    def test_a_target_that_cannot_be_written_is_a_plain_error(self, tmp_path, name):
        path = tmp_path / name
        rows = [{"text": str(random.Random(n).random()) * 60} for n in range(9000)]
        path.write_text("x" * 99_999) if name == "a.txt" else write_records(path, rows)
        corpus = open_corpus([path])
        targets = [tmp_path / "no" / "folder"]
        if os.path.exists("/dev/full"):  # noqa: PTH110
            targets.append(tmp_path / "full")
            targets[1].symlink_to("/dev/full")
        for target in targets:
            with pytest.raises(OSError, match=r"No such file|No space left"):
                corpus.copy(0, np.arange(1, 9001), target)


class TestNames:
    def names(self, *paths):
        corpus = open_corpus(list(paths))
        return [str(corpus.copied_name(n)) for n in range(len(corpus.shards))]

    def test_names_are_those_of_the_sources(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("a/x.txt", "a/b/y.jsonl.gz", "c.jsonl"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        assert self.names("a") == ["x.txt", "b/y.jsonl.gz"]
        assert self.names("c.jsonl") == ["c.jsonl"]
        assert self.names(tmp_path / "c.jsonl") == ["c.jsonl"]
        assert self.names("a", "c.jsonl") == ["a/x.txt", "a/b/y.jsonl.gz", "c.jsonl"]
        assert self.names(tmp_path / "a" / "x.txt") == ["x.txt"]
        assert self.names(tmp_path / "a" / "x.txt", "c.jsonl") == ["x.txt", "c.jsonl"]
        full = [tmp_path / "a", tmp_path / "c.jsonl"]
        assert self.names(*full) == ["a/x.txt", "a/b/y.jsonl.gz", "c.jsonl"]

    def test_names_are_safe_and_distinct_for_any_labels(self):
        labels = [
            "../x.txt",
            "x.txt",
            "./x.txt",
            "/x.txt",
            "X.TXT",
            "..",
            "x.txt/y.txt",
            "a\\..\\b.txt",
        ]
        labels += ["s3://x.txt/../k.jsonl", "C:\\d.txt", "", "x.txt/y.txt", "x-2.txt", "x.txt"]
        shards = [Shard(label, label, "text", 0, 0, label) for label in labels]
        names = record_copies.distinct_names(shards)
        assert len({str(name).casefold() for name in names}) == len(labels)
        for name in names:
            assert not name.is_absolute()
            assert ".." not in name.parts
            assert not any(sign in str(name) for sign in "\\:")
            assert not {str(p).casefold() for p in name.parents} & {
                str(n).casefold() for n in names
            }
        assert names[:2] == [PurePosixPath("x.txt"), PurePosixPath("x-2.txt")]

    def test_standard_input_has_a_name(self, monkeypatch, tmp_path):
        class Input:
            buffer = open(os.devnull, "rb")  # noqa: SIM115, PTH123

        monkeypatch.setattr("sys.stdin", Input)
        corpus = open_corpus(["-"], spool=tmp_path)
        assert str(corpus.copied_name(0)) == "stdin.jsonl"
        Input.buffer.close()
