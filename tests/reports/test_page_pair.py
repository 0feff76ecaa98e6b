"""Two texts side by side: passages that lead to each other, folds, differences, hostile texts."""

import pytest

pytest.importorskip("playwright")
from lookalike.reports.model import Report
from report_pages import example, opened, two_texts

DRAFTS = "#pair=419055491e87-eb7d9c9c61ba"
PAIR = "#pair=000000000000-000000000001"


def long_pair(filler=120) -> Report:
    """Give two texts, long enough to scroll, with two passages whose order is not the same."""
    first, second = "The quick brown fox jumps over it.", "A lazy dog sleeps all day in the sun."
    head = "".join(f"Line {place} of the first.\n" for place in range(filler))
    other = "".join(f"Row {place} of the second.\n" for place in range(filler))
    a = f"{first}\n{head}{second}\n"
    b = f"{second}\n{other}{first}\n"
    there = len(second) + 1 + len(other)
    here = len(first) + 1 + len(head)
    return two_texts(
        a,
        b,
        [
            (here, here + len(second), 0, len(second), 9),
            (0, len(first), there, there + len(first), 7),
        ],
    )


def test_a_pair_shows_its_figures_and_both_texts(page, tmp_path):
    opened(page, tmp_path, example(), DRAFTS)
    figures = page.inner_text(".figures")
    for part in ("0.859", "1,186 of 1,380 shingles are in both", "92.2 %", "92.7 %", "264 words"):
        assert part in figures
    assert "roof-garden-draft-1.txt is older" in page.inner_text(".older")
    assert page.locator(".side-a .number").all_inner_texts() == list("12345")
    assert page.locator(".side-b .number").all_inner_texts() == list("12345")
    assert page.locator(".side-a .difference").all_inner_texts()[:2] == [
        "Then came",
        "for the beds",
    ]
    assert page.locator(".side-b .difference").all_inner_texts()[0] == "After that there were"
    beside = page.evaluate(
        """[...document.querySelectorAll('.row.same')].map((row) =>
            [...row.children].map((cell) => cell.getBoundingClientRect().top))"""
    )
    assert all(a == b for a, b in beside)


def test_what_is_the_same_is_folded_until_it_is_asked_for(page, tmp_path):
    opened(page, tmp_path, example(), DRAFTS)
    fold = page.locator("button.fold").first
    assert fold.inner_text() == "… 65 identical words …"
    assert "sweetcorn" not in page.inner_text(".texts")
    fold.click()
    assert page.inner_text(".side-a >> nth=5").count("sweetcorn") == 1
    assert page.inner_text(".texts").count("sweetcorn") == 2
    page.get_by_label("Fold identical text").uncheck()
    assert page.locator("button.fold").count() == 0
    assert page.inner_text(".texts").count("sweetcorn") == 2


def test_a_click_on_a_passage_goes_to_it_in_the_other_text(page, tmp_path):
    opened(page, tmp_path, long_pair(), PAIR)
    assert page.locator("mark.moved[data-mark]").count() == 2
    page.click(".side-a button[data-passage='1']")
    there = page.locator(".side-b button[data-passage='1']")
    assert there.evaluate("(one) => one === document.activeElement")
    top = there.evaluate("(one) => one.getBoundingClientRect().top")
    assert 0 < top < page.evaluate("innerHeight")
    assert page.evaluate("scrollY") > 500
    assert (
        page.locator("mark.chosen").all_inner_texts() == ["The quick brown fox jumps over it."] * 2
    )
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('.side-a') !== null")


def aligned_pair(rows=80) -> Report:
    """Give two texts with as many passages in the same order, of which the second is far longer."""
    same = [f"Sentence {place} is the same in both of the texts." for place in range(rows)]
    a = "\n".join(same)
    b = "\n".join(f"{text}\n" + f"More {place} here. " * 20 for place, text in enumerate(same))
    passages = [
        (
            a.index(text),
            a.index(text) + len(text) - 1,
            b.index(text),
            b.index(text) + len(text) - 1,
            9,
        )
        for text in same
    ]
    return two_texts(a, b, passages)


TOPS = """(number) => ["a", "b"].map((side) =>
    document.querySelector(`.side-${side} .pane button[data-passage="${number}"]`)
        .getBoundingClientRect().top)"""
SCROLLED = "[...document.querySelectorAll('.pane')].map((pane) => pane.scrollTop)"
LAST = (
    "[...document.querySelectorAll('.pane')].map((pane) => pane.scrollHeight - pane.clientHeight)"
)


def scrolled(page, which, top):
    """Scroll a pane as a reader does, and give where both are then."""
    page.locator(".pane").nth(which).evaluate("(pane, top) => pane.scrollTo(0, top)", top)
    page.wait_for_timeout(60)
    return page.evaluate(SCROLLED)


def test_panes_scroll_together_or_each_by_itself(page, tmp_path):
    opened(page, tmp_path, aligned_pair(), PAIR)
    # One text is far longer than the other: rows would be half empty.
    assert page.get_by_label("Two panes").is_checked()
    last = page.evaluate(LAST)
    assert last[1] > 4 * last[0] > 1000
    for which, top in ((0, 300), (1, 4000), (0, 700), (1, 1500)):
        scrolled(page, which, top)
        # Some passage is on the same height in both, or what follows it in one alone is there.
        apart = [abs(a - b) for a, b in (page.evaluate(TOPS, number) for number in range(1, 81))]
        assert min(apart) < 200
        assert max(apart) > 1000
    assert scrolled(page, 0, last[0]) == pytest.approx(last, abs=2)
    assert scrolled(page, 1, 0) == pytest.approx([0, 0], abs=2)
    page.get_by_label("Scroll together").uncheck()
    assert scrolled(page, 0, 300) == [300, 0]


