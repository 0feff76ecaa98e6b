"""What becomes of damaged files where what cannot be read is skipped: nothing is lost unnamed."""

import io
import json
import os
import random
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import lookalike
from archive_files import archive
from document_files import rows_of, xlsx
from lookalike.read import open_corpus
from source_files import documents, write_records

DRAW = random.Random(5)
ROWS = [
    {"id": f"{number}", "text": " ".join(DRAW.choices("abcdefghijklmnop", k=60))}
    for number in range(40)
]
KINDS = [".jsonl", ".jsonl.gz", ".csv.zst", ".json.gz", ".parquet", ".arrow"]
KINDS += [".ipc", ".orc", ".xlsx", ".zip", ".tar.gz"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with one good file."""
    folder = tmp_path / "pile"
    write_records(folder / "good.jsonl", [{**row, "id": f"g{row['id']}"} for row in ROWS[:5]])
    return folder


def beginning(path: Path) -> bytes:
    """Make a file of the kind that its name says, and give so little of it that no record is."""
    if path.suffix == ".xlsx":
        whole = xlsx({"A": rows_of(["id", "text"], ["1", "a text"])})
    elif path.suffix in (".zip", ".gz") and ".json" not in path.name:
        whole = archive(
            path, {"a.txt": random.Random(1).randbytes(999).hex().encode()}
        ).read_bytes()
    else:
        whole = write_records(path, ROWS).read_bytes()
    return whole[:60]


def kept(out: Path) -> dict[str, bytes]:
    found = (path for path in (out / "kept").rglob("*") if path.is_file())
    return {path.relative_to(out / "kept").as_posix(): path.read_bytes() for path in found}


def skipped(out: Path) -> list[str]:
    lines = (out / "skipped.jsonl").read_text().splitlines()
    return [json.loads(line)["path"] for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_which_nothing_can_be_read_is_copied_whole(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    path = folder / f"bad{kind}"
    data = beginning(path)
    path.write_bytes(data)
    lookalike.dedup(folder, out=tmp_path / "out", skip_bad=True).close()
    assert kept(tmp_path / "out")[f"bad{kind}"] == data
    assert skipped(tmp_path / "out") == [str(path)]
    # A pattern that a shell matched gives names.
    named = lookalike.paths(path, folder / "good.jsonl")
    lookalike.dedup(named, out=tmp_path / "named", skip_bad=True).close()
    assert data in kept(tmp_path / "named").values()


def test_it_is_left_out_where_that_is_asked_for(folder: Path, tmp_path: Path) -> None:
    (folder / "bad.parquet").write_bytes(b"PAR1")
    lookalike.dedup(folder, out=tmp_path / "out", skip_bad=True, drop_unread=True).close()
    assert set(kept(tmp_path / "out")) == {"good.jsonl"}
    assert skipped(tmp_path / "out") == [str(folder / "bad.parquet")]


def test_it_has_no_place_among_annotated_records(folder: Path, tmp_path: Path) -> None:
    (folder / "bad.parquet").write_bytes(b"PAR1")
    lookalike.dedup(folder, out=tmp_path / "out", skip_bad=True, annotate=True).close()
    assert [path.name for path in (tmp_path / "out" / "annotated").iterdir()] == ["good.jsonl"]
    assert skipped(tmp_path / "out") == [str(folder / "bad.parquet")]


def damaged_xlsx(folder: Path) -> Path:
    """Make a workbook whose second sheet breaks off."""
    rows = [(f"{n}", f"{DRAW.random()} " * 9) for n in range(400)]
    sheets = {"A": rows_of(["id", "text"], *rows[:200]), "B": rows_of(["id", "text"], *rows[200:])}
    path = folder / "bad.xlsx"
    path.write_bytes(xlsx(sheets))
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    (last,) = [name for name in parts if name.endswith("sheet1.xml")]
    parts[last] = parts[last][: len(parts[last]) // 2]
    with zipfile.ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)
    return path


def damaged_json(folder: Path) -> Path:
    """Make a packed array that breaks off before a megabyte is unpacked."""
    rows = [{"id": f"{n}", "text": f"{DRAW.random()} " * 9} for n in range(4000)]
    path = write_records(folder / "bad.json.gz", rows)
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) * 2 // 3])
    return path


@pytest.mark.parametrize("kind", [damaged_xlsx, damaged_json])
def test_what_was_read_before_the_damage_is_written(
    folder: Path, tmp_path: Path, kind: Callable[[Path], Path]
) -> None:
    path = kind(folder)
    with lookalike.dedup(path, out=tmp_path / "out", skip_bad=True) as result:
        ids = result.kept_ids.to_pylist()
    assert 100 < len(ids) < 4000
    copied = open_corpus([tmp_path / "out" / "kept" / path.name])
    assert [one[0] for one in documents(copied)] == ids
    assert skipped(tmp_path / "out") == [str(path)]


def test_an_archive_with_a_password_is_copied(folder: Path, tmp_path: Path) -> None:
    path = archive(folder / "locked.zip", {"a.txt": b"a text"})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    lookalike.dedup(folder, out=tmp_path / "out").close()
    assert skipped(tmp_path / "out") == [f"{path}/a.txt"]
    assert kept(tmp_path / "out")["locked.zip"] == data


NAME = os.fsdecode(b"caf\xe9.txt")
"""A name that is not UTF-8."""


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are Unicode here")
def test_a_file_whose_name_is_no_text_is_copied_under_its_own_bytes(
    folder: Path, tmp_path: Path
) -> None:
    inside = folder / os.fsdecode(b"d\xe9")
    inside.mkdir()
    (folder / NAME).write_bytes(b"a text")
    (inside / "a.txt").write_bytes(b"another")
    write_tar(folder / "pack.tar.gz", {NAME: b"a third", "b.txt": b"a fourth"})
    out = tmp_path / "out"
    lookalike.dedup(folder, out=out, skip_bad=True).close()
    found = kept(out)
    assert found[NAME] == b"a text"
    assert found[os.fsdecode(b"d\xe9/a.txt")] == b"another"
    assert found[f"pack.tar.gz/{NAME}"] == b"a third"
    shown = [r"caf\xe9.txt", r"d\xe9/a.txt", r"pack.tar.gz/caf\xe9.txt"]
    assert sorted(skipped(out)) == [f"{folder}/{name}" for name in shown]
    lookalike.dedup(folder, out=tmp_path / "less", skip_bad=True, drop_unread=True).close()
    assert sorted(kept(tmp_path / "less")) == ["good.jsonl", "pack.tar.gz/b.txt"]


def write_tar(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archived:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archived.addfile(member, io.BytesIO(data))
