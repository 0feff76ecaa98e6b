"""WARC and WET files: a document for each page that a crawler stored."""

import gzip
import random
import sys
import tracemalloc
import zlib

import numpy as np
import pytest

from archive_files import archive
from lookalike.base.errors import MissingExtraError, SourceError
from lookalike.base.memory import MIN_BYTES
from lookalike.read import open_corpus
from lookalike.read.streams import Bounds
from lookalike.write.files import PART
from source_files import bad_of, documents, ids_and_texts
from warc_files import PACKINGS, answer, record, warc

pytest.importorskip("fastwarc")

RECORDS = [
    record("warcinfo", b"software: a crawler\r\n", 1, Content_Type="application/warc-fields"),
    record("request", b"GET / HTTP/1.1\r\n\r\n", 2, Content_Type="application/http"),
    answer("https://a.org/", b"<title>A</title><p>the first page", 3),
    answer("https://a.org/cat.png", b"\x89PNG\0", 4, kind="image/png"),
    answer("https://a.org/gone", b"<p>not found", 5, status="404 Not Found"),
    answer("https://a.org/plain", b"plain <b>text</b>", 6, kind="text/plain"),
    record("metadata", b"x: y\r\n", 7),
    answer("https://a.org/", b"<p>the page again", 8),
    record("resource", b"<p>a resource", 9, WARC_Target_URI="file:x", Content_Type="text/html"),
    record("revisit", b"", 10, WARC_Target_URI="https://a.org/"),
    record("conversion", "a text, é".encode(), 11, WARC_Target_URI="u", Content_Type="text/plain"),
]
EXPECTED = [
    ("20260102030403/https://a.org/", "A\nthe first page"),
    ("20260102030406/https://a.org/plain", "plain <b>text</b>"),
    ("20260102030408/https://a.org/", "the page again"),
    ("20260102030409/file:x", "a resource"),
    ("20260102030411/u", "a text, é"),
]
NUMBERS = [3, 6, 8, 9, 11]


