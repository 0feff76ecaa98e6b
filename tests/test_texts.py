"""Strings are the same from memory and from a file, however they are asked for."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins_core
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
@given(drawn=wanted(), most=st.none() | st.integers(0, 4), gap=st.sampled_from([0, 1, 3, 1 << 14]))
def test_any_rows_come_in_the_order_they_were_asked_for(in_a_file, drawn, most, gap):
    some, rows = drawn
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
        patched.setattr("lookalike.texts.GAP", gap)
        held = strings_of(some, Path(folder) / "strings" if in_a_file else None)
        data, offsets = held.gathered(np.array(rows, np.int64), most)
        assert len(held) == len(some)
        assert held.lengths(np.array(rows, np.int64)).tolist() == [len(some[row]) for row in rows]
    found = [data[a:b].tobytes() for a, b in pairwise(offsets)]
    assert found == [some[row][:most] for row in rows]
    assert (data.dtype, offsets.dtype) == (np.uint8, np.int64)


def test_only_what_is_near_is_read_from_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.texts.GAP", 10)
    held = strings_of([b"x" * 100] * 20, tmp_path / "strings")
    read = []
    into = held.data.read_into
    monkeypatch.setattr(
        held.data, "read_into", lambda room, at: (read.append((at, len(room))), into(room, at))
    )
    held.gathered(np.array([7, 2, 3, 7]))
    assert read == [(200, 200), (700, 100)]


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
