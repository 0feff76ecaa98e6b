"""Ids come back as they were, sort as their type does, and stand once."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.columns import Store
from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.results import ids as module
from lookalike.results.ids import IdWriter

numbers = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8)
names = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    | st.sampled_from(["", "a", "A", "10", "9", "é", "\U0001f600", "\uffff", "a\x00"]),
    max_size=8,
)


def written(values, kind, *, folder=None, cuts=()):
    """Write ids to a store, in slices of one array, and give them back."""
    array = pa.array(values, kind)
    writer = IdWriter(Store(folder), "ids")
    for start, stop in pairwise([0, *cuts, len(values)]):
        writer.append(array[start:stop])
    return writer.finish(whole=pa.types.is_integer(kind))


def counted(drawn):
    """Tell ids that sort as people count."""
    return bool(drawn) and all(name.isascii() and name.isdigit() for name in drawn)


def rows_of(drawn, data):
    """Any rows, unsorted and repeated."""
    most = len(drawn) - 1
    return data.draw(st.lists(st.integers(0, most), max_size=10)) if drawn else []


class TestTaking:
    @pytest.mark.parametrize("in_a_folder", [False, True])
    @given(drawn=numbers, data=st.data())
    def test_whole_numbers_come_back_as_numbers(self, in_a_folder, drawn, data):
        rows = rows_of(drawn, data)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(drawn)), max_size=2)))
        with TemporaryDirectory() as folder:
            place = Path(folder) if in_a_folder else None
            ids = written(drawn, pa.int64(), folder=place, cuts=cuts)
            found = ids.take(np.array(rows, np.int64))
        assert found.type == pa.int64()
        assert found.to_pylist() == [drawn[row] for row in rows]
        assert len(ids) == len(drawn)

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
    @given(drawn=names, data=st.data())
    def test_text_comes_back_as_text(self, kind, drawn, data):
        rows = rows_of(drawn, data)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(drawn)), max_size=2)))
        found = written(drawn, kind, cuts=cuts).take(np.array(rows, np.int64))
        assert found.type == pa.string()
        assert found.to_pylist() == [drawn[row] for row in rows]

    def test_numbers_among_text_are_text(self):
        writer = IdWriter(Store(), "ids")
        writer.append(pa.array([10, 9]))
        writer.append(pa.array(["x"]))
        ids = writer.finish(whole=False)
        assert ids.take(np.arange(3)).to_pylist() == ["10", "9", "x"]
        assert ids.ranks(np.arange(3)).tolist() == [0, 1, 2]

    def test_more_text_than_plain_strings_hold_is_large(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_STRING_BYTES", 5)
        ids = written(["abc", "de", "f"], pa.string())
        assert ids.take(np.arange(2)).type == pa.string()
        assert ids.take(np.arange(3)).type == pa.large_string()

    def test_another_writer_goes_on_where_one_stopped(self, tmp_path):
        store = Store(tmp_path)
        IdWriter(store, "ids").append(pa.array(["a", "bc"]))
        again = IdWriter(store, "ids")
        again.append(pa.array(["def"]))
        assert again.finish(whole=False).take(np.arange(3)).to_pylist() == ["a", "bc", "def"]


class TestRanks:
    @given(numbers, st.data())
    def test_numbers_rank_as_numbers(self, drawn, data):
        drawn = list(dict.fromkeys(drawn))
        rows = list(dict.fromkeys(rows_of(drawn, data)))
        mine = [drawn[row] for row in rows]
        expected = [sorted(mine).index(number) for number in mine]
        assert written(drawn, pa.int64()).ranks(np.array(rows, np.int64)).tolist() == expected

    @given(names.filter(lambda drawn: not counted(drawn)))
    def test_text_ranks_by_code_point(self, drawn):
        # Python compares text by code point, which is the order of its bytes in UTF-8.
        drawn = list(dict.fromkeys(drawn))
        expected = [sorted(drawn).index(name) for name in drawn]
        ids = written(drawn, pa.string())
        assert ids.ranks(np.arange(len(drawn))).tolist() == expected
        assert sorted(drawn) == sorted(drawn, key=str.encode)

    @pytest.mark.parametrize("piece", [1, 2, 1 << 18])
    @given(drawn=st.lists(st.text("0129", min_size=1, max_size=30), unique=True), data=st.data())
    def test_text_of_digits_alone_ranks_as_people_count(self, piece, drawn, data):
        rows = list(dict.fromkeys(rows_of(drawn, data)))
        mine = [drawn[row] for row in rows]
        expected = sorted(mine, key=lambda name: (int(name), name))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "PIECE_IDS", piece)
            ids = written(drawn, pa.string())
            ranks = ids.ranks(np.array(rows, np.int64)).tolist()
        assert ranks == [expected.index(name) for name in mine]
        assert ids.take(np.array(rows, np.int64)).to_pylist() == mine

    @pytest.mark.parametrize("other", ["x", "", "-5", "1.5", "٣", " 3", "1_0"])
    def test_one_id_that_is_no_number_makes_all_of_them_text(self, other):
        drawn = ["10", "9", "2", other]
        ids = written(drawn, pa.string())
        # Those that are asked for are numbers, but not all of the corpus.
        assert ids.ranks(np.arange(3)).tolist() == [0, 2, 1]

    def test_equal_numbers_of_text_rank_by_their_places(self):
        ids = written(["10", "9", "10", "9"], pa.string())
        assert ids.ranks(np.arange(4)).tolist() == [2, 0, 3, 1]

    def test_equal_ids_rank_by_their_places(self):
        ids = written(["b", "a", "b", "a"], pa.string())
        assert ids.ranks(np.arange(4)).tolist() == [2, 0, 3, 1]


def place(row):
    return f"line {row + 1}"


class TestDistinct:
    @pytest.mark.parametrize("piece", [1, 2, 3, 1 << 18])
    @given(drawn=st.lists(st.sampled_from("abcdef"), max_size=6), data=st.data())
    def test_an_id_that_stands_twice_is_refused_where_it_does(self, piece, drawn, data):
        begin = data.draw(st.integers(0, len(drawn)))
        end = data.draw(st.integers(begin, len(drawn)))
        ids = written(drawn, pa.string())
        mine = drawn[begin:end]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "PIECE_IDS", piece)
            if len(set(mine)) == len(mine):
                ids.check_distinct(place, begin, end)
                return
            with pytest.raises(SourceError) as refused:
                ids.check_distinct(place, begin, end)
        told = str(refused.value)
        twice = next(name for name in mine if f"id {quoted(name)} appears twice" in told)
        rows = [begin + at for at, name in enumerate(mine) if name == twice]
        assert f"at {place(rows[0])} and at {place(rows[1])}: take places for ids" in told

    def test_numbers_are_named_as_numbers(self):
        ids = written([7, 8, 7], pa.int64())
        with pytest.raises(SourceError, match="id 7 appears twice, at line 1 and at line 3"):
            ids.check_distinct(place, 0, 3)

    def test_fingerprints_that_are_equal_by_chance_are_tolerated(self, monkeypatch):
        def constant(_data, _offsets, out):
            out[:] = 1

        monkeypatch.setattr(module.kernels, "fingerprints", constant)  # type: ignore[attr-defined]
        written(["a", "b", "c"], pa.string()).check_distinct(place, 0, 3)
        with pytest.raises(SourceError, match="id 'b' appears twice, at line 2 and at line 4"):
            written(["a", "b", "c", "b"], pa.string()).check_distinct(place, 0, 4)
