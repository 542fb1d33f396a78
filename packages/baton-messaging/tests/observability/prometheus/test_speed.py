"""How long the board and /metrics take with a million outbox rows and a backlog of 100,000; run on request.

MEASURE=1 python -m pytest packages/baton-messaging/tests/observability/prometheus/test_speed.py -s
"""

import os

import pytest
from baton_dev.testing.processor_time import processor_seconds
from baton_messaging.models import OutboxMessage
from baton_messaging.observability.statistics.rollup import roll_up
from celery import current_app
from django.db import connection
from django.test import Client

from tests.dead_letters.factories import an_operator
from tests.observability.prometheus.test_metrics import a_heartbeat

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("MEASURE" not in os.environ, reason="a measurement, of two minutes: set MEASURE=1"),
    pytest.mark.timeout(900),
]

ROWS = 1_000_000
BACKLOG = 100_000
MAX_SECONDS = 0.3

_FILL = """
    INSERT INTO baton_outbox (message_id, name, version, key, payload, occurred_at, correlation_id,
        traceparent, published_at, sent_to, send_failure_count, last_error)
    SELECT gen_random_uuid(), 'sample.sampled', 1, n::text, '{"behaviour": "ok"}', now() - (%(rows)s - n) * interval
        '0.1 second', gen_random_uuid(), '', CASE WHEN n <= %(rows)s - %(backlog)s THEN now() END, '{}', 0, ''
    FROM generate_series(1, %(rows)s) AS n;
    INSERT INTO baton_inbox (message_id, consumer, processed_at, duration_ms, worker)
    SELECT gen_random_uuid(), 'sample.take_one', now() - (%(rows)s - n) * interval '0.1 second', n %% 1000, 'w'
    FROM generate_series(1, %(rows)s) AS n;
    INSERT INTO baton_attempt (message_id, consumer, attempt, round, key, envelope, error_class, error_message,
        traceback, worker, failed_at, due_at)
    SELECT gen_random_uuid(), 'sample.take_one', 1, 0, 'k', '{}', 'E', '', '', '', now(), now() + interval '1 hour'
    FROM generate_series(1, 10000);
    INSERT INTO baton_minute (minute, consumer, is_folded, processed_count, failed_count, retried_count,
        redelivered_count, dead_counts, duration_counts, duration_seconds, lag_counts, lag_seconds)
    SELECT date_trunc('minute', now()) - n * interval '1 minute', consumer, true, 1000, 3, 3, 0, '{}',
        array_fill(60::bigint, ARRAY[16]), 10, array_fill(60::bigint, ARRAY[16]), 10
    FROM generate_series(10, 1440) AS n,
        unnest(ARRAY['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'sample.take_one']) AS consumer
"""


@pytest.fixture
def crowd(empty_broker: None) -> None:
    """A million rows in outbox and inbox, and a backlog in outbox and broker."""
    with connection.cursor() as cursor:
        for statement in _FILL.split(";\n"):
            cursor.execute(statement, {"rows": ROWS, "backlog": BACKLOG})
        for table in ("baton_outbox", "baton_inbox", "baton_attempt", "baton_minute"):
            cursor.execute(f"VACUUM (ANALYZE) {table}")
    with current_app.connection_for_write() as broker:
        client = broker.default_channel.client
        for start in range(0, BACKLOG, 10_000):
            client.rpush("sample", *(f"message {start + number}" for number in range(10_000)))
    for name in ("sample", "parcels", "mails"):
        a_heartbeat(queues=[name])
    roll_up()


def test_board_and_metrics_answer_in_time(crowd: None) -> None:
    assert OutboxMessage.objects.waiting().count() == BACKLOG
    client = Client()
    client.force_login(an_operator())
    paths = ["/metrics", "/ops/", "/ops/?part=live", "/ops/?part=charts"]
    used = {path: processor_seconds(path, lambda path=path: client.get(path)) for path in paths}  # type: ignore[misc]
    assert 'id="ops-outbox">100000<' in client.get("/ops/?part=live").content.decode()
    processor_seconds("baton.rollup", roll_up)
    assert all(seconds < MAX_SECONDS for seconds in used.values()), used
