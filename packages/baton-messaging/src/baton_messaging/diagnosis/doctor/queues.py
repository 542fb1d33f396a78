"""Queues and processes examined: is each queue declared as in this release and consumed, does each role live?"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from celery import current_app

from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.shovel import message_count
from baton_messaging.conf import Queue, baton
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.doctor.broker import broker_connection
from baton_messaging.diagnosis.doctor.examination import BROKER, DATABASE, Observation, examines, observed
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Trouble


@examines("consumers of the queues", needs=(DATABASE,))
def examine_consumers() -> Iterator[Observation]:
    """Find queues that no living worker consumes (F51), or whose workers have stopped to."""
    workers: dict[str, list[Heartbeat]] = defaultdict(list)
    for beat in Heartbeat.objects.fresh().filter(role="worker"):
        for name in beat.queues:
            workers[name].append(beat)
    for queue in baton().queues:
        yield _consumed(queue, workers[queue.name])


def _consumed(queue: Queue, workers: list[Heartbeat]) -> Observation:
    consuming = sorted(beat.name for beat in workers if beat.is_consuming)
    stuck = sorted(beat.name for beat in workers if not beat.is_consuming)
    found = [", ".join(consuming)] if consuming else ["nobody consumes it"]
    found += [f"not consuming: {', '.join(stuck)}"] if stuck else []
    return observed(
        bool(consuming) and not stuck,
        f"workers of {queue.name}",
        found="; ".join(found),
        wanted="a worker that consumes it",
        remedy=f"Restart {', '.join(stuck)}." if stuck else f"Start: {commands.worker(queue.name)}",
        owner=str(queue.owner),
    )


@examines("declaration of the queues", needs=(BROKER,))
def examine_declarations() -> Iterator[Observation]:
    """Find queues that RabbitMQ has with other arguments (F18). What does not exist yet is not made here."""
    with broker_connection() as connection:
        if connection.transport.driver_type != "amqp":
            return
        channel: Any = connection.channel()
        queues = [queue for queue in current_app.amqp.queues.values() if message_count(channel, queue.name) is not None]
        found = misdeclared(connection, queues)
    for one in found:
        yield observed(
            False,
            f"declaration of {one.queue}",
            found=one.detail,
            wanted="the arguments of this release",
            remedy=f"Run: {one.remedy}",
        )
    if not found:
        yield observed(True, "declaration of the queues", found="as declared", wanted="as declared", remedy="")


#: Role, and what is wrong without it.
WANTED: Final = {
    "relay": "nothing leaves the outbox",
    "collector": "what the broker gives up on is on no list",
    "beat": "nothing is pruned, retried exports wait, no alert is mailed",
}


@examines("processes", needs=(DATABASE,))
def examine_processes() -> Iterator[Observation]:
    """Find roles that no living process has."""
    beats = list(Heartbeat.objects.fresh().exclude(role="worker"))
    for role, consequence in WANTED.items():
        yield _role(role, [beat for beat in beats if beat.role == role], consequence)


def _role(role: str, beats: list[Heartbeat], consequence: str) -> Observation:
    if any(beat.trouble == Trouble.BROKER_FULL for beat in beats):
        return observed(
            False,
            role,
            found="lives, but the broker takes nothing: it is short of memory or disk",
            wanted="a broker that takes messages",
            remedy="Give the broker memory or disk, or workers to empty its queues.",
        )
    stuck = sorted(beat.name for beat in beats if not beat.is_consuming)
    found = f"stuck: {', '.join(stuck)}" if stuck else ", ".join(sorted(beat.name for beat in beats))
    return observed(
        bool(beats) and not stuck,
        role,
        found=found or f"no heartbeat: {consequence}",
        wanted="a heartbeat of each within 20 s",
        remedy=f"Restart {', '.join(stuck)}." if stuck else f"Start: {_command(role)}",
    )


def _command(role: str) -> str:
    return {"relay": commands.RELAY, "collector": commands.COLLECTOR}.get(role) or commands.beat()
