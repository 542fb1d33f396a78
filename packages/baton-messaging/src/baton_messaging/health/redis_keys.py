"""Keys of the project's queues on Redis: which ones the user may not touch, which hold something else, which end.

A right goes by the names of keys, a queue is a list, and no key of ours ends by itself. Each queue is asked by a script
that changes nothing, all in one round trip; Redis checks the rights by the keys that a script names. *Source*. Redis
manual, "ACL" and "EVAL".
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.health.condition import Condition
from baton_messaging.health.refusals import classify

#: Of each key its type, and for how many milliseconds it stays (-1: for ever, -2: it is not there).
_LOOK: Final = """
local found = {}
for i, key in ipairs(KEYS) do found[i] = {redis.call('TYPE', key)['ok'], redis.call('PTTL', key)} end
return found
"""
#: Among the names of queues: all of them.
SHARED: Final = ""

Expected = dict[str, str]  # key and type


def key_facts(channel: Any, queues: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return ``not_permitted`` and ``different``, by queue (or SHARED): what the server says, or what lies there."""
    keys = {SHARED: dict(_shared(channel)), **{queue: dict(_keys_of(channel, queue)) for queue in queues}}
    facts: dict[str, dict[str, str]] = {"not_permitted": {}, "different": {}}
    with suppress(*BROKER_ERRORS):  # the answer is known already
        for (queue, expected), found in zip(keys.items(), _looked_at(channel, keys.values()), strict=True):
            if isinstance(found, Exception):
                refusal = classify(found)
                # A right that the work does not need (TYPE, PTTL) is none that is missing.
                if refusal.condition is Condition.NOT_PERMITTED and "key" in refusal.said:
                    facts["not_permitted"][queue] = f"{refusal.said}: queue {queue}" if queue else refusal.said
            elif differences := list(_differences(channel, expected, found)):
                facts["different"][queue] = "; ".join(differences)
    return facts


def _shared(channel: Any) -> Iterator[tuple[str, str]]:
    yield channel.unacked_key, "hash"
    yield channel.unacked_index_key, "zset"
    if channel.exchange:
        yield channel.keyprefix_queue % channel.exchange, "set"


def _keys_of(channel: Any, queue: str) -> Iterator[tuple[str, str]]:
    for priority in channel.priority_steps:
        yield channel._q_for_pri(queue, priority), "list"
    yield channel.notification_key(queue), "zset"


def _looked_at(channel: Any, keys: Iterable[Expected]) -> list[Any]:
    with channel.conn_or_acquire() as client, client.pipeline(transaction=False) as pipe:
        for expected in keys:
            pipe.execute_command("EVAL", _LOOK, len(expected), *map(channel.key, expected))
        found: list[Any] = pipe.execute(raise_on_error=False)
    return found


def _differences(channel: Any, expected: Expected, found: list[Any]) -> Iterator[str]:
    for (name, kind), (told, milliseconds) in zip(expected.items(), found, strict=True):
        key, there = channel.key(name), told.decode()
        if there not in ("none", kind):
            yield f"WRONGTYPE: key {key} holds a {there} of another application, where a {kind} belongs"
        elif int(milliseconds) > 0 and kind != "zset":  # notifications may end
            yield f"key {key} has a time to live: in {int(milliseconds) / 1000:.0f} s it ends, with all that is in it"
