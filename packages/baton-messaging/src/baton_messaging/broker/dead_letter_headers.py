"""Headers tell why a broker gave up on a message: those that RabbitMQ writes, on both brokers.

RabbitMQ writes them itself when a queue has ``x-dead-letter-exchange``; for Redis ``dead_letter`` does.
``death_of`` reads what either wrote. Source: RabbitMQ manual, "Dead Letter Exchanges", section "Effects on Messages".
"""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from kombu.utils.json import dumps

REJECTED: Final = "rejected"
DELIVERY_LIMIT: Final = "delivery_limit"
#: Redis only: RabbitMQ lets nothing into a queue that is not a message.
UNREADABLE: Final = "unreadable"


@dataclass(frozen=True)
class Death:
    """Why, where and when a message died last, and how often it has died there for that reason."""

    queue: str
    reason: str
    died_at: datetime
    count: int
    routing_key: str


def death_of(headers: dict[str, Any]) -> Death | None:
    """Return the last death that the headers tell of, None for a message that never died."""
    entries = headers.get("x-death") or []
    if not entries:
        return None
    last = entries[0]
    return Death(
        queue=str(last["queue"]),
        reason=str(last["reason"]),
        died_at=last["time"].replace(tzinfo=UTC),  # both brokers write UTC and do not say so
        count=int(last["count"]),
        routing_key=str((last.get("routing-keys") or [""])[0]),
    )


def dead_letter(payload: dict[str, Any], *, queue: str, reason: str, now: datetime, into: str) -> str:
    """Return the message as it goes into the dead-letter queue."""
    headers = dict(payload.get("headers") or {})
    for name in ("x-delivery-count", "redelivered"):  # they tell of one queue; in the dead-letter queue it begins anew
        headers.pop(name, None)
    info = payload["properties"].get("delivery_info") or {}
    exchange = info.get("exchange") or ""
    headers["x-death"] = _add_death(
        _told(headers),
        {
            "count": 1,
            "reason": reason,
            "queue": queue,
            "time": now.astimezone(UTC).replace(microsecond=0, tzinfo=None),
            "exchange": exchange,
            "routing-keys": [info.get("routing_key") or queue],
        },
    )
    headers.setdefault("x-first-death-queue", queue)
    headers.setdefault("x-first-death-reason", reason)
    headers.setdefault("x-first-death-exchange", exchange)
    properties = {**payload["properties"], "delivery_info": {"exchange": "", "routing_key": into}}
    try:
        return str(dumps({**payload, "headers": headers, "properties": properties}))
    except RecursionError:  # it could be read just so; deeper down the stack it cannot be written
        plain = {name: value for name, value in headers.items() if isinstance(value, str | int) or name == "x-death"}
        return str(dumps({**payload, "headers": plain, "properties": properties}))


def dead_letter_unreadable(raw: str, *, queue: str, now: datetime, into: str) -> str:
    """Wrap something that is no message into one, so that it can be looked at."""
    payload = {
        "body": base64.b64encode(raw.encode("utf-8", "surrogateescape")).decode("ascii"),
        "content-type": "application/octet-stream",
        "content-encoding": "binary",
        "headers": {},
        "properties": {
            "body_encoding": "base64",
            "delivery_info": {"exchange": "", "routing_key": queue},
            "priority": 0,
        },
    }
    return dead_letter(payload, queue=queue, reason=UNREADABLE, now=now, into=into)


def is_message(payload: object) -> bool:
    """Tell whether kombu can make a message of this."""
    if not isinstance(payload, dict) or not isinstance(payload.get("properties"), dict):
        return False
    parts = (payload.get("headers"), payload["properties"].get("delivery_info"))
    return all(part is None or isinstance(part, dict) for part in parts)


def _told(headers: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the deaths that headers tell of. A client may have written anything there: what is none is left out."""
    told = headers.get("x-death")
    entries = told if isinstance(told, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("count", 0), int)]


def _add_death(entries: list[dict[str, Any]], death: dict[str, Any]) -> list[dict[str, Any]]:
    """Put the death first; one in the same queue for the same reason only counts up and keeps its time."""
    key = (death["queue"], death["reason"])
    earlier = [entry for entry in entries if (entry.get("queue"), entry.get("reason")) == key]
    others = [entry for entry in entries if entry not in earlier]
    if earlier:
        death = {**earlier[0], "count": earlier[0].get("count", 0) + 1}
    return [death, *others]
