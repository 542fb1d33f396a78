"""An installation in which all is well, as far as rows can say so."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from baton_messaging.conf import baton
from baton_messaging.diagnosis.doctor import examination, examine
from baton_messaging.models import Heartbeat
from baton_messaging.routing.discovery import Registry
from django.utils import timezone


def beat(name: str, role: str, **fields: Any) -> Heartbeat:
    """Return a heartbeat of now."""
    values = {"hostname": "test", "pid": 1, "started_at": timezone.now(), "is_consuming": True, **fields}
    return Heartbeat.objects.create(name=name, role=role, **values)


@pytest.fixture
def living(db: None, fresh_heartbeats: None) -> None:
    """Let there be a heartbeat of every process."""
    for role in ("relay", "collector", "beat"):
        beat(f"{role}@test", role)
    for queue in baton().queues:
        beat(f"{queue.name}@test", "worker", queues=[queue.name], capacity=2, child_count=2)


@pytest.fixture
def broker_url(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that points this process at another broker."""

    def point_at(url: str) -> None:
        monkeypatch.setenv("CELERY_BROKER_READ_URL", url)
        monkeypatch.setenv("CELERY_BROKER_WRITE_URL", url)

    return point_at


@pytest.fixture
def longer_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for those that answer: the tests' machine may be busy."""
    longer: Registry[str, examination.Examination] = Registry("doctor")
    for one in examination.all_examinations():
        longer.add(one.name, replace(one, deadline_seconds=15))
    monkeypatch.setattr(examination, "_REGISTER", longer)
    monkeypatch.setattr(examine, "SERVERS_SECONDS", 15)
    monkeypatch.setattr(examine, "TOTAL_SECONDS", 40)
