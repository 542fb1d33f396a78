"""Messages are found in the broker by their id, without touching them: where each is, how many are before it.

Only Redis lets itself be read. What RabbitMQ holds is known by its counts (depth.py): a look there would be a delivery.

Invariant: what is ``complete`` and was not found is not there, up to what moved from a worker back to its queue
between two reads; a caller that concludes something from an absence looks again, which ``locate`` does.
"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import kombu
from kombu.utils.json import loads

from baton_messaging.broker.dead_letter_headers import is_message

IdsIn = Callable[[bytes], Iterable[bytes]]

_BODY: Final = re.compile(rb'"body": ?"([^"]*)"')


@dataclass(frozen=True)
class Find:
    """One copy of a message. ``ahead_count`` None: a worker has taken it."""

    message_id: str
    consumer: str
    queue: str
    ahead_count: int | None
    delivery_count: int


@dataclass
class Search:
    """What was found. Not ``is_complete``: the time was over, or the broker does not let itself be read."""

    finds: list[Find] = field(default_factory=list)
    is_complete: bool = True


def locate(
    connection: kombu.Connection, queues: Collection[str], message_ids: Collection[str], *, by: float, ids_in: IdsIn
) -> Search:
    """Look for the messages in the queues, until ``by`` (of the monotonic clock). Raises the connection's errors.

    ``ids_in`` reads the ids out of a body: what a message of ours looks like is not the broker's business.
    """
    if connection.transport.driver_type != "redis":
        return Search(is_complete=False)
    wanted = frozenset(message_id.encode() for message_id in message_ids)
    if not wanted:
        return Search()
    channel: Any = connection.default_channel
    search = _look(channel, queues, wanted, by, ids_in)
    if search.is_complete and wanted - {find.message_id.encode() for find in search.finds}:
        again = _look(channel, queues, wanted, by, ids_in)
        search = Search([*search.finds, *again.finds], again.is_complete)
    return search


def _look(channel: Any, queues: Collection[str], wanted: frozenset[bytes], by: float, ids_in: IdsIn) -> Search:
    search = Search()
    for queue, ahead_count, raw in channel.copies(queues):
        if monotonic() > by:
            search.is_complete = False
            break
        if ids := wanted.intersection(ids_in(_body(raw))):
            search.finds += _finds(queue, ahead_count, raw, ids)
    return search


def _finds(queue: str, ahead_count: int | None, raw: bytes, ids: Collection[bytes]) -> Iterator[Find]:
    try:
        payload = loads(raw.decode())
    except Exception:  # whatever a foreign text makes of kombu's decoder
        return
    headers = payload.get("headers") or {} if is_message(payload) else {}
    for message_id in ids:
        consumer, count = str(headers.get("task", "")), headers.get("x-delivery-count")
        yield Find(message_id.decode(), consumer, queue, ahead_count, count if isinstance(count, int) else 0)


def _body(raw: bytes) -> bytes:
    match = _BODY.search(raw)
    try:
        return b64decode(match.group(1)) if match else b""
    except Base64Error:
        return b""
