"""``backlog_check`` on both brokers: it sees what waits, and leaves it there."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import kombu
import pytest
from baton_dev.testing.broker_queues import declare
from baton_messaging.audit.actors import Actor
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.maintenance.backlog import Backlog, look_at_database, look_at_queue
from baton_messaging.messages.envelope import seal, unseal
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.publish import publish
from celery import current_app
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from tests.flow_control.conftest import Run
from tests.flow_control.test_breaker import published, run
from tests.sample.events import Sampled
from tests.settings import DELIVERY_LIMIT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["valkey", "rabbitmq"])
def either(request: pytest.FixtureRequest) -> Iterator[kombu.Connection]:
    """Connect to each broker, the queue ``sample`` empty."""
    if request.param == "rabbitmq":
        connection = request.getfixturevalue("broker")
        declare(connection, current_app.amqp.queues["sample"])
        yield connection
        return
    request.getfixturevalue("empty_broker")
    with current_app.connection_for_write() as connection:
        yield connection


def send(connection: kombu.Connection, task: str, bundle: list[Any]) -> None:
    producer = current_app.amqp.Producer(connection, auto_declare=False)
    current_app.send_task(task, args=[bundle], queue="sample", producer=producer)


def looked_at(connection: kombu.Connection, *, limit: int = 100) -> Backlog:
    backlog = Backlog()
    look_at_queue(backlog, "sample", connection, limit=limit)
    return backlog


def found(backlog: Backlog) -> list[tuple[str, str, str, int]]:
    return [(one.where, one.problem, one.what, one.count) for one in backlog.findings]


def renamed(**fields: Any) -> OutboxMessage:
    with transaction.atomic():
        (message_id,) = publish(Sampled(sample_id=uuid4()))
    OutboxMessage.objects.filter(message_id=message_id).update(**fields)
    return OutboxMessage.objects.get(message_id=message_id)


def test_what_this_code_can_run_is_no_finding(either: kombu.Connection) -> None:
    for envelope in published("ok", "ok"):
        send(either, "sample.take_one", [seal(envelope, to="sample.take_one")])
    send(either, "baton.prune", [])
    backlog = looked_at(either)
    assert found(backlog) == []
    assert backlog.looked_at == {"queue sample": 3}


def test_what_it_cannot_run_is_named_and_counted(either: kombu.Connection) -> None:
    (known,) = published("ok")
    unknown, newer = renamed(name="sample.renamed"), renamed(version=9)
    send(either, "sample.take_two", [seal(known, to="sample.take_two")])
    to = "sample.take_one"
    sealed = [seal(envelope, to=to) for envelope in (known, unknown.envelope(), newer.envelope())]
    send(either, to, [*sealed, "forged:x"])
    producer = current_app.amqp.Producer(either, auto_declare=False)
    producer.publish("no task", exchange="", routing_key="sample")
    assert found(looked_at(either)) == [
        ("queue sample", "unknown consumer", "sample.take_two", 1),
        ("queue sample", "unknown event", "sample.renamed", 1),
        ("queue sample", "unknown version", "sample.sampled version 9", 1),
        ("queue sample", "unreadable", "BadSignature", 1),
        ("queue sample", "unreadable", "no task", 1),
    ]


def test_looking_takes_nothing_and_costs_no_delivery(either: kombu.Connection) -> None:
    envelopes = published("ok", "ok", "ok")
    for envelope in envelopes:
        send(either, "sample.take_one", [seal(envelope, to="sample.take_one")])
    for _ in range(DELIVERY_LIMIT + 2):
        assert looked_at(either).looked_at == {"queue sample": 3}
    assert depths(either, ["sample"])["sample"].waiting == 3
    bound = current_app.amqp.queues["sample"].bind(either.channel())
    bundles = []
    while message := bound.get(no_ack=True):
        assert not message.headers.get("x-delivery-count")
        assert message.headers["task"] == "sample.take_one"
        bundles.append(message.payload[0][0])
    assert [unseal(sealed).envelope for (sealed,) in bundles] == envelopes


def test_a_queue_longer_than_the_limit_is_said_to_be_cut_short(either: kombu.Connection) -> None:
    for envelope in published("ok", "ok", "ok"):
        send(either, "sample.take_one", [seal(envelope, to="sample.take_one")])
    backlog = looked_at(either, limit=2)
    assert (backlog.looked_at, backlog.cut_short) == ({"queue sample": 2}, ["sample"])
    assert depths(either, ["sample"])["sample"].waiting == 3


@pytest.mark.usefixtures("empty_broker")
def test_what_a_worker_of_redis_holds_is_seen() -> None:
    (envelope,) = published("ok")
    with current_app.connection_for_write() as redis:
        send(redis, "sample.take_two", [seal(envelope, to="sample.take_two")])
        channel: Any = redis.channel()
        assert channel.basic_get("sample")
        assert found(looked_at(redis)) == [("queue sample", "unknown consumer", "sample.take_two", 1)]


def test_outbox_retries_and_requested_dead_letters_are_looked_at() -> None:
    renamed(name="sample.renamed")
    (failed, dead, parked) = published("transient", "ok", "ok")
    run(failed)
    pause(Target(consumer="sample.take_one"), actor=Actor("ann", "command"), why="x")
    run(parked)
    Attempt.objects.filter(message_id=failed.message_id).update(consumer="sample.removed")
    DeadLetter.objects.create(
        message_id=dead.message_id,
        consumer="sample.take_one",
        envelope={**dead.as_dict(), "version": 2},
        reason=Reason.UNKNOWN_EVENT,
        state=State.REQUESTED,
        requested_at=timezone.now(),
    )
    backlog = Backlog()
    look_at_database(backlog)
    assert backlog.looked_at == {"outbox": 4, "future messages": 0, "retries": 2, "dead letters": 1}
    assert found(backlog) == [
        ("dead letters", "unknown version", "sample.sampled version 2", 1),
        ("outbox", "unknown event", "sample.renamed", 1),
        ("retries", "unknown consumer", "sample.removed", 1),
    ]


@pytest.mark.usefixtures("empty_broker")
def test_the_command_is_a_gate(capsys: pytest.CaptureFixture[str]) -> None:
    published("ok")
    call_command("backlog_check", "--format", "json")
    assert json.loads(capsys.readouterr().out)["runnable"] is True
    renamed(name="sample.renamed")
    with pytest.raises(SystemExit) as stopped:
        call_command("backlog_check", "--format", "json")
    assert stopped.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert told["runnable"] is False
    assert told["findings"] == [
        {"where": "outbox", "problem": "unknown event", "what": "sample.renamed", "count": 1},
    ]


def test_a_broker_that_does_not_answer_is_another_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with kombu.Connection("redis://127.0.0.1:1/0", transport_options={"socket_connect_timeout": 1}) as away:
        monkeypatch.setattr(current_app, "connection_for_read", lambda: away)
        with pytest.raises(CommandError) as refused:
            call_command("backlog_check")
    assert refused.value.returncode == 2


def test_the_command_looks_at_rabbitmq(broker: kombu.Connection, command: Run) -> None:
    declare(broker, current_app.amqp.queues["sample"])
    (envelope,) = published("ok")
    send(broker, "sample.take_two", [seal(envelope, to="sample.take_two")])
    done = command("backlog_check")
    assert done.exit_code == 1
    assert "CANNOT RUN  queue sample: 1 of unknown consumer sample.take_two" in done.output()
