"""The button, the bar and the file, in a real browser with a real worker behind."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from orders.models import Order
from tests.browser import OpenPage
from tests.orders.exports.factories import a_person, many_orders, slow_lines
from tests.orders.exports.readers import read_csv
from tests.processes import Process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_catalogue")]


def test_the_button_the_bar_and_the_file(
    live_server: Any, open_page: OpenPage, relay: Process, worker: Process, tmp_path: Path
) -> None:
    person = a_person()
    person.set_password("secret")
    person.save()
    many_orders(1_000)
    page = open_page(f"{live_server.url}/exports/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    seen: set[int] = set()
    with slow_lines(0.004):
        page.get_by_label("Format").select_option("csv")
        page.get_by_role("button", name="Export", exact=True).click()
        expect(page).to_have_url(re.compile(r"/exports/[0-9a-f-]{36}/$"))
        bar = page.locator("#bar")
        for _ in range(200):
            seen.add(int(bar.get_attribute("value") or 0))
            if len([percent for percent in seen if 0 < percent < 100]) >= 2:
                break
            page.wait_for_timeout(50)
        expect(page.locator("#progress")).to_contain_text("rows per second")
    expect(page.get_by_role("link", name="Download")).to_be_visible(timeout=30_000)
    assert len([percent for percent in seen if 0 < percent < 100]) >= 2
    expect(page.locator("#summary")).to_have_text("ready")
    expect(page.locator("[hx-get]")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "download.csv")
    assert download.value.suggested_filename.startswith("orders_")
    rows = read_csv(tmp_path / "download.csv")[1:]
    assert [row[0] for row in rows] == [str(pk) for pk in Order.objects.order_by("pk").values_list("pk", flat=True)]
