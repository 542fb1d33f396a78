"""The kill switch over HTTP."""

from typing import Any

import pytest
from baton_messaging.models import AuditEntry, Pause
from django.contrib.auth.models import Permission, User
from django.test import Client

pytestmark = pytest.mark.django_db

API = "/api/consumers"


def client_with(*permissions: str, is_staff: bool = True) -> Client:
    user = User.objects.create_user("ann", is_staff=is_staff)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, verb: str, **body: Any) -> tuple[int, Any]:
    answer = client.post(f"{API}/{verb}", body, content_type="application/json")
    return answer.status_code, answer.json()


def state_of(client: Client, name: str) -> str:
    return next(str(line["state"]) for line in client.get(API).json() if line["name"] == name)


def test_a_consumer_is_paused_seen_and_resumed() -> None:
    client = client_with("view_pause", "pause_consumer")
    assert state_of(client, "sample.die") == "running"
    assert post(client, "pause", consumer="sample.die", why="mend it") == (201, {"target": "sample.die"})
    assert state_of(client, "sample.die") == "paused"
    assert post(client, "pause", consumer="sample.die", why="again")[0] == 409
    assert post(client, "resume", consumer="sample.die") == (200, {"target": "sample.die"})
    assert state_of(client, "sample.die") == "running"
    assert post(client, "resume", consumer="sample.die")[0] == 409
    entries = AuditEntry.objects.order_by("pk").values_list("actor", "via", "action", "outcome")
    assert [entry[:3] for entry in entries] == [
        ("ann", "api", "pause"),
        ("ann", "api", "pause"),
        ("ann", "api", "resume"),
        ("ann", "api", "resume"),
    ]


def test_a_key_of_an_event_is_paused() -> None:
    client = client_with("view_pause", "pause_consumer")
    status, _answer = post(client, "pause", event_name="sample.doomed", key="7", why="the customer asked")
    assert status == 201
    assert state_of(client, "sample.doomed 7") == "paused"


@pytest.mark.parametrize(
    "body",
    [{"consumer": "sample.dye", "why": "x"}, {"consumer": "sample.die"}, {"event_name": "sample.doomed", "why": "x"}],
)
def test_what_does_not_exist_or_has_no_reason_is_refused_in_one_sentence(body: dict[str, str]) -> None:
    status, answer = post(client_with("pause_consumer"), "pause", **body)
    assert status == 422
    assert answer["detail"].startswith("Expected")
    assert not Pause.objects.exists()


@pytest.mark.parametrize("verb", ["pause", "resume"])
@pytest.mark.parametrize(
    "body",
    [
        {"event_name": "sample.doomed", "key": "a\x00b", "why": "x"},
        {"event_name": "sample.doomed", "key": "\ud800", "why": "x"},
        {"event_name": "sample.doomed", "key": "k" * 201, "why": "x"},
        {"consumer": "sample\x00die", "why": "x"},
        {"consumer": "sample.die", "why": "a\x00b"},
        {"consumer": "sample.die", "why": "\udcff"},
    ],
)
def test_what_the_database_cannot_store_is_refused(verb: str, body: dict[str, str]) -> None:
    assert post(client_with("pause_consumer"), verb, **body)[0] == 422
    assert not Pause.objects.exists()


def test_a_field_that_nobody_knows_is_refused_and_not_passed_over() -> None:
    body = {"consumer": "sample.die", "why": "x", "until": "tomorrow"}
    assert post(client_with("pause_consumer"), "pause", **body)[0] == 422
    assert not Pause.objects.exists()


def test_who_has_no_right_is_refused_and_that_is_audited() -> None:
    client = client_with()
    assert client.get(API).status_code == 403
    assert post(client, "pause", consumer="sample.die", why="x")[0] == 403
    assert not Pause.objects.exists()
    assert AuditEntry.objects.get().action == "pause"


def test_only_the_staff_comes_in() -> None:
    assert client_with("view_pause", is_staff=False).get(API).status_code in (401, 403)
    assert Client().get(API).status_code == 401
