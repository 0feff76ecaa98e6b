"""Addresses: files of the local disk, of a store in memory, and of a small S3 on this machine."""

import email.utils
import hashlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import numpy as np
import pytest
from pyarrow import fs

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus
from source_files import BINARY, as_lines, documents, ids_and_texts, pack, write_records


@pytest.fixture
def folder(tmp_path):
    write_records(tmp_path / "data" / "a.jsonl", [{"id": 1, "text": "one"}, {"id": 2, "text": "é"}])
    write_records(tmp_path / "data" / "deep" / "b.csv.gz", [{"id": "3", "text": "three"}])
    write_records(tmp_path / "data" / "deep" / "c.parquet", [{"id": 4, "text": "four"}])
    (tmp_path / "data" / "d.txt").write_text("five")
    (tmp_path / "data" / "e.png").write_bytes(BINARY)
    (tmp_path / "data" / ".f.txt").write_text("no")
    return tmp_path / "data"


ALL = [("1", "one"), ("2", "é"), ("d.txt", "five"), ("3", "three"), ("4", "four")]


def test_a_file_address_is_a_path(folder):
    address = folder.as_uri()
    corpus = open_corpus([address])
    assert [d[:2] for d in documents(corpus)] == ALL
    assert corpus.skipped == {"binary": 1, "hidden": 1}
    assert documents(corpus)[0][2] == f"{address}/a.jsonl:1"
    assert ids_and_texts(f"{address}/a.jsonl") == [(1, "one"), (2, "é")]
    assert ids_and_texts(f"{address}/**/*.parquet") == [(4, "four")]
    assert [name for name, _ in ids_and_texts(f"{address}/[a-c].*", f"{address}/d.txt")] == [
        *("1", "2", f"{address}/d.txt")
    ]
    for wrong, message in ((f"{address}/no.txt", "does not exist"), (f"{address}/*.x", "matches")):
        with pytest.raises(SourceError, match=message):
            open_corpus([wrong])


def test_reading_goes_on_anywhere_and_copies_are_made(folder, tmp_path):
    corpus = open_corpus([folder.as_uri()])
    whole = documents(corpus)
    done = 0
    for batch in corpus.batches(batch_bytes=8):
        done += len(batch)
        names = [str(name) for name, *_ in documents(corpus, batch.next, batch_bytes=8)]
        assert names == [name for name, *_ in whole[done:]]
    places = [str(corpus.copied_name(n)) for n in range(4)]
    assert places == ["a.jsonl", "d.txt", "deep/b.csv.gz", "deep/c.parquet"]
    corpus.copy(0, np.array([2]), tmp_path / "out.jsonl")
    assert ids_and_texts(tmp_path / "out.jsonl") == [(2, "é")]
    corpus.copy(3, np.array([1]), tmp_path / "out.parquet")
    assert ids_and_texts(tmp_path / "out.parquet") == [(4, "four")]


def test_a_change_is_noticed(folder):
    corpus = open_corpus([folder.as_uri()])
    (folder / "d.txt").write_text("other")
    with pytest.raises(SourceError, match=r"d\.txt has changed since it was listed"):
        list(corpus.batches())


def test_an_address_that_only_fsspec_knows_is_read():
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/pile/a.jsonl.zst", pack(as_lines([{"id": 1, "text": "one"}]), ".zst"))
    store.pipe("/pile/b.txt", b"two")
    try:
        assert ids_and_texts("memory://pile") == [("1", "one"), ("b.txt", "two")]
        assert ids_and_texts("memory://pile/*.zst") == [(1, "one")]
    finally:
        store.rm("/pile", recursive=True)


def test_an_address_that_nobody_knows_says_what_to_install(monkeypatch):
    with pytest.raises(SourceError, match=r"nosuch://"):
        open_corpus(["nosuch://bucket/a.jsonl"])
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SourceError, match=r"pip install fsspec and its package for memory"):
        open_corpus(["memory://pile"])


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as reading takes."""

    stored: dict[str, bytes] = {}  # noqa: RUF012
    when = email.utils.formatdate(0, usegmt=True)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        address = urlsplit(self.path)
        _, _, key = unquote(address.path).lstrip("/").partition("/")
        if not key:
            self.answer(200, self.listing(parse_qs(address.query)), kind="application/xml")
        elif key not in self.stored:
            self.answer(404, b"")
        else:
            self.give(self.stored[key])

    def give(self, data):
        span = self.headers.get("Range")
        if not span:
            self.answer(200, data)
            return
        first, _, last = span.removeprefix("bytes=").partition("-")
        end = min(int(last or len(data)), len(data) - 1)
        inside = f"bytes {first}-{end}/{len(data)}"
        self.answer(206, data[int(first) : end + 1], span=inside)

    def listing(self, query):
        prefix = query.get("prefix", [""])[0]
        keys = sorted(key for key in self.stored if key.startswith(prefix))
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.stored[key])}</Size>"
            "<LastModified>1970-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in keys
        )
        return (
            '<?xml version="1.0"?><ListBucketResult>'
            f"<Name>pile</Name><KeyCount>{len(keys)}</KeyCount><IsTruncated>false</IsTruncated>"
            f"{entries}</ListBucketResult>"
        ).encode()

    def answer(self, status, data, kind="application/octet-stream", span=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", kind)
        self.send_header("Last-Modified", self.when)
        self.send_header("ETag", hashlib.md5(data).hexdigest())
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


@pytest.fixture
def bucket(folder, monkeypatch):
    """Serve a folder as s3://pile, and give what to add to an address."""
    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("this Arrow has no S3")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    Bucket.stored = {
        path.relative_to(folder.parent).as_posix(): path.read_bytes()
        for path in folder.rglob("*.*")
        if path.is_file()
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"?scheme=http&endpoint_override=127.0.0.1:{server.server_port}&region=local"
    server.shutdown()
    server.server_close()


def test_a_bucket_is_read_like_a_folder(bucket):
    corpus = open_corpus([f"s3://pile/data{bucket}"])
    assert [d[:2] for d in documents(corpus, threads=2)] == ALL
    assert corpus.shards[0].name == "s3://pile/data/a.jsonl"
    assert ids_and_texts(f"s3://pile/data/a.jsonl{bucket}") == [(1, "one"), (2, "é")]
    assert ids_and_texts(f"s3://pile/data/**/*.parquet{bucket}") == [(4, "four")]
    with pytest.raises(SourceError, match=r"s3://pile/data/no\.jsonl does not exist"):
        open_corpus([f"s3://pile/data/no.jsonl{bucket}"])


def test_secrets_in_an_address_are_not_shown(bucket):
    corpus = open_corpus([f"s3://test:hidden@pile/data{bucket}"])
    assert corpus.shards[0].name == "s3://pile/data/a.jsonl"
    assert "hidden" not in str([*corpus.identity(), documents(corpus)])
