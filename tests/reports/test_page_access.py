"""What a screen reader, a voice and a finger need: names that begin as what is seen, and room."""

import pytest

pytest.importorskip("playwright")
from browser import PHONE
from report_pages import example, opened

PLACES = ["#summary", "#pairs", "#clusters", "#near", "#documents", "#method", "#cluster=1"]
PLACES += ["#pair=419055491e87-eb7d9c9c61ba", "#document=f8b46ffee77f", "#document=nobody"]
MISNAMED = """() => {
    const plain = (text) => text.toLowerCase().split(/\\s+/).filter(Boolean).join(" ");
    return [...document.querySelectorAll("a[aria-label], button[aria-label]")]
        .filter((one) => !plain(one.getAttribute("aria-label")).includes(plain(one.innerText)))
        .map((one) => one.outerHTML);
}"""
UNNAMED = """() => [...document.querySelectorAll("a[href], button, input, [role]:not(:empty)")]
    .filter((one) => !one.innerText && !one.getAttribute("aria-label") && !one.labels?.length)
    .map((one) => one.outerHTML)"""
SMALL = """() => [...document.querySelectorAll("tbody .document a, nav a, .cards a, button.fold")]
    .filter((one) => one.getClientRects().length)
    .map((one) => [one.getBoundingClientRect().height, one.outerHTML])
    .filter(([height]) => height < 24)"""


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_all_that_acts_has_a_name_that_is_seen_and_room_for_a_finger(options, new_page, tmp_path):
    page = new_page(**options)
    opened(page, tmp_path, example())
    for address in PLACES:
        page.evaluate("(address) => { location.hash = address; }", address)
        page.wait_for_selector("main:not([aria-busy])")
        page.wait_for_timeout(50)
        assert page.evaluate(MISNAMED) == [], address
        assert page.evaluate(UNNAMED) == [], address
        assert page.evaluate(SMALL) == [], address
        # A picture is one thing: what is in it cannot be reached by itself.
        assert page.locator("[role=img] :is(a, button, [tabindex])").count() == 0
        assert page.locator("h1").count() == page.locator("main").count() == 1
        assert page.locator("th:empty").count() == 0


def test_the_outline_of_a_pair_is_what_is_seen(page, tmp_path):
    opened(page, tmp_path, example(), "#pair=419055491e87-eb7d9c9c61ba")
    heard = page.locator("main").aria_snapshot()
    for part in (
        '- heading "city-gardens/roof-garden-draft-1.txt',
        "- term: Similarity",
        '- img "5 shared passages between the first text above and the second below."',
        '- radio "Rows" [checked]',
        '- checkbox "Fold identical text" [checked]',
        'button "Passage 1: go to it in the other text"',
        '- navigation "Other pairs"',
    ):
        assert part in heard, part
