"""A handler that waits for the lock of a forgotten session when its time is up: it has not failed."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from baton_dev.testing.failover import new_connections
from baton_dev.testing.processes import url_of_test_database, wait_until
from baton_messaging.consuming import delivery
from baton_messaging.models import Attempt, DeadLetter
from django.db import connection

from tests.consuming.test_database_in_trouble import assert_that_nothing_failed, requeued, sealed, soft_limit
from tests.health.sessions import named
from tests.sample.models import Effect
from tests.sample.tasks import HELD, take_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]
ME = "baton worker sample@host 7"
__all__ = ["requeued"]


@pytest.fixture(autouse=True)
def _named_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with new_connections():
        options = {**connection.settings_dict["OPTIONS"], "application_name": ME}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
        connection.close()
        yield
        connection.close()


@contextmanager
def held_by(name: str) -> Iterator[None]:
    with named(name) as own, own.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [HELD])
        yield


def waiting_sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [ME])
        (count,) = cursor.fetchone()
    return int(count)


@contextmanager
def limit_once_it_waits() -> Iterator[None]:
    """Raise what Celery raises as soon as the handler waits: a busy machine may not be that far by any time."""

    def strike() -> None:
        with psycopg.connect(url_of_test_database(), autocommit=True) as own:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'"
            wait_until(lambda: own.execute(waiting, [ME]).fetchone(), what="a handler that waits")
        os.kill(os.getpid(), signal.SIGALRM)

    striking = threading.Thread(target=strike)
    with soft_limit(60):
        striking.start()
        yield
    striking.join()


def test_behind_a_forgotten_session_nothing_fails_and_no_session_is_left_waiting(requeued: list[int]) -> None:
    bundle = sealed("held")
    with held_by("psql"):
        for _ in range(2):
            with limit_once_it_waits():
                delivery.deliver(take_one, bundle)
            wait_until(lambda: waiting_sessions() == 1, what="the end of the sessions that waited")
    assert requeued == [1, 1]
    assert_that_nothing_failed()


@pytest.mark.parametrize("name", ["baton worker other@host 8", ME])
def test_behind_a_worker_it_dies_of_its_limit(requeued: list[int], name: str) -> None:
    bundle = sealed("held")
    with held_by(name), limit_once_it_waits():
        delivery.deliver(take_one, bundle)
    assert (requeued, DeadLetter.objects.get().reason) == ([], "time_limit")


def test_what_is_slow_without_a_lock_dies_of_its_limit(requeued: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_event: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr(take_one, "handler", sleep)
    bundle = sealed("ok")
    with held_by("psql"), soft_limit(0.5):
        delivery.deliver(take_one, bundle)
    assert (requeued, DeadLetter.objects.get().reason) == ([], "time_limit")


@pytest.mark.parametrize("limit", ["lock_timeout", "statement_timeout"])
@pytest.mark.parametrize(("name", "is_requeued"), [("psql", True), ("baton worker other@host 8", False)])
def test_a_statement_that_the_server_broke_off_behind_a_forgotten_session(
    requeued: list[int], monkeypatch: pytest.MonkeyPatch, limit: str, name: str, is_requeued: bool
) -> None:
    Effect.objects.create(sample_id=uuid4(), consumer="x")

    def write(_event: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL {limit} = '200ms'")
        Effect.objects.update(consumer="y")

    monkeypatch.setattr(take_one, "handler", write)
    bundle = sealed("ok")
    with named(name) as own, own.cursor() as cursor:
        cursor.execute("BEGIN; UPDATE sample_effect SET consumer = 'z'")
        delivery.deliver(take_one, bundle)
        cursor.execute("ROLLBACK")
    assert (requeued, Attempt.objects.count()) == (([1], 0) if is_requeued else ([], 1))
