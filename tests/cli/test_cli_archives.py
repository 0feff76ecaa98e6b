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
