"""In which encoding a text is: UTF-8, or as it declares, or as the user says, or by a guess."""

from __future__ import annotations

import codecs
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from lookalike.base.errors import BinaryFileError, EncodingError, SourceError
from lookalike.base.wording import count, setting, shortened
from lookalike.read.encoding_guess import guess_encoding, wide_encoding
from lookalike.read.encoding_names import Encodings, codec_of, label
from lookalike.read.streams import is_utf8, opened, text_encoding_of

if TYPE_CHECKING:
    from lookalike.read.streams import Stream

__all__ = [
    "Decoded",
    "check_no_nul",
    "decode",
    "fits_as_told",
    "head_encoding",
    "holds_controls",
    "not_text",
    "stands_alone",
    "table_encoding",
]

AS_BROWSERS_READ = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
}
"""What documents declare, and the larger set that their letters are of, as all browsers know."""
SEVEN_BITS = ("hz", "iso2022_", "utf-7")
"""Written in ASCII alone, which would be UTF-8 too; what a character is depends on those before."""
HEAD_BYTES = 1 << 16
"""Bytes in which a wide encoding shows."""
DECLARED_BYTES = 1 << 12
"""Bytes at the beginning of a document that may declare its encoding."""
XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)")
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
CODING = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*[#%;/*\"'-][^\n]{0,200}coding[:=][ \t]*([-\w.]+)")
"""The line of editors and of Python: a comment, the first or the second line."""

CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
CONTROL_CHARACTERS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text has, whatever its encoding."""
BYTES_PER_CONTROL = 100
"""Bytes for one of them, at the least: a stray one makes no text binary."""


class Decoded(NamedTuple):
    """A text, and what a user should know of how it was read; mostly nothing."""

    text: str
    note: str = ""


def decode(
    data: bytes, name: str, encodings: Encodings, *, markup: bool = False, charset: str = ""
) -> Decoded:
    """Give the text of a file that is one document; `markup` may declare its encoding anywhere.

    The `charset` that a server named comes before what the document declares.
    """
    marked, mark = text_encoding_of(data[:4])
    body = data[mark:] if mark else data
    if marked != "utf-8":
        try:
            return Decoded(body.decode(marked))
        except UnicodeDecodeError as error:
            raise EncodingError(
                f"{name} is not {label(marked)} text at byte {mark + error.start + 1}: "
                "convert it to UTF-8 or leave it out"
            ) from None
    if b"\0" in body:
        return _decoded_wide(body, name, encodings)
    if body.isascii():
        for encoding in _seven_bits(body, encodings, charset, markup=markup):
            text = _fitting(body, encoding)
            if text is not None:
                return Decoded(text)
    try:
        return Decoded(body.decode())
    except UnicodeDecodeError as error:
        named = _known(charset) or _declared(body, markup=markup)
        return _not_utf8(body, name, encodings, named, mark + error.start + 1)


def _seven_bits(body: bytes, encodings: Encodings, charset: str, *, markup: bool) -> list[str]:
    """Give the encodings that ASCII may stand for, where the document or the user names one."""
    declared = None
    if b"\x1b" in body or b"~{" in body:
        declared = _declared_codec(_known(charset) or _declared(body, markup=markup))
    told = (declared, encodings.encoding)
    return [one for one in told if one is not None and one.startswith(SEVEN_BITS)]


def _not_utf8(
    body: bytes,
    name: str,
    encodings: Encodings,
    named: str,
    place: int,
) -> Decoded:
    """Decode what is not UTF-8, which a byte shows."""
    declared = _declared_codec(named)
    if declared is not None and (text := _fitting(body, declared)) is not None:
        return Decoded(text)
    misfits = f"declared as {shortened(named)}, which it is not; " if named else ""
    said = encodings.encoding
    if said is not None and (text := _fitting(body, said)) is not None:
        return Decoded(text, f"{misfits}read as {label(said)}, as asked" if misfits else "")
    if holds_controls(body):
        raise BinaryFileError(
            f"{name} is not text: it is not UTF-8 at byte {place}, and holds control characters; "
            "convert it to UTF-8 or leave it out"
        )
    if encodings.strict:
        raise EncodingError(
            f"{name} is not UTF-8 text at byte {place}: "
            f"{_advice(body)}leave out {setting('strict_encoding')}, or convert it to UTF-8"
        )
    if said is not None:
        misfits += f"not {label(said)}; "
    wrong = _damaged(body)
    if wrong:
        note = f"{misfits}read as UTF-8, {count(wrong, 'wrong character')} replaced (guessed)"
        return Decoded(body.decode("utf-8", "replace"), note)
    encoding = guess_encoding(body)
    return Decoded(body.decode(encoding), f"{misfits}read as {label(encoding)} (guessed)")


def _decoded_wide(body: bytes, name: str, encodings: Encodings) -> Decoded:
    """Decode text that holds NULs: it is in a wide encoding without a mark, or is none."""
    said = encodings.encoding
    if said is not None and (text := _fitting(body, said)) is not None:
        return Decoded(text)
    check_no_nul(body, name, encodings)
    encoding = wide_encoding(body[:HEAD_BYTES], whole=len(body) <= HEAD_BYTES)
    text = _fitting(body, encoding)
    if text is None:
        raise _holds_nul(body, name)
    return Decoded(text, f"read as {label(encoding)} without a byte order mark (guessed)")


def check_no_nul(head: bytes, name: str, encodings: Encodings) -> None:
    """Refuse a file of which the first bytes hold a NUL, if they are not in a wide encoding."""
    if text_encoding_of(head[:4])[0] != "utf-8" or b"\0" not in head:
        return
    part = head[:HEAD_BYTES]
    if encodings.encoding is not None and _fitting(part, encodings.encoding, whole=False):
        return
    if encodings.strict or not wide_encoding(part, whole=False):
        raise _holds_nul(head, name)


def _holds_nul(data: bytes, name: str) -> BinaryFileError:
    return BinaryFileError(
        f"{name} is not text: it is binary, with a NUL at byte {data.index(0) + 1}; save it "
        "as text or in a kind that can be read, or leave it out"
    )


def _fitting(data: bytes, encoding: str, *, whole: bool = True) -> str | None:
    """Decode bytes that are in an encoding; None of those that are not, or are then no text."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeError:
        return None
    controls = len(text) - len(CONTROL_CHARACTERS.sub("", text))
    return None if "\0" in text or controls * BYTES_PER_CONTROL > len(text) else text


def fits_as_told(head: bytes, encodings: Encodings) -> bool:
    """Tell whether the first bytes are in the encoding that they declare, or that the user says."""
    told = _declared_codec(_declared(head, markup=False)), encodings.encoding
    return any(one is not None and _fitting(head, one, whole=False) for one in told)


def holds_controls(data: bytes) -> bool:
    """Tell bytes that are no text in any encoding: they hold too many control characters."""
    return (len(data) - len(data.translate(None, CONTROLS))) * BYTES_PER_CONTROL > len(data)


def _declared(body: bytes, *, markup: bool) -> str:
    """Give the encoding that a document declares, as it names it."""
    head = body[:DECLARED_BYTES]
    found = XML.match(head) or CODING.match(head)
    if found is None and (markup or head.lstrip().startswith(b"<")):
        found = CHARSET.search(head)
    return found[1].decode("ascii").lower() if found else ""


def _known(charset: str) -> str:
    """Give the name of an encoding that a server said; nothing of what is none."""
    return charset if charset and codec_of(charset) is not None else ""


def _declared_codec(named: str) -> str | None:
    found = codec_of(named) if named else None
    if found is None or found.startswith(("utf-16", "utf-32")):
        return None  # a declaration that can be read as ASCII is in none of these
    return AS_BROWSERS_READ.get(found, found)


def _damaged(data: bytes) -> int:
    """Count what is wrong in text that is UTF-8 all the same, as the rest of it shows; else 0."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - wrong
    return wrong if good > wrong else 0


def _advice(data: bytes) -> str:
    """Say which encoding bytes seem to be in; nothing of UTF-8 that is damaged."""
    if _damaged(data):
        return ""
    guessed = setting("encoding", label(guess_encoding(data)))
    return f"give {guessed} if that is its encoding, as it seems, "


def not_text(
    where: str, error: UnicodeDecodeError, encoding: str, sample: bytes | None = None
) -> EncodingError:
    """Say that a record is not in the encoding of its table.

    The sample, where there is one, tells what the table may be in; it is never read by a guess.
    """
    problem = f"{where} is not {label(encoding)} text at byte {error.start + 1}"
    if encoding != "utf-8":
        return EncodingError(f"{problem}: fix or remove it, or name another {setting('encoding')}")
    advice = f"give {setting('encoding')} if it is in another, "
    return EncodingError(f"{problem}: {_advice(sample) if sample else advice}or fix or remove it")


def table_encoding(stream: Stream, encodings: Encodings) -> tuple[str, int]:
    """Tell the encoding of a table, all of which is in one, and how long its mark is.

    Without a mark it is UTF-8 where all of its bytes are, else what the user says.
    """
    shard, said = stream.shard, encodings.encoding
    found, mark = text_encoding_of(stream.head())
    if found.startswith("utf-32"):
        raise SourceError(f"{shard.name} is UTF-32 text: convert it to UTF-8")
    if mark or said is None or said == "utf-8":
        return found, mark
    key = shard.name, shard.path
    if key not in encodings.tables:
        if not _keeps_ends(said):
            raise SourceError(
                f"{shard.name} is a table, which cannot be read in {label(said)}: convert it to "
                "UTF-8"
            )
        encodings.tables[key] = ("utf-8" if _is_all_utf8(stream) else said), 0
    return encodings.tables[key]


def _keeps_ends(encoding: str) -> bool:
    """Tell whether lines, fields and quotes end at the same bytes as in ASCII, or as in UTF-16."""
    if encoding.startswith(SEVEN_BITS):
        return False
    ends = '\n\r\t",;'
    return encoding.startswith("utf-16") or ends.encode(encoding, "replace") == ends.encode()


@cache
def stands_alone(characters: str, encoding: str) -> bool:
    """Tell whether bytes of ASCII characters are nothing else in an encoding.

    In some of East Asia they are also the second byte of others: | and the backslash, say.
    """
    if encoding == "utf-8" or encoding.startswith("utf-16"):
        return True
    high = [bytes([byte]) for byte in range(0x80, 0x100)]
    return not any(
        _is_one_character(lead + character.encode() + rest, encoding)
        for character in characters
        for lead in high
        # Of four bytes, in GB 18030, the second and the fourth are digits.
        for rest in (b"", *(third + b"0" for third in high if character.isdigit()))
    )


def _is_one_character(data: bytes, encoding: str) -> bool:
    try:
        return len(data.decode(encoding)) == 1
    except UnicodeDecodeError:
        return False


def head_encoding(head: bytes, encodings: Encodings) -> tuple[str, int]:
    """Tell the encoding of a table by its first bytes, and how long its mark is."""
    found, mark = text_encoding_of(head[:4])
    said = encodings.encoding
    if mark or said is None:
        return found, mark
    is_text = b"\0" not in head and is_utf8(head[: _last_start(head)])
    return (found if is_text else said), 0


def _is_all_utf8(stream: Stream) -> bool:
    """Tell whether a whole file is UTF-8 without a NUL; it is read up to the first sign against."""
    with opened(stream.shard) as whole:
        left = b""
        try:
            for piece in whole.rest():
                data = left + piece
                end = _last_start(data)
                if b"\0" in piece or not is_utf8(data[:end]):
                    return False
                left = data[end:]
        except SourceError:
            return True  # who reads it says what is broken
    return not left or is_utf8(left)


def _last_start(data: bytes) -> int:
    """Give where the last character of UTF-8 begins that may be cut; the end if none is."""
    for back in range(1, min(len(data), 3) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            return len(data) - back
        if byte < 0x80:
            break
    return len(data)
