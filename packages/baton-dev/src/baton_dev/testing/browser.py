"""A browser of the tests opens pages as a user's does: Debian's Chromium, headless, driven by Playwright.

``chromium-headless-shell`` is the same browser without a window; it needs half the processor time.

`fixtures` imports them, and no other module does: a second definition would start a second Playwright, which one
process cannot have.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]
_OPTIONS = [
    "--no-sandbox",  # tests run as root in a container, where Chromium's own sandbox cannot
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What a Content-Security-Policy refuses is a complaint by name, beside Chromium's own line in the console.
_REPORT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", event => console.error(
  `Content-Security-Policy: ${event.effectiveDirective} refused ${event.blockedURI || "inline"} ${event.sample}`))"""
ColorScheme = Literal["light", "dark"]
OpenPage = Callable[..., Page]
OpenAs = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    installed = [path for path in CHROMIUM if path.exists()]
    if not installed:
        reason = f"Expected a browser at {CHROMIUM[0]}; install Debian's package {CHROMIUM[0].name}."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=30_000)  # by default it is 5 s, whatever the timeout of a context
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed[0], args=_OPTIONS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Tab:
    """A page, and the complaints in its console."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        self.page.add_init_script(_REPORT_VIOLATIONS)
        self.page.context.set_default_timeout(30_000)
        self.page.on("console", lambda message: self._complain(message.text) if _is_complaint(message) else None)
        self.page.on("pageerror", lambda error: self._complain(str(error)))
        self.complaints: list[str] = []

    def forget(self) -> None:
        """Leave what was open, and log out: Baton's pages keep nothing else in a browser, but for cached files.

        For a picture on the same site: an empty page would end the process that has read the scripts and styles.
        """
        if self.page.url.startswith("http"):
            self.page.goto(urljoin(self.page.url, "/static/baton.svg"))
        self.page.context.clear_cookies()
        self.complaints.clear()

    def close(self) -> None:
        self.page.context.close()

    def _complain(self, text: str) -> None:
        self.complaints.append(text)


@pytest.fixture(scope="session")
def usual_tab(browser: Browser) -> Iterator[Tab]:
    """One tab for all tests: another spends half a second of processor time on scripts and styles that this one has."""
    tab = Tab(browser)
    yield tab
    tab.close()


@pytest.fixture
def open_page(browser: Browser, usual_tab: Tab) -> Iterator[OpenPage]:
    """Return a function that opens an address; a complaint in the console of any page fails the test."""
    tabs: list[Tab] = []

    def open_(
        address: str,
        *,
        width: int = 1280,
        color_scheme: ColorScheme = "light",
        cookies: Sequence[Any] = (),
        **options: Any,
    ) -> Page:
        tab = Tab(browser, **options) if options or tabs else usual_tab
        tabs.append(tab)
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.page.emulate_media(color_scheme=color_scheme)
        tab.page.context.add_cookies(cookies)
        tab.page.goto(address)
        return tab.page

    yield open_
    complaints = [complaint for tab in tabs for complaint in tab.complaints]
    for tab in tabs:
        tab.forget() if tab is usual_tab else tab.close()
    assert complaints == []


@pytest.fixture
def open_as(live_server: Any, open_page: OpenPage) -> OpenAs:
    """Return a function that opens a path of the site for a user who has logged in."""

    def open_(user: User, path: str, **options: Any) -> Page:
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        cookie: Any = {"name": "sessionid", "value": session, "url": live_server.url, "sameSite": "Lax"}
        return open_page(live_server.url + path, cookies=[cookie], **options)

    return open_


def _is_complaint(message: ConsoleMessage) -> bool:
    """Tell errors from the rest. Chromium logs each refused page too; tests look at its status themselves."""
    is_refused_page = message.text.startswith("Failed to load resource") and "/static/" not in message.location["url"]
    return message.type == "error" and not is_refused_page
