"""In a worker's event loop an ack travels with the take that follows: one round trip instead of two."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from baton_messaging.broker.inspect.depth import Depth, depths
from kombu.asynchronous import Hub, set_event_loop
from structlog.testing import capture_logs

from tests.broker.peer import Peer

Connect = Callable[..., Peer]


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    set_event_loop(None)
    hub.close()


@pytest.fixture
def worker(peer: Peer, hub: Hub) -> Peer:
    return working(peer, hub)


def working(peer: Peer, hub: Hub, *, prefetch: int = 1) -> Peer:
    """Let a peer consume in an event loop, as a worker with so many children does."""
    peer.connection.register_with_event_loop(hub)
    peer.consume(prefetch=prefetch)
    return peer


def turn_until(hub: Hub, condition: Callable[[], object], *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        hub.run_once()


def received(worker: Peer, hub: Hub) -> Any:
    turn_until(hub, lambda: worker.delivered)
    return worker.delivered.pop()


def depth(peer: Peer) -> Depth:
    return depths(peer.connection, ["work"])["work"]


def script_count(server: redis.Redis) -> int:
    statistics: Any = server.info("commandstats")
    return int(statistics["cmdstat_eval"]["calls"])


def test_ack_and_take_are_one_round_trip(worker: Peer, hub: Hub, server: redis.Redis) -> None:
    worker.put("a", "b")
    first = received(worker, hub)
    count = script_count(server)

    first.ack()
    second = received(worker, hub)

    assert second.payload == "b"
    assert script_count(server) == count + 1
    assert server.hkeys("unacked") == [second.delivery_tag]


def test_ack_of_the_last_message_travels_with_the_look_for_another(worker: Peer, hub: Hub) -> None:
    worker.put("a")

    received(worker, hub).ack()

    turn_until(hub, lambda: depth(worker).total == 0)


def test_riding_ack_gives_no_more_places_than_there_are(worker: Peer, hub: Hub) -> None:
    worker.put("a", "b", "c")
    received(worker, hub).ack()
    received(worker, hub)

    for _ in range(5):
        hub.run_once()

    assert worker.delivered == []
    assert depth(worker) == Depth(waiting=1, taken=1)


def test_ack_that_finds_no_take_to_ride_with_is_sent_by_the_renewal(worker: Peer, hub: Hub) -> None:
    """The consumer was cancelled in the same turn of the loop: its worker stops."""
    worker.put("a")
    received(worker, hub).ack()
    worker.stop_consuming()

    worker.channel.qos.renew()

    assert depth(worker).total == 0


def test_ack_of_a_stopping_worker_waits_for_nothing(worker: Peer, hub: Hub) -> None:
    worker.put("a")
    message = received(worker, hub)
    worker.stop_consuming()

    message.ack()

    assert depth(worker).total == 0


def test_ack_of_a_worker_that_waits_for_more_goes_by_itself(peer: Peer, hub: Hub) -> None:
    """A child is idle, so no dequeue follows: the worker waits for a notification already."""
    worker = working(peer, hub, prefetch=2)
    worker.put("a")
    message = received(worker, hub)
    turn_until(hub, lambda: worker.channel._waiting and worker.channel._in_poll)

    message.ack()

    assert depth(worker).total == 0


def test_riding_ack_is_sent_when_the_channel_closes(worker: Peer, hub: Hub, connect: Connect) -> None:
    other = connect()
    worker.put("a")
    received(worker, hub).ack()

    worker.connection.close()

    assert depth(other).total == 0


def test_ack_from_another_thread_waits_for_no_turn_of_the_loop(worker: Peer, hub: Hub) -> None:
    """The pool `threads`; the loop may sleep for a second meanwhile."""
    worker.put("a")
    message = received(worker, hub)

    thread = threading.Thread(target=message.ack)
    thread.start()
    thread.join()

    assert depth(worker).total == 0


def test_ack_whose_take_was_cut_off_is_sent_by_the_renewal(
    worker: Peer, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.put("a")
    received(worker, hub).ack()
    connection = worker.channel.client.connection
    monkeypatch.setattr(connection, "send_command", lambda *_arguments: None)  # it never arrives
    worker.channel.connection.cycle.on_poll_start()
    assert worker.channel.is_dequeuing
    connection.disconnect()
    assert depth(worker) == Depth(waiting=0, taken=1)

    worker.channel.qos.renew()

    assert depth(worker).total == 0


def test_renewal_leaves_an_ack_alone_that_is_on_its_way(worker: Peer, hub: Hub) -> None:
    """Its delivery may have ended on the server, and has not yet here: nothing was lost, and nobody is told so."""
    worker.put("a", "b")
    received(worker, hub).ack()
    worker.channel.connection.cycle.on_poll_start()
    time.sleep(0.1)

    with capture_logs() as logs:
        worker.channel.qos.renew()
        second = received(worker, hub)

    assert second.payload == "b"
    assert logs == []


def test_late_ack_that_rides_ends_no_delivery_of_somebody_else(worker: Peer, hub: Hub, connect: Connect) -> None:
    other = connect()
    worker.put("a")
    late = received(worker, hub)
    other.next()  # the worker renews nothing: its loop does not turn

    with capture_logs() as logs:
        late.ack()
        worker.channel.connection.cycle.on_poll_start()
        turn_until(hub, lambda: logs)

    assert [entry["event"] for entry in logs] == ["late_ack_ignored"]
    assert depth(other) == Depth(waiting=0, taken=1)


def test_ack_rides_again_when_the_server_refused_the_take(connect: Connect, hub: Hub, server: Any) -> None:
    worker = working(connect(visibility_timeout=30.0), hub)  # longer than the pause after a refusal
    worker.put("a", "b")
    first = received(worker, hub)
    server.execute_command("ACL", "SETUSER", "default", "-eval")
    first.ack()
    turn_until(hub, lambda: worker.channel.qos.riding and not worker.channel.is_dequeuing)
    hub.run_once()
    server.execute_command("ACL", "SETUSER", "default", "+eval")

    assert received(worker, hub).payload == "b"
    assert depth(worker) == Depth(waiting=0, taken=1)


def test_full_server_can_be_worked_off_by_takes_that_carry_acks(worker: Peer, hub: Hub, server: redis.Redis) -> None:
    worker.put("a", "x" * 100_000, "b")
    first = received(worker, hub)
    server.config_set("maxmemory", str(server.info("memory")["used_memory"] - 50_000))

    first.ack()
    received(worker, hub).ack()

    assert received(worker, hub).payload == "b"
