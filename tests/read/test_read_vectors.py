"""Vectors of every source: files of records and of arrays, and all that holds them in memory."""

import io
import json
import math
import os
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet as pq
from scipy import sparse

from lookalike.base.errors import SourceError
from lookalike.read import jsonl, kind_of, open_corpus, read, read_paths, record_copies, streams
from lookalike.read.fields import SPARSE, TEXT, TOKENS, VECTORS, WIDE_VECTORS, is_vectors, joined
from lookalike.read.source import InMemory
from source_files import as_lines, bad_of, documents, ids_and_texts, write_records

NARROW = ("<f2", "<f4", ">f4", ">f2")
WIDE = ("<f8", ">f8", "|i1", "|u1", "<i2", ">u2", "<i4", "<u4", "<i8", "<u8")
NUMBERS = (*NARROW, *WIDE)
RAGGED = [[1.0, 2.0], None, [], [0.5], [3.0, 4.0]]


def array_of(kind: str, rows: int = 7, columns: int = 3) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 100, (rows, columns)).astype(kind)


def vectors_of(*paths, **names):
    return [vector for _, vector in ids_and_texts(*paths, **names)]


def table_file(path, column, **others):
    pq.write_table(pa.table({"v": column, **others}), path)
    return path


def refusal(*paths, **names):
    """Give the message by which sources are refused."""
    with pytest.raises(SourceError) as refused:
        list(open_corpus(list(paths), **names).batches(batch_bytes=1000))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_types_of_vectors_are_told_from_others():
    kinds = (TEXT, TOKENS, VECTORS, WIDE_VECTORS, SPARSE)
    assert [is_vectors(kind) for kind in kinds] == [False, False, True, True, False]
    assert list(map(kind_of, kinds)) == ["text", "tokens", "vectors", "vectors", "sparse"]


def test_vectors_that_are_put_together_are_widened_and_never_text():
    narrow, wide = pa.array([[1.5, None], None], VECTORS), pa.array([[2.5]], WIDE_VECTORS)
    found = joined([narrow, pa.nulls(1), wide, pa.array([None], TEXT)])
    assert found.type == WIDE_VECTORS
    assert found.to_pylist() == [[1.5, None], None, None, [2.5], None]
    assert joined([narrow, narrow]).type == VECTORS


class TestParquet:
    @pytest.mark.parametrize(
        ("item", "kind"),
        [
            *((kind, VECTORS) for kind in (pa.float16(), pa.float32())),
            *((kind, WIDE_VECTORS) for kind in (pa.float64(), pa.int8(), pa.int64(), pa.uint64())),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("make", [pa.list_, pa.large_list, lambda item: pa.list_(item, 2)])
    def test_lists_of_every_make_and_number_are_read(self, tmp_path, item, kind, make):
        number = np.float16 if item == pa.float16() else int
        rows: list[Any] = [[1, 2], None, [3, None], [5, 6], None, [7, 8]]
        rows = [row and [n and number(n) for n in row] for row in rows]
        column = pa.array(rows, make(item))
        path = table_file(tmp_path / "a.parquet", column)
        (batch,) = open_corpus([path], vector="v").batches()
        assert batch.texts.type == kind
        expected = "[[1.0, 2.0], None, [3.0, nan], [5.0, 6.0], None, [7.0, 8.0]]"
        assert repr(batch.texts.to_pylist()) == expected
        assert batch.ids.to_pylist() == [f"a.parquet:{n}" for n in range(1, 7)]

    def test_ragged_lists_are_kept_as_they_are(self, tmp_path):
        path = table_file(tmp_path / "a.parquet", pa.array(RAGGED, pa.list_(pa.float32())))
        assert vectors_of(path, vector="v") == RAGGED

    def test_nothing_lies_under_a_missing_vector(self, tmp_path):
        column = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2))
        (batch,) = open_corpus([table_file(tmp_path / "a.parquet", column)], vector="v").batches()
        assert batch.texts.offsets.to_pylist() == [0, 2, 2, 4]
        assert batch.texts.values.to_pylist() == [1, 2, 3, 4]

    def test_numbers_that_are_none_stay_so(self, tmp_path):
        column = pa.array([[math.nan, math.inf], [-0.0, 0.0]], pa.list_(pa.float64()))
        path = table_file(tmp_path / "a.parquet", column)
        assert repr(vectors_of(path, vector="v")) == "[[nan, inf], [-0.0, 0.0]]"

    def test_a_column_inside_another_is_reached_by_its_path(self, tmp_path):
        inner = [{"e": [1.0, 2.0], "k": 7}, None, {"e": None, "k": 8}, {"e": [3.0, None], "k": 9}]
        for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 2)):
            column = pa.array(inner, pa.struct([("e", kind), ("k", pa.int64())]))
            path = table_file(tmp_path / "a.parquet", column)
            assert repr(vectors_of(path, vector="v.e")) == "[[1.0, 2.0], None, None, [3.0, nan]]"

    def test_a_column_of_tensors_is_read_as_what_it_is_stored_as(self, tmp_path):
        storage = pa.array([[1, 2], [3, 4]], pa.list_(pa.float32(), 2))
        kind = pa.fixed_shape_tensor(pa.float32(), [2])
        column = pa.ExtensionArray.from_storage(kind, storage)
        path = table_file(tmp_path / "a.parquet", column)
        assert vectors_of(path, vector="v") == [[1, 2], [3, 4]]

    def test_a_column_of_nulls_is_missing_vectors(self, tmp_path):
        path = table_file(tmp_path / "a.parquet", pa.nulls(2))
        (batch,) = open_corpus([path], vector="v").batches()
        assert batch.texts.to_pylist() == [None, None]
        assert is_vectors(batch.texts.type)
        path = table_file(tmp_path / "a.parquet", pa.array([[], [None], None]))
        assert repr(vectors_of(path, vector="v")) == "[[], [nan], None]"

    @pytest.mark.parametrize(
        "kind",
        [
            *(pa.string(), pa.float64(), pa.binary(), pa.list_(pa.string()), pa.list_(pa.bool_())),
            *(pa.list_(pa.list_(pa.float64())), pa.list_(pa.decimal128(9))),
            *(pa.map_(pa.string(), pa.float64()), pa.struct([("x", pa.float64())])),
        ],
        ids=str,
    )
    def test_a_column_of_anything_else_is_refused_with_its_name_and_type(self, tmp_path, kind):
        path = table_file(tmp_path / "a.parquet", pa.array([None], kind))
        found = pq.read_schema(path).field("v").type
        expected = f"a.parquet: column 'v' holds {found}, not vectors: name a column of lists of"
        assert f"{expected} numbers by vector=" in refusal(path, vector="v")

    def test_a_column_of_vectors_taken_for_text_is_refused_with_what_to_do(self, tmp_path):
        path = table_file(tmp_path / "a.parquet", pa.array([[0.5]]))
        assert "name a column of strings by text=, or this one by vector=" in refusal(
            path, text="v"
        )

    def test_rows_of_long_vectors_are_few_at_once_however_well_they_are_coded(self, tmp_path):
        column = pa.array([[0.0] * 5000] * 300, pa.list_(pa.float32()))
        path = table_file(tmp_path / "a.parquet", column)
        assert path.stat().st_size < 20_000
        batches = list(open_corpus([path], vector="v").batches(batch_bytes=200_000))
        assert max(batch.texts.nbytes for batch in batches) <= 200_000
        assert sum(map(len, batches)) == 300

    def test_a_vector_above_the_limit_is_refused_or_passed_over(self, tmp_path, monkeypatch):
        monkeypatch.setattr(streams, "RECORD_LIMIT_BYTES", 1 << 20)
        column = pa.array([[1.0], [0.0] * (1 << 17), [0.0] * ((1 << 17) + 1)])
        path = table_file(tmp_path / "a.parquet", column)
        expected = "a.parquet:3: the vector in 'v' is longer than 1 MB, the most that it may be"
        assert expected in refusal(path, vector="v")
        assert len(vectors_of(path, vector="v", skip_bad=True)) == 2

    def test_a_row_without_an_id_is_passed_over_with_its_vector(self, tmp_path):
        column = pa.array([[1, 2], [3, 4], None], pa.list_(pa.float32(), 2))
        path = table_file(tmp_path / "a.parquet", column, id=["a", None, "c"])
        found = ids_and_texts(path, vector="v", skip_bad=True)
        assert found == [("a", [1, 2]), ("c", None)]


