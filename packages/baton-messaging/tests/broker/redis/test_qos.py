import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from baton_messaging.broker.dead_letter_headers import DELIVERY_LIMIT, REJECTED, death_of
from baton_messaging.broker.inspect.depth import Depth, depths
from kombu.transport.redis import Transport as KombuTransport

from tests.broker.peer import Peer

Connect = Callable[..., Peer]


def total(peer: Peer) -> int:
    return depths(peer.connection, ["work"])["work"].total


def test_rejected_message_is_moved_once_however_often_the_step_is_sent(peer: Peer) -> None:
    """The connection broke after the server had done it: the step is sent again."""
    peer.put("x")
    tag = peer.next().delivery_tag
    for _ in range(3):
        peer.channel.qos.reject(tag)

    (letter,) = peer.dead()
    death = death_of(letter.headers)
    assert death is not None
    assert (death.reason, death.count) == (REJECTED, 1)
    assert total(peer) == 0


def test_a_message_that_dies_twice_counts_its_deaths(peer: Peer) -> None:
    peer.put("x")
    peer.next().reject()
    (letter,) = peer.dead()
    peer.put("x", headers=letter.headers)
    peer.next().reject()
    (letter,) = peer.dead()

    death = death_of(letter.headers)
    assert death is not None
    assert death.count == 2
    assert len(letter.headers["x-death"]) == 1


def test_limit_of_two_allows_three_deliveries(peer: Peer) -> None:
    peer.put("x")
    counts = []
    for _ in range(3):
        message = peer.next()
        counts.append(message.headers.get("x-delivery-count", 0))
        message.requeue()

    (letter,) = peer.dead()
    assert counts == [0, 1, 2]
    assert letter.headers["x-first-death-reason"] == DELIVERY_LIMIT
    assert "x-delivery-count" not in letter.headers


@pytest.mark.parametrize("headers", [{"x-delivery-count": "many"}, {"x-death": ["x", 1]}, {"x-death": "x"}])
def test_foreign_headers_do_no_harm(peer: Peer, headers: dict[str, Any]) -> None:
    peer.put("x", headers=headers)
    peer.next().requeue()
    peer.next().reject()

    (letter,) = peer.dead()
    assert letter.headers["x-death"][0]["reason"] == REJECTED


def test_dead_letter_queue_has_no_delivery_limit(connect: Connect) -> None:
    """A collector that crashes again and again must not lose what it is there to keep."""
    peer = connect(delivery_limit=0)
    peer.put("x", routing_key="dead_letters")
    for _ in range(5):
        message = peer.channel.basic_get("dead_letters")
        peer.channel.basic_reject(message.delivery_tag, requeue=True)

    assert len(peer.dead()) == 1


def test_requeued_message_goes_behind_the_others(peer: Peer) -> None:
    """A handler that cannot go on for now must not come straight back: the others are served first (F73)."""
    peer.put("stuck", "a", "b")
    peer.next().requeue()

    served = []
    for _ in range(3):
        message = peer.next()
        served.append(message.payload)
        message.ack()
    assert served == ["a", "b", "stuck"]


def test_messages_of_a_dead_worker_come_back_in_their_order(connect: Connect) -> None:
    dead, other = connect(), connect()
    dead.put(*range(4))
    dead.consume(prefetch=3)
    dead.wait_for(lambda: len(dead.delivered) == 3, what="three messages")
    dead.disappear()

    served = []
    for _ in range(4):
        message = other.next()
        served.append(message.payload)
        message.ack()
        time.sleep(1.1 if not served[1:] else 0)  # number 3 had not been taken and may come first
    assert sorted(served) == [0, 1, 2, 3]
    assert [number for number in served if number != 3] == [0, 1, 2]


def test_messages_come_back_in_their_order_when_a_channel_closes(connect: Connect) -> None:
    closing, other = connect(), connect()
    closing.put(*range(4))
    closing.consume(prefetch=3)
    closing.wait_for(lambda: len(closing.delivered) == 3, what="three messages")
    closing.connection.close()

    served = []
    for _ in range(4):
        message = other.next()
        served.append(message.payload)
        message.ack()
    assert served == [0, 1, 2, 3]


def test_priority_is_kept_when_a_message_comes_back(peer: Peer, server: redis.Redis) -> None:
    peer.put("x", priority=9)
    peer.next().requeue()

    assert server.llen("work\x06\x169") == 1


def test_lease_that_is_renewed_is_kept(connect: Connect, server: redis.Redis) -> None:
    holder, other = connect(visibility_timeout=60.0, lease_renewal_seconds=0.2), connect(visibility_timeout=20.0)
    holder.put("x")
    message = holder.next()
    server.zadd("unacked_index", {message.delivery_tag: time.time() - 30})  # overdue, in the eyes of the other
    holder.wait_for(lambda: renewed_at(server, message.delivery_tag) > time.time() - 20, what="a renewal")

    other.channel.qos.restore_visible()

    assert depths(other.connection, ["work"])["work"] == Depth(waiting=0, taken=1)
    message.ack()
    assert total(other) == 0


