"""Refusals and breakdowns: a page with a way on, or JSON below /api/."""

from typing import Any

import pytest
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory
from django.utils import translation

from config.web import error_pages

pytestmark = pytest.mark.django_db


def request(path: str) -> HttpRequest:
    return RequestFactory().get(path)


ANSWERS: dict[int, Any] = {
    400: lambda path: error_pages.bad_request(request(path), Exception()),
    403: lambda path: error_pages.permission_denied(request(path), Exception()),
    404: lambda path: error_pages.page_not_found(request(path), Http404()),
    413: lambda path: error_pages.content_too_large(request(path)),
    500: lambda path: error_pages.server_error(request(path)),
}


@pytest.mark.parametrize("status", ANSWERS)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_page_says_what_happened_and_leads_on(db: None, status: int, language: str) -> None:
    with translation.override(language):
        answer = ANSWERS[status]("/orders/")
    page = answer.content.decode()
    assert answer.status_code == status
    assert f'<html lang="{language}">' in page
    assert '<a class="button" href="/">' in page


@pytest.mark.parametrize("status", ANSWERS)
def test_the_api_gets_json(status: int) -> None:
    answer = ANSWERS[status]("/api/orders")
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json"


def test_a_mistyped_address_gets_the_page(client: Client) -> None:
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()


def test_the_page_of_a_breakdown_asks_no_database(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        error_pages.server_error(request("/"))
