"""Every page in a browser under its Content-Security-Policy: nothing inline is needed, nothing inline runs."""

from typing import Any

import pytest
from baton_dev.testing.browser import OpenAs, OpenPage
from baton_messaging.testing import pretend_processed
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from orders import services
from orders.models import Order
from tests.orders.factories import an_order, products

pytestmark = pytest.mark.django_db(transaction=True)

ADMIN = ["/admin/", "/ops/", "/triage/", "/admin/auth/user/", "/admin/orders/order/", "/admin/orders/product/add/"]


@pytest.fixture
def root(transactional_db: None) -> User:
    products()
    return User.objects.create_superuser("root", email="root@example.com", password="!")


def settled_order() -> Order:
    """Return one whose pages do not poll: they would never be idle."""
    order = an_order()
    services.confirm_order(order.pk)
    pretend_processed(order.pk)
    return order


def policy(path: str, client: Client | None = None) -> str:
    return (client or Client()).get(path).headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/", "/login/", "/api/docs", "/api/products", "/healthz", "/static/baton.css", "/nowhere"]
)
def test_our_own_pages_have_the_strict_one(db: None, path: str) -> None:
    answer = Client().get(path)
    answer.close()
    found = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in found
    assert found.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "frame-ancestors 'none'" in found


def test_the_admins_pages_may_evaluate_and_have_their_own_styles(root: User) -> None:
    client = Client()
    client.force_login(root)
    for path in [*ADMIN, "/admin/login/"]:
        found = policy(path, client if path != "/admin/login/" else None)
        assert "unsafe-inline" not in found
        assert "script-src 'self' 'unsafe-eval';" in found
        assert "style-src 'self' 'sha256-" in found


def test_our_own_pages_break_no_rule(root: User, live_server: Any, open_page: OpenPage) -> None:
    order = settled_order()
    page = open_page(live_server.url)
    for path in ("/", order.get_absolute_url(), "/login/", "/api/docs", "/nowhere/"):
        page.goto(live_server.url + path)
        page.wait_for_load_state("networkidle")
    assert page.locator("body").count() == 1  # what was refused fails the fixture


def test_the_admins_pages_break_no_rule(root: User, live_server: Any, open_as: OpenAs) -> None:
    order = settled_order()
    page = open_as(root, "/admin/")
    changes = [reverse("admin:orders_order_change", args=[order.pk]), reverse("order_triage", args=[order.pk])]
    lists = [reverse(f"admin:{name}") for name in all_lists()]
    for path in [*ADMIN, *changes, *lists, f"/admin/auth/user/{root.pk}/change/", "/admin/password_change/"]:
        answer = page.goto(live_server.url + path)
        assert answer is not None
        assert answer.status == 200, path
        page.wait_for_load_state("networkidle")


def all_lists() -> list[str]:
    from django.contrib import admin

    return [f"{model._meta.label_lower.replace('.', '_')}_changelist" for model in admin.site._registry]


def test_what_is_injected_does_not_run(root: User, live_server: Any, open_page: OpenPage) -> None:
    page = open_page(live_server.url)
    html = page.content().replace("</body>", "<script>document.title = 'injected'</script></body>")
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy("/")}
    unwatched = page.context.new_page()
    unwatched.route("**/injected", lambda route: route.fulfill(body=html, headers=headers))
    unwatched.goto(live_server.url + "/injected")
    assert unwatched.title() == page.title()
    unwatched.close()
