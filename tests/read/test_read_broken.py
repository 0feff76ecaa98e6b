"""Broken sources: one line that says what and where, or skipped and named."""

import gzip
import os
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import lookalike
from lookalike.base.errors import OutputError, SourceError
from lookalike.read import open_corpus, read_paths, streams
from lookalike.read.chosen_files import ChosenFiles
from source_files import PACKINGS, as_lines, bad_of, documents, ids_and_texts, pack, write_records

GOOD = [{"id": f"{n}", "text": f"text {n} " * 20} for n in range(200)]


def refusal(*paths, **names):
    """Give the message by which sources are refused."""
    with pytest.raises(SourceError) as refused:
        list(open_corpus(list(paths), **names).batches(batch_bytes=1000))
    message = str(refused.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("packing", PACKINGS[1:])
@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_a_packed_file_that_breaks_off_is_refused_by_name(tmp_path, kind, packing):
    path = write_records(tmp_path / f"a{kind}{packing}", GOOD)
    data = path.read_bytes()
    for broken in (data[:-3], data[: len(data) // 2], b"nothing packed", data + b"more"):
        path.write_bytes(broken)
        assert f"a{kind}{packing} is not whole" in refusal(path)
    path.write_bytes(data[: len(data) // 2])
    (tmp_path / "b.txt").write_text("b")
    corpus = open_corpus([tmp_path], skip_bad=True)
    (line,) = bad_of(corpus)
    assert f"a{kind}{packing} is not whole" in line
    assert documents(corpus)[-1][0] == "b.txt"


def test_a_damaged_gzip_file_is_refused(tmp_path):
    data = bytearray(gzip.compress(as_lines(GOOD)))
    data[-8] ^= 1
    (tmp_path / "a.jsonl.gz").write_bytes(data)
    assert "a.jsonl.gz is not whole" in refusal(tmp_path)


@pytest.mark.parametrize("keep", [slice(0, 0), slice(0, 50), slice(50, None), slice(0, -9)])
def test_a_broken_parquet_file_is_refused_by_name(tmp_path, keep):
    path = write_records(tmp_path / "a.parquet", GOOD)
    path.write_bytes(path.read_bytes()[keep])
    assert "a.parquet is not a whole Parquet file" in refusal(path)
    assert len(bad_of(open_corpus([path], skip_bad=True))) == 1


def test_damage_within_a_parquet_file_is_refused_or_passed_over_from_there(tmp_path):
    table = pa.Table.from_pylist(GOOD)
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=50, compression="gzip", use_dictionary=False)
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    end = chunk.data_page_offset + chunk.total_compressed_size
    data[end - 60 : end - 40] = bytes(20)
    path.write_bytes(data)
    assert "a.parquet is not a whole Parquet file" in refusal(path)
    corpus = open_corpus([path], skip_bad=True)
    assert len(documents(corpus)) == 50
    assert len(bad_of(corpus)) == 1


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_bad_line_is_refused_with_its_number_or_passed_over(tmp_path, packing):
    lines = as_lines(GOOD).split(b"\n")
    lines[2] = b'{"id": "2", "text": oops}'
    lines[150] = b'{"id": "150", "text": "\xff"}'
    path = tmp_path / f"a.jsonl{packing}"
    path.write_bytes(pack(b"\n".join(lines), packing))
    expected = (
        f"{path}:3 is not valid JSON at column 21: a value is missing; fix or remove the line"
    )
    assert refusal(path) == expected
    corpus = open_corpus([path], skip_bad=True)
    assert len(documents(corpus)) == 198
    first, second = bad_of(corpus)
    assert first == expected
    assert f"{path}:151 is not UTF-8 text at byte 24" in second


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("only", "has 1 field where the header has 2"),
        ("a,b,c", "has 3 fields where the header has 2"),
        (",x", "the id in 'id' is empty"),
        ("a\rb,x", "is not a valid record"),
        (b"a,\xff", "is not UTF-8 text at byte 3"),
    ],
)
def test_a_bad_record_of_a_table_is_refused_with_its_number_or_passed_over(
    tmp_path, record, message
):
    record = record if isinstance(record, bytes) else record.encode()
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"x\ny"\n' + record + b"\n3,z\n")
    assert f"{path}:2" in refusal(path)
    assert message in refusal(path)
    assert ids_and_texts(path, skip_bad=True) == [("1", "x\ny"), ("3", "z")]
    (line,) = bad_of(open_corpus([path], skip_bad=True))
    assert f"{path}:2" in line


def test_a_broken_header_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,te\xffxt\n1,x\n")
    assert "the header of" in refusal(tmp_path)
    (tmp_path / "a.csv").write_bytes(b"text,text\n1,x\n")
    assert "there are 2 columns 'text'" in refusal(tmp_path)


@pytest.mark.parametrize("ids", [["a", None, "c"], [1.5, float("nan"), 2.5], [1, None, 3]])
def test_a_row_without_an_id_is_refused_or_passed_over(tmp_path, ids):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ids, "text": ["x", "y", "z"]}), path)
    assert f"{path}:2: the id in 'id' is missing" in refusal(path)
    assert [text for _, text in ids_and_texts(path, skip_bad=True)] == ["x", "z"]
    assert len(bad_of(open_corpus([path], skip_bad=True))) == 1


