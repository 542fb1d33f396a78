"""The health check of the broker, on both: put into a bad state for real, and back."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kombu
import pytest
from baton_dev.servers.embedded import Valkey
from baton_dev.servers.ports import LOOPBACK
from baton_dev.testing.deadline import within
from baton_dev.testing.processes import wait_until
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.health import broker as checked
from baton_messaging.health import broker_facts
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.run import run_checks
from baton_messaging.routing.queues import EXCHANGE
from celery import current_app
from pytest_django import Settings

from tests.contract.brokers import Broker
from tests.contract.celery_app import QUEUES

Point = Callable[..., None]


@pytest.fixture
def point(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Point:
    """Point this process at an address: as the one that it writes to, reads from, or both."""
    assert current_app.conf.broker_read_url  # it is read at the first look, and is another object then
    changes: Any = current_app.conf.changes
    monkeypatch.setitem(changes, "broker_transport_options", broker.app.conf.broker_transport_options)
    monkeypatch.setattr(broker_facts, "project_queues", lambda: list(broker.app.amqp.queues.values()))

    def to(*, read: str = broker.service.url, write: str = broker.service.url) -> None:
        monkeypatch.setitem(changes, "broker_read_url", read)
        monkeypatch.setitem(changes, "broker_write_url", write)

    to()
    return to


def check(*, deadline_seconds: float = 15.0) -> Health:
    (health,) = run_checks(["broker"], deadline_seconds=deadline_seconds)
    return health


@pytest.fixture
def on_valkey(broker: Broker) -> Broker:
    if not broker.is_valkey:
        pytest.skip("about Redis")
    return broker


@pytest.fixture
def on_rabbitmq(broker: Broker) -> RabbitMQ:
    if not isinstance(broker.service, RabbitMQ):
        pytest.skip("about RabbitMQ")
    return broker.service


@contextmanager
def configured(broker: Broker, **settings: str) -> Iterator[None]:
    """Set something on Valkey for a while, by a client that is connected already."""
    with broker.client() as client:
        before = {name: client.config_get(name)[name] for name in settings}
        for name, value in settings.items():
            client.config_set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                client.config_set(name, value)


@pytest.mark.usefixtures("point")
def test_message_goes_through_and_nothing_is_left(broker: Broker) -> None:
    health = check()

    assert (health.condition, health.said) == (Condition.OK, "")
    assert health.server.startswith(f"{LOOPBACK}:{broker.service.port}/")
    if broker.is_valkey:
        assert len(health.facts["server"]["id"]) == 40
        with broker.client() as client:
            assert [key for key in client.keys("baton.health*") if client.type(key) == b"list"] == []
            assert client.zcard("unacked_index") == 0
    else:
        assert health.facts["server"]["id"]
        assert health.facts["server"]["product"] == "RabbitMQ"
        assert health.facts["queues"][QUEUES[0]] == {"messages": 0, "consumers": 0}
        assert isinstance(broker.service, RabbitMQ)
        assert "baton.health" not in broker.service.call("rabbit_amqqueue list_names")


@pytest.mark.usefixtures("point")
def test_what_a_killed_check_leaves_is_gone_after_a_minute(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_args: object) -> bool:
        raise SystemError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(checked, "_is_taken", killed)
        assert check().condition is Condition.NOT_KNOWN
    if broker.is_valkey:
        with broker.client() as client:
            keys = client.keys("*baton.health.*")
            assert keys
            assert all(0 < client.pttl(key) <= 60_000 for key in keys)
        assert check().condition is Condition.OK  # and the next takes what is there
    else:
        assert isinstance(broker.service, RabbitMQ)
        names = broker.service
        wait_until(lambda: "baton.health" not in names.call("rabbit_amqqueue list_names"), what="the end of its queue")


def test_full_broker_is_full(broker: Broker, point: Point) -> None:
    if broker.is_valkey:
        with configured(broker, maxmemory="1"):
            health = check()
        assert health.said.startswith("OOM command not allowed")
        assert health.facts["maxmemory"] == 1
    else:
        assert isinstance(broker.service, RabbitMQ)
        with broker.service.full():
            health = check()
        assert health.facts["is_blocked"] is True
        assert health.said.startswith("The broker is short of memory or disk")
    assert health.condition is Condition.FULL


def test_two_brokers_are_found_out(broker: Broker, point: Point, state_dir: Path) -> None:
    if broker.is_valkey:
        with Valkey(state_dir / "other") as other:
            point(write=other.url)
            health = check()
    else:
        assert isinstance(broker.service, RabbitMQ)
        broker.service.evaluate('rabbit_vhost:add(<<"other">>, <<"test">>)')
        broker.service.evaluate(permissions("guest", "other"))
        try:
            with kombu.Connection(broker.service.url.rpartition("//")[0] + "/other") as connection:
                EXCHANGE.bind(connection.channel()).declare()
            point(write=broker.service.url.rpartition("//")[0] + "/other")
            health = check()
        finally:
            broker.service.evaluate('rabbit_vhost:delete(<<"other">>, <<"test">>)')

    assert health.condition is Condition.DIFFERENT
    assert "does not arrive at" in health.said
    assert health.facts["written_to"]["server"] != health.server


def test_silent_broker_is_not_waited_for(broker: Broker, point: Point) -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        parts = urlsplit(broker.service.url)
        silent = broker.service.url.replace(str(parts.port), str(server.getsockname()[1]))
        point(read=silent, write=silent)
        health = within(lambda: check(deadline_seconds=1), seconds=3)
    assert health.condition is Condition.AWAY or "machine was busy" in health.said


def test_replica_takes_no_writes(on_valkey: Broker, point: Point) -> None:
    with on_valkey.client() as client:
        client.execute_command("REPLICAOF", LOOPBACK, "9")
        try:
            health = check()
        finally:
            client.execute_command("REPLICAOF", "NO", "ONE")

    assert health.condition is Condition.READ_ONLY
    assert health.said.startswith("READONLY You can't write against a read only replica")
    assert (health.facts["role"], health.facts["master_port"]) == ("slave", 9)


def test_too_few_replicas_are_a_refusal(on_valkey: Broker, point: Point) -> None:
    with configured(on_valkey, **{"min-replicas-to-write": "1"}):
        health = check()

    assert (health.condition, health.said) == (Condition.REFUSES, "NOREPLICAS Not enough good replicas to write.")


def test_server_that_answers_questions_and_takes_no_writes_is_not_away(on_valkey: Broker, point: Point) -> None:
    with on_valkey.client() as client:
        client.execute_command("CLIENT", "PAUSE", "60000", "WRITE")
        try:
            health = check(deadline_seconds=2)
        finally:
            client.execute_command("CLIENT", "UNPAUSE")

    assert health.condition is Condition.REFUSES
    assert health.said.startswith("it answers questions, and does not take a message: Timeout reading from")
    assert health.facts["server"]["product"] == "Valkey"


def test_too_many_clients_are_told(on_valkey: Broker, point: Point) -> None:
    with configured(on_valkey, maxclients="1"):
        health = check()

    assert (health.condition, health.said) == (Condition.FULL, "ERR max number of clients reached")


@pytest.mark.parametrize(
    ("rules", "condition", "said"),
    [
        (["~*", "+@all", "-lpush"], Condition.NOT_PERMITTED, "NOPERM"),
        (["~mails*", "+@all"], Condition.NOT_PERMITTED, "NOPERM No permissions to access a key"),
        (["off"], Condition.NOT_PERMITTED, "WRONGPASS"),
    ],
)
def test_rights_on_valkey_are_told(
    on_valkey: Broker, point: Point, rules: list[str], condition: Condition, said: str
) -> None:
    with on_valkey.client() as client:
        client.execute_command("ACL", "SETUSER", "poor", "on", ">hunter2", *rules)
        try:
            poor = f"redis://poor:hunter2@{LOOPBACK}:{on_valkey.service.port}/0"
            point(read=poor, write=poor)
            health = check()
        finally:
            client.execute_command("ACL", "DELUSER", "poor")

    assert health.condition is condition
    assert said in health.said
    assert "hunter2" not in str(health.as_dict())


def permissions(user: str, vhost: str, *, configure: str = ".*", write: str = ".*", read: str = ".*") -> str:
    """Return the expression that gives a user rights, each a pattern of names."""
    words = ", ".join(f'<<"{word}">>' for word in (user, vhost, configure, write, read, "test"))
    return f"rabbit_auth_backend_internal:set_permissions({words})"


@pytest.mark.parametrize(
    ("rights", "condition", "said"),
    [
        ({"write": "^$"}, Condition.NOT_PERMITTED, "ACCESS_REFUSED - access to exchange 'tasks' in vhost '/' refused"),
        ({"read": "^$"}, Condition.NOT_PERMITTED, "ACCESS_REFUSED - access to exchange 'tasks' in vhost '/' refused"),
        ({"configure": "^contract|^dead"}, Condition.NOT_KNOWN, "allow the names that begin with baton.health."),
        ({}, Condition.OK, ""),
    ],
)
def test_rights_on_rabbitmq_are_told(
    on_rabbitmq: RabbitMQ, point: Point, rights: dict[str, str], condition: Condition, said: str
) -> None:
    on_rabbitmq.evaluate('rabbit_auth_backend_internal:add_user(<<"poor">>, <<"hunter2">>, <<"test">>)')
    try:
        on_rabbitmq.evaluate(permissions("poor", "/", **rights))
        poor = f"amqp://poor:hunter2@{LOOPBACK}:{on_rabbitmq.port}//"
        point(read=poor, write=poor)
        health = check()
    finally:
        on_rabbitmq.evaluate('rabbit_auth_backend_internal:delete_user(<<"poor">>, <<"test">>)')

    assert health.condition is condition, health
    assert said in health.said
    assert "hunter2" not in str(health.as_dict())


@pytest.mark.parametrize(
    ("url", "condition", "said"),
    [
        ("amqp://guest:wrong@{host}//", Condition.NOT_PERMITTED, "ACCESS_REFUSED - Login was refused"),
        ("amqp://guest:guest@{host}/gone", Condition.DIFFERENT, "vhost gone not found"),
    ],
)
def test_login_at_rabbitmq_is_told(
    on_rabbitmq: RabbitMQ, point: Point, url: str, condition: Condition, said: str
) -> None:
    address = url.format(host=f"{LOOPBACK}:{on_rabbitmq.port}")
    point(read=address, write=address)

    health = check()

    assert health.condition is condition, health
    assert said in health.said


@pytest.fixture
def management_url(on_rabbitmq: RabbitMQ, settings: Settings) -> str:
    """Start the management plug-in of the node, which stays."""
    url = f"http://guest:guest@{LOOPBACK}:{on_rabbitmq.enable_management()}"
    settings.BATON = {**settings.BATON, "RABBITMQ_MANAGEMENT_URL": url}
    return url


@pytest.mark.usefixtures("point", "management_url")
def test_policy_that_changes_a_queue_is_told(on_rabbitmq: RabbitMQ) -> None:
    name, pattern = '<<"short">>', f'<<"^{QUEUES[0]}$">>'
    definition = '<<"{\\"message-ttl\\": 60000, \\"max-length\\": 5}">>'
    policy = f'<<"/">>, {name}, {pattern}, {definition}, <<"0">>, <<"queues">>, <<"test">>'
    assert check().facts["policies"] == {}
    on_rabbitmq.evaluate(f"rabbit_policy:parse_set({policy})")
    try:
        health = wait_until(
            lambda: found if (found := check()).condition is not Condition.OK else None, what="a policy"
        )
    finally:
        on_rabbitmq.evaluate(f'rabbit_policy:delete(<<"/">>, {name}, <<"test">>)')

    assert health.condition is Condition.DIFFERENT
    assert health.said == f"policy short sets max-length 5, message-ttl 60000 on queue {QUEUES[0]}"
    assert health.facts["policies"] == {QUEUES[0]: {"policy": "short", "message-ttl": 60000, "max-length": 5}}


def test_policies_are_not_known_without_the_management_plug_in(
    on_rabbitmq: RabbitMQ, point: Point, settings: Settings
) -> None:
    settings.BATON = {**settings.BATON, "RABBITMQ_MANAGEMENT_URL": f"http://guest:pa55word@{LOOPBACK}:1"}

    health = check()

    assert (health.condition, health.facts["policies"]) == (Condition.OK, "not known: Connection refused")
    assert "pa55word" not in str(health.as_dict())


def test_queue_that_is_there_otherwise_is_told_and_a_missing_one_is_not_made(
    on_rabbitmq: RabbitMQ, point: Point, broker: Broker
) -> None:
    first, second = (queue for queue in broker.app.amqp.queues.values() if queue.name in QUEUES)
    broker.delete(first)
    broker.delete(second)
    try:
        with broker.app.connection_for_write() as connection:
            channel: Any = connection.default_channel
            kombu.Queue(first.name, EXCHANGE, routing_key=first.name).bind(channel).declare()
            health = check()
            channel.queue_delete(first.name)
    finally:
        broker.declare_anew(first)
        broker.declare_anew(second)

    assert health.condition is Condition.DIFFERENT
    assert f"for queue '{first.name}'" in health.said
    assert second.name in health.facts["missing"]
