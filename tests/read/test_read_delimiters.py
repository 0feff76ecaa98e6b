"""CSV that is split at something else than commas, or has no header."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.base.errors import LookalikeError, OutputError, SettingsError, SourceError
from lookalike.read import open_corpus
from source_files import PACKINGS, documents, ids_and_texts, pack, unpack

RECORDS = [["1", "Hallo, Welt; so"], ["2", 'zwei "Worte"\nzwei\tZeilen | Ende'], ["3", ""]]
HARD = st.text(alphabet='ab,;|\t "\n', max_size=8)


def written(rows, delimiter, header=("id", "text")):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([header, *rows] if header else rows)
    return text.getvalue().encode()


def notes_of(path, **options):
    return [note for batch in open_corpus([path], **options).batches() for note in batch.notes]


def as_read(rows):
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("delimiter", "said"), [(";", ";"), ("\t", "tabs"), ("|", "|")])
def test_what_splits_the_columns_is_told_by_the_header_and_said(tmp_path, delimiter, said, packing):
    path = tmp_path / f"a.csv{packing}"
    path.write_bytes(pack(written(RECORDS, delimiter), path.name))
    assert ids_and_texts(path) == as_read(RECORDS)
    assert notes_of(path)[0] == f"{path}: columns are split at {said}"
    assert notes_of(path, text="text", id="id") == [f"{path}: columns are split at {said}"]


def test_commas_that_have_the_columns_asked_for_stay(tmp_path):
    path = tmp_path / "a.csv"
    for header in (("id", "text"), ("id", "text", "a;b;c"), ("x;y", "text"), ("text",)):
        rows = [["1;2", "a;b", "c;d"][: len(header)]] * 2
        path.write_bytes(written(rows, ",", header))
        place = header.index("text")
        assert [text for _, text in ids_and_texts(path, id="none")] == [rows[0][place]] * 2
        assert not any("split" in note for note in notes_of(path, id="none"))


@given(st.lists(st.tuples(HARD, HARD), min_size=1, max_size=6), st.sampled_from(",;|\t"))
def test_files_of_any_delimiter_hold_the_same(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(written(rows, delimiter, ("other", "text")))
    given_it = ids_and_texts(path, delimiter=delimiter, id="none")
    assert [text for _, text in given_it] == [text for _, text in rows]
    assert ids_and_texts(path, id="none") == given_it


def test_a_text_that_is_named_tells_what_splits_the_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(written(RECORDS, ";", ("nummer", "beschreibung, lang")))
    assert ids_and_texts(path, text="beschreibung, lang", id="nummer") == as_read(RECORDS)
    with pytest.raises(SourceError, match=r"there are 'nummer', 'beschreibung, lang'; where"):
        ids_and_texts(path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize(
    ("asked", "delimiter"), [("tab", "\t"), ("\\t", "\t"), ("#", "#"), (" ", " ")]
)
def test_a_delimiter_can_be_given(tmp_path, name, asked, delimiter):
    path = tmp_path / name
    path.write_bytes(written(RECORDS, delimiter))
    assert ids_and_texts(path, delimiter=asked) == as_read(RECORDS)
    assert not any("split" in note for note in notes_of(path, delimiter=asked))


@pytest.mark.parametrize("asked", ["", "ab", '"', "\n", "é", "\0", 7])
def test_what_splits_no_columns_is_refused(tmp_path, asked):
    (tmp_path / "a.csv").write_bytes(written(RECORDS, ","))
    with pytest.raises(SettingsError, match="use one ASCII character other than a quote"):
        open_corpus([tmp_path / "a.csv"], delimiter=asked)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_stands_before_the_header(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(written(RECORDS, ";").decode().encode(encoding))
    assert ids_and_texts(path) == as_read(RECORDS)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_columns_without_a_header_are_named_by_their_numbers(tmp_path, delimiter, packing):
    path = tmp_path / f"a.csv{packing}"
    path.write_bytes(pack(written(RECORDS, delimiter, None), path.name))
    assert ids_and_texts(path, no_header=True, text="2", id="1") == as_read(RECORDS)
    assert ids_and_texts(path, no_header=True, text=2, id=1) == as_read(RECORDS)
    found = documents(open_corpus([path], no_header=True, text="2"), batch_bytes=8)
    assert [place for *_, place in found] == [f"{path}:{n}" for n in (1, 2, 3)]
    with pytest.raises(SourceError, match=r"there are '1', '2'$"):
        ids_and_texts(path, no_header=True)


def test_a_single_column_without_a_header_is_the_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('one\n"two, three"\n')
    assert ids_and_texts(path, no_header=True) == [("a.csv:1", "one"), ("a.csv:2", "two, three")]
    path.write_text("one,1\ntwo\n")
    with pytest.raises(SourceError, match="has 1 field where the first record has 2"):
        ids_and_texts(path, no_header=True, text="1")


@pytest.mark.parametrize("packing", PACKINGS)
def test_kept_records_are_written_as_they_were(tmp_path, packing):
    source, target = tmp_path / f"a.csv{packing}", tmp_path / f"b.csv{packing}"
    layouts: Any = (({}, ("id", "text")), ({"no_header": True, "text": "2"}, None))
    for options, header in layouts:
        source.write_bytes(pack(written(RECORDS, ";", header), source.name))
        open_corpus([source], **options).copy(0, np.array([2]), target)
        kept = unpack(target.read_bytes(), target.name)
        assert kept == written(RECORDS[1:2], ";", header)


def test_a_quote_that_opens_only_after_a_comma_does_not_stop_the_guess(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id;text\n1;so,"he said\n2;x\n')
    assert ids_and_texts(path) == [("1", 'so,"he said'), ("2", "x")]


def test_a_work_folder_is_of_one_layout(tmp_path):
    path, work = tmp_path / "a.csv", tmp_path / "work"
    text = "the quick brown fox jumps over the lazy dog"
    path.write_bytes(written([["text", "x"], [text, "1"], [text + "!", "2"]], ",", None))
    first = lookalike.find(path, work=work)
    assert len(first) == 1
    first.close()
    for options in ({"no_header": True, "text": "1"}, {"delimiter": ","}):
        with pytest.raises(LookalikeError) as refused:
            lookalike.find(path, work=work, **options)
        assert isinstance(refused.value, OutputError)
