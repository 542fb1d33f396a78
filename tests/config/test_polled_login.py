"""A page that polls and whose session is over does not show the form to log in within itself."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db

POLLED = {"HX-Request": "true"}


@pytest.mark.parametrize("name", ["board", "triage", "admin:baton_messaging_deadletter_changelist", "exports:list"])
def test_it_is_reloaded_and_so_goes_to_the_login_as_a_whole(name: str) -> None:
    polled = Client().get(reverse(name), headers=POLLED)
    assert (polled.status_code, polled.headers.get("HX-Refresh"), polled.content) == (200, "true", b"")
    assert Client().get(reverse(name)).status_code == 302


def test_what_was_typed_is_kept() -> None:
    assert Client().post(reverse("board"), headers=POLLED).status_code == 302


def test_another_redirect_is_left_alone() -> None:
    client = Client()
    client.force_login(User.objects.create_user("sam", is_staff=True))
    answer = client.get("/ops", headers=POLLED)
    assert (answer.status_code, answer.headers["Location"]) == (301, "/ops/")
