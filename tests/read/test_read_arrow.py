"""Arrow files and streams, and ORC: batches and stripes, each read by itself and in its bounds."""

import random
import struct
from contextlib import suppress

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, orc
from pyarrow import parquet as pq

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, read
from lookalike.read.arrow_messages import ROWS, buffers_of, file_messages, stream_messages
from lookalike.read.arrow_messages import unpacked_sizes as sizes_of
from lookalike.read.streams import Bounds
from source_files import bad_of, documents, ids_and_texts, write_table

ARROW = [".arrow", ".feather", ".ipc"]
TABLES = [*ARROW, ".orc", ".parquet"]
OPENED = {".arrow": ipc.open_file, ".feather": ipc.open_file, ".ipc": ipc.open_stream}
TABLE = pa.table({"id": range(10), "text": [f"text {n} é" for n in range(10)]})
WIDE = pa.table(
    {
        "text": ["a", "b" * 1000, None],
        "d": pa.array(["x", "y", "x"]).dictionary_encode(),
        "l": [[1], [2, 3], None],
        "s": [{"a": 1, "b": "x"}] * 3,
        "ll": pa.array([["a"], [], None], pa.large_list(pa.string())),
        "v": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)),
        "b": [True, None, False],
        "n": pa.nulls(3),
        "m": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int8())),
        "e": pa.array([None] * 3, pa.string()),
    }
)


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], **options).batches())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def read_back(path):
    if path.suffix in OPENED:
        return OPENED[path.suffix](path).read_all()
    return orc.read_table(path) if path.suffix == ".orc" else pq.read_table(path)


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("new", [ipc.new_file, ipc.new_stream])
def test_sizes_are_told_before_a_batch_is_read(codec, new):
    sink = pa.BufferOutputStream()
    with new(sink, WIDE.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(WIDE, max_chunksize=2)
    data = sink.getvalue()
    listed = file_messages if new is ipc.new_file else stream_messages
    batches = [m for m in listed(pa.BufferReader(data), data.size) if m.kind == ROWS]
    assert [batch.rows for batch in batches] == [2, 1]
    assert {batch.codec for batch in batches} == {codec}
    sizes = sizes_of(pa.BufferReader(data), batches[0])
    assert len(sizes) == sum(buffers_of(field.type) or 0 for field in WIDE.schema)
    assert sizes[2] == 1001
    assert buffers_of(pa.string_view()) is None


@pytest.mark.parametrize("kind", TABLES)
def test_columns_are_chosen_as_in_parquet(tmp_path, kind):
    table = pa.table(
        {
            "key": ["x", "y"],
            "body": ["one", None],
            "title": ["t", "u"],
            "v": [[1.0, 2.0], [3.0, 4.0]],
            "w": [["a", "b"], []],
            "meta": [{"deep": "p"}, {"deep": "q"}],
        }
    )
    path = write_table(tmp_path / f"a{kind}", table)
    assert ids_and_texts(path) == [(f"a{kind}:1", "one"), (f"a{kind}:2", None)]
    assert ids_and_texts(path, id="key", text=["title", "body"]) == [("x", "t\n\none"), ("y", "u")]
    assert [value for _, value in ids_and_texts(path, vector="v")] == [[1.0, 2.0], [3.0, 4.0]]
    assert [value for _, value in ids_and_texts(path, text="w")] == [["a", "b"], []]
    assert [value for _, value in ids_and_texts(path, text="meta.deep")] == ["p", "q"]
    (batch,) = open_corpus([path], columns=("title",)).batches()
    assert batch.columns["title"].to_pylist() == ["t", "u"]
    assert "there is no column 'none such' for the text: there are 'key'" in refusal(
        path, text="none such"
    )


@pytest.mark.parametrize("kind", ARROW)
@pytest.mark.parametrize("replaced", [False, True])
def test_dictionaries_are_looked_up(tmp_path, kind, replaced):
    tables = [
        pa.table({"text": pa.array(texts).dictionary_encode(), "n": [1, 2, 3]})
        for texts in (["x", "y", "x"], ["z", "z", "w"] if replaced else ["x", "y", "y"])
    ]
    if replaced and kind != ".ipc":
        tables = [pa.concat_tables(tables).unify_dictionaries().combine_chunks()]
    path = tmp_path / f"a{kind}"
    opened = ipc.new_stream if kind == ".ipc" else ipc.new_file
    with opened(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    expected = [text for table in tables for text in table["text"].to_pylist()]
    assert [text for _, text in ids_and_texts(path)] == expected
    corpus = open_corpus([path])
    corpus.copy(0, np.array([2, 4, 5]), tmp_path / f"b{kind}")
    kept = [expected[row] for row in (1, 3, 4)]
    assert read_back(tmp_path / f"b{kind}")["text"].to_pylist() == kept


def test_what_other_libraries_write_is_read(tmp_path):
    frame = pl.DataFrame({"id": [1, 2], "text": ["a" * 100, "é"]})
    for codec in ("uncompressed", "lz4", "zstd"):
        frame.write_ipc(tmp_path / "a.arrow", compression=codec)
        frame.write_ipc_stream(tmp_path / "b.arrow", compression=codec)
        for name in ("a.arrow", "b.arrow"):
            assert ids_and_texts(tmp_path / name) == [(1, "a" * 100), (2, "é")]
    TABLE.to_pandas().to_feather(tmp_path / "c.feather")
    assert len(ids_and_texts(tmp_path / "c.feather")) == 10


@pytest.mark.parametrize("kind", TABLES)
def test_kept_rows_keep_schema_and_order(tmp_path, kind):
    schema = pa.schema(
        [pa.field("id", pa.int64()), pa.field("text", pa.string())],
        {"made by": "a test"} if kind != ".orc" else None,
    )
    path = write_table(tmp_path / f"a{kind}", TABLE.cast(schema))
    target = tmp_path / f"b{kind}"
    corpus = open_corpus([path])
    for chosen in ([0, 1, 2, 5, 9], range(10), [], [4]):
        corpus.copy(0, np.array([*chosen], np.int64) + 1, target)
        found = read_back(target)
        assert found.to_pylist() == TABLE.take([*chosen] or pa.array([], pa.int64())).to_pylist()
        assert found.schema.equals(schema, check_metadata=True)


def test_kept_rows_are_packed_as_they_were(tmp_path):
    for codec in (None, "lz4", "zstd"):
        with ipc.new_file(
            tmp_path / "a.arrow", TABLE.schema, options=ipc.IpcWriteOptions(compression=codec)
        ) as writer:
            writer.write_table(TABLE)
        open_corpus([tmp_path / "a.arrow"]).copy(0, np.array([2]), tmp_path / "b.arrow")
        data = (tmp_path / "b.arrow").read_bytes()
        (batch,) = file_messages(pa.BufferReader(data), len(data))
        assert batch.codec == codec
    orc.write_table(TABLE, tmp_path / "a.orc", compression="zstd")
    open_corpus([tmp_path / "a.orc"]).copy(0, np.array([2]), tmp_path / "b.orc")
    assert orc.ORCFile(tmp_path / "b.orc").compression == "ZSTD"


@pytest.fixture
def striped(tmp_path):
    """Give an ORC file of several stripes, and its texts."""
    texts = [f"text {n} " + "x" * (n % 50) for n in range(20_000)]
    path = tmp_path / "a.orc"
    with orc.ORCWriter(path, stripe_size=1, batch_size=1024) as writer:
        for begin in range(0, len(texts), 5000):
            writer.write(pa.table({"text": texts[begin : begin + 5000]}))
    assert orc.ORCFile(path).nstripes > 2
    return path, texts


def test_every_stripe_of_orc_is_read_and_any_row_again(tmp_path, striped):
    path, texts = striped
    corpus = open_corpus([path])
    found = documents(corpus, batch_bytes=50_000, threads=2)
    assert [text for _, text, _ in found] == texts
    rows = np.array(random.Random(1).choices(range(20_000), k=20))
    again = corpus.originals(np.zeros(20, np.int32), rows + 1)
    assert again.texts.to_pylist() == [texts[row] for row in rows]
    batches = list(corpus.batches(batch_bytes=50_000))
    assert len(batches) > 5
    done = len(batches[0]) + len(batches[1])
    assert documents(corpus, batches[1].next, batch_bytes=50_000) == found[done:]
    corpus.copy(0, rows := np.array([1, 9000, 19_999]), tmp_path / "b.orc")
    kept = orc.read_table(tmp_path / "b.orc")["text"].to_pylist()
    assert kept == [texts[row - 1] for row in rows]


@pytest.mark.parametrize("kind", [*ARROW, ".orc"])
def test_what_is_broken_is_an_error_in_one_line(tmp_path, kind):
    whole = write_table(tmp_path / f"a{kind}", TABLE).read_bytes()
    name = "an ORC file" if kind == ".orc" else "an Arrow file or stream"
    damaged = [b"", b"x" * 50, whole[: len(whole) // 2], whole[:-3], b"\xff" * 4 + whole]
    for data in damaged[: 5 if kind != ".ipc" else 3]:
        (tmp_path / f"b{kind}").write_bytes(data)
        message = refusal(tmp_path / f"b{kind}")
        assert f"b{kind} is not a whole {name.split(' ', 1)[1]}" in message
        assert message.endswith("make the file again")
        (bad,) = bad_of(open_corpus([tmp_path / f"b{kind}"], skip_bad=True))
        assert bad == message


@pytest.mark.parametrize("kind", ARROW)
def test_any_flipped_byte_is_an_error_or_some_documents(tmp_path, kind):
    whole = write_table(tmp_path / f"a{kind}", TABLE).read_bytes()
    draw = random.Random(kind)
    for _ in range(150):
        data = bytearray(whole)
        data[draw.randrange(len(data))] = draw.randrange(256)
        (tmp_path / f"b{kind}").write_bytes(data)
        with suppress(SourceError):
            list(open_corpus([tmp_path / f"b{kind}"], memory=1).batches())


def test_offsets_that_point_beyond_the_data_are_refused(tmp_path):
    table = pa.table({"text": ["abcdefgh", "ijklmnop"]})
    path = write_table(tmp_path / "a.arrow", table)
    data = path.read_bytes()
    offsets = struct.pack("<iii", 0, 8, 16)
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, struct.pack("<iii", 0, 1 << 30, 16)))
    assert "is not a whole Arrow file or stream" in refusal(path)
    with pytest.raises(SourceError, match="is not a whole Arrow file or stream"):
        open_corpus([path]).copy(0, np.array([1]), tmp_path / "b.arrow")


@pytest.mark.parametrize("kind", [".arrow", ".ipc"])
def test_lists_that_go_on_beyond_their_values_are_refused(tmp_path, kind):
    path = write_table(tmp_path / f"a{kind}", pa.table({"text": [["a", "b"], ["c"]]}))
    data = path.read_bytes()
    offsets = struct.pack("<iii", 0, 2, 3)
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, struct.pack("<iii", 0, 2, 1 << 30)))
    assert "is not a whole Arrow file or stream" in refusal(path)


