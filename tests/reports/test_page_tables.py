"""Tables: sorted, filtered, walked through with the keyboard, and quick with 100,000 rows."""

import pytest

pytest.importorskip("playwright")
from report_pages import documents, example, opened, pairs, report

SIMILARITIES = "[...document.querySelectorAll('tbody .meter > span')].map((one) => one.textContent)"


@pytest.fixture
def shown(page, tmp_path):
    return opened(page, tmp_path, example(), "#pairs")


def first_names(page):
    return page.locator("tbody tr td.wide .document:first-child a").all_inner_texts()


def test_a_click_on_a_heading_sorts_and_says_so(shown):
    heading = shown.locator("thead th", has_text="Similarity")
    assert heading.get_attribute("aria-sort") == "descending"
    falling = shown.evaluate(SIMILARITIES)
    assert falling == sorted(falling, reverse=True)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert shown.evaluate(SIMILARITIES) == sorted(falling)
    shown.click("thead button:text('Documents')")
    assert first_names(shown) == sorted(first_names(shown))
    assert heading.get_attribute("aria-sort") is None


def test_a_similarity_is_never_shown_on_the_wrong_side_of_the_threshold_or_of_1(page, tmp_path):
    values = [1.0, 0.99996, 0.9, 0.85004, 0.5, 0.49998, 0.4996, 0.4]
    made = documents([f"{place}.txt" for place in range(len(values) + 1)])
    listed = pairs([*range(len(values))], [len(values)] * len(values), values)
    opened(page, tmp_path, report(made, listed), "#pairs")
    assert page.evaluate(SIMILARITIES) == [
        *("1.000", "0.99996", "0.900", "0.850", "0.500", "0.49998", "0.4996", "0.400")
    ]


def test_a_filter_leaves_what_it_asks_for_and_says_how_many(shown):
    status = shown.locator(".status")
    assert status.get_attribute("aria-live") == "polite"
    assert status.inner_text() == "10 pairs"
    shown.fill("input[type=search]", "sim:<0.9 id:draft")
    assert status.inner_text() == "2 of 10 pairs"
    assert all("draft" in name for name in first_names(shown))
    shown.fill("input[type=search]", "cluster:3")
    assert status.inner_text() == "1 of 10 pairs"
    shown.fill("input[type=search]", 'author:"<b>"')
    found = example().main
    authors = found.documents.columns["author"]
    both = zip(found.pairs.a, found.pairs.b, strict=True)
    expected = sum(authors[a] is not None or authors[b] is not None for a, b in both)
    assert 0 < expected < 10
    assert status.inner_text() == f"{expected} of 10 pairs"
    shown.fill("input[type=search]", "sim:>2")
    assert shown.inner_text("tbody") == "No pair fits this filter."


def test_an_error_in_the_query_is_said_beside_it_and_leaves_the_rows(shown):
    shown.fill("input[type=search]", "cluster:3")
    shown.fill("input[type=search]", "cluster:3 colour:red")
    assert "there is no field “colour”; there are sim, id" in shown.inner_text(".problem")
    assert shown.get_attribute("input[type=search]", "aria-invalid") == "true"
    assert shown.inner_text(".status") == "1 of 10 pairs"
    shown.press("input[type=search]", "Escape")
    assert shown.inner_text(".status") == "10 pairs"
    assert shown.inner_text(".problem") == ""


def test_clusters_are_sorted_by_size_looseness_or_similarity(page, tmp_path):
    opened(page, tmp_path, example(), "#clusters")

    def numbers():
        return page.locator("tbody a.open").all_inner_texts()

    assert numbers() == ["1", "2", "3", "4"]
    page.click("thead button:text('Looseness')")
    assert numbers() == ["2", "3", "1", "4"]
    page.click("thead button:text('Mean')")
    assert numbers() == ["1", "4", "2", "3"]
    page.fill("input[type=search]", "size:>2 sim:<0.8")
    assert numbers() == ["2"]


def test_a_row_opens_by_a_click_wherever_it_is(shown):
    shown.locator("tbody tr").nth(3).locator("td").last.click(position={"x": 60, "y": 30})
    shown.wait_for_selector("article.pair")
    assert "bahnhofsuhr" in shown.inner_text("h1")


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.id")


def test_everything_is_reached_with_the_keyboard_alone(page, tmp_path):
    opened(page, tmp_path, example())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page) == "#pairs"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr")
    page.keyboard.press("/")
    assert focused(page) == "pairs-filter"
    page.keyboard.type("id:draft")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = focused(page)
    assert second == page.locator("tbody tr").nth(1).locator("a.open").get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_selector("article.pair")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("Escape")
    page.wait_for_selector("tbody tr")
    assert focused(page) == second
    assert page.input_value("input[type=search]") == "id:draft"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "pairs-filter"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert focused(page) == "pairs-filter"


@pytest.fixture(scope="module")
def many_pairs():
    size = 100_000
    names = [f"part-{place % 97:02}/document {place}.txt" for place in range(2000)]
    first = [place % 1999 for place in range(size)]
    second = [a + 1 + (place // 1999) % (1999 - a) for place, a in enumerate(first)]
    similarity = [round(1 - place / (2 * size), 6) for place in range(size)]
    found = pairs(first, second, similarity, words=list(range(size)))
    return report(documents(names, columns={"n": list(range(2000))}), found)


def test_a_hundred_thousand_pairs_are_few_elements_and_answer_at_once(page, tmp_path, many_pairs):
    opened(page, tmp_path, many_pairs, "#pairs")
    assert page.inner_text(".status") == "100,000 pairs"
    assert page.get_attribute("table", "aria-rowcount") == "100001"
    assert page.evaluate("document.querySelectorAll('*').length") < 2500
    took = page.evaluate(
        """() => {
            const input = document.querySelector("input[type=search]");
            const start = performance.now();
            input.value = "sim:>0.6 id:document n:<700";
            input.dispatchEvent(new Event("input"));
            return performance.now() - start;
        }"""
    )
    shown = page.inner_text(".status")
    assert shown.endswith("of 100,000 pairs")
    assert 20_000 < int(shown.split()[0].replace(",", "")) < 79_999
    assert took < 3000  # 120 ms where nothing else ran
    page.fill("input[type=search]", "")
    page.click("thead button:text('Words shared')")
    assert page.locator("tbody tr").count() == 50
    assert page.inner_text("tbody tr:first-child td:nth-child(3)") == "99,999"
    page.click(".pager button:text('Last')")
    assert page.inner_text(".pager span") == "99,951 to 100,000 of 100,000"
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("tbody tr:last-child", "aria-rowindex") == "100001"
    page.keyboard.press("PageUp")
    assert page.inner_text(".pager span") == "99,901 to 99,950 of 100,000"
    assert page.evaluate("document.querySelectorAll('*').length") < 2500
