"""Each thing broken on purpose, and the line that says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

import pytest
from baton_dev.testing.failover import READ_ONLY, new_connections
from baton_messaging.conf import Team
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.doctor import messages
from baton_messaging.diagnosis.doctor.database import clock_diagnosis
from baton_messaging.diagnosis.doctor.examination import Examination, all_examinations
from baton_messaging.diagnosis.doctor.servers import Servers
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import RELAY
from baton_messaging.models.heartbeat import Trouble
from baton_messaging.observability.statistics.outbox import outbox_standing
from celery import current_app
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter
from tests.diagnosis.doctor.conftest import beat
from tests.relaying.outbox_and_queue import place

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("living")]

PLATFORM = Team("Platform team", "platform@example.com")
WAREHOUSE = Team("Warehouse team", "warehouse@example.com")
EXAMINATIONS = {
    "eviction policy of the broker": "servers",
    "memory of the broker": "servers",
    "persistence of the broker": "servers",
    "database": "servers",
    "workers of parcels": "consumers of the queues",
    "relay": "processes",
    "collector": "processes",
    "beat": "processes",
    "parcels without their message": "rows and their messages",
    "lag of the outbox": "outbox",
    "messages that the broker refused": "outbox",
    "size of processed messages": "retention",
    "lease of a running task": "lease and time limits",
    "consumer timeout of the broker": "lease and time limits",
}


def ask(what: str) -> Diagnosis:
    """Return the line about one thing, as it reads; only its own examination is asked."""
    servers = Examination("servers", Servers(15).examine)
    every = [servers, *all_examinations()]
    (examination,) = [one for one in every if one.name == EXAMINATIONS.get(what, what)]
    line = next(line for line in examination.examine() if str(line.what) == what)
    return replace(line, found=str(line.found), wanted=str(line.wanted), remedy=str(line.remedy))


@contextmanager
def valkey(**changed: Any) -> Iterator[None]:
    """Change settings of the running Valkey, and change them back."""
    names = [name.replace("_", "-") for name in changed]
    with current_app.connection_for_read() as broker:
        client: Any = broker.default_channel.client
        before = {name: client.config_get(name)[name] for name in names}
        try:
            for name, value in zip(names, changed.values(), strict=True):
                client.config_set(name, value)
            yield
        finally:
            for name, value in before.items():
                client.config_set(name, value)


def test_an_evicting_broker_is_found() -> None:
    with valkey(maxmemory_policy="allkeys-lru"):
        line = ask("eviction policy of the broker")
    assert (line.status, line.found, line.wanted) == (Status.FINDING, "allkeys-lru", "noeviction")
    assert "maxmemory-policy noeviction" in str(line.remedy)
    assert line.owner == PLATFORM


def test_a_broker_whose_memory_is_nearly_used_up_is_found() -> None:
    with current_app.connection_for_read() as broker:
        used = broker.default_channel.client.info()["used_memory"]
    with valkey(maxmemory=int(used * 1.1)):
        assert ask("memory of the broker").status is Status.FINDING
    with valkey(maxmemory=used * 10):
        assert ask("memory of the broker").status is Status.OK


def test_a_broker_that_keeps_nothing_is_found() -> None:
    with valkey(appendonly="no"):
        line = ask("persistence of the broker")
    assert (line.status, line.found) == (Status.FINDING, "no append-only file")


def test_a_queue_without_a_worker_is_its_owners() -> None:
    Heartbeat.objects.filter(queues=["parcels"]).delete()
    line = ask("workers of parcels")
    assert (line.status, line.found, line.owner) == (
        Status.FINDING,
        "nobody consumes it; no worker of it is known",
        WAREHOUSE,
    )
    assert "-Q parcels" in line.command


def test_a_worker_that_is_silent_or_takes_nothing_is_found() -> None:
    of_parcels = Heartbeat.objects.filter(queues=["parcels"])
    of_parcels.update(beaten_at=timezone.now() - timedelta(seconds=30))
    assert "nobody consumes it; the last, parcels@test, fell silent 30 s ago" in str(ask("workers of parcels").found)
    of_parcels.update(beaten_at=timezone.now(), is_consuming=False)
    beat("second@test", "worker", queues=["parcels"])
    line = ask("workers of parcels")
    assert (line.status, line.found) == (Status.FINDING, "parcels@test: no work is taken; second@test")
    assert line.remedy == "Restart parcels@test."


@pytest.mark.parametrize("role", ["relay", "collector", "beat"])
def test_a_process_that_is_missing_is_found(role: str) -> None:
    Heartbeat.objects.filter(role=role).delete()
    line = ask(role)
    assert line.status is Status.FINDING
    assert str(line.found).startswith("no heartbeat")
    assert line.command.startswith("python ")
    beat("stuck@test", role, is_consuming=False)
    assert ask(role).found == "lives, and waits for a server: stuck@test"


def test_a_relay_that_finds_the_broker_full_is_not_to_be_restarted() -> None:
    beat("full@test", "relay", is_consuming=False, trouble=Trouble.BROKER_FULL)
    line = ask("relay")
    assert (line.status, line.wanted) == (Status.FINDING, "a broker that takes messages")
    assert str(line.remedy).startswith("Give the broker memory or disk")


def test_an_outbox_that_nobody_empties_is_found() -> None:
    place(2)
    assert ask("lag of the outbox").status is Status.OK
    OutboxMessage.objects.update(occurred_at=timezone.now() - timedelta(minutes=30))
    line = ask("lag of the outbox")
    assert (line.status, line.found) == (Status.FINDING, "the oldest waits for 30 min")


def test_what_a_replay_has_put_back_into_the_outbox_is_no_lag() -> None:
    letter = a_letter(consumer=RELAY, occurred_at=timezone.now() - timedelta(days=3))
    replay(Selection(ids=(letter.pk,)), actor=SHELL)
    assert OutboxMessage.objects.waiting().count() == outbox_standing().waiting_count == 1
    assert ask("lag of the outbox").status is Status.OK
    assert outbox_standing().oldest_age_seconds == 0


def test_messages_that_the_broker_refused_are_found_with_the_error() -> None:
    place(2)
    OutboxMessage.objects.update(last_error="sample.take_one: queue full")
    line = ask("messages that the broker refused")
    assert line.status is Status.FINDING
    assert line.found == "2 messages, the oldest sample.sampled: sample.take_one: queue full"


def test_what_the_reconciler_cannot_repair_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("rows and their messages").status is Status.OK
    about, what = Resource(Kind.DATA, "parcels"), "parcels without their message"
    missing = Diagnosis(about, what, Status.FINDING, "2: a, b", remedy="Look at them.", owner=WAREHOUSE)
    monkeypatch.setattr(messages, "findings", lambda **_: [missing])
    assert ask("parcels without their message") == missing


def test_old_dead_letters_are_found_by_owner() -> None:
    a_letter(owner=str(WAREHOUSE))
    assert ask("dead letters").found == "1 open, none of them old"
    for _ in range(2):
        a_letter(owner=str(WAREHOUSE), died_at=timezone.now() - timedelta(days=2))
    line = ask("dead letters")
    assert (line.status, line.owner) == (Status.FINDING, WAREHOUSE)
    assert line.found == "2 dead letters without a decision, the oldest for 2 d"


def test_rows_past_their_retention_are_found() -> None:
    row = ProcessedMessage.objects.create(message_id="01a229b0-376b-75dd-9728-ef179356be58", consumer="sample.die")
    assert ask("size of processed messages").status is Status.OK
    ProcessedMessage.objects.filter(pk=row.pk).update(processed_at=timezone.now() - timedelta(days=92))
    line = ask("size of processed messages")
    assert line.status is Status.FINDING
    assert "baton.prune" in str(line.remedy)


def test_a_migration_that_is_not_applied_is_found() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("sessions", "0001_initial")
    try:
        line = ask("migrations")
    finally:
        recorder.record_applied("sessions", "0001_initial")
    found = (line.status, line.found, line.command)
    assert found == (Status.FINDING, "not applied: sessions (1)", "python manage.py migrate")


def test_migrations_of_the_package_are_told_with_its_version() -> None:
    recorder = MigrationRecorder(connection)
    last = max(name for app, name in recorder.applied_migrations() if app == "baton_messaging")
    recorder.record_unapplied("baton_messaging", last)
    try:
        line = ask("migrations")
    finally:
        recorder.record_applied("baton_messaging", last)
    assert line.found == f"not applied: baton-messaging {version('baton-messaging')} (1)"


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_no_writes_is_found() -> None:
    assert ask("database").status is Status.OK
    with new_connections(READ_ONLY):
        line = ask("database")
    assert line.status is Status.FINDING
    assert "RESET default_transaction_read_only" in line.command


def test_more_processes_than_the_database_has_connections_for_are_found() -> None:
    assert ask("connections of the database").status is Status.OK
    beat("holds-many@test", "worker", queues=["sample"], capacity=5_000, child_count=2)
    assert ask("connections of the database").status is Status.OK
    beat("huge@test", "worker", queues=["sample"], capacity=5_000, child_count=5_000)
    line = ask("connections of the database")
    assert line.status is Status.FINDING
    assert str(line.found).startswith("up to 50")


@pytest.mark.parametrize(("offset_seconds", "status"), [(0, Status.OK), (-1, Status.OK), (3, Status.FINDING)])
def test_a_clock_that_is_off_is_found_and_a_slow_answer_is_not(offset_seconds: float, status: Status) -> None:
    before = datetime(2026, 1, 1, tzinfo=UTC)
    after = before + timedelta(seconds=1.5)
    theirs = before + timedelta(seconds=1.5 * (offset_seconds >= 0) + offset_seconds)
    assert clock_diagnosis("clock", theirs=theirs, before=before, after=after).status is status


def test_contradicting_settings_are_found(settings: Any) -> None:
    settings.BATON = {**settings.BATON, "OUTBOX_RETENTION_DAYS": 900}
    line = ask("system checks")
    assert line.status is Status.FINDING
    assert str(line.found).startswith("baton.E006: Expected OUTBOX_RETENTION_DAYS < INBOX_RETENTION_DAYS")


def test_a_lease_that_is_renewed_too_seldom_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**current_app.conf.broker_transport_options, "lease_renewal_seconds": 20.0}
    monkeypatch.setitem(current_app.conf, "broker_transport_options", options)
    assert ask("lease of a running task").status is Status.FINDING


def test_rabbitmqs_timeout_is_compared_with_the_longest_limit(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(current_app.conf, "broker_transport_options", {"confirm_publish": True})
    line = ask("consumer timeout of the broker")
    assert (line.status, line.wanted) == (
        Status.OK,
        "more than 21 min, the hard limit of parcels.archive",
    )
    settings.BATON = {**settings.BATON, "BROKER_CONSUMER_TIMEOUT_SECONDS": 900}
    assert ask("consumer timeout of the broker").status is Status.FINDING
