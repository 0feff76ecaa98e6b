"""Pages of HTML: as the twin reads them, and in time in proportion to their length."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins_html
from lookalike.read.html import page_text

pytestmark = pytest.mark.kernels

PIECES = [
    *(
        "text",
        " ",
        "\n",
        "\t",
        "\r\n",
        "é中😀",
        "\0",
        "<",
        ">",
        "</",
        "<!",
        "<?",
        "</>",
        "< a",
        "=",
    ),
    *(
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<B CLASS=x>",
        "<br/>",
        "<pre>",
        "</pre>",
        "<Pre x>",
        "a\n  b\tc",
    ),
    *("<!--", "-->", "--!>", "<!-->", "<!--->", "--", "<![CDATA[", "]]>", "<!doctype html>"),
    *(
        "<script>",
        "</script>",
        "<SCRIPT a='>'>",
        "</script",
        "</scriptx>",
        "<script/>",
        "</script/>",
    ),
    *("<style>", "</style >", "<iframe>", "</iframe>", "<textarea>", "</textarea>", "<xmp>"),
    *("<svg>", "</svg>", "<svg/>", "<svg a=/>", "<svg a='x'/>", "<template>", "</template>"),
    *("<noscript>", "</noscript>", "<head>", "</head>", "<title>", "</title>", "<meta>", "<html>"),
    *("&amp;", "&", "&am", "p;", "&#", "38;", "&#x1F600;", "&#00065", "&nbsp;", "&notit;", "&#10;"),
    *("&#99999999999999999999;", "&#xD800;", "&NewLine;", "#", "x26", "amp"),
    *(
        "<a",
        ' href="',
        '"',
        "'",
        " b='c'",
        " d = e",
        "/",
        "/>",
        "<verylongname>",
        "</verylongname>",
    ),
]


def told(page):
    return page_text(page.encode())


@given(st.lists(st.sampled_from(PIECES) | st.text("ab<>/!-&;=\"' \n", max_size=4), max_size=14))
def test_any_page_is_read_as_the_twin_reads_it(pieces):
    page = "".join(pieces)
    assert told(page) == twins_html.page_text(page)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<b title='>'>b</b>c", "abc"),
        ('a<b title=">" x=\'"\'>b', "ab"),
        ("a<b x=y/>b<svg x=y/>c", "ab"),
        ("a<p title='never closed>b", "a"),
        ("a<!-- never closed>b", "a"),
        ("a<!-->b<!--->c<!-- -- > --!>d", "abcd"),
        ("a<![CDATA[b]]>c<?php d ?>e</3>f", "acef"),
        ("a</", "a</"),
        ("<title>a <b> &amp; b</title>c", "a <b> & b\nc"),
        ("<title>never closed<p>text", "never closed\ntext"),
        ("<textarea><p></textarea>a", "<p>\na"),
        ("<script>'</scripty>' <p>no</SCRIPT >a", "a"),
        ("<script>never closed<p>no", ""),
        ("<svg><style>no<p>no</svg>a", "a"),
        ("<svg><template><svg></template></svg>a", "a"),
        ("&am<b>p;</b>&am<!-- -->p;&<i>lt;", "&amp;&amp;&lt;"),
        ("&amp;amp; &#38;amp; &AMP &notit; &nosuch;", "&amp; &amp; & ¬it; &nosuch;"),
        ("a&#10;b&Tab;c", "a b c"),
        ("<pre>a\r\n\r\n  b  c</pre>  d  e", "a\nb  c\nd e"),
        ("x\0y", "xy"),
    ],
)
def test_tags_texts_and_references_are_told_apart(page, text):
    assert told(page) == twins_html.page_text(page) == text


def test_a_number_of_any_length_is_read_or_replaced():
    assert told("&#" + "0" * 100_000 + "65;") == "A"
    assert told("&#x" + "0" * 100_000 + "41;") == "A"
    assert told("&#" + "9" * 100_000 + ";") == "\ufffd"


BOMBS = [
    *(
        "<!--",
        "<![CDATA[",
        "<!",
        "<?",
        "</",
        "<",
        "<a",
        "<a ",
        "<a b='",
        '<a b="',
        "<a =",
        "--",
        "<!-- --",
    ),
    *(
        "<script>",
        "</script",
        "<script></scrip",
        "<style><",
        "<title>",
        "<textarea></title",
        "<title></a",
    ),
    *("<svg>", "</svg>", "<svg></template>", "<svg><template></svg", "<noscript></svg>", "<svg/>"),
    *(
        "&",
        "&am",
        "&am<b>",
        "&#1",
        "abcdefghijkl<b>",
        "&amp;",
        " <p>",
        "<pre>\n ",
        "<pre> \t",
        "x \n",
    ),
    *(
        "<b i=1><p>",
        "<div>",
        "<table>",
        "<a><p>",
        "<b><div></b>",
        "<li>",
        "<p a=1 b=2 c=3>",
        "<" + "x" * 50,
    ),
]
"""Repeated, each makes some reader of pages look back, look ahead or build without end."""

COUNTING = """
import json, sys
import numpy as np
from lookalike.kernels import html as kernels
from lookalike.read.html import FLAGS, NAMES

class Counted:
    def __init__(self, array):
        self.array, self.looks = array, 0
    def __len__(self):
        return len(self.array)
    def __getitem__(self, place):
        self.looks += 1
        return self.array[place]
    def __setitem__(self, place, value):
        self.looks += 1
        self.array[place] = value

def looks(page):
    parts = [Counted(np.frombuffer(page, np.uint8))]
    parts += [Counted(np.empty(len(page) + 1, np.uint8)) for _ in range(2)]
    kernels.visible_text(parts[0], NAMES, FLAGS, parts[1], parts[2])
    return sum(part.looks for part in parts)

with np.errstate(over="ignore"):
    bombs = [bomb.encode() for bomb in json.load(sys.stdin)]
    print(json.dumps([[looks(b * 200), looks(b * 400), len(b * 400)] for b in bombs]))
"""


def test_a_page_of_twice_the_length_takes_twice_the_looks_at_its_bytes():
    done = subprocess.run(
        [sys.executable, "-c", COUNTING],
        input=json.dumps(BOMBS),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    for bomb, (one, two, size) in zip(BOMBS, json.loads(done.stdout), strict=True):
        assert two <= 2 * one + 200, bomb
        assert two <= 30 * size, bomb


def test_what_one_byte_makes_of_a_page_is_bounded():
    for bomb in BOMBS:
        assert len(told(bomb * 1000)) <= 1000 * len(bomb)
