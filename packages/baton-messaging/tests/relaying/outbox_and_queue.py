"""What is in the broker, for the tests of the relay."""

from uuid import uuid4

from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction

from tests.sample.events import Sampled


def place(count: int) -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(count)))


def bundles(queue: str = "sample") -> list[list[str]]:
    """Take everything out of a queue; return the bundle of each Celery message."""
    found = []
    with current_app.connection_for_read() as broker:
        bound = current_app.amqp.queues[queue].bind(broker.default_channel)
        while message := bound.get(no_ack=True):
            found.append(message.payload[0][0])
    return found
