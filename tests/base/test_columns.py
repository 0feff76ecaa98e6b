"""Columns that grow at their end behave the same in memory and in a file."""

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base import columns as store
from lookalike.base.columns import Column, Store
from lookalike.base.errors import OutputError

RECORD = np.dtype([("place", "<u4"), ("similarity", "<f8")])
values = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5)
share = st.floats(0, 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), values),
        st.tuples(st.just("claim"), values),
        st.tuples(st.just("flush"), st.none()),
        st.tuples(st.just("read"), st.tuples(share, share)),
        st.tuples(st.just("read all"), st.none()),
        st.tuples(st.just("clear"), share),
        st.tuples(st.just("move"), st.none()),
    ),
    max_size=12,
)


@pytest.mark.long
@pytest.mark.parametrize("in_a_file", [False, True])
@given(steps=steps, waiting=st.sampled_from([0, 12, 1 << 20]))
def test_a_column_is_a_list_that_grows_at_its_end(in_a_file, steps, waiting):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "WRITE_BUFFER_BYTES", waiting)
        column = Column(np.int32, Path(folder) / "column" if in_a_file else None)
        expected = []
        for what, given in steps:
            if what == "append":
                column.append(np.array(given, np.int32))
                expected += given
            elif what == "claim":
                if (write := column.claim(len(given))) is not None:
                    write(np.array(given, np.int32))
                    expected += given
            elif what == "flush":
                column.flush()
            elif what == "read":
                start, stop = sorted(round(at * len(expected)) for at in given)
                assert column.read(start, stop).tolist() == expected[start:stop]
            elif what == "read all":
                assert column.read().tolist() == expected
            elif what == "clear":
                length = round(given * len(expected))
                column.clear(length)
                expected = expected[:length]
            elif column.path is None:
                column.move(Path(folder) / "moved")
            assert len(column) == len(expected)
        assert column.read().dtype == np.int32
        assert column.read().tolist() == expected
        if column.path is not None:
            assert np.fromfile(column.path, np.int32).tolist() == expected
        column.close()


def test_tables_and_other_types_are_laid_out_in_a_row(tmp_path):
    for path in (None, tmp_path / "column"):
        column = Column(np.uint32, path)
        column.append(np.arange(12, dtype=np.int64).reshape(3, 4)[:, ::2])
        assert column.read().tolist() == [0, 2, 4, 6, 8, 10]
        column.append(np.array([True, False]))
        assert column.read(6).tolist() == [1, 0]


def test_records_are_kept_whole(tmp_path):
    records = np.array([(1, 0.5), (2**32 - 1, 0.25)], RECORD)
    for path in (None, tmp_path / "column"):
        column = Column(RECORD, path)
        column.append(records)
        column.append(records[::-1])
        assert column.read(1, 3).tolist() == [(2**32 - 1, 0.25)] * 2


def test_what_was_written_after_the_checkpoint_is_cut_off(tmp_path):
    path = tmp_path / "column"
    before = Column(np.int64, path)
    before.append(np.arange(10))
    before.flush()
    again = Column(np.int64, path, 6)
    assert again.read().tolist() == [0, 1, 2, 3, 4, 5]
    again.append(np.array([77]))
    again.flush()
    assert np.fromfile(path, np.int64).tolist() == [0, 1, 2, 3, 4, 5, 77]


def test_a_file_that_is_shorter_than_its_checkpoint_is_refused(tmp_path):
    path = tmp_path / "column"
    before = Column(np.int64, path)
    before.append(np.arange(5))
    before.flush()
    with pytest.raises(OutputError, match=r"column is shorter than its checkpoint says.*remove"):
        Column(np.int64, path, 6)
    assert path.stat().st_size == 40


def test_a_file_that_is_cut_short_under_a_job_is_told(tmp_path):
    column = Column(np.int64, tmp_path / "column")
    column.append(np.arange(5))
    column.flush()
    os.truncate(tmp_path / "column", 16)
    with pytest.raises(OutputError, match="became shorter while it was in use"):
        column.read()


def full(*_given):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "WRITE_BUFFER_BYTES", 0)
    column = Column(np.int64, tmp_path / "column")
    column.append(np.arange(3))
    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(
        OutputError, match=r"column cannot be written: No space left.*with work=, and"
    ):
        column.append(np.arange(3))
    assert column.read().tolist() == [0, 1, 2]


