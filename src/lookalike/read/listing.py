"""What paths, patterns and addresses stand for: files to read, in a fixed order."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.base.errors import OutputError, SourceError
from lookalike.base.wording import count
from lookalike.read.archives import Archive
from lookalike.read.chosen_files import EXCLUDED, IGNORED, Ignored
from lookalike.read.content import check_named, look_at
from lookalike.read.file_kinds import FileKinds
from lookalike.read.files import (
    ARRAY,
    HIDDEN,
    KINDS_ARE_LISTED,
    NAMED,
    ONE_DOCUMENT,
    OTHER_KIND,
    PLAIN_TEXT,
    Listing,
    Shard,
    Source,
    Unread,
    described,
    misnamed,
    unreadable,
)
from lookalike.read.matches import readable_matches
from lookalike.read.own_results import OWN_RESULT, RECORD, is_result, refuse_result
from lookalike.read.patterns import is_hidden, is_own, is_pattern, match_files
from lookalike.read.saved_datasets import SavedDatasets
from lookalike.read.spark_folders import holds_parts, is_beside_parts
from lookalike.read.stores import add_stored, addressed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lookalike.read.chosen_files import ChosenFiles
    from lookalike.read.fields import ReadOptions
    from lookalike.read.streams import Bounds

__all__ = ["find_shards"]

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
PIECE_BYTES = 1 << 20


def find_shards(
    paths: Sequence[str | os.PathLike[str]],
    *,
    spool: Path | None,
    options: ReadOptions,
    chosen: ChosenFiles,
) -> Listing:
    """Find the files that paths, patterns and addresses stand for, and those in archives.

    Files of several sources are labelled with the path of their source.
    """
    found = Listing(FileKinds(options), options.skip_bad, chosen, options.encodings)
    given = [[*_expanded(os.fspath(path), found)] for path in paths]
    sources = [source for some in given for source in some]
    if sum(source.path == "-" for source in sources) > 1:
        raise SourceError("standard input (-) is named twice, but can be read once: name it once")
    several = len(sources) > 1
    matched: set[int] = set()
    found.sources = [NAMED] * len(found.shards)  # those that patterns met and could not list
    for number, some in enumerate(given):
        files, passed = len(found.shards), len(found.unread)
        for source in some:
            before = len(found.shards)
            _add(source, found, spool, several=several)
            _expand(found, before, options.bounds)
            if source.matched:
                matched.update(range(before, len(found.shards)))
        if len(found.shards) == files:
            raise _nothing_in(some, found.unread[passed:])
        found.sources += [number if one.within else NAMED for one in found.shards[files:]]
    if matched:
        _drop_repeated(found, matched)
    for reason, unmatched in found.unmatched.items():
        for name in sorted(unmatched):
            found.pass_over(name, reason)
    return found


def _expand(found: Listing, first: int, bounds: Bounds) -> None:
    """Put members in the place of the archives among the files found, from one on."""
    if any(shard.kind in ("zip", "tar") for shard in found.shards[first:]):
        from lookalike.read.archive_listing import expand

        expand(found, first, bounds)


def _add(source: Source, found: Listing, spool: Path | None, *, several: bool) -> None:
    """Add the files of a source."""
    try:
        if source.path == "-" and source.system is None:
            found.shards.append(_standard_input(spool, found))
        elif source.system is not None:
            add_stored(source, found, several=several)
        else:
            _add_local(source, found, several=several)
    except (OSError, ValueError) as error:
        raise unreadable(source.name, error) from None


def _nothing_in(sources: Sequence[Source], unread: Sequence[Unread]) -> SourceError:
    """Say that there is nothing to read in a folder, or in those that a pattern matched."""
    names = ", ".join(source.name for source in sources[:3])
    more = ", …" if len(sources) > 3 else ""
    why = f"{count(len(unread), 'file')} skipped: {described(unread)}" if unread else "empty"
    return SourceError(
        f"{names}{more} holds no document that can be read ({why}): {KINDS_ARE_LISTED}"
    )


def _drop_repeated(found: Listing, matched: set[int]) -> None:
    """Leave out files that a pattern matched and that were named, or matched before."""
    places = _places(found.shards)
    seen = {place for number, place in enumerate(places) if number not in matched}
    kept = []
    for number in range(len(found.shards)):
        if number in matched and places[number] in seen:
            continue
        seen.add(places[number])
        kept.append(number)
    found.shards = [found.shards[number] for number in kept]
    found.sources = [found.sources[number] for number in kept]


def _places(shards: Sequence[Shard]) -> list[tuple[str, str, str]]:
    """Tell where files are, whatever links lead to their folders; a link to a file is one, too."""
    real = cache(os.path.realpath)
    places = []
    for shard in shards:
        is_member = isinstance(shard.system, Archive)
        file, inner = (shard.system.shard, shard.path) if is_member else (shard, "")
        folder, name = os.path.split(file.path)
        places.append(
            (real(folder), name, inner) if file.system is None else ("", file.name, inner)
        )
    return places


def _expanded(name: str, found: Listing) -> Iterator[Source]:
    if ADDRESS.match(name):
        yield from addressed(name, found)
    elif name == "-" or not is_pattern(name) or os.path.lexists(name):
        yield Source(name, name)
    else:
        matches = match_files(name, found.fail, with_hidden=found.chosen.all_files)
        found.note_skipped(HIDDEN, (path for path in matches.hidden if not is_own(path)))
        found.note_skipped("link to a folder", matches.links)
        sources = [Source(path, path, matched=True) for path in matches.paths]
        yield from readable_matches(sources, name, found, links=len(matches.links))


def _add_local(source: Source, found: Listing, *, several: bool) -> None:
    path = Path(source.path)
    if path.is_dir():
        if not source.matched:
            refuse_result(path)
        _add_folder(path, found, several=several)
        return
    kind = None
    if path.is_file():
        kind = found.kinds.tell(source.name, source.path, within=source.matched)
    if not source.matched:
        if not os.path.lexists(path):
            raise SourceError(f"{source.name} does not exist: check its name")
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{source.name} is not a file: {KINDS_ARE_LISTED}")
        if kind is None:
            check_named(source.name, source.path, found.encodings)
    kind = kind or PLAIN_TEXT
    label = path.as_posix() if several or kind[0] in ONE_DOCUMENT.values() else path.name
    _add_file(source.path, label, kind, found, within=source.matched)


def _add_file(
    path: str, label: str, kind: tuple[str, str | None], found: Listing, *, within: bool
) -> None:
    """Add a file, or pass it over for what it is; one that was named is bad where it is bad."""
    try:
        problem = misnamed(label)
        if problem is not None and not within:
            raise problem
        shard = _shard(path, label, kind, within=within)
    except (OSError, ValueError) as error:
        if not within:
            raise
        found.fail(path, error)
        return
    if shard is not None and problem is not None:
        found.fail(path, problem, shard)
    elif shard is None:
        found.pass_over(path, "not a file")
    else:
        found.shards.append(shard)


def _shard(
    path: str, label: str, kind: tuple[str, str | None], *, within: bool = True
) -> Shard | None:
    """Give a file as it is now; None of what is none."""
    state = os.stat(path)  # noqa: PTH116 - of many files, and a path for each takes time
    if not stat.S_ISREG(state.st_mode):
        return None
    size, modified = state.st_size, state.st_mtime_ns
    return Shard(path, label, kind[0], size, modified, path, kind[1], within=within)


def _set_aside(path: str, label: str, reason: str, found: Listing) -> None:
    """Skip a file that cannot be read, but copied."""
    try:
        shard = _shard(path, label, PLAIN_TEXT)
    except OSError as error:
        found.fail(path, error)
        return
    found.pass_over(path, reason)
    if shard is not None:
        found.set_aside.append(shard)


def _add_folder(folder: Path, found: Listing, *, several: bool) -> None:
    prefix = f"{folder.as_posix()}/" if several else ""
    saved = SavedDatasets()
    for path, below in _files(folder, found):
        if refusal := found.refusal(path, below):
            found.pass_over(path, refusal)
            continue
        label = f"{prefix}{below}"
        reason = saved.reason(path)
        kind = None if reason else found.kinds.tell(path, path)
        if kind is None:
            reason = reason or look_at(path, found.encodings)
        if kind == ARRAY or reason:
            _set_aside(path, label, reason or OTHER_KIND, found)
        else:
            _add_file(path, label, kind or PLAIN_TEXT, found, within=True)


def _files(folder: Path, found: Listing) -> Iterator[tuple[str, str]]:
    """Give the files below a folder, sorted, by their paths and those below the folder.

    What is skipped on the way is named.
    """
    ignored = Ignored(folder)
    walk = os.walk(folder, onerror=lambda error: found.fail(error.filename, error))
    for walked, folders, files in walk:
        place = str(Path(walked))  # without the dot that a walk from here begins with
        if RECORD in files and Path(place) != folder and is_result(Path(place)):
            folders.clear()
            found.pass_over(place, OWN_RESULT)
            continue
        if not found.chosen.all_files:
            ignored.enter(place, files)
        of_parts = holds_parts(files, folders) and not found.chosen.all_files
        entered = []
        for name in sorted(folders):
            path = Path(place, name)
            reason = HIDDEN if of_parts and is_beside_parts(name) else ""
            reason = reason or _reason(place, name, ignored, found, is_folder=True)
            if not reason and path.is_symlink():
                reason = "link to a folder"
            if not reason and found.chosen.exclude:
                below = path.relative_to(folder).as_posix()
                reason = EXCLUDED if found.chosen.excludes(below) else ""
            if reason:
                _pass_over(path, reason, found)
            else:
                entered.append(name)
        folders[:] = entered
        # Once for a folder: to make a path of each file takes longer than to list it.
        way = Path(place).relative_to(folder).as_posix()
        above = "" if way == "." else f"{way}/"
        before = "" if place == "." else str(Path(place, "_"))[:-1]
        for name in sorted(files):
            reason = HIDDEN if of_parts and is_beside_parts(name) else ""
            if reason := reason or _reason(place, name, ignored, found):
                _pass_over(Path(place, name), reason, found)
            else:
                yield f"{before}{name}", f"{above}{name}"


def _reason(
    place: str, name: str, ignored: Ignored, found: Listing, *, is_folder: bool = False
) -> str:
    """Say why a file or folder is skipped for its name; nothing where it is not."""
    if is_hidden(name) and (is_own(name) or not found.chosen.all_files):
        return HIDDEN
    return IGNORED if ignored.leaves_out(place, name, is_folder=is_folder) else ""


def _pass_over(path: Path, reason: str, found: Listing) -> None:
    if reason != HIDDEN or not is_own(path.name):
        found.pass_over(str(path), reason)


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
        raise OutputError(
            f"standard input cannot be kept on disk: {reason}; free some space"
        ) from None
    modified = state.st_mtime_ns
    kind = found.kinds.of_input()
    return Shard("-", "-", kind, state.st_size, modified, str(path), digest=digest.hexdigest())


def _more_input() -> bytes:
    try:
        # What has come so far: a read that waits for a whole piece may sleep through Ctrl-C.
        # The standard streams of the type stubs have no `read1`; those of Python do.
        piece: bytes = sys.stdin.buffer.read1(PIECE_BYTES)  # type: ignore[union-attr]
    except (OSError, ValueError) as error:
        raise unreadable("standard input", error) from None
    return piece
