"""The check of the broker sends a message through a queue of its own: published, confirmed, taken, acknowledged.

Where workers read from another address than the relay writes to, it is published there and taken here: two brokers are
found out because the message does not arrive.

The queue is bounded, whatever kills the check. On RabbitMQ it is exclusive: it ends with its connection. On Redis its
name is one of SLOTS; its keys expire, and a message that a worker has restored from a check that was killed is taken by
the next one of that slot. Listings of queues or deliveries know it by QUEUE_PREFIX.
"""

import os
import socket
from collections.abc import Iterable
from typing import Any, Final

import kombu
from celery import current_app

from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.database.deadline import Deadline
from baton_messaging.health import broker_facts
from baton_messaging.health.broker_connection import broker_connection, is_amqp, server_of
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.redis_keys import SHARED
from baton_messaging.health.refusals import Refusal, classify, of_server
from baton_messaging.health.registry import health_check
from baton_messaging.routing.queues import EXCHANGE

QUEUE_PREFIX: Final = "baton.health."
SLOTS: Final = 64
_EXPIRES_SECONDS: Final = 60
#: Of the deadline, kept to look at a server that does not take the message, from another connection.
_LOOK_SECONDS: Final = 0.5
_MAX_FOREIGN: Final = 20  # messages in the queue that are not ours: of checks that were killed


@health_check("broker")
def check_broker(deadline: Deadline) -> Health:
    """Send a message through the broker; say which one it is and how it does."""
    app: Any = current_app
    asked = app.connection_for_write()
    working = deadline.earlier(_LOOK_SECONDS)
    try:
        with broker_connection(working, is_write=True) as writer:
            if _identity(writer) == _identity(app.connection_for_read()):
                return _checked(writer, writer, deadline)
            asked = app.connection_for_read()
            with broker_connection(working) as reader:
                return _checked(writer, reader, deadline)
    except Exception as error:  # there is no connection
        refusal = of_server(error)
        return Health("broker", refusal.condition, refusal.said, server_of(asked))


def _checked(writer: kombu.Connection, reader: kombu.Connection, deadline: Deadline) -> Health:
    facts: dict[str, Any] | None = None
    refusal = _sent(writer, reader, deadline)
    if refusal is not None and refusal.condition is Condition.AWAY:
        refusal, facts = _looked_at(refusal, deadline)
    facts = _facts(reader, deadline) if facts is None else facts
    if reader is not writer:
        facts["written_to"] = {"server": server_of(writer), **_facts(writer, deadline)}
    if refusal is not None and _is_about_own_queue(refusal.said) and (said := _forbidden(reader, facts)):
        refusal = Refusal(Condition.NOT_PERMITTED, said)
    if refusal is None or refusal.condition in (Condition.NOT_KNOWN, Condition.DIFFERENT):  # the key's name says more
        of_queues = _forbidden_queue(facts) or _difference(facts)
        facts["concerns"] = _concerned(facts) if of_queues else []
        refusal = of_queues or refusal or Refusal(Condition.OK, "")
    return Health("broker", refusal.condition, refusal.said, server_of(reader), facts=facts)


def _sent(writer: kombu.Connection, reader: kombu.Connection, deadline: Deadline) -> Refusal | None:
    """Send a message; return what keeps it from arriving."""
    try:
        if is_amqp(writer):
            _publish_as_relay_does(writer)
        has_arrived = _send_through(writer, reader, deadline)
    except Exception as error:  # whatever the client makes of it
        return _refusal(error)
    if has_arrived:
        return None
    elsewhere = f"what is published to {server_of(writer)} does not arrive at {server_of(reader)}"
    return Refusal(Condition.DIFFERENT, _LOST if reader is writer else elsewhere)


_LOST: Final = "a message that the broker has taken is not there to be consumed"


def _forbidden_queue(facts: dict[str, Any]) -> Refusal | None:
    refused = facts.get("not_permitted")
    return Refusal(Condition.NOT_PERMITTED, _some(refused.values())) if refused else None


def _difference(facts: dict[str, Any]) -> Refusal | None:
    different = facts.get("different") or facts.get("changed_by_policy") or {}
    return Refusal(Condition.DIFFERENT, _some(different.values())) if different else None


def _concerned(facts: dict[str, Any]) -> list[str]:
    """Return the queues that alone are to blame; empty if all of the project's are."""
    names = {**(facts.get("not_permitted") or {}), **(facts.get("different") or facts.get("changed_by_policy") or {})}
    is_of_all = SHARED in names or len(names) >= len(broker_facts.project_queues())
    return [] if is_of_all else list(names)


