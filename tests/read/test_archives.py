"""Archives: their members are files of the corpus, as those of a folder are."""

import bz2
import gzip
import lzma
import random
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from archive_files import KINDS, TARS, archive, packed, tar_of
from lookalike.base.errors import SourceError
from lookalike.base.memory import MIN_BYTES
from lookalike.read import archive_listing, archives, open_corpus
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.streams import Stream
from lookalike.read.unpacking import ZipMember
from source_files import (
    BINARY,
    RECORD_KINDS,
    as_lines,
    bad_of,
    documents,
    ids_and_texts,
    write_records,
)
from warc_files import answer, warc

RECORDS = [{"id": f"r{number}", "text": f"the text of record {number}"} for number in range(20)]
FILES = {
    "anna/essay.txt": b"my essay",
    "ben/page.html": b"<p>a page",
    "notes": b"of no ending",
    "records.jsonl": as_lines(RECORDS),
    "z.md": b"the last one",
}
EXPECTED = [
    ("anna/essay.txt", "my essay"),
    ("ben/page.html", "a page"),
    ("notes", "of no ending"),
    *((record["id"], record["text"]) for record in RECORDS),
    ("z.md", "the last one"),
]


def labelled(name, expected=EXPECTED):
    return [(one if one.startswith("r") else f"{name}/{one}", text) for one, text in expected]


def reasons(corpus, folder):
    found = [*corpus.unread, *(one for batch in corpus.batches() for one in batch.unread)]
    return {one.path.removeprefix(f"{folder}/"): one.reason for one in found}


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], **options).batches())
    message = str(refused.value)
    assert "\n" not in message
    assert str(path) in message
    return message


class TestMembers:
    @pytest.mark.parametrize("kind", KINDS)
    def test_are_read_as_files_of_a_folder(self, tmp_path, kind):
        path = archive(tmp_path / f"a{kind}", FILES)
        assert ids_and_texts(path) == labelled(path.name)
        assert [*tmp_path.iterdir()] == [path]

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("threads", [1, 2])
    def test_are_the_same_in_small_batches_and_from_any_place_on(self, tmp_path, kind, threads):
        path = archive(tmp_path / f"a{kind}", FILES)
        corpus = open_corpus([path])
        whole = documents(corpus, batch_bytes=64, threads=threads)
        assert [one[:2] for one in whole] == labelled(path.name)
        before = 0
        for batch in corpus.batches(batch_bytes=64, threads=threads):
            before += len(batch)
            assert documents(corpus, batch.next) == whole[before:]

    @pytest.mark.parametrize("inner", RECORD_KINDS)
    @pytest.mark.parametrize("kind", [".zip", ".tar", ".tar.gz", ".tar.xz"])
    def test_that_are_tables_are_tables(self, tmp_path, kind, inner):
        table = write_records(tmp_path / f"t{inner}", RECORDS)
        data = {"a.txt": b"a", f"deep/t{inner}": table.read_bytes(), "b.txt": b"b"}
        path = archive(tmp_path / f"x{kind}", data)
        found = ids_and_texts(path)
        assert found[1:-1] == [(record["id"], record["text"]) for record in RECORDS]
        assert [found[0][0], found[-1][0]] == [f"x{kind}/a.txt", f"x{kind}/b.txt"]
        unnamed = ids_and_texts(path, id="none")
        assert unnamed[1][0] == f"x{kind}/deep/t{inner}:1"

    @pytest.mark.parametrize("kind", KINDS)
    def test_go_with_folders_files_and_other_archives(self, tmp_path, monkeypatch, kind):
        monkeypatch.chdir(tmp_path)
        archive(tmp_path / f"a{kind}", {"one.txt": b"1"})
        archive(tmp_path / "folder" / f"b{kind}", {"two.txt": b"2"})
        (tmp_path / "folder" / "three.txt").write_text("3")
        found = ids_and_texts(f"a{kind}", "folder")
        assert sorted(found) == [
            (f"a{kind}/one.txt", "1"),
            (f"folder/b{kind}/two.txt", "2"),
            ("folder/three.txt", "3"),
        ]
        assert ids_and_texts("folder") == [(f"b{kind}/two.txt", "2"), ("three.txt", "3")]
        assert ids_and_texts(f"*{kind}", f"./a{kind}") == [(f"./a{kind}/one.txt"[2:], "1")]

    @pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
    def test_of_an_archive_in_a_store_are_read_too(self, tmp_path, kind):
        archive(tmp_path / f"a{kind}", FILES)
        assert ids_and_texts(f"file://{tmp_path}/a{kind}") == labelled(f"a{kind}")
        assert ids_and_texts(f"file://{tmp_path}") == labelled(f"a{kind}")

    @pytest.mark.parametrize("kind", KINDS)
    def test_are_found_again_by_their_places(self, tmp_path, kind):
        table = write_records(tmp_path / "t.parquet", [{"id": "p", "text": "in rows"}] * 1)
        path = archive(tmp_path / f"a{kind}", FILES | {"t.parquet": table.read_bytes()})
        corpus = open_corpus([path])
        batches = list(corpus.batches())
        shards = np.concatenate([batch.shards for batch in batches])
        records = np.concatenate([batch.records for batch in batches])
        texts = [text for batch in batches for text in batch.texts.to_pylist()]
        order = list(range(len(texts)))
        random.Random(1).shuffle(order)
        found = corpus.originals(shards[order], records[order])
        assert found.texts.to_pylist() == [texts[place] for place in order]

    def test_packed_by_any_common_method_are_read(self, tmp_path):
        path = tmp_path / "a.zip"
        text = b"many words and some more of them " * 9000
        with zipfile.ZipFile(path, "w") as packing:
            for name, method in (("s", 0), ("d", 8), ("b", 12), ("l", 14)):
                packing.writestr(f"{name}.txt", text, method)
        found = dict(ids_and_texts(path))
        assert sorted(found) == ["a.zip/b.txt", "a.zip/d.txt", "a.zip/s.txt"]
        assert set(found.values()) == {text.decode()}
        assert reasons(open_corpus([path]), path) == {
            "l.txt": "packed in a way that cannot be read"
        }


