"""What documents are called in a page: by their ids, or by names that say nothing.

Names that stand for others are numbered in an order that only the key tells. Without it nobody who
knows the names can find out whose they are; with it another page gets the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SourceError
from lookalike.reports.sources import SOURCE
from lookalike.write.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lookalike.reports.found import Key

    ByWord = dict[str, list[tuple[str, int, str]]]
    """Names by the first word in each: the name, where in it the word begins, what replaces it."""

__all__ = ["Aliases", "Names", "address_key"]

KEY_CHARACTERS = 12
SECRET_BYTES = 16
WORD = re.compile(r"\w+")
MIN_NAME_CHARACTERS = 3
"""Of a label that is replaced inside texts: shorter ones are parts of other words."""


def address_key(corpus: str, name: str) -> str:
    """Give the letters and digits that stand for a document in an address."""
    plain = name if corpus == SOURCE else f"{corpus}\0{name}"
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARACTERS]


class Names:
    """Documents and labels by their own names."""

    anonymous = False

    def number(self, keys: Iterable[Key]) -> list[Key]:
        """Put documents in the order in which a page numbers them: by name."""
        return sorted(keys, key=lambda key: (key[0] != SOURCE, key[0], _in_order(key[1])))

    def document(self, key: Key) -> str:
        """Give the name of a document."""
        return str(key[1])

    def label(self, value: str) -> str:
        """Give the name of a label."""
        return value

    def in_text(self, text: str) -> str:
        """Give a text as a page may show it."""
        return text


@dataclass
class Aliases(Names):
    """Documents and labels by names that say nothing."""

    secret: str
    documents: dict[Key, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    _words: tuple[tuple[int, int], ByWord] | None = field(default=None, repr=False)

    anonymous = True

    @classmethod
    def of(cls, path: Path) -> Aliases:
        """Begin with the key in a file, if there is one, or with a new one."""
        if not path.exists():
            return cls(secrets.token_hex(SECRET_BYTES))
        try:
            plain = json.loads(path.read_bytes())
            documents = {(one["corpus"], one["id"]): one["name"] for one in plain["documents"]}
            return cls(str(plain["secret"]), documents, dict(plain["labels"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise SourceError(
                f"{path} is not the key of an anonymous report: name another file, or remove it"
            ) from None

    def add(self, documents: Iterable[Key], labels: Iterable[str]) -> None:
        """Name documents and labels that have no name yet."""
        self._number(self.documents, "document", documents)
        self._number(self.labels, "label", labels)

    def _number(self, known: dict[Any, str], what: str, wanted: Iterable[Any]) -> None:
        new = sorted(set(wanted) - set(known), key=self._rank)
        for number, one in enumerate(new, start=len(known) + 1):
            known[one] = f"{what} {number}"

    def _rank(self, one: Any) -> str:
        plain = json.dumps([self.secret, one], default=str)
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()

    def number(self, keys: Iterable[Key]) -> list[Key]:
        """Put documents in the order of the numbers in their names."""
        return sorted(keys, key=lambda key: int(self.documents[key].rpartition(" ")[2]))

    def document(self, key: Key) -> str:
        """Give the name that stands for a document."""
        return self.documents[key]

    def label(self, value: str) -> str:
        """Give the name that stands for a label."""
        return self.labels[value]

    def in_text(self, text: str) -> str:
        """Give a text in which ids, names of files and labels are replaced as elsewhere."""
        pieces, at = [], 0
        for word in WORD.finditer(text):
            for name, before, alias in self._by_word.get(word[0].casefold(), ()):
                start = word.start() - before
                end = start + len(name)
                if start >= at and _stands(name, text, start, end):
                    pieces += [text[at:start], alias]
                    at = end
                    break
        return "".join([*pieces, text[at:]])

    @property
    def _by_word(self) -> ByWord:
        """The names that are replaced in texts, by the first word of each, the longest first."""
        known = self._words
        if known is None or known[0] != (len(self.documents), len(self.labels)):
            known = (len(self.documents), len(self.labels)), self._first_words()
            self._words = known
        return known[1]

    def _first_words(self) -> ByWord:
        written = dict(self.labels)
        for key, alias in self.documents.items():
            if isinstance(key[1], str):
                written |= {key[1]: alias, PurePosixPath(key[1]).name: alias}
        found: ByWord = {}
        for name in sorted(written, key=lambda name: (-len(name), name)):
            word = WORD.search(name)
            if word is not None and len(name) >= MIN_NAME_CHARACTERS:
                entry = name, word.start(), written[name]
                found.setdefault(word[0].casefold(), []).append(entry)
        return found

    def write(self, path: Path) -> None:
        """Write the key: which name stands for what."""
        documents = [
            {"name": alias, "corpus": corpus, "id": name}
            for (corpus, name), alias in self.documents.items()
        ]
        labels = dict(self.labels.items())
        plain = {"secret": self.secret, "documents": documents, "labels": labels}
        text = json.dumps(plain, indent=1)
        write_atomically(path, lambda stream: stream.write(f"{text}\n".encode()))


def _in_order(name: Any) -> tuple[int, Any]:
    """Order numbers as numbers, and all else as text."""
    return (0, name) if isinstance(name, int) else (1, str(name))


def _stands(name: str, text: str, start: int, end: int) -> bool:
    """Tell whether a name stands in a text, in any case, and not as a part of a longer word."""
    if start < 0 or text[start:end].casefold() != name.casefold():
        return False
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    inside = WORD.match(name[0]) and WORD.match(before)
    return not inside and not (WORD.match(name[-1]) and WORD.match(after))