def _some(sentences: Iterable[str], *, at_most: int = 3) -> str:
    """Return the first few, and how many more there are."""
    told = list(sentences)
    return "; ".join(told[:at_most]) + (f" (+{len(told) - at_most})" if len(told) > at_most else "")


def _looked_at(refusal: Refusal, deadline: Deadline) -> tuple[Refusal, dict[str, Any]]:
    """Ask on another connection: a server that answers there is not away, it only does not do the work."""
    try:
        with broker_connection(deadline) as other:
            facts = _facts(other, deadline)
    except Exception:  # it is away
        return refusal, {}
    if "not_told" in facts:
        return refusal, facts
    said = f"it answers questions, and does not take a message: {refusal.said}"
    if not (because := broker_facts.pause(facts) or broker_facts.hung_up_on(facts)):
        return Refusal(Condition.REFUSES, said), facts
    return Refusal(Condition.REFUSES, f"{said} ({because})"), {**facts, "waits_because": because}


def _publish_as_relay_does(connection: kombu.Connection) -> None:
    """Publish to the project's exchange, for no queue: the right to write there is asked for, and nothing is left."""
    channel: Any = connection.channel()
    try:
        producer = kombu.Producer(channel, auto_declare=False)
        producer.publish({}, exchange=EXCHANGE.name, routing_key=f"{QUEUE_PREFIX}none", mandatory=True, retry=False)
    except UnroutableMessage:
        return
    finally:
        channel.close()


def _send_through(writer: kombu.Connection, reader: kombu.Connection, deadline: Deadline) -> bool:
    name, content = _queue_name(reader), os.urandom(8).hex()
    taking: Any = reader.channel()
    queue = kombu.Queue(name, exchange="", durable=False, exclusive=is_amqp(reader), expires=_EXPIRES_SECONDS)
    try:
        taken = queue.bind(taking)
        taken.queue_declare()
        sending: Any = taking if writer is reader else writer.channel()
        if sending is not taking and not is_amqp(writer):
            queue.bind(sending).queue_declare()  # there it shall expire, too
        kombu.Producer(sending, auto_declare=False).publish(content, exchange="", routing_key=name, retry=False)
        return _is_taken(taken, content, deadline)
    finally:
        taking.close()


def _is_taken(queue: Any, content: str, deadline: Deadline) -> bool:
    for _ in range(_MAX_FOREIGN):
        message = queue.get(no_ack=False)
        if message is None:
            return False
        message.ack()
        if message.payload == content:
            return True
        if deadline.has_passed:
            raise TimeoutError("no answer in time")
    return False


def _queue_name(connection: kombu.Connection) -> str:
    if is_amqp(connection):
        return f"{QUEUE_PREFIX}{socket.gethostname()}.{os.getpid()}.{os.urandom(4).hex()}"
    return f"{QUEUE_PREFIX}{os.getpid() % SLOTS}"


def _refusal(error: Exception) -> Refusal:
    """Classify. That the check's own queue is forbidden says nothing of the others: rights go by names."""
    refusal = of_server(error)
    if refusal.condition is Condition.NOT_PERMITTED and _is_about_own_queue(refusal.said):
        return Refusal(Condition.NOT_KNOWN, f"{refusal.said}: allow the names that begin with {QUEUE_PREFIX}")
    return refusal


def _is_about_own_queue(said: str) -> bool:
    return QUEUE_PREFIX in said or "permissions to access a key" in said or "no permissions to access the" in said


def _forbidden(connection: kombu.Connection, facts: dict[str, Any]) -> str:
    """Return what is said of a queue of the work, where the check's own one is forbidden; empty if nothing is."""
    if refused := facts.get("not_permitted"):
        return str(next(iter(refused.values())))
    there = next(iter(facts.get("queues", ())), "")
    return broker_facts.forbidden_to_consume(connection, there) if there else ""


def _facts(connection: kombu.Connection, deadline: Deadline) -> dict[str, Any]:
    try:
        if is_amqp(connection):
            return broker_facts.rabbitmq_facts(connection, deadline)
        return broker_facts.redis_facts(connection)
    except Exception as error:  # the answer is known already
        return {"not_told": classify(error).said}


def _identity(connection: Any) -> tuple[str, str]:
    return server_of(connection), str(connection.userid)
