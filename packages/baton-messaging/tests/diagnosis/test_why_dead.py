"""What died is explained by a server that refuses all, or a worker of another release, while nothing disproves it."""

from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.diagnosis import refused_for_all
from baton_messaging.diagnosis.why_dead import why_dead
from baton_messaging.health.diagnosis import Confidence
from baton_messaging.models import DeadLetter, Heartbeat, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.processes import wiring
from django.db.models.functions import Now

from tests.dead_letters.factories import CONSUMER, a_letter

pytestmark = pytest.mark.django_db
REFUSED: dict[str, Any] = {"error_class": "MailRefused", "error_message": "550 relaying denied"}
DIED = (CONSUMER, Reason.PERMANENT_ERROR, "MailRefused", "550 relaying denied")


@pytest.fixture
def _the_consumer_needs_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_for_all, "checks_of", lambda name: ("mail",) if name == CONSUMER else ())


@pytest.mark.usefixtures("_the_consumer_needs_mail")
def test_two_that_died_alike_and_none_that_was_taken_since_accuse_the_server() -> None:
    a_letter(**REFUSED)
    assert why_dead(*DIED) is None
    a_letter(**REFUSED)
    cause = why_dead(*DIED)
    assert cause
    assert (str(cause.about), cause.confidence) == ("service mail", Confidence.LIKELY)
    assert str(cause.found) == "mail refused 2 in a row, and took none since: 550 relaying denied"
    ProcessedMessage.objects.claim(consumer=CONSUMER, message_ids=[uuid4()], worker="w")
    ProcessedMessage.objects.update(processed_at=Now())
    DeadLetter.objects.update(died_at="2020-01-01T00:00Z")
    assert why_dead(*DIED) is None


def test_a_consumer_that_asks_nobody_died_of_itself() -> None:
    a_letter(**REFUSED)
    a_letter(**REFUSED)
    assert why_dead(*DIED) is None


def test_a_task_that_a_worker_of_another_release_lacks_is_that_workers_fault() -> None:
    worker = Heartbeat.objects.create(
        name="old@vm", role="worker", hostname="vm", pid=1, queues=["sample"], is_consuming=True, started_at=Now(),
        beaten_at=Now(), wiring={"release": {**wiring.release(), "project": "0.9"}},
    )  # fmt: skip
    cause = why_dead(CONSUMER, Reason.UNKNOWN_TASK, "UnknownTask", "")
    assert cause
    assert "old@vm runs release 0.9" in str(cause.found)
    assert why_dead(CONSUMER, Reason.PERMANENT_ERROR, "ValueError", "") is None
    Heartbeat.objects.filter(pk=worker.pk).update(wiring={"release": wiring.release()})
    assert why_dead(CONSUMER, Reason.UNKNOWN_TASK, "UnknownTask", "") is None