class TestLines:
    def write(self, path, *values):
        path.write_text("".join(f'{{"v": {value}, "id": {n}}}\n' for n, value in enumerate(values)))
        return path

    def test_lists_of_numbers_are_vectors(self, tmp_path):
        path = self.write(tmp_path / "a.jsonl", "[1, 2.5]", "[]", "[-3]")
        (batch,) = open_corpus([path], vector="v").batches()
        assert batch.texts.type == WIDE_VECTORS
        assert batch.texts.to_pylist() == [[1.0, 2.5], [], [-3.0]]
        assert batch.ids.to_pylist() == [0, 1, 2]

    HOSTILE = (
        *("[1, 2.5]", "[]", "null", "[null]", "[NaN, Infinity, -Infinity]", "[Inf]", "[-0, -0.0]"),
        *("[1e999]", f"[{10**400}]", f"[-{10**400}]", f"[{'7' * 5000}]", "[9007199254740993]"),
        *("[1e-400, 4.9e-325]", "[0.1, 0.30000000000000004]", '"text"', "5", "[true]", '["1"]'),
        *("[[1]]", "{}", "[01]", "[1,]"),
    )

    @given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=5), st.booleans())
    @example(["[-0, -0.0]", "[1e-400, -4.9e-325]", "[-9007199254740993]"], False)
    @example(["[Inf]", "[NaN]", "[-Infinity]"], False)
    def test_arrow_gives_what_json_gives(self, tmp_path_factory, values, skip_bad):
        path = self.write(tmp_path_factory.mktemp("lines") / "a.jsonl", "[0.5]", *values)

        def outcome():
            try:
                found = list(open_corpus([path], vector="v", skip_bad=skip_bad).batches())
            except SourceError as error:
                return str(error)
            return repr([(b.ids.to_pylist(), b.texts.to_pylist(), b.bad) for b in found])

        fast = outcome()
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(jsonl, "_by_arrow", lambda *_: None)
            assert outcome() == fast

    def test_numbers_of_json_are_the_nearest_floats(self, tmp_path):
        values = ["[null]", "[NaN]", "[Inf]", "[1e999]", f"[-{10**400}]", "[-0]", "[-0.0]"]
        values += ["[9007199254740993]", "[0.1]"]
        path = self.write(tmp_path / "a.jsonl", "[0.5]", *values)
        found = [vector[0] for vector in vectors_of(path, vector="v")[1:]]
        expected = [math.nan, math.nan, math.inf, math.inf, -math.inf, 0.0, 0.0, 2.0**53, 0.1]
        assert repr(found) == repr(expected)

    def test_good_lines_are_read_by_arrow_and_not_one_by_one(self, tmp_path, monkeypatch):
        monkeypatch.setattr(jsonl, "_one_by_one", None)
        path = write_records(
            tmp_path / "a.jsonl", [{"meta": {"v": [1, 2.5 * n]}} for n in range(9)]
        )
        assert vectors_of(path, vector="meta.v")[-1] == [1.0, 20.0]

    @pytest.mark.parametrize("wrong", ['"text"', "5", "[true]", '["1"]', "[[1]]", "{}", "true"])
    @pytest.mark.parametrize("first", [True, False])
    def test_anything_else_is_a_bad_record(self, tmp_path, wrong, first):
        values = [wrong, "[1]"] if first else ["[1]", wrong]
        path = self.write(tmp_path / "a.jsonl", *values)
        line = 1 if first else 2
        assert refusal(path, vector="v") == (
            f"{path}:{line}: field 'v' is not a list of numbers: fix or remove it"
        )
        assert vectors_of(path, vector="v", skip_bad=True) == [[1.0]]

    def test_missing_vectors_only_are_vectors_still(self, tmp_path):
        path = self.write(tmp_path / "a.jsonl", "null", "null")
        (batch,) = open_corpus([path], vector="v").batches()
        assert batch.texts.to_pylist() == [None, None]
        assert is_vectors(batch.texts.type)

    def test_whole_numbers_are_vectors_only_if_they_are_asked_for(self, tmp_path):
        path = write_records(tmp_path / "a.jsonl", [{"text": [1, 2]}])
        assert vectors_of(path) == [["1", "2"]]
        assert vectors_of(path, vector="text") == [[1.0, 2.0]]


