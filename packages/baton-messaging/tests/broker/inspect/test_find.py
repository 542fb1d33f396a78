"""Messages are found in a long queue, with the number of those before them."""

import json
import time
from base64 import b64encode
from collections.abc import Callable
from uuid import uuid4

import pytest
import redis
from baton_messaging.broker.inspect.find import Find, locate
from baton_messaging.messages.message_ids import ids_in_body

from tests.broker.peer import Peer

QUEUE = "long"


def raw(message_id: str) -> str:
    body = b64encode(json.dumps([[json.dumps({"message_id": message_id})], {}, {}]).encode()).decode()
    return json.dumps({"body": body, "headers": {"task": "long.take"}, "properties": {"delivery_tag": "t"}})


def look(peer: Peer, *wanted: str) -> tuple[list[Find], bool]:
    search = locate(peer.connection, [QUEUE], wanted, by=time.monotonic() + 20, ids_in=ids_in_body)
    return search.finds, search.is_complete


@pytest.mark.parametrize("stranger", ["{}", "no JSON", ""])
@pytest.mark.parametrize("before", [0, 1_200])
def test_the_position_is_known_whoever_else_is_in_the_queue(
    server: redis.Redis, peer: Peer, before: int, stranger: str
) -> None:
    wanted, behind = str(uuid4()), 700
    server.lpush(QUEUE, *[stranger] * before, raw(wanted), *[stranger] * behind)
    assert look(peer, wanted) == ([Find(wanted, "long.take", QUEUE, before, 0)], True)


def test_what_is_not_there_is_not_found(server: redis.Redis, peer: Peer) -> None:
    server.lpush(QUEUE, *[raw(str(uuid4())) for _ in range(3)])
    assert look(peer, str(uuid4())) == ([], True)
    assert look(peer, str(uuid4())) == ([], True)


def test_who_looks_for_nothing_reads_nothing(server: redis.Redis, peer: Peer) -> None:
    server.lpush(QUEUE, raw(str(uuid4())))
    server.config_resetstat()
    assert look(peer) == ([], True)
    assert "cmdstat_lrange" not in server.info("commandstats")


def test_a_prefix_of_all_keys_is_minded(server: redis.Redis, connect: Callable[..., Peer]) -> None:
    waiting, taken = str(uuid4()), str(uuid4())
    server.lpush(f"mine.{QUEUE}", raw(waiting), "{}")
    peer = connect(global_keyprefix="mine.")
    peer.put({"message_id": taken})
    message = peer.next()
    assert look(peer, waiting) == ([Find(waiting, "long.take", QUEUE, 0, 0)], True)
    (found,) = locate(peer.connection, ["work"], [taken], by=time.monotonic() + 20, ids_in=ids_in_body).finds
    assert (found.message_id, found.ahead_count) == (taken, None)
    message.ack()
