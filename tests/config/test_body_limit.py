"""Bodies that are too large are turned away before they are read, pages and API alike."""

import pytest
from django.test import Client, override_settings

pytestmark = pytest.mark.django_db

LARGE = "a=" + "b" * 10_000_000


def post(path: str) -> tuple[int, str]:
    answer = Client(enforce_csrf_checks=True).post(path, LARGE, content_type="application/x-www-form-urlencoded")
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("debug", [True, False])
def test_a_page_says_that_it_is_too_much(debug: bool) -> None:
    with override_settings(DEBUG=debug):
        status, text = post("/orders/")
    assert status == 413
    assert "Too much data at once" in text


def test_the_api_says_so_in_json() -> None:
    assert post("/api/orders") == (413, '{"detail": "The body is too large.", "errors": []}')


def test_a_body_as_large_as_allowed_passes() -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10):
        answer = Client().post("/api/orders", "0123456789", content_type="application/json")
        assert answer.status_code == 400
        answer = Client().post("/api/orders", "01234567890", content_type="application/json")
        assert answer.status_code == 413


def test_a_body_without_a_length_is_asked_for_one() -> None:
    answer = Client().generic("POST", "/api/orders", b"", HTTP_TRANSFER_ENCODING="chunked")
    assert answer.status_code == 411
    assert "Content-Length" in answer.json()["detail"]
