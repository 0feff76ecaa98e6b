"""The lesson as one HTML page, of the files in `web` and the facts of the lesson."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lookalike.learn.facts import exercise_facts
from lookalike.write.html_pages import html_page

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["web_page"]

SCRIPTS = (
    *("method.js", "dom.js", "documents.js", "minhash.js", "bands.js"),
    *("curve.js", "angles.js", "exercises.js", "start.js"),
)
"""In the order in which they use each other."""


def web_page(title: str, facts: Mapping[str, Any]) -> str:
    """Make the page of a lesson: one file, that opens from the disk without any network."""
    folder = files("lookalike.learn") / "web"
    return html_page(
        title,
        body=(folder / "page.html").read_text("utf-8"),
        styles=[folder / "page.css"],
        scripts=[folder / name for name in SCRIPTS],
        data={**facts, "exercises": exercise_facts()},
    )
