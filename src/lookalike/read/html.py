"""Pages of HTML: their text, a line for each block, in time in proportion to their length."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lookalike.kernels import html as kernels
from lookalike.kernels.html import HEAD, HTML, IN_HEAD, INLINE, PLAIN, PRE, RAW, SILENT, SVG, TITLE

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["page_text"]

KINDS = {
    **dict.fromkeys(("script", "style", "iframe"), SILENT | IN_HEAD | RAW),
    **dict.fromkeys(("template", "noscript"), SILENT | IN_HEAD),
    **dict.fromkeys(("meta", "link", "base", "basefont", "bgsound"), IN_HEAD),
    **dict.fromkeys(
        (
            *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del"),
            *("dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp"),
            *("rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
            *("time", "tt", "u", "var", "wbr"),
        ),
        INLINE,
    ),
    "svg": SILENT | IN_HEAD | SVG,
    "title": IN_HEAD | PLAIN | TITLE,
    "textarea": PLAIN,
    "head": HEAD,
    "html": HTML,
    "pre": PRE,
}
"""What is known of elements; any other begins and ends a line."""

PACKED = sorted((int.from_bytes(name.encode("ascii"), "big"), kind) for name, kind in KINDS.items())
NAMES = np.array([name for name, _ in PACKED], np.uint64)
FLAGS = np.array([kind for _, kind in PACKED], np.int64)

SHORTEST_SILENT = len("<svg>")
REFERENCE = re.compile("&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]{0,31});?")
LONGEST_NUMBER = 10
WHITE = dict.fromkeys(map(ord, "\t\n\f\r"), " ")


def page_text(page: bytes | pa.Buffer) -> str:
    """Give what a reader reads of a page in UTF-8."""
    data = np.frombuffer(page, np.uint8)
    out = np.empty(len(data) + 1, np.uint8)
    stack = np.empty(len(data) // SHORTEST_SILENT + 1, np.uint8)
    size = kernels.visible_text(data, NAMES, FLAGS, stack, out)
    text = out[:size].tobytes().decode()
    if "&" in text:
        text = REFERENCE.sub(_character, text).replace("\0", "")
    return text.strip()


def _character(found: re.Match[str]) -> str:
    """Give what a character reference stands for; itself, where it is none."""
    reference = found[0]
    if reference[1] != "#":
        return _unescaped(reference)
    digits = reference.strip("&#xX;").lstrip("0") or "0"
    if len(digits) > LONGEST_NUMBER:
        return "\ufffd"  # beyond all characters, and perhaps beyond what Python reads
    return _unescaped(f"&#{'x' if reference[2] in 'xX' else ''}{digits};")


@lru_cache(4096)
def _unescaped(reference: str) -> str:
    return html.unescape(reference).translate(WHITE)
