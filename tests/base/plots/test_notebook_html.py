"""What notebooks show: well-formed, escaped, with the curve inline and tables that fold."""

import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import lookalike
from lookalike import Cascade
from lookalike.base import notebooks, progress
from lookalike.base.plots.svg import curve_svg

HOSTILE = "<script>alert(1)</script>&amp;\x1b[31m\u202e\"'"
TEXTS = {
    f"{HOSTILE}-a": f"{HOSTILE} the quick brown fox jumps over the lazy dog, then sleeps",
    f"{HOSTILE}-b": f"{HOSTILE} the quick brown fox jumps over the lazy dog, then slept",
    "c": "something that is quite another text altogether",
}


class Tags(HTMLParser):
    """Collect the tags of a piece of HTML, and see that each is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def shown():
    """Give what notebooks show, by name."""
    with (
        lookalike.find(TEXTS, threshold=0.6) as found,
        lookalike.dedup(TEXTS, threshold=0.6) as deduped,
        lookalike.contained(TEXTS, containment=0.5) as contained,
        lookalike.boilerplate(TEXTS) as boilerplate,
    ):
        yield from (("find", found), ("dedup", deduped), ("contained", contained))
        yield "boilerplate", boilerplate
        yield "plan", found.plan
    yield "compare", lookalike.compare(*[*TEXTS.values()][:2])
    yield "tokens", lookalike.compare([HOSTILE, *"bcdefg"], [HOSTILE, *"bcdefg"])
    yield "cascade", Cascade.parse("and:4 or:4 and:4 or:4")
    yield "exact", lookalike.plan(0.8, 1.0)
    yield "cosine", lookalike.plan(0.8, metric="cosine")


NAMES = [
    *("find", "dedup", "contained", "boilerplate", "plan"),
    *("compare", "tokens", "cascade", "exact", "cosine"),
]


@pytest.fixture(scope="module")
def pages():
    return {name: one._repr_html_() for name, one in shown()}


def test_all_that_is_shown_is_tested(pages):
    assert [*pages] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_a_notebook_shows_is_well_formed_and_escaped(name, pages):
    found = Tags(pages[name])
    assert "script" not in found.seen
    assert "\x1b" not in pages[name]
    assert "\u202e" not in pages[name]
    pages[name].encode()


@pytest.mark.parametrize("name", ["find", "dedup", "contained", "boilerplate", "compare", "tokens"])
def test_hostile_texts_are_shown_as_texts(name, pages):
    assert any("alert(1)</script>" in text for text in Tags(pages[name]).texts)


@pytest.mark.parametrize("name", ["find", "dedup", "plan", "cascade", "exact", "cosine"])
def test_the_curve_is_inline(name, pages):
    assert Tags(pages[name]).seen.count("svg") == 1


@pytest.mark.parametrize("name", [one for one in NAMES if one != "exact"])
def test_tables_fold(name, pages):
    seen = Tags(pages[name]).seen
    assert seen.count("details") >= 1
    assert seen.count("details") == seen.count("summary")


def test_long_tables_say_how_long_they_are():
    texts = ["the same text again and again"] * 30
    with lookalike.find(texts) as found:
        page = found._repr_html_()
    assert "435 similar pairs" in page
    assert "The first 20 of 435 rows." in page


def test_a_passage_is_in_one_line():
    text = "One two three\n\nfour  five\tsix seven"
    assert '<td style="text-align:left">One two three four five six seven</td>' in (
        lookalike.compare(text, f"{text} eight")._repr_html_()
    )


def test_what_a_plan_compares_is_not_said_to_be_found():
    heads = re.findall("<th[^>]*>([^<]*)</th>", lookalike.plan(0.8)._repr_html_())
    assert heads == ["similarity", "candidate", "compared"]


def test_headings_stand_over_their_columns_and_numbers_below_each_other():
    texts = ["one two three four five", "one two three four six", "one two three four five"]
    with lookalike.find(texts, threshold=0.1, shingle="words:1") as found:
        page = found._repr_html_()
    table = page[: page.index("</table>")]
    heads = re.findall('<th style="text-align:(left|right)">(similarity|score)</th>', table)
    assert heads == [("right", "similarity"), ("left", "score")]
    values = re.findall('<td style="text-align:right">([01][.][0-9]+)</td>', table)
    assert values == ["1.000000", "0.666667", "0.666667"]


def test_nothing_found_is_shown_too():
    for texts in ([], ["one text"], ["one text", "quite another"]):
        with lookalike.find(texts) as found:
            assert "0 similar pairs" in found._repr_html_()
        with lookalike.dedup(texts) as deduped:
            assert "0 removed documents" in deduped._repr_html_()


def test_the_picture_of_a_curve_is_xml_whose_line_is_the_formula():
    curve = Cascade.banding(20, 5).curve()
    root = ET.fromstring(curve_svg([curve], threshold=0.7, width=560, height=240))
    space = "{http://www.w3.org/2000/svg}"
    (line,) = [
        one
        for one in root.iter(f"{space}path")
        if one.get("stroke") == "#0072B2" and one.get("d", "").count("L") > 50
    ]
    points = np.array([[*map(float, p.split())] for p in line.get("d", "")[1:].split("L")])
    s, chance = (points[:, 0] - 36) / 512, 1 - (points[:, 1] - 10) / 196
    assert np.abs(chance - (1 - (1 - s**5) ** 20)).max() < 2e-3
    full, hollow = root.iter(f"{space}circle")
    assert float(full.get("cx", "")) == pytest.approx(36 + 512 * 0.50870, abs=0.1)
    assert float(full.get("cy", "")) == pytest.approx(10 + 196 / 2, abs=0.1)
    assert hollow.get("fill") == "none"
    assert "http" not in curve_svg([curve]).replace("http://www.w3.org/2000/svg", "")


def test_progress_in_a_notebook_is_one_line_that_is_updated(monkeypatch):
    updates: list[str] = []

    def display(content, *, raw, display_id):
        assert raw
        assert display_id
        updates.append(content["text/plain"])
        return SimpleNamespace(update=lambda content, raw: updates.append(content["text/plain"]))

    shell = SimpleNamespace(kernel=object())
    module = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(progress, "NOTEBOOK_SECONDS", 0.0)
    assert notebooks.in_notebook()
    lookalike.find([*TEXTS.values()], progress=True)
    assert updates[0].startswith("read: ")
    assert updates[-1].startswith("read, ")
    assert " done in " in updates[-1]
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace))
    assert not notebooks.in_notebook()


@pytest.mark.parametrize(
    "spec", ["bands:20 rows:5", "bands:1000 rows:100", "and:4 or:4 and:4 or:4"]
)
def test_no_line_below_a_curve_is_wider_than_it(spec):
    shown = lookalike.Cascade.parse(spec)._repr_html_()
    wide = int(re.findall(r'viewBox="0 0 (\d+) ', shown)[0])
    lines = [line for line in re.findall(r"<text[^>]*>([^<]+)</text>", shown) if len(line) > 8]
    assert lines
    assert all(90 + 6 * len(line) < wide for line in lines)
