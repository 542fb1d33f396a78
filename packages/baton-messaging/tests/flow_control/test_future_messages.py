"""A person moves or cancels a message that is not due yet: by the pages, with rights, a reason, and an audit."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from baton_messaging.diagnosis.triage.report import Answer, triage
from baton_messaging.models import AuditEntry, FutureMessage
from baton_messaging.models.audit import Outcome
from baton_messaging.publish import cancel, publish
from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)
MAY_ALL = ("view_futuremessage", "change_futuremessage")


def client_with(*codenames: str) -> Client:
    user = User.objects.create(username=f"user {uuid4()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def row() -> FutureMessage:
    with transaction.atomic():
        [message_id] = publish(Sampled(sample_id=uuid4()), at=timezone.now() + timedelta(hours=1))
    return FutureMessage.objects.get(message_id=message_id)


def address(name: str, row: FutureMessage) -> str:
    return reverse(f"admin:baton_messaging_futuremessage_{name}", args=[row.pk])


def of_consumer(subject: UUID | str, consumer: str = "sample.take_one") -> Answer:
    return next(answer for answer in triage(str(subject)).verdicts if answer.consumer == consumer)


def test_a_person_moves_it_with_a_reason_and_the_audit_has_both(row: FutureMessage) -> None:
    answer = client_with(*MAY_ALL).post(address("move", row), {"due_at": "2100-01-01T09:00", "why": "a holiday"})
    assert answer.status_code == 302
    row.refresh_from_db()
    assert row.due_at == datetime(2100, 1, 1, 9, tzinfo=UTC)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.why, entry.outcome) == ("move", "a holiday", Outcome.DONE)
    assert entry.details["message_id"] == str(row.message_id)


def test_a_person_cancels_it_and_the_row_keeps_who_when_and_why(row: FutureMessage) -> None:
    client = client_with(*MAY_ALL)
    client.post(address("cancel", row), {"why": "asked by phone"})
    row.refresh_from_db()
    assert row.cancelled_at is not None
    assert (row.cancelled_by, row.why) == (User.objects.get().username, "asked by phone")
    page = client.get(address("change", row)).content.decode()
    assert "asked by phone" in page
    assert address("cancel", row) not in page


@pytest.mark.parametrize("name", ["move", "cancel"])
def test_without_a_reason_nothing_is_done(row: FutureMessage, name: str) -> None:
    answer = client_with(*MAY_ALL).post(address(name, row), {"due_at": "2100-01-01T09:00", "why": " "})
    assert answer.status_code == 422
    assert FutureMessage.objects.filter(pk=row.pk, due_at=row.due_at).waiting().exists()


@pytest.mark.parametrize("name", ["move", "cancel"])
def test_what_has_left_meanwhile_is_told_and_audited(row: FutureMessage, name: str) -> None:
    cancel(row.message_id)
    answer = client_with(*MAY_ALL).post(address(name, row), {"due_at": "2100-01-01T09:00", "why": "too late"})
    assert answer.status_code == 409
    assert "wait for its time" in answer.content.decode()
    assert AuditEntry.objects.get().outcome == Outcome.REFUSED


def test_who_may_only_look_is_refused_and_the_audit_knows(row: FutureMessage) -> None:
    client = client_with("view_futuremessage")
    assert client.get(address("change", row)).status_code == 200
    assert client.get(address("cancel", row)).status_code == 403
    assert client.post(address("cancel", row), {"why": "x"}).status_code == 403
    assert AuditEntry.objects.get().outcome == Outcome.REFUSED
    assert FutureMessage.objects.waiting().exists()


def test_the_list_is_by_time_and_found_by_event_and_key(row: FutureMessage) -> None:
    changelist = reverse("admin:baton_messaging_futuremessage_changelist")
    client = client_with("view_futuremessage")
    assert row.key in client.get(changelist, {"q": row.key, "name": "sample.sampled"}).content.decode()
    assert row.key not in client.get(changelist, {"q": str(uuid4())}).content.decode()


@pytest.mark.usefixtures("empty_broker")
def test_what_follows_a_message_that_was_sent_is_told_beside_the_verdicts(row: FutureMessage) -> None:
    """How far it got is a question about what was sent: what is still to come is no verdict, and nobody's task."""
    with transaction.atomic():
        publish(Sampled(sample_id=UUID(row.key)))
    report = triage(row.key)
    assert "not due yet" not in {answer.state for answer in report.verdicts}
    assert [line.partition(" is to be sent")[0] for line in report.later] == ["sample.sampled"]
    assert report.as_dict()["later"] == list(report.later)


@pytest.mark.usefixtures("empty_broker")
def test_triage_says_when_it_is_due_by_message_and_by_key(row: FutureMessage) -> None:
    for subject in (row.message_id, row.key):
        answer = of_consumer(subject)
        assert answer.state == "not due yet"
        assert "due at" in answer.state_text
        assert not answer.needs_person
        assert answer.owner_name == "Platform team"


@pytest.mark.usefixtures("empty_broker")
def test_triage_says_who_cancelled_it(row: FutureMessage) -> None:
    client_with(*MAY_ALL).post(address("cancel", row), {"why": "asked by phone"})
    answer = of_consumer(row.message_id)
    assert answer.state == "cancelled"
    assert any("asked by phone" in line for line in answer.evidence)
    assert not answer.needs_person


@pytest.mark.usefixtures("empty_broker")
def test_triage_blames_the_relay_for_what_is_overdue(row: FutureMessage) -> None:
    FutureMessage.objects.update(due_at=timezone.now() - timedelta(minutes=10))
    answer = of_consumer(row.message_id)
    assert (answer.state, answer.needs_person) == ("relay stalled", True)
    assert "relay" in answer.next_step.command
