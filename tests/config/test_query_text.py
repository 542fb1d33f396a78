"""A query string with a NUL is turned away, on pages and in the API, before anything looks for it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, reverse

import config.urls  # noqa: F401 - registers the pages of the admin

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("root"))
    return client


def lists() -> Iterator[tuple[str, Any]]:
    """Return the address of every list of the admin, and its page."""
    for model, page in admin.site._registry.items():
        try:
            yield reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"), page
        except NoReverseMatch:  # has pages of its own instead
            continue


def parameters(page: Any) -> Iterator[str]:
    """Return what the query string of a list may name."""
    yield "q"
    if page.date_hierarchy:
        yield f"{page.date_hierarchy}__year"
    for one in page.list_filter:
        name = getattr(one, "parameter_name", None) or (one if isinstance(one, str) else one[0])
        yield from (name, f"{name}__exact")


def test_no_list_of_the_admin_looks_for_a_nul(root: Client) -> None:
    addresses = [f"{address}?{name}=a%00b" for address, page in lists() for name in parameters(page)]
    assert len(addresses) > 30
    assert {address: status for address in addresses if (status := root.get(address).status_code) != 400} == {}


@pytest.mark.parametrize("query", ["a=%00", "%00", "a=%%00", "a=\x00"])
def test_a_page_says_what_to_take_out_of_the_address(query: str) -> None:
    answer = Client().get("/", QUERY_STRING=query)
    assert answer.status_code == 400
    assert "take the character NUL (%00) out" in answer.content.decode()


def test_the_api_says_so_in_json() -> None:
    answer = Client().get("/api/dead-letters?text=%00")
    assert (answer.status_code, answer.json()["errors"]) == (400, [])
    assert "without NUL" in answer.json()["detail"]


def test_a_percent_sign_before_two_noughts_is_none() -> None:
    assert Client().get("/?a=%2500").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["product/a%00b/change/", "product/a%00b/history/", "product/a%00b/delete/"])
def test_a_path_with_nul_is_refused(admin_client: Client, path: str) -> None:
    assert admin_client.get(f"/admin/orders/{path}").status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("picked", ["a\x00b", "no id", "9" * 40])
@pytest.mark.parametrize("table", ["orders/order", "orders/product", "auth/user", "baton_messaging/pause"])
def test_an_action_on_what_is_no_id_breaks_nothing(admin_client: Client, table: str, picked: str) -> None:
    for action in ("delete_selected", "cancel_orders", "resume_selected"):
        answer = admin_client.post(f"/admin/{table}/", {"action": action, "_selected_action": picked})
        assert answer.status_code < 500
