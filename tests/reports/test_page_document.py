"""A document against all others, a cluster, and how it was done."""

import pytest

pytest.importorskip("playwright")
from report_pages import example, opened, pairs, text_named

COPY = "#document=ce134da39466"


def test_a_document_shows_what_of_it_stands_elsewhere_and_where(page, tmp_path):
    opened(page, tmp_path, example(), "#document=f8b46ffee77f")
    assert "92.7 %" in page.inner_text(".figures")
    text = text_named(example(), "bread/sourdough-proofread.txt")
    shares = page.locator(".sources .share").all_inner_texts()
    assert shares == [f"{share:.1%}".replace("%", " %") for _, share in text.sources]
    wide = page.locator(".drawing").first.evaluate("(box) => box.clientWidth")
    bars = page.locator("rect.source").evaluate_all(
        "(bars) => bars.map((bar) => ['x', 'width'].map((one) => Number(bar.getAttribute(one))))"
    )
    for (x, width), stretch in zip(bars, text.coverage, strict=True):
        assert x / wide == pytest.approx(stretch.start / len(text.text), abs=0.002)
        assert width / wide == pytest.approx(
            (stretch.end - stretch.start) / len(text.text), abs=0.002
        )
    marks = page.locator(".document-text mark").all_text_contents()
    covered = [text.text[stretch.start : stretch.end] for stretch in text.coverage]
    assert [mark.split() for mark in marks] == [stretch.split() for stretch in covered]
    page.click(".sources a >> nth=0")
    page.wait_for_selector("article.pair")


def test_boilerplate_is_grey(page, tmp_path):
    shown = example()
    text = text_named(shown, "bread/sourdough-copy.txt")
    # It is in another document too, whose colour it would have.
    assert text.coverage[0].start < 40 < text.coverage[0].end
    opened(page, tmp_path, shown, COPY)
    assert page.locator("rect.boilerplate-strip title").text_content() == "in 5 documents"
    looks = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    common, own = page.locator(".document-text mark").all()[:2]
    assert [one.evaluate(looks) for one in (common, own)] == [
        ["rgb(31, 35, 40)", "rgb(241, 239, 233)"],
        ["rgb(31, 35, 40)", own.evaluate(looks)[1]],
    ]
    assert own.evaluate(looks)[1] != common.evaluate(looks)[1]
    grey = page.locator(".boilerplate")
    assert grey.text_content() == common.text_content() == text.text[text.coverage[0].start : 40]
    assert grey.evaluate(looks)[0] == "rgb(95, 102, 110)"
    assert grey.get_attribute("title") == "boilerplate: in 5 documents"
    # In a pair it is grey beneath the marks of shared passages.
    page.evaluate("location.hash = document.querySelector('.sources a').hash")
    page.wait_for_selector("article.pair mark .boilerplate")


def test_boilerplate_that_nothing_covers_is_grey_too(page, tmp_path):
    shown = example()
    text = text_named(shown, "bread/sourdough-copy.txt")
    text.coverage = []
    opened(page, tmp_path, shown, COPY)
    assert page.locator(".boilerplate").text_content() == text.text[:40]


def test_a_number_in_a_text_is_that_of_a_document_in_the_list(page, tmp_path):
    shown = example()
    text = text_named(shown, "bread/sourdough-copy.txt")
    (first, *_), stretch = text.sources, text.coverage[0]
    # A stretch of a document whose share is too small for the list.
    stretch.document = next(one for one in range(28) if one not in (text.document, first[0]))
    text.sources, text.more_sources = [first], 3
    opened(page, tmp_path, shown, COPY)
    page.click("summary:text('1 more document')")
    names = page.locator(".sources a").all_inner_texts()
    assert names == [shown.main.documents.name[one] for one in (first[0], stretch.document)]
    assert page.locator(".sources .number").all_inner_texts() == ["1", "2"]
    assert page.locator(".sources .share").all_inner_texts()[1] == "–"
    assert page.locator(".document-text .number").first.inner_text() == "2"
    assert "2 documents with smaller shares" in page.inner_text("section[aria-labelledby=sources]")


