"""The whole way with real processes: outbox, relay, broker, worker, inbox."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from operator import gt
from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_dev.testing.failover import standby
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.consuming.delivery import deliver
from baton_messaging.events import Event
from baton_messaging.messages.envelope import seal
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from baton_messaging.routing.send import send_bundle
from celery import current_app
from django.db import connection, transaction

from tests.dead_letters.causes import envelope_of
from tests.sample.events import Listed, Sampled
from tests.sample.models import Effect
from tests.sample.tasks import HELD, take_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "worker")]


def place(*events: Event) -> list[UUID]:
    with transaction.atomic():
        return publish(*events)


def effects(sample_id: UUID) -> list[str]:
    return sorted(Effect.objects.filter(sample_id=sample_id).values_list("consumer", flat=True))


def wait_for_effects(sample_id: UUID, *consumers: str, seconds: float = 30) -> None:
    wait_until(lambda: effects(sample_id) == sorted(consumers), seconds=seconds, what=f"effects of {consumers}")


def wait_for_death(sample_id: UUID, seconds: float = 60) -> DeadLetter:
    wait_until(lambda: DeadLetter.objects.filter(key=sample_id).exists(), seconds=seconds, what="a dead letter")
    return DeadLetter.objects.get(key=sample_id)


@contextmanager
def in_a_request(**request: str) -> Iterator[Any]:
    task: Any = take_one
    task.push_request(**request)
    yield task
    task.pop_request()


def test_a_message_and_its_follow_up_take_effect_once() -> None:
    sample_id = uuid4()
    place(Sampled(sample_id=sample_id))
    wait_for_effects(sample_id, "take_one", "follow")
    assert ProcessedMessage.objects.count() == 2
    wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="an empty outbox")


@pytest.mark.parametrize("event_class", [Sampled, Listed])
def test_a_message_delivered_twenty_times_takes_effect_once(event_class: type[Sampled | Listed]) -> None:
    sample_id = uuid4()
    place(event_class(sample_id=sample_id))
    wait_until(ProcessedMessage.objects.exists, what="the first delivery")
    for _ in range(20):
        OutboxMessage.objects.filter(key=sample_id).update(published_at=None, sent_to=[])
        place(event_class(sample_id=uuid4()))
    wait_until(lambda: Effect.objects.exclude(consumer="follow").count() == 21, what="all effects")
    assert Effect.objects.filter(sample_id=sample_id).exclude(consumer="follow").count() == 1


def test_one_bad_message_harms_no_other_of_its_bundle() -> None:
    good = [uuid4() for _ in range(30)]
    bad = uuid4()
    events: list[Event] = [Sampled(sample_id=sample_id) for sample_id in good]
    place(*events[:15], Sampled(sample_id=bad, behaviour="permanent"), *events[15:])
    letter = wait_for_death(bad)
    assert (letter.reason, letter.attempt_count, letter.consumer) == (Reason.PERMANENT_ERROR, 1, "sample.take_one")
    for sample_id in good:
        wait_for_effects(sample_id, "take_one", "follow")
    assert effects(bad) == []


def test_one_bad_message_in_a_list_harms_no_other() -> None:
    good = [uuid4() for _ in range(10)]
    bad = uuid4()
    place(*(Listed(sample_id=sample_id) for sample_id in good), Listed(sample_id=bad, behaviour="permanent"))
    assert wait_for_death(bad).reason == Reason.PERMANENT_ERROR
    for sample_id in good:
        wait_for_effects(sample_id, "take_list")
    assert effects(bad) == []


def test_a_transient_error_is_retried_from_the_database_until_it_succeeds() -> None:
    sample_id = uuid4()
    place(Sampled(sample_id=sample_id, behaviour="transient_once"))
    wait_for_effects(sample_id, "take_one", "follow")
    attempt = Attempt.objects.get()
    assert attempt.attempt == 1
    assert attempt.sent_at is not None
    assert "TransientError" in attempt.traceback


def test_retries_that_are_spent_end_in_one_dead_letter() -> None:
    sample_id = uuid4()
    place(Sampled(sample_id=sample_id, behaviour="transient"))
    letter = wait_for_death(sample_id)
    assert (letter.reason, letter.attempt_count) == (Reason.RETRIES_SPENT, 3)
    assert list(Attempt.objects.order_by("attempt").values_list("attempt", flat=True)) == [1, 2]
    assert effects(sample_id) == []
    assert letter.error_message == "the outside is away"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("unpicklable", Reason.PERMANENT_ERROR),
        ("exit", Reason.PERMANENT_ERROR),
        ("nul", Reason.PERMANENT_ERROR),
        ("broken_query", Reason.PERMANENT_ERROR),
        ("memory", Reason.RETRIES_SPENT),
    ],
)
def test_whatever_a_handler_raises_ends_in_one_dead_letter(behaviour: str, reason: Reason, worker: Process) -> None:
    sample_id = uuid4()
    place(Sampled(sample_id=sample_id, behaviour=behaviour))
    assert wait_for_death(sample_id).reason == reason
    assert worker.exit_code is None


def test_a_message_past_its_soft_limit_dies_and_names_the_limit() -> None:
    sample_id = uuid4()
    place(Sampled(sample_id=sample_id, behaviour="hang"))
    letter = wait_for_death(sample_id)
    assert letter.reason == Reason.TIME_LIMIT
    assert effects(sample_id) == []


def test_a_bundle_past_its_soft_limit_is_split_and_each_message_gets_the_whole_limit() -> None:
    ids = [uuid4() for _ in range(12)]  # 7.2 s together, of 6; and 5 s to spare for each alone
    place(*(Sampled(sample_id=sample_id, seconds=0.6) for sample_id in ids))
    for sample_id in ids:
        wait_for_effects(sample_id, "take_one", "follow", seconds=60)
    assert not DeadLetter.objects.exists()


def test_a_lost_database_connection_costs_no_attempt() -> None:
    # The backend is ended while a message is in flight; the handler itself did nothing wrong.
    ids = [uuid4() for _ in range(6)]
    with holding_handlers():
        place(*(Sampled(sample_id=sample_id, behaviour="held") for sample_id in ids))
        wait_until(_end_held_backends, what="a backend to end")
    for sample_id in ids:
        wait_for_effects(sample_id, "take_one", "follow")
    assert not Attempt.objects.exists()


@contextmanager
def holding_handlers() -> Iterator[None]:
    """Let handlers that behave as ``held`` wait in their transactions until the block is left."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [HELD])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [HELD])


