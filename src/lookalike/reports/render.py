"""One page from its parts: a style, a script and compressed data, in a single file.

The page asks for nothing: its Content-Security-Policy names the one script and the one style by
their hashes, and forbids all else. Data stand in blocks that no browser runs, as Base64 of zlib, so
that nothing in a document can end a block or be taken for markup.
"""

import base64
import hashlib
import html
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from lookalike.reports.model import Report, main_json, text_json

__all__ = ["assemble", "packaged", "render", "render_pair"]

SCRIPTS = (
    *("dom.js", "format.js", "data.js", "query.js", "align.js", "layout.js"),
    *("fields.js", "table.js", "chart.js", "pictures.js", "texts.js"),
    *("pair.js", "document.js", "lists.js", "cluster.js", "summary.js", "main.js"),
)
"""In the order in which they stand in the page's one script."""
STYLES = ("page.css",)


def render(report: Report) -> str:
    """Give the page of a report."""
    return _report(report, "report")


def render_pair(report: Report) -> str:
    """Give the page of its first pair alone, for a file or for paper."""
    return _report(report, "pair")


def _report(report: Report, kind: str) -> str:
    data = {"main-data": main_json(report)}
    data |= {f"text-{number}": text_json(text) for number, text in enumerate(report.texts)}
    return assemble(
        kind=kind,
        title=report.main.summary.title,
        style=packaged(STYLES),
        script=packaged(SCRIPTS),
        data=data,
    )


@cache
def packaged(names: Iterable[str]) -> str:
    """Give files of the folder `page` as one text."""
    folder = resources.files("lookalike.reports") / "page"
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def assemble(*, kind: str, title: str, style: str, script: str, data: Mapping[str, str]) -> str:
    """Put a page together; the script finds each part of `data` by its id, and unpacks it."""
    script = f'"use strict";\n{{\n{script}}}\n'
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return packaged(("page.html",)).format(
        kind=html.escape(kind),
        title=html.escape(title),
        policy=policy,
        style=style,
        script=script,
        data="\n".join(_block(name, text) for name, text in data.items()),
    )


def _hash(text: str) -> str:
    """Name a script or style as the policy does."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _block(name: str, text: str) -> str:
    # A lone surrogate, as in a file's name that is not Unicode, becomes the sign for what is none.
    readable = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    packed = base64.b64encode(zlib.compress(readable.encode(), 9)).decode("ascii")
    return f'<script type="text/plain" id="{html.escape(name)}">{packed}</script>'
