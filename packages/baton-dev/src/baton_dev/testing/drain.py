"""Drain after a test: what it has started must not end in the next one's tables.

A test is over when it has seen what it waited for; relay, worker and collector are not: a follow-up still waits in the
outbox, a message is taken and not begun, a dead letter is not acknowledged. Emptied tables do not stop any of these.
"""

import time
from collections.abc import Collection
from typing import Any

from baton_messaging.broker.redis.transport import Channel as RedisChannel
from baton_messaging.models import Attempt, Heartbeat, OutboxMessage
from celery import current_app
from django.db import connection

from baton_dev.testing import empty_tables
from baton_dev.testing.forkserver import CONNECTION_NAME
from baton_dev.testing.processes import started, wait_until
from baton_dev.testing.shared_processes import end_all_but

# A worker that the test has killed never gives back what it took: then this ends the waiting.
MAX_DRAIN_SECONDS = 5.0


def empty_queues() -> int:
    """Drop what waits in the queues, after declaring those that are gone; return how much it was."""
    with current_app.connection_for_write() as broker:
        channel = broker.default_channel
        bound = [queue.bind(channel) for queue in current_app.amqp.queues.values()]
        for queue in bound:
            queue.declare()
        return sum(queue.purge() or 0 for queue in bound)


def unacked_count() -> int:
    """Return how many messages consumers have not acknowledged. RabbitMQ does not tell: none."""
    with current_app.connection_for_read() as broker:
        channel = broker.default_channel
        return int(channel.client.zcard(channel.unacked_index_key)) if isinstance(channel, RedisChannel) else 0


def forget_unacked() -> None:
    """Forget what a killed worker has not acknowledged: its lease would bring it back later."""
    with current_app.connection_for_write() as broker:
        channel = broker.default_channel
        if isinstance(channel, RedisChannel):
            channel.client.delete(channel.unacked_key, channel.unacked_index_key)


def end_shared_processes(*, but_for: Collection[str] = ()) -> None:
    """End the shared processes, but for those named, and forget that they lived. Not inside a transaction."""
    if end_all_but(but_for):
        forget_heartbeats()


def forget_heartbeats() -> None:
    """Forget the processes that were killed after the tables were emptied: they may have beaten in between."""
    wait_until_database_is_idle()  # their last statement goes on without them
    Heartbeat.objects.all().delete()


def drain() -> None:
    """Drop what waits and let end what runs, until nothing of either is found."""
    deadline = time.monotonic() + MAX_DRAIN_SECONDS
    while True:
        is_over = time.monotonic() > deadline  # by now: the machine may stand still while we look
        if _is_drained():
            return
        if is_over:
            forget_unacked()
            return
        time.sleep(0.02)


def _is_drained() -> bool:
    """Drop what waits; tell whether it was nothing, and no process has anything in flight.

    In the order in which a message goes on: what is taken is looked at before that which may become of it.
    """
    is_idle = unacked_count() == 0
    wait_until_database_is_idle()
    waiting = OutboxMessage.objects.waiting().exists() or Attempt.objects.filter(sent_at=None).exists()
    empty_tables.empty_tables(connection)
    return is_idle and not waiting and empty_queues() == 0


def wait_until_database_is_idle() -> None:
    """Wait until no other connection has a transaction: emptying the tables would get into a deadlock with it.

    And end those that are left of processes that have ended: PostgreSQL calls them idle, too, while it has not read the
    last statement, which would be executed later.
    """
    alive = [CONNECTION_NAME.format(process.pid) for process in started if process.exit_code is None]
    statement = (
        "WITH other AS (SELECT *, substring(application_name from %s) <> ALL(%s) IS TRUE AS is_left"
        " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend')"
        " SELECT pid, state, wait_event, application_name, query, CASE WHEN is_left THEN pg_terminate_backend(pid) END"
        " FROM other WHERE is_left OR state <> 'idle'"
    )
    found: list[Any] = []

    def is_idle() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(statement, [f"^{CONNECTION_NAME.format('[0-9]+')}", alive])
            found[:] = cursor.fetchall()
        return not found

    try:
        wait_until(is_idle, seconds=30, what="the end of all transactions")
    except AssertionError as error:
        error.add_note(f"Found {found}; alive: {alive}.")
        raise
