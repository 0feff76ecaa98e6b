"""Strings are the same from memory and from a file, however they are asked for."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins_core
from lookalike.base.columns import Column
from lookalike.base.errors import OutputError
from lookalike.kernels import files
from lookalike.kernels import normalise as kernels
from lookalike.text.documents import Selection, Strings
from made_documents import documents_of, texts_of

pytestmark = pytest.mark.kernels

by_system = pytest.mark.skipif(not files.HAS_PREAD, reason="compiled code makes the call")

strings = st.lists(st.binary(max_size=6), min_size=1, max_size=8)


@st.composite
def wanted(draw):
    """Some strings, and rows of them in any order, some again and again."""
    some = draw(strings)
    return some, draw(st.lists(st.integers(0, len(some) - 1), max_size=12))


def strings_of(some, path=None):
    data = Column(np.uint8, path)
    data.append(np.frombuffer(b"".join(some), np.uint8))
    return Strings(data, np.cumsum([0, *map(len, some)]))


@given(st.binary(max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6))))
def test_spans_are_gathered_as_the_twin_does(data, spans):
    spans = [(min(at, len(data)), min(size, max(0, len(data) - at))) for at, size in spans]
    offsets = np.cumsum([0, *(size for _, size in spans)], dtype=np.int64)
    out = np.empty(offsets[-1], np.uint8)
    starts = np.array([at for at, _ in spans], np.int64)
    kernels.gather(np.frombuffer(data, np.uint8), starts, offsets, out)
    assert out.tobytes() == twins_core.gathered(data, spans)


WAYS = ["memory", "one go", pytest.param("spans", marks=by_system), "one by one"]


@pytest.mark.parametrize("way", WAYS)
@given(drawn=wanted(), most=st.none() | st.integers(0, 4))
def test_any_rows_come_in_the_order_they_were_asked_for(way, drawn, most):
    some, rows = drawn
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        if way in ("spans", "one by one"):
            patched.setattr("lookalike.text.documents.MAX_READ_BYTES", -1)
            patched.setattr(files, "HAS_PREAD", way == "spans")
        held = strings_of(some, None if way == "memory" else Path(folder) / "strings")
        data, offsets = held.gathered(np.array(rows, np.int64), most)
        assert len(held) == len(some)
        assert held.lengths(np.array(rows, np.int64)).tolist() == [len(some[row]) for row in rows]
    found = [data[a:b].tobytes() for a, b in pairwise(offsets)]
    assert found == [some[row][:most] for row in rows]
    assert (data.dtype, offsets.dtype) == (np.uint8, np.int64)


@pytest.fixture
def reads(monkeypatch):
    """Give 40 strings of 100 bytes in a file, and lists of what is read of it by either way."""

    def of(path):
        held = strings_of([b"x" * 100] * 40, path)
        read, spans = [], []
        into, by_compiled_code = held.data.read_into, files.read_spans
        monkeypatch.setattr(
            held.data, "read_into", lambda room, at: (read.append((at, len(room))), into(room, at))
        )
        monkeypatch.setattr(
            files,
            "read_spans",
            lambda file, starts, *more: (
                spans.append(starts.tolist()),
                by_compiled_code(file, starts, *more),
            )[1],
        )
        return held, read, spans

    return of


@by_system
def test_neighbours_are_read_in_one_go_and_others_each_from_its_place(tmp_path, monkeypatch, reads):
    monkeypatch.setattr("lookalike.text.documents.GAP_BYTES", 10)
    held, read, spans = reads(tmp_path / "strings")
    # Nothing was written yet, and compiled code must find it all the same.
    held.gathered(np.array([37, 2, 3, 37]))
    assert (read, spans) == ([], [[3700, 200, 300, 3700]])
    held.gathered(np.array([2, 3, 4]))
    assert read == [(200, 300)]
    held.gathered(np.array([7, 5, 8]))
    assert (read, len(spans)) == ([(200, 300), (500, 400)], 1)


def test_a_system_without_the_call_reads_each_by_itself(tmp_path, monkeypatch, reads):
    monkeypatch.setattr("lookalike.text.documents.GAP_BYTES", 10)
    monkeypatch.setattr(files, "HAS_PREAD", False)
    held, read, spans = reads(tmp_path / "strings")
    held.gathered(np.array([37, 2, 3, 37]))
    assert (read, spans) == ([(3700, 100), (200, 100), (300, 100), (3700, 100)], [])


@pytest.mark.parametrize(
    ("rows", "near", "times"),
    # Of 100 bytes each: as much again may be read in vain, and `near` for each of them.
    [([5, 9], 50, 1), ([5, 9], 49, 2), ([5, 9, 13], 100, 1), ([5, 9, 13], 99, 3)],
)
def test_what_is_near_is_told_by_the_bytes_for_each_string(
    tmp_path, monkeypatch, reads, rows, near, times
):
    monkeypatch.setattr(files, "HAS_PREAD", False)
    monkeypatch.setattr("lookalike.text.documents.GAP_BYTES", near)
    held, read, _ = reads(tmp_path / "strings")
    held.gathered(np.array(rows))
    assert len(read) == times


@pytest.mark.parametrize(("most", "times"), [(300, 1), (299, 3)])
def test_no_more_than_a_bound_is_read_in_one_go(tmp_path, monkeypatch, reads, most, times):
    monkeypatch.setattr(files, "HAS_PREAD", False)
    monkeypatch.setattr("lookalike.text.documents.MAX_READ_BYTES", most)
    held, read, _ = reads(tmp_path / "strings")
    held.gathered(np.array([2, 3, 4]))
    assert len(read) == times


@st.composite
def spans_of_a_file(draw):
    """Draw the bytes of a file, and spans of it, some empty, some at its very end."""
    content = draw(st.binary(max_size=30))
    ends = st.tuples(st.integers(0, len(content)), st.integers(0, len(content)))
    return content, draw(st.lists(ends.map(sorted), max_size=8))


def read_by_compiled_code(path, spans):
    starts = np.array([start for start, _ in spans], np.int64)
    offsets = np.cumsum([0, *(stop - start for start, stop in spans)], dtype=np.int64)
    out = np.full(offsets[-1], 0xA5, np.uint8)
    with path.open("rb") as file:
        done = files.read_spans(file.fileno(), starts, offsets, out)
    return done, [out[a:b].tobytes() for a, b in pairwise(offsets)]


@by_system
@given(spans_of_a_file())
def test_spans_read_by_compiled_code_are_slices_of_the_file(drawn):
    content, spans = drawn
    with TemporaryDirectory() as folder:
        path = Path(folder) / "strings"
        path.write_bytes(content)
        done, found = read_by_compiled_code(path, spans)
    assert done == len(spans)
    assert found == [content[start:stop] for start, stop in spans]


@by_system
@given(spans_of_a_file(), st.integers(0, 8), st.integers(1, 5))
def test_the_first_span_that_is_not_all_there_is_told(drawn, at, beyond):
    content, spans = drawn
    at = min(at, len(spans))
    too_long = (max(0, len(content) - 2), len(content) + beyond)
    spans = [*spans[:at], too_long, *spans[at:]]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "strings"
        path.write_bytes(content)
        done, found = read_by_compiled_code(path, spans)
    assert done == at
    assert found[:at] == [content[start:stop] for start, stop in spans[:at]]


@pytest.mark.skipif(not files.CAN_PREFETCH, reason="the system is not told what will be read")
def test_of_a_large_file_the_system_hears_first_what_will_be_read(tmp_path, monkeypatch, reads):
    monkeypatch.setattr("lookalike.text.documents.GAP_BYTES", 10)
    told = []
    tell = files.prefetch_spans
    monkeypatch.setattr(
        files,
        "prefetch_spans",
        lambda file, starts, offsets: (
            told.append((starts.tolist(), offsets.tolist())),
            tell(file, starts, offsets),
        ),
    )
    held, _, spans = reads(tmp_path / "strings")
    rows = np.array([37, 2, 30])
    before, _ = held.gathered(rows)
    assert told == []
    monkeypatch.setattr("lookalike.text.documents.PREFETCH_BYTES", 4000)
    after, _ = held.gathered(rows)
    assert told == [([3700, 200, 3000], [0, 100, 200, 300])]
    assert spans == [[3700, 200, 3000]] * 2
    assert before.tobytes() == after.tobytes()


@by_system
def test_a_file_that_cannot_be_read_is_left_to_python(tmp_path):
    starts, offsets = np.array([0]), np.array([0, 1])
    assert files.read_spans(-1, starts, offsets, np.empty(1, np.uint8)) == 0
    held = strings_of([b"x" * 5000] * 3, tmp_path / "strings")
    held.gathered(np.array([1]))
    with (tmp_path / "strings").open("wb") as shut:
        held.data.file, file = shut.fileno(), held.data.file
        try:
            with pytest.raises(OutputError, match="cannot be read: Bad file descriptor") as raised:
                held.gathered(np.array([2, 0]))
        finally:
            held.data.file = file
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("system", [pytest.param(True, marks=by_system), False])
@pytest.mark.parametrize("near", [0, 1 << 14])
def test_a_file_cut_off_while_in_use_is_refused_in_one_line(tmp_path, monkeypatch, near, system):
    monkeypatch.setattr("lookalike.text.documents.GAP_BYTES", near)
    monkeypatch.setattr(files, "HAS_PREAD", system)
    held = strings_of([b"x" * 100] * 20, tmp_path / "strings")
    held.gathered(np.array([17, 2]))
    (tmp_path / "strings").write_bytes(b"x" * 10)
    with pytest.raises(OutputError, match="became shorter while it was in use") as raised:
        held.gathered(np.array([17, 2]))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("system", [pytest.param(True, marks=by_system), False])
def test_strings_that_the_file_never_had_are_refused_in_one_line(tmp_path, monkeypatch, system):
    monkeypatch.setattr("lookalike.text.documents.MAX_READ_BYTES", -1)
    monkeypatch.setattr(files, "HAS_PREAD", system)
    held = strings_of([b"x" * 100] * 3, tmp_path / "strings")
    held.offsets[-1] += 1
    with pytest.raises(OutputError, match="ends before its items do: run again") as raised:
        held.gathered(np.array([0, 2]))
    assert "\n" not in str(raised.value)


TEXTS = ["the fox", "", "a dog", "über", "一二三", "the fox"]


@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_part_holds_the_wanted_documents(tmp_path, in_a_file):
    texts = texts_of(TEXTS, tmp_path / "texts" if in_a_file else None)
    rows = np.array([4, 0, 1, 4])
    part, mine = texts.part(rows)
    assert [part.text(row) for row in mine] == [TEXTS[row] for row in rows]
    assert part.fingerprints[mine].tolist() == texts.fingerprints[rows].tolist()
    # Of a file, no more than was asked for.
    assert len(part) == (len(rows) if in_a_file else len(TEXTS))


@pytest.mark.parametrize("in_a_file", [False, True])
def test_chosen_documents_are_those_of_memory(tmp_path, in_a_file):
    texts = texts_of(TEXTS, tmp_path / "texts" if in_a_file else None)
    for most in (None, 0, 3):
        rows = np.array([3, 3, 5, 1])
        found, expected = texts.chosen(rows, most), documents_of(TEXTS).chosen(rows, most)
        for name in ("data", "offsets", "fingerprints"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("in_a_file", [False, True])
@pytest.mark.parametrize("most", [1, 8, 1000])
def test_a_selection_stands_for_its_documents_alone(tmp_path, in_a_file, most):
    rows = np.array([5, 4, 2, 0])
    texts = texts_of(TEXTS, tmp_path / "texts" if in_a_file else None)
    chosen = Selection(texts, rows)
    assert len(chosen) == 4
    assert chosen.lengths(np.array([1, 0])).tolist() == [9, 7]
    assert chosen.chosen(np.array([1])).text(0) == "一二三"
    parts = list(chosen.parts(most))
    found = [part.text(row) for part in parts for row in range(len(part))]
    assert found == [TEXTS[row] for row in rows]
    assert all(len(part) == 1 or part.offsets[-1] <= most for part in parts)