def moved(column, path):
    column.move(path)
    column.flush()


@pytest.mark.parametrize("waiting", [0, 1 << 20])
def test_a_disk_that_fills_while_memory_is_moved_is_told(tmp_path, monkeypatch, waiting):
    monkeypatch.setattr(store, "WRITE_BUFFER_BYTES", waiting)
    column = Column(np.int64)
    column.append(np.arange(3))
    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(OutputError, match="No space left"):
        moved(column, tmp_path / "column")


class TestWaiting:
    """Small items are written to a file together."""

    def test_they_are_read_back_at_once_and_written_by_then(self, tmp_path):
        column = Column(np.int64, tmp_path / "column")
        for number in range(5):
            column.append(np.array([number]))
        assert (tmp_path / "column").stat().st_size == 0
        assert len(column) == 5
        assert column.read(1, 3).tolist() == [1, 2]
        assert np.fromfile(tmp_path / "column", np.int64).tolist() == [0, 1, 2, 3, 4]

    def test_they_take_one_call_of_the_system(self, tmp_path, monkeypatch):
        calls, write = [], os.pwrite
        monkeypatch.setattr(
            "os.pwrite", lambda *given: (calls.append(len(given[1])), write(*given))[1]
        )
        column = Column(np.int64, tmp_path / "column")
        for number in range(100):
            column.append(np.array([number]))
        column.flush()
        column.flush()
        assert calls == [800]
        assert np.fromfile(tmp_path / "column", np.int64).tolist() == list(range(100))

    @pytest.mark.parametrize("size", [1, 7, 8, 9, 40])
    def test_no_more_wait_than_is_allowed(self, tmp_path, monkeypatch, size):
        monkeypatch.setattr(store, "WRITE_BUFFER_BYTES", 64)
        column = Column(np.uint64, tmp_path / "column")
        for turn in range(9):
            column.append(np.arange(turn * size, (turn + 1) * size))
            assert 8 * len(column) - (tmp_path / "column").stat().st_size <= 64
        assert column.read().tolist() == list(range(9 * size))

    @pytest.mark.parametrize("length", [0, 1, 3, 4])
    def test_those_that_are_forgotten_are_not_written_after_all(self, tmp_path, length):
        column = Column(np.int64, tmp_path / "column")
        column.append(np.arange(2))
        column.append(np.arange(2, 4))
        column.clear(length)
        column.append(np.array([9]))
        assert column.read().tolist() == [*range(length), 9]
        assert np.fromfile(tmp_path / "column", np.int64).tolist() == [*range(length), 9]

    def test_the_caller_may_use_its_array_again(self, tmp_path):
        column = Column(np.int64, tmp_path / "column")
        values = np.arange(3)
        column.append(values)
        values[:] = 9
        assert column.read().tolist() == [0, 1, 2]

    def test_a_full_disk_is_told_when_they_are_written_and_none_is_lost(
        self, tmp_path, monkeypatch
    ):
        column = Column(np.int64, tmp_path / "column")
        column.append(np.arange(3))
        with monkeypatch.context() as patched:
            patched.setattr("os.pwrite", full)
            column.append(np.arange(3, 5))
            for _ in range(2):
                with pytest.raises(
                    OutputError, match=r"column cannot be written: No space.*with work=, and"
                ):
                    column.flush()
        column.append(np.arange(5, 7))
        assert column.read().tolist() == list(range(7))

    def test_a_full_disk_is_told_in_one_line_by_whoever_reads_them(self, tmp_path, monkeypatch):
        column = Column(np.int64, tmp_path / "column")
        column.append(np.arange(3))
        monkeypatch.setattr("os.pwrite", full)
        with pytest.raises(OutputError, match="No space left") as raised:
            column.read()
        assert "\n" not in str(raised.value)

    def test_what_is_closed_before_it_is_written_is_lost_and_nothing_else(self, tmp_path):
        column = Column(np.int64, tmp_path / "column")
        column.append(np.arange(4))
        column.flush()
        counted = len(column)
        column.append(np.arange(90, 99))
        column.close()
        again = Column(np.int64, tmp_path / "column", counted)
        assert again.read().tolist() == [0, 1, 2, 3]
        again.append(np.array([4]))
        assert again.read().tolist() == [0, 1, 2, 3, 4]


