"""Pages of one file: style, script and data inside, nothing asked of any network.

The browser runs the one script and applies the one style whose hashes the page's own
Content-Security-Policy names. What documents say comes as data, which no browser reads as markup;
scripts put it on the page as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.write.files import is_device, json_text, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

__all__ = ["check_html_name", "embedded_json", "html_page", "write_html"]

DATA = "data"
"""The id of the element that holds the data."""
ENDINGS = (".html", ".htm")
# These would end a script element, begin a comment, or be line ends in JavaScript alone. They
# stand only within strings, where JSON reads the escapes as the same characters.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="{data_id}">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def html_page(
    title: str,
    *,
    body: str,
    styles: Sequence[Traversable],
    scripts: Sequence[Traversable],
    data: Any,
) -> str:
    """Make a page of files of the package, and of data; `body` is markup, and ours alone."""
    style, script = (_joined(files) for files in (styles, scripts))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return PAGE.format(
        policy=policy,
        title=html.escape(title),
        style=style,
        body=body.strip("\n"),
        data_id=DATA,
        data=embedded_json(data),
        script=script,
    )


def embedded_json(value: Any) -> str:
    """Write a value as JSON that may stand inside a script element."""
    return json_text(value).translate(ESCAPES)


def check_html_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that a browser would not open as a page."""
    if not os.fspath(path).lower().endswith(ENDINGS) and not is_device(path):
        raise SettingsError(
            f"{setting('out', os.fspath(path))} is to be a page: end its name in .html"
        )


def write_html(path: str | os.PathLike[str], page: str) -> None:
    """Write a page to a file, whole or not at all."""
    check_html_name(path)
    write_atomically(Path(path), lambda stream: stream.write(page.encode()))


def _joined(files: Sequence[Traversable]) -> str:
    return "\n" + "\n".join(one.read_text("utf-8") for one in files)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
