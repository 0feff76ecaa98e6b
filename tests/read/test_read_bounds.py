"""What is read is bounded before it grows: by what files tell of themselves, and by the memory."""

import io
import re
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from test_read_single_files import pdf_of  # type: ignore[import-not-found]

from lookalike.base.errors import SourceError
from lookalike.base.memory import MIN_BYTES
from lookalike.base.wording import Message
from lookalike.read import delimited, open_corpus, read_text, streams, zip_parts
from lookalike.read.content import HEAD_BYTES
from lookalike.read.parquet_pages import unpacked_sizes
from lookalike.read.streams import Bounds
from source_files import PACKINGS, bad_of, ids_and_texts, pack

docx = pytest.importorskip("docx")

MEMORY = MIN_BYTES
RECORD = Bounds(MEMORY).record


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], memory=MEMORY, **options).batches())
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_the_bound_of_a_record_follows_the_memory():
    assert Bounds(None).record == streams.RECORD_LIMIT_BYTES
    assert Bounds(1).record == streams.MIN_RECORD_BYTES
    assert Bounds(MEMORY).record == MEMORY // streams.MEMORY_PER_BYTE
    assert Bounds(1 << 50).record == streams.RECORD_LIMIT_BYTES


@pytest.fixture
def read_bytes(monkeypatch):
    """Give how far any stream was unpacked."""
    most = [0]
    read = streams.Stream.read

    def counted(stream, size):
        piece = read(stream, size)
        most[0] = max(most[0], stream.place)
        return piece

    monkeypatch.setattr(streams.Stream, "read", counted)
    return most


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(
    "line", ['{"text": "%s"}' % ("x" * 3 * RECORD), '{"text": "x", "y": [%s0]}' % ("0," * RECORD)]
)
def test_a_line_that_would_not_fit_is_refused_before_it_is_read(
    tmp_path, read_bytes, line, packing
):
    path = tmp_path / f"a.jsonl{packing}"
    path.write_bytes(pack(f'{{"text": "a"}}\n{line}\n{{"text": "b"}}\n'.encode(), path.name))
    message = refusal(path)
    assert (
        f"{path}:2 is longer than {RECORD >> 20} MB, the most that one document may be" in message
    )
    assert "with 500.0 MB of memory: raise memory=, split it or leave it out" in message
    assert read_bytes[0] < 2 * RECORD
    texts = [text for _, text in ids_and_texts(path, skip_bad=True, memory=MEMORY)]
    assert texts == ["a", "b"]


def test_a_record_of_a_table_that_would_not_fit_is_refused_before_it_is_read(tmp_path, read_bytes):
    path = tmp_path / "a.csv"
    path.write_text("text,n\na,1\n" + "," * 3 * RECORD + "\n")
    assert f"{path}:2 is longer than" in refusal(path)
    assert read_bytes[0] < 2 * RECORD


def test_a_text_file_that_would_not_fit_is_refused_before_it_is_read(tmp_path, read_bytes):
    for name in ("a.txt", "a.html"):
        path = tmp_path / name
        path.write_bytes(b"x" * (RECORD + 1))
        assert f"{path} is longer than" in refusal(path)
    assert read_bytes[0] <= 2 * HEAD_BYTES


