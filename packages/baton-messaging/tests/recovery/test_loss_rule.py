"""The rule itself, by its cases; and that hands count as known only when their workers have spoken since the look."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.models import Heartbeat
from baton_messaging.recovery.loss_rule import QueueState, proof_of_loss, wait_for_proof
from baton_messaging.recovery.queue_states import _database_time, _wait_for_beats
from django.db import connection
from django.db.models.functions import Now

from tests.recovery.situations import hold

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SERVED = NOW - timedelta(minutes=10)


def state(
    waiting: int, taken: int | None, *, served: datetime | None = None, known: bool = False, uncollected: int = 0
) -> QueueState:
    return QueueState("sample", Depth(waiting, taken), NOW, served, known, uncollected)


@pytest.mark.parametrize(
    ("found", "minutes_ago", "cause"),
    [
        (state(0, 0), 5, "queue empty"),
        (state(0, 0), 0, None),  # younger than the grace
        (state(0, 1), 5, None),  # somebody has taken one
        (state(1, 0), 5, None),
        (state(0, None, known=True), 5, "queue empty"),
        (state(0, None), 5, None),  # RabbitMQ, and a worker has not said what it holds
        (state(1, None, known=True), 5, None),
        (state(9, 1, served=SERVED), 12, "overtaken"),
        (state(9, 1, served=SERVED), 10.5, None),  # within the margin
        (state(9, 1, served=SERVED), 5, None),
        (state(0, 0, uncollected=1), 5, None),  # it may be among the dead letters that nobody has fetched
        (state(9, 1, served=SERVED, uncollected=1), 12, None),
    ],
)
def test_a_message_is_lost_by_one_of_two_proofs(found: QueueState, minutes_ago: float, cause: str | None) -> None:
    sent_at = NOW - timedelta(minutes=minutes_ago)
    assert proof_of_loss(sent_at, found) == cause
    assert (wait_for_proof(sent_at, found) is None) is (cause is not None)


@pytest.mark.parametrize(
    ("found", "minutes_ago", "wait"),
    [
        (state(0, 0), 0, "grace"),
        (state(0, 1), 5, "queue"),
        (state(9, 1, served=SERVED), 10.5, "queue"),
        (state(9, 1, served=SERVED), 0, "grace"),
        (state(0, 0, uncollected=1), 5, "collector"),
        (state(9, 1, uncollected=1), 0, "collector"),
    ],
)
def test_what_is_not_proven_yet_waits_for_something_that_has_a_name(
    found: QueueState, minutes_ago: float, wait: str
) -> None:
    assert wait_for_proof(NOW - timedelta(minutes=minutes_ago), found) == wait


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_has_not_spoken_since_leaves_its_queue_unknown() -> None:
    row, since = hold([]), _database_time()
    assert _wait_for_beats(["sample", "parcels"], since=since) == {"sample"}

    def beat() -> None:
        try:
            Heartbeat.objects.filter(pk=row.pk).update(beaten_at=Now())
        finally:
            connection.close()

    timer = threading.Timer(0.3, beat)
    timer.start()
    assert _wait_for_beats(["sample"], since=since) == set()
    timer.join()


@pytest.mark.django_db
def test_a_worker_that_is_dead_is_not_waited_for() -> None:
    since = _database_time()
    hold([], beaten_seconds_ago=60)
    assert _wait_for_beats(["sample"], since=since) == set()
