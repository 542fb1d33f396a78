"""The pages of exports without JavaScript, while nobody builds. With it, and a worker: ``test_workers``."""

from typing import Any

import pytest
from baton_dev.testing.browser import OpenPage
from baton_dev.testing.processes import wait_until
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect

from orders.models import Export
from tests.orders.exports.factories import a_person

pytestmark = pytest.mark.django_db(transaction=True)


def states() -> list[str]:
    return sorted(Export.objects.values_list("state", flat=True))


def test_it_can_be_cancelled_and_asked_for_again_without_javascript(live_server: Any, open_page: OpenPage) -> None:
    client = Client()
    client.force_login(a_person())
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page = open_page(f"{live_server.url}/exports/", java_script_enabled=False)
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    page.goto(f"{live_server.url}/exports/")
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_role("button", name="Cancel the export").click()
    expect(page.locator("#progress")).to_contain_text("There is no file")
    page.get_by_role("button", name="Make it again").click()
    wait_until(lambda: states() == ["cancelled", "queued"], what="a second export")
