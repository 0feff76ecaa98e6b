"""Every file that is text is read, whatever its name; what is none is told by its first bytes."""

import os

import pytest

from lookalike.base.errors import SourceError
from lookalike.read import content, open_corpus, read_paths, read_text
from source_files import BINARY, documents, ids_and_texts

TEXTS = {
    **{f"a.{ending}": f"text of {ending}" for ending in ("py", "tex", "rst", "org", "log", "srt")},
    "a.xml": "<a/>",
    "a.yaml": "a: 1",
    "a.json": "{}",
    "LICENSE": "free",
    "a.tar.": "é",
}


@pytest.fixture
def pile(tmp_path, monkeypatch):
    """Stand in a folder of texts of every ending."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "s" / name).write_text(text, encoding="utf-8")
    return tmp_path / "s"


def test_a_file_of_text_is_read_whatever_its_ending(pile):
    assert dict(ids_and_texts("s")) == TEXTS
    assert dict(ids_and_texts(pile.as_uri())) == TEXTS
    assert dict(ids_and_texts("s/*")) == {f"s/{name}": text for name, text in TEXTS.items()}
    assert dict(ids_and_texts(f"{pile.as_uri()}/*.py")) == {f"{pile.as_uri()}/a.py": "text of py"}
    assert ids_and_texts("s/*.py") == ids_and_texts("s/a.py") == [("s/a.py", "text of py")]


@pytest.mark.parametrize("name", TEXTS)
def test_one_that_is_named_is_read_as_compare_reads_it(pile, name):
    assert ids_and_texts(pile / name) == [((pile / name).as_posix(), read_text(pile / name))]
    address = f"{pile.as_uri()}/{name}"
    assert ids_and_texts(address) == [(address, read_text(pile / name))]


@pytest.mark.parametrize("name", ["a.py", "a.txt"])
@pytest.mark.parametrize("code", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_tells_text_from_what_is_none(tmp_path, name, code):
    (tmp_path / name).write_bytes("\ufeffone 漢 😀".encode(code))
    assert ids_and_texts(tmp_path) == [(name, "one 漢 😀")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (BINARY, "binary"),
        (b"text" * 1000 + b"\0", "binary"),
        (b"\xff\xd8\xff\xe1\x10", "binary"),
        (b"\xff\xfea", "in an unknown encoding"),
    ],
)
@pytest.mark.parametrize("place", ["", "/*"])
@pytest.mark.parametrize("address", [False, True])
def test_what_is_no_text_is_passed_over_and_an_error_where_it_is_named(
    tmp_path, data, reason, place, address
):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.dat").write_bytes(data)
    base = tmp_path.as_uri() if address else str(tmp_path)
    corpus = open_corpus([f"{base}{place}"])
    assert [text for _, text, _ in documents(corpus)] == ["a"]
    assert corpus.skipped == {reason: 1}
    with pytest.raises(SourceError, match=rf"b\.dat is .*{reason}"):
        open_corpus([f"{base}/b.dat"])
    with pytest.raises(SourceError, match="matches no file that can be read, of 1 matched"):
        open_corpus([f"{base}/*.dat"])


@pytest.mark.parametrize("cut", range(4))
def test_a_character_that_the_first_bytes_cut_is_text(tmp_path, cut):
    text = "x" * (content.HEAD_BYTES - cut) + "😀"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert ids_and_texts(tmp_path) == [("a.py", text)]


@pytest.mark.parametrize(
    ("data", "reason"), [(b"\0", "binary"), (b"\xff", "in an unknown encoding")]
)
def test_what_turns_out_to_be_no_text_later_is_passed_over_too(tmp_path, data, reason):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.dat").write_bytes(b"x" * content.HEAD_BYTES + data)
    found = read_paths([tmp_path], strict_encoding=True)
    assert found.ids.to_pylist() == ["a.txt"]
    assert found.skipped == {reason: 1}
    with pytest.raises(SourceError, match=r"b\.dat is not"):
        read_paths([tmp_path / "b.dat"], strict_encoding=True)


@pytest.mark.parametrize("name", ["film.mkv", "film.txt"])
def test_a_binary_file_is_not_refused_for_its_size(tmp_path, name):
    (tmp_path / "a.txt").write_text("a")
    with (tmp_path / name).open("wb") as file:
        file.write(BINARY)
        file.truncate(4 << 30)
    found = read_paths([tmp_path])
    assert found.ids.to_pylist() == ["a.txt"]
    assert found.skipped == {"binary": 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    (tmp_path / "a.py").write_text("a")
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "*"):
        corpus = open_corpus([str(place)])
        assert len(documents(corpus)) == 1
        assert corpus.skipped == {"not a file": 1}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="all may be read")
def test_a_file_of_any_ending_that_may_not_be_read_is_an_error(tmp_path):
    (tmp_path / "a.py").write_text("a")
    (tmp_path / "a.py").chmod(0)
    with pytest.raises(SourceError, match=r"a\.py cannot be read: Permission denied"):
        read_paths([tmp_path])
