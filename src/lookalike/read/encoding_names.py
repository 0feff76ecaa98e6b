"""Encodings by name, and which one a user says that text is in."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from lookalike.base.errors import SettingsError
from lookalike.base.wording import quoted, setting

__all__ = ["Encodings", "codec_of", "label"]

ALIASES = {
    "unicode": "utf-16",
    "windows-874": "cp874",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-roman": "mac_roman",
    "x-sjis": "cp932",
}
"""Names that documents and people give, and Python does not know."""
UNMARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that go by a mark, and what they are without one."""
NO_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
"""Python counts them among the encodings of text; no file is in one."""


@dataclass(frozen=True)
class Encodings:
    """How text is read that is not UTF-8."""

    encoding: str | None = None
    """What the user says, as Python names it."""
    strict: bool = False
    """Refuse to guess."""
    tables: dict[tuple[str, str], tuple[str, int]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """The encodings of tables, once they are known, and how long their marks are."""

    @classmethod
    def of(cls, encoding: str | None = None, *, strict: bool = False) -> Encodings:
        """Take the name of an encoding, if there is one."""
        if encoding is None:
            return cls(None, strict)
        found = codec_of(encoding) if isinstance(encoding, str) else None
        if found is None:
            raise SettingsError(
                f"{setting('encoding')} {quoted(encoding)} is no encoding of text that is known: "
                "use one as cp1252, cp1251, shift_jis or gb18030"
            )
        return cls(UNMARKED.get(found, found), strict)

    def of_table(self, name: str, path: str) -> str | None:
        """Give the encoding of a table that has no mark, where the user said one."""
        return self.tables.get((name, path), (None, 0))[0]


def codec_of(name: str) -> str | None:
    """Give the name by which Python knows an encoding of text; None of what is none."""
    try:
        codec = codecs.lookup(ALIASES.get(name.strip().lower(), name.strip()))
    except (LookupError, ValueError):
        return None
    # Python's codecs are also of bytes (base64), and of text and text (rot13).
    if not getattr(codec, "_is_text_encoding", True) or codec.name in NO_FILES:
        return None
    return codec.name


def label(encoding: str) -> str:
    """Name an encoding as people do; Python knows it by this name too."""
    if encoding.startswith("utf-") and encoding != "utf-7":
        return encoding.removesuffix("-le").removesuffix("-be").upper()
    return encoding.replace("iso8859", "iso-8859").replace("_", "-")
