"""An unacked delivery is kept by Redis: the hash ``unacked`` has the message, the sorted set ``unacked_index`` its age.

The layout is kombu's (``[message, exchange, routing key]``, with the queue as routing key of the default exchange), so
that a worker without this transport can give our deliveries back, too.
"""

import json
from dataclasses import dataclass
from typing import Any, Self

from baton_messaging.broker.dead_letter_headers import is_message


@dataclass(frozen=True)
class UnackedDelivery:
    """A delivery that has not ended. ``payload`` is None if ``raw`` is no message."""

    tag: str
    queue: str
    raw: str
    payload: dict[str, Any] | None

    @classmethod
    def read(cls, tag: str, text: bytes) -> Self:
        """Read a value of ``unacked``.

        With Python's own JSON on purpose: kombu's turns ``{"__type__": …}`` into objects, or refuses it.
        """
        value = text.decode("utf-8", "surrogateescape")
        try:
            payload, _exchange, queue = json.loads(value)
        except ValueError:
            payload, queue = None, tag.rpartition(":")[0]
        raw = value[1 : value.rfind(',"",')]
        return cls(tag=tag, queue=queue, raw=raw, payload=payload if is_message(payload) else None)
