import pytest
import redis
from baton_messaging.broker.errors import UnroutableMessage

from tests.broker.peer import Peer


def test_message_reaches_its_queue_after_the_server_came_back_empty(peer: Peer, server: redis.Redis) -> None:
    peer.put("before", exchange="tasks")
    server.flushall()

    peer.put("after", exchange="tasks")

    assert peer.next().payload == "after"


def test_queue_that_this_connection_never_declared_is_known(peer: Peer, server: redis.Redis) -> None:
    peer.put("x", exchange="tasks", routing_key="other")

    assert server.llen("other") == 1


@pytest.mark.parametrize("exchange", ["tasks", "dead_letters", "no-such-exchange"])
def test_routing_key_without_a_queue_is_an_error(peer: Peer, exchange: str) -> None:
    with pytest.raises(UnroutableMessage, match="ordres"):
        peer.put("x", exchange=exchange, routing_key="ordres")


def test_answer_to_remote_control_that_nobody_waits_for_is_no_error(peer: Peer) -> None:
    peer.channel.exchange_declare("reply.celery.pidbox", type="direct", durable=False)

    peer.put("x", exchange="reply.celery.pidbox", routing_key="gone")
