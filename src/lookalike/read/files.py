"""What paths, patterns and addresses stand for: files to read, in a fixed order."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import OutputError, SourceError, UnreadableError
from lookalike.base.wording import count
from lookalike.read.patterns import Pattern, is_pattern, match_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Listing", "Shard", "find_shards", "kind_of", "one_line", "unreadable"]

ONE_DOCUMENT = {
    ".txt": "text",
    ".md": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
RECORDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
PACKED = {".gz": "gzip", ".zst": "zstd"}
KINDS = (
    f"a folder, {', '.join(ONE_DOCUMENT)}, {', '.join(RECORDS)} (also .gz and .zst), .parquet, "
    ".npy, or - for JSONL on standard input"
)
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
PIECE_BYTES = 1 << 20
OWN = ".lookalike-"
"""In the name of every file and folder that a job makes for itself."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a corpus, as it was when it was listed."""

    name: str
    """As shown to users."""
    label: str
    """What the ids of its documents begin with; the id itself where it is one document."""
    kind: str
    """text, html, pdf, docx, jsonl, csv, tsv, parquet or npy."""
    size: int
    """In bytes, as stored."""
    modified: int
    """When, in nanoseconds; 0 where that is not known."""
    path: str
    """By which it is opened."""
    packed: str | None = None
    """gzip or zstd."""
    system: Any = None
    """The Arrow file system that holds it; None for a plain file."""
    digest: str = ""
    """Of the bytes, where they came by standard input."""
    within: bool = False
    """It was found in a folder or by a pattern, not named."""
    problem: str = ""
    """Why it cannot be read, where that was known when it was listed."""

    @property
    def is_one_document(self) -> bool:
        """Tell a file that is one document from one of many records."""
        return self.kind in ONE_DOCUMENT.values()

    def identity(self) -> list[Any]:
        """Give what tells whether the file is still the same."""
        return [self.name, self.size, self.digest or self.modified]


@dataclass
class Listing:
    """The files found, and what was passed over on the way."""

    skip_bad: bool = False
    shards: list[Shard] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unmatched: dict[str, set[str]] = field(default_factory=dict)
    """What patterns passed over, by reason: two of them may meet the same file."""
    temporary: Path | None = None
    """To be removed with the corpus."""

    def fail(self, name: object, error: Exception) -> None:
        """Stop at what cannot be listed, or let the reader name it in its turn."""
        problem = error if isinstance(error, SourceError) else unreadable(name, error)
        if not self.skip_bad:
            raise problem
        shown = os.fsencode(str(name)).decode("utf-8", "backslashreplace")
        self.shards.append(Shard(shown, shown, "", 0, 0, shown, within=True, problem=str(problem)))

    def pass_over(self, reason: str, paths: Iterable[str]) -> None:
        """Count what a pattern passes over, once."""
        self.unmatched.setdefault(reason, set()).update(paths)


@dataclass(frozen=True, slots=True)
class _Source:
    """A path after patterns were matched: how it is shown, and where it is."""

    name: str
    path: str
    system: Any = None
    matched: bool = False
    """By a pattern: it was not named itself."""


def one_line(reason: object) -> str:
    """Put what another library says on one line."""
    return " ".join(str(reason).split()) or type(reason).__name__


def unreadable(name: object, error: Exception) -> SourceError:
    """Say that a file cannot be read, and why."""
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{name} cannot be read: it does not exist, or no longer")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    kind = UnreadableError if isinstance(error, OSError) else SourceError
    return kind(f"{name} cannot be read: {one_line(reason)}")


