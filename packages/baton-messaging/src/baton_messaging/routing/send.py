"""A bundle is sent to the broker: one Celery message for one consumer."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import kombu
from celery import current_app

from baton_messaging.routing.ownership import queue_of

MAX_IDS_SHOWN = 3  # in Flower and worker logs; enough to search by, short enough to read


def send_bundle(
    consumer: str, sealed: Sequence[str], *, message_ids: Sequence[UUID], producer: kombu.Producer | None = None
) -> None:
    """Send sealed envelopes to the consumer's queue, and return when the broker has them.

    Raises UnknownQueue, kombu's OperationalError when the broker is away, and what the broker answers otherwise.
    The broker is asked once: who calls knows better when to ask again.
    """
    queue = queue_of(consumer)
    task: Any = current_app.tasks[consumer]  # the stubs know fewer options than apply_async() passes on
    task.apply_async(
        args=[list(sealed)],
        argsrepr=_shown(message_ids),
        queue=queue.name,
        producer=producer,
        retry=False,
        mandatory=True,
        add_to_parent=False,
    )


def _shown(message_ids: Sequence[UUID]) -> str:
    shown = ", ".join(str(message_id) for message_id in message_ids[:MAX_IDS_SHOWN])
    more = len(message_ids) - MAX_IDS_SHOWN
    return f"[{shown}, and {more} more]" if more > 0 else f"[{shown}]"
