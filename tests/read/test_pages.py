"""Columns of HTML read as pages, and the main text of a page alone."""

import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lookalike
import twins_html
from lookalike.base.errors import MissingExtraError, SettingsError, SourceError
from lookalike.read import open_corpus, read, read_text
from source_files import RECORD_KINDS, bad_of, documents, ids_and_texts, write_records
from warc_files import answer

PAGES = [
    "<title>One</title><p>a &amp; b<script>no</script>",
    "plain text",
    "",
    "<!-- nothing -->",
    "<div>caf\xe9<br>x" * 3,
]
RECORDS = [{"id": f"r{place}", "text": page, "note": "<b>"} for place, page in enumerate(PAGES)]
TEXTS = [twins_html.page_text(page) if page else "" for page in PAGES]
MENU = "".join(f'<li><a href="/{number}">Menu entry {number}</a></li>' for number in range(20))
STORY = "The story is told in sentences that are long enough to be taken for what they are. "
PAGE = (
    f"<html><head><title>T</title></head><body><nav><ul>{MENU}</ul></nav>"
    f"<main><article><h1>A story</h1><p>{STORY * 4}</p><p>{STORY * 3}</p></article></main>"
    "<footer>Copyright, imprint, terms of use</footer></body></html>"
)


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_texts_of_records_are_read_as_pages(tmp_path, kind):
    path = write_records(tmp_path / f"a{kind}", RECORDS)
    assert [text for _, text in ids_and_texts(path)] == PAGES
    corpus = open_corpus([path], markup="html", columns=None)
    found = list(corpus.batches())
    assert [text for batch in found for text in batch.texts.to_pylist()] == TEXTS
    assert found[0].columns["note"].to_pylist()[0] == "<b>"
    again = corpus.originals(np.zeros(2, np.int32), np.array([5, 1]))
    assert again.texts.to_pylist() == [TEXTS[4], TEXTS[0]]


def test_texts_in_memory_are_read_as_pages():
    for source in (
        PAGES,
        pa.table({"text": PAGES}),
        pd.DataFrame({"text": PAGES}),
        pa.chunked_array([PAGES[:2], PAGES[2:]]),
        [{"text": page} for page in PAGES],
    ):
        assert read(source, markup="html").texts.to_pylist() == TEXTS
    assert read([None, "<p>x"], markup="html").texts.to_pylist() == [None, "x"]


def test_several_fields_are_joined_before(tmp_path):
    path = write_records(tmp_path / "a.jsonl", [{"title": "<b>A</b>", "body": "<p>b"}])
    assert ids_and_texts(path, text=["title", "body"], markup="html")[0][1] == "A\nb"


def test_other_files_are_read_as_they_are(tmp_path):
    (tmp_path / "a.txt").write_text("<p>x")
    (tmp_path / "b.html").write_text("<p>y")
    assert [text for _, text in ids_and_texts(tmp_path, markup="html")] == ["<p>x", "y"]


def test_what_has_no_markup_is_refused(tmp_path):
    path = write_records(tmp_path / "a.jsonl", [{"text": ["a", "b"]}])
    with pytest.raises(SourceError, match=r"a\.jsonl:1 is not text: markup='html' is for columns"):
        ids_and_texts(path, markup="html")
    with pytest.raises(SettingsError, match="markup='xml' is unknown: use html"):
        read(["x"], markup="xml")
    with pytest.raises(SettingsError, match="markup='html' is of texts"):
        open_corpus([path], markup="html", vector="v")


def test_a_text_that_is_no_unicode_is_refused_as_ever():
    broken = pa.array([b"<p>\xff"], pa.large_binary()).view(pa.large_string())
    with pytest.raises(SourceError, match="not valid"):
        lookalike.find(pa.table({"text": broken}), markup="html")


class TestMainText:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("resiliparse")

    def is_story(self, text):
        return STORY.strip() in text and "Menu entry" not in text and "Copyright" not in text

    def test_of_files_is_read_without_menus(self, tmp_path):
        path = tmp_path / "a.html"
        path.write_text(PAGE)
        assert "Menu entry 3" in ids_and_texts(path)[0][1]
        assert self.is_story(ids_and_texts(path, main_text=True)[0][1])
        assert self.is_story(read_text(path, main_text=True))
        (tmp_path / "b.txt").write_text(PAGE)
        assert ids_and_texts(tmp_path / "b.txt", main_text=True)[0][1] == PAGE

    def test_of_columns_and_stored_pages_too(self, tmp_path):
        path = write_records(tmp_path / "a.parquet", [{"text": PAGE}])
        assert ids_and_texts(path, main_text=True)[0][1] == PAGE
        assert self.is_story(ids_and_texts(path, main_text=True, markup="html")[0][1])
        assert self.is_story(read([PAGE], main_text=True, markup="html").texts.to_pylist()[0])
        (tmp_path / "a.warc").write_bytes(answer("u", PAGE.encode()))
        assert self.is_story(ids_and_texts(tmp_path / "a.warc", main_text=True)[0][1])

    def test_is_compared_where_pages_are(self, tmp_path):
        a, b = tmp_path / "a.html", tmp_path / "b.html"
        a.write_text(PAGE)
        b.write_text(PAGE.replace("Menu entry", "Other links"))
        assert lookalike.compare(a, b).similarity < 1
        assert lookalike.compare(a, b, main_text=True).similarity == 1

    @pytest.mark.parametrize(
        "page",
        [
            "".join(f"<b i={number}><p>" for number in range(20000)),
            "<div>" * 200_000,
            f"<a {' '.join(f'a{number}=1' for number in range(100_000))}>x",
            "<a" * 200_000,
        ],
    )
    def test_a_page_of_which_no_tree_could_be_built_is_refused_soon(self, tmp_path, page):
        path = write_records(tmp_path / "a.jsonl", [{"text": page}, {"text": PAGE}])
        began = time.perf_counter()
        with pytest.raises(SourceError, match=r"a\.jsonl:1 is a page .*main_text="):
            ids_and_texts(path, main_text=True, markup="html")
        assert time.perf_counter() - began < 5
        corpus = open_corpus([path], main_text=True, markup="html", skip_bad=True)
        assert len(documents(corpus)) == len(bad_of(corpus)) == 1

    def test_names_the_library_that_is_missing(self, tmp_path, monkeypatch):
        (tmp_path / "a.html").write_text(PAGE)
        monkeypatch.setitem(sys.modules, "resiliparse.extract.html2text", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'lookalike\[web\]'"):
            ids_and_texts(tmp_path / "a.html", main_text=True)
