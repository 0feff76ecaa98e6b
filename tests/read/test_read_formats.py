"""Every format, packed or not, read in batches that can be taken up anywhere."""

import csv
import io
import json
import os
import random
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from lookalike.base.errors import SourceError
from lookalike.read import delimited, open_corpus, read_paths, read_text
from source_files import (
    BINARY,
    PACKINGS,
    RECORD_KINDS,
    as_lines,
    as_separated,
    documents,
    ids_and_texts,
    pack,
    write_records,
)

HARD = ["plain", 'quotes " and "" more', "two\nlines\r\nand more", "comma, tab\t", "é 漢字 😀", ""]


def records_of(many, seed=0):
    draw = random.Random(seed)
    return [
        {"id": f"k{row}", "text": draw.choice(HARD) + " x" * draw.randrange(20), "n": row}
        for row in range(many)
    ]


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_each_format_gives_the_same_documents(tmp_path, kind):
    records = records_of(40)
    path = write_records(tmp_path / f"docs{kind}", records)
    found = documents(open_corpus([path]))
    assert [(name, text) for name, text, _ in found] == [(r["id"], r["text"]) for r in records]
    assert [place for *_, place in found] == [f"{path}:{n}" for n in range(1, 41)]


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_without_an_id_column_the_ids_are_file_and_record(tmp_path, kind):
    path = write_records(tmp_path / f"docs{kind}", [{"text": "a"}, {"text": "b\nc"}, {"text": "d"}])
    corpus = open_corpus([path])
    (batch,) = corpus.batches()
    assert batch.ids.to_pylist() == [f"docs{kind}:{n}" for n in (1, 2, 3)]
    assert batch.records.tolist() == [1, 2, 3]
    assert batch.shards.dtype == np.int32
    (note,) = batch.notes
    assert note.startswith(f"{path}: the text is taken from 'text', ids are file:")


MIXED = 24


def mixed_folder(folder):
    records = records_of(MIXED)
    for place, kind in enumerate(RECORD_KINDS):
        part = [{**record, "id": f"{place}-{record['id']}"} for record in records[place:]]
        write_records(folder / f"part{place}{kind}", part)
    for place in range(7):
        (folder / f"page{place}.txt").write_text(f"page {place} " * place)
        (folder / "deep").mkdir(exist_ok=True)
        (folder / "deep" / f"page{place}.html").write_text(f"<p>page {place}")
    (folder / "void.jsonl").write_text("\n\n")
    (folder / "none.csv").write_text("")
    (folder / "header.csv").write_text("id,text\n")
    (folder / "wide.jsonl").write_bytes('\ufeff{"text": "é"}\n\n{"text": "漢"}'.encode("utf-16-be"))
    (folder / "wide.csv").write_bytes('\ufefftext\n"é\n"\n漢'.encode("utf-16-le"))
    return folder


@pytest.mark.long
@pytest.mark.parametrize(("size", "threads"), [(1, 1), (100, 3), (300, 1), (1500, 3), (1 << 20, 2)])
def test_documents_are_the_same_whatever_the_batches_and_wherever_one_goes_on(
    tmp_path, size, threads
):
    corpus = open_corpus([mixed_folder(tmp_path)])
    whole = documents(corpus)
    assert len(whole) == sum(MIXED - place for place in range(len(RECORD_KINDS))) + 14 + 4
    batches = list(corpus.batches(threads=threads, batch_bytes=size))
    assert sum(map(len, batches)) == len(whole)
    assert (len(batches) > 5) == (size < 1 << 20)
    done = 0
    for batch in batches:
        assert whole[done][0] == str(batch.ids[0]) if len(batch) else True
        done += len(batch)
        goes_on = tuple(json.loads(json.dumps(batch.next)))
        if size > 100 or done % 20 == 0:
            assert documents(corpus, goes_on, threads=threads, batch_bytes=size) == whole[done:]


