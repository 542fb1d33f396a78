"""What a consumer's and a queue's figures are labelled with: by the owner, an alert finds its addressee."""

from typing import Final

from baton_messaging.routing.ownership import queue_or_platforms

CONSUMER_LABELS: Final = ("consumer", "queue", "owner")
QUEUE_LABELS: Final = ("queue", "owner")


def labels_of(consumer: str) -> tuple[str, str, str]:
    """Return the values of CONSUMER_LABELS."""
    queue = queue_or_platforms(consumer)
    return consumer, queue.name, queue.owner.name