def test_an_old_feather_file_is_told_by_its_mark(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + b"\0" * 60 + b"FEA1")
    assert "is a Feather file of version 1, which is no longer read" in refusal(
        tmp_path / "a.feather"
    )


@pytest.mark.parametrize("kind", [".feather", ".ipc"])
def test_a_packed_batch_that_would_not_fit_is_refused_before_it_is_unpacked(tmp_path, kind):
    many = Bounds(1).part // 1000 + 10
    table = pa.table({"text": ["x" * 1000] * many, "n": range(many)})
    path = tmp_path / f"a{kind}"
    opened = ipc.new_stream if kind == ".ipc" else ipc.new_file
    with opened(path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, max_chunksize=many)
    assert path.stat().st_size < 1 << 20
    message = refusal(path, memory=1)
    assert message.startswith(f"batch 1 of {path} holds 8.4 MB at once, where it could be")
    assert "raise memory=, or leave it out" in message
    assert len(documents(open_corpus([path]))) == many


def test_dictionaries_that_would_not_fit_are_refused_before_they_are_unpacked(tmp_path):
    texts = pa.array(["x" * Bounds(1).part, "y"] * 3).dictionary_encode()
    for name, opened in (("a.arrow", ipc.new_file), ("b.arrow", ipc.new_stream)):
        options = ipc.IpcWriteOptions(compression="zstd")
        with opened(tmp_path / name, pa.schema([("text", texts.type)]), options=options) as writer:
            writer.write_table(pa.table({"text": texts}))
        message = refusal(tmp_path / name, memory=1)
        assert message.startswith(f"{tmp_path / name} has 8.4 MB of dictionaries, more than")


