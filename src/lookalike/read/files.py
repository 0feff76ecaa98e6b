"""The files of a corpus: what kind each is of, and what was skipped on the way to them."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lookalike.base.errors import SourceError, UnreadableError
from lookalike.base.wording import help_on, shortened
from lookalike.read.chosen_files import NOT_INCLUDED, ChosenFiles
from lookalike.read.encoding_names import Encodings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "ARCHIVES",
    "ARRAY",
    "BATCHES",
    "HIDDEN",
    "KINDS_ARE_LISTED",
    "NAMED",
    "ONE_DOCUMENT",
    "OTHER_KIND",
    "PACKED",
    "PLAIN_TEXT",
    "TABLES",
    "WARC",
    "FileKind",
    "FileNote",
    "Kinds",
    "Listing",
    "Shard",
    "Source",
    "Unread",
    "counts_of",
    "described",
    "file_note_lines",
    "is_archive",
    "kind_of",
    "misnamed",
    "one_line",
    "unreadable",
]

ONE_DOCUMENT = {
    ".txt": "text",
    ".md": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".odt": "odt",
    ".rtf": "rtf",
    ".epub": "epub",
    ".pptx": "pptx",
    ".ipynb": "ipynb",
    ".eml": "eml",
}
RECORDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".mbox": "mbox",
}
BATCHES = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".orc": "orc",
}
"""Tables that are stored by columns, some rows at a time."""
TABLES = {**BATCHES, ".xlsx": "xlsx", ".npy": "npy"}
PACKED = {".gz": "gzip", ".zst": "zstd"}
WARC = (".warc", ".wet")
ARCHIVES: dict[str, tuple[str, str | None]] = {
    ".zip": ("zip", None),
    ".tar": ("tar", None),
    **dict.fromkeys((".tar.gz", ".tgz"), ("tar", "gzip")),
    **dict.fromkeys((".tar.bz2", ".tbz2"), ("tar", "bz2")),
    **dict.fromkeys((".tar.xz", ".txz"), ("tar", "xz")),
    **dict.fromkeys((".tar.zst", ".tzst"), ("tar", "zstd")),
}
"""Files that hold files: they stand for their members."""
KINDS_ARE_LISTED = f"{help_on('find')} lists what can be read"
"""Instead of the list itself, which is longer than the message that it would end."""
PLAIN_TEXT, ARRAY = ("text", None), ("npy", None)
NAMED = -1
"""The source of files that were named one by one."""
HIDDEN, OTHER_KIND = "hidden", "of another kind"
"""Why files are skipped; an array may go with what a folder holds otherwise."""


FileKind = tuple[str, str | None]
"""What a file holds, and how it is packed."""


class Kinds(Protocol):
    """What tells of which kind files are."""

    def tell(
        self, name: str, path: str, system: Any = None, *, within: bool = True
    ) -> FileKind | None:
        """Tell the kind of a file that was found, or named; None where nothing tells one."""

    def tell_all(self, files: Iterable[tuple[str, str]], system: Any) -> list[FileKind | None]:
        """Tell the kinds of files that were found in a store, each a name and a path."""

    def tell_member(self, name: str, head: Callable[[int], bytes]) -> FileKind | None:
        """Tell the kind of a file in an archive, of which so many first bytes are given."""

    def of_input(self) -> str:
        """Tell what standard input holds."""


class Unread(NamedTuple):
    """A file that was skipped, or a record of one, and why."""

    path: str
    """Of the file, as it is shown."""
    reason: str
    many: int = 1
    """Of records that are not named one by one."""
    detail: str = ""
    """What else is to say of this one: files are counted by their reasons without it."""

    @classmethod
    def of(cls, path: str, reason: str, detail: str = "") -> Unread:
        """Name a file, also one whose name is no text."""
        return cls(shown_name(path), reason, detail=detail)


class FileNote(NamedTuple):
    """How a file was read, where a user should know."""

    path: str
    """As it is shown."""
    note: str


def shown_name(name: str) -> str:
    """Write a file name so that it is text: bytes of it that are not UTF-8 as `\\xe9`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def misnamed(name: str) -> SourceError | None:
    """Say of a file name that is not UTF-8 that it could be no id."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return SourceError(f"the file name {shown_name(name)} is not UTF-8: rename the file")
    return None


def counts_of(unread: Iterable[Unread]) -> dict[str, int]:
    """Count files that were skipped by reason."""
    counts: Counter[str] = Counter()
    for one in unread:
        counts[one.reason] += one.many
    return dict(counts)


REASON_CHARACTERS, ENDING_CHARACTERS = 200, 12
"""Of what another library says, and of the ending of a name, as they are shown."""
PLAIN_WORDS = {
    "File is not a zip file": "the list of what it holds, at its end, is missing",
    "magic bytes not found in footer": "the list of what it holds, at its end, is missing",
    "smaller than the size reported by footer": "the list of what it holds is cut off",
    "Truncated compressed stream": "its end is missing",
}
"""What other libraries say, in words that tell their readers more."""
NAMED_FILES = 3
"""Files that are named in a line, at the most."""


def file_note_lines(notes: Sequence[FileNote]) -> tuple[str, ...]:
    """Say how files were read: a line for each of a few, one with the numbers for many."""
    if len(notes) <= NAMED_FILES:
        return tuple(f"{one.path}: {one.note}" for one in notes)
    numbers = Counter(one.note for one in notes).most_common(6)
    parts = [f"{number:,} {note}" for note, number in numbers]
    left = len(notes) - sum(number for _, number in numbers)
    parts += [f"{left:,} in other ways"] if left else []
    names = ", ".join(one.path for one in notes[:NAMED_FILES])
    return (f"{len(notes):,} files are not UTF-8: {', '.join(parts)} ({names}, …)",)


def described(unread: Iterable[Unread]) -> str:
    """Say how many files were skipped for each reason, and of which endings they are."""
    endings: dict[str, Counter[str]] = {}
    for one in unread:
        suffix = PurePosixPath(one.path).suffix
        ending = shortened(suffix, ENDING_CHARACTERS) or "no ending"
        endings.setdefault(one.reason, Counter())[ending] += one.many
    return ", ".join(
        f"{found.total():,} {reason} ({', '.join(ending for ending, _ in found.most_common(5))})"
        for reason, found in endings.items()
    )


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a corpus, as it was when it was listed."""

    name: str
    """As shown to users."""
    label: str
    """What the ids of its documents begin with; the id itself where it is one document."""
    kind: str
    """A value of `ONE_DOCUMENT`, `RECORDS` or `TABLES`; lines of text, object (one of JSON) or
    warc; zip or tar until listed."""
    size: int
    """In bytes, as stored."""
    modified: int
    """When, in nanoseconds; 0 where that is not known."""
    path: str
    """By which it is opened."""
    packed: str | None = None
    """gzip or zstd; of an archive also bz2 or xz."""
    system: Any = None
    """The Arrow file system or the archive that holds it; None for a plain file."""
    digest: str = ""
    """Of the bytes, where they came by standard input."""
    within: bool = False
    """It was found in a folder or by a pattern, not named."""
    problem: str = ""
    """Why it cannot be read, where that was known when it was listed."""
    is_streamed: bool = False
    """It is a member of an archive whose bytes are reached only through those before them."""

    @property
    def is_one_document(self) -> bool:
        """Tell a file that is one document from one of many records."""
        return self.kind in ONE_DOCUMENT.values()

    @property
    def is_one_record(self) -> bool:
        """Tell a file that goes as a whole, where its only document does."""
        return self.is_one_document or self.kind == "object"

    @property
    def is_guessed(self) -> bool:
        """Tell a file that was taken for text by its content, not by its name."""
        return self.is_json_text or kind_of(self.name) is None

    @property
    def is_json_text(self) -> bool:
        """Tell a file of JSON without records, which is text as other markup is."""
        return self.kind == "text" and (kind_of(self.name) or ("",))[0] == "json"

    def identity(self) -> list[Any]:
        """Give what tells whether the file is still the same."""
        return [self.name, self.size, self.digest or self.modified]