def kind_of(name: str) -> tuple[str, str | None] | None:
    """Tell from a name what kind of file it is and how it is packed; None if of no kind."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes]
    last = suffixes[-1] if suffixes else ""
    if last in ONE_DOCUMENT:
        return ONE_DOCUMENT[last], None
    if last in RECORDS:
        return RECORDS[last], None
    if last in (".parquet", ".npy"):
        return last[1:], None
    if last in PACKED and len(suffixes) > 1 and suffixes[-2] in RECORDS:
        return RECORDS[suffixes[-2]], PACKED[last]
    return None


def _kind_in_folder(name: str) -> tuple[str, str | None] | None:
    """Tell what kind of file one is in a folder: an array may go with what it holds otherwise."""
    kind = kind_of(name)
    return None if kind == ("npy", None) else kind


def find_shards(
    paths: Sequence[str | os.PathLike[str]], *, spool: Path | None, skip_bad: bool
) -> Listing:
    """Find the files that paths, patterns and addresses stand for.

    Files of several sources are labelled with the path of their source.
    """
    found = Listing(skip_bad)
    sources = [source for path in paths for source in _expanded(os.fspath(path), found)]
    if sum(source.path == "-" for source in sources) > 1:
        raise SourceError("standard input (-) is named twice, but can be read once: name it once")
    several = len(sources) > 1
    matched: set[int] = set()
    for source in sources:
        before = len(found.shards)
        try:
            if source.path == "-" and source.system is None:
                found.shards.append(_standard_input(spool, found))
            elif source.system is not None:
                _add_stored(source, found, several=several)
            else:
                _add_local(source, found, several=several)
        except (OSError, ValueError) as error:
            raise unreadable(source.name, error) from None
        if source.matched:
            matched.update(range(before, len(found.shards)))
    if matched:
        _keep_each_once(found, matched)
    found.skipped.update({reason: len(paths) for reason, paths in found.unmatched.items()})
    found.skipped = +found.skipped
    return found


def _keep_each_once(found: Listing, matched: set[int]) -> None:
    """Leave out files that a pattern matched and that were named, or matched before."""
    places = _places(found.shards)
    seen = {place for number, place in enumerate(places) if number not in matched}
    kept = []
    for number, shard in enumerate(found.shards):
        if number in matched and places[number] in seen:
            continue
        seen.add(places[number])
        kept.append(shard)
    found.shards = kept


def _places(shards: Sequence[Shard]) -> list[tuple[str, str]]:
    """Tell where files are, whatever links lead to their folders; a link to a file is one, too."""
    real = cache(os.path.realpath)
    split = [os.path.split(shard.path) for shard in shards]
    return [
        (real(folder), name) if shard.system is None else ("", shard.name)
        for shard, (folder, name) in zip(shards, split, strict=True)
    ]


def _expanded(name: str, found: Listing) -> Iterator[_Source]:
    if ADDRESS.match(name):
        yield from _addressed(name, found)
    elif name == "-" or not is_pattern(name) or os.path.lexists(name):
        yield _Source(name, name)
    else:
        matches = match_files(name, found.fail)
        found.pass_over("hidden", (path for path in matches.hidden if not _is_own(path)))
        found.pass_over("link to a folder", matches.links)
        sources = [_Source(path, path, matched=True) for path in matches.paths]
        yield from _readable(sources, name, found, links=len(matches.links))


def _is_own(name: str) -> bool:
    """Tell what a job made for itself: what it finds must not depend on where that stands."""
    return OWN in PurePosixPath(name).name


def _readable(
    matched: list[_Source], pattern: str, found: Listing, *, links: int = 0
) -> list[_Source]:
    """Leave out what a pattern matched beside what can be read: arrays, too, unless all are."""
    kept = [
        source
        for source in matched
        if _kind_in_folder(source.name) or (source.system is None and Path(source.path).is_dir())
    ]
    kept = kept or [source for source in matched if kind_of(source.name)]
    if not kept:
        others = f" that can be read, of {len(matched)} matched" if matched else ""
        if links:
            others += f" ({count(links, 'link')} to folders not followed)"
        raise SourceError(f"{pattern} matches no file{others}: check the pattern, or give {KINDS}")
    names = {source.name for source in kept}
    found.pass_over(
        "of another kind", (source.name for source in matched if source.name not in names)
    )
    return kept


def _checked_name(name: str) -> str:
    """Refuse a file name that is no Unicode text: it could be no id."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise SourceError(f"the file name {shown} is not UTF-8: rename the file") from None
    return name


def _add_local(source: _Source, found: Listing, *, several: bool) -> None:
    path = Path(source.path)
    if path.is_dir():
        _add_folder(path, found, several=several)
        return
    kind = kind_of(path.name)
    if not source.matched:
        if not os.path.lexists(path):
            raise SourceError(f"{source.name} does not exist: give {KINDS}")
        if kind is None:
            raise SourceError(f"{source.name} is of a kind that cannot be read: give {KINDS}")
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{source.name} is not a file: give {KINDS}")
    one = kind is not None and kind[0] in ONE_DOCUMENT.values()
    label = path.as_posix() if several or one else path.name
    _add_file(source.path, label, kind, found, within=source.matched)


