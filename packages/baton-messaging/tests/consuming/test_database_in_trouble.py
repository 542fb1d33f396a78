"""One delivery while the database or the broker is in trouble: nothing is known to have failed, so nothing dies."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from baton_dev.testing.failover import READ_ONLY, new_connections, standby
from baton_messaging.consuming import delivery
from baton_messaging.database import errors
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.flow_control import breaker
from baton_messaging.messages.envelope import seal
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from baton_messaging.signals import dead_lettered
from celery import current_app
from celery.exceptions import Reject, SoftTimeLimitExceeded
from django.db import connection, transaction

from tests.sample.events import Listed, Sampled
from tests.sample.models import Effect
from tests.sample.tasks import take_list, take_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


@pytest.fixture
def requeued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of the bundles that were put back to the tail of their queue."""
    sizes: list[int] = []
    monkeypatch.setattr(delivery, "requeue_bundle", lambda bundle: sizes.append(len(bundle)))
    return sizes


@pytest.fixture
def bundle_split(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sizes: list[int] = []
    monkeypatch.setattr(delivery, "split_bundle", lambda bundle: sizes.append(len(bundle)))
    return sizes


def sealed(*behaviours: str, event: type[Sampled | Listed] = Sampled) -> list[str]:
    with transaction.atomic():
        publish(*(event(sample_id=uuid4(), behaviour=behaviour) for behaviour in behaviours))
    to = take_one.name if event is Sampled else take_list.name
    return [seal(message.envelope(), to=to) for message in OutboxMessage.objects.order_by("pk")]


@contextmanager
def soft_limit(seconds: float) -> Iterator[None]:
    """Raise what Celery raises, wherever the process is then."""

    def strike(*_args: Any) -> None:
        raise SoftTimeLimitExceeded

    before = signal.signal(signal.SIGALRM, strike)
    rest, _interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, rest)  # of the test's own timeout
        signal.signal(signal.SIGALRM, before)


def assert_that_nothing_failed() -> None:
    assert not DeadLetter.objects.exists()
    assert not Attempt.objects.exists()


@pytest.mark.parametrize("count", [1, 3])
def test_on_a_server_that_takes_no_writes_nothing_fails(requeued: list[int], count: int) -> None:
    bundle = sealed(*["ok"] * count)
    with new_connections(READ_ONLY):
        delivery.deliver(take_one, bundle)
    assert requeued == [count]
    assert_that_nothing_failed()