def test_reading_tells_how_far_it_is(tmp_path):
    corpus = open_corpus([mixed_folder(tmp_path)])
    read = [batch.read for batch in corpus.batches(batch_bytes=500)]
    assert read == sorted(read)
    assert 0 < read[0] < corpus.size / 2
    assert read[-1] == corpus.size == sum(p.stat().st_size for p in tmp_path.rglob("*.*"))


def test_the_same_sources_have_the_same_identity_and_others_another(tmp_path):
    folder = mixed_folder(tmp_path)
    before = open_corpus([folder]).identity()
    assert json.loads(json.dumps(before)) == before
    assert open_corpus([folder]).identity() == before
    os.utime(folder / "page3.txt", ns=(1, 1))
    after = open_corpus([folder]).identity()
    assert [a == b for a, b in zip(before, after, strict=True)].count(False) == 1


def test_members_of_a_gzip_file_and_frames_of_zstandard_are_read_on_end(tmp_path):
    for packing in PACKINGS[1:]:
        path = tmp_path / f"docs.jsonl{packing}"
        parts = [b'{"id": 1, "text"', b': "one"}\n{"id": 2,', b' "text": "two"}\n']
        path.write_bytes(b"".join(pack(part, packing) for part in parts))
        assert ids_and_texts(path) == [(1, "one"), (2, "two")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_a_byte_order_mark_tells_the_encoding(tmp_path, encoding, packing):
    # Among them are code units that hold the bytes of a line's end and of a quote.
    text = "één\n漢字 \u0a0a\u0a22 😀\u220a"
    lines = "\ufeff" + json.dumps({"id": 1, "text": text}, ensure_ascii=False) + "\r\n"
    table = "\ufeff" + as_separated([{"id": 1, "text": text}]).decode()
    (tmp_path / f"a.jsonl{packing}").write_bytes(pack((lines * 2).encode(encoding), packing))
    (tmp_path / f"b.csv{packing}").write_bytes(pack(table.encode(encoding), packing))
    assert ids_and_texts(tmp_path / f"a.jsonl{packing}", text="text", id="id") == [(1, text)] * 2
    assert ids_and_texts(tmp_path / f"b.csv{packing}") == [("1", text)]
    (tmp_path / "c.txt").write_bytes(f"\ufeff{text}".encode(encoding))
    assert read_text(tmp_path / "c.txt") == text


def test_a_folder_holds_documents_and_records_and_counts_the_rest(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_bytes(b"b\0b")
    (tmp_path / "c.png").write_bytes(BINARY)
    (tmp_path / ".d.txt").write_text("d")
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "f.jsonl").write_text('{"text": "f"}\n')
    (tmp_path / "g").symlink_to("e", target_is_directory=True)
    corpus = open_corpus([tmp_path])
    assert corpus.skipped == {"binary": 1, "hidden": 1, "link to a folder": 1}
    (batch,) = corpus.batches()
    assert batch.ids.to_pylist() == ["a.txt", "e/f.jsonl:1"]
    assert batch.skipped == {"binary": 1}
    assert [
        corpus.place(int(s), int(r)) for s, r in zip(batch.shards, batch.records, strict=True)
    ] == [
        str(tmp_path / "a.txt"),
        f"{tmp_path / 'e' / 'f.jsonl'}:1",
    ]
    assert read_paths([tmp_path]).skipped == {**corpus.skipped, "binary": 2}


def test_a_binary_file_that_was_named_is_refused(tmp_path):
    (tmp_path / "b.txt").write_bytes(b"b\0b")
    with pytest.raises(SourceError, match=r"b\.txt is not text: .* NUL at byte 2"):
        read_paths([tmp_path / "b.txt"])


def test_patterns_are_matched_where_the_shell_did_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.png", "d/e.txt", "d/f/g.txt", "odd[1].txt", "odd1.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "c.png").write_bytes(BINARY)
    assert ids_and_texts("?.txt") == [("a.txt", "a.txt"), ("b.txt", "b.txt")]
    assert [name for name, _ in ids_and_texts("**/*.txt")] == [
        *("a.txt", "b.txt", "d/e.txt", "d/f/g.txt", "odd1.txt", "odd[1].txt")
    ]
    assert [name for name, _ in ids_and_texts("d/**")] == ["d/e.txt", "d/f/g.txt"]
    assert [name for name, _ in ids_and_texts("[d]")] == ["e.txt", "f/g.txt"]
    assert ids_and_texts("odd[1].txt") == [("odd[1].txt", "odd[1].txt")]
    assert open_corpus(["*"]).skipped == {"binary": 1}
    for pattern in ("*.jsonl", "nowhere/*", "*.png"):
        with pytest.raises(SourceError, match="matches no file"):
            open_corpus([pattern])


