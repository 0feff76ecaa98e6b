"""Strings are the same from memory and from a file, however they are asked for."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins_core
from lookalike.errors import OutputError
from lookalike.kernels import normalise as kernels
from lookalike.store import Column
from lookalike.texts import Selection, Strings
from making import documents_of, texts_of

pytestmark = pytest.mark.kernels

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


@pytest.mark.parametrize("in_a_file", [False, True])
@given(drawn=wanted(), most=st.none() | st.integers(0, 4))
def test_any_rows_come_in_the_order_they_were_asked_for(in_a_file, drawn, most):
    some, rows = drawn
    with TemporaryDirectory() as folder:
        held = strings_of(some, Path(folder) / "strings" if in_a_file else None)
        data, offsets = held.gathered(np.array(rows, np.int64), most)
        assert len(held) == len(some)
        assert held.lengths(np.array(rows, np.int64)).tolist() == [len(some[row]) for row in rows]
    found = [data[a:b].tobytes() for a, b in pairwise(offsets)]
    assert found == [some[row][:most] for row in rows]
    assert (data.dtype, offsets.dtype) == (np.uint8, np.int64)


def test_neighbours_are_read_in_one_go_and_others_looked_at_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.texts.NEAR", 10)
    held = strings_of([b"x" * 100] * 40, tmp_path / "strings")
    read, viewed = [], []
    into, view = held.data.read_into, held.data.view
    monkeypatch.setattr(
        held.data, "read_into", lambda room, at: (read.append((at, len(room))), into(room, at))
    )
    monkeypatch.setattr(held.data, "view", lambda: (viewed.append(1), view())[1])
    held.gathered(np.array([2, 3, 4]))
    assert (read, viewed) == ([(200, 300)], [])
    held.gathered(np.array([7, 5, 8]))
    assert (read, viewed) == ([(200, 300), (500, 400)], [])
    held.gathered(np.array([37, 2, 3, 37]))
    assert (read, viewed) == ([(200, 300), (500, 400)], [1])


def test_a_file_in_view_gives_memory_back_and_is_still_there(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.store.SEEN_BYTES", 1)
    monkeypatch.setattr("lookalike.texts.NEAR", 0)
    monkeypatch.setattr("lookalike.texts.TOGETHER", 2)
    some = [bytes([i]) * 5000 for i in range(50)]
    held = strings_of(some, tmp_path / "strings")
    for rows in ([30, 1], [49, 0, 7], [30, 1]):
        data, offsets = held.gathered(np.array(rows))
        assert [data[a:b].tobytes() for a, b in pairwise(offsets)] == [some[row] for row in rows]


@pytest.mark.parametrize("near", [0, 1 << 14])
def test_a_file_cut_off_while_in_use_is_refused_in_one_line(tmp_path, monkeypatch, near):
    monkeypatch.setattr("lookalike.texts.NEAR", near)
    held = strings_of([b"x" * 100] * 20, tmp_path / "strings")
    held.gathered(np.array([17, 2]))
    (tmp_path / "strings").write_bytes(b"x" * 10)
    with pytest.raises(OutputError, match="became shorter while it was in use"):
        held.gathered(np.array([17, 2]))


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