@pytest.mark.parametrize(("kind", "delimiter"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_a_header_of_too_many_columns_is_refused_before_it_is_parsed(
    tmp_path, monkeypatch, kind, delimiter, code
):
    path = tmp_path / f"a{kind}"
    path.write_text(delimiter.join(["text", *"x" * 100]) + "\n", encoding=code, newline="")
    monkeypatch.setattr(delimited, "MAX_COLUMNS", 100)
    monkeypatch.setattr(delimited, "_rows", None)
    expected = f"the header of {path} has more than 100 columns, the most that a table may have"
    assert expected in refusal(path)
    assert expected in bad_of(open_corpus([path], skip_bad=True))[0]


def test_only_the_columns_asked_for_are_made_of_a_wide_table(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    names = ["text", *(f"c{n}" for n in range(1000)), "id"]
    path.write_text(",".join(names) + "\n" + ",".join(["a", *"1" * 1000, "k"]) + "\n")
    made = []
    table = delimited._table

    def counted(*given):
        found = table(*given)
        assert found is not None
        made.append(found.num_columns)
        return found

    monkeypatch.setattr(delimited, "_table", counted)
    (batch,) = open_corpus([path], columns=["c7"]).batches()
    assert (batch.ids.to_pylist(), batch.columns["c7"].to_pylist()) == (["k"], ["1"])
    assert made == [3]


def docx_of(path, part, content):
    """Write a document one part of which holds something else."""
    plain = io.BytesIO()
    docx.Document().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            if name != part:
                out.writestr(name, source.read(name))
        out.writestr(part, content)
    return path


@pytest.mark.parametrize(
    ("part", "content", "what"),
    [
        ("word/document.xml", b" " * (RECORD + 1), "markup"),
        ("word/styles.xml", b" " * (RECORD + 1), "markup"),
        ("word/media/image1.png", b"\0" * (Bounds(MEMORY).part + 1), "pictures and the like"),
    ],
    ids=["text", "styles", "pictures"],
)
def test_a_docx_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch, part, content, what
):
    path = docx_of(tmp_path / "a.docx", part, content)
    assert path.stat().st_size < RECORD
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    message = refusal(path)
    assert message.startswith(f"{path} unpacks to ")
    assert f" of {what}, more than the " in message
    assert message.endswith("raise memory=, or leave it out")
    assert [*map(Message, bad_of(open_corpus([path], skip_bad=True, memory=MEMORY)))] == [message]


@pytest.mark.parametrize("place", ["everywhere", "in the directory"])
def test_a_docx_that_unpacks_to_more_than_it_tells_is_refused_before_it_is(tmp_path, place):
    size = 30_000_000
    path = docx_of(tmp_path / "a.docx", "word/document.xml", b"x" * size)
    data = path.read_bytes()
    true, told = size.to_bytes(4, "little"), (50).to_bytes(4, "little")
    assert data.count(true) == 2
    last = data.rindex(true)
    lie = data[:last] + told + data[last + 4 :]
    path.write_bytes(data.replace(true, told) if place == "everywhere" else lie)
    tracemalloc.start()
    assert "a.docx is a DOCX file that cannot be read" in refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 4


def test_a_docx_of_very_many_parts_is_refused_before_they_are_listed(tmp_path, monkeypatch):
    path = docx_of(tmp_path / "a.docx", "word/more.xml", b"x")
    monkeypatch.setattr(zip_parts, "DIRECTORY_LIMIT_BYTES", 100)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "a.docx lists too many parts" in refusal(path)


def test_a_cell_that_spans_more_columns_than_there_can_be_is_refused(tmp_path):
    document = docx.Document()
    document.add_table(1, 1).cell(0, 0)._tc.grid_span = 200_000_000
    document.save(tmp_path / "a.docx")
    assert "(a row of a table is 200,000,000 cells wide): fix it" in refusal(tmp_path / "a.docx")


def test_a_pdf_that_shows_one_page_again_and_again_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of(*["Some words"] * 30))
    assert len(read_text(path)) > 300
    monkeypatch.setattr(streams, "MIN_RECORD_BYTES", 100)
    with pytest.raises(SourceError, match=r"the text of .*a\.pdf is longer than"):
        list(open_corpus([path], memory=100).batches())


@pytest.mark.long
def test_what_a_pdf_unpacks_to_is_bounded(tmp_path):
    content = zlib.compress(b"BT (" + b"x" * 100_000_000 + b") Tj ET", 9)
    shown = b"5 0 obj\n<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(content)
    plain = pdf_of("short")
    start = plain.index(b"5 0 obj")
    end = plain.index(b"endstream", start)
    path = tmp_path / "a.pdf"
    path.write_bytes(plain[:start] + shown + content + b"\n" + plain[end:])
    message = refusal(path)
    assert "a.pdf is a PDF file that cannot be read" in message
    assert "imit" in message


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_the_pages_of_a_column_are_told_by_their_headers(tmp_path, version, dictionary):
    path = tmp_path / "a.parquet"
    texts = [f"{n}" * 50 for n in range(3000)]
    pq.write_table(
        pa.table({"text": texts}),
        path,
        use_dictionary=dictionary,
        data_page_size=1000,
        write_batch_size=10,
        data_page_version=version,
        compression="zstd",
    )
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    sizes = list(unpacked_sizes(pa.OSFile(str(path)), chunk))
    assert len(sizes) > 10 - 9 * dictionary
    # What a column tells of itself includes the headers.
    headers = chunk.total_uncompressed_size - sum(sizes)
    assert 0 < headers < 1000 * len(sizes)


def test_headers_of_pages_that_are_nonsense_end_the_look_at_them(tmp_path):
    class Chunk:
        dictionary_page_offset, data_page_offset, total_compressed_size = None, 4, 10_000

    draw = np.random.default_rng(1)
    for _ in range(50):
        file = pa.BufferReader(draw.integers(0, 256, 12_000, np.uint8).tobytes())
        assert len(list(unpacked_sizes(file, Chunk))) <= 10_000


@pytest.mark.long
def test_a_page_of_a_column_that_would_not_fit_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "a.parquet"
    texts = ["a" * 1_000_000 + str(n) for n in range(70)]
    for rows in (70, 1):
        table = pa.table({"text": texts if rows == 70 else ["".join(texts)], "n": [1] * rows})
        pq.write_table(table, path, compression="zstd", use_dictionary=False)
        message = refusal(path)
        assert f"row group 1 of {path} holds 70.0 MB of column 'text' in one page" in message
    pq.write_table(
        pa.table({"text": texts}),
        path,
        use_dictionary=False,
        write_batch_size=1,
        compression="zstd",
    )
    assert len(ids_and_texts(path, memory=MEMORY)) == 70


def test_metadata_that_would_not_fit_are_refused_before_they_are_parsed(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], **{f"c{n}": [1] for n in range(200)}}), path)
    monkeypatch.setattr(streams, "MIN_RECORD_BYTES", 1000)
    monkeypatch.setattr(pq, "ParquetFile", None)
    with pytest.raises(SourceError, match=r"KB of metadata, by its many columns or row groups"):
        list(open_corpus([path], memory=1000).batches())


