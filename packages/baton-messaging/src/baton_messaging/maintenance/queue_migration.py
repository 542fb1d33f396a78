"""A migration gives a RabbitMQ queue the arguments that the code declares, with everything that is in it.

    pause its consumers ▶ move to NAME.migrating ▶ delete, declare ▶ move back ▶ send again what left last ▶ resume

Invariant: each step can be repeated, and the pause is the mark that one was begun: a command killed at any line is
simply run again. The last messages before the pause are sent once more, in case one arrived between the last count and
the deletion; the inbox absorbs those that did not. The other queues, the web and the relay go on meanwhile.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import kombu
import structlog
from amqp.exceptions import AMQPNotImplementedError, InternalError
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.models import Exists, OuterRef
from psycopg.errors import LockNotAvailable

from baton_messaging.audit.actors import Actor
from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.shovel import consumer_count, message_count, move
from baton_messaging.conf import baton
from baton_messaging.errors import MessagingError
from baton_messaging.flow_control.parking import park
from baton_messaging.flow_control.pauses import AlreadyPaused, Target, pause, resume
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, Pause, ProcessedMessage
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.subscriptions import all_consumers, subscription_named

log = structlog.get_logger(__name__)

VIA: Final = "migrate_queue"
Tell = Callable[[str], None]
T = TypeVar("T")

DELETION_SECONDS: Final = 30
OWN_GETS_SECONDS: Final = 5
#: For the lock of another migration: one that was killed keeps its lock until PostgreSQL has noticed that it is gone.
LOCK_WAIT_SECONDS: Final = 5.0


class MigrationRefused(MessagingError):
    """The queue cannot be migrated now. Nothing was changed."""


def migrate(queue: kombu.Queue, broker: kombu.Connection, *, actor: Actor, tell: Tell) -> bool:
    """Migrate a queue, or finish what a killed command began; tell whether there was anything to do.

    Raises MigrationRefused, and the connection's errors: then run it again.
    """
    if broker.transport.driver_type != "amqp":
        tell("Queues of Redis have no arguments: there is nothing to migrate.")
        return False
    temporary = f"{queue.name}.migrating"
    with _alone(queue.name):
        is_begun = _ours(queue.name).exists() or _count(broker, temporary) is not None
        if not is_begun and not misdeclared(broker, [queue]):
            tell(f"{queue.name} is declared as the code says: there is nothing to migrate.")
            return False
        _refuse_consumers(broker, queue.name)
        paused = _pause(queue.name, actor)
        tell(f"Paused {', '.join(own.consumer for own in paused) or 'nothing'}.")
        _recreate(queue, temporary, broker, tell)
        for own in paused:
            _send_again(own.consumer, since=own.paused_at)
        for own in _ours(queue.name):  # a person may have resumed some
            resume(Target(consumer=own.consumer), actor=actor, why=f"{queue.name} is migrated")
        tell(f"Resumed. {queue.name} is declared as the code says.")
    return True


def retry_while_busy(broker: kombu.Connection, step: Callable[[kombu.Connection], T]) -> T:
    """Take a step on a connection of its own, again while RabbitMQ is still busy with a deletion of the same name.

    It then answers 541 INTERNAL_ERROR and ends the connection (seen on 3.10 with quorum queues).
    """
    deadline = time.monotonic() + DELETION_SECONDS
    while True:
        try:
            with broker.clone() as own:
                return step(own)
        except InternalError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.5)


def _recreate(queue: kombu.Queue, temporary: str, broker: kombu.Connection, tell: Tell) -> None:
    channel: Any = broker.channel()
    channel.queue_declare(temporary, durable=True, auto_delete=False, arguments={"x-queue-type": "quorum"})
    if misdeclared(broker, [queue]):
        # Nothing new may arrive between last count and deletion. What was to be dead-lettered waits where it is.
        channel.queue_unbind(queue.name, queue.exchange.name, routing_key=queue.routing_key)
        moved_count = sum(1 for _ in move(channel, queue.name, temporary))
        tell(f"Moved {moved_count} messages to {temporary}.")
        _refuse_consumers(broker, queue.name)
        late_count = _delete(broker, queue.name)
        if late_count:
            tell(f"{late_count} messages arrived while it was deleted: they are sent again from the outbox.")
    if retry_while_busy(broker, lambda own: misdeclared(own, [queue])):
        raise MigrationRefused(f"Expected {queue.name} to be gone, got one declared the old way again: stop who does.")
    channel.close()  # RabbitMQ ends a channel that knew a queue of this name of another type (seen on 3.10)
    channel = broker.channel()
    moved_count = sum(1 for _ in move(channel, temporary, queue.name))
    tell(f"Moved {moved_count} messages to the new {queue.name}.")
    channel.queue_delete(temporary)
    channel.close()


def _delete(broker: kombu.Connection, name: str) -> int:
    """Delete a queue that was just emptied; return how many messages went with it."""
    own = broker.clone()
    try:
        with own:
            return int(own.channel().queue_delete(name, if_empty=True) or 0)
    except AMQPNotImplementedError:  # quorum queues cannot be deleted on that condition
        channel: Any = broker.channel()
        return int(channel.queue_delete(name) or 0)


def _count(broker: kombu.Connection, name: str) -> int | None:
    channel: Any = broker.channel()
    try:
        return message_count(channel, name)
    finally:
        channel.close()


def _refuse_consumers(broker: kombu.Connection, name: str) -> None:
    """Refuse while a worker consumes the queue.

    A quorum queue counts each message that we got one by one as a consumer, for a moment (seen on 3.10).
    """
    channel: Any = broker.channel()
    deadline = time.monotonic() + OWN_GETS_SECONDS
    count = 0 if message_count(channel, name) is None else consumer_count(channel, name)
    while count and time.monotonic() < deadline:
        time.sleep(0.1)
        count = consumer_count(channel, name)
    if count:
        raise MigrationRefused(
            f"Expected no worker of {name}, got {count} that consume it. Stop the workers of the old release, and run "
            "this again; those of the new one wait by themselves."
        )
    channel.close()


def _ours(queue: str) -> Any:
    return Pause.objects.in_force().filter(via=VIA, consumer__in=_consumers_of(queue))


def _consumers_of(queue: str) -> list[str]:
    return [consumer for consumer in all_consumers() if queue_of(consumer).name == queue]


def _pause(queue: str, actor: Actor) -> list[Pause]:
    """Pause the queue's consumers; return the pauses that are ours to end. What a person paused stays paused."""
    for consumer in _consumers_of(queue):
        try:
            pause(Target(consumer=consumer), actor=actor, why=f"{queue} is being migrated")
        except AlreadyPaused:
            log.info("paused_before", consumer=consumer)
    return list(_ours(queue).order_by("consumer"))