def test_several_sources_of_all_kinds_are_named_with_their_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_records(tmp_path / "a" / "docs.csv", [{"text": "1"}])
    write_records(tmp_path / "b" / "docs.parquet", [{"text": "2"}])
    write_records(tmp_path / "docs.jsonl", [{"text": "3"}])
    found = [name for name, _ in ids_and_texts("a", "b/docs.parquet", "./docs.jsonl")]
    assert found == ["a/docs.csv:1", "b/docs.parquet:1", "docs.jsonl:1"]


class TestNotes:
    def test_a_choice_is_said_once_for_a_thousand_shards(self, tmp_path):
        for place in range(40):
            kind = RECORD_KINDS[place % len(RECORD_KINDS)]
            write_records(tmp_path / f"{place}{kind}", [{"id": f"{place}", "text": "x"}])
        write_records(tmp_path / "z.jsonl", [{"id": "z", "body": "x"}])
        notes = [n for b in open_corpus([tmp_path]).batches(batch_bytes=1) for n in b.notes]
        assert len(notes) == 2
        assert "from 'text', the ids from 'id'" in notes[0]
        assert "z.jsonl: the text is taken from 'body'" in notes[1]

    def test_what_was_named_is_not_said(self, tmp_path):
        for kind in (".jsonl", ".csv", ".parquet"):
            path = write_records(tmp_path / f"a{kind}", [{"id": "1", "text": "x"}])
            (batch,) = open_corpus([path], text="text", id="id").batches()
            assert batch.notes == ()


class TestColumns:
    @pytest.mark.parametrize("kind", [".jsonl", ".parquet"])
    def test_a_dotted_name_reaches_into_records(self, tmp_path, kind):
        records = [
            {"id": 1, "meta": {"body": "one", "key": {"k": "x"}}},
            {"id": 2, "meta": {"body": "two", "key": {"k": "y"}}},
        ]
        path = write_records(tmp_path / f"a{kind}", records)
        assert ids_and_texts(path, text="meta.body", id="meta.key.k") == [
            ("x", "one"),
            ("y", "two"),
        ]

    @pytest.mark.parametrize("kind", [".jsonl", ".parquet"])
    def test_a_column_whose_name_has_a_dot_wins(self, tmp_path, kind):
        records = [{"id": 1, "meta.body": "outer", "meta": {"body": "inner"}}]
        path = write_records(tmp_path / f"a{kind}", records)
        assert ids_and_texts(path, text="meta.body") == [(1, "outer")]

    def test_a_row_whose_struct_is_null_has_no_text(self, tmp_path):
        records: list[dict[str, Any]] = [
            {"id": 1, "meta": {"body": "one"}},
            {"id": 2, "meta": None},
        ]
        path = write_records(tmp_path / "a.parquet", records)
        assert ids_and_texts(path, text="meta.body") == [(1, "one"), (2, None)]

    @pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet"])
    def test_columns_asked_for_are_given_and_null_where_missing(self, tmp_path, kind):
        records: list[dict[str, Any]] = [
            {"id": "a", "text": "x", "n": 1},
            {"id": "b", "text": "y", "n": None},
        ]
        path = write_records(tmp_path / f"a{kind}", records)
        (batch,) = open_corpus([path], columns=["n", "gone"]).batches()
        n = ["1", ""] if kind == ".csv" else [1, None]
        assert {name: c.to_pylist() for name, c in batch.columns.items()} == {
            "n": n,
            "gone": [None, None],
        }

    def test_a_column_keeps_its_numbers_where_some_records_lack_it(self, tmp_path):
        lines = ['{"text": "a", "n": 1}', '{"text": "b"}', '{"text": "c", "n": 2.5}']
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        corpus = open_corpus([tmp_path], columns=["n"])
        (batch,) = corpus.batches()
        assert batch.columns["n"].to_pylist() == [1, None, 2.5]
        singly = [b.columns["n"].to_pylist() for b in corpus.batches(batch_bytes=2)]
        assert singly == [[1], [None], [2.5]]

    @pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet"])
    def test_a_missing_column_is_refused_with_those_that_are_there(self, tmp_path, kind):
        path = write_records(tmp_path / f"a{kind}", [{"id": "a", "page": "x"}])
        cases: list[tuple[dict[str, Any], str]] = [
            ({"text": "body"}, r"there is no column 'body' for the text: there are 'id', 'page'"),
            ({}, r"no column is named text, content, body: .*there are 'id', 'page'"),
            (
                {"text": "page", "id": "key"},
                r"there is no column 'key' for the id: there are 'id', 'page'",
            ),
        ]
        for names, message in cases:
            with pytest.raises(SourceError, match=rf"a{kind}(:1)?: {message}"):
                list(open_corpus([path], **names).batches())


