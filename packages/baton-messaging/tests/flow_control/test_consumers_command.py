"""``manage.py consumers`` and its page in the admin: two doors to the same switch."""

import json
from io import StringIO

import pytest
from baton_messaging.models import AuditEntry, Circuit, Pause
from baton_messaging.models.audit import Outcome
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.flow_control.test_breaker import published, run

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "admin:baton_messaging_pause_changelist"
ADD = "admin:baton_messaging_pause_add"


def consumers(*words: str) -> str:
    out = StringIO()
    call_command("consumers", *words, stdout=out)
    return out.getvalue()


def line_of(consumer: str) -> dict[str, object]:
    lines: list[dict[str, object]] = json.loads(consumers("list", "--format", "json"))
    return next(line for line in lines if line["name"] == consumer)


def test_the_list_names_what_is_held_by_whom_and_why() -> None:
    assert line_of("sample.take_one") == {
        "name": "sample.take_one",
        "state": "running",
        "owner": "Platform team <platform@example.com>",
        "waiting_count": 0,
        "detail": "",
    }
    consumers("pause", "sample.take_one", "--why", "the mail server moves")
    run(*published("ok", "ok"))
    line = line_of("sample.take_one")
    assert (line["state"], line["waiting_count"]) == ("paused", 2)
    assert "the mail server moves" in str(line["detail"])
    assert "2 waiting" in consumers("list")
    consumers("resume", "sample.take_one")
    assert line_of("sample.take_one")["state"] == "running"


def test_the_list_shows_an_open_circuit() -> None:
    run(*published("transient", "transient", "transient"))
    assert Circuit.objects.open().exists()
    line = line_of("sample.take_one")
    assert line["state"] == "half-open"
    assert "TransientError" in str(line["detail"])


def test_one_key_can_be_paused() -> None:
    (envelope,) = published("ok")
    consumers("pause", "--event", "sample.sampled", "--key", envelope.key, "--why", "x")
    run(envelope)
    assert line_of(f"sample.sampled {envelope.key}")["waiting_count"] == 1
    consumers("resume", "--event", "sample.sampled", "--key", envelope.key)
    assert not Pause.objects.in_force().exists()


def test_a_typo_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(CommandError, match=r"Did you mean sample\.take_one\?"):
        consumers("pause", "sample.takeone", "--why", "x")


@pytest.fixture
def operator(client: Client) -> Client:
    user = User.objects.create_user("ann", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_pause", "pause_consumer", "view_circuit"]))
    client.force_login(user)
    return client


def test_the_admin_pauses_and_resumes(operator: Client) -> None:
    assert operator.get(reverse(ADD)).status_code == 200
    form = {"consumer": "sample.take_one", "event_name": "", "key": "", "why": "the mail server moves"}
    assert operator.post(reverse(ADD), form).status_code == 302
    row = Pause.objects.in_force().get()
    assert (row.paused_by, row.via, row.why) == ("ann", "admin", "the mail server moves")
    page = operator.get(reverse(LIST)).content.decode()
    assert "the mail server moves" in page
    assert operator.get(reverse("admin:baton_messaging_pause_change", args=[row.pk])).status_code == 200
    operator.post(reverse(LIST), {"action": "resume_selected", "_selected_action": [row.pk]})
    row.refresh_from_db()
    assert row.resumed_by == "ann"
    assert AuditEntry.objects.filter(via="admin", actor="ann").count() == 2


@pytest.mark.parametrize("form", [{"consumer": ""}, {"consumer": "sample.take_one", "key": "1"}, {"why": ""}])
def test_the_admin_refuses_what_would_pause_nothing(operator: Client, form: dict[str, str]) -> None:
    whole = {"consumer": "sample.take_one", "event_name": "", "key": "", "why": "x", **form}
    assert operator.post(reverse(ADD), whole).status_code == 200
    assert not Pause.objects.exists()


def test_a_second_pause_of_the_same_target_is_refused_in_words(operator: Client) -> None:
    consumers("pause", "sample.take_one", "--why", "x")
    form = {"consumer": "sample.take_one", "event_name": "", "key": "", "why": "y"}
    page = operator.post(reverse(ADD), form, follow=True).content.decode()
    assert "paused already" in page
    assert AuditEntry.objects.get(outcome=Outcome.REFUSED).actor == "ann"


def test_who_may_only_look_cannot_pause_or_resume(client: Client) -> None:
    consumers("pause", "sample.take_one", "--why", "x")
    user = User.objects.create_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_pause"))
    client.force_login(user)
    assert client.get(reverse(LIST)).status_code == 200
    assert client.get(reverse(ADD)).status_code == 403
    row = Pause.objects.get()
    client.post(reverse(LIST), {"action": "resume_selected", "_selected_action": [row.pk]})
    assert Pause.objects.in_force().exists()


def test_the_circuits_can_be_looked_at(operator: Client) -> None:
    run(*published("transient", "transient", "transient"))
    assert "sample.take_one" in operator.get(reverse("admin:baton_messaging_circuit_changelist")).content.decode()


@pytest.mark.parametrize(
    "words",
    [
        ("pause", "--event", "sample.doomed", "--key", "k" * 201, "--why", "x"),
        ("pause", "--event", "sample.doomed", "--key", "\udcff", "--why", "x"),
        ("pause", "sample.die", "--why", "\udcff"),
        ("resume", "\udcff"),
    ],
)
def test_what_the_database_cannot_store_is_refused_and_audited(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="Expected"):
        consumers(*words)
    assert not Pause.objects.exists()
    assert AuditEntry.objects.get().outcome == Outcome.REFUSED
