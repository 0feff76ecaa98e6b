"""A report as one page: files of the folder `page`, and the report's own data, compressed.

The main part and each text stand in blocks of their own, as Base64 of zlib, which no browser reads
as markup or runs, and which the page unpacks when it shows them.
"""

import base64
import zlib
from importlib import resources

from lookalike.reports.model import Report, main_json, text_json
from lookalike.write.html_pages import html_page

__all__ = ["render", "render_pair"]

SCRIPTS = (
    *("dom.js", "format.js", "data.js", "query.js", "align.js", "layout.js"),
    *("fields.js", "table.js", "chart.js", "pictures.js", "texts.js"),
    *(
        "time.js",
        "panes.js",
        "pair.js",
        "document.js",
        "lists.js",
        "cluster.js",
        "summary.js",
        "main.js",
    ),
)
"""In the order in which they stand in the page's one script."""


def render(report: Report) -> str:
    """Give the page of a report."""
    return _page(report, "report")


def render_pair(report: Report) -> str:
    """Give the page of its first pair alone, to send or to print."""
    return _page(report, "pair")


def _page(report: Report, kind: str) -> str:
    folder = resources.files("lookalike.reports") / "page"
    blocks = [_block("main-data", main_json(report))]
    blocks += [_block(f"text-{place}", text_json(text)) for place, text in enumerate(report.texts)]
    return html_page(
        report.main.summary.title,
        body="\n".join([(folder / "page.html").read_text("utf-8").strip(), *blocks]),
        styles=[folder / "page.css"],
        scripts=[folder / name for name in SCRIPTS],
        data={"page": kind},
    )


def _block(name: str, text: str) -> str:
    # Half of a surrogate pair, as in a name that is no Unicode, is written as JSON's own escape.
    packed = zlib.compress(text.encode("utf-8", "backslashreplace"), 9)
    return f'<script type="text/plain" id="{name}">{base64.b64encode(packed).decode()}</script>'
