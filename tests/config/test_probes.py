"""A platform's probe names the address of a process, by plain HTTP; everybody else names the site, by HTTPS."""

from typing import Any

import pytest
from django.test import Client


@pytest.fixture
def deployed(settings: Any) -> Client:
    settings.ALLOWED_HOSTS = ["shop.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    return Client(headers={"host": "10.0.0.7:8000"})


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_is_answered_whatever_host_it_names(deployed: Client, path: str) -> None:
    answer = deployed.get(path)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert answer.headers["X-Correlation-ID"]
    assert deployed.post(path).status_code == 405


@pytest.mark.django_db
def test_nothing_else_is(deployed: Client) -> None:
    assert deployed.get("/metrics").status_code == 400
    assert Client(headers={"host": "shop.example.com"}).get("/").status_code == 301
