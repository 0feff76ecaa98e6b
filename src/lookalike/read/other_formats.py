"""Formats that cannot be read, and what to save their files as: told by how they begin."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NamedTuple

__all__ = ["OLE_MAGIC", "OtherFormat", "is_compressed", "is_rtf", "other_format"]

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of Office before 2007 begin, and those of today that have a password."""
ZIP_MAGIC, RTF_MAGIC = b"PK\x03\x04", b"{\\rtf"

COMPRESSED = re.compile(rb"\x1f\x8b\x08|BZh[1-9](1AY&SY|\x17rE8P\x90)|\xfd7zXZ\0|\x28\xb5\x2f\xfd")
"""How the files of gzip, bzip2, xz and zstd begin."""


class OtherFormat(NamedTuple):
    """A format, as it is shown, and what its program can save instead."""

    name: str
    instead: str

    @property
    def reason(self) -> str:
        """Say why a file is skipped."""
        return f"in {self.name} (save as {self.instead})"


WORD = OtherFormat("the old Word format", ".docx")
POWERPOINT = OtherFormat("the old PowerPoint format", ".pptx")
EXCEL = OtherFormat("the old Excel format", ".xlsx")
OUTLOOK = OtherFormat("the format of Outlook", ".eml")
OLE_ENDINGS = {
    **dict.fromkeys((".doc", ".dot", ".wiz"), WORD),
    **dict.fromkeys((".ppt", ".pps", ".pot"), POWERPOINT),
    **dict.fromkeys((".xls", ".xlt", ".xla"), EXCEL),
    ".msg": OUTLOOK,
}
OLE_STREAMS = {"WordDocument": WORD, "PowerPoint Document": POWERPOINT, "Workbook": EXCEL}
"""Names in such a file, where they stand near its beginning."""
APPLE_ENDINGS = {
    ".pages": OtherFormat("the format of Pages", ".docx or .pdf"),
    ".numbers": OtherFormat("the format of Numbers", ".xlsx or .csv"),
    ".key": OtherFormat("the format of Keynote", ".pptx or .pdf"),
}


def is_compressed(head: bytes) -> bool:
    """Tell a file that was packed as a whole, whatever it holds."""
    return COMPRESSED.match(head) is not None


def is_rtf(name: str, head: bytes) -> bool:
    """Tell a document of Word that is RTF, as programs other than Word save them."""
    return name.lower().endswith(".doc") and head.startswith(RTF_MAGIC)


def other_format(name: str, head: bytes) -> OtherFormat | None:
    """Tell the format of a file by its first bytes, and its ending where several begin so."""
    ending = PurePosixPath(name).suffix.lower()
    if head.startswith(OLE_MAGIC):
        streams = (kind for name, kind in OLE_STREAMS.items() if name.encode("utf-16-le") in head)
        return OLE_ENDINGS.get(ending) or next(streams, None)
    return APPLE_ENDINGS.get(ending) if head.startswith(ZIP_MAGIC) else None