def _add_file(
    path: str, label: str, kind: tuple[str, str | None] | None, found: Listing, *, within: bool
) -> None:
    """Add a file, or pass it over for what it is; one that was named is bad where it is bad."""
    if kind is None:
        found.skipped["of another kind"] += 1
        return
    try:
        state = os.stat(path)  # noqa: PTH116 - of many files, and a path for each takes time
        label = _checked_name(label)
    except (OSError, ValueError, SourceError) as error:
        if not within:
            raise
        found.fail(path, error)
        return
    if not stat.S_ISREG(state.st_mode):
        found.skipped["not a file"] += 1
        return
    size, modified = state.st_size, state.st_mtime_ns
    found.shards.append(Shard(path, label, kind[0], size, modified, path, kind[1], within=within))


def _add_folder(folder: Path, found: Listing, *, several: bool) -> None:
    prefix = f"{folder.as_posix()}/" if several else ""
    for path in _files(folder, found):
        label = f"{prefix}{path.relative_to(folder).as_posix()}"
        _add_file(str(path), label, _kind_in_folder(path.name), found, within=True)


def _files(folder: Path, found: Listing) -> Iterator[Path]:
    """Give the files below a folder, sorted; hidden ones and links to folders are counted."""
    walk = os.walk(folder, onerror=lambda error: found.fail(error.filename, error))
    for place, folders, files in walk:
        hidden = [name for name in (*folders, *files) if name.startswith(".")]
        found.skipped["hidden"] += sum(not _is_own(name) for name in hidden)
        seen = sorted(name for name in folders if not name.startswith("."))
        links = {name for name in seen if Path(place, name).is_symlink()}
        found.skipped["link to a folder"] += len(links)
        folders[:] = [name for name in seen if name not in links]
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(place, name)


def _standard_input(spool: Path | None, found: Listing) -> Shard:
    """Copy standard input to a file, so that it can be read again."""
    if sys.stdin is None:
        raise SourceError("standard input is closed: pipe JSONL to it, or name a file")
    digest = hashlib.blake2b(digest_size=16)
    try:
        if spool is None:
            handle, name = tempfile.mkstemp(prefix="lookalike-", suffix=".jsonl")
            os.close(handle)
            path = found.temporary = Path(name)
        else:
            path = Path(spool) / "stdin.jsonl"
        with path.open("wb") as target:
            while piece := _more_input():
                digest.update(piece)
                target.write(piece)
        state = path.stat()
    except BaseException as error:
        if found.temporary is not None:
            found.temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        reason = error.strerror or error
        raise OutputError(f"standard input cannot be kept on disk: {reason}; make room") from None
    modified = state.st_mtime_ns
    return Shard("-", "-", "jsonl", state.st_size, modified, str(path), digest=digest.hexdigest())


def _more_input() -> bytes:
    try:
        # What has come so far: a read that waits for a whole piece may sleep through Ctrl-C.
        # The standard streams of the type stubs have no `read1`; those of Python do.
        piece: bytes = sys.stdin.buffer.read1(PIECE_BYTES)  # type: ignore[union-attr]
    except (OSError, ValueError) as error:
        raise unreadable("standard input", error) from None
    return piece


def _addressed(address: str, found: Listing) -> Iterator[_Source]:
    """Open the file system that an address names, and match its pattern."""
    place, mark, query = address.partition("?")
    if mark and "=" not in query:  # a pattern: options are written name=value
        place, query = address, ""
    scheme, _, rest = place.partition("://")
    shown = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest
    parts = rest.split("/")
    plain = next((i for i, part in enumerate(parts) if is_pattern(part)), len(parts))
    options = f"?{query}" if query else ""
    system, base = _file_system(scheme, "/".join(parts[:plain]), options)
    if plain == len(parts):
        yield _Source(f"{scheme}://{shown}", base, system)
        return
    pattern = Pattern(parts[plain:])
    base = base.rstrip("/")
    top = "/".join(shown.split("/")[:plain])
    matched = []
    for name, _ in _stored_files(system, base, f"{scheme}://{top}", found):
        whole = f"{scheme}://{top}/{name}"
        if pattern.matches(name):
            matched.append(_Source(whole, f"{base}/{name}", system, matched=True))
        elif pattern.matches(name, with_hidden=True):
            found.pass_over("hidden", [whole])
    yield from _readable(matched, f"{scheme}://{shown}", found)


