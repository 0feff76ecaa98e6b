"""Options for files of which a job has none: they would do nothing, and are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.read import Corpus
from lookalike.read.batches import NO_ID
from lookalike.read.source import InMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["ASKED_OF_FILES", "check_used"]

PAGES = {"html", "warc"}
DELIMITED = {"csv", "tsv"}
ENCODED = {"text", "html", "lines", "jsonl", "json", "object", "csv", "tsv", "mbox", "warc"}
"""Files that may be in one encoding or another; others say in which they are."""


def check_used(sources: Sequence[Corpus | InMemory], asked: Mapping[str, Any]) -> None:
    """Refuse what is asked of files, where none of the sources has such files."""
    for names, is_used, why in _RULES:
        for name in names:
            if asked[name] and not is_used(sources, asked, name):
                raise SettingsError(why.format(setting(name)))


def _kinds(sources: Sequence[Corpus | InMemory]) -> set[str]:
    corpora = [source for source in sources if isinstance(source, Corpus)]
    return {shard.kind for corpus in corpora for shard in corpus.shards}


def _has(*kinds: str) -> Callable[..., bool]:
    return lambda sources, _asked, _name: bool(_kinds(sources) & set(kinds))


def _has_pages(sources: Sequence[Corpus | InMemory], asked: Mapping[str, Any], _name: str) -> bool:
    return bool(_kinds(sources) & PAGES or asked["markup"])


def _has_records(sources: Sequence[Corpus | InMemory], asked: Mapping[str, Any], name: str) -> bool:
    """Tell whether there are records; what is in memory was read by its columns already."""
    if name == "id" and asked["id"] == NO_ID:
        return True
    return any(
        isinstance(source, InMemory)
        or any(not shard.is_one_document and shard.kind != "lines" for shard in source.shards)
        for source in sources
    )


def _has_texts(sources: Sequence[Corpus | InMemory], _asked: Mapping[str, Any], _name: str) -> bool:
    """Tell whether there are records of texts, which may be written in something."""
    documents = {
        shard.kind
        for source in sources
        if isinstance(source, Corpus)
        for shard in source.shards
        if shard.is_one_document
    }
    in_memory = any(isinstance(source, InMemory) for source in sources)
    return in_memory or bool(_kinds(sources) - documents - {"npy"})


def _has_encoded(
    sources: Sequence[Corpus | InMemory], asked: Mapping[str, Any], _name: str
) -> bool:
    return bool(_kinds(sources) & ENCODED or asked["ignore"])


def _has_folders(
    sources: Sequence[Corpus | InMemory], _asked: Mapping[str, Any], _name: str
) -> bool:
    corpora = [source for source in sources if isinstance(source, Corpus)]
    return any(one.unread or any(shard.within for shard in one.shards) for one in corpora)


_RULES: tuple[tuple[tuple[str, ...], Callable[..., bool], str], ...] = (
    (("lines",), _has("lines"), "there is no file of text for {}: leave it out"),
    (
        ("delimiter", "no_header"),
        _has(*DELIMITED),
        "there is no .csv or .tsv file for {}: leave it out",
    ),
    (
        ("main_text",),
        _has_pages,
        f"there is no page for {{}}: where records hold HTML, give {setting('markup', 'html')} too",
    ),
    (("markup",), _has_texts, "there is no file of records for {}: leave it out"),
    (
        ("text", "vector", "id"),
        _has_records,
        "there is no file of records for {}: what is one document has no fields, leave it out",
    ),
    (
        ("encoding", "strict_encoding"),
        _has_encoded,
        "there is no file of text for {}: leave it out",
    ),
    (
        ("include", "exclude", "all_files"),
        _has_folders,
        "there is no folder for {}: it chooses among the files of folders, leave it out",
    ),
)
ASKED_OF_FILES = (*(name for names, _, _ in _RULES for name in names), "ignore")
"""The options that this module knows; a text to ignore may be in a file as well."""
