"""What counts as being at work: the process's own word, not its pid."""

import os
import socket
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit

import pytest
from baton_dev.readiness import not_at_work
from baton_dev.supervisor.procfile import Program
from baton_dev.supervisor.supervisor import Running
from baton_messaging.models import Heartbeat
from django.db import connection
from django.utils import timezone

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAMS = (
    Program("web", ("python", "-m", "gunicorn", "config.wsgi")),
    Program("relay", ("python", "manage.py", "relay")),
    Program("worker-sample", ("python", "-m", "celery", "-A", "config", "worker", "-Q", "sample")),
)


def late(*, relay_pid: int = 11, worker_pid: int = 12) -> list[str]:
    pids = {"web": 10, "relay": relay_pid, "worker-sample": worker_pid}
    processes = [Running(name, "programs", pid, "RUNNING") for name, pid in pids.items()]
    url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))
    return not_at_work(PROGRAMS, processes, database_url=url)


def beat(name: str, *, pid: int, hostname: str = "", is_consuming: bool = True, age_seconds: int = 0) -> None:
    beaten_at = timezone.now() - timedelta(seconds=age_seconds)
    Heartbeat.objects.create(
        name=name,
        role=name,
        hostname=hostname or socket.gethostname(),
        pid=pid,
        started_at=beaten_at,
        beaten_at=beaten_at,
        is_consuming=is_consuming,
    )


def test_a_process_that_has_said_nothing_is_not_at_work() -> None:
    beat("relay", pid=11)
    assert late() == ["worker-sample"]


def test_all_are_at_work_once_each_has_said_so() -> None:
    beat("relay", pid=11)
    beat("worker", pid=12)
    assert late() == []


def test_what_another_process_said_before_or_elsewhere_does_not_count() -> None:
    beat("relay", pid=11, age_seconds=60)
    beat("worker", pid=12, hostname="another")
    assert late() == ["relay", "worker-sample"]
    assert late(relay_pid=0, worker_pid=13) == ["relay", "worker-sample"]


def test_a_worker_without_its_broker_is_not_at_work() -> None:
    beat("relay", pid=11)
    beat("worker", pid=12, is_consuming=False)
    assert late() == ["worker-sample"]


def test_without_programs_that_beat_nobody_is_asked() -> None:
    assert not_at_work(PROGRAMS[:1], [], database_url="postgres://nobody@127.0.0.1:1/none") == []


def test_while_the_database_is_away_nothing_is_at_work() -> None:
    processes = [Running("relay", "programs", 11, "RUNNING")]
    assert not_at_work(PROGRAMS, processes, database_url="postgres://nobody@127.0.0.1:1/none") == [
        "relay",
        "worker-sample",
    ]