def test_only_the_columns_that_are_read_count(tmp_path):
    many = Bounds(1).part // 1000 + 10
    table = pa.table({"text": [str(n) for n in range(many)], "page": ["x" * 1000] * many})
    with ipc.new_file(
        tmp_path / "a.arrow", table.schema, options=ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table, max_chunksize=many)
    assert len(documents(open_corpus([tmp_path / "a.arrow"], memory=1))) == many
    assert "holds 8." in refusal(tmp_path / "a.arrow", memory=1, text="page")


@pytest.mark.parametrize("kind", [".arrow", ".ipc"])
def test_a_plain_batch_of_any_size_is_mapped_not_read(tmp_path, monkeypatch, kind):
    mapped = []
    memory_map = pa.memory_map

    def counted(path):
        mapped.append(path)
        return memory_map(path)

    monkeypatch.setattr(pa, "memory_map", counted)
    many = Bounds(1).part // 1000 + 10
    texts = [f"{n:1000}" for n in range(many)]
    path = write_table(tmp_path / f"a{kind}", pa.table({"text": texts}), rows=many)
    found = documents(open_corpus([path], memory=1), batch_bytes=100_000)
    assert [text for _, text, _ in found] == texts
    assert mapped == [str(path)]


def test_a_stripe_that_would_not_fit_is_refused_by_what_its_footer_tells(tmp_path):
    many = Bounds(1).part // 1000 + 10
    orc.write_table(pa.table({"text": ["x" * 1000] * many}), tmp_path / "a.orc")
    message = refusal(tmp_path / "a.orc", memory=1)
    assert f"stripe 1 of {tmp_path / 'a.orc'} holds about 8.4 MB of texts" in message


