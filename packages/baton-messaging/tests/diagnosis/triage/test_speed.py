"""Triage costs what it finds, not what there is: no statement reads a large table through."""

from datetime import timedelta
from uuid import uuid4

import pytest
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.diagnosis.triage.stuck import survey
from baton_messaging.models import OutboxMessage
from baton_messaging.publish import publish
from celery import current_app
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from tests.recovery.situations import die, process, send
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]
NOW = timedelta(0)
LARGE = (
    "baton_outbox",
    "baton_inbox",
    "baton_attempt",
    "baton_dead_letter",
    "orders_order",
)


def plans(statements: list[str]) -> list[str]:
    """Return the plan of each, as if the tables were too large to be read through."""
    found = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for statement in statements:
            cursor.execute(f"EXPLAIN {statement}")
            found.append("\n".join(row for (row,) in cursor.fetchall()))
    return found


@pytest.mark.parametrize("what", ["key", "message", "stuck"])
def test_no_question_reads_a_table_through(what: str) -> None:
    key = uuid4()
    with transaction.atomic():
        (message_id,) = publish(Sampled(sample_id=key))
    with CaptureQueriesContext(connection) as captured:
        if what == "stuck":
            survey()
        else:
            triage(str(key if what == "key" else message_id))
    statements = [query["sql"] for query in captured if query["sql"].lstrip().startswith("SELECT")]
    assert len(statements) > 5
    for statement, plan in zip(statements, plans(statements), strict=True):
        assert not [table for table in LARGE if f"Seq Scan on {table}" in plan], f"{statement}\n{plan}"


def test_the_survey_asks_as_often_for_many_as_for_few() -> None:
    counts = []
    for more in (2, 40):
        send(more // 2)
        with transaction.atomic():
            publish(*(Sampled(sample_id=uuid4()) for _ in range(more // 2)))
        with CaptureQueriesContext(connection) as captured:
            found = survey(NOW)
        counts.append(len(captured))
    assert found.count == 42
    assert counts[0] == counts[1]


def reads_of_queues(key: str) -> int:
    with current_app.connection_for_read() as broker, broker.default_channel.conn_or_acquire() as client:
        client.config_resetstat()
        triage(key)
        return int(client.info("commandstats").get("cmdstat_lrange", {"calls": 0})["calls"])


def test_what_is_done_is_not_looked_for_in_the_queues() -> None:
    done, dead = send(2)
    assert reads_of_queues(done.key)
    process([done])
    die(dead)
    OutboxMessage.objects.update(settled_at=Now())
    assert reads_of_queues(done.key) == 0
    assert reads_of_queues(dead.key)  # it may have been sent again
