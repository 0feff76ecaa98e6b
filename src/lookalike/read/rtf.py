"""RTF: the text between its control words, in the encodings that they name."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lookalike.read.document_text import held, refused_if_broken

if TYPE_CHECKING:
    from lookalike.read.streams import Bounds

__all__ = ["rtf_text"]

BEGIN = b"{\\rtf"
TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])|([{}])"
    rb"|[\r\n]+|([^\\{}\r\n]+)|\\"
)
MAX_DEPTH = 1000
"""Groups inside one another; documents have some tens."""

CHARACTERS = {
    **dict.fromkeys(("par", "line", "sect", "page", "column", "row", "nestrow"), "\n"),
    **dict.fromkeys(("cell", "nestcell", "footnote"), "\n"),
    **dict.fromkeys(("emspace", "enspace", "qmspace"), " "),
    "tab": "\t",
    "emdash": "\u2014",
    "endash": "\u2013",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
}
SYMBOLS = {
    **{symbol: symbol.decode() for symbol in (b"{", b"}", b"\\")},
    b"~": "\u00a0",
    b"_": "\u2011",
    b"\n": "\n",
    b"\r": "\n",
}
SILENT = {
    *("fonttbl", "colortbl", "stylesheet", "listtable", "listoverridetable", "revtbl", "info"),
    *("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"),
    *("pict", "nonshppict", "objdata", "objclass", "sp", "shprslt", "fldinst", "xe", "tc", "rxe"),
    *("ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "private", "template"),
}
"""Groups that hold no text of the document."""
READ_THOUGH_OPTIONAL = {"shpinst"}
"""Of the groups that a reader may skip, those that hold text: that of boxes."""
DEFAULTS = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
CHARSETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
"""Encodings by the charsets of fonts; any other is that of the document."""
CODE_PAGES = {10000: "mac_roman", 65001: "utf-8", 936: "gbk"}


def rtf_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the text without headers, pictures, comments, and what is hidden or was deleted."""
    data = held(file, name, bounds)
    with refused_if_broken(name, "RTF"):
        text = _Reader(data).read()
        if len(text) > bounds.record:
            raise bounds.too_long(f"the text of {name}")
        # Characters beyond the first 65,536 are written as halves.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()


@dataclass(frozen=True)
class _Group:
    """What holds until a group ends."""

    silent: bool = False
    hidden: bool = False
    fonts: bool = False
    """In the table of the fonts."""
    font: int | None = None
    substitutes: int = 1
    """Characters after one of Unicode, for readers that know none of that."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text = io.StringIO()
        self._bytes = bytearray()
        self._group = _Group()
        self._groups: list[_Group] = []
        self._encoding = "cp1252"
        self._of_font: dict[int, str] = {}
        self._first_font: int | None = None
        self._optional = False
        self._skip = 0
        self._place = 0

    def read(self) -> str:
        """Go through all tokens up to the end of the first group."""
        data, match = self._data, TOKEN.match
        self._place = len(data) - len(data.lstrip(b"\xef\xbb\xbf \t\r\n\0"))
        if not data.startswith(BEGIN, self._place):
            raise ValueError("it does not begin as one")
        while self._place < len(data):
            found = match(data, self._place)
            if found is None:
                raise ValueError(f"nothing can be made of byte {self._place + 1:,}")
            self._place = found.end()
            word, number, code, symbol, brace, plain = found.groups()
            if plain is not None:
                self._take(plain)
            elif word is not None:
                self._word(word.decode("ascii"), None if number is None else int(number))
            elif code is not None:
                self._take(bytes.fromhex(code.decode("ascii")))
            elif symbol is not None:
                self._symbol(symbol)
            elif brace is not None and not self._brace(brace):
                return self._text.getvalue()
        raise ValueError("it breaks off before its end")

    def _brace(self, brace: bytes) -> bool:
        """Begin or end a group; tell whether it was not the last."""
        self._flush()
        self._optional, self._skip = False, 0
        if brace == b"}":
            self._group = self._groups.pop()
            return bool(self._groups)
        if len(self._groups) == MAX_DEPTH:
            raise ValueError(f"its groups are nested deeper than {MAX_DEPTH:,} levels")
        self._groups.append(self._group)
        return True

    def _take(self, data: bytes) -> None:
        """Take bytes of text, but for those that stand in for a character of Unicode."""
        self._optional = False
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            data = data[passed:]
        if not (self._group.silent or self._group.hidden):
            self._bytes += data

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._optional = True
        elif symbol in SYMBOLS:
            self._write(SYMBOLS[symbol])

    def _word(self, word: str, number: int | None) -> None:
        optional, self._optional = self._optional, False
        if word == "bin":
            self._place += max(number or 0, 0)
        elif word == "u" and number is not None:
            if not (self._group.silent or self._group.hidden):
                self._flush()
                self._text.write(chr(number % 0x10000))
            self._skip = self._group.substitutes
        elif word in CHARACTERS:
            self._write(CHARACTERS[word])
        elif word in SILENT or (optional and word not in READ_THOUGH_OPTIONAL):
            self._change(silent=True, fonts=word == "fonttbl")
        elif word in ("v", "deleted"):
            self._change(hidden=number != 0)
        elif word == "uc":
            self._change(substitutes=max(number or 0, 0))
        else:
            self._encoding_word(word, number)

    def _write(self, text: str) -> None:
        """Write what a word or a symbol stands for."""
        if self._skip:
            self._skip -= 1
        elif not (self._group.silent or self._group.hidden):
            self._flush()
            self._text.write(text)

    def _encoding_word(self, word: str, number: int | None) -> None:
        if word in DEFAULTS:
            self._encoding = DEFAULTS[word]
        elif number is None:
            if word == "plain":
                self._change(font=self._first_font, hidden=False)
        elif word == "ansicpg":
            self._encoding = _known(CODE_PAGES.get(number, f"cp{number}"), self._encoding)
        elif word == "deff":
            self._first_font = number
            self._change(font=number)
        elif word == "f":
            self._change(font=number)
        elif word == "fcharset" and self._group.fonts and number in CHARSETS:
            self._of_font[self._group.font or 0] = CHARSETS[number]

    def _change(self, **changes: Any) -> None:
        self._flush()
        self._group = replace(self._group, **changes)

    def _flush(self) -> None:
        """Decode the bytes so far: two may be one character."""
        if self._bytes:
            font = self._group.font
            encoding = self._encoding if font is None else self._of_font.get(font, self._encoding)
            self._text.write(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()


def _known(encoding: str, otherwise: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return otherwise
    return encoding