BYTES = [pa.binary(), pa.large_binary()]


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("stored", BYTES)
def test_bytes_that_are_text_are_read_as_text(tmp_path, kind, stored):
    if kind == ".orc" and stored == pa.large_binary():
        pytest.skip("ORC has one kind of bytes")
    texts = ["one é", None, "", "two"]
    raw = [None if text is None else text.encode() for text in texts]
    table = pa.table({"text": pa.array(raw, stored), "id": pa.array([b"a", b"b", b"c", b"d"])})
    path = write_table(tmp_path / f"a{kind}", table)
    assert ids_and_texts(path) == list(zip("abcd", texts, strict=True))
    table = pa.table({"text": pa.array([b"one", b"\xff\xfe", b"two"], stored)})
    path = write_table(tmp_path / f"a{kind}", table)
    assert f"{path}:2: the text in 'text' is not valid UTF-8" in refusal(path)
    assert [text for _, text in ids_and_texts(path, skip_bad=True)] == ["one", "two"]
    assert len(bad_of(open_corpus([path], skip_bad=True))) == 1


@pytest.mark.parametrize("stored", BYTES)
def test_bytes_in_memory_are_read_as_text_too(stored):
    column = pa.chunked_array([pa.array([b"one"], stored), pa.array(["é".encode(), None], stored)])
    assert read(pa.table({"text": column})).texts.to_pylist() == ["one", "é", None]
    wrong = pa.table({"text": pa.array([b"one", b"\xff"], stored)})
    with pytest.raises(SourceError, match="document 1 of column 'text' is not valid UTF-8"):
        read(wrong)