def test_a_passage_is_on_the_same_height_in_both_panes_after_a_click(page, tmp_path):
    opened(page, tmp_path, aligned_pair(), PAIR)
    page.get_by_label("Scroll together").uncheck()
    scrolled(page, 0, 400)
    page.locator(".side-a button[data-passage='20']").click()
    a, b = page.evaluate(TOPS, 20)
    assert a == pytest.approx(b, abs=1)
    page.locator(".ribbon[data-passage='40'] rect").last.click(force=True)
    box = page.locator(".pane").first.bounding_box()
    assert all(box["y"] < top < box["y"] + box["height"] for top in page.evaluate(TOPS, 40))


def test_a_passage_that_was_moved_is_reached_in_panes(page, tmp_path):
    opened(page, tmp_path, long_pair(), PAIR)
    assert page.locator(".pane").count() == 0
    assert page.get_by_label("Scroll together").is_hidden()
    page.get_by_label("Two panes").check()
    first, second = page.locator(".pane").nth(0), page.locator(".pane").nth(1)
    first.locator("mark[data-mark='1']").click()
    page.wait_for_timeout(60)
    # What it was clicked in stays where it is, though panes scroll together.
    assert second.evaluate("(pane) => pane.scrollTop") > 500
    assert first.evaluate("(pane) => pane.scrollTop") == 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('.side-a') !== null")


def test_a_ribbon_leads_to_its_passage(page, tmp_path):
    opened(page, tmp_path, long_pair(), PAIR)
    page.locator(".ribbon[data-passage='2'] rect").first.click(force=True)
    page.wait_for_selector("mark.chosen")
    assert page.locator("mark.chosen").first.inner_text().startswith("A lazy dog")


HOSTILE = "</script><script>document.title='pwned'</script><img src=x onerror=alert(1)>"


def test_a_hostile_text_is_text_and_its_offsets_are_right(page, tmp_path):
    shared = "השועל החום 😀👩‍👩‍👧 <b>jumps</b> é"
    a = f"😀 {HOSTILE} {shared} &amp; \u202eover\u202c"
    b = f"𝒳𝒴 before. {shared} <!-- --> {HOSTILE}"

    def size(text):
        return len(text.encode("utf-16-le")) // 2

    starts = [size(text[: text.index(shared)]) for text in (a, b)]
    passage = (starts[0], starts[0] + size(shared), starts[1], starts[1] + size(shared), 4)
    hostile = two_texts(a, b, [passage], a=HOSTILE, b="\u202egnp.exe & <i>\ud800")
    hostile.main.summary.title = HOSTILE
    opened(page, tmp_path, hostile, PAIR)
    assert page.locator("mark[data-mark]").all_inner_texts() == [shared, shared]
    assert page.locator(".cell.side-a").evaluate_all(
        """(cells) => cells.map((cell) => {
            const copy = cell.cloneNode(true);
            copy.querySelectorAll('button').forEach((one) => one.remove());
            return copy.textContent;
        }).join('')"""
    ).replace(" ", "") == a.replace(" ", "")
    assert (
        page.locator("article img, article script, article b:not(.meter b), article i").count() == 0
    )
    assert HOSTILE in page.inner_text("h1")
    assert "pwned" not in page.title() or HOSTILE in page.title()
    page.evaluate("location.hash = '#pairs'")
    page.wait_for_selector("tbody tr")
    assert HOSTILE[:30] in page.inner_text("tbody")


def test_a_text_of_a_megabyte_opens_at_once(page, tmp_path):
    lines = [
        f"Line {place} says something about the {place * 7919 % 1000} things.\n"
        for place in range(22_000)
    ]
    a = "".join(lines)
    b = "".join(lines[:11_000]) + "A new line.\n" * 4000 + "".join(lines[11_000:])
    half = len("".join(lines[:11_000]))
    gap = len("A new line.\n") * 4000
    passages = [(0, half, 0, half, 90_000), (half, len(a), half + gap, len(b), 90_000)]
    assert len(a) > 1_000_000
    opened(page, tmp_path, two_texts(a, b, passages))
    took = page.evaluate(
        """async (address) => {
            const start = performance.now();
            location.hash = address;
            const shown = () => document.querySelector('article.pair');
            while (!shown()) await new Promise(requestAnimationFrame);
            document.querySelector('.texts').getBoundingClientRect();
            return performance.now() - start;
        }""",
        PAIR,
    )
    assert page.locator(".number").count() == 4
    assert took < 3000  # 260 ms where nothing else ran
    page.get_by_label("Fold identical text").uncheck()
    assert page.locator(".part").count() > 100


def test_a_pair_without_its_texts_says_so(page, tmp_path):
    shown = long_pair()
    shown.main.documents.text = [None, 1]
    opened(page, tmp_path, shown, PAIR)
    assert "The texts of this pair are not in this page." in page.inner_text("article")


def test_what_differs_is_underlined_though_many_documents_have_it(page, tmp_path):
    shown = two_texts("Jehovah spoke to them", "the Lord spoke to them", [])
    shown.texts[0].boilerplate = [(0, 13, 9)]
    opened(page, tmp_path, shown, "#pair=000000000000-000000000001")
    common = page.locator(".side-a .difference .boilerplate")
    assert common.all_text_contents() == ["Jehovah"]
    line = "(node) => getComputedStyle(node.parentNode).textDecorationLine"
    assert common.evaluate(line) == "underline"
