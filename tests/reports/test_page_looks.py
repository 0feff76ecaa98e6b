"""On paper, on a telephone, in the light and in the dark."""

import io
import re

import pytest

pytest.importorskip("playwright")
from browser import PHONE
from report_pages import example, opened, two_texts

PARTS = ["", "#pairs", "#clusters", "#near", "#documents", "#method", "#cluster=1"]
THINGS = ["#pair=419055491e87-eb7d9c9c61ba", "#document=419055491e87", "#pair=x", "#cluster=2"]


def printed(page):
    pypdf = pytest.importorskip("pypdf")
    return pypdf.PdfReader(io.BytesIO(page.pdf(format="A4", print_background=True))).pages


def test_one_pair_prints_whole_with_both_columns_aligned(page, tmp_path):
    shared = [f"Shared sentence number {place} stands in both of them. " * 12 for place in range(6)]
    a = "".join(f"{text}\nalpha{place} only here\n" for place, text in enumerate(shared))
    b = "".join(f"{text}\nbeta{place} only there\n" for place, text in enumerate(shared))
    passages = [
        (
            a.index(text),
            a.index(text) + len(text) - 1,
            b.index(text),
            b.index(text) + len(text) - 1,
            96,
        )
        for text in shared
    ]
    opened(page, tmp_path, two_texts(a, b, passages), pair=True)
    assert page.locator("nav").count() == 0
    assert "number 3 stands" in page.inner_text(".texts")
    sheets = printed(page)
    assert len(sheets) > 1
    together = "\n".join(sheet.extract_text(extraction_mode="layout") for sheet in sheets)
    for place in range(6):
        (line,) = re.findall(f".*alpha{place}.*", together)
        assert re.search(rf"alpha{place} only here\s+beta{place} only there", line)
    words = re.findall(r"\w+", " ".join(sheet.extract_text() for sheet in sheets))
    assert words.count("sentence") == 2 * 6 * 12
    assert "Print" not in words


def test_a_pair_in_panes_prints_in_rows(page, tmp_path):
    opened(page, tmp_path, example(), THINGS[0])
    page.get_by_label("Two panes").check()
    text = " ".join(" ".join(sheet.extract_text() for sheet in printed(page)).split())
    assert text.count("sweetcorn") == 2
    assert page.locator(".pane").count() == 2


def test_nothing_is_wider_than_a_telephone(new_page, tmp_path):
    page = new_page(**PHONE)
    opened(page, tmp_path, example())
    for address in PARTS + THINGS:
        page.evaluate("(address) => { location.hash = address || '#summary'; }", address)
        page.wait_for_selector("main:not([aria-busy])")
        page.wait_for_timeout(50)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 375, address
        page.evaluate("scrollTo(9999, 0)")
        assert page.evaluate("scrollX") == 0, address


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


COLOURS = """([names, ground]) => {
    const probe = document.body.appendChild(document.createElement("i"));
    const read = (name) => {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color;
    };
    const found = [read(ground), names.map(read)];
    probe.remove();
    return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(new_page, tmp_path, scheme):
    page = new_page(color_scheme=scheme)
    opened(page, tmp_path, example())
    for ground in ("paper", "card", "shade"):
        behind, colours = page.evaluate(COLOURS, [["ink", "muted", "accent", "different"], ground])
        for colour in colours:
            assert contrast(behind, colour) >= 4.5, (ground, colour)
    for ground, name in (
        ("mark", "ink"),
        ("moved", "ink"),
        ("chosen", "ink"),
        ("accent", "on-accent"),
    ):
        behind, (colour,) = page.evaluate(COLOURS, [[name], ground])
        assert contrast(behind, colour) >= 4.5, (ground, name)
    assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1) == (
        scheme == "dark"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_labels_have_colours_that_the_colour_blind_tell_apart(new_page, tmp_path, scheme):
    page = new_page(color_scheme=scheme)
    opened(page, tmp_path, example(), "#pairs")
    _, colours = page.evaluate(COLOURS, [[f"c{place}" for place in range(1, 9)], "paper"])
    seen = [red_blind(colour) for colour in colours]
    for place, one in enumerate(seen):
        for other in seen[:place]:
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.08
    dots = page.locator("tbody .label").all_inner_texts()
    assert {"bread", "german"} <= set(dots)


def red_blind(colour):
    """See a colour without the cones for red (Viénot, Brettel and Mollon 1999)."""
    red, green, blue = ((int(part) / 255) ** 2.2 for part in re.findall(r"\d+", colour)[:3])
    seen = (
        0.1124 * red + 0.8876 * green,
        0.1124 * red + 0.8876 * green,
        0.0040 * red - 0.0040 * green + blue,
    )
    return [max(0, part) ** (1 / 2.2) for part in seen]