def test_a_row_that_is_no_text_is_refused_or_passed_over(tmp_path):
    raw = pa.array([b"fine", b"\xff", None], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": texts}), path)
    assert f"{path}:2: the text in 'text' is not valid UTF-8" in refusal(path)
    assert [text for _, text in ids_and_texts(path, skip_bad=True)] == ["fine", None]
    pq.write_table(pa.table({"text": [["a"], ["b", None], None]}), path)
    assert f"{path}:2: a token in 'text' is missing, or not valid UTF-8; fix" in refusal(path)
    assert [text for _, text in ids_and_texts(path, skip_bad=True)] == [["a"], None]


def test_encodings_that_are_not_read_are_named(tmp_path):
    (tmp_path / "a.jsonl").write_bytes("\ufeffx".encode("utf-32-le"))
    assert "a.jsonl is UTF-32 text" in refusal(tmp_path)
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "a.txt").write_bytes(b"abc\xe9")
    assert "a.txt is not UTF-8 text at byte 4" in refusal(tmp_path, strict_encoding=True)
    (tmp_path / "a.txt").write_bytes(b"\xff\xfea\x00b")
    assert "a.txt is not UTF-16 text at byte 5" in refusal(tmp_path)
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.jsonl").write_bytes(
        b"\xff\xfe" + '{"text": "x"}\n'.encode("utf-16-le") + b"\0\xd8"
    )
    assert "a.jsonl:2 is not UTF-16 text at byte 1" in refusal(tmp_path)


