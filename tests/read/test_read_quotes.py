"""Quotes of CSV and TSV files: one that lacks its end takes in no lines in silence."""

import numpy as np
import pytest

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, streams
from source_files import PACKINGS, bad_of, documents, ids_and_texts, pack

KINDS = [(".csv", ","), (".tsv", "\t")]
ENDS = ["\n", "\r\n"]
CODES = ["utf-8", "utf-16-le"]


def table(path, lines, *, delimiter=",", end="\n", code="utf-8", packing=""):
    """Write a table whose lines are written with commas."""
    text = "".join(f"{line.replace(',', delimiter)}{end}" for line in lines)
    mark = "" if code == "utf-8" else "\ufeff"
    path = path.with_name(path.name + packing)
    path.write_bytes(pack(f"{mark}{text}".encode(code), path.name))
    return path


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path]).batches(**options))
    message = str(refused.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("end", ENDS, ids=["lf", "crlf"])
@pytest.mark.parametrize(("kind", "delimiter"), KINDS)
def test_a_quote_that_is_never_closed_is_refused_by_the_line_where_it_opens(
    tmp_path, kind, delimiter, end, code, packing
):
    lines = ["id,text", '1,"two', 'lines"', '2,"never', *(f"{n},x" for n in range(3, 40))]
    path = table(
        tmp_path / f"a{kind}", lines, delimiter=delimiter, end=end, code=code, packing=packing
    )
    expected = (
        f"{path}:2 opens a quote in line 4 that is never closed: close it, or write it twice "
        '("") where it belongs to the text'
    )
    for size in (1, 16, 64, 1 << 20):
        for threads in (1, 3):
            assert refusal(path, batch_bytes=size, threads=threads) == expected
            corpus = open_corpus([path], skip_bad=True)
            found = documents(corpus, batch_bytes=size, threads=threads)
            assert [d[:2] for d in found] == [
                ("1", f"two{end}lines"),
                *((f"{n}", "x") for n in range(3, 40)),
            ]
            assert [place.rpartition(":")[2] for *_, place in found[:2]] == ["1", "3"]
    assert bad_of(open_corpus([path], skip_bad=True)) == [expected]


@pytest.mark.parametrize("last", ['2,"', '2,"x""', '2,"x"",', '"2', '2,"x\n'])
def test_a_quote_may_lack_its_end_anywhere(tmp_path, last):
    path = tmp_path / "a.csv"
    path.write_text(f"id,text\n1,x\n{last}")
    assert f"{path}:2 opens a quote in line 3 that is never closed" in refusal(path)
    assert ids_and_texts(path, skip_bad=True) == [("1", "x")]


def test_the_header_may_have_a_quote_without_an_end_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,"text\n1,x\n')
    assert "opens a quote in line 1 that is never closed" in refusal(path)
    (line,) = bad_of(open_corpus([path], skip_bad=True))
    assert "opens a quote in line 1 that is never closed" in line


def test_all_quotes_that_took_in_lines_are_named_and_the_file_is_gone_through_once(
    tmp_path, monkeypatch
):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + '1,"a\n2,"b\n' * 2000 + '3,"c\n4,d\n')
    opened = []
    start = streams.Stream.__init__

    def counted(stream, shard):
        opened.append(shard)
        start(stream, shard)

    monkeypatch.setattr(streams.Stream, "__init__", counted)
    (batch,) = open_corpus([path], skip_bad=True).batches()
    assert batch.ids.to_pylist() == ["4"]
    assert len(batch.bad) == 2001
    assert (
        ":2000 opens a quote in line 4,000 that closes within a field in line 4,001"
        in (batch.bad[-2])
    )
    assert ":2001 opens a quote in line 4,002 that is never closed" in batch.bad[-1]
    assert len(opened) < 10


@pytest.mark.parametrize("size", [1, 16, 1 << 20])
def test_a_quote_that_ends_at_the_next_ones_start_is_refused_by_both_lines(tmp_path, size):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,x\n2,"never\n3,y\n4,"z"\n5,w\n6,"two\nlines"\n')
    expected = (
        f"{path}:2 opens a quote in line 3 that closes within a field in line 5: close it before, "
        'or write it twice ("") where it belongs to the text'
    )
    assert refusal(path, batch_bytes=size) == expected
    corpus = open_corpus([path], skip_bad=True)
    found = documents(corpus, batch_bytes=size)
    assert [d[:2] for d in found] == [("1", "x"), ("5", "w"), ("6", "two\nlines")]
    assert bad_of(corpus) == [expected]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("end", ENDS, ids=["lf", "crlf"])
def test_fields_of_several_lines_are_read_as_before(tmp_path, end, packing):
    texts = ["a\nb", "\n", 'say ""x""\n""y""', "a,b\n,c", "é\n" * 30, '""', "plain"]
    lines = ["id,text", *(f'{n},"{text}"' for n, text in enumerate(texts))]
    path = tmp_path / f"a.csv{packing}"
    path.write_bytes(pack(end.join(lines).encode(), path.name))
    expected = [(f"{n}", text.replace('""', '"')) for n, text in enumerate(texts)]
    for size in (1, 16, 1 << 20):
        corpus = open_corpus([path])
        assert [d[:2] for d in documents(corpus, batch_bytes=size, threads=3)] == expected


def test_a_closing_quote_may_be_followed_by_blanks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"a\nb" \n2,"a"b\n')
    assert ids_and_texts(path) == [("1", "a\nb "), ("2", "ab")]


def test_reading_goes_on_after_a_quote_without_an_end(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"a\nb"\n2,"never\n3,y\n4,z\n')
    corpus = open_corpus([path], skip_bad=True)
    whole = [d[0] for d in documents(corpus)]
    assert whole == ["1", "3", "4"]
    done = 0
    for batch in corpus.batches(batch_bytes=4):
        done += len(batch)
        assert [d[0] for d in documents(corpus, batch.next, batch_bytes=4)] == whole[done:]


def test_what_is_kept_of_such_a_file_is_what_was_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"a\nb"\n2,"never\n3,y\n4,z\n')
    corpus = open_corpus([path], skip_bad=True)
    corpus.copy(0, np.array([1, 4]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 'id,text\n1,"a\nb"\n4,z\n'


def test_a_quote_without_an_end_in_a_large_file_is_named_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "RECORD_LIMIT_BYTES", 1 << 16)
    path = tmp_path / "a.csv"
    path.write_text('text,n\n"two\nlines",1\n"never,2\n' + "more,3\n" * 30_000)
    message = refusal(path)
    assert f"{path}:2 is longer than" in message
    assert "the quote that opens in line 4 may lack its end, and nothing after it" in message
    assert bad_of(open_corpus([path], skip_bad=True)) == [message]