def test_a_file_that_cannot_be_made_is_told(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        Column(np.int64, tmp_path / "nowhere" / "column")


def test_writes_and_reads_that_do_a_part_are_gone_on_with(tmp_path, monkeypatch):
    write, read = os.pwrite, os.preadv
    monkeypatch.setattr("os.pwrite", lambda file, data, at: write(file, data[:5], at))
    monkeypatch.setattr("os.preadv", lambda file, rooms, at: read(file, [rooms[0][:3]], at))
    column = Column(np.int64, tmp_path / "column")
    column.append(np.arange(4))
    assert column.read().tolist() == [0, 1, 2, 3]
    assert column.read(1, 3).tolist() == [1, 2]


def test_a_system_without_reads_at_a_place_seeks(tmp_path, monkeypatch):
    monkeypatch.delattr("os.pwrite")
    monkeypatch.delattr("os.preadv")
    column = Column(np.int64, tmp_path / "column")
    column.append(np.arange(4))
    assert column.read(1, 3).tolist() == [1, 2]
    column.append(np.arange(2))
    assert column.read().tolist() == [0, 1, 2, 3, 0, 1]


class TestStore:
    def test_a_name_gives_the_same_column_again(self, tmp_path):
        for folder in (None, tmp_path):
            columns = Store(folder)
            columns.column("some", np.int64).append(np.arange(3))
            assert columns.column("some", np.int64).read().tolist() == [0, 1, 2]

    def test_it_is_taken_up_by_its_lengths(self, tmp_path):
        before = Store(tmp_path)
        before.column("some", np.int64).append(np.arange(3))
        before.column("other", np.uint8).append(np.arange(4))
        before.flush()
        lengths = before.lengths()
        assert lengths == {"some": 3, "other": 4}
        before.column("some", np.int64).append(np.arange(9))
        before.close()
        again = Store(tmp_path, lengths)
        assert again.column("some", np.int64).read().tolist() == [0, 1, 2]
        # What nobody asked for yet still counts.
        assert again.lengths() == lengths

    def test_it_moves_to_a_folder_with_all_that_comes_later(self, tmp_path):
        columns = Store()
        column = columns.column("some", np.int64)
        column.append(np.arange(3))
        columns.spill(tmp_path)
        column.append(np.arange(3, 5))
        assert column.read().tolist() == [0, 1, 2, 3, 4]
        columns.column("later", np.int64).append(np.arange(2))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["later", "some"]
        assert columns.columns["some"] is column

    def test_what_is_dropped_begins_anew(self, tmp_path):
        for folder in (None, tmp_path):
            columns = Store(folder, {"absent": 7} if folder else None)
            columns.column("some", np.int64).append(np.arange(3))
            columns.drop("some", "absent", "unknown")
            assert columns.lengths() == {}
            assert len(columns.column("some", np.int64)) == 0
        assert (tmp_path / "some").stat().st_size == 0


def test_the_error_names_the_file_and_the_way_out():
    told = str(store.unwritable("there/column", OSError(errno.EACCES, "Permission denied")))
    assert told.startswith("there/column cannot be written: Permission denied; ")
    assert told.endswith("choose another folder with work=, and run the same again")
    assert "\n" not in told


class TestReservedRoom:
    @given(st.integers(0, 12), st.lists(st.integers(0, 5), max_size=8), st.data())
    def test_reserving_changes_nothing_but_where_items_stand(self, reserved, sizes, data):
        roomy, plain = Column(np.int64), Column(np.int64)
        roomy.reserve(reserved)
        for at, size in enumerate(sizes):
            values = np.arange(at, at + size)
            roomy.append(values)
            plain.append(values)
            if data.draw(st.booleans()):
                keep = data.draw(st.integers(0, len(plain)))
                roomy.clear(keep)
                plain.clear(keep)
            assert np.array_equal(roomy.read(), plain.read())
        start = data.draw(st.integers(0, len(plain)))
        assert np.array_equal(roomy.read(start), plain.read(start))

    def test_what_fits_is_never_put_together_again(self):
        column = Column(np.int64)
        column.reserve(6)
        column.append(np.arange(3))
        first = column.read()
        column.append(np.arange(3))
        assert np.shares_memory(first, column.read())

    def test_a_column_with_room_moves_to_a_file(self, tmp_path):
        column = Column(np.int64)
        column.reserve(4)
        column.append(np.arange(3))
        column.move(tmp_path / "column")
        column.append(np.arange(3))
        assert column.read().tolist() == [0, 1, 2, 0, 1, 2]