class TestArrays:
    @pytest.mark.parametrize("kind", NUMBERS)
    def test_rows_of_every_kind_of_number_are_vectors(self, tmp_path, kind):
        array = array_of(kind)
        np.save(tmp_path / "a.npy", array)
        for threads in (1, 2):
            corpus = open_corpus([tmp_path / "a.npy"])
            (batch,) = corpus.batches(threads=threads)
            assert batch.texts.type == (VECTORS if kind in NARROW else WIDE_VECTORS)
            assert batch.texts.to_pylist() == array.astype(float).tolist()
            assert batch.ids.to_pylist() == [f"a.npy:{n}" for n in range(1, 8)]
            assert batch.records.tolist() == list(range(1, 8))
            assert (batch.notes, batch.read) == ((), corpus.size)

    @pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
    def test_every_version_of_the_format_is_read(self, tmp_path, version):
        with (tmp_path / "a.npy").open("wb") as file:
            np.lib.format.write_array(file, array_of("<f4"), version)
        assert len(vectors_of(tmp_path / "a.npy")) == 7

    @pytest.mark.parametrize("kind", ["<f2", "<f4", "|u1", "<i8"])
    def test_reading_goes_on_from_every_place_with_the_same_documents(self, tmp_path, kind):
        for name, rows in (("a", 11), ("b", 0), ("c", 7)):
            np.save(tmp_path / f"{name}.npy", array_of(kind, rows))
        for pattern in (str(tmp_path / "*.npy"), f"{tmp_path.as_uri()}/*.npy"):
            corpus = open_corpus([pattern])
            whole = documents(corpus)
            assert len(whole) == 18
            for size in (1, 50, 100):
                done = 0
                for batch in corpus.batches(batch_bytes=size):
                    done += len(batch)
                    assert documents(corpus, batch.next, batch_bytes=size) == whole[done:]
                assert done == 18

    def test_no_more_is_read_at_once_than_a_batch_holds(self, tmp_path, monkeypatch):
        np.save(tmp_path / "a.npy", np.zeros((5000, 100), np.float32))
        most = []
        read = streams.Stream.read
        monkeypatch.setattr(
            streams.Stream, "read", lambda self, size: most.append(size) or read(self, size)
        )
        batches = list(open_corpus([tmp_path / "a.npy"]).batches(batch_bytes=40_000))
        assert [len(batch) for batch in batches] == [100] * 50
        assert max(most) == 40_000

    @pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
    def test_arrays_without_numbers_are_read(self, tmp_path, shape):
        np.save(tmp_path / "a.npy", np.empty(shape, np.float32))
        assert vectors_of(tmp_path / "a.npy") == [[]] * shape[0]
        assert len(read(tmp_path / "a.npy")) == shape[0]

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.zeros((2, 3), order="F"), "is stored by columns (in Fortran order): save numpy.as"),
            (np.zeros(3), "holds an array of 1 dimension: save one of 2, with a vector in each"),
            (np.zeros((2, 2, 2)), "holds an array of 3 dimensions"),
            (np.array(1.5), "holds an array of 0 dimensions"),
            (np.array([[1, "a"]], object), "holds an array of '|O': save one of floats or whole"),
            (np.array([["a"]]), "holds an array of '<U1'"),
            (np.array([[b"a"]]), "holds an array of '|S1'"),
            (np.zeros((2, 2), complex), "holds an array of '<c16'"),
            (np.zeros((2, 2), bool), "holds an array of '|b1'"),
            (np.zeros((2, 2), "<M8[s]"), "holds an array of '<M8[s]'"),
            (np.zeros((2, 2), [("x", "<f4"), ("y", "<f4")]), "holds an array of \"[('x', '<f4'),"),
        ],
        ids=lambda value: str(getattr(value, "dtype", "")),
    )
    def test_arrays_of_anything_else_are_refused(self, tmp_path, array, message):
        path = tmp_path / "a.npy"
        np.save(path, array, allow_pickle=True)
        assert f"{path} {message}" in refusal(path)
        assert len(bad_of(open_corpus([path], skip_bad=True))) == 1

    def test_what_is_pickled_is_never_loaded(self, tmp_path):
        class Trap:
            def __reduce__(self):
                return (pytest.fail, ("unpickled",))

        data = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            data, {"descr": "|O", "fortran_order": False, "shape": (1, 1)}
        )
        (tmp_path / "a.npy").write_bytes(data.getvalue() + pickle.dumps([Trap()]))
        (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
        assert "holds an array of '|O'" in refusal(tmp_path / "a.npy")
        assert "is not a whole .npy file: it does not begin as one" in refusal(tmp_path / "b.npy")

    def whole(self):
        file = io.BytesIO()
        np.save(file, array_of("<f4"))
        return file.getvalue()

    @pytest.mark.parametrize("keep", [0, 3, 6, 7, 8, 9, 10, 60, 127, 128, 150, -1])
    def test_a_file_that_breaks_off_is_refused(self, tmp_path, keep):
        path = tmp_path / "a.npy"
        path.write_bytes(self.whole()[:keep])
        message = refusal(path)
        assert f"{path} is not a whole .npy file: " in message
        assert message.endswith("; make the file again")
        assert len(bad_of(open_corpus([path], skip_bad=True))) == 1

    def test_a_file_with_more_than_its_header_tells_is_refused(self, tmp_path):
        path = tmp_path / "a.npy"
        path.write_bytes(self.whole() * 2)
        assert "it has 424 bytes, where its header tells of 212" in refusal(path)

    @pytest.mark.parametrize(
        "header",
        [
            *(
                "",
                "{",
                "[]",
                "{}",
                "None",
                "(" * 9000,
                "-" * 9000 + "1",
                "{'descr': '<f4', 'shape': (2, 2)}",
            ),
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 2]}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -2)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2.0)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, True)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'x': 1}",
            "__import__('os').abort()",
        ],
        ids=lambda header: header[:60],
    )
    def test_a_header_that_says_nothing_is_refused(self, tmp_path, header):
        length = len(header).to_bytes(2, "little")
        data = b"\x93NUMPY\1\0" + length + header.encode() + bytes(16)
        (tmp_path / "a.npy").write_bytes(data)
        assert "its header cannot be read" in refusal(tmp_path / "a.npy")
        (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\2\0" + b"\xff" * 100)
        assert "its header of 4,294,967,295 bytes is too long" in refusal(tmp_path / "a.npy")

    @given(st.data())
    def test_damage_anywhere_is_refused_in_one_line_or_makes_other_numbers(
        self, tmp_path_factory, data
    ):
        path = tmp_path_factory.mktemp("damage") / "a.npy"
        content = bytearray(self.whole())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, 130))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        corpus = open_corpus([path], skip_bad=True)
        found = documents(corpus)
        lines = bad_of(corpus)
        assert bool(found) != bool(lines)
        assert not any("\n" in line for line in lines)

    def test_a_row_above_the_limit_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(streams, "RECORD_LIMIT_BYTES", 1 << 20)
        np.save(tmp_path / "a.npy", np.zeros((2, 1 << 18), np.float32))
        assert len(vectors_of(tmp_path / "a.npy")) == 2
        np.save(tmp_path / "a.npy", np.zeros((2, (1 << 18) + 1), np.float32))
        assert "a row of" in refusal(tmp_path / "a.npy")

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ({"text": "a"}, "leave out text='a'"),
            ({"id": "k"}, "leave out id='k'"),
            ({"text": "t", "id": "k"}, "leave out text='t' and id='k'"),
        ],
    )
    def test_names_of_columns_are_refused(self, tmp_path, names, message):
        np.save(tmp_path / "a.npy", array_of("<f4"))
        found = refusal(tmp_path / "a.npy", **names)
        assert f"a.npy has no columns, its rows are the vectors: {message}" in found

    def test_a_column_to_keep_by_is_null(self, tmp_path):
        np.save(tmp_path / "a.npy", array_of("<f4", 2))
        (batch,) = open_corpus([tmp_path / "a.npy"], columns=["stars"]).batches()
        assert batch.columns["stars"].to_pylist() == [None, None]

    def test_a_file_that_changed_or_vanished_is_refused(self, tmp_path):
        path = tmp_path / "a.npy"
        np.save(path, array_of("<f4"))
        corpus = open_corpus([path])
        batches = corpus.batches(batch_bytes=1)
        next(batches)
        os.utime(path, ns=(5, 5))
        with pytest.raises(SourceError, match=r"a\.npy has changed since it was listed"):
            list(batches)
        path.unlink()
        with pytest.raises(SourceError, match=r"a\.npy cannot be read: it does not exist"):
            list(corpus.batches())

    def test_a_folder_passes_arrays_by_and_a_name_or_a_pattern_of_them_does_not(self, tmp_path):
        (tmp_path / "a.txt").write_text("a")
        np.save(tmp_path / "b.npy", array_of("<f4", 1))
        np.save(tmp_path / "c.NPY", array_of("<f4", 1))
        (tmp_path / "c.NPY.npy").rename(tmp_path / "c.NPY")
        for place in (tmp_path, tmp_path.as_uri(), tmp_path / "*", f"{tmp_path.as_uri()}/*"):
            corpus = open_corpus([str(place)])
            assert [name.rpartition("/")[2] for name, *_ in documents(corpus)] == ["a.txt"]
            assert corpus.skipped == {"of another kind": 2}
        for place in (tmp_path / "b*", f"{tmp_path.as_uri()}/b*", tmp_path / "b.npy"):
            assert [name for name, _ in ids_and_texts(str(place))] == ["b.npy:1"]
        assert len(vectors_of(tmp_path / "*.[nN][pP][yY]")) == 2
        assert len(vectors_of(tmp_path / "b.npy", tmp_path / "c.NPY")) == 2