def test_a_cluster_has_a_graph_a_heat_map_and_a_timeline(page, tmp_path):
    opened(page, tmp_path, example(), "#cluster=1")
    assert page.locator("svg .edge").count() == 6
    assert page.locator("svg .node").count() == 4 + 4
    assert page.locator("svg .heat:not(.self)").count() == 12
    times = page.locator(".times li").all_inner_texts()
    assert [time.split()[0] for time in times] == sorted(time.split()[0] for time in times)
    assert "oldest: the likely source" in times[0]
    assert "most similar older: bread/sourdough-copy.txt, 0.870" in " ".join(times[1].split())
    page.locator(".opens:has(> .heat)").first.click()
    page.wait_for_selector("article.pair")


def test_time_is_in_every_view(page, tmp_path):
    """The older of two is the likely source, wherever they are shown."""
    shown = example()
    dates = dict(zip(shown.main.documents.name, shown.main.documents.date, strict=True))
    opened(page, tmp_path, shown)
    source = page.locator("section[aria-labelledby=top-sources] li").first.inner_text().split()
    assert source[:1] + source[-2:] == ["3", "bread/sourdough-copy.txt", dates[source[-2]]]
    page.evaluate("location.hash = '#pairs'")
    page.wait_for_selector("tbody tr")
    for row in page.locator("tbody tr").all():
        names = row.locator(".document > a").all_inner_texts()
        older = row.locator(".document:has(.tag) > a").all_inner_texts()
        full = [row.locator(".document > a").nth(place).get_attribute("title") for place in (0, 1)]
        assert older == [names[full.index(min(full, key=lambda name: dates[name] or ""))]]
    page.evaluate("location.hash = '#clusters'")
    page.wait_for_selector("th:has-text('Oldest')")
    page.click("th button:has-text('Oldest')")
    oldest = page.locator("tbody tr td:nth-child(6)").all_inner_texts()
    assert oldest == sorted(oldest)
    page.evaluate("location.hash = '#document=f8b46ffee77f'")
    page.wait_for_selector(".times")
    times = [one.split() for one in page.locator(".times li").all_inner_texts()]
    assert [one[0] for one in times] == sorted(one[0] for one in times)
    assert "bread/sourdough-proofread.txt" in {one[1] for one in times}
    assert page.locator(".sources li:has(.tag)").count() == sum(
        dates[one] < dates["bread/sourdough-proofread.txt"]  # type: ignore[operator]
        for one in page.locator(".sources a").all_inner_texts()
    )


def test_many_sources_are_folded_and_what_is_not_counted_is_said(page, tmp_path):
    shown = example()
    text = text_named(shown, "bread/sourdough-copy.txt")
    others = [place for place in range(28) if place != text.document]
    text.sources = [(place, 0.5) for place in others]
    text.more_sources, text.remembered = 14, 64
    opened(page, tmp_path, shown, COPY)
    assert page.locator(".sources li:visible").count() == 12
    page.click("summary:text('15 more documents')")
    assert page.locator(".sources li:visible").count() == 27
    said = page.inner_text("section[aria-labelledby=sources]")
    assert "14 documents with smaller shares are not listed." in said
    assert "Some passages are in more than 64 documents. Of these, 64 are counted." in said


def test_a_near_miss_is_said_to_be_no_pair(page, tmp_path):
    shown = example()
    shown.main.summary.command = "dedup"
    opened(page, tmp_path, shown, "#pairs")
    # A near miss of a dedup is neither removed nor kept for the other.
    assert page.locator("thead button:text('Removed and kept')").count() == 1
    page.goto(f"{page.url.partition('#')[0]}#near")
    page.wait_for_selector("h1:text-is('Near misses')")
    assert page.locator("thead button:text-is('Documents')").count() == 1
    page.click("tbody .open >> nth=0")
    page.wait_for_selector("article.pair")
    assert page.inner_text("article.pair .note") == (
        "Below the threshold of 0.8: not counted as a pair."
    )


def test_where_there_are_no_near_misses_the_page_says_why(page, tmp_path):
    shown = example()
    near = shown.main.near_misses
    assert near is not None
    near.what, near.pairs = "Near misses are not shown for a reason.", pairs([], [], [])
    opened(page, tmp_path, shown)
    page.click("nav >> text=Near misses")
    page.wait_for_selector("h1:text('Near misses')")
    assert "are not shown for a reason." in page.inner_text("main")
    assert page.locator("table").count() == 0


