"""Every part of the report opens, and says what the report says."""

import pytest

from javascript import call_all
from report_pages import documents, example, opened, pairs, report


@pytest.fixture
def shown(page, tmp_path):
    return opened(page, tmp_path, example())


def test_the_summary_says_what_was_found_in_two_lines(shown):
    assert shown.inner_text("h1") == "10 similar pairs in 29 documents"
    assert "The closest are bread/sourdough-copy.txt and" in shown.inner_text(".lead")
    assert shown.title().startswith("10 similar pairs in 29 documents")
    assert "The first 10 of 12 pairs are shown" in shown.inner_text("main")
    assert shown.get_attribute(".files a", "href") == "results/pairs.parquet"


def test_short_facts_are_figures_and_long_ones_lines(page, tmp_path):
    shown = example()
    shown.main.summary.facts = [
        ("Read", "29 documents"),
        ("Nearest", "Of the pairs that were compared, none is near."),
        ("Score", shown.main.summary.score),
    ]
    shown.main.summary.warnings = ["the threshold is low"]
    opened(page, tmp_path, shown)
    assert page.inner_text(".figures").split("\n") == ["Read", "29 documents"]
    assert page.inner_text(".lines dd") == "Of the pairs that were compared, none is near."
    assert page.inner_text(".note.warning") == "The threshold is low."


def test_each_part_opens_from_the_menu(shown):
    for part in ("Pairs", "Clusters", "Near misses", "Documents", "Method"):
        shown.click(f"#parts >> text={part}")
        title = "Method" if part == "Method" else part
        shown.wait_for_selector(f"h1:text-is('{title}')")
        assert shown.inner_text("#parts [aria-current]") == part


def test_a_report_of_nothing_says_so(page, tmp_path):
    opened(page, tmp_path, report(documents([]), pairs([], [], [])))
    assert "No two documents have a similarity of 0.5 or more" in page.inner_text(".lead")
    assert page.locator("#parts a").all_inner_texts() == ["Summary", "Method"]


def test_a_share_is_never_shown_as_all_or_nothing_where_it_is_not(page):
    shares = [0, 0.0004, 0.5, 0.954, 0.9996, 1, None]
    shown = ["0 %", "0.1 %", "50.0 %", "95.4 %", "99.9 %", "100 %", "–"]
    assert call_all(page, ["format.js"], "percent(one)", shares) == shown


def test_one_is_not_several(page):
    said = ["0 pairs", "1 pair", "2 pairs", "1,000 pairs"]
    assert call_all(page, ["format.js"], 'many(one, "pair")', [0, 1, 2, 1000]) == said