@dataclass
class Listing:
    """The files found, and what was skipped on the way."""

    kinds: Kinds
    skip_bad: bool = False
    chosen: ChosenFiles = field(default_factory=ChosenFiles)
    encodings: Encodings = field(default_factory=Encodings)
    shards: list[Shard] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    """Of each file, the number of the source that it was found in, or `NAMED`."""
    unread: list[Unread] = field(default_factory=list)
    """What was skipped."""
    set_aside: list[Shard] = field(default_factory=list)
    """Files in folders that cannot be read, but copied."""
    unmatched: dict[str, set[str]] = field(default_factory=dict)
    """What patterns skipped, by reason: two of them may meet the same file."""
    temporary: Path | None = None
    """To be removed with the corpus."""
    whole_archives: set[str] = field(default_factory=set)
    """Archives that were asked for by their own names: so are all of their members."""

    def refusal(self, name: str, below: str) -> str:
        """Say why a file in a folder was not asked for; of an archive, its members tell."""
        reason = self.chosen.refusal(below)
        if not is_archive(below):
            return reason
        if not reason:
            self.whole_archives.add(name)
        return "" if reason == NOT_INCLUDED else reason

    def fail(self, name: object, error: Exception, shard: Shard | None = None) -> None:
        """Stop at what cannot be listed, or let the reader name it in its turn.

        The shard is given of a file that can be copied.
        """
        problem = error if isinstance(error, SourceError) else unreadable(name, error)
        if not self.skip_bad:
            raise problem
        text = shown_name(str(name))
        shard = shard or Shard(text, text, "", 0, 0, text, within=True)
        self.shards.append(replace(shard, name=text, problem=problem.raw))

    def pass_over(self, path: str, reason: str) -> None:
        """Name what is not read."""
        self.unread.append(Unread.of(path, reason))

    def note_skipped(self, reason: str, paths: Iterable[str]) -> None:
        """Name what a pattern skips, once."""
        self.unmatched.setdefault(reason, set()).update(paths)


