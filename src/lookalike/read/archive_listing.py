"""What archives hold: each file in one as a file of the corpus, or skipped and named."""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.base.wording import setting
from lookalike.read.archives import Archive, Turn
from lookalike.read.chosen_files import EXCLUDED, NOT_INCLUDED
from lookalike.read.content import HEAD_BYTES, no_text
from lookalike.read.files import (
    ARCHIVES,
    ARRAY,
    HIDDEN,
    OTHER_KIND,
    PLAIN_TEXT,
    Listing,
    Shard,
    misnamed,
    one_line,
)
from lookalike.read.patterns import is_hidden, is_own
from lookalike.read.saved_datasets import SavedDatasets
from lookalike.read.streams import Bounds, Stream, opened
from lookalike.read.unpacking import METHODS, Member, ZipMember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["expand"]

NESTED = "archive inside an archive"
LINK, NO_FILE, SPARSE = "link in an archive", "not a file", "sparse file in an archive"
LOCKED, UNKNOWN_METHOD = "locked with a password", "packed in a way that cannot be read"
OUTSIDE, REPLACED = "name that leads out of the archive", "replaced further on in the archive"
"""Why members are skipped."""

MAX_MEMBERS = 1 << 22
MEMBER_MEMORY = 1 << 12
"""Bytes of memory for each member that there may be: more than it takes to list it."""
DIRECTORY_BYTES = 256
"""Bytes of the directory of a ZIP archive for each member that there may be."""
MAX_RATIO, ALWAYS_UNPACKED = 1000, 1 << 30
"""Bytes that unpack from one, and bytes that are unpacked whatever they are packed to."""
HEADER_BYTES = 1 << 20
"""Bytes of the headers of a member of a tar, at the most: its name and what else is told of it."""
DIRECTORY_END, DIRECTORY_END_64, LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
TAIL_BYTES = 22 + (1 << 16) + 20 + 56
"""Bytes at the end of a ZIP archive that say where its directory is, with the longest comment."""
BLOCK_BYTES = 512
IS_LOCKED = 0x41
UNIX = 3
DRIVE = re.compile(r"[A-Za-z]:")


class Entry(NamedTuple):
    """What an archive holds, as it lists it."""

    name: str
    member: Member
    reason: str
    """Why it is skipped; nothing where it is a file."""
    head: Callable[[int], bytes]
    """Gives so many of its first bytes, or all."""


def expand(found: Listing, first: int, bounds: Bounds) -> None:
    """Put members in the place of the archives among the files found, from one on."""
    listed, found.shards = found.shards[first:], found.shards[:first]
    turn = Turn()
    for shard in listed:
        if shard.kind not in ("zip", "tar") or shard.problem:
            found.shards.append(shard)
            continue
        listing = _ArchiveListing(Archive(shard, bounds, turn), found)
        try:
            listing.run()
        except (SourceError, OSError) as error:
            listing.finish()
            found.fail(shard.name, error, None if listing.shards else shard)
        else:
            listing.finish()
            if not listing.shards and listing.is_closed:
                found.set_aside.append(replace(shard, kind="text", packed=None))


