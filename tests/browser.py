"""A real browser for tests: Debian's Chromium, headless, driven by Playwright.

``chromium-headless-shell`` is the same browser without a window; it needs half the processor time.

tests/conftest.py imports the two fixtures. Nobody else does: a second definition would start a second Playwright, which
one process cannot have.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

CHROMIUM = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]
_OPTIONS = [
    "--no-sandbox",  # tests run as root in a container, where Chromium's own sandbox cannot
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed[0], args=_OPTIONS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Return a function that opens an address; a complaint in the console of any page fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_(address: str, *, width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def open_as(live_server: Any, open_page: OpenPage) -> OpenAs:
    """Return a function that opens a path of the site for a user who has logged in."""

    def open_(user: User, path: str, **options: Any) -> Page:
        client = Client()
        client.force_login(user)
        page = open_page("about:blank", **options)
        page.context.add_cookies(
            [
                {
                    "name": "sessionid",
                    "value": client.cookies["sessionid"].value,
                    "url": live_server.url,
                    "sameSite": "Lax",
                }
            ]
        )
        page.goto(live_server.url + path)
        return page

    return open_


def _is_complaint(message: ConsoleMessage) -> bool:
    """Tell errors from the rest. Chromium logs each refused page too; tests look at its status themselves."""
    is_refused_page = message.text.startswith("Failed to load resource") and "/static/" not in message.location["url"]
    return message.type == "error" and not is_refused_page
