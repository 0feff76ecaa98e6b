"""Archives as a user gives them: found in, cleaned up, and told of."""

import json

import pytest

from archive_files import KINDS, archive
from source_files import BINARY, as_lines, write_records

LONG = "the same words in the same order as those of another text, and a good many of them"
OTHER = "something else that has not a word in common with what stands above, nor will it have"
FILES = {
    "anna/essay.txt": LONG.encode(),
    "ben/essay.txt": LONG.encode() + b" indeed",
    "cat.png": BINARY,
    "records.jsonl": as_lines([{"id": "one", "text": OTHER}, {"id": "two", "text": OTHER}]),
    ".hidden.txt": b"hidden",
    "../out.txt": b"outside",
}


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_dedup_writes_the_kept_members_as_files(told, tmp_path, kind):
    table = write_records(tmp_path / "t.parquet", [{"id": "t", "text": LONG}]).read_bytes()
    path = archive(tmp_path / f"essays{kind}", FILES | {"t.parquet": table})
    status, _, errors = told("dedup", path, "-o", tmp_path / "clean", "-t", "0.7")
    assert status == 0, errors
    kept = tree(tmp_path / "clean" / "kept")
    assert kept.pop(f"essays{kind}/t.parquet")
    assert kept == {
        f"essays{kind}/anna/essay.txt": LONG.encode(),
        f"essays{kind}/cat.png": BINARY,
        f"essays{kind}/records.jsonl": as_lines([{"id": "one", "text": OTHER}]),
    }
    skipped = (tmp_path / "clean" / "skipped.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in skipped] == [
        {"path": f"{path}/cat.png", "reason": "binary"},
        {"path": f"{path}/.hidden.txt", "reason": "hidden"},
        {"path": f"{path}/../out.txt", "reason": "name that leads out of the archive"},
    ]


def test_find_takes_archives_and_folders_together(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive(tmp_path / "a.zip", {"x.txt": LONG.encode()})
    archive(tmp_path / "b.tar.gz", {"y.txt": LONG.encode()})
    archive(tmp_path / "folder" / "c.tar.xz", {"z.txt": LONG.encode()})
    status, output, _ = told("find", "a.zip", "b.tar.gz", "folder", "--format", "jsonl")
    assert status == 0
    pairs = [json.loads(line) for line in output.splitlines()]
    assert {(pair["a"], pair["b"]) for pair in pairs} == {
        ("a.zip/x.txt", "b.tar.gz/y.txt"),
        ("a.zip/x.txt", "folder/c.tar.xz/z.txt"),
        ("b.tar.gz/y.txt", "folder/c.tar.xz/z.txt"),
    }


@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
def test_a_kept_work_folder_is_known_by_the_archive(told, tmp_path, kind):
    path = archive(tmp_path / f"a{kind}", FILES)
    work = ("--work", tmp_path / "work")
    first = told("find", path, *work, "-t", "0.7", "--format", "jsonl")
    again = told("find", path, *work, "-t", "0.7", "--format", "jsonl")
    assert first[0] == again[0] == 0
    assert first[1] == again[1]
    archive(path, FILES | {"more.txt": b"more"})
    status, _, errors = told("find", path, *work)
    assert status != 0
    assert "holds the work of another job" in errors


class TestCompare:
    @pytest.fixture
    def archives(self, tmp_path):
        """Give two archives that hold the same essay."""
        files = {"alice/x.txt": LONG.encode(), "b.html": f"<p>{LONG}".encode(), "c.png": b"\x89\0"}
        return [archive(tmp_path / name, files) for name in ("essays.zip", "essays.tar.gz")]

    def test_a_file_in_an_archive_is_compared_by_its_id(self, told, archives, monkeypatch):
        monkeypatch.chdir(archives[0].parent)
        for a in ("essays.zip/alice/x.txt", "essays.tar.gz/b.html", "./essays.zip//b.html"):
            status, output, _ = told("compare", a, archives[1] / "alice" / "x.txt", "--json", "-q")
            assert (status, json.loads(output)["similarity"]) == (0, 1.0)

    def test_find_says_how(self, told, archives):
        for source in (archives[0], archives[0].parent):
            _, output, _ = told("find", source, columns=300)
            (line,) = [one for one in output.splitlines() if one.startswith("lookalike compare")]
            _, _, *names, _, _ = line.split()
            assert told("compare", *names, "-q")[0] == 0

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("essays.zip/alice/y.txt", "holds no such file; find names those that it holds"),
            ("essays.zip/alice", "holds no such file"),
            ("essays.zip/c.png", "c.png is not text: it is binary"),
            ("essays.zip", "is an archive of files: compare them with find"),
            ("note.txt/x.txt", "note.txt is a file, not a folder or an archive"),
            ("*.txt", "*.txt is a pattern: name a file"),
            (".", "is a folder: name a file"),
        ],
    )
    def test_what_is_no_document_is_one_line(self, told, archives, name, message):
        folder = archives[0].parent
        (folder / "note.txt").write_text(LONG)
        status, _, errors = told("compare", folder / name, folder / "note.txt")
        assert (status, errors.count("\n")) == (1, 1)
        assert message in errors