@dataclass
class _ArchiveListing:
    archive: Archive
    found: Listing
    shards: dict[str, Shard] = field(default_factory=dict)
    """Of the members, by their names in the archive."""
    aside: set[str] = field(default_factory=set)
    """Those of them that cannot be read, but copied."""
    unpacked: int = 0
    is_closed: bool = False
    """It has members that cannot be unpacked."""

    def run(self) -> None:
        """List the members, within what an archive may hold."""
        entries = _zip_entries if self.archive.shard.kind == "zip" else _tar_entries
        for number, entry in enumerate(entries(self.archive)):
            if number >= max_members(self.archive.bounds):
                raise too_many(self.archive)
            self.unpacked += entry.member.size
            _check_ratio(self.archive.shard, self.unpacked)
            self._add(entry)

    def finish(self) -> None:
        """Add what was listed to the files of the corpus."""
        saved = SavedDatasets(self.archive)
        for name, shard in self.shards.items():
            if name not in self.aside and (reason := saved.reason(name)):
                self.found.pass_over(shard.name, reason)
                self.found.set_aside.append(replace(shard, kind="text", packed=None))
                continue
            (self.found.set_aside if name in self.aside else self.found.shards).append(shard)

    def _add(self, entry: Entry) -> None:
        found, archive = self.found, self.archive
        parts = [part for part in entry.name.split("/") if part not in ("", ".")]
        name = "/".join(parts)
        shown = f"{archive.shard.name}/{name}"
        self.is_closed |= entry.reason in (LOCKED, UNKNOWN_METHOD)
        reason = entry.reason or _leads_out(entry.name) or self._refusal(parts)
        if reason:
            if reason != HIDDEN or not any(map(is_own, parts)):
                found.pass_over(shown, reason)
            return
        if (problem := misnamed(shown)) is not None:
            archive.members[name] = entry.member
            found.fail(shown, problem, self._shard(name, PLAIN_TEXT, entry))
            return
        if self.shards.pop(name, None) is not None:
            self.aside.discard(name)
            found.pass_over(shown, REPLACED)
        kind = found.kinds.tell_member(name, entry.head)
        if kind in ARCHIVES.values():
            reason = NESTED
        elif kind == ARRAY:
            reason = OTHER_KIND
        elif kind is None:
            reason = no_text(entry.head(HEAD_BYTES), found.encodings, name)
        if reason:
            self.aside.add(name)
            found.pass_over(shown, reason)
        archive.members[name] = entry.member
        self.shards[name] = self._shard(name, PLAIN_TEXT if reason or kind is None else kind, entry)

    def _shard(self, name: str, kind: tuple[str, str | None], entry: Entry) -> Shard:
        of = self.archive.shard
        return Shard(
            f"{of.name}/{name}",
            f"{of.label}/{name}",
            kind[0],
            entry.member.size,
            of.modified,
            name,
            kind[1],
            self.archive,
            within=True,
            is_streamed=of.packed is not None or METHODS[entry.member.method] is not None,
        )

    def _refusal(self, parts: list[str]) -> str:
        """Say why a member is skipped for its name, as a file of a folder is."""
        chosen = self.found.chosen
        hidden = [part for part in parts if is_hidden(part)]
        if hidden and (not chosen.all_files or any(map(is_own, hidden))):
            return HIDDEN
        ways = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        if chosen.exclude and any(map(chosen.excludes, ways)):
            return EXCLUDED
        reason = chosen.refusal("/".join(parts))
        is_whole = self.archive.shard.name in self.found.whole_archives
        return "" if is_whole and reason == NOT_INCLUDED else reason


def _leads_out(name: str) -> str:
    """Refuse a name that would stand beside the archive were it unpacked there."""
    parts = re.split(r"[/\\]", name)
    inside = parts[0] and ".." not in parts and not DRIVE.match(name) and set(parts) - {"."}
    return "" if inside else OUTSIDE


