"""What the other tests of pages lean on: a page that does wrong fails its test."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from tools import browser as chromium

pytest.importorskip("playwright")
from browser import PHONE

STRICT = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><meta charset=utf-8>{text}", "utf-8")
        return path.as_uri()

    return write


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<img src='https://example.org/a.png'>", "asked for https://example.org/a.png"),
        (
            "<script>asked = fetch('http://127.0.0.1:9/').catch(() => 0)</script>",
            "asked for http://127",
        ),
        ("<script>console.error('it broke')</script>", "wrote it broke"),
        ("<script>missing()</script>", "threw missing is not defined"),
        (f"{STRICT}<script>1</script>", "wrote .*Content Security Policy"),
    ],
)
def test_a_page_that_does_wrong_fails_its_test(browser, written, text, fault):
    def looked_at():
        with browser.page() as page:
            page.goto(written(text))
            page.evaluate("globalThis.asked")  # a request does not hold up the page: wait for it

    with pytest.raises(AssertionError, match=fault):
        looked_at()


def test_a_quiet_page_passes(page, written):
    page.goto(written(f"{STRICT}<p>καλημέρα</p>"))
    assert page.inner_text("p") == "καλημέρα"
    assert page.evaluate("innerWidth") == 1280


def test_a_telephone_is_as_wide_as_one(new_page, written):
    page = new_page(color_scheme="dark", **PHONE)
    page.goto(written("<meta name=viewport content='width=device-width'><p>small</p>"))
    assert page.evaluate("innerWidth") == 375
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def test_between_pages_other_loops_run(browser):
    for _ in range(2):
        with browser.page() as page:
            assert page.evaluate("1 + 1") == 2
        assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"


def test_a_page_is_used_again_as_if_it_were_new(browser, written):
    with browser.page() as page:
        page.goto(written("<p>one test</p><script>kept = 1</script>"))
        page.set_viewport_size({"width": 500, "height": 500})
        page.emulate_media(media="print")
    with browser.page() as again:
        assert again is page
        assert again.url == "about:blank"
        assert again.evaluate("[innerWidth, typeof kept]") == [1280, "undefined"]
        assert again.evaluate("matchMedia('screen').matches")
        with browser.page() as other:
            assert other is not again


def test_a_page_that_did_wrong_is_not_used_again(browser, written):
    pages = []

    def looked_at():
        with browser.page() as page:
            pages.append(page)
            page.goto(written("<script>missing()</script>"))

    with pytest.raises(AssertionError, match="threw"):
        looked_at()
    with browser.page() as page:
        assert page is not pages[0]
    assert pages[0].is_closed()


def test_where_there_is_no_browser_it_is_said_plainly(monkeypatch, capsys):
    monkeypatch.setattr(chromium, "find", lambda: None)
    monkeypatch.setattr(chromium, "may_install", lambda: False)
    chromium.main()
    assert "NOT tested in a browser" in capsys.readouterr().err


def test_an_installation_that_fails_is_said_and_stops_nothing(monkeypatch, capsys, tmp_path):
    program = tmp_path / "apt-get"
    program.write_text("#!/bin/sh\necho 'E: no such place' >&2\nexit 100\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(chromium, "find", lambda: None)
    monkeypatch.setattr(chromium, "may_install", lambda: True)
    chromium.main()
    assert "NOT tested in a browser; install one (apt-get: E: no such place)" in (
        capsys.readouterr().err
    )


def test_the_step_of_make_names_the_browser(browser):
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "tools/browser.py"], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"pages are tested in {chromium.find()}\n"