def _held_backends() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted", [HELD])
        return [pid for (pid,) in cursor.fetchall()]


def _end_held_backends() -> int:
    pids = _held_backends()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [pids])
    return len(pids)


def trouble_counts(*processes: Process) -> list[int]:
    return [process.output().count("database_in_trouble") for process in processes]


def test_a_failover_to_a_server_that_takes_no_writes_yet_costs_no_message(worker: Process, relay: Process) -> None:
    envelopes = [envelope_of(Sampled(sample_id=uuid4())) for _ in range(5)]
    before = trouble_counts(worker, relay)
    with standby():
        for envelope in envelopes:
            send_bundle("sample.take_one", [seal(envelope, to="sample.take_one")], message_ids=[envelope.message_id])
        wait_until(lambda: all(map(gt, trouble_counts(worker, relay), before)), what="worker and relay that wait")
    wait_until(lambda: Effect.objects.filter(consumer="take_one").count() == 5, seconds=60, what="all effects")
    assert relay.exit_code is None
    assert not Attempt.objects.exists()
    assert not DeadLetter.objects.exists()


@pytest.mark.parametrize("garbage", ["no signature at all", '{"message_id": 1}:c2lnbmF0dXJl', "", "\x00"])
def test_what_is_no_envelope_is_dead_lettered_and_its_bundle_gets_through(garbage: str) -> None:
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id))
        message = OutboxMessage.objects.get()
        message.delete()  # sent by hand below, beside something forged
    send_bundle(
        "sample.take_one", [garbage, seal(message.envelope(), to="sample.take_one")], message_ids=[message.message_id]
    )
    wait_until(lambda: "take_one" in effects(sample_id), what="the good one")
    letter = DeadLetter.objects.get()
    assert letter.reason == Reason.BAD_SIGNATURE


def test_what_is_no_envelope_is_dead_lettered_once_however_often_its_bundle_is_delivered() -> None:
    """As after a worker that was killed between the recording and the ack; or because somebody sends it again."""
    for task_id in ("first", "first", "another"):
        with in_a_request(id=task_id) as task:
            deliver(task, ["no signature at all"])
    assert DeadLetter.objects.filter(reason=Reason.BAD_SIGNATURE).count() == 1


def test_a_field_of_a_newer_release_is_processed_and_survives_a_retry() -> None:
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id, behaviour="transient_once"))
        row = OutboxMessage.objects.get()
        OutboxMessage.objects.update(payload={**row.payload, "newer": [1]})
    wait_for_effects(sample_id, "take_one", "follow")
    assert Attempt.objects.get().envelope["payload"]["newer"] == [1]
    assert not DeadLetter.objects.exists()


def test_a_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(worker: Process) -> None:
    ids = [uuid4() for _ in range(3)]
    with holding_handlers():
        place(*(Sampled(sample_id=sample_id, behaviour="held") for sample_id in ids))
        wait_until(_held_backends, what="a message in flight")
        for child in _children(worker.pid):  # one of them has it
            os.kill(child, signal.SIGKILL)
    for sample_id in ids:
        wait_for_effects(sample_id, "take_one", "follow", seconds=60)


def _children(pid: int) -> list[int]:
    import subprocess

    return [
        int(line)
        for line in subprocess.run(["pgrep", "-P", str(pid)], check=True, capture_output=True, text=True).stdout.split()
    ]


def test_the_settings_name_no_eager_mode() -> None:
    assert not current_app.conf.task_always_eager