def _file_system(scheme: str, rest: str, options: str) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(f"{scheme}://{rest}{options}")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ImportError) as error:
        unknown = error
    except OSError as error:
        raise unreadable(f"{scheme}://", error) from None
    else:
        return system, path
    if scheme in ("s3", "gs", "gcs", "file", "hdfs", "abfs", "abfss"):
        raise SourceError(f"{scheme}:// address cannot be used: {one_line(unknown)}")
    try:
        import fsspec
    except ImportError:
        raise SourceError(
            f"{scheme}:// is not known: pip install fsspec and its package for {scheme}"
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(f"{scheme}://{rest}{options}")
    except (ImportError, ValueError, OSError) as error:
        raise SourceError(f"{scheme}:// cannot be used: {one_line(error)}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def _add_stored(source: _Source, found: Listing, *, several: bool) -> None:
    """Add a file or a folder of a file system that is reached by an address."""
    from pyarrow import fs

    info = source.system.get_file_info(source.path)
    if info.type == fs.FileType.NotFound:
        raise SourceError(f"{source.name} does not exist: check the address")
    if info.type == fs.FileType.File:
        kind = kind_of(source.name)
        if kind is None:
            raise SourceError(f"{source.name} is of a kind that cannot be read: give {KINDS}")
        one = kind[0] in ONE_DOCUMENT.values()
        label = source.name if several or one else PurePosixPath(source.name).name
        found.shards.append(_stored(source.name, label, info, source.system, source.matched))
        return
    base, name = source.path.rstrip("/"), source.name.rstrip("/")
    for inner, info in _stored_files(source.system, base, name, found):
        if any(part.startswith(".") for part in inner.split("/")):
            found.skipped["hidden"] += 1
        elif _kind_in_folder(inner) is None:
            found.skipped["of another kind"] += 1
        else:
            label = f"{name}/{inner}" if several else inner
            found.shards.append(_stored(f"{name}/{inner}", label, info, source.system, True))


def _stored(name: str, label: str, info: Any, system: Any, within: bool) -> Shard:
    kind, packed = kind_of(name) or ("", None)
    modified = info.mtime_ns or 0
    return Shard(name, label, kind, info.size, modified, info.path, packed, system, within=within)


def _stored_files(system: Any, base: str, shown: str, found: Listing) -> list[tuple[str, Any]]:
    """Give the files below a folder with their names in it, sorted as those of a folder on disk."""
    from pyarrow import fs

    try:
        if _is_local(system):
            infos = _local_files(system, base, found)
        else:
            infos = system.get_file_info(fs.FileSelector(base, recursive=True))
    except OSError as error:
        raise unreadable(shown, error) from None
    start = len(base) + 1
    named = [(info.path[start:], info) for info in infos if info.type == fs.FileType.File]
    return sorted(named, key=lambda pair: _walking_order(pair[0]))


def _is_local(system: Any) -> bool:
    """Tell the file system of this machine, by Arrow or by fsspec."""
    protocol = getattr(getattr(getattr(system, "handler", None), "fs", None), "protocol", ())
    named = (protocol,) if isinstance(protocol, str) else protocol
    return system.type_name == "local" or "file" in named


def _local_files(system: Any, base: str, found: Listing) -> list[Any]:
    """Walk through a folder: Arrow and fsspec would follow links to folders round a loop."""
    from pyarrow import fs

    infos, waiting = [], [base]
    while waiting:
        for info in system.get_file_info(fs.FileSelector(waiting.pop())):
            if info.type != fs.FileType.Directory:
                infos.append(info)
            elif Path(info.path).is_symlink():
                found.pass_over("link to a folder", [info.path])
            else:
                waiting.append(info.path)
    return infos


def _walking_order(name: str) -> list[tuple[bool, str]]:
    """Sort files of a folder before those of the folders in it."""
    *folders, last = name.split("/")
    return [*((True, folder) for folder in folders), (False, last)]