class TestKinds:
    @pytest.fixture
    def places(self, tmp_path):
        np.save(tmp_path / "a.npy", array_of("<f4", 2))
        write_records(tmp_path / "b.jsonl", [{"text": "x", "v": [1.0]}])
        write_records(tmp_path / "c.jsonl", [{"text": ["x"], "v": [2.0]}])
        write_records(tmp_path / "d.parquet", [{"text": "x", "v": [3.0]}])
        (tmp_path / "e.txt").write_text("x")
        return {path.stem: path for path in tmp_path.iterdir()}

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ("ab", "b.jsonl holds texts where .*a.npy holds vectors"),
            ("ca", "a.npy holds vectors where .*c.jsonl holds lists of tokens"),
            ("da", "a.npy holds vectors where .*d.parquet holds texts"),
            ("ae", "e.txt holds texts where .*a.npy holds vectors"),
            ("ea", "a.npy holds vectors where .*e.txt holds texts"),
        ],
    )
    def test_kinds_are_not_mixed_wherever_reading_begins(self, places, names, message):
        corpus = open_corpus([places[name] for name in names])
        for start in (None, (1, 0, 0)):
            with pytest.raises(SourceError, match=f"{message}: compare documents of one kind"):
                list(corpus.batches(start))

    def test_a_damaged_array_among_texts_is_one_of_vectors_still(self, places):
        places["a"].write_bytes(b"nothing")
        corpus = open_corpus([places["a"], places["b"]], skip_bad=True)
        for start in (None, (1, 0, 0)):
            (batch,) = corpus.batches(start)
            assert "holds texts where" in batch.bad[-1]
            assert len(batch) == 0

    def test_files_that_hold_vectors_beside_texts_go_together(self, places):
        found = vectors_of(*(places[name] for name in "bcd"), vector="v")
        assert found == [[1.0], [2.0], [3.0]]

    def test_batches_of_several_files_are_widened(self, tmp_path):
        column = pa.array([[0.5, None]], pa.list_(pa.float32()))
        table_file(tmp_path / "a.parquet", column)
        write_records(tmp_path / "b.jsonl", [{"v": [0.1]}])
        (batch,) = open_corpus([tmp_path], vector="v").batches()
        assert batch.texts.type == WIDE_VECTORS
        assert repr(batch.texts.to_pylist()) == "[[0.5, nan], [0.1]]"
        single = open_corpus([tmp_path], vector="v").batches(batch_bytes=1)
        assert [batch.texts.type for batch in single] == [VECTORS, WIDE_VECTORS]

    @pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.txt", "a.html"])
    def test_files_of_text_are_refused_where_vectors_are_asked_for(self, tmp_path, name):
        path = tmp_path / name
        one = name.endswith(("txt", "html"))
        path.write_text("x") if one else write_records(path, [{"v": "1"}])
        message = f"{path} is a file of text: vectors are read from Parquet, Arrow, ORC, JSON and"
        assert message in refusal(path, vector="v")
        write_records(tmp_path / "b.jsonl", [{"v": [1.0]}])
        corpus = open_corpus([tmp_path], vector="v", skip_bad=True)
        for start in (None, (1, 0, 0)):
            assert [vector for _, vector, _ in documents(corpus, start)] == [[1.0]]
        assert message in bad_of(corpus)[0]

    def test_text_and_vector_together_are_refused(self, tmp_path):
        message = "both text='t' and vector='v' are given"
        path = write_records(tmp_path / "a.jsonl", [{"t": "x", "v": [1.0]}])
        for source in (path, pa.table({"t": ["x"], "v": [[1.0]]}), [[1.0]]):
            with pytest.raises(SourceError, match=message):
                read(source, text="t", vector="v")

    @pytest.mark.parametrize("kind", [".jsonl", ".parquet"])
    def test_a_column_that_is_not_there_is_refused_with_those_that_are(self, tmp_path, kind):
        path = write_records(tmp_path / f"a{kind}", [{"id": 1, "v": [1.0]}])
        message = "there is no column 'w' for the vector: there are 'id', 'v'"
        assert message in refusal(path, vector="w")

    @pytest.mark.parametrize("kind", [".jsonl", ".parquet"])
    def test_what_was_chosen_is_told(self, tmp_path, kind):
        path = write_records(tmp_path / f"a{kind}", [{"v": [1.0], "key": "k"}])
        unit = "line" if kind == ".jsonl" else "row"
        told = read_paths([path], vector="v").notes
        assert told == (f"{path}: the vectors are taken from 'v', ids are file:{unit}",)
        assert read_paths([path], vector="v", id="key").notes == ()

    @pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".parquet"])
    def test_reading_goes_on_from_every_place_with_the_same_documents(self, tmp_path, kind):
        rows = [{"id": n, "v": None if n % 7 == 3 else [n / 3, float(n)]} for n in range(40)]
        path = write_records(tmp_path / f"a{kind}", rows)
        corpus = open_corpus([path], vector="v")
        whole = documents(corpus)
        assert [vector for _, vector, _ in whole] == [row["v"] for row in rows]
        for size in (1, 100, 300):
            done = 0
            for batch in corpus.batches(batch_bytes=size, threads=2):
                done += len(batch)
                assert documents(corpus, batch.next, batch_bytes=size) == whole[done:]


