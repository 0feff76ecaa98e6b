"""Pages of one file: the policy names their script and style, and data stays data."""

import base64
import hashlib
import json
import re

import pytest

import lookalike
from lookalike.write.html_pages import check_html_name, embedded_json, html_page, write_html

HOSTILE = "</script><script>alert(1)</script><!-- <script> & \u2028 \u2029 \ud800 ]]> 😀"


@pytest.fixture
def made(tmp_path):
    (tmp_path / "a.css").write_text("body { color: red }", "utf-8")
    (tmp_path / "a.js").write_text("const a = '∞';", "utf-8")
    (tmp_path / "b.js").write_text("const b = a;", "utf-8")
    return html_page(
        "<Title> & more",
        body="<p>body</p>",
        styles=[tmp_path / "a.css"],
        scripts=[tmp_path / "a.js", tmp_path / "b.js"],
        data={"text": HOSTILE},
    )


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_names_the_one_script_and_the_one_style(made):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', made)
    (style,) = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src '{digest(script)}'" in policy
    assert f"style-src '{digest(style)}'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert script.index("const a") < script.index("const b")


def test_what_a_document_says_never_ends_its_element(made):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', made)
    assert json.loads(data) == {"text": HOSTILE}
    assert not set(data) & set("<>&\u2028\u2029\ud800")
    assert "<title>&lt;Title&gt; &amp; more</title>" in made


@pytest.mark.parametrize("value", [HOSTILE, {"<k>": ["&", None, 1.5]}, "", []])
def test_embedded_json_is_the_same_value(value):
    assert json.loads(embedded_json(value)) == value


def test_a_page_is_written_whole_and_by_the_name_of_one(tmp_path, made):
    write_html(tmp_path / "page.HTML", made)
    assert (tmp_path / "page.HTML").read_bytes() == made.encode()
    with pytest.raises(lookalike.SettingsError, match=r"is to be a page: end its name in \.html"):
        check_html_name(tmp_path / "page.txt")
    with pytest.raises(lookalike.OutputError, match="cannot be written"):
        write_html(tmp_path / "gone" / "page.html", made)
    assert [one.name for one in tmp_path.iterdir() if "page" in one.name] == ["page.HTML"]