def test_a_cluster_without_all_similarities_shows_those_of_its_pairs(page, tmp_path):
    shown = example()
    shown.main.clusters[1].matrix = None
    opened(page, tmp_path, shown, "#cluster=2")
    assert page.locator("svg .heat:not(.self):not(.unknown)").count() == 4
    assert page.locator("svg .heat.unknown").count() == 2
    assert page.locator("svg .heat-value").all_text_contents() == [".86", ".86", ".87", ".87"]
    assert "Empty cells are not pairs." in page.inner_text("main")


def test_the_chart_is_linear_or_logarithmic_counted_or_summed_up(page, tmp_path):
    opened(page, tmp_path, example(), "#method")
    histogram = example().main.histogram
    assert histogram is not None
    series = histogram.series[0]

    def tallest():
        return page.locator("rect.bar-sample").evaluate_all(
            "(bars) => bars.map((bar) => Number(bar.getAttribute('height')))"
        )

    first, second = tallest()[:2]
    assert first / second == pytest.approx(series.counts[0] / series.counts[1], rel=0.01)
    page.get_by_label("Cumulative, from the right").check()
    first, second = tallest()[:2]
    assert first / second == pytest.approx(series.cumulated[0] / series.cumulated[1], rel=0.01)
    page.get_by_label("Logarithmic").check()
    closer, close = tallest()[:2]
    assert 1 < closer / close < 1.5
    assert page.locator("polyline.line-found").count() == 1
    # All are compared here: the curve is a step at the threshold.
    (points,) = page.locator("polyline.line-found").evaluate_all(
        "(lines) => lines.map((line) => line.getAttribute('points'))"
    )
    left, right = (float(point.split(",")[0]) for point in points.split()[1:3])
    assert left == right == float(page.get_attribute("line.threshold", "x1"))
    assert "Probability that a pair is found (right axis)." in page.inner_text(".legend")
    assert "notices/photo.bin" in page.inner_text("main")


def test_an_audit_is_shown(page, tmp_path):
    shown = example()
    shown.main.audit = {"recall": 0.9876, "sample": 500, "missed": {"a.txt": "b.txt <b>"}}
    opened(page, tmp_path, shown, "#method")
    assert "0.988" in page.inner_text("section[aria-labelledby=audit]")
    page.click("summary:text('missed')")
    assert "b.txt <b>" in page.inner_text("section[aria-labelledby=audit]")


def test_the_colours_of_a_heat_map_range_over_its_similarities(page, tmp_path):
    shown = example()
    shown.main.clusters[1].matrix = [[1.0, 0.75, 0.8], [0.75, 1.0, 0.9], [0.8, 0.9, 1.0]]
    opened(page, tmp_path, shown, "#cluster=2")
    cells = page.locator("svg .opens:has(> .heat), svg g:has(> .heat:not(.self))").all()
    colours = {
        cell.locator("text").text_content(): float(
            cell.locator("rect").get_attribute("fill-opacity") or ""
        )
        for cell in cells
    }
    # From the least similar, which can still be seen, to 1.
    assert colours == {
        ".75": pytest.approx(0.12),
        ".80": pytest.approx(0.12 + 0.88 * 0.2),
        ".90": pytest.approx(0.12 + 0.88 * 0.6),
    }
    assert "from 0.750 (faintest) to 0.900 (strongest)" in page.inner_text("main")


def test_a_cluster_of_two_has_a_graph_and_no_heat_map(page, tmp_path):
    shown = example()
    (two, *_) = [cluster for cluster in shown.main.clusters if cluster.size == 2]
    two.matrix = [[1.0, 0.9], [0.9, 1.0]]
    opened(page, tmp_path, shown, f"#cluster={two.number}")
    assert page.locator("svg .edge").count() == 1
    assert page.locator("svg .heat").count() == 0


def test_points_of_a_timeline_have_the_colours_of_labels(page, tmp_path):
    opened(page, tmp_path, example(), "#cluster=1")
    colour = "(item) => getComputedStyle(item, '::before').backgroundColor"
    dot = "getComputedStyle(document.querySelector('.members .dot')).backgroundColor"
    (listed,) = {item.evaluate(colour) for item in page.locator(".times li").all()}
    assert listed == page.evaluate(dot) == "rgb(0, 114, 178)"