class TestCopies:
    @pytest.mark.parametrize("kind", NUMBERS)
    @pytest.mark.parametrize("kept", [[], [1], [7], [2, 3, 6], [1, 2, 3, 4, 5, 6, 7]])
    def test_kept_rows_are_the_same_numbers_of_the_same_kind(
        self, tmp_path, kind, kept, monkeypatch
    ):
        monkeypatch.setattr(record_copies, "PIECE_BYTES", 30)
        array = array_of(kind)
        np.save(tmp_path / "a.npy", array)
        for source in (tmp_path / "a.npy", (tmp_path / "a.npy").as_uri()):
            open_corpus([source]).copy(0, np.array(kept, np.int64), tmp_path / "out")
            found = np.load(tmp_path / "out")
            assert found.dtype == array.dtype
            assert found.shape == (len(kept), 3)
            assert found.tobytes() == array[np.array(kept, int) - 1].tobytes()

    @pytest.mark.parametrize(("shape", "kept"), [((0, 4), []), ((3, 0), [1, 3])])
    def test_arrays_without_numbers_are_copied(self, tmp_path, shape, kept):
        np.save(tmp_path / "a.npy", np.empty(shape, np.float32))
        corpus = open_corpus([tmp_path / "a.npy"])
        corpus.copy(0, np.array(kept, np.int64), tmp_path / "out")
        assert np.load(tmp_path / "out").shape == (len(kept), shape[1])
        assert str(corpus.copied_name(0)) == "a.npy"

    def test_a_source_that_changed_is_refused(self, tmp_path):
        np.save(tmp_path / "a.npy", array_of("<f4"))
        corpus = open_corpus([tmp_path / "a.npy"])
        os.utime(tmp_path / "a.npy", ns=(7, 7))
        with pytest.raises(SourceError, match="has changed since it was listed"):
            corpus.copy(0, np.array([1]), tmp_path / "out")

    def test_a_target_that_cannot_be_written_is_a_plain_error(self, tmp_path):
        np.save(tmp_path / "a.npy", array_of("<f4"))
        corpus = open_corpus([tmp_path / "a.npy"])
        with pytest.raises(OSError, match="No such file"):
            corpus.copy(0, np.array([1]), tmp_path / "no" / "folder")

    @pytest.mark.parametrize(
        "kind", [pa.list_(pa.float16()), pa.list_(pa.float32(), 2), pa.large_list(pa.float64())]
    )
    def test_rows_of_a_parquet_file_keep_their_vectors(self, tmp_path, kind):
        rows = [[np.float16(n), None] if n % 3 else None for n in range(6)]
        path = table_file(tmp_path / "a.parquet", pa.array(rows, kind), id=list(range(6)))
        open_corpus([path], vector="v").copy(0, np.array([1, 3, 6]), tmp_path / "out")
        before, after = pq.read_table(path), pq.read_table(tmp_path / "out")
        assert after.schema == before.schema
        assert after.to_pylist() == before.take([0, 2, 5]).to_pylist()

    def test_lines_keep_their_vectors_byte_for_byte(self, tmp_path):
        lines = as_lines([{"v": [0.1, n]} for n in range(4)]).splitlines(keepends=True)
        (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
        corpus = open_corpus([tmp_path / "a.jsonl"], vector="v")
        corpus.copy(0, np.array([2, 4]), tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == lines[1] + lines[3]


FLOATS = [[1.0, 2.0], None, [3.0, 4.0]]
COLUMN = pa.array([[9.0, 9.0], *FLOATS, None], pa.list_(pa.float32()))
FIXED = pa.array([None, [9, 9], *FLOATS, None, [8, 8]], pa.list_(pa.float32(), 2))
HALF = pa.array([[np.float16(n) for n in row or ()] if row else None for row in FLOATS])


class TestMemory:
    @pytest.mark.parametrize(
        "source",
        [
            FLOATS,
            tuple(FLOATS),
            (row for row in FLOATS),
            [np.array([1.0, 2.0]), None, np.array([3, 4])],
            [np.array([1, 2], np.float32), None, [3, 4]],
            [(1, 2), None, np.array([3.0, 4.0], ">f8")],
            np.array([np.array([1.0, 2.0]), None, [3.0, 4.0]], object),
            pa.array(FLOATS),
            pa.array(FLOATS, pa.large_list(pa.int64())),
            pa.array(FLOATS, pa.list_(pa.uint8(), 2)),
            pa.chunked_array([FLOATS[:1], [], FLOATS[1:]], pa.list_(pa.float64())),
            pd.Series(FLOATS),
            pd.Series([np.array([1.0, 2.0]), None, np.array([3, 4], np.float32)]),
            pd.Series([[1, 2], None, [3.0, 4]]),
            pd.Series(pd.array(FLOATS, pd.ArrowDtype(pa.list_(pa.float64())))),
            pl.Series(FLOATS),
            pl.Series(FLOATS, dtype=pl.Array(pl.Float64, 2)),
        ],
        ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
    )
    def test_wide_vectors_are_read_from_any_column(self, source):
        documents = read(source)
        assert documents.texts.type == WIDE_VECTORS
        assert documents.texts.to_pylist() == FLOATS
        assert documents.ids.to_pylist() == [0, 1, 2]

    @pytest.mark.parametrize(
        "source",
        [
            [np.array([1, 2], np.float32), None, np.array([3, 4], np.float16)],
            COLUMN.slice(1, 3),
            FIXED.slice(2, 3),
            HALF,
            pa.chunked_array([FIXED.slice(2, 2), FIXED.slice(4, 1)]),
            pa.chunked_array([COLUMN.slice(1, 1), COLUMN.slice(5), COLUMN.slice(2, 2)]),
            pd.Series([np.array([1, 2], np.float32), None, np.array([3, 4], np.float32)]),
            pl.Series(FLOATS, dtype=pl.List(pl.Float32)),
            pl.Series([None, *FLOATS], dtype=pl.Array(pl.Float32, 2)).slice(1),
        ],
        ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
    )
    def test_narrow_vectors_are_read_from_any_column(self, source):
        documents = read(source)
        assert documents.texts.type == VECTORS
        assert documents.texts.to_pylist() == FLOATS

    @pytest.mark.parametrize(
        "source", [RAGGED, pa.array(RAGGED), pd.Series(RAGGED), pl.Series(RAGGED)]
    )
    def test_ragged_vectors_are_kept_as_they_are(self, source):
        assert read(source).texts.to_pylist() == RAGGED

    @pytest.mark.parametrize(
        "source",
        [
            [[1.0, None], [math.nan, 2**70]],
            [[np.float32(1), None], [np.nan, np.int64(2) ** 62 * 256.0]],
            np.ma.array([[1, 5], [5, 2**70]], np.float64, mask=[[False, True], [True, False]]),
            [np.ma.array([1, 5], np.int32, mask=[False, True]), [math.nan, 2**70]],
            pa.array([[1.0, None], [math.nan, 2.0**70]]),
            pd.Series([[1.0, None], [math.nan, 2.0**70]]),
            pl.Series([[1.0, None], [math.nan, 2.0**70]]),
        ],
        ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
    )
    def test_what_is_missing_in_a_vector_is_no_number(self, source):
        assert repr(read(source).texts.to_pylist()) == "[[1.0, nan], [nan, 1.1805916207174113e+21]]"

    def test_a_dict_gives_its_keys(self):
        documents = read({"x": [0.5], "y": None, "z": np.array([1, 2])})
        assert documents.ids.to_pylist() == ["x", "y", "z"]
        assert documents.texts.to_pylist() == [[0.5], None, [1.0, 2.0]]

    def test_a_pandas_series_gives_its_index(self):
        assert read(pd.Series([[0.5], [1.5]], index=["x", "y"])).ids.to_pylist() == ["x", "y"]

    @pytest.mark.parametrize("kind", NUMBERS)
    @pytest.mark.parametrize("order", ["C", "F", "strided"])
    def test_rows_of_an_array_are_vectors(self, kind, order):
        array = array_of(kind, 6, 4)
        array = array[::-2, ::2] if order == "strided" else np.array(array, order=order)
        before = array.copy()
        documents = read(array)
        assert documents.texts.type == (VECTORS if kind in NARROW else WIDE_VECTORS)
        assert documents.texts.to_pylist() == array.astype(float).tolist()
        assert documents.ids.to_pylist() == list(range(len(array)))
        assert (array == before).all()

    @pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
    def test_arrays_without_numbers_are_read(self, shape):
        documents = read(np.empty(shape, np.float32))
        assert documents.texts.to_pylist() == [[]] * shape[0]
        assert documents.texts.type == VECTORS

    def test_a_mapped_file_is_an_array(self, tmp_path):
        array = array_of("<f4")
        np.save(tmp_path / "a.npy", array)
        source = np.load(tmp_path / "a.npy", mmap_mode="r")
        assert read(source).texts.to_pylist() == array.tolist()

    @pytest.mark.parametrize("kind", ["<f4", "<f8"])
    def test_floats_in_order_are_not_copied(self, kind):
        array = array_of(kind, 50, 8)
        assert read(array).texts.values.buffers()[1].address == array.ctypes.data
        fixed = pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), 8)
        assert read(fixed.slice(2)).texts.values.buffers()[1].address == array.ctypes.data

    def test_one_dimension_of_texts_goes_on_being_texts(self):
        assert read(np.array(["a", "b"])).texts.type == TEXT

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (np.array([["a"]]), "an array of <U1 in 2 dimensions cannot be read"),
            (np.zeros((2, 2), complex), "an array of complex128 in 2"),
            (np.zeros((2, 2), bool), "an array of bool in 2"),
            (np.zeros((2, 2, 2)), "an array of float64 in 3 dimensions"),
            (np.array([[1.0, None]], object), "an array of object in 2"),
            ([[1.0], "x"], "document 1 is not a vector"),
            ({"a": [1.0], "b": 5.0}, "document 'b' is not a vector"),
            ([[1.0], [True]], "document 1 is not a vector"),
            ([[1.0], ["1"]], "document 1 is not a vector"),
            ([[1.0], ["1", None]], "document 1 is not a vector"),
            ([[1.0], [None, True]], "document 1 is not a vector"),
            ([[[1.0]]], "document 0 is not a vector"),
            ([[[1.0], [2.0, 3.0]]], "document 0 is not a vector"),
            ([[10**400]], "document 0 is not a vector"),
            ([[1.0], {1: 2}], "document 1 is not a vector"),
            ([np.zeros((2, 2))], "document 0 is not a vector"),
            (["text", [1.0]], "document 1 is of type list, not text"),
            (pd.Series([[1.0], "x"]), "document 1 is not a vector"),
            (pa.array([[True]]), "the column holds list<.*bool>, not text"),
            (pl.Series([[True]]), "the column holds large_list<.*>, not text"),
        ],
    )
    def test_what_is_no_vector_is_refused_by_name(self, source, message):
        with pytest.raises(SourceError, match=message):
            read(source)

    def test_tables_give_the_column_that_is_named(self):
        table = pa.table({"id": [7, 8, 9], "text": ["a", "b", "c"], "v": FLOATS})
        frame = pd.DataFrame({"text": ["a", "b", "c"], "v": FLOATS}, index=[7, 8, 9])
        for source in (table, pl.DataFrame(table), pl.DataFrame(table).lazy(), frame):
            documents = read(source, vector="v")
            assert documents.texts.to_pylist() == FLOATS
            assert documents.ids.to_pylist() == [7, 8, 9]
            assert list(documents.columns["text"]) == ["a", "b", "c"] or (
                documents.columns["text"].to_pylist() == ["a", "b", "c"]
            )
            assert read(source).texts.to_pylist() == ["a", "b", "c"]
        (batch,) = table.to_batches()
        assert read(batch, vector="v", id="text").ids.to_pylist() == ["a", "b", "c"]

    def test_a_column_of_a_table_that_holds_none_is_refused(self):
        table = pa.table({"text": [[0.5]], "v": ["x"]})
        for source in (table, pl.DataFrame(table), table.to_pandas()):
            with pytest.raises(SourceError, match=r"column 'v' holds .*string.*, not vectors"):
                read(source, vector="v")
            with pytest.raises(SourceError, match="no column 'w' for the vector"):
                read(source, vector="w")
            with pytest.raises(SourceError, match=r"'text' holds .*, not text: .* by vector="):
                read(source)

    def test_a_column_of_nulls_is_missing_vectors(self):
        for source in (pa.table({"v": pa.nulls(2)}), pd.DataFrame({"v": [None, None]})):
            documents = read(source, vector="v")
            assert documents.texts.to_pylist() == [None, None]
            assert is_vectors(documents.texts.type)

    def test_a_column_without_chunks_is_no_vectors(self):
        assert len(read(pa.chunked_array([], pa.list_(pa.float32())))) == 0

    @pytest.mark.parametrize(
        "source",
        [[[0.5]], np.ones((1, 1)), pa.array([[0.5]]), pd.Series([[0.5]]), sparse.eye_array(2)],
        ids=lambda source: type(source).__name__,
    )
    def test_a_name_for_what_has_no_columns_is_refused(self, source):
        with pytest.raises(SourceError, match="text=, vector= and id= name columns of a table"):
            read(source, vector="v")


