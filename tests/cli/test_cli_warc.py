"""WARC files as a user gives them."""

import json

import pytest

from source_files import ids_and_texts
from warc_files import answer, record, warc

pytest.importorskip("fastwarc")

LONG = b"<p>the same words in the same order as those of another page, and a good many of them"
OTHER = b"<p>something else that has not a word in common with what stands above, nor will it have"


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_dedup_writes_the_file_without_the_pages_it_removes(told, tmp_path, packing):
    path = tmp_path / f"crawl.warc{packing}"
    records = [
        record("warcinfo", b"x: y\r\n", 1),
        answer("https://a.org/", LONG, 2),
        record("request", b"GET", 3),
        record("request", b"GET", 4),
        answer("https://b.org/", LONG, 5),
        answer("https://c.org/", OTHER, 6),
    ]
    path.write_bytes(warc(records, packing))
    status, _, errors = told("dedup", path, "-o", tmp_path / "clean", "--keep", "max:date")
    assert status == 0, errors
    assert "Skipped 3 WARC records: 2 request, 1 warcinfo." in errors
    kept = tmp_path / "clean" / "kept" / path.name
    if packing:
        assert ids_and_texts(kept, id="url")[0][0] == "https://b.org/"
    else:
        assert kept.read_bytes() == b"".join(records[:1] + records[2:])
    skipped = [
        json.loads(line) for line in (tmp_path / "clean" / "skipped.jsonl").read_text().splitlines()
    ]
    assert skipped == [
        {"path": str(path), "reason": "WARC records: request (2)"},
        {"path": str(path), "reason": "WARC records: warcinfo"},
    ]


def test_an_address_that_stands_twice_is_refused_where_it_is_asked_for(told, tmp_path):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(warc([answer("https://a.org/", LONG, n) for n in (1, 2)], ".gz"))
    status, output, _ = told("find", path, "--format", "jsonl")
    assert status == 0
    assert json.loads(output)["a"] == "20260102030401/https://a.org/"
    status, _, errors = told("find", path, "--id", "url")
    assert status != 0
    assert "id 'https://a.org/' appears twice" in errors
