from collections.abc import Callable
from typing import Any

import kombu
import pytest
import redis
from baton_messaging.broker.inspect.depth import Depth, depths

from tests.broker.peer import Peer

Connect = Callable[..., Peer]
NEVER_SECONDS = 120  # until an idle consumer looks by itself: longer than a test waits


def oldest_renewal(server: redis.Redis) -> float:
    tags: Any = server.zrange("unacked_index", 0, 0, withscores=True)
    return float(tags[0][1])


def depth(peer: Peer) -> Depth:
    return depths(peer.connection, ["work"])["work"]


def test_message_whose_answer_is_never_read_is_not_lost(connect: Connect) -> None:
    """The machine is gone between the server's answer and its arrival; with BRPOP that was the end of the message."""
    gone, other = connect(), connect()
    other.put("x")
    gone.ask()
    assert depth(other) == Depth(waiting=0, taken=1)
    gone.disappear()

    assert other.next().payload == "x"


def test_delivery_on_its_way_while_the_channel_closes_goes_back(connect: Connect) -> None:
    closing, other = connect(), connect()
    other.put("x")
    closing.ask()

    closing.connection.close()

    assert depth(other) == Depth(waiting=1, taken=0)


def test_lease_of_a_delivery_that_is_on_its_way_is_renewed(connect: Connect, server: redis.Redis) -> None:
    """Without it, a worker that has no slot free to read the answer would lose its lease."""
    busy, other = connect(), connect()
    other.put("x")
    busy.ask()
    renewed_at = oldest_renewal(server)

    busy.channel.qos.renew()

    assert oldest_renewal(server) > renewed_at


def test_lease_of_a_delivery_whose_answer_was_cut_off_is_not_renewed(connect: Connect) -> None:
    """Else a message that nobody will read stays unacked for as long as the worker has no free slot."""
    cut, other = connect(), connect()
    other.put("x")
    cut.ask()

    cut.channel.client.connection.disconnect()

    assert cut.channel.tags_on_their_way() == []


def test_delivery_that_comes_after_its_consumer_was_cancelled_goes_back_to_the_head(connect: Connect) -> None:
    stopping, other = connect(), connect()
    other.put("first", "second")
    stopping.ask()
    stopping.channel.connection._callbacks.clear()

    stopping.channel._brpop_read()

    assert other.next().payload == "first"


def test_each_delivery_has_a_tag_of_its_own(peer: Peer) -> None:
    peer.put("x")
    first = peer.next()
    first.requeue()
    second = peer.next()

    assert first.delivery_tag != second.delivery_tag
    assert first.delivery_tag.startswith("work:")


def test_late_ack_does_not_end_the_delivery_of_somebody_else(connect: Connect) -> None:
    slow, other = connect(), connect()
    slow.put("x")
    late = slow.next()
    taken_over = other.next()  # slow does not renew: it does nothing

    late.ack()
    assert depth(other) == Depth(waiting=0, taken=1)
    late_reject = slow.channel.qos
    late_reject.reject(late.delivery_tag, requeue=True)
    late_reject.reject(late.delivery_tag, requeue=False)

    assert depth(other) == Depth(waiting=0, taken=1)
    taken_over.ack()
    assert depth(other).total == 0
    assert other.dead() == []


def test_idle_consumer_is_woken_by_the_bell(connect: Connect) -> None:
    idle, other = connect(polling_interval=NEVER_SECONDS), connect()
    idle.consume()
    idle.wait_for(lambda: idle.channel._waiting and idle.channel._in_poll, what="a consumer that waits to be notified")
    other.put("x")

    assert idle.next().payload == "x"


def test_ring_is_passed_on_to_the_next_idle_consumer(connect: Connect) -> None:
    first, second, other = connect(polling_interval=NEVER_SECONDS), connect(polling_interval=NEVER_SECONDS), connect()
    for idle in (first, second):
        idle.consume()
        idle.wait_for(lambda idle=idle: idle.channel._waiting and idle.channel._in_poll, what="one that waits")  # type: ignore[misc]
    producer: Any = kombu.Producer(other.connection, auto_declare=False)
    with producer.batch():  # one notification for both
        for body in ("a", "b"):
            producer.publish(body, exchange="", routing_key="work")

    assert sorted([first.next().payload, second.next().payload]) == ["a", "b"]


def test_a_message_consumed_without_acknowledgement_is_never_unacked(peer: Peer) -> None:
    peer.put("x")
    peer.consume(no_ack=True)
    peer.next()

    assert depth(peer).total == 0


def test_get_books_what_it_takes(peer: Peer) -> None:
    peer.put("x")
    message = peer.channel.basic_get("work")

    assert depth(peer) == Depth(waiting=0, taken=1)
    message.ack()
    assert depth(peer).total == 0
    assert peer.channel.basic_get("work") is None


@pytest.mark.parametrize(
    "raw",
    [
        "hello",
        "[1]",
        "{}",
        '{"properties": 1}',
        '{"properties": {}, "headers": ["x"]}',
        '{"properties": {"delivery_info": "x"}}',
        '{"__type__": "uuid", "__value__": {}}',
    ],
)
def test_what_is_no_message_goes_to_the_dead_letters(peer: Peer, server: redis.Redis, raw: str) -> None:
    server.lpush("work", raw)
    peer.put("behind")

    assert peer.next().payload == "behind"
    (letter,) = peer.dead()
    assert letter.headers["x-first-death-reason"] == "unreadable"
    assert letter.body == raw.encode()


def test_priorities_are_served_in_their_order(peer: Peer) -> None:
    """Redis serves 0 first. The project does not use priorities; the transport keeps kombu's meaning of them."""
    for priority in (9, 0, 5):
        peer.put(priority, priority=priority)

    served = []
    for _ in range(3):
        message = peer.next()
        served.append(message.payload)
        message.ack()
    assert served == [0, 5, 9]


def test_server_that_is_no_longer_the_master_is_a_lost_connection(peer: Peer, server: Any) -> None:
    """Celery then looks for the master; any other error would end the worker."""
    peer.consume()
    peer.wait(0.2)
    server.execute_command("REPLICAOF", "127.0.0.1", "1")
    try:
        with pytest.raises(redis.exceptions.ConnectionError):
            peer.wait(3)
    finally:
        server.execute_command("REPLICAOF", "NO", "ONE")


def test_server_that_refuses_for_a_while_does_not_end_the_consumer(peer: Peer, server: Any) -> None:
    """Scripts not allowed, disk full: it waits, and says so."""
    peer.consume()
    peer.wait(0.2)
    server.execute_command("ACL", "SETUSER", "default", "-eval")
    peer.wait(1.5)
    server.execute_command("ACL", "SETUSER", "default", "+eval")
    peer.put("x")

    assert peer.next().payload == "x"


def test_prefetch_is_kept(peer: Peer) -> None:
    peer.put(*range(5))
    peer.consume(prefetch=2)
    peer.wait_for(lambda: len(peer.delivered) >= 2, what="two messages")
    peer.wait(0.3)

    assert [message.payload for message in peer.delivered] == [0, 1]