@pytest.mark.parametrize("shape", [(10**9, 1000), (1, 10**9), (10**18, 10**18)])
def test_an_array_that_is_not_there_is_refused_by_its_header(tmp_path, shape):
    path = tmp_path / "a.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
    message = refusal(path)
    assert "is not a whole .npy file" in message or "a row of" in message


STATUS = Path("/proc/self/status")


@pytest.mark.long
@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell the largest size")
def test_a_job_stays_within_its_memory_on_a_file_that_would_not_fit(tmp_path):
    nested = tmp_path / "a.jsonl"
    nested.write_text('{"text": "a", "x": [' + "{}," * 10_000_000 + "{}]}\n")
    wide = tmp_path / "a.csv"
    wide.write_text(",".join(["text", *(f"c{n}" for n in range(200_000))]) + "\n")
    document = docx_of(tmp_path / "a.docx", "word/document.xml", b" " * 400_000_000)
    code = (
        "import sys\n"
        "from lookalike.cli import main\n"
        "sys.argv = ['lookalike', 'find', sys.argv[1], '--memory', '500MB', '-q']\n"
        "try:\n    main()\n"
        f"finally:\n    print(open({str(STATUS)!r}).read())\n"
    )
    for path in (nested, wide, document):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        (most,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stdout)
        assert int(most) * 1024 < MEMORY