def max_members(bounds: Bounds) -> int:
    """Give how many members an archive may have, so that their list fits in memory."""
    return (
        MAX_MEMBERS if bounds.memory is None else min(MAX_MEMBERS, bounds.memory // MEMBER_MEMORY)
    )


def too_many(archive: Archive) -> SourceError:
    """Say that an archive has too many members."""
    bounds, limit = archive.bounds, max_members(archive.bounds)
    why, remedy = "", ""
    if bounds.memory is not None and limit < MAX_MEMBERS:
        why, remedy = f" with {size(bounds.memory)} of memory", f"raise {setting('memory')}, "
    return SourceError(
        f"{archive.shard.name} holds more than {limit:,} members, the most that are listed{why}: "
        f"{remedy}unpack it or leave it out"
    )


def _check_ratio(shard: Shard, unpacked: int) -> None:
    """Refuse an archive that holds next to nothing, of which no end can be seen when unpacked."""
    if unpacked > max(ALWAYS_UNPACKED, MAX_RATIO * shard.size):
        raise SourceError(
            f"{shard.name} would unpack to {size(unpacked)} or more, over {MAX_RATIO:,} times its "
            f"{size(shard.size)}: leave it out, or unpack it yourself and read the folder"
        )


def _zip_entries(archive: Archive) -> Iterator[Entry]:
    import zipfile

    shard = archive.shard
    with opened(shard) as stream:
        file = archive.stored()
        with file:
            if _directory_bytes(file) > DIRECTORY_BYTES * max_members(archive.bounds):
                raise too_many(archive)
            try:
                with zipfile.ZipFile(file) as directory:
                    listed = directory.infolist()
            except Exception as error:  # a broken file breaks its reader in any way
                raise SourceError(
                    f"{shard.name} is not a whole ZIP archive: {one_line(error)}; make it again"
                ) from None
        stream.check()
    for info in listed:
        if not info.is_dir():
            yield _zip_entry(archive, info)


def _zip_entry(archive: Archive, info: Any) -> Entry:
    reason = ""
    mode = info.external_attr >> 16
    if info.create_system == UNIX and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        reason = LINK if stat.S_ISLNK(mode) else NO_FILE
    elif info.flag_bits & IS_LOCKED:
        reason = LOCKED
    elif info.compress_type not in METHODS:
        reason = UNKNOWN_METHOD
    packed = info.compress_size, info.compress_type, info.CRC
    member = Member(info.header_offset, info.file_size, *packed)

    def head(most: int) -> bytes:
        name = f"{archive.shard.name}/{info.filename}"
        try:
            with ZipMember(archive.stored(), name, member) as file:
                return file.read(most)
        except (SourceError, OSError):  # its reader refuses it
            return b""

    return Entry(info.filename, member, reason, head)


def _directory_bytes(file: Any) -> int:
    """Tell how long the list of members is, which is read whole."""
    end: int = file.seek(0, 2)
    file.seek(max(end - TAIL_BYTES, 0))
    tail = file.read(TAIL_BYTES)
    file.seek(0)
    at = tail.rfind(DIRECTORY_END)
    told = [int.from_bytes(tail[at + 12 : at + 16], "little")] if at >= 0 else []
    if at >= 76 and tail[at - 20 : at].startswith(LOCATOR_64):
        record = tail[at - 76 : at - 20]
        if record.startswith(DIRECTORY_END_64):
            told = [int.from_bytes(record[40:48], "little")]
    return min(max(told, default=0), end)


class _Headers:
    """The unpacked bytes of a tar as `tarfile` reads them: headers whole, members skipped."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.last = b""
        """The bytes last read."""

    def tell(self) -> int:
        return self._stream.place

    def seek(self, place: int) -> None:
        stream = self._stream
        if place < stream.place:
            raise _broken(stream.shard, "a member of it has no size that can be")
        shard = stream.shard
        if shard.packed is None and place > shard.size:
            raise _broken(shard, "it breaks off")
        _check_ratio(shard, place)
        stream.skip_to(place)
        if stream.place < place:
            raise _broken(shard, "it breaks off")

    def read(self, wanted: int) -> bytes:
        if wanted > HEADER_BYTES:
            raise _broken(self._stream.shard, f"a header of {size(wanted)} is too long")
        self.last = self._stream.read(wanted)
        _check_ratio(self._stream.shard, self._stream.place)
        return self.last


def _broken(shard: Shard, reason: object) -> SourceError:
    return SourceError(f"{shard.name} is not a whole tar archive: {reason}; make it again")


def _tar_entries(archive: Archive) -> Iterator[Entry]:
    import tarfile

    shard = archive.shard
    with opened(shard) as stream:
        headers: Any = _Headers(stream)
        try:
            tar: Any = tarfile.TarFile(fileobj=headers, errors="surrogateescape", encoding="utf-8")
            while True:
                info = tar.next()
                tar.members.clear()  # it would keep all of them
                if info is None:
                    break
                yield from _tar_entry(info, stream)
        except (tarfile.TarError, ValueError, RecursionError, OverflowError) as error:
            raise _broken(shard, one_line(error)) from None
        if headers.last.strip(b"\0"):
            raise _broken(shard, f"at byte {stream.place - len(headers.last) + 1:,} is no header")


def _tar_entry(info: Any, stream: Stream) -> Iterator[Entry]:
    if info.isdir():
        return
    reason = ""
    if info.issym() or info.islnk():
        reason = LINK
    elif info.issparse():
        reason = SPARSE
    elif not info.isfile():
        reason = NO_FILE
    if info.size < 0:
        raise ValueError(f"a member of it has {info.size} bytes")

    def head(most: int) -> bytes:
        return stream.head(min(info.size, most))

    member = Member(info.offset_data, 0 if reason else info.size)
    yield Entry(info.name, member, reason, head)
