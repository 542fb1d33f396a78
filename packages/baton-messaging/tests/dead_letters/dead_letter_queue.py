"""Put messages into the broker's dead-letter queue by hand, and look whether they were collected."""

import json
from typing import Any
from uuid import uuid4

from baton_dev.testing.processes import wait_until
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.models import DeadLetter
from baton_messaging.routing.queues import dead_letter_queue
from celery import current_app

DEAD = dead_letter_queue().name
TASK = "sample.renamed_v2"


def dead_letter_in_broker(*sealed: str, task: str = TASK, **headers: Any) -> None:
    """Put a message into the dead-letter queue, as a broker does."""
    body = json.dumps([[list(sealed)], {}, {}])
    publish(body, headers={"task": task, "id": str(uuid4()), **headers})


def publish(body: Any, *, headers: dict[str, Any], **options: Any) -> None:
    defaults: dict[str, Any] = {"content_type": "application/json", "content_encoding": "utf-8"}
    with current_app.connection_for_write() as broker:
        producer = current_app.amqp.Producer(broker)
        exchange = dead_letter_queue().exchange
        producer.publish(body, exchange=exchange, routing_key=DEAD, headers=headers, **{**defaults, **options})


def is_drained() -> bool:
    with current_app.connection_for_read() as broker:
        return depths(broker, [DEAD])[DEAD].total == 0


def wait_for_letters(count: int, *, seconds: float = 30) -> None:
    wait_until(lambda: DeadLetter.objects.count() >= count, seconds=seconds, what=f"{count} dead letters")
    wait_until(is_drained, what="an empty dead-letter queue")
    assert DeadLetter.objects.count() == count
