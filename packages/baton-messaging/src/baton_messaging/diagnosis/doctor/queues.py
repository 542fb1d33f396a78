"""The queues: does somebody consume each one, and has the broker them as this release declares them?"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from celery import current_app

from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.shovel import message_count
from baton_messaging.conf import Queue, baton
from baton_messaging.diagnosis.doctor.broker import broker_connection
from baton_messaging.diagnosis.doctor.lines import Line, judged
from baton_messaging.diagnosis.doctor.register import BROKER, DATABASE, examines
from baton_messaging.models import Heartbeat


@examines("consumers of the queues", needs=(DATABASE,))
def examine_consumers() -> Iterator[Line]:
    """Find queues that no living worker consumes (F51), or whose workers have stopped to."""
    workers: dict[str, list[Heartbeat]] = defaultdict(list)
    for beat in Heartbeat.objects.fresh().filter(role="worker"):
        for name in beat.queues:
            workers[name].append(beat)
    for queue in baton().queues:
        yield _consumed(queue, workers[queue.name])


def _consumed(queue: Queue, workers: list[Heartbeat]) -> Line:
    consuming = sorted(beat.name for beat in workers if beat.is_consuming)
    stuck = sorted(beat.name for beat in workers if not beat.is_consuming)
    found = [", ".join(consuming)] if consuming else ["nobody consumes it"]
    found += [f"not consuming: {', '.join(stuck)}"] if stuck else []
    return judged(
        bool(consuming) and not stuck,
        f"workers of {queue.name}",
        found="; ".join(found),
        wanted="a worker that consumes it",
        remedy=f"Restart {', '.join(stuck)}." if stuck else f"Start a worker with -Q {queue.name} (see Procfile).",
        owner=str(queue.owner),
    )


@examines("declaration of the queues", needs=(BROKER,))
def examine_declarations() -> Iterator[Line]:
    """Find queues that RabbitMQ has with other arguments (F18). What does not exist yet is not made here."""
    with broker_connection() as connection:
        if connection.transport.driver_type != "amqp":
            return
        channel: Any = connection.channel()
        queues = [queue for queue in current_app.amqp.queues.values() if message_count(channel, queue.name) is not None]
        found = misdeclared(connection, queues)
    for one in found:
        yield judged(
            False,
            f"declaration of {one.queue}",
            found=one.detail,
            wanted="the arguments of this release",
            remedy=f"Run: {one.remedy}",
        )
    if not found:
        yield judged(True, "declaration of the queues", found="as declared", wanted="as declared", remedy="")