@pytest.fixture(params=[(packing, whole) for packing in PACKINGS for whole in (False, True)])
def path(request, tmp_path):
    packing, whole = request.param
    path = tmp_path / f"crawl.warc{packing}"
    path.write_bytes(warc(RECORDS, packing, whole=whole))
    return path


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], **options).batches())
    message = str(refused.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_pages_are_documents_and_other_records_are_counted(path):
    corpus = open_corpus([path])
    assert documents(corpus) == [
        (*one, f"{path}:{number}") for one, number in zip(EXPECTED, NUMBERS, strict=True)
    ]
    counts: dict[str, int] = {}
    for batch in corpus.batches(batch_bytes=64):
        assert {one.path for one in batch.unread} <= {str(path)}
        for reason, many in batch.skipped.items():
            counts[reason] = counts.get(reason, 0) + many
    kinds = ("warcinfo", "request", "image/png", "status 404", "metadata", "revisit")
    assert counts == {f"WARC records: {kind}": 1 for kind in kinds}


@pytest.mark.parametrize("name", ["a.wet", "a.wet.gz", "CC-1.warc.wet.gz", "a.WARC.GZ"])
def test_files_are_known_by_their_endings(tmp_path, name):
    (tmp_path / name).write_bytes(warc(RECORDS, ".gz" if name.lower().endswith("gz") else ""))
    assert ids_and_texts(tmp_path) == EXPECTED


@pytest.mark.parametrize("threads", [1, 2])
def test_it_is_the_same_in_small_batches_and_from_any_place_on(path, threads):
    corpus = open_corpus([path])
    whole = documents(corpus)
    before = 0
    for batch in corpus.batches(batch_bytes=2, threads=threads):
        before += len(batch)
        assert documents(corpus, batch.next) == whole[before:]
    assert before == len(whole)


def test_captures_are_found_again_by_their_numbers(path):
    corpus = open_corpus([path])
    numbers = np.array([11, 3, 8, 3])
    found = corpus.originals(np.zeros(4, np.int32), numbers, None)
    expected = [EXPECTED[NUMBERS.index(number)] for number in numbers]
    assert list(zip(found.ids.to_pylist(), found.texts.to_pylist(), strict=True)) == expected
    assert found.columns["url"].to_pylist()[1] == "https://a.org/"
    assert found.columns["date"].to_pylist()[1] == "2026-01-02T03:04:03Z"
    with pytest.raises(SourceError, match="has no document as its record 4 any more"):
        corpus.originals(np.zeros(1, np.int32), np.array([4]))


def test_ids_are_what_is_asked_for(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(warc(RECORDS))
    assert [one for one, _ in ids_and_texts(path, id="none")] == [f"a.warc:{n}" for n in NUMBERS]
    assert ids_and_texts(path, id="record_id")[0][0].startswith("urn:uuid:00000003-")
    assert ids_and_texts(path, id="url")[0][0] == "https://a.org/"
    message = refusal(path, id="name")
    assert "there is no column 'name' for the id: there are 'url', 'date', 'record_id'" in message
    assert "is a file of text: vectors are read from" in refusal(path, vector="v")
    path.write_bytes(record("conversion", b"x", WARC_Date="", Content_Type="text/plain"))
    assert ids_and_texts(path)[0][0].startswith("urn:uuid:")


def test_archives_of_them_are_read_too(tmp_path):
    files = {"a.txt": b"a", "c.warc.gz": warc(RECORDS, ".gz"), "d.txt": b"d"}
    for kind in (".zip", ".tar.gz"):
        assert ids_and_texts(archive(tmp_path / f"a{kind}", files))[1:-1] == EXPECTED


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("<p>caf\xe9".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ('<meta charset="windows-1252"><p>caf\xe9'.encode("cp1252"), "text/html"),
        ('<meta charset="koi8-r"><p>caf\xe9'.encode("cp1252"), "text/html; charset=cp1252"),
        ("<p>caf\xe9".encode("utf-16"), "text/html; charset=utf-8"),
        (b"\xef\xbb\xbf<p>caf\xc3\xa9", "text/html; charset=latin1"),
        ("<p>caf\xe9".encode(), "text/html"),
        ("<p>caf\xe9".encode(), "application/xhtml+xml; charset=no-such-one"),
    ],
)
def test_a_page_is_decoded_by_what_it_and_its_server_say(tmp_path, page, kind):
    path = tmp_path / "a.warc"
    path.write_bytes(answer("u", page, kind=kind))
    assert [text for _, text in ids_and_texts(path)] == ["café"]


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_what_the_server_packed_is_unpacked(tmp_path, coding):
    page = b"<p>a packed page"
    packed = gzip.compress(page) if coding == "gzip" else zlib.compress(page)
    path = tmp_path / "a.warc"
    path.write_bytes(answer("u", packed, more=f"Content-Encoding: {coding}\r\n"))
    assert [text for _, text in ids_and_texts(path)] == ["a packed page"]
    chunked = f"{len(page):x}\r\n".encode() + page + b"\r\n0\r\n\r\n"
    path.write_bytes(answer("u", chunked, more="Transfer-Encoding: chunked\r\n"))
    assert [text for _, text in ids_and_texts(path)] == ["a packed page"]


class TestDamage:
    @pytest.mark.parametrize("packing", PACKINGS)
    def test_a_file_that_breaks_off_is_one_line(self, tmp_path, packing):
        path = tmp_path / f"a.warc{packing}"
        data = warc(RECORDS, packing)
        last = len(warc(RECORDS[-1:], packing))
        for cut in (last // 3, last - 10, 12):
            path.write_bytes(data[:-cut])
            message = refusal(path)
            assert "is not whole: its WARC data breaks off or is damaged at record 1" in message
            corpus = open_corpus([path], skip_bad=True)
            assert [one[:2] for one in documents(corpus)][:4] == EXPECTED[:4]
            assert len(bad_of(corpus)) == 1

    def test_a_damaged_member_is_one_line(self, tmp_path):
        parts = [warc([one], ".gz") for one in RECORDS]
        parts[6] = parts[6][:20] + b"\xff" * 20 + parts[6][40:]
        path = tmp_path / "a.warc.gz"
        path.write_bytes(b"".join(parts))
        assert "is damaged at record 7" in refusal(path)
        corpus = open_corpus([path], skip_bad=True)
        assert [one[:2] for one in documents(corpus)] == EXPECTED[:2]
        assert len(bad_of(corpus)) == 1

    @pytest.mark.parametrize("whole", [False, True])
    @pytest.mark.parametrize("packing", PACKINGS)
    def test_what_is_read_before_a_break_is_copied(self, tmp_path, packing, whole):
        noise = random.Random(1)
        records = RECORDS + [
            answer(f"https://b/{n}", noise.randbytes(20_000).hex().encode(), n) for n in range(6)
        ]
        data = warc([*records, *RECORDS[:4]], packing, whole=whole)
        path, target = tmp_path / f"a.warc{packing}", tmp_path / f"out.warc{packing}"
        last = len(warc(RECORDS[:4], packing))
        least = 0
        for cut in [1, 5, 9, 40, last - 1, last, *range(last + 1, len(data), len(data) // 9)]:
            path.write_bytes(data[:-cut])
            corpus = open_corpus([path], skip_bad=True)
            found = documents(corpus)
            numbers = [int(place.rpartition(":")[2]) for *_, place in found]
            corpus.copy(0, np.array(numbers, np.int64), target)
            assert ids_and_texts(target) == [one[:2] for one in found]
            least += len(found)
            if numbers:
                corpus.copy(0, np.array(numbers[1:], np.int64), target)
                assert ids_and_texts(target) == [one[:2] for one in found[1:]]
        assert least > 20

    def test_a_record_that_is_no_page_and_breaks_off_is_told(self, tmp_path):
        path = tmp_path / "a.warc"
        path.write_bytes(warc(RECORDS[:4])[:-20])
        assert "is damaged at record 4" in refusal(path)

    def test_what_is_no_warc_is_one_line(self, tmp_path):
        path = tmp_path / "a.warc.gz"
        for data in (b"no warc at all", gzip.compress(b"no warc\n\n"), b"\x1f\x8b\x08"):
            path.write_bytes(data)
            refusal(path)
        path.write_bytes(b"")
        assert ids_and_texts(path) == []

    def test_damage_of_an_archive_around_it_is_told(self, tmp_path):
        noise = random.Random(1).randbytes(200_000).hex().encode()
        path = archive(tmp_path / "a.zip", {"a.warc": warc([answer("u", noise)])})
        data = bytearray(path.read_bytes())
        data[100_000] ^= 1
        path.write_bytes(data)
        assert "a.warc" in refusal(path)


class TestBounds:
    def test_a_page_that_would_not_fit_is_refused_and_not_held(self, tmp_path):
        path = tmp_path / "a.warc.gz"
        limit = Bounds(MIN_BYTES).record
        large = b"x" * (3 * limit)
        pages = [answer("https://b/", b"<p>small", 1), answer("https://c/", large, 2)]
        path.write_bytes(warc([*pages, answer("https://d/", large, 3, kind="video/mp4")], ".gz"))
        tracemalloc.start()
        try:
            message = refusal(path, memory=MIN_BYTES)
            assert f"{path}:2 is longer than {limit >> 20} MB" in message
            corpus = open_corpus([path], memory=MIN_BYTES, skip_bad=True)
            assert [text for _, text, _ in documents(corpus)] == ["small"]
            assert tracemalloc.get_traced_memory()[1] < 2 * limit
        finally:
            tracemalloc.stop()

    def test_a_page_that_a_server_packed_is_unpacked_within_bounds(self, tmp_path):
        path = tmp_path / "a.warc"
        limit = Bounds(MIN_BYTES).record
        packed = gzip.compress(b"x" * (8 * limit))
        path.write_bytes(answer("u", packed, more="Content-Encoding: gzip\r\n"))
        assert f"{path}:1 is longer than {limit >> 20} MB" in refusal(path, memory=MIN_BYTES)

    def test_a_header_without_end_is_refused(self, tmp_path):
        path = tmp_path / "a.warc"
        path.write_bytes(b"WARC/1.0\r\nX: " + b"x" * (8 << 20))
        assert "is damaged at record 1" in refusal(path)


def test_the_library_that_is_missing_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.warc"
    path.write_bytes(warc(RECORDS))
    monkeypatch.setitem(sys.modules, "fastwarc.warc", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lookalike\[web\]'"):
        ids_and_texts(path)


def test_a_copy_holds_what_is_kept_and_all_that_is_no_page(path):
    corpus = open_corpus([path])
    target = path.with_name(f"copy{PART}{''.join(path.suffixes)}")
    corpus.copy(0, np.array([6, 9]), target)
    kept = open_corpus([target])
    assert [one[:2] for one in documents(kept)] == [EXPECTED[1], EXPECTED[3]]
    assert sum(sum(batch.skipped.values()) for batch in kept.batches()) == 6
    corpus.copy(0, np.array(NUMBERS), target)
    assert ids_and_texts(target) == EXPECTED
    assert path.read_bytes().count(b"\x1f\x8b\x08") < 2 or target.read_bytes() == path.read_bytes()