class TestTokens:
    @pytest.mark.parametrize("kind", [".jsonl", ".parquet"])
    @pytest.mark.parametrize("tokens", [["one", "", "é"], [7, -1, 2**40], []])
    def test_lists_of_strings_or_numbers_are_tokens(self, tmp_path, kind, tokens):
        first = ["x"] if tokens[:1] != [7] else [1]
        records: list[dict[str, Any]] = [{"id": 1, "text": first}]
        records += [{"id": 2, "text": tokens}, {"id": 3, "text": None}, {"id": 4, "text": tokens}]
        path = write_records(tmp_path / f"a{kind}", records)
        (batch,) = open_corpus([path]).batches()
        assert batch.texts.type == pa.large_list(pa.large_string())
        as_text = [str(token) for token in tokens]
        assert batch.texts.to_pylist()[1:] == [as_text, None, as_text]

    @pytest.mark.parametrize(
        "column",
        [
            pa.array([["a", "b"], ["c"]], pa.large_list(pa.large_string())),
            pa.array([["a", "b"], ["c"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
            pa.array([["x"], ["a", "b"], ["c"]], pa.list_(pa.string())).slice(1),
        ],
        ids=["large", "dictionary", "slice"],
    )
    def test_lists_of_any_make_are_read(self, tmp_path, column):
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        assert [text for _, text in ids_and_texts(tmp_path)] == [["a", "b"], ["c"]]

    def test_lists_of_a_fixed_size_are_read(self, tmp_path):
        column = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int16(), 2))
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        assert [text for _, text in ids_and_texts(tmp_path)] == [["1", "2"], None, ["3", "4"]]

    @pytest.mark.parametrize("wrong", ["[1.5]", "[true]", "[null]", "[[1]]", '"text"', "{}", "5"])
    def test_a_list_of_other_things_is_a_bad_record(self, tmp_path, wrong):
        (tmp_path / "a.jsonl").write_text(f'{{"text": [1]}}\n{{"text": {wrong}}}\n')
        with pytest.raises(SourceError, match=r"a\.jsonl:2: field 'text' is not a list of strings"):
            ids_and_texts(tmp_path)
        assert ids_and_texts(tmp_path, skip_bad=True) == [("a.jsonl:1", ["1"])]

    def test_texts_among_tokens_are_refused_wherever_one_begins(self, tmp_path):
        write_records(tmp_path / "a.jsonl", [{"text": None}, {"text": ["x"]}])
        write_records(tmp_path / "b.parquet", [{"text": ["x"]}])
        write_records(tmp_path / "c.csv", [{"text": "x"}])
        corpus = open_corpus([tmp_path])
        for start in (None, (1, 0, 0), (2, 0, 0)):
            with pytest.raises(
                SourceError, match=r"c\.csv holds texts where .*a\.jsonl holds list"
            ):
                list(corpus.batches(start))

    def test_a_shard_without_any_text_goes_with_texts_and_with_tokens(self, tmp_path):
        for name, value in (("a", None), ("b", ["x"])):
            write_records(tmp_path / f"{name}.jsonl", [{"id": name, "text": value}])
        (batch,) = open_corpus([tmp_path]).batches()
        assert batch.texts.to_pylist() == [None, ["x"]]
        write_records(tmp_path / "b.jsonl", [{"id": "b", "text": "x"}])
        (batch,) = open_corpus([tmp_path]).batches()
        assert batch.texts.to_pylist() == [None, "x"]

    def test_files_of_text_among_tokens_are_refused_whatever_the_threads(self, tmp_path):
        (tmp_path / "a.txt").write_text("x")
        write_records(tmp_path / "b.jsonl", [{"text": ["x"]}])
        (tmp_path / "c.txt").write_text("x")
        for threads in (1, 3):
            with pytest.raises(SourceError, match=r"b\.jsonl holds lists .*a\.txt holds texts"):
                list(open_corpus([tmp_path]).batches(threads=threads))
        (tmp_path / "a.txt").unlink()
        with pytest.raises(SourceError, match=r"c\.txt holds texts where .*b\.jsonl holds lists"):
            list(open_corpus([tmp_path]).batches())
        (batch,) = open_corpus([tmp_path], skip_bad=True).batches()
        assert (batch.ids.to_pylist(), len(batch.bad)) == (["b.jsonl:1"], 1)


class TestIds:
    @pytest.mark.parametrize(
        ("column", "expected"),
        [
            (pa.array([3, 1], pa.int8()), [3, 1]),
            (pa.array([3, 2**63], pa.uint64()), ["3", str(2**63)]),
            (pa.array([3, 4], pa.uint64()), [3, 4]),
            (pa.array([1.5, 2.0]), ["1.5", "2.0"]),
            (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"]),
            (pa.array(["b", "a"], pa.string_view()), ["b", "a"]),
            (pa.array(["b", "a"], pa.large_string()), ["b", "a"]),
        ],
        ids=lambda value: str(getattr(value, "type", "")),
    )
    def test_ids_of_any_type_are_numbers_or_text(self, tmp_path, column, expected):
        pq.write_table(pa.table({"id": column, "text": ["x", "y"]}), tmp_path / "a.parquet")
        (batch,) = open_corpus([tmp_path]).batches()
        assert batch.ids.to_pylist() == expected
        assert batch.ids.type in (pa.int64(), pa.string())

    def test_numbers_stay_numbers_where_all_of_a_batch_are(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "x"}\n{"id": 2, "text": "y"}\n')
        (tmp_path / "b.jsonl").write_text('{"id": "k", "text": "z"}\n')
        corpus = open_corpus([tmp_path])
        assert [b.ids.to_pylist() for b in corpus.batches(batch_bytes=1)] == [[1], [2], ["k"]]
        assert [b.ids.to_pylist() for b in corpus.batches()] == [["1", "2", "k"]]

    def test_two_documents_of_one_id_are_refused_by_both_places(self, tmp_path):
        write_records(tmp_path / "a.csv", [{"id": "1", "text": "x"}])
        write_records(tmp_path / "b.jsonl", [{"id": 2, "text": "x"}, {"id": 1, "text": "y"}])
        with pytest.raises(
            SourceError, match=r"'1' appears twice, at .*a\.csv:1 and at .*b\.jsonl:2"
        ):
            read_paths([tmp_path])


def may_take_in_lines(body):
    """Tell whether a quote of a table may lack its end, by what Python's reader makes of it."""
    *rows, last = csv.reader(io.StringIO(f"{body}\nlast", newline=""))
    try:
        list(csv.reader(io.StringIO(body, newline=""), strict=True))
    except csv.Error:
        return last != ["last"] or any("\n" in field for row in rows for field in row)
    return last != ["last"]


class TestSeparated:
    def rows(self, tmp_path, content, **names):
        path = tmp_path / "a.csv"
        path.write_bytes(content.encode())
        whole = ids_and_texts(path, **names)
        corpus = open_corpus([path], **names)
        assert [d[:2] for d in documents(corpus, batch_bytes=2)] == whole
        return whole

    def test_a_quote_within_a_field_is_a_letter(self, tmp_path):
        found = self.rows(tmp_path, 'id,text\n1,5" disk\n2,"a "" b\n, c"\n3,x"y"z\n4,"q"t"u\n5,\n')
        assert found == [
            *(("1", '5" disk'), ("2", 'a " b\n, c'), ("3", 'x"y"z'), ("4", 'qt"u'), ("5", ""))
        ]

    def test_ends_of_lines_within_quotes_are_kept(self, tmp_path):
        assert self.rows(tmp_path, 'id,text\r\n1,"a\r\nb"\r\n\r\n2,c\r\n') == [
            ("1", "a\r\nb"),
            ("2", "c"),
        ]

    def test_records_are_counted_with_blank_ones_and_without_the_header(self, tmp_path):
        (tmp_path / "a.csv").write_text('"text"\n"a\n\nb"\n\nc\n')
        assert ids_and_texts(tmp_path / "a.csv") == [("a.csv:1", "a\n\nb"), ("a.csv:3", "c")]

    @pytest.mark.long
    def test_quotes_of_random_files_are_read_as_by_the_standard_library(self, tmp_path):
        draw = random.Random(5)
        path = tmp_path / "a.csv"
        compared = 0
        for _ in range(300):
            body = "".join(draw.choices(['"', "a", ",", "\n", '""', "b"], k=draw.randrange(40)))
            if may_take_in_lines(body):
                continue
            compared += 1
            path.write_bytes(f"text,x\n{body}".encode())
            rows = list(csv.reader(io.StringIO(body, newline="")))
            expected = [
                (f"a.csv:{number}", row[0]) for number, row in enumerate(rows, 1) if len(row) == 2
            ]
            for size in (1, 7, 1000):
                corpus = open_corpus([path], skip_bad=True)
                found = [d[:2] for d in documents(corpus, batch_bytes=size)]
                assert found == expected, body
        assert compared > 100

    def test_good_records_are_read_by_arrow_and_not_one_by_one(self, tmp_path, monkeypatch):
        for kind in (".csv", ".tsv"):
            records = [{"id": f"{n}", "text": HARD[n % 6] + "x", "n": n} for n in range(30)]
            path = write_records(tmp_path / f"a{kind}", records)
            expected = documents(open_corpus([path]))
            with monkeypatch.context() as patch:
                patch.setattr(delimited, "from_rows", None)
                assert documents(open_corpus([path])) == expected
            with monkeypatch.context() as patch:
                patch.setattr(delimited, "_by_arrow", lambda *_: None)
                assert documents(open_corpus([path])) == expected

    @given(
        lines=st.lists(st.text(st.sampled_from('"",,\r\n ab\0é\ufeff'), max_size=12), max_size=6),
        end=st.sampled_from(["\n", "\r\n"]),
        header=st.sampled_from(["text", "id,text", "text,x", "text,x,x"]),
        columns=st.sampled_from([(), ("x",), ("x", "id"), None]),
    )
    @example(['\r"', "a"], "\n", "text", ())
    @example(["\ufeffa,b", "c,d"], "\n", "text,x", ())
    @example(["a,b", "", "c,d"], "\r\n", "text,x", ())
    def test_arrow_gives_what_the_standard_library_gives(
        self, tmp_path_factory, lines, end, header, columns
    ):
        path = tmp_path_factory.getbasetemp() / "arrow.csv"
        path.write_bytes(end.join([header, *lines]).encode())

        def outcome():
            corpus = open_corpus([path], skip_bad=True, columns=columns)
            return [
                [
                    *(b.ids.to_pylist(), b.texts.to_pylist(), b.records.tolist(), b.bad),
                    {name: column.to_pylist() for name, column in b.columns.items()},
                ]
                for b in corpus.batches()
            ]

        with pytest.MonkeyPatch.context() as patch:
            fast = outcome()
            patch.setattr(delimited, "_by_arrow", lambda *_: None)
            assert fast == outcome()

    def test_a_long_field_is_read_whole(self, tmp_path):
        assert self.rows(tmp_path, f'id,text\n1,"{"x" * 300_000}"\n')[0][1] == "x" * 300_000


class TestParquet:
    def test_only_the_columns_needed_are_read(self, tmp_path):
        table = pa.table({"id": [1], "text": ["x"], "rest": [b"\xff" * 10], "n": [2.5]})
        pq.write_table(table, tmp_path / "a.parquet")
        (batch,) = open_corpus([tmp_path / "a.parquet"], columns=["n"]).batches()
        assert list(batch.columns) == ["n"]
        assert sorted(read_paths([tmp_path]).columns) == ["id", "n", "rest"]

    @pytest.mark.parametrize(
        "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
    )
    def test_texts_of_any_make_are_read(self, tmp_path, kind):
        column = pa.array(["a", None, "a"]).cast(kind)
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        assert [text for _, text in ids_and_texts(tmp_path)] == ["a", None, "a"]

    def test_a_column_of_no_text_is_refused_by_its_type(self, tmp_path):
        pq.write_table(pa.table({"text": [1]}), tmp_path / "a.parquet")
        with pytest.raises(SourceError, match=r"a\.parquet: column 'text' holds int64, not text"):
            ids_and_texts(tmp_path)

    def test_two_columns_of_one_name_are_refused(self, tmp_path):
        twice = pa.table([["a"], ["b"]], names=["text", "text"])
        pq.write_table(twice, tmp_path / "a.parquet")
        with pytest.raises(SourceError, match=r"there are 2 columns 'text'"):
            ids_and_texts(tmp_path)

    def test_an_empty_file_holds_no_documents(self, tmp_path):
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
        assert ids_and_texts(tmp_path) == []


class TestStandardInput:
    def give(self, monkeypatch, data):
        class Input:
            buffer = io.BytesIO(data)

        monkeypatch.setattr(sys, "stdin", Input)

    def test_it_is_kept_in_the_spool_and_read_again(self, monkeypatch, tmp_path):
        data = as_lines(records_of(20))
        self.give(monkeypatch, data)
        corpus = open_corpus(["-"], spool=tmp_path)
        assert documents(corpus, batch_bytes=99) == documents(corpus)
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [data]
        identity = corpus.identity()
        self.give(monkeypatch, data)
        assert open_corpus(["-"], spool=tmp_path).identity() == identity
        self.give(monkeypatch, data.replace(b"k0", b"k9", 1))
        assert open_corpus(["-"], spool=tmp_path).identity() != identity

    def test_a_temporary_file_goes_with_the_corpus(self, monkeypatch, tmp_path):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        self.give(monkeypatch, as_lines(records_of(20)))
        corpus = open_corpus(["-"])
        assert len(documents(corpus)) == 20
        assert len(list(tmp_path.iterdir())) == 1
        del corpus
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_left_where_it_breaks(self, monkeypatch, tmp_path):
        class Broken:
            class buffer:  # noqa: N801
                @staticmethod
                def read1(_):
                    raise IsADirectoryError(21, "Is a directory")

        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr(sys, "stdin", Broken)
        with pytest.raises(SourceError, match="standard input cannot be read: Is a directory"):
            open_corpus(["-"])
        assert list(tmp_path.iterdir()) == []

    def test_it_can_be_named_once(self, monkeypatch):
        with pytest.raises(SourceError, match="named twice"):
            open_corpus(["-", "-"])