def test_a_soft_limit_that_comes_while_the_database_is_waited_for_kills_nothing(
    requeued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = sealed("ok")
    monkeypatch.setattr(errors, "_answers", strike_in_place_of_an_answer)
    with new_connections(READ_ONLY):
        delivery.deliver(take_one, bundle)
    assert requeued == [1]
    assert_that_nothing_failed()


def strike_in_place_of_an_answer(*_args: Any) -> bool:
    raise SoftTimeLimitExceeded


@pytest.mark.parametrize("count", [1, 3])
def test_a_soft_limit_that_a_silent_database_brings_about_kills_nothing(
    requeued: list[int], bundle_split: list[int], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    bundle = sealed(*["ok"] * count)

    def lose_the_database(_event: Any) -> None:
        connection.settings_dict["PORT"] = 1  # where nobody listens
        connection.connection.close()
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(take_one, "handler", lose_the_database)
    with new_connections():
        delivery.deliver(take_one, bundle)
    assert requeued + bundle_split == [count]
    assert_that_nothing_failed()


def test_a_handler_that_makes_the_database_look_away_when_its_time_is_up_dies_of_the_limit(
    requeued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = sealed("ok")

    def go_on_after_the_limit(_event: Any) -> None:
        with connection.cursor() as cursor:
            try:
                cursor.execute("SELECT pg_sleep(60)")
            except SoftTimeLimitExceeded:
                with dedicated_connection() as own, own.cursor() as other:
                    other.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])
                cursor.execute("SELECT 1")

    monkeypatch.setattr(take_one, "handler", go_on_after_the_limit)
    with soft_limit(0.3):
        delivery.deliver(take_one, bundle)
    assert DeadLetter.objects.get().reason == Reason.TIME_LIMIT
    assert requeued == []


def test_a_soft_limit_that_comes_while_a_list_is_run_one_by_one_kills_no_innocent(
    bundle_split: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = sealed("ok", "ok", "ok", event=Listed)

    def fail_together_and_stop_at_the_second(events: list[Any], runs: list[int] = []) -> None:  # noqa: B006 - counts
        runs.append(len(events))
        if len(events) > 1:
            raise ValueError("one of them")
        if len(runs) == 3:
            raise SoftTimeLimitExceeded

    monkeypatch.setattr(take_list, "handler", fail_together_and_stop_at_the_second)
    delivery.deliver(take_list, bundle)
    assert bundle_split == [3]
    assert not DeadLetter.objects.exists()


def test_a_failure_that_a_migration_keeps_from_being_recorded_kills_nothing(requeued: list[int]) -> None:
    bundle = sealed("transient")
    with dedicated_connection() as migration:
        migration.set_autocommit(False)
        with migration.cursor() as cursor:
            cursor.execute("LOCK TABLE baton_attempt IN ACCESS EXCLUSIVE MODE")
        with new_connections("statement_timeout=300"):
            delivery.deliver(take_one, bundle)
    assert requeued == [1]
    assert_that_nothing_failed()


def test_behind_a_pooler_a_failover_that_it_does_not_tell_of_kills_nothing(
    requeued: list[int], pooled_url: str
) -> None:
    bundle = sealed("ok")
    with new_connections():
        connection.settings_dict["PORT"] = urlsplit(pooled_url).port
        connection.ensure_connection()
        connection.close()
        with standby():
            delivery.deliver(take_one, bundle)
    assert requeued == [1]
    assert_that_nothing_failed()


@pytest.mark.usefixtures("requeued")
def test_a_receiver_whose_query_always_takes_too_long_costs_no_dead_letter() -> None:
    bundle = sealed("permanent")

    def look_too_long(**_kwargs: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    dead_lettered.connect(look_too_long)
    try:
        with new_connections("statement_timeout=300"):
            delivery.deliver(take_one, bundle)
    finally:
        dead_lettered.disconnect(look_too_long)
    assert DeadLetter.objects.get().reason == Reason.PERMANENT_ERROR


@pytest.mark.parametrize("count", [1, 3])
def test_an_inbox_that_a_migration_locks_costs_no_attempt(requeued: list[int], count: int) -> None:
    bundle = sealed(*["ok"] * count)
    with dedicated_connection() as migration:
        migration.set_autocommit(False)
        with migration.cursor() as cursor:
            cursor.execute("LOCK TABLE baton_inbox IN ACCESS EXCLUSIVE MODE")
        with new_connections("statement_timeout=200"):
            delivery.deliver(take_one, bundle)
    assert requeued == [count]
    assert_that_nothing_failed()


def test_the_time_that_was_waited_for_the_database_is_not_held_against_a_message(
    requeued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = sealed("ok")
    runs: list[object] = []

    def lose_the_connection_and_then_run_out_of_time(event: object) -> None:
        runs.append(event)
        if len(runs) > 1:
            raise SoftTimeLimitExceeded
        connection.connection.close()
        Effect.objects.exists()

    monkeypatch.setattr(take_one, "handler", lose_the_connection_and_then_run_out_of_time)
    delivery.deliver(take_one, bundle)
    assert (len(runs), requeued) == (2, [1])
    assert_that_nothing_failed()


def test_one_that_loses_its_transaction_by_idling_harms_no_other_of_its_bundle(
    requeued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = sealed("ok", "slow", "ok")

    def idle(event: Sampled) -> None:
        if event.behaviour == "slow":
            time.sleep(0.6)
        Effect.objects.create(sample_id=event.sample_id, consumer="take_one")

    monkeypatch.setattr(take_one, "handler", idle)
    with new_connections("idle_in_transaction_session_timeout=200"):
        delivery.deliver(take_one, bundle)
    assert DeadLetter.objects.count() == 1
    assert Effect.objects.count() == 2
    assert requeued == []


def test_a_circuit_that_cannot_be_looked_at_does_not_undo_the_recorded_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle = sealed("transient")

    def lose_the_connection(*_args: Any) -> None:
        connection.connection.close()
        Effect.objects.exists()

    monkeypatch.setattr(breaker, "_open_if_due", lose_the_connection)
    delivery.deliver(take_one, bundle)
    connection.close()
    assert Attempt.objects.get().attempt == 1


@pytest.fixture
def delivered_before() -> Iterator[None]:
    task: Any = take_one
    task.push_request(headers={"x-delivery-count": 1})
    yield
    task.pop_request()


@pytest.fixture
def full_broker() -> Iterator[None]:
    """Let the broker take nothing more until the end of the test."""
    with current_app.connection_for_write() as broker:
        client = broker.default_channel.client
        client.config_set("maxmemory", "1")
        try:
            yield
        finally:
            client.config_set("maxmemory", "0")


@pytest.mark.usefixtures("full_broker", "delivered_before")
def test_a_bundle_of_a_killed_worker_waits_in_the_database_while_the_broker_is_full() -> None:
    bundle = sealed("ok", "ok", "ok")
    delivery.deliver(take_one, [*bundle, "no envelope"])
    assert Attempt.objects.filter(consumer="sample.take_one", sent_at=None, attempt=0).count() == 3
    assert [letter.reason for letter in DeadLetter.objects.all()] == [Reason.BAD_SIGNATURE]
    assert not Effect.objects.exists()


@pytest.mark.usefixtures("delivered_before")
def test_a_bundle_whose_time_is_up_while_it_is_split_goes_back_and_keeps_its_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def split(*_args: object) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(delivery, "split_bundle", split)  # a machine that stands still
    with pytest.raises(Reject) as given_back:
        delivery.deliver(take_one, sealed("ok", "ok"))
    assert vars(given_back.value)["requeue"] is True
    assert not Attempt.objects.exists()
    assert not DeadLetter.objects.exists()
