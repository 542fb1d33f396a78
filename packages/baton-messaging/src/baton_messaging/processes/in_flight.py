"""Messages in flight in a worker are told by their ids, never by their payloads."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

MAX_IDS: Final = 1_000  # of one Celery message; a bundle of ours has a tenth of that

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


def message_ids_in(arguments: Any) -> list[str]:
    """Read the message ids out of a task's arguments; of what is no bundle of ours there are none.

    For display and for guesses only: no signature is checked, and nothing here raises for what a body contains.

    >>> message_ids_in([['{"message_id": "0190d3c2-7a00-7000-8000-000000000001"}:signature', "rubbish"]])
    ['0190d3c2-7a00-7000-8000-000000000001']
    >>> message_ids_in({"not": "a bundle"})
    []
    """
    bundle = arguments[0] if isinstance(arguments, list | tuple) and len(arguments) == 1 else None
    if not isinstance(bundle, list):
        return []
    found = (_message_id(sealed) for sealed in bundle[:MAX_IDS])
    return [message_id for message_id in found if message_id]


def _message_id(sealed: Any) -> str | None:
    if not isinstance(sealed, str):
        return None
    try:
        return str(UUID(json.loads(sealed.rpartition(":")[0])["message_id"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


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
