"""Every page, opened in a real browser, with what a running system has to show."""

import json
import re
from typing import Any

import pytest
from baton_dev.testing.browser import OpenPage
from baton_dev.testing.processes import wait_until
from playwright.sync_api import expect

from tests.e2e.baton import Baton

pytestmark = pytest.mark.timeout(180)

ADMIN_PAGES = [
    "/admin/",
    "/admin/orders/order/",
    "/admin/orders/product/",
    "/admin/orders/dailysales/",
    "/admin/inventory/stockitem/",
    "/admin/inventory/reservation/",
    "/admin/notifications/maillog/",
    "/admin/baton_messaging/outboxmessage/",
    "/admin/baton_messaging/processedmessage/",
    "/admin/baton_messaging/attempt/",
    "/admin/baton_messaging/deadletter/",
    "/admin/baton_messaging/heartbeat/",
    "/admin/django_celery_results/taskresult/",
    "/ops/",
]


def test_a_person_orders_and_watches_the_order_until_it_is_confirmed(baton: Baton, open_page: OpenPage) -> None:
    page = open_page(baton.address)
    page.get_by_role("spinbutton", name="Sencha green tea").fill("1")
    page.get_by_label("Your name").fill("Ann Example")
    page.get_by_label("Your e-mail").fill("ann@example.com")
    page.get_by_role("button", name="Place the order").click()
    expect(page).to_have_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))
    expect(page.locator("#summary")).to_contain_text("confirmed", timeout=60_000)


def test_every_admin_page_opens(baton: Baton, open_page: OpenPage) -> None:
    baton.wait_until_settled([baton.place()])
    password = re.search(r"User admin created, password (\S+)", baton.output())
    assert password is not None
    page = open_page(f"{baton.address}/admin/login/?next=/admin/")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(password[1])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{baton.address}/admin/")
    for path in ADMIN_PAGES:
        answer = page.goto(f"{baton.address}{path}")
        assert answer is not None
        assert answer.status == 200, path
    page.goto(f"{baton.address}/admin/orders/order/")
    page.locator("#result_list tbody th a").first.click()
    expect(page.get_by_text("inventory.reserve_stock").first).to_be_visible()


def test_the_api_s_documentation_and_flower_open(baton: Baton, open_page: OpenPage) -> None:
    status, schema = baton.call("/api/openapi.json")
    assert (status, "/api/orders" in schema["paths"]) == (200, True)
    assert open_page(f"{baton.address}/api/docs").title()
    page = open_page(f"http://127.0.0.1:{baton.flower_port}/")
    expect(page.get_by_text("inventory@", exact=False).first).to_be_visible(timeout=30_000)


def test_flower_and_the_logs_show_no_personal_data(baton: Baton, open_page: OpenPage) -> None:
    baton.wait_until_settled([baton.place()])
    page = open_page(f"http://127.0.0.1:{baton.flower_port}/tasks")
    assert "ann@example.com" not in page.content()
    logs = "".join(path.read_text(errors="replace") for path in (baton.state_dir / "log").iterdir() if path.is_file())
    assert "ann@example.com" not in logs + baton.output()
    assert "Ann Example" not in logs + baton.output()


def test_the_doctor_finds_nothing_wrong_with_what_make_run_has_started(baton: Baton) -> None:
    def examined() -> dict[str, Any]:
        ended = baton.manage("doctor", "--format", "json")
        assert ended.returncode in (0, 1), ended.stderr
        return dict(json.loads(ended.stdout))

    def is_healthy() -> bool:
        report.update(examined())
        return bool(report["healthy"])

    report: dict[str, Any] = {}
    wait_until(is_healthy, seconds=60, what=f"no finding, but {report}")
