"""What triage announces of a lost message is what the reconciler then does, over real tables and a real broker."""

from collections.abc import Sequence
from typing import Any

import pytest
from baton_messaging.diagnosis.triage.report import Answer, triage
from baton_messaging.models import Heartbeat, OutboxMessage
from baton_messaging.recovery.reconciler import reconcile
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from celery import current_app
from django.conf import settings as configured

from tests.recovery.situations import CONSUMER, hold, lose, process, send

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("empty_broker", "fresh_heartbeats", "longer_deadlines"),
]
SOON = "Wait a minute: the reconciler sends it again."
GRACE = "Wait: the reconciler sends it again within a minute from "
QUEUE = "Wait: the reconciler sends it again when queue sample is empty, or ten later messages of it are processed."
COLLECTOR = "Wait: the reconciler sends it again when the collector has emptied the dead-letter queue."


@pytest.fixture(autouse=True)
def _everyone_lives(empty_broker: None) -> None:
    for role, queues in (("worker", ["sample"]), ("worker", [configured.CELERY_TASK_DEFAULT_QUEUE])):
        hold([], role=role, queues=queues)
    for role in ("beat", "collector"):
        hold([], role=role, queues=[], reserved=[])


def announced(rows: Sequence[OutboxMessage]) -> Answer:
    (answer,) = triage(rows[0].key).verdicts
    assert answer.state == "lost by the broker, will be sent again"
    return answer


def is_found() -> bool:
    return CONSUMER in reconcile(dry_run=True).lost


def test_an_emptied_queue() -> None:
    lost = send()
    lose()
    assert announced(lost).next_step.text == SOON
    assert is_found()


def test_a_message_that_is_too_young(settings: Any) -> None:
    settings.BATON = {**settings.BATON, "RECONCILE_GRACE_SECONDS": 60}
    lost = send(age_seconds=5)
    lose()
    assert announced(lost).next_step.text.startswith(GRACE)
    assert not is_found()


def test_a_message_among_others_until_they_are_processed() -> None:
    lost = send(age_seconds=900)
    lose()
    later = send(12, age_seconds=600)
    assert announced(lost).next_step.text == QUEUE
    assert not is_found()
    process(later)
    answer = announced(lost)
    assert answer.next_step.text == SOON
    assert any(line.startswith("messages of its queue that were sent later, up to ") for line in answer.evidence)
    assert is_found()


def test_a_message_among_others_in_a_queue_that_nobody_consumes() -> None:
    lost = send(age_seconds=900)
    lose()
    send(2, age_seconds=600)
    Heartbeat.objects.filter(queues=["sample"]).delete()
    (answer,) = triage(lost[0].key).verdicts
    assert (answer.state, answer.needs_person) == ("nobody consumes the queue", True)
    assert not is_found()


def test_while_dead_letters_wait_for_the_collector() -> None:
    lost = send()
    lose()
    with current_app.connection_for_write() as broker:
        dead = current_app.amqp.queues[DEAD_LETTER_QUEUE].bind(broker.default_channel)
        current_app.amqp.Producer(broker).publish("x", exchange=dead.exchange, routing_key=dead.routing_key)
    answer = announced(lost)
    assert (answer.next_step.text, answer.needs_person) == (COLLECTOR, False)
    assert "the dead-letter queue holds 1 that were not collected" in answer.evidence
    assert not is_found()
    Heartbeat.objects.filter(role="collector").delete()
    answer = announced(lost)
    assert (answer.next_step.command, answer.needs_person) == ("python manage.py collect_dead_letters", True)


def test_a_consumer_that_came_later_is_not_announced() -> None:
    (row,) = send()
    OutboxMessage.objects.filter(pk=row.pk).update(sent_to=[])
    assert triage(row.key).verdicts == ()
    assert not is_found()
