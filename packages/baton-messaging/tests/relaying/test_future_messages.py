"""Future messages leave when they are due: once, within the relay's poll, whatever else waits or fails."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from baton_dev.testing.processes import Process, relay_command, running, wait_until
from baton_messaging.conf import baton
from baton_messaging.models import FutureMessage, OutboxMessage
from baton_messaging.publish import cancel, publish
from django.db import connection, transaction
from django.utils import timezone

from tests.relaying.outbox_and_queue import bundles, place
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

_A_MILLION_IN_A_YEAR = """
    INSERT INTO baton_future_message (
        message_id, name, version, key, payload, due_at, correlation_id, traceparent, cancelled_by, why
    )
    SELECT gen_random_uuid(), 'sample.sampled', 1, n, '{}', now() + interval '1 year', gen_random_uuid(), '', '', ''
    FROM generate_series(1, %s) AS n
"""


def future(at: datetime, count: int = 1) -> list[UUID]:
    """Publish for that time."""
    with transaction.atomic():
        return publish(*(Sampled(sample_id=uuid4()) for _ in range(count)), at=at)


def test_a_message_leaves_within_the_poll_of_its_due_time_and_not_before(relay: Process) -> None:
    due_at = timezone.now() + timedelta(seconds=1.5)
    [message_id] = future(due_at)
    wait_until(lambda: OutboxMessage.objects.filter(published_at__isnull=False).exists(), what="the relay to send")
    row = FutureMessage.objects.get(message_id=message_id)
    assert row.released_at is not None
    late_seconds = (row.released_at - due_at).total_seconds()
    assert 0 <= late_seconds < 2 * baton().relay_poll_seconds  # of a busy machine; its poll on one of its own


def test_a_stream_of_others_does_not_keep_it_from_leaving(relay: Process) -> None:
    [message_id] = future(timezone.now() + timedelta(seconds=1))
    place(2000)
    wait_until(lambda: OutboxMessage.objects.filter(message_id=message_id).exists(), what="the relay to release it")


def test_what_fell_due_while_no_relay_ran_leaves_once_one_does(tmp_path: Path) -> None:
    future(timezone.now() - timedelta(hours=3), count=50)
    with running(relay_command(), log=tmp_path / "relay.log", ready="relay_started"):
        wait_until(lambda: OutboxMessage.objects.exclude(published_at=None).count() == 50, what="all 50")
    assert FutureMessage.objects.waiting().count() == 0


def test_a_relay_killed_with_9_while_it_releases_loses_none_and_doubles_none(tmp_path: Path) -> None:
    future(timezone.now(), count=3000)
    with running(relay_command(), log=tmp_path / "first.log", ready="relay_started") as first:
        wait_until(OutboxMessage.objects.exists, what="the first batch")
        os.kill(first.pid, signal.SIGKILL)
    OutboxMessage.objects.waiting().update(available_at=timezone.now())  # its lease has ended
    with running(relay_command(), log=tmp_path / "second.log", ready="relay_started"):
        wait_until(
            lambda: not FutureMessage.objects.waiting().exists() and not OutboxMessage.objects.waiting().exists(),
            what="all to leave",
        )
    assert OutboxMessage.objects.count() == 3000
    assert len({one for bundle in bundles() for one in bundle}) == 3000


def test_cancellation_and_release_have_one_winner_each_time() -> None:
    message_ids = future(timezone.now(), count=200)
    start = Barrier(2)

    def release() -> int:
        start.wait()
        try:
            return sum(FutureMessage.objects.release_due(limit=7) for _ in range(60))
        finally:
            connection.close()

    def cancel_each() -> int:
        start.wait()
        try:
            return sum(cancel(message_id) for message_id in reversed(message_ids))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        released, cancelled = pool.submit(release), pool.submit(cancel_each)
        released_count, cancelled_count = released.result(), cancelled.result()
    assert released_count + cancelled_count == 200
    assert OutboxMessage.objects.count() == released_count
    assert FutureMessage.objects.exclude(cancelled_at=None).count() == cancelled_count


def test_a_cancellation_that_is_not_committed_yet_holds_up_no_other_message() -> None:
    [undecided, other] = future(timezone.now(), count=2)

    def release() -> int:
        try:
            return FutureMessage.objects.release_due(limit=10)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        cancel(undecided)
        assert pool.submit(release).result(timeout=10) == 1
        transaction.set_rollback(True)
    assert OutboxMessage.objects.get().message_id == other
    assert FutureMessage.objects.release_due(limit=10) == 1


def test_those_that_wait_cost_a_round_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_A_MILLION_IN_A_YEAR, [20_000])
        cursor.execute("ANALYZE baton_future_message")
    future(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN (FORMAT JSON) SELECT id FROM baton_future_message WHERE released_at IS NULL "
            "AND cancelled_at IS NULL AND due_at <= clock_timestamp() ORDER BY due_at, id LIMIT 1000"
        )
        plan = str(cursor.fetchone())
    assert "baton_future_waiting" in plan
    assert "Sort" not in plan
    assert FutureMessage.objects.release_due(limit=1000) == 1
