"""``migrate_queue`` on a real RabbitMQ: what is in a queue survives its new arguments."""

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import kombu
import pytest
from amqp.exceptions import ConsumerCancelled, PreconditionFailed
from baton_dev.testing.broker_queues import declare, delete
from baton_dev.testing.processes import Process, collector_command, relay_command, running, wait_until, worker_command
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.audit.actors import Actor
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.dead_letters.intake import collector
from baton_messaging.flow_control.pauses import Target, resume
from baton_messaging.maintenance import queue_migration
from baton_messaging.maintenance.queue_migration import VIA, MigrationRefused, migrate
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, OutboxMessage, Pause
from baton_messaging.routing.queues import DEAD_LETTER_EXCHANGE, EXCHANGE
from celery import current_app
from django.db import connection as database
from django.utils import timezone

from tests.flow_control.conftest import Run
from tests.flow_control.test_breaker import published
from tests.sample.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
ANN = Actor(name="ann", via=VIA)


@pytest.fixture(params=["classic", "quorum"])
def old_queue(request: pytest.FixtureRequest, broker: kombu.Connection) -> str:
    """Declare the queue ``sample`` as an old release did: without dead-lettering."""
    arguments = {"x-queue-type": request.param}
    declare(broker, kombu.Queue("sample", EXCHANGE, routing_key="sample", queue_arguments=arguments))
    return "sample"


def new_queue() -> kombu.Queue:
    return current_app.amqp.queues["sample"]


def fill(broker: kombu.Connection, count: int) -> None:
    producer = broker.Producer()
    for number in range(count):
        producer.publish(
            {"number": number}, routing_key="sample", headers={"task": "x", "id": str(number)}, delivery_mode=2
        )


def content(broker: kombu.Connection, queue: str = "sample") -> list[int]:
    bound = kombu.Queue(queue).bind(broker.channel())
    found = []
    while message := bound.get(no_ack=True):
        assert message.headers["id"] == str(message.payload["number"])
        found.append(message.payload["number"])
    return found


def test_everything_in_the_queue_is_there_afterwards_in_order(
    broker: kombu.Connection, old_queue: str, command: Run
) -> None:
    fill(broker, 250)
    assert [found.queue for found in misdeclared(broker, [new_queue()])] == ["sample"]

    done = command("migrate_queue", "sample")

    assert done.exit_code == 0, done.output()
    assert "Moved 250 messages to the new sample." in done.output()
    assert misdeclared(broker, [new_queue()]) == []
    assert content(broker) == list(range(250))
    assert not Pause.objects.in_force().exists()
    assert set(AuditEntry.objects.values_list("via", flat=True)) == {"migrate_queue"}
    again = command("migrate_queue", "sample")
    assert "nothing to migrate" in again.output()


