"""Addresses that lead to one thing, and pages that ask for nothing and obey their own policy."""

import re

import pytest

pytest.importorskip("playwright")
from lookalike.reports.model import Link
from lookalike.reports.render import render
from report_pages import documents, example, opened, pairs, report, summary, two_texts

PAIR = "ce134da39466-1f2bd850681a"


ADDRESSES = {
    f"#pair={PAIR}": "bread/sourdough-copy.txt",
    f"#pair-{PAIR}": "bread/sourdough-copy.txt",
    "#pair=1f2bd850681a-ce134da39466": "bread/sourdough-copy.txt",
    "#pair=419055491e87-254a734665be": "roof-garden-draft-1.txt",
    "#cluster=3": "Cluster 3",
    "#cluster-3": "Cluster 3",
    "#document=ce134da39466": "bread/sourdough-copy.txt",
    "#near": "Near misses",
    "#cluster=99": "No such cluster",
    "#pair=<img src=x>": "No such pair",
    "#anything": "10 similar pairs in 29 documents",
}


def test_an_address_opens_what_it_names(page, tmp_path):
    for address, title in ADDRESSES.items():
        page.goto("about:blank")
        opened(page, tmp_path, example(), address)
        assert title in page.inner_text("h1"), address
        assert title in page.title(), address


def test_back_leads_to_where_one_came_from(page, tmp_path):
    opened(page, tmp_path, example(), "#clusters")
    page.click("tbody a.open >> nth=0")
    page.wait_for_selector("h1:text('Cluster 1')")
    page.click("a.open >> nth=0")
    page.wait_for_selector("article.pair")
    page.keyboard.press("Escape")
    page.wait_for_selector("h1:text-is('Clusters')")
    page.go_back()
    page.wait_for_selector("article.pair")


def test_files_beside_the_page_are_linked_and_no_other_addresses(page, tmp_path):
    places = ["results/pairs.parquet", "javascript:alert(1)", "//example.org/x", "https://e.org"]
    links = [Link(place, place) for place in places]
    shown = report(
        documents(["a", "b"]),
        pairs([0], [1], [0.9]),
        summary=summary(left_out=["More is there."], files=links),
    )
    opened(page, tmp_path, shown)
    assert page.locator(".files a").all_inner_texts() == places[:1]


def test_the_policy_lets_nothing_in():
    made = render(example())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', made)
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    assert set(allowed) == {
        *("default-src", "script-src", "style-src", "img-src", "base-uri", "form-action")
    }
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=(?![\"']data:,)", made.partition("<style>")[0])
    assert "innerHTML" not in made
    assert "http://www.w3.org/2000/svg" in made
    assert len(re.findall("https?://", made)) == 1


def test_the_same_report_is_the_same_page():
    assert render(example()) == render(example())


def test_screen_readers_find_landmarks_headings_and_tables(page, tmp_path):
    opened(page, tmp_path, example(), "#pairs")
    roles = page.locator("body").aria_snapshot()
    for part in ('navigation "Parts of the report"', "main", "contentinfo", "status"):
        assert f"- {part}" in roles
    assert 'heading "Pairs" [level=1]' in roles
    assert 'table "Similar pairs"' in roles
    assert 'columnheader "Similarity"' in roles
    assert 'link "bread/sourdough-copy.txt and bread/sourdough-reflowed.txt: 1.000"' in roles
    assert 'searchbox "Filter"' in roles
    assert page.get_attribute("html", "lang") == "en"
    nameless = """[...document.querySelectorAll('a, button, input')].filter((one) =>
        !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)).length"""
    assert page.evaluate(nameless) == 0


def test_a_window_is_named_by_the_names_of_its_pair(page, tmp_path):
    shown = example()
    opened(page, tmp_path, shown, "#pair=419055491e87-eb7d9c9c61ba")
    assert page.title().partition(" – ")[0] == (
        "city-gardens/roof-garden-draft-1.txt and city-gardens/roof-garden-draft-2.txt"
    )


def test_a_name_that_turns_the_direction_is_not_another_name(page, tmp_path):
    shown = two_texts("one two", "one three", [], a="a\u202etxt.exe")
    opened(page, tmp_path, shown, "#pairs")
    assert page.locator("tbody .document a").first.inner_text() == "a\\u202etxt.exe"
