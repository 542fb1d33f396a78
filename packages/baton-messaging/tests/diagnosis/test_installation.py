"""What stops work is found quickly, with owner and command, from servers and from what the processes have stored."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from baton_dev.testing.deadline import within
from baton_dev.testing.processes import wait_until
from baton_messaging.diagnosis import installation
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.diagnosis.installation import current_causes
from baton_messaging.diagnosis.problems import problems
from baton_messaging.diagnosis.servers import sessions
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import DeadLetter, Heartbeat, Pause
from celery import current_app
from django.utils import timezone

from tests.dead_letters.factories import a_letter
from tests.diagnosis.doctor.conftest import living  # noqa: F401 - a fixture
from tests.health.conftest import admin  # noqa: F401 - a fixture
from tests.health.sessions import are_waiting, forgotten, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("living")]

MAIL = Resource(Kind.SERVICE, "mail")


@pytest.fixture(autouse=True)
def _ask_anew() -> None:
    installation.forget()


@pytest.fixture
def no_commits(living: None, admin: Any) -> Iterator[None]:  # noqa: F811
    """Let each COMMIT wait for a standby that is not there, but those by which the processes have beaten."""
    admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby1'")
    admin.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        admin.execute("SELECT pg_reload_conf()")


@contextmanager
def replica() -> Iterator[None]:
    """Let Valkey be the replica of a primary that is not there."""
    with current_app.connection_for_write() as broker, broker.channel() as channel:
        channel.client.replicaof("127.0.0.1", 9)
        try:
            yield
        finally:
            channel.client.replicaof("NO", "ONE")


def stores(name: str, condition: Condition, said: str, *, seconds_ago: float = 5) -> None:
    """Let a process have stored what it has seen of the mail server."""
    at = timezone.now() - timedelta(seconds=seconds_ago)
    health = Health("mail", condition, said, "mx.example.com:25", checked_at=at)
    Heartbeat.objects.filter(name=name).update(health=[health.as_dict()])


def told(what: str, diagnoses: list[Diagnosis]) -> Diagnosis:
    return next(one for one in diagnoses if str(one.what) == what)


def test_where_all_is_well_nothing_stops_work_and_no_question_is_open() -> None:
    assert current_causes(5) == ()
    assert problems() == []


@pytest.mark.usefixtures("no_commits")
def test_a_database_that_takes_no_commits_is_the_cause_with_what_the_commits_wait_for() -> None:
    ask = partial(current_causes, 1.2)
    within(ask, seconds=2)
    (cause,) = wait_until(ask, what="an answer of a machine that is not busy")
    assert (cause.about.kind, cause.confidence) == (Kind.DATABASE, Confidence.SURE)
    assert str(cause.found).startswith("the database takes no commits (")
    assert "IPC/SyncRep" in str(cause.found)
    assert str(cause.owner) == "Platform team <platform@example.com>"
    assert "ALTER SYSTEM SET synchronous_standby_names = " in cause.command


@pytest.mark.usefixtures("no_commits")
def test_nobody_is_told_to_restart_what_waits_for_a_database_without_commits(admin: Any) -> None:  # noqa: F811
    admin.execute("UPDATE baton_heartbeat SET beaten_at = now() - interval '1 hour'")  # none can beat
    found = [one for one in examine_all() if one.status is not Status.OK]
    assert [str(one.what) for one in found] == ["database"]
    assert {"relay", "beat", "workers of parcels"} <= {str(victim.what) for victim in found[0].victims}


def test_a_broker_that_is_a_replica_is_read_only_and_the_command_makes_it_primary() -> None:
    with replica():
        (cause,) = current_causes(5)
    assert (cause.about.kind, cause.stops_work) == (Kind.BROKER, True)
    assert str(cause.found).startswith("the broker is read-only (")
    assert "read only replica" in str(cause.found)
    assert cause.command.endswith("REPLICAOF NO ONE")


def test_what_the_workers_see_of_the_mail_server_counts_before_what_a_shell_sees() -> None:
    stores("mails@test", Condition.AWAY, "Connection refused")
    (cause,) = current_causes(5)
    assert (cause.about, cause.confidence, cause.stops_work) == (MAIL, Confidence.SURE, True)
    assert "as mails@test sees it" in str(cause.found)
    assert "mail does not answer: nothing listens at its address (mx.example.com:25: " in str(cause.found)
    mail = told("mail", examine_all())
    assert str(mail.found).endswith("as this process sees it: well")


def test_what_a_process_saw_minutes_ago_is_only_likely() -> None:
    stores("mails@test", Condition.REFUSES, "451 try later", seconds_ago=200)
    (cause,) = current_causes(5)
    assert cause.confidence is Confidence.LIKELY


def test_a_session_that_others_wait_for_is_named_with_the_command_that_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_BLOCKED_SECONDS", 0.0)
    row = Heartbeat.objects.earliest("pk")
    with ThreadPoolExecutor() as pool, forgotten(row):
        pool.submit(write, row, "waiting")
        wait_until(lambda: are_waiting(1), what="the lock to be waited for")
        session = told("a session that others wait for", examine_all())
        pid = str(session.found).split()[1]
        assert session.command == f"python manage.py dbshell -- -c 'SELECT pg_terminate_backend({pid})'"
        assert "psql" in str(session.found)
        assert "holds what 1 others wait for" in str(session.found)
        assert "secret" not in str(session.found)


def test_the_board_shows_causes_first_and_old_pauses_circuits_and_dead_letters() -> None:
    Pause.objects.create(consumer="sample.follow", paused_by="olga", via="command", why="the move")
    Pause.objects.update(paused_at=timezone.now() - timedelta(days=3))
    a_letter(died_at=timezone.now() - timedelta(days=2))
    found = problems()
    assert {str(one.what) for one in found} == {"pause of sample.follow", "dead letters"}
    pause = told("pause of sample.follow", found)
    assert str(pause.found) == "in force for 3 d, by olga: the move"
    assert pause.command == "python manage.py consumers resume sample.follow --why …"
    with replica():
        installation._last = None
        Heartbeat.objects.update(is_consuming=False)
        found = problems()
    assert str(found[0].what) == "broker"
    assert {"relay", "workers of parcels"} <= {str(victim.what) for victim in found[0].victims}
    assert "pause of sample.follow" in {str(one.what) for one in found}
    DeadLetter.objects.all().delete()