@pytest.mark.parametrize("step", ["move", "_delete", "_send_again", "resume"])
@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_killed_at_any_step_it_is_run_again_and_nothing_is_lost(
    broker: kombu.Connection, old_queue: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fill(broker, 120)
    real = getattr(queue_migration, step)

    def killed(*args: Any, **kwargs: Any) -> Any:
        if step == "move":  # in the middle of it, and between the two of them
            for number, _message in enumerate(real(*args, **kwargs)):
                if number == 100:
                    raise KeyboardInterrupt
        else:
            real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(queue_migration, step, killed)
    with broker.clone() as doomed, pytest.raises(KeyboardInterrupt):
        migrate(new_queue(), doomed, actor=ANN, tell=print)
    monkeypatch.undo()
    migrate(new_queue(), broker, actor=ANN, tell=print)
    assert set(content(broker)) == set(range(120))
    assert misdeclared(broker, [new_queue()]) == []
    assert not Pause.objects.in_force().exists()


@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_what_left_just_before_the_pause_is_sent_again(broker: kombu.Connection, old_queue: str) -> None:
    (envelope,) = published("ok")
    OutboxMessage.objects.update(published_at=timezone.now())
    migrate(new_queue(), broker, actor=ANN, tell=print)
    assert Attempt.objects.get(sent_at=None).message_id == envelope.message_id


@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_a_person_may_resume_a_consumer_meanwhile(
    broker: kombu.Connection, old_queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (envelope,) = published("ok")
    OutboxMessage.objects.update(published_at=timezone.now())
    recreate = queue_migration._recreate

    def resume_meanwhile(*args: Any) -> None:
        recreate(*args)
        resume(Target(consumer="sample.take_one"), actor=Actor(name="bob", via="command"))

    monkeypatch.setattr(queue_migration, "_recreate", resume_meanwhile)
    migrate(new_queue(), broker, actor=ANN, tell=print)
    assert Attempt.objects.get(sent_at=None).message_id == envelope.message_id
    assert not Pause.objects.in_force().exists()
    assert not AuditEntry.objects.filter(outcome="refused").exists()


@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_a_worker_of_the_old_release_is_in_the_way(broker: kombu.Connection, old_queue: str) -> None:
    with (
        broker.clone() as other,
        kombu.Consumer(other.channel(), [kombu.Queue("sample", no_declare=True)], on_message=print),
    ):
        with pytest.raises(MigrationRefused, match="got 1 that consume it"):
            migrate(new_queue(), broker, actor=ANN, tell=print)
        assert not Pause.objects.exists()


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a migration that finds another one at work be refused soon."""
    monkeypatch.setattr(queue_migration, "LOCK_WAIT_SECONDS", 0.1)


@pytest.mark.usefixtures("short_wait")
@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_two_at_a_time_are_refused(broker: kombu.Connection, old_queue: str) -> None:
    outcomes: list[BaseException] = []

    def second() -> None:
        try:
            migrate(new_queue(), broker, actor=ANN, tell=print)
        except MigrationRefused as error:
            outcomes.append(error)
        finally:
            database.close()

    with queue_migration._alone("sample"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "alone" in str(outcomes[0])


def test_a_lock_that_outlives_its_killed_command_for_a_moment_is_waited_for() -> None:
    def is_waited_for() -> bool:
        with database.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
            return bool(cursor.fetchone() == (True,))

    outcomes: list[str] = []

    def next_command() -> None:
        with queue_migration._alone("sample"):
            outcomes.append("alone")

    thread = threading.Thread(target=next_command)
    with queue_migration._alone("sample"):
        thread.start()
        wait_until(is_waited_for, seconds=queue_migration.LOCK_WAIT_SECONDS)
    thread.join()
    assert outcomes == ["alone"]


@pytest.mark.usefixtures("pooled", "short_wait")
def test_behind_pgbouncer_two_at_a_time_are_refused_and_later_ones_are_not() -> None:
    with queue_migration._alone("sample"):
        with pytest.raises(MigrationRefused), queue_migration._alone("sample"):
            pass
        with queue_migration._alone("parcels"):
            pass
    with queue_migration._alone("sample"):
        pass


def test_on_redis_it_says_that_there_is_nothing_to_do() -> None:
    said: list[str] = []
    with current_app.connection_for_write() as redis:
        assert not migrate(new_queue(), redis, actor=ANN, tell=said.append)
    assert said == ["Queues of Redis have no arguments: there is nothing to migrate."]


@pytest.fixture
def processes(rabbitmq: RabbitMQ, tmp_path: Path) -> Iterator[tuple[Process, Process]]:
    env = {"CELERY_BROKER_URL": rabbitmq.url}
    with (
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=env) as relay,
        running(worker_command("sample", "parcels"), log=tmp_path / "worker.log", ready=" ready.", env=env) as worker,
    ):
        yield relay, worker


@pytest.mark.parametrize("old_queue", ["quorum"], indirect=True)
def test_worker_and_relay_name_the_queue_and_the_command_and_go_on_by_themselves(
    broker: kombu.Connection, old_queue: str, processes: tuple[Process, Process], command: Run
) -> None:
    (envelope,) = published("ok")
    for process in processes:
        process.wait_for_output("queue_declared_otherwise")
        assert "python manage.py migrate_queue sample" in process.output()
        assert "Traceback" not in process.output()
        assert process.exit_code is None
    wait_until(lambda: "migrate_queue sample" in OutboxMessage.objects.get().last_error, what="the relay's refusal")
    with pytest.raises(PreconditionFailed):
        new_queue().bind(broker.channel()).declare()

    done = command("migrate_queue", "sample")

    assert done.exit_code == 0, done.output()
    OutboxMessage.objects.update(available_at=timezone.now())  # half a minute later
    wait_until(lambda: Effect.objects.filter(sample_id=envelope.key).exists(), seconds=40, what="the effect")
    for process in processes:
        process.send(signal.SIGTERM)


def test_collector_takes_from_a_dead_letter_queue_that_is_declared_anew(
    broker: kombu.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RabbitMQ 3 tells no consumer of it when the two come close together."""
    monkeypatch.setattr(collector, "RENEWAL_SECONDS", 1)
    it, queue = collector.Collector(), current_app.amqp.queues["dead_letters"]

    def collect() -> None:
        while not it._stopping.is_set():
            with suppress(ConsumerCancelled), broker.clone() as own:  # when RabbitMQ was slow, and told it after all
                it._collect_from(own)
        database.close()

    def is_consumed() -> bool:
        return depths(broker, ["dead_letters"])["dead_letters"].consumer_count == 1

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        wait_until(is_consumed, what="a collector that consumes")
        delete("dead_letters", broker)
        declare(broker, queue)
        broker.Producer().publish("{broken", routing_key="dead_letters", headers={"task": "sample.die", "id": "1"})
        wait_until(DeadLetter.objects.exists, what="the dead letter")
    finally:
        it.stop()
        thread.join()


def test_dead_letters_of_an_old_release_are_collected_once_their_queue_is_migrated(
    rabbitmq: RabbitMQ, broker: kombu.Connection, command: Run, tmp_path: Path
) -> None:
    old = kombu.Queue("dead_letters", DEAD_LETTER_EXCHANGE, queue_arguments={"x-queue-type": "quorum"})
    declare(broker, old)
    for number in range(3):
        broker.Producer().publish(
            "{broken", routing_key="dead_letters", headers={"task": "sample.die", "id": str(number)}
        )
    log = tmp_path / "collector.log"
    environment = {"CELERY_BROKER_URL": rabbitmq.url}
    with running(collector_command(), log=log, ready="queue_declared_otherwise", env=environment) as it:
        done = command("migrate_queue", "dead_letters")
        assert done.exit_code == 0, done.output()
        wait_until(lambda: DeadLetter.objects.count() == 3, what=f"three dead letters, but {it.output()}")
        said = it.output()
    (line,) = [line for line in said.splitlines() if "queue_declared_otherwise" in line]
    assert "python manage.py migrate_queue dead_letters" in line
    assert "broker_away" not in said
