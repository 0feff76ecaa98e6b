"""Tables that Spark and its kin wrote: what they put beside the parts is no document."""

import pytest

import lookalike
from archive_files import archive
from lookalike.read import open_corpus
from lookalike.read.spark_folders import is_marker
from source_files import as_lines, ids_and_texts

BESIDE = ["_SUCCESS", "_committed_42", "_started_42", "_metadata", "_delta_log/0.json", "_extra"]


def fill(folder, part="part-00000-x.jsonl"):
    files = dict.fromkeys(BESIDE, b"") | {part: as_lines([{"id": "a", "text": "a text"}])}
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return files


@pytest.mark.parametrize("part", ["part-00000-x.jsonl", "part-r-00001.jsonl", "lang=en/a.jsonl"])
def test_it_is_hidden(tmp_path, part):
    fill(tmp_path, part)
    for source in (tmp_path, f"file://{tmp_path}"):
        assert ids_and_texts(source) == [("a", "a text")]
        corpus = open_corpus([source])
        assert {one.reason for one in corpus.unread} == {"hidden"}
    with lookalike.find(tmp_path, all_files=True) as result:
        assert result.summary.empty == len(BESIDE)


def test_it_is_so_in_archives_and_for_patterns(tmp_path):
    files = fill(tmp_path / "x")
    del files["_extra"]  # which only what is beside it tells
    (tmp_path / "x" / "_extra").unlink()
    assert ids_and_texts(archive(tmp_path / "x.tar.gz", files)) == [("a", "a text")]
    assert ids_and_texts(f"{tmp_path}/x/*") == [("a", "a text")]


def test_names_that_begin_so_are_read_elsewhere(tmp_path):
    for name in ("_essay.txt", "_drafts/one.txt", "part-1.txt", "_metadata.txt", "_SUCCESSES"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("an essay")
    assert len(ids_and_texts(tmp_path)) == 5
    assert not is_marker("_committed_to_paper")
