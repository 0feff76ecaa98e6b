"""Files that an address names, in whatever store Arrow or fsspec can open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SourceError
from lookalike.base.index_files import NO_DOCUMENT, SERVERS
from lookalike.read.content import check_named, look_at_all
from lookalike.read.files import (
    ARRAY,
    HIDDEN,
    ONE_DOCUMENT,
    OTHER_KIND,
    PLAIN_TEXT,
    FileKind,
    Listing,
    Shard,
    Source,
    one_line,
    unreadable,
)
from lookalike.read.matches import readable_matches
from lookalike.read.patterns import Pattern, is_hidden, is_own, is_pattern
from lookalike.read.saved_datasets import SavedDatasets
from lookalike.read.spark_folders import folders_of_parts, is_beside_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["add_stored", "addressed"]


def addressed(address: str, found: Listing) -> Iterator[Source]:
    """Open the file system that an address names, and match its pattern."""
    place, mark, query = address.partition("?")
    if mark and "=" not in query:  # a pattern: options are written name=value
        place, query = address, ""
    scheme, _, rest = place.partition("://")
    display_name = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest
    parts = rest.split("/")
    plain = next((i for i, part in enumerate(parts) if is_pattern(part)), len(parts))
    options = f"?{query}" if query else ""
    system, base = _file_system(scheme, "/".join(parts[:plain]), options)
    if plain == len(parts):
        yield Source(f"{scheme}://{display_name}", base, system)
        return
    pattern = Pattern(parts[plain:])
    base = base.rstrip("/")
    top = "/".join(display_name.split("/")[:plain])
    matched = []
    for name, _ in _stored_files(system, base, f"{scheme}://{top}", found):
        whole = f"{scheme}://{top}/{name}"
        if pattern.matches(name, with_hidden=found.chosen.all_files):
            matched.append(Source(whole, f"{base}/{name}", system, matched=True))
        elif pattern.matches(name, with_hidden=True):
            found.note_skipped(HIDDEN, [whole])
    yield from readable_matches(matched, f"{scheme}://{display_name}", found)


def _file_system(scheme: str, rest: str, options: str) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow import fs

    if f"{scheme}://" in SERVERS:
        # Without the rest, in which a password may be.
        raise SourceError(f"{scheme}:// {NO_DOCUMENT}")
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


def add_stored(source: Source, found: Listing, *, several: bool) -> None:
    """Add a file or a folder of a file system that is reached by an address."""
    from pyarrow import fs

    info = source.system.get_file_info(source.path)
    if info.type == fs.FileType.NotFound:
        raise SourceError(f"{source.name} does not exist: check the address")
    if info.type == fs.FileType.File:
        kind = found.kinds.tell(source.name, source.path, source.system, within=source.matched)
        if kind is None and not source.matched:
            check_named(source.name, source.path, found.encodings, source.system)
        kind = kind or PLAIN_TEXT
        one = kind[0] in ONE_DOCUMENT.values()
        label = source.name if several or one else PurePosixPath(source.name).name
        found.shards.append(_stored(source.name, label, kind, info, source.system, source.matched))
        return
    base, name = source.path.rstrip("/"), source.name.rstrip("/")
    files = _stored_files(source.system, base, name, found)
    passed = dict.fromkeys(_beside_parts([inner for inner, _ in files], found), HIDDEN)
    passed |= {inner: reason for inner, _ in files if (reason := _refusal(name, inner, found))}
    refused = set(passed)
    saved = SavedDatasets(source.system)
    asked_for = [file for file in files if file[0] not in refused]
    passed |= {inner: why for inner, info in asked_for if (why := saved.reason(info.path))}
    readable = [(inner, info.path) for inner, info in asked_for if inner not in passed]
    told = found.kinds.tell_all(readable, source.system)
    kinds = {inner: kind for (inner, _), kind in zip(readable, told, strict=True)}
    passed |= _no_texts(source.system, readable, kinds, found)
    for inner, info in files:
        label = f"{name}/{inner}" if several else inner
        kind = kinds.get(inner) or PLAIN_TEXT
        shard = _stored(f"{name}/{inner}", label, kind, info, source.system, True)
        if inner in passed:
            found.pass_over(shard.name, passed[inner])
            if inner not in refused:
                found.set_aside.append(replace(shard, kind=PLAIN_TEXT[0], packed=None))
        else:
            found.shards.append(shard)


def _beside_parts(paths: list[str], found: Listing) -> Iterator[str]:
    """Give the files that stand beside the parts of a table, or below what does."""
    if found.chosen.all_files:
        return
    of_parts = folders_of_parts(paths)
    for path in paths:
        parts = path.split("/")
        beside = (at for at, part in enumerate(parts) if is_beside_parts(part))
        if any("/".join(parts[:at]) in of_parts for at in beside):
            yield path


def _refusal(folder: str, inner: str, found: Listing) -> str:
    """Say why a file in a folder is skipped for its name; nothing where it is not."""
    hidden = [part for part in inner.split("/") if is_hidden(part)]
    if hidden and (not found.chosen.all_files or any(map(is_own, hidden))):
        return HIDDEN
    return found.refusal(f"{folder}/{inner}", inner)


def _no_texts(
    system: Any,
    files: list[tuple[str, str]],
    kinds: Mapping[str, FileKind | None],
    found: Listing,
) -> dict[str, str]:
    """Give the files in a folder that are not read there, and why."""
    passed = {inner: OTHER_KIND for inner, kind in kinds.items() if kind == ARRAY}
    unknown = [file for file in files if kinds[file[0]] is None]
    reasons = look_at_all(((path, system) for _, path in unknown), found.encodings)
    named = zip(unknown, reasons, strict=True)
    return passed | {inner: reason for (inner, _), reason in named if reason}


def _stored(name: str, label: str, kind: FileKind, info: Any, system: Any, within: bool) -> Shard:
    modified, (told, packed) = info.mtime_ns or 0, kind
    return Shard(name, label, told, info.size, modified, info.path, packed, system, within=within)


def _stored_files(
    system: Any, base: str, display_name: str, found: Listing
) -> list[tuple[str, Any]]:
    """Give the files below a folder with their names in it, sorted as those of a folder on disk."""
    from pyarrow import fs

    try:
        if _is_local(system):
            infos = _local_files(system, base, found)
        else:
            infos = system.get_file_info(fs.FileSelector(base, recursive=True))
    except OSError as error:
        raise unreadable(display_name, error) from None
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
                found.note_skipped("link to a folder", [info.path])
            else:
                waiting.append(info.path)
    return infos


def _walking_order(name: str) -> list[tuple[bool, str]]:
    """Sort files of a folder before those of the folders in it."""
    *folders, last = name.split("/")
    return [*((True, folder) for folder in folders), (False, last)]