MATRIX = [[0, 2.5, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]]
ENTRIES = [[(1, 2.5), (3, 1.0)], [], [(0, 3.0)]]


def entries_of(source):
    documents = read(source)
    assert documents.texts.type == SPARSE
    lists = documents.texts.to_pylist()
    return [[(entry["index"], entry["value"]) for entry in row] for row in lists]


class TestSparse:
    @pytest.mark.parametrize("make", ["matrix", "array"])
    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
    def test_rows_of_every_form_are_sparse_vectors(self, make, form):
        source = getattr(sparse, f"{form}_{make}")(np.array(MATRIX))
        assert entries_of(source) == ENTRIES
        assert read(source).ids.to_pylist() == [0, 1, 2]

    @pytest.mark.parametrize("kind", ["<f4", "<f8", "|i1", "<u4"])
    def test_duplicates_are_summed_and_zeros_dropped_and_indices_sorted(self, kind):
        values = np.array([100, 100, 0, 7, 9, 1], kind)
        rows, columns = np.array([0, 0, 0, 0, 2, 2]), np.array([3, 3, 1, 0, 2, 0])
        expected = [[(0, 7.0), (3, 200.0)], [], [(0, 1.0), (2, 9.0)]]
        source = sparse.coo_array((values, (rows, columns)), (3, 4))
        assert entries_of(source) == expected
        unsorted = sparse.csr_array((values, columns, np.array([0, 4, 4, 6])), (3, 4))
        before = (unsorted.data.copy(), unsorted.indices.copy())
        assert entries_of(unsorted) == expected
        assert np.array_equal(unsorted.data, before[0])
        assert np.array_equal(unsorted.indices, before[1])

    def test_what_cancels_out_is_dropped_and_what_is_no_number_stays(self):
        parts = (np.array([1.5, -1.5, np.nan]), (np.array([0, 0, 0]), np.array([1, 1, 0])))
        assert repr(entries_of(sparse.coo_matrix(parts, (1, 2)))) == "[[(0, nan)]]"

    @pytest.mark.parametrize("shape", [(0, 4), (3, 0), (2, 2)])
    def test_matrices_without_entries_are_empty_rows(self, shape):
        assert entries_of(sparse.csr_array(shape)) == [[]] * shape[0]

    def test_an_index_beyond_32_bits_is_kept(self):
        parts = (np.array([1.5]), (np.array([0]), np.array([2**40])))
        assert entries_of(sparse.coo_array(parts, (1, 2**41))) == [[(2**40, 1.5)]]

    @pytest.mark.parametrize("kind", [complex, bool])
    def test_matrices_of_other_things_are_refused(self, kind):
        with pytest.raises(SourceError, match=r"a sparse array of .* cannot be read"):
            read(sparse.csr_array(np.eye(2, dtype=kind)))


