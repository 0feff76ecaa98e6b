"""Draw the pictures of the report and the lesson under docs/images again.

They are of the shipped sample documents.

PYTHONPATH=tests/support python -m tools.screenshots
"""

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

import lookalike
from browser import PHONE, Chromium, running_browser

ROOT = Path(__file__).parent.parent
DRAFTS = ("city-gardens/roof-garden-draft-1.txt", "city-gardens/roof-garden-draft-2.txt")
REPORT: dict[str, tuple[str, dict[str, Any]]] = {
    "report-light": ("#summary", {}),
    "report-dark": ("#cluster=1", {"color_scheme": "dark"}),
    "pair": ("pair", {"viewport": {"width": 1280, "height": 1000}}),
    "phone": ("pair", {**PHONE, "color_scheme": "dark"}),
}
LESSON: dict[str, tuple[str, dict[str, Any]]] = {
    "lesson": ("#curve", {"viewport": {"width": 1000, "height": 760}}),
    "lesson-phone": ("#permutation", {**PHONE, "color_scheme": "dark", "device_scale_factor": 1.5}),
}
COLOURS = 160
"""So few that a picture stays small; the eye does not miss the others."""


def show_report(shown: Page, address: str) -> None:
    """Go to a place of the report."""
    shown.wait_for_selector("html[data-ready]")
    names, keys = shown.evaluate("[report.documents.name, report.documents.key]")
    drafts = "-".join(keys[names.index(name)] for name in DRAFTS)
    hash = f"#pair={drafts}" if address == "pair" else address
    shown.evaluate("(hash) => { location.hash = hash; }", hash)
    shown.wait_for_timeout(500)
    shown.evaluate("document.activeElement.blur()")
    if shown.evaluate("innerWidth < 400"):
        shown.evaluate("document.querySelector('.tools').scrollIntoView()")


def show_lesson(shown: Page, address: str) -> None:
    """Scroll to a step of the lesson."""
    shown.wait_for_selector(f"{address} h2")
    shown.evaluate("(step) => document.querySelector(`${step} h2`).scrollIntoView()", address)
    shown.wait_for_timeout(500)


def take(
    chromium: Chromium,
    page: Path,
    show: Callable[[Page, str], None],
    pictures: dict[str, tuple[str, dict[str, Any]]],
) -> None:
    """Take the pictures of a page."""
    for name, (address, options) in pictures.items():
        # Motion would be in the way, as it is to those who ask for less.
        with chromium.page(reduced_motion="reduce", **options) as shown:
            shown.goto(page.as_uri())
            show(shown, address)
            picture = Image.open(io.BytesIO(shown.screenshot()))
        path = ROOT / "docs" / "images" / f"{name}.png"
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
        print(path.name, path.stat().st_size)


def main() -> None:
    """Draw all pictures."""
    found = lookalike.find(str(ROOT / "examples" / "documents"))
    with tempfile.TemporaryDirectory() as folder, running_browser() as chromium:
        report, lesson = Path(folder, "report.html"), Path(folder, "lesson.html")
        lookalike.report(found, out=report, label="folder")
        take(chromium, report, show_report, REPORT)
        lookalike.lesson().write(lesson)
        take(chromium, lesson, show_lesson, LESSON)


if __name__ == "__main__":
    main()