def test_a_worker_that_stood_still_does_not_give_back_what_it_holds(connect: Connect, server: redis.Redis) -> None:
    holder = connect(visibility_timeout=20.0, lease_renewal_seconds=6.0)
    holder.put("x")
    message = holder.next()
    server.zadd("unacked_index", {message.delivery_tag: time.time() - 30})
    holder.connection.transport.cycle.maybe_restore_messages()
    assert depths(holder.connection, ["work"])["work"] == Depth(waiting=0, taken=1)
    message.ack()


def test_renewal_and_restoring_cannot_cross(connect: Connect) -> None:
    """Found overdue by one worker, renewed by its owner, then moved: the move must see the renewal."""
    owner, other = connect(), connect()
    owner.put("x")
    tag = owner.next().delivery_tag
    time.sleep(1.1)
    qos = other.channel.qos
    delivery = qos._unacked_delivery(tag)
    owner.channel.qos.renew()

    qos._return(delivery, "head", lease_seconds=1.0)

    assert depths(other.connection, ["work"])["work"].waiting == 0


def test_delivery_that_two_workers_find_overdue_comes_back_once(connect: Connect) -> None:
    dead, one, two = connect(), connect(), connect()
    dead.put("x")
    tag = dead.next().delivery_tag
    dead.disappear()
    time.sleep(1.1)
    found = [peer.channel.qos._unacked_delivery(tag) for peer in (one, two)]

    for peer, delivery in zip((one, two), found, strict=True):
        peer.channel.qos._return(delivery, "head", lease_seconds=1.0)

    assert total(one) == 1


def test_ack_that_could_not_be_sent_is_sent_later(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    peer.put("x", "y")
    message = peer.next()
    qos = peer.channel.qos
    with monkeypatch.context() as patch:
        patch.setattr(peer.channel, "conn_or_acquire", unreachable)
        message.ack()
    assert not qos.can_consume()  # the slot is not given away: nobody knows how it ended
    assert total(peer) == 2

    qos.renew()

    assert total(peer) == 1
    assert peer.next().payload == "y"


def test_renewal_without_a_connection_is_no_error(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    peer.put("x")
    peer.next()
    with monkeypatch.context() as patch:
        patch.setattr(peer.channel, "conn_or_acquire", unreachable)
        peer.connection.transport.cycle.renew_leases()


def test_ack_after_the_connection_was_closed_still_counts(connect: Connect) -> None:
    """A task that outlives its connection. kombu: AttributeError, and the end of the worker."""
    closing, other = connect(), connect()
    closing.put("x")
    message = closing.next()
    closing.channel.qos._delivered.clear()  # the broker was away as the channel closed: nothing was given back
    closing.connection.close()

    message.ack()

    assert total(other) == 0


def test_one_stuck_delivery_does_not_keep_the_others(connect: Connect, server: redis.Redis) -> None:
    dead, other = connect(), connect()
    dead.put("good")
    dead.put("stuck", routing_key="other")
    assert dead.channel.basic_get("work")
    assert dead.channel.basic_get("other")
    dead.disappear()
    server.set("other", "no list")

    assert other.next().payload == "good"


def test_deliveries_can_be_given_back_by_kombus_own_transport(connect: Connect, server: redis.Redis) -> None:
    dead = connect()
    dead.put("x")
    dead.next()
    dead.disappear()
    time.sleep(1.1)
    stock = dead.connection.clone(transport=KombuTransport)

    with stock:
        stock.default_channel.qos.restore_visible(interval=1)

    assert server.llen("work") == 1


def test_full_server_can_be_worked_off(connect: Connect, server: redis.Redis) -> None:
    """It refuses what needs memory; taking, renewing, rejecting and returning must go on, or it stays full for ever."""
    peer = connect()
    peer.put("a", "b", "c", "x" * 100_000)
    server.config_set("maxmemory", str(server.info("memory")["used_memory"] - 50_000))
    with pytest.raises(redis.exceptions.ResponseError, match="maxmemory"):
        peer.put("one too many")

    first = peer.next()
    peer.channel.qos.renew()
    first.ack()
    peer.next().reject()
    peer.next().requeue()
    served = [peer.next().payload[:1]]
    peer.delivered.clear()

    assert served == ["x"]
    assert server.llen("dead_letters") == 1
    assert server.zcard("unacked_index") == 1


def renewed_at(server: redis.Redis, tag: str) -> float:
    score: Any = server.zscore("unacked_index", tag)
    return float(score)


def unreachable(*_args: Any, **_kwargs: Any) -> Any:
    raise redis.exceptions.ConnectionError("no route")