class TestGiants:
    @pytest.fixture(autouse=True)
    def low_limit(self, monkeypatch):
        monkeypatch.setattr(streams, "RECORD_LIMIT_BYTES", 1 << 20)

    @pytest.mark.parametrize("packing", PACKINGS)
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
    def test_a_line_above_the_limit_is_refused_before_it_is_read(self, tmp_path, packing, encoding):
        mark = "" if encoding == "utf-8" else "\ufeff"
        line = '{"text": "%s"}\n'
        lines = [
            mark,
            line % "a",
            line % ("x" * (5 << 20)),
            line % "b",
            line % ("y" * 9),
            line % "c",
        ]
        path = tmp_path / f"a.jsonl{packing}"
        path.write_bytes(pack("".join(lines).encode(encoding), packing))
        assert f"{path}:2 is longer than 1 MB, the most that one document may be" in refusal(path)
        for size in (64, 1 << 16, 8 << 20):
            corpus = open_corpus([path], skip_bad=True)
            batches = list(corpus.batches(batch_bytes=size))
            found = [text for batch in batches for text in batch.texts.to_pylist()]
            assert found == ["a", "b", "y" * 9, "c"]
            assert [n for batch in batches for n in batch.records.tolist()] == [1, 3, 4, 5]
            assert len([line for batch in batches for line in batch.bad]) == 1
            for batch in batches:
                left = len(documents(corpus, batch.next, batch_bytes=size))
                assert left == sum(len(b) for b in batches[batches.index(batch) + 1 :])

    def test_a_first_line_above_the_limit_is_passed_over(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "%s"}\n{"id": 1, "body": "b"}\n' % ("x" * (3 << 20)))
        assert ids_and_texts(path, skip_bad=True) == [(1, "b")]

    def test_no_more_is_read_than_the_limit(self, tmp_path, monkeypatch):
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"text": "a"}\n{"text": "' + b"x" * (20 << 20))
        most = []
        read = streams.Stream.read

        def counted(stream, size):
            piece = read(stream, size)
            most.append(stream.place)
            return piece

        monkeypatch.setattr(streams.Stream, "read", counted)
        assert "a.jsonl:2 is longer" in refusal(path)
        assert max(most) < 3 << 20

    def test_a_quote_that_nobody_closes_is_refused_at_the_limit(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text('text,n\nfine,1\n"never,2\n' + "more,3\n" * 300_000)
        assert "a.csv:2 is longer than 1 MB" in refusal(path)
        assert ids_and_texts(path, skip_bad=True) == [("a.csv:1", "fine")]

    def test_a_row_above_the_limit_is_refused(self, tmp_path):
        write_records(tmp_path / "a.parquet", [{"text": "a"}, {"text": "x" * (2 << 20)}])
        assert "a.parquet:2: the text in 'text' is longer than 1 MB" in refusal(tmp_path)
        assert ids_and_texts(tmp_path, skip_bad=True) == [("a.parquet:1", "a")]

    def test_a_text_file_above_the_limit_is_refused(self, tmp_path):
        (tmp_path / "a.txt").write_text("x" * (2 << 20))
        assert "a.txt is longer than 1 MB" in refusal(tmp_path)
        assert len(bad_of(open_corpus([tmp_path], skip_bad=True))) == 1


class TestChanges:
    @pytest.mark.parametrize("name", ["b.txt", "b.jsonl", "b.csv.gz", "b.parquet"])
    def test_a_file_that_vanishes_is_refused_by_name(self, tmp_path, name):
        write_records(tmp_path / "a.jsonl", GOOD)
        path = tmp_path / name
        path.write_text("text") if name == "b.txt" else write_records(path, GOOD)
        for skip_bad in (False, True):
            corpus = open_corpus([tmp_path], text="text", id="id", skip_bad=skip_bad)
            held = path.read_bytes()
            path.unlink()
            if skip_bad:
                (line,) = bad_of(corpus)
                assert f"{path} cannot be read: it does not exist, or no longer" in line
            else:
                with pytest.raises(SourceError, match=rf"{name} cannot be read: it does not exist"):
                    list(corpus.batches())
            path.write_bytes(held)

    @pytest.mark.parametrize("name", ["b.txt", "b.jsonl", "b.csv.gz", "b.parquet"])
    def test_a_file_that_changed_is_refused_by_name(self, tmp_path, name):
        path = tmp_path / name
        path.write_text("text") if name == "b.txt" else write_records(path, GOOD)
        corpus = open_corpus([tmp_path])
        os.utime(path, ns=(5, 5))
        with pytest.raises(SourceError, match=rf"{name} has changed since it was listed"):
            list(corpus.batches())

    @pytest.mark.parametrize("name", ["b.jsonl", "b.csv.gz", "b.parquet"])
    def test_a_file_that_changes_while_it_is_read_is_refused(self, tmp_path, name):
        path = write_records(tmp_path / name, GOOD)
        corpus = open_corpus([tmp_path])
        batches = corpus.batches(batch_bytes=1000)
        next(batches)
        os.utime(path, ns=(5, 5))
        with pytest.raises(SourceError, match=rf"{name} has changed since it was listed"):
            list(batches)

    def test_a_text_that_changes_under_the_reader_is_refused(self, tmp_path, monkeypatch):
        path = tmp_path / "a.txt"
        path.write_text("before")
        corpus = open_corpus([path])
        check = streams.Stream.check

        def check_and_change(stream):
            check(stream)
            path.write_text("after it")

        monkeypatch.setattr(streams.Stream, "check", check_and_change)
        with pytest.raises(SourceError, match=r"a\.txt has changed since it was listed"):
            list(corpus.batches())


class TestFolders:
    def test_a_link_to_itself_is_refused_or_passed_over(self, tmp_path):
        (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
        (tmp_path / "a.txt").write_text("a")
        assert "loop.jsonl cannot be read: Too many levels" in refusal(tmp_path)
        corpus = open_corpus([tmp_path], skip_bad=True)
        assert [d[0] for d in documents(corpus)] == ["a.txt"]
        (line,) = bad_of(corpus)
        assert "loop.jsonl cannot be read" in line

    def test_folders_that_hold_each_other_by_links_end(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "x.txt").write_text("x")
        (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
        assert [name for name, _ in ids_and_texts(tmp_path)] == ["a/x.txt"]
        assert open_corpus([tmp_path]).skipped == {"link to a folder": 1}

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
    )
    def test_what_may_not_be_read_is_refused_or_passed_over(self, tmp_path):
        (tmp_path / "shut").mkdir()
        (tmp_path / "shut" / "a.txt").write_text("a")
        (tmp_path / "b.txt").write_text("b")
        (tmp_path / "b.txt").chmod(0)
        (tmp_path / "shut").chmod(0)
        try:
            assert "cannot be read: Permission denied" in refusal(tmp_path)
            lines = bad_of(open_corpus([tmp_path], skip_bad=True))
            assert len(lines) == 2
            assert all("cannot be read: Permission denied" in line for line in lines)
        finally:
            (tmp_path / "shut").chmod(0o700)

    def test_a_name_that_is_not_unicode_is_passed_over_and_named(self, tmp_path):
        try:
            (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
        except OSError:
            pytest.skip("this file system takes Unicode names only")
        (line,) = bad_of(open_corpus([tmp_path], skip_bad=True))
        assert r"caf\xe9.txt is not UTF-8: rename the file" in line

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
    def test_a_named_pipe_that_was_named_is_refused(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.jsonl")
        assert "pipe.jsonl is not a file" in refusal(tmp_path / "pipe.jsonl")


def test_errors_come_in_the_order_of_the_documents_whatever_the_threads(tmp_path):
    lines = as_lines(GOOD * 5).split(b"\n")
    lines[30] = b"oops"
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines))[:-4])
    for threads in (1, 2, 4):
        with pytest.raises(SourceError, match=r"a\.jsonl\.gz:31 is not valid JSON"):
            list(open_corpus([tmp_path]).batches(threads=threads, batch_bytes=200))


def test_standard_input_that_cannot_be_kept_is_an_error_of_output(tmp_path, monkeypatch):
    class Input:
        buffer = open(os.devnull, "rb")  # noqa: SIM115, PTH123

    monkeypatch.setattr(sys, "stdin", Input)
    with pytest.raises(OutputError, match="standard input cannot be kept on disk"):
        open_corpus(["-"], spool=tmp_path / "nowhere")
    Input.buffer.close()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    small, large = (tmp_path / f"{name}.{kind}" for name in ("small", "large"))
    for path, many in ((small, 2_000), (large, 40_000)):
        texts = [f"{n} {'word ' * 400}" for n in range(many)]
        if kind == "parquet":
            table = pa.table({"text": texts})
            pq.write_table(table, path, compression="none", row_group_size=40_000)
        else:
            path.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    assert peak(large) - peak(small) < 40 << 10


def peak(path):
    """Give the most memory, in KB, that a process takes to read a file."""
    pytest.importorskip("resource")
    code = (
        "import resource, sys; from lookalike.read import open_corpus\n"
        "for batch in open_corpus([sys.argv[1]]).batches(batch_bytes=1 << 20): pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return int(done.stdout) // (1 if sys.platform != "darwin" else 1024)


def test_a_record_without_the_column_named_is_bad_and_others_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2, "page": "x"}\n')
    assert "a.jsonl:1: there is no column 'page'" in refusal(tmp_path, text="page")
    assert ids_and_texts(tmp_path, text="page", skip_bad=True) == [(2, "x")]


def test_small_reads_refuse_what_batches_refuse(tmp_path):
    write_records(tmp_path / "a.jsonl", [{"id": None, "text": "x"}])
    with pytest.raises(SourceError, match=r"a\.jsonl:1: the id in 'id' is not"):
        read_paths([tmp_path])


def test_what_another_library_says_is_put_in_plain_words(tmp_path):
    for name, data in (("a.zip", b"PK\3\4 no more"), ("a.parquet", b"PAR1" + bytes(99))):
        (tmp_path / name).write_bytes(data)
        assert "the list of what it holds, at its end, is missing; make " in refusal(
            tmp_path / name
        )
    path = tmp_path / "a.jsonl"
    for line, problem in (
        ('{"text": "a', "at column 10: a string begins there that does not end; fix"),
        ('{"text": "a"} x', "at column 15: something follows after its end; fix"),
        ('{"text": "a\\q"}', "at column 12: invalid \\escape; fix"),
        ('{"text"}', "at column 8: a colon is missing; fix"),
    ):
        path.write_text(line)
        assert problem in refusal(path)


def test_a_table_whose_first_line_may_be_no_header_is_told_how_to_say_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,some words\n2,others\n")
    assert "where these are a record and no header, give no_header=" in refusal(path)
    assert "no_header" not in refusal(path, no_header=True)


class TestOwnResults:
    def test_a_result_is_no_source(self, tmp_path):
        texts = ["some words of a text", "and other words"]
        lookalike.find(texts, out=tmp_path / "found").close()
        found = refusal(tmp_path / "found")
        assert "holds a result of lookalike find, not documents: give the documents" in found
        lookalike.dedup(texts, out=tmp_path / "clean").close()
        kept = tmp_path / "clean" / "kept"
        assert f"not documents: give {kept} for the kept documents" in refusal(tmp_path / "clean")
        assert len(ids_and_texts(kept)) == 2

    def test_one_among_other_folders_is_skipped_as_a_whole_and_named(self, tmp_path, monkeypatch):
        texts = ["some words of a text", "and other words"]
        mix = tmp_path / "mix"
        (mix / "deep").mkdir(parents=True)
        (mix / "a.txt").write_text(texts[0])
        lookalike.dedup(texts, out=mix / "deep" / "out").close()
        (mix / "deep" / "out" / "b.txt").write_text(texts[1])
        (mix / "other").mkdir()
        (mix / "other" / "run.json").write_text('{"text": "a run of another kind"}')
        for all_files in (False, True):
            corpus = open_corpus([mix], chosen=ChosenFiles(all_files=all_files))
            assert [text for _, text, _ in documents(corpus)] == [texts[0], "a run of another kind"]
            assert [*corpus.unread] == [(f"{mix}/deep/out", "result of Lookalike", 1, "")]
        monkeypatch.chdir(mix)
        assert [*open_corpus(["."]).unread] == [("deep/out", "result of Lookalike", 1, "")]
        # What is in it is read where it is named.
        assert len(ids_and_texts(mix / "deep" / "out" / "kept")) == 2
        assert len(ids_and_texts(f"{mix}/deep/out/*.txt")) == 1

    def test_one_that_a_pattern_matches_is_skipped_too(self, tmp_path):
        lookalike.dedup(["some words of a text"], out=tmp_path / "out").close()
        (tmp_path / "a.txt").write_text("other words")
        corpus = open_corpus([f"{tmp_path}/*"])
        assert [text for _, text, _ in documents(corpus)] == ["other words"]
        assert [*corpus.unread] == [(f"{tmp_path}/out", "result of Lookalike", 1, "")]
        assert "of 1 matched, 1 result of Lookalike" in refusal(f"{tmp_path}/o*")

    @pytest.mark.parametrize("record", ["{}", "[]", "no", '{"command": "make"}', "9" * 9999])
    def test_a_folder_with_such_a_file_of_its_own_is_one(self, tmp_path, record):
        (tmp_path / "run.json").write_text(record)
        (tmp_path / "a.txt").write_text("a text")
        assert ("a.txt", "a text") in ids_and_texts(tmp_path)


def test_a_broken_table_in_a_folder_says_how_the_others_are_read(tmp_path):
    path = write_records(tmp_path / "x" / "a.parquet", GOOD[:9])
    write_records(tmp_path / "x" / "b.jsonl", GOOD[9:20])
    path.write_bytes(path.read_bytes()[:-9])
    assert refusal(tmp_path / "x").endswith("; skip_bad= reads the others without it")
    assert "skip_bad" not in refusal(path)
