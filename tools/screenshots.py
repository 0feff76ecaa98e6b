"""Draw the pictures of the report under docs/images again, from the shipped sample documents.

PYTHONPATH=tests/support python -m tools.screenshots
"""

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

import lookalike
from browser import PHONE, Chromium, running_browser

ROOT = Path(__file__).parent.parent
DRAFTS = ("city-gardens/roof-garden-draft-1.txt", "city-gardens/roof-garden-draft-2.txt")
PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "report-light": ("#summary", {}),
    "report-dark": ("#cluster=1", {"color_scheme": "dark"}),
    "pair": ("pair", {"viewport": {"width": 1280, "height": 1000}}),
    "phone": ("pair", {**PHONE, "color_scheme": "dark"}),
}
COLOURS = 160
"""So few that a picture stays small; the eye does not miss the others."""


def take(chromium: Chromium, page: Path, address: str, options: dict[str, Any]) -> bytes:
    with chromium.page(**options) as shown:
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-ready]")
        names, keys = shown.evaluate("[report.documents.name, report.documents.key]")
        drafts = "-".join(keys[names.index(name)] for name in DRAFTS)
        hash = f"#pair={drafts}" if address == "pair" else address
        shown.evaluate("(hash) => { location.hash = hash; }", hash)
        shown.wait_for_timeout(500)
        shown.evaluate("document.activeElement.blur()")
        if "is_mobile" in options:
            shown.evaluate("document.querySelector('.tools').scrollIntoView()")
        return shown.screenshot()


def main() -> None:
    found = lookalike.find(str(ROOT / "examples" / "documents"))
    with tempfile.TemporaryDirectory() as folder, running_browser() as chromium:
        page = Path(folder, "report.html")
        lookalike.report(found, out=page, label="folder")
        for name, (address, options) in PICTURES.items():
            picture = Image.open(io.BytesIO(take(chromium, page, address, options)))
            path = ROOT / "docs" / "images" / f"{name}.png"
            picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
            print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