@dataclass(frozen=True, slots=True)
class Source:
    """A path after patterns were matched: how it is shown, and where it is."""

    name: str
    path: str
    system: Any = None
    matched: bool = False
    """By a pattern: it was not named itself."""

    @property
    def is_local_folder(self) -> bool:
        """Tell a folder of this machine, which is read as a whole."""
        return self.system is None and Path(self.path).is_dir()


def one_line(reason: object) -> str:
    """Put what another library says on one line, and no more: it may quote what it reads."""
    told = " ".join(str(reason).split())
    plain = next((words for part, words in PLAIN_WORDS.items() if part in told), told)
    return shortened(plain.rstrip(" .:;"), REASON_CHARACTERS) or type(reason).__name__


def unreadable(name: object, error: Exception) -> SourceError:
    """Say that a file cannot be read, and why."""
    if isinstance(error, FileNotFoundError):
        return SourceError(
            f"{name} cannot be read: it does not exist, or no longer; check its name"
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    kind = UnreadableError if isinstance(error, OSError) else SourceError
    return kind(f"{name} cannot be read: {one_line(reason)}")


def kind_of(name: str) -> FileKind | None:
    """Tell from a name what kind of file it is and how it is packed; None if of no kind."""
    # As a path tells them, in a third of the time.
    last_part = name.rstrip("/").rpartition("/")[2].lower()
    ends = [] if last_part.endswith(".") else last_part.lstrip(".").split(".")[1:]
    suffixes = [f".{end}" for end in ends]
    last = suffixes[-1] if suffixes else ""
    if last in ONE_DOCUMENT:
        return ONE_DOCUMENT[last], None
    if last in RECORDS:
        return RECORDS[last], None
    if last in TABLES:
        return TABLES[last], None
    if last in PACKED and len(suffixes) > 1 and suffixes[-2] in RECORDS:
        return RECORDS[suffixes[-2]], PACKED[last]
    if last in WARC or (last in PACKED and len(suffixes) > 1 and suffixes[-2] in WARC):
        return "warc", None  # its records are packed one by one
    return ARCHIVES.get(last) or ARCHIVES.get("".join(suffixes[-2:]))


def is_archive(name: str) -> bool:
    """Tell a file that holds files by its name."""
    return kind_of(name) in ARCHIVES.values()
