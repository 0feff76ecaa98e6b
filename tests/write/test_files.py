"""Results to files: read back equal, whole or not at all."""

import csv
import errno
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.errors import OutputError, SettingsError
from lookalike.write.files import FORMATS, format_of, write_atomically, write_table

AWKWARD = [
    "plain",
    'with "quotes" and, commas',
    "two\nlines",
    "a\r\nb",
    "tab\there",
    "'single'",
    "",
    " blanks ",
    "猫.txt",
    "кошка",
    "قطة",
    "e\u0301",
    "😀",
    "line\u2028separator",
    "nul\0",
    "\\backslash",
    "=1+1",
]


def table_of(names):
    return pa.table(
        {
            "a": pa.array(names, pa.string()),
            "b": pa.array(names[::-1], pa.string()),
            "similarity": pa.array([1 / (1 + place) for place in range(len(names))], pa.float64()),
            "score": pa.array(["exact"] * len(names), pa.string()),
        },
        metadata={"lookalike.fingerprint": "0123456789abcdef"},
    )


def written(table, kind):
    stream = io.BytesIO()
    write_table(table, stream, kind)
    return stream.getvalue()


def read_back(data, kind):
    if kind == "jsonl":
        return [json.loads(line) for line in data.decode().split("\n")[:-1]]
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
        return [{**row, "similarity": float(row["similarity"])} for row in rows]
    return pq.read_table(io.BytesIO(data)).to_pylist()


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_reads_back_equal(kind):
    table = table_of(AWKWARD)
    assert read_back(written(table, kind), kind) == table.to_pylist()


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
def test_ids_of_any_script_read_back_equal(names):
    for kind in ("jsonl", "csv"):
        assert read_back(written(table_of(names), kind), kind) == table_of(names).to_pylist()


@pytest.mark.parametrize("kind", FORMATS)
def test_more_rows_than_one_block_are_all_written_in_order(kind):
    table = table_of([f"document {place}" for place in range(40_000)])
    assert read_back(written(table, kind), kind) == table.to_pylist()


def test_each_format_has_its_shape():
    table = table_of(["x"])
    line = b'{"a": "x", "b": "x", "similarity": 1.0, "score": "exact"}\n'
    assert written(table, "jsonl") == line
    assert written(table, "csv") == b"a,b,similarity,score\nx,x,1.0,exact\n"
    parquet = pq.read_table(io.BytesIO(written(table, "parquet")))
    assert parquet.equals(table)
    assert parquet.schema.metadata[b"lookalike.fingerprint"] == b"0123456789abcdef"


def test_no_rows_are_a_header_or_nothing():
    assert written(table_of([]), "jsonl") == b""
    assert written(table_of([]), "csv") == b"a,b,similarity,score\n"
    assert pq.read_table(io.BytesIO(written(table_of([]), "parquet"))).num_rows == 0


def test_numbers_as_ids_are_written_as_numbers():
    table = pa.table({"a": [1], "similarity": [0.1 + 0.2]})
    assert written(table, "jsonl") == b'{"a": 1, "similarity": 0.30000000000000004}\n'
    assert written(table, "csv") == b"a,similarity\n1,0.30000000000000004\n"


def test_a_format_is_known_by_the_end_of_the_name():
    assert [format_of(f"x/pairs.{end}") for end in ("jsonl", "CSV", "Parquet")] == list(FORMATS)
    for name in ("pairs", "pairs.txt", ".jsonl", "pairs.jsonl.gz"):
        with pytest.raises(SettingsError, match=r"end it in \.jsonl, \.csv, \.parquet"):
            format_of(name)
    with pytest.raises(SettingsError, match="format 'xml' is unknown"):
        written(table_of([]), "xml")


def test_a_file_appears_whole_in_place_of_the_old(tmp_path):
    target = tmp_path / "pairs.jsonl"
    target.write_bytes(b"old")

    def write(stream):
        stream.write(b"new")
        assert target.read_bytes() == b"old"

    write_atomically(target, write)
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt(), OSError(5, "Input")])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure, old):
    target = tmp_path / "pairs.jsonl"
    if old is not None:
        target.write_bytes(old)

    def write(stream):
        stream.write(b"half")
        raise failure

    expected = OutputError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        write_atomically(target, write)
    assert [path.name for path in tmp_path.iterdir()] == (["pairs.jsonl"] if old else [])
    assert old is None or target.read_bytes() == old


@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, kind):
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, _data):
            raise OSError(errno.ENOSPC, "No space left on device")

    full: Any = Full()
    target = tmp_path / "pairs"
    with pytest.raises(OutputError) as told:
        write_atomically(target, lambda _stream: write_table(table_of(["x"]), full, kind))
    assert str(told.value) == (
        f"{target} cannot be written: No space left on device; free some space, and run the same "
        "again"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_device_is_an_error_of_the_system_and_not_silence(kind):
    with (
        pytest.raises(OSError, match="No space left"),
        Path("/dev/full").open("wb", buffering=0) as stream,
    ):
        write_table(table_of(["x"]), stream, kind)


def test_a_folder_that_is_not_there_or_a_folder_as_target_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for target in ("gone/pairs.jsonl", "file/pairs.jsonl", "folder"):
        with pytest.raises(OutputError, match=f"{target} cannot be written: ") as refused:
            write_atomically(tmp_path / target, lambda stream: stream.write(b"x"))
        assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_without_permission_is_one_line(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written: Permission denied"):
            write_atomically(tmp_path / "pairs.jsonl", lambda stream: stream.write(b"x"))
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "pairs.jsonl", lambda stream: stream.write(b"x"))
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "pairs.jsonl").stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_private_file_stays_private_when_it_is_replaced(tmp_path):
    target = tmp_path / "pairs.jsonl"
    target.write_bytes(b"old")
    target.chmod(0o600)
    write_atomically(target, lambda stream: stream.write(b"new"))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_atomically(link, lambda stream: stream.write(b"new"))
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_device_or_a_pipe_is_never_replaced_by_a_file(tmp_path):
    target = tmp_path / "pipe"
    os.mkfifo(target)
    held = os.open(target, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_atomically(target, lambda stream: stream.write(b"x"))
    except OutputError as error:
        message = str(error)
    else:
        message = ""
    finally:
        os.close(held)
    assert target.is_fifo()
    assert "\n" not in message


def test_a_name_as_long_as_the_system_takes_can_be_written(tmp_path):
    target = tmp_path / f"{'n' * 249}.jsonl"
    write_atomically(target, lambda stream: stream.write(b"x"))
    assert target.read_bytes() == b"x"
