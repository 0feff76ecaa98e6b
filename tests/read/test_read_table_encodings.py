"""Tables of every layout in other encodings: lines, arrays of JSON, columns split anywhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lookalike import SourceError
from lookalike.read import open_corpus
from lookalike.read.encodings import stands_alone

GERMAN = ["Die Größe der Öffnung", "ändert sich über die Jahre", "häufig, sagt man"]
JAPANESE = ["表の一覧－予定表", "能力と十分な説明", "ソフトの構成"]
"""With characters whose second byte is a backslash, a | or a bracket in Shift JIS."""


def texts(path, **options):
    batches = open_corpus(path, **options).batches()
    return [text for batch in batches for text in batch.texts.to_pylist()]


@pytest.mark.parametrize(
    ("encoding", "lines"),
    [("cp1252", GERMAN), ("cp932", JAPANESE), ("gb18030", JAPANESE), ("utf-16", GERMAN)],
)
@pytest.mark.parametrize("name", ["a.txt", "a.log"])
def test_lines_are_read_in_what_is_said(tmp_path, encoding, lines, name):
    path = tmp_path / name
    path.write_bytes("\n".join(lines).encode(encoding))
    assert texts(path, lines=True, encoding=encoding) == lines


@pytest.mark.parametrize("folder", [False, True])
def test_lines_are_not_guessed(tmp_path, folder):
    path = tmp_path / "a.txt"
    path.write_bytes("\n".join(GERMAN).encode("cp1252"))
    with pytest.raises(SourceError, match=r"a\.txt:1 is not UTF-8.*give encoding='cp1252' if"):
        texts(tmp_path if folder else path, lines=True)
    path.write_bytes("\n".join(GERMAN).encode("cp1252").replace(b"sich", b"\x81"))
    assert texts(path, lines=True, encoding="cp1252", skip_bad=True) == [GERMAN[0], GERMAN[2]]


@pytest.mark.parametrize("form", ["array", "texts", "lines", "object"])
def test_json_is_read_in_what_is_said(tmp_path, form):
    records = [{"text": text, "größe": 1} for text in GERMAN]
    content = {
        "array": json.dumps(records, ensure_ascii=False, indent=1),
        "texts": json.dumps(GERMAN, ensure_ascii=False),
        "lines": "\n".join(json.dumps(one, ensure_ascii=False) for one in records),
        "object": json.dumps(records[0], ensure_ascii=False, indent=1),
    }[form]
    path = tmp_path / "a.json"
    path.write_bytes(content.encode("cp1252"))
    found = texts(path, encoding="cp1252")
    assert found == (GERMAN[:1] if form == "object" else GERMAN)
    with pytest.raises(SourceError, match="is not UTF-8 text"):
        texts(path)


def test_lines_of_json_are_told_in_what_is_said(tmp_path):
    path = tmp_path / "a.json"
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in JAPANESE]
    path.write_bytes("\n".join(lines).encode("cp932"))
    assert texts(path, encoding="cp932") == JAPANESE


def test_an_element_that_is_not_in_the_encoding_is_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(
        json.dumps(GERMAN, ensure_ascii=False).encode("cp1252").replace(b"si", b"\x81")
    )
    with pytest.raises(SourceError, match=r"a\.json:2 is not cp1252 text.*name another encoding"):
        texts(path, encoding="cp1252")
    assert texts(path, encoding="cp1252", skip_bad=True) == [GERMAN[0], GERMAN[2]]


def test_kept_elements_are_copied_as_they_are(tmp_path):
    path, target = tmp_path / "a.json", tmp_path / "kept.json"
    path.write_bytes(json.dumps(GERMAN, ensure_ascii=False).encode("cp1252"))
    open_corpus(path, encoding="cp1252").copy(0, np.array([1, 3]), target)
    assert json.loads(target.read_bytes().decode("cp1252")) == [GERMAN[0], GERMAN[2]]


@pytest.mark.parametrize("encoding", ["shift_jis", "cp932", "gb18030", "big5"])
def test_an_array_whose_brackets_may_be_parts_of_characters_is_refused(tmp_path, encoding):
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps(["表の中", "能力"], ensure_ascii=False).encode(encoding))
    with pytest.raises(SourceError, match=r"a\.json is an array of JSON, which cannot be read in"):
        texts(path, encoding=encoding)
    path.write_text(json.dumps(JAPANESE, ensure_ascii=False), "utf-8")
    assert texts(path, encoding=encoding) == JAPANESE


def _table(delimiter, rows, *, header=True):
    lines = [f"id{delimiter}text"] if header else []
    return "\n".join([*lines, *(f"{n}{delimiter}{text}" for n, text in enumerate(rows))])


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("asked", [False, True])
def test_columns_are_split_at_any_character_in_what_is_said(tmp_path, delimiter, asked):
    path = tmp_path / "a.csv"
    path.write_bytes(_table(delimiter, GERMAN).encode("cp1252"))
    given = {"delimiter": delimiter} if asked else {}
    assert texts(path, encoding="cp1252", **given) == GERMAN


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "big5", "cp949"])
def test_bars_that_may_be_parts_of_characters_split_nothing(tmp_path, encoding):
    rows = ["表の中", "能力"]
    path = tmp_path / "a.csv"
    for delimiter in (";", "\t", ","):
        path.write_bytes(_table(delimiter, rows).encode(encoding))
        assert texts(path, encoding=encoding) == rows
    path.write_bytes(_table("|", rows).encode(encoding))
    for given in ({}, {"delimiter": "|"}, {"delimiter": "|", "no_header": True}):
        if encoding == "cp949":  # in which no second byte is a |
            assert texts(path, encoding=encoding, text="text" if not given else None, **given)[-1:]
            break
        with pytest.raises(SourceError, match=r"a\.csv is split at \|, which is a part of other"):
            texts(path, encoding=encoding, **given)


@pytest.mark.parametrize(
    ("encoding", "others"),
    [
        ("cp932", "@[\\]^_`{|}~"),
        ("big5", "@[\\]^_`{|}~"),
        ("gb18030", "0123456789@[\\]^_`{|}~"),
        ("johab", ":;<=>?@[\\]^_`{|}~"),
        ("cp949", ""),
        ("euc_jp", ""),
        ("cp1252", ""),
        ("utf-16-le", ""),
    ],
)
def test_which_characters_are_second_bytes_of_others(encoding, others):
    signs = [chr(code) for code in range(9, 127) if not chr(code).isalpha()]
    found = [sign for sign in signs if not stands_alone(sign, encoding)]
    assert set(found) - set("0123456789") == set(others) - set("0123456789")
    assert ("5" in found) is (encoding in ("gb18030", "johab"))