def as_given(corpus, rows):
    return corpus.as_given(pa.array(rows), np.zeros(len(rows), np.int32), rows + 1)


class TestInMemory:
    @pytest.mark.parametrize(
        ("source", "size"),
        [
            (np.ones((6, 5), np.float32), 6 * 20),
            (np.ones((6, 5), np.float16), 6 * 20),
            (np.ones((6, 5), np.int8), 6 * 40),
            ([[0.5] * 5, None, [], [0.5]], 48),
            (sparse.csr_array(np.array(MATRIX)), 3 * 16),
            (np.empty((3, 0)), 0),
            (np.empty((0, 3)), 0),
        ],
    )
    def test_sizes_are_those_of_the_numbers(self, source, size):
        documents = read(source)
        corpus = InMemory(documents)
        assert corpus.size == size
        for most in (1, 48, 1000):
            batches = list(corpus.batches(batch_bytes=most))
            texts = [text for batch in batches for text in batch.texts.to_pylist()]
            assert texts == documents.texts.to_pylist()
            assert all(batch.texts.type == documents.texts.type for batch in batches)
            assert [batch.read for batch in batches][-1:] == ([size] if len(documents) else [])

    def test_batches_are_as_large_as_asked_for(self):
        corpus = InMemory(read(np.ones((10, 4), np.float32)))
        assert [len(batch) for batch in corpus.batches(batch_bytes=48)] == [3, 3, 3, 1]

    def taken(self, source):
        return as_given(InMemory(read(source), source=source), np.array([0, 2]))

    def test_rows_are_taken_in_the_kind_of_the_source(self):
        array = array_of("<f2", 4)
        found = self.taken(array)
        assert (type(found), found.dtype) == (np.ndarray, array.dtype)
        assert found.tolist() == array[[0, 2]].tolist()
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            found = self.taken(form(np.array(MATRIX)))
            assert sparse.issparse(found)
            assert found.toarray().tolist() == [MATRIX[0], MATRIX[2]]
        rows = [np.array([1.0]), None, np.array([2.0])]
        assert all(a is b for a, b in zip(self.taken(rows), [rows[0], rows[2]], strict=True))
        named = dict(zip("abc", rows, strict=True))
        assert list(self.taken(named)) == ["a", "c"]
        assert isinstance(self.taken(named), Mapping)

    @pytest.mark.parametrize(
        "kind", [pa.list_(pa.float16()), pa.list_(pa.float32(), 2), pa.large_list(pa.float64())]
    )
    def test_rows_of_columns_are_taken_in_their_type(self, kind):
        column = pa.array([[np.float16(1), np.float16(2)], None, [np.float16(3), None]], kind)
        for source in (column, pa.chunked_array([column])):
            found = self.taken(source)
            assert (type(found), found.type) == (type(source), kind)
            assert found.to_pylist() == [[1.0, 2.0], [3.0, None]]
        series = pl.Series(FLOATS, dtype=pl.Array(pl.Float32, 2))
        assert self.taken(series).to_list() == [FLOATS[0], FLOATS[2]]

    def test_vectors_of_an_iterable_are_taken_as_lists(self):
        corpus = InMemory(read(iter(FLOATS)), source=iter(()))
        assert as_given(corpus, np.array([0, 2])) == [FLOATS[0], FLOATS[2]]


def test_a_line_of_numbers_is_what_json_wrote(tmp_path):
    rows = np.random.default_rng(7).normal(size=(30, 8)).tolist()
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"v": row}) + "\n" for row in rows))
    assert vectors_of(path, vector="v") == rows
