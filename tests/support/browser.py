"""Pages in a real browser: Debian's Chromium, driven by Playwright, and cut off from any network.

A page that asks for anything but files and data, writes an error to the console, throws, or breaks
its own Content-Security-Policy fails the test that shows it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, sync_playwright
from tools.browser import NOT_TESTED, find

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
LOCAL = ("file:", "data:", "blob:", "about:")
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 375, "height": 740},
    "has_touch": True,
    "is_mobile": True,
}
"""Options of a page on a telephone."""


class Chromium:
    """The browser of this process."""

    def __init__(self, browser: Browser) -> None:
        """Take a running browser, and the loop that it lives in."""
        self.browser = browser
        self.loop = asyncio._get_running_loop()
        self.free: dict[str, list[tuple[Page, Watched]]] = {}
        """Pages that no test has now, by their options: to open one takes as long as many tests."""

    @contextmanager
    def in_its_loop(self) -> Iterator[None]:
        """Let Playwright's loop run for a while: no other can, while it does."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(before)

    @contextmanager
    def page(self, *, origins: tuple[str, ...] = (), **options: Any) -> Iterator[Page]:
        """Give a page of its own; it may ask `origins` too, as the address of a test's server."""
        options = {**DESK, **options}
        with self.in_its_loop():
            page, watched = self._opened(options)
            watched.begin(origins)
            is_as_before = False
            try:
                yield page
                page.evaluate("1")  # by now what was on its way has come
                is_as_before = not watched.faults and self._cleared(page, options)
            finally:
                if is_as_before:
                    self.free.setdefault(str(options), []).append((page, watched))
                else:
                    page.context.close()
        if watched.faults:
            raise AssertionError("the page " + "; ".join(watched.faults))

    def _opened(self, options: dict[str, Any]) -> tuple[Page, "Watched"]:
        """Give a page that is free, or a new one."""
        free = self.free.get(str(options))
        if free:
            return free.pop()
        watched = Watched()
        context = self.browser.new_context(**options)
        context.set_default_timeout(10_000)
        context.route("**/*", watched.request)
        page = context.new_page()
        page.on("pageerror", watched.thrown)
        page.on("console", watched.message)
        return page, watched

    def _cleared(self, page: Page, options: dict[str, Any]) -> bool:
        """Make a page as it was when it was new; False where it has more than one can clear."""
        page.goto("about:blank")
        page.emulate_media(media="null")
        page.set_viewport_size(options["viewport"])
        context = page.context
        return context.pages == [page] and not context.cookies()


class Watched:
    """What a page did that none of ours does."""

    def __init__(self) -> None:
        """Begin without faults."""
        self.begin(())

    def begin(self, origins: tuple[str, ...]) -> None:
        """Watch for another test, whose page may ask these beside files and data."""
        self.allowed = (*LOCAL, *origins)
        self.faults: list[str] = []

    def request(self, route: Route) -> None:
        """Let a request pass, or block it and note it."""
        if route.request.url.startswith(self.allowed):
            route.continue_()
        else:
            self.faults.append(f"asked for {route.request.url}")
            route.abort()

    def thrown(self, error: Error) -> None:
        """Note an exception that nothing caught."""
        self.faults.append(f"threw {error.message}")

    def message(self, message: ConsoleMessage) -> None:
        """Note an error on the console, where violations of the policy stand too."""
        if message.type == "error":
            self.faults.append(f"wrote {message.text}")


@contextmanager
def running_browser() -> Iterator[Chromium]:
    """Give the browser of this process, or skip where there is none."""
    path = find()
    if path is None:
        pytest.skip(NOT_TESTED)
    with sync_playwright() as playwright:
        chromium = Chromium(playwright.chromium.launch(executable_path=path, args=list(FLAGS)))
        asyncio._set_running_loop(None)
        yield chromium
        with chromium.in_its_loop():
            chromium.browser.close()
        asyncio._set_running_loop(chromium.loop)
