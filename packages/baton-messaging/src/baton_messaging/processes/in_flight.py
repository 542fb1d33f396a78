"""Messages in flight in a worker are told by their ids, never by their payloads."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from baton_messaging.messages.message_ids import message_ids_in

_read: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()  # a request is read once, however often it is shown


def in_flight_of(requests: Iterable[Any]) -> list[dict[str, Any]]:
    """Describe Celery's requests: consumer, message ids, since when they run (None: not yet), in which child."""
    return [
        {
            "consumer": str(request.name)[:200],
            "message_ids": _ids_of(request),
            "started_at": _started_at(request),
            "pid": request.worker_pid,
        }
        for request in requests
    ]


def _ids_of(request: Any) -> list[str]:
    found = _read.get(request)
    if found is None:
        found = _read[request] = message_ids_in(request.args)
    return found


def _started_at(request: Any) -> str | None:
    """Return when the child took it up, by this machine's clock.

    Celery's pool tells the monotonic clock; ``Request.on_accepted`` has made it seconds since 1970 (Celery 5.7).
    """
    if request.time_start is None:
        return None
    return datetime.fromtimestamp(request.time_start, UTC).isoformat()
