"""The wake-up of the relay comes after the commit, once."""

from uuid import uuid4

import psycopg
import pytest
from baton_messaging.database.outbox_notify import CHANNEL
from baton_messaging.publish import publish
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)


def statements_of_publishing(times: int) -> list[str]:
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        for _ in range(times):
            with transaction.atomic():
                publish(Sampled(sample_id=uuid4()))
    return [query["sql"] for query in queries]


def test_the_wake_up_is_no_part_of_the_transaction_that_publishes() -> None:
    statements = statements_of_publishing(times=1)
    assert statements[-2:] == ["COMMIT", f"NOTIFY {CHANNEL}"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = 'baton_outbox'::regclass AND NOT tgisinternal")
        assert cursor.fetchall() == []


def test_a_transaction_that_publishes_often_wakes_the_relay_once() -> None:
    statements = statements_of_publishing(times=3)
    assert sum(statement.startswith("NOTIFY") for statement in statements) == 1


def test_a_publish_that_was_rolled_back_does_not_keep_the_next_one_from_waking() -> None:
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        with transaction.atomic():
            publish(Sampled(sample_id=uuid4()))
            transaction.set_rollback(True)
        publish(Sampled(sample_id=uuid4()))
    assert queries[-1]["sql"] == f"NOTIFY {CHANNEL}"


def test_a_listener_hears_it() -> None:
    with psycopg.connect(**connection.get_connection_params() | {"autocommit": True}) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        statements_of_publishing(times=1)
        assert [heard.channel for heard in listener.notifies(timeout=30, stop_after=1)] == [CHANNEL]