class TestPassedOver:
    @pytest.mark.parametrize("kind", KINDS)
    def test_are_named_with_the_reason(self, tmp_path, kind):
        others = {
            ".hidden.txt": b"no",
            ".git/config": b"no",
            "cat.png": BINARY,
            "really.txt": BINARY,
            "vectors.npy": b"\x93NUMPY",
            "inner.tar.gz": b"an archive",
            "in.zip": b"another",
            "../out.txt": b"no",
            "/root.txt": b"no",
            "C:\\boot.ini": b"no",
        }
        path = archive(tmp_path / f"a{kind}", others | FILES)
        corpus = open_corpus([path])
        assert [one[:2] for one in documents(corpus)] == labelled(path.name)
        outside = "name that leads out of the archive"
        assert reasons(corpus, path) == {
            ".hidden.txt": "hidden",
            ".git/config": "hidden",
            "cat.png": "binary",
            "really.txt": "binary",
            "vectors.npy": "of another kind",
            "inner.tar.gz": "archive inside an archive",
            "in.zip": "archive inside an archive",
            "../out.txt": outside,
            "root.txt": outside,
            "C:\\boot.ini": outside,
        }

    @pytest.mark.parametrize("kind", KINDS)
    def test_are_those_that_were_not_asked_for(self, tmp_path, kind):
        archive(tmp_path / f"a{kind}", {"x.txt": b"x", "x.md": b"y", "drafts/x.txt": b"z"})

        def read(**chosen):
            options: Any = {name: tuple(value) for name, value in chosen.items()}
            found = ids_and_texts(tmp_path, chosen=ChosenFiles(**options))
            return [name.removeprefix(f"a{kind}/") for name, _ in found]

        assert read(include=["*.txt"]) == ["x.txt", "drafts/x.txt"]
        assert read(include=["drafts/*"]) == ["drafts/x.txt"]
        assert read(include=[f"*{kind}"]) == ["x.txt", "x.md", "drafts/x.txt"]
        assert read(exclude=["drafts"]) == ["x.txt", "x.md"]
        assert read(include=["*.txt"], exclude=["drafts"]) == ["x.txt"]
        with pytest.raises(SourceError, match=r"holds no document.*1 excluded"):
            read(exclude=[f"*{kind}"])

    def test_are_links_devices_and_sparse_files_of_tars(self, tmp_path):
        entries = [(tarfile.TarInfo("a.txt"), b"a")]
        for name, kind in (
            ("soft", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("pipe", tarfile.FIFOTYPE),
            ("disk", tarfile.BLKTYPE),
            ("tty", tarfile.CHRTYPE),
            ("folder", tarfile.DIRTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            entries.append((info, b""))
        sparse = tarfile.TarInfo("holes")
        sparse.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9"}
        entries.append((sparse, b"x"))
        path = tmp_path / "a.tar"
        path.write_bytes(tar_of(entries))
        assert ids_and_texts(path) == [("a.tar/a.txt", "a")]
        assert reasons(open_corpus([path]), path) == {
            **dict.fromkeys(("soft", "hard"), "link in an archive"),
            **dict.fromkeys(("pipe", "disk", "tty"), "not a file"),
            "holes": "sparse file in an archive",
        }

    def test_are_links_and_locked_members_of_zips(self, tmp_path):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as packing:
            packing.writestr("a.txt", "a")
            link = zipfile.ZipInfo("link")
            link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            packing.writestr(link, "/etc/passwd")
            packing.writestr("secret.txt", "s")
        data = path.read_bytes()
        at = data.rindex(b"PK\x01\x02")
        path.write_bytes(data[: at + 8] + b"\x01" + data[at + 9 :])
        assert ids_and_texts(path) == [("a.zip/a.txt", "a")]
        assert reasons(open_corpus([path]), path) == {
            "link": "link in an archive",
            "secret.txt": "locked with a password",
        }

    @pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_are_earlier_members_of_a_name_as_if_unpacked(self, tmp_path, kind):
        path = tmp_path / f"a{kind}"
        twice = [
            ("a.txt", b"old"),
            ("b.txt", b"b"),
            ("./a.txt", b"new"),
            ("c", BINARY),
            ("c", b"c"),
        ]
        if kind == ".zip":
            with zipfile.ZipFile(path, "w") as packing:
                for name, content in twice:
                    packing.writestr(name, content)
        else:
            path.write_bytes(packed(tar_of((tarfile.TarInfo(n), c) for n, c in twice), path.name))
        assert [text for _, text in ids_and_texts(path)] == ["b", "new", "c"]
        corpus = open_corpus([path])
        assert [(one.path.rpartition("/")[2], one.reason) for one in corpus.unread] == [
            ("a.txt", "replaced further on in the archive"),
            ("c", "binary"),
            ("c", "replaced further on in the archive"),
        ]
        assert not corpus.unread_files(set())

    def test_all_of_them_make_an_error(self, tmp_path):
        path = archive(tmp_path / "a.zip", {".a": b"", "b.png": BINARY})
        message = refusal(path)
        assert "holds no document that can be read (2 files skipped: 1 hidden" in message

    def test_a_name_that_is_no_text_is_refused_or_passed_over(self, tmp_path):
        bad = tarfile.TarInfo("caf\udce9.txt")
        path = tmp_path / "a.tar"
        data = tar_of([(tarfile.TarInfo("a.txt"), b"a")])
        header = bad.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
        path.write_bytes(header + data)
        assert r"caf\xe9.txt is not UTF-8: rename the file" in refusal(path)
        corpus = open_corpus([path], skip_bad=True)
        assert [one[:2] for one in documents(corpus)] == [("a.tar/a.txt", "a")]
        assert len(bad_of(corpus)) == 1


class TestDamage:
    @pytest.mark.long
    @pytest.mark.parametrize("kind", TARS[1:])
    def test_a_packed_tar_that_breaks_off_is_one_line(self, tmp_path, kind):
        noise = random.Random(3).randbytes(1_000_000).hex().encode()
        path = archive(tmp_path / f"a{kind}", {"a.txt": b"whole", "b.txt": noise, "c.txt": b"c"})
        path.write_bytes(path.read_bytes()[:-100_000])
        assert f"{path} is not whole" in refusal(path)
        corpus = open_corpus([path], skip_bad=True)
        assert documents(corpus)[0][:2] == (f"a{kind}/a.txt", "whole")
        assert any("is not whole" in line for line in bad_of(corpus))

    def test_a_tar_that_breaks_off_or_is_none_is_one_line(self, tmp_path):
        path = archive(tmp_path / "a.tar", {"a.txt": b"a" * 2000, "b.txt": b"b" * 2000})
        data = path.read_bytes()
        for damage, reason in (
            (data[:1000], "it breaks off"),
            (data[:3600], "it breaks off"),
            (data[:2600], "at byte 2,561 is no header"),
            (data[:2560] + b"x" * 512 + data[3072:], "at byte 2,561 is no header"),
            (b"no tar at all", "truncated header"),
            (b"", "empty file"),
        ):
            path.write_bytes(damage)
            assert f"is not a whole tar archive: {reason}; make it again" in refusal(path)

    def test_a_zip_that_is_none_is_one_line(self, tmp_path):
        path = archive(tmp_path / "a.zip", FILES)
        for damage in (path.read_bytes()[:-30], b"", b"PK\x05\x06" + b"\xff" * 18):
            path.write_bytes(damage)
            assert "is not a whole ZIP archive: " in refusal(path)
        (tmp_path / "b.txt").write_text("b")
        corpus = open_corpus([tmp_path], skip_bad=True)
        assert [one[:2] for one in documents(corpus)] == [("b.txt", "b")]
        assert "is not a whole ZIP archive" in bad_of(corpus)[0]

    @pytest.mark.parametrize("method", [0, 8, 12])
    def test_a_member_of_a_zip_that_is_damaged_is_named(self, tmp_path, method):
        path = tmp_path / "a.zip"
        noise = random.Random(5).randbytes(2000).hex()
        with zipfile.ZipFile(path, "w", method) as packing:
            packing.writestr("a.txt", noise)
            packing.writestr("b.txt", "b")
        data = bytearray(path.read_bytes())
        data[1000] ^= 1
        path.write_bytes(data)
        assert f"{path}/a.txt is damaged in its archive (" in refusal(path)
        corpus = open_corpus([path], skip_bad=True)
        assert [one[:2] for one in documents(corpus)] == [("a.zip/b.txt", "b")]

    def test_a_member_that_is_not_where_the_directory_says_is_named(self, tmp_path):
        path = archive(tmp_path / "a.zip", {"a.txt": b"a"})
        path.write_bytes(b"XX" + path.read_bytes()[2:])
        assert "it does not begin as a member" in refusal(path)

    @pytest.mark.parametrize("kind", KINDS)
    def test_an_archive_that_changes_while_it_is_read_is_refused(self, tmp_path, kind):
        path = archive(tmp_path / f"a{kind}", FILES)
        corpus = open_corpus([path])
        archive(path, FILES | {"more.txt": b"more of them"})
        with pytest.raises(SourceError, match="has changed since it was listed"):
            list(corpus.batches())

    def test_several_streams_in_one_file_are_read_one_after_the_other(self, tmp_path):
        data = tar_of((tarfile.TarInfo(name), content) for name, content in FILES.items())
        halves = data[:1000], data[1000:]
        for kind, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
            between = b"\0" * 8 if kind == ".xz" else b""
            path = tmp_path / f"a.tar{kind}"
            path.write_bytes(between.join(map(pack, halves)))
            assert ids_and_texts(path) == labelled(path.name)


def bomb_of_tar(members, size):
    """Give a tar of headers that promise more than there is."""
    data = b""
    for number in range(members):
        info = tarfile.TarInfo(f"{number}.txt")
        info.size = size
        data += info.tobuf(tarfile.GNU_FORMAT)
    return data


class TestBounds:
    def test_what_unpacks_to_far_more_than_it_is_is_refused_before_it_is_unpacked(self, tmp_path):
        path = tmp_path / "a.tar.gz"
        path.write_bytes(packed(bomb_of_tar(1, 1 << 40), path.name))
        message = refusal(path)
        assert "would unpack to 1.1 TB or more, over 1,000 times its" in message
        assert message.endswith("leave it out, or unpack it yourself and read the folder")

    def test_folders_without_end_are_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(archive_listing, "ALWAYS_UNPACKED", 1 << 16)
        monkeypatch.setattr(archive_listing, "MAX_RATIO", 10)
        info = tarfile.TarInfo("folder")
        info.type = tarfile.DIRTYPE
        path = tmp_path / "a.tar.gz"
        path.write_bytes(packed(info.tobuf() * 1000, path.name))
        assert "would unpack to" in refusal(path)

    def test_members_of_a_zip_that_share_their_bytes_are_a_bomb(self, tmp_path):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packing:
            packing.writestr("a.txt", b"\0" * (64 << 20))
        data = path.read_bytes()
        at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
        directory = data[at:end] * 1000
        tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1000, 1000, len(directory), at, 0)
        path.write_bytes(data[:at] + directory + tail)
        assert "would unpack to" in refusal(path)

    @pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
    def test_so_many_members_that_their_list_would_not_fit_are_refused(
        self, tmp_path, kind, monkeypatch
    ):
        monkeypatch.setattr(archive_listing, "MEMBER_MEMORY", MIN_BYTES // 10)
        path = archive(tmp_path / f"a{kind}", {f"{number}.txt": b"x" for number in range(10)})
        assert len(ids_and_texts(path, memory=MIN_BYTES)) == 10
        archive(path, {f"{number}.txt": b"x" for number in range(11)})
        message = refusal(path, memory=MIN_BYTES)
        assert "holds more than 10 members, the most that are listed with 500.0 MB" in message
        assert message.endswith("raise memory=, unpack it or leave it out")

    def test_a_directory_of_a_zip_that_would_not_fit_is_not_read(self, tmp_path, monkeypatch):
        monkeypatch.setattr(archive_listing, "DIRECTORY_BYTES", 1)
        monkeypatch.setattr(archive_listing, "MEMBER_MEMORY", MIN_BYTES // 10)
        path = archive(tmp_path / "a.zip", {"a.txt": b"x"})
        monkeypatch.setattr(zipfile, "ZipFile", None)
        assert "holds more than 10 members" in refusal(path, memory=MIN_BYTES)

    def test_a_header_of_a_tar_that_would_not_fit_is_not_read(self, tmp_path):
        path = tmp_path / "a.tar.gz"
        info = tarfile.TarInfo("x")
        info.type, info.size = tarfile.XHDTYPE, 64 << 20
        path.write_bytes(packed(info.tobuf() + b"\0" * (64 << 20), path.name))
        tracemalloc.start()
        try:
            assert "a header of 67.1 MB is too long" in refusal(path)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()

    def test_headers_without_end_are_refused(self, tmp_path):
        path = tmp_path / "a.tar"
        info = tarfile.TarInfo("x")
        info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1
        path.write_bytes((info.tobuf() + b"x" + b"\0" * 511) * 3000)
        assert "is not a whole tar archive" in refusal(path)

    def test_a_member_goes_back_no_further_than_it_began(self, tmp_path):
        path = tmp_path / "a.tar"
        info = tarfile.TarInfo("x.txt")
        info.size = -1024
        path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024)
        assert "is not a whole tar archive" in refusal(path)

    @pytest.mark.long
    @pytest.mark.parametrize("kind", [".zip", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"])
    def test_a_text_that_would_not_fit_is_refused_and_not_held(self, tmp_path, kind):
        path = archive(tmp_path / f"a{kind}", {"a.txt": b"a " * (32 << 20)})
        tracemalloc.start()
        try:
            assert f"{path}/a.txt is longer than" in refusal(path, memory=MIN_BYTES)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
    def test_a_table_that_is_read_to_and_fro_fits_or_is_refused(self, tmp_path, kind, monkeypatch):
        monkeypatch.setattr("lookalike.read.streams.MIN_RECORD_BYTES", 1 << 16)
        monkeypatch.setattr("lookalike.read.streams.RECORD_LIMIT_BYTES", 1 << 16)
        noise = random.Random(2).randbytes(1 << 17).hex()
        pq.write_table(pa.table({"text": [noise[:40_000], noise[40_000:]]}), tmp_path / "t.parquet")
        path = archive(tmp_path / f"a{kind}", {"t.parquet": (tmp_path / "t.parquet").read_bytes()})
        message = refusal(path, memory=1 << 19)
        assert "t.parquet, which is read as a whole out of its archive, has" in message
        assert "raise memory=, or leave it out" in message

    @pytest.mark.long
    def test_a_zip_unpacks_no_further_than_it_is_read(self, tmp_path):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as packing:
            packing.writestr("a.txt", b"a" * (200 << 20))
        tracemalloc.start()
        try:
            refusal(path, memory=MIN_BYTES)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()


class TestTurns:
    @pytest.fixture
    def begun(self, monkeypatch):
        """Count how often an archive was begun from its first byte, after it was listed."""
        made = []

        def counted(shard):
            made.append(shard)
            return Stream(shard)

        monkeypatch.setattr(archives, "Stream", counted)
        return made

    @pytest.mark.parametrize("threads", [1, 2])
    def test_a_packed_tar_is_unpacked_once_for_all_of_its_members(self, tmp_path, begun, threads):
        table = write_records(tmp_path / "t.parquet", RECORDS).read_bytes()
        files = {f"{number:03}.txt": f"text {number}".encode() for number in range(400)}
        files |= {f"{number}.jsonl": as_lines([{"text": "x" * 9}] * 30000) for number in range(4)}
        files |= {"t.parquet": table, "u.csv": b"id,text\n1,one\n"}
        path = archive(tmp_path / "a.tar.gz", files)
        found = open_corpus([path])
        assert sum(map(len, found.batches(threads=threads))) == 400 + 4 * 30000 + 20 + 1
        assert len(begun) == 1

    def test_one_that_is_large_is_read_in_turn_too(self, tmp_path, begun, monkeypatch):
        monkeypatch.setattr("lookalike.read.shard_tasks.HELD_BYTES", 100)
        table = write_records(tmp_path / "t.parquet", RECORDS).read_bytes()
        files = {"a.txt": b"a" * 500, "t.parquet": table, "b.txt": b"b" * 500}
        path = archive(tmp_path / "a.tar.gz", files)
        assert len(ids_and_texts(path)) == 22
        assert len(begun) == 1

    def test_originals_in_their_order_unpack_it_once(self, tmp_path, begun):
        files = {f"{number:03}.txt": f"text {number}".encode() for number in range(50)}
        corpus = open_corpus([archive(tmp_path / "a.tar.zst", files)])
        found = corpus.originals(np.arange(50, dtype=np.int32)[::-1], np.ones(50, np.int64))
        assert found.texts.to_pylist() == [f"text {number}" for number in reversed(range(50))]
        assert len(begun) == 1

    def test_originals_of_a_packed_member_go_forward(self, tmp_path, monkeypatch):
        lines = as_lines([{"id": n, "text": f"{n} " * 100} for n in range(20_000)])
        corpus = open_corpus([archive(tmp_path / "a.zip", {"a.jsonl": lines})])
        assert sum(map(len, corpus.batches(batch_bytes=2 << 20))) == 20_000
        assert len(corpus.marks) > 1
        opened = []

        def counted(*given):
            opened.append(given)
            return ZipMember(*given)

        monkeypatch.setattr(archives, "ZipMember", counted)
        places = np.arange(1, 20_001, 1000)
        found = corpus.originals(np.zeros(len(places), np.int32), places)
        assert found.ids.to_pylist() == (places - 1).tolist()
        assert len(opened) <= 2

    def test_a_stored_crawl_in_a_packed_tar_is_read_in_turn(self, tmp_path, begun):
        pytest.importorskip("fastwarc")
        crawl = warc([answer(f"https://a/{n}", b"<p>x" * 999, n) for n in range(50)], ".gz")
        files = {f"{number}.warc.gz": crawl for number in range(5)}
        path = archive(tmp_path / "a.tar.gz", files)
        assert len(ids_and_texts(path, id="none")) == 250
        assert len(begun) == 1

    def test_a_long_member_is_read_again_from_its_start(self, tmp_path, monkeypatch):
        monkeypatch.setattr(archives, "HEAD_BYTES", 100)
        lines = as_lines([{"id": number, "text": f"line {number}"} for number in range(5000)])
        path = archive(tmp_path / "a.tar.gz", {"a.txt": b"a", "b.jsonl": lines, "c.txt": b"c"})
        found = ids_and_texts(path)
        assert [text for _, text in found[1:-1]] == [f"line {number}" for number in range(5000)]
        assert found[-1] == ("a.tar.gz/c.txt", "c")


def test_an_archive_is_known_again_by_its_own_mark(tmp_path):
    path = archive(tmp_path / "a.zip", {"a.txt": b"a", "b.txt": b"b"})
    identity = open_corpus([path]).identity()
    state = path.stat()
    assert identity == [[f"{path}/{name}.txt", 1, state.st_mtime_ns] for name in "ab"]
