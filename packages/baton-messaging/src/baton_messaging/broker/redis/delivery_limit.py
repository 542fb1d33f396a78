"""A delivery limit says how often a message may come back, as a quorum queue has it.

A return is a delivery that ended without an answer: requeued, its worker gone, its lease run out, or
its connection closed. Each counts in the header ``x-delivery-count``, as on RabbitMQ, and a limit of n allows n
returns, so n + 1 runs. What comes back more often kills its workers, and is dead-lettered.

Hazard, on both brokers: a restart of a worker returns what it had fetched, and that counts as well.
"""

from typing import Any, Final

COUNT: Final = "x-delivery-count"


def count_return(payload: dict[str, Any]) -> int:
    """Note on the message that it came back once more; return how often it has.

    >>> count_return({"headers": {"x-delivery-count": 2}, "properties": {}})
    3
    """
    headers = payload["headers"] = payload.get("headers") or {}
    before = headers.get(COUNT)
    count = (before if isinstance(before, int) else 0) + 1
    headers[COUNT] = count
    headers["redelivered"] = True  # this and the next line: where kombu and Celery look for it
    (payload["properties"].get("delivery_info") or {})["redelivered"] = True
    return count


def is_exceeded(count: int, *, limit: int | None) -> bool:
    """Tell whether a message that came back ``count`` times has had its last run. No limit is None.

    >>> is_exceeded(3, limit=3), is_exceeded(4, limit=3), is_exceeded(99, limit=None)
    (False, True, False)
    """
    return limit is not None and count > limit