@transaction.atomic
def _send_again(consumer: str, *, since: datetime) -> None:
    """Park what left for the consumer shortly before the pause and has not come to an end."""
    since -= timedelta(seconds=baton().relay_lease_seconds)
    subscription = subscription_named(consumer)
    here: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": consumer}
    settled = Exists(ProcessedMessage.objects.filter(**here)) | Exists(DeadLetter.objects.open().filter(**here))
    event_name = subscription.event_name if subscription else ""
    published = OutboxMessage.objects.filter(name=event_name, published_at__gte=since).exclude(settled)
    retried = Attempt.objects.filter(consumer=consumer, sent_at__gte=since).exclude(settled)
    waiting = Attempt.objects.filter(**here, sent_at=None)
    envelopes = [message.envelope() for message in published.exclude(Exists(waiting))]
    park(consumer, [*envelopes, *(attempt.open_envelope() for attempt in retried.exclude(Exists(waiting)))])


@contextmanager
def _alone(queue: str) -> Iterator[None]:
    """Let one migration of a queue run at a time.

    By a transaction of its own: behind PgBouncer a session's lock stays with a connection that others get next.
    """
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    own.set_autocommit(False)
    try:
        with own.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # it may take minutes
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_WAIT_SECONDS * 1000:.0f}ms"])
            try:
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"migrate_queue {queue}"])
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                raise MigrationRefused(
                    f"Expected to migrate {queue} alone, got another command that does it right now."
                ) from None
        yield
    finally:
        own.close()
