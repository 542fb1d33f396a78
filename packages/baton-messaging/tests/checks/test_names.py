from typing import Any

import pytest
from baton_messaging.conf import Queue, Team
from django.conf import settings as project
from django.core.checks import run_checks
from django.test import override_settings

from tests.project.queues import PLATFORM


def findings(check_id: str) -> list[Any]:
    return [message for message in run_checks() if message.id == check_id]


def test_the_project_as_it_is_has_no_findings() -> None:
    assert [message for message in run_checks() if str(message.id).startswith("baton.")] == []


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("CELERY_TASK_ACK_LATE", "CELERY_TASK_ACKS_LATE"),
        ("CELERY_WORKER_CONCURENCY", "CELERY_WORKER_CONCURRENCY"),
        ("CELERY_ROUTES", "CELERY_TASK_ROUTES"),  # as Celery 3 had it
    ],
)
def test_a_slip_in_a_celery_setting_is_refused_and_the_right_one_named(slip: str, meant: str) -> None:
    with override_settings(**{slip: True}):
        (message,) = findings("baton.E001")
    assert slip in message.msg
    assert message.hint == f"Did you mean {meant}?"


@pytest.mark.parametrize(
    "name",
    [
        "CELERY_RESULT_EXTENDED",
        "CELERY_BEAT_TZ_AWARE",
        "CELERY_EMAIL_BACKEND",
        "CELERY_FLOWER_PASSWORD",
        "CELERY_ONCE",
        "CELERY_PROGRESS_BACKEND",
        "CELERY_REDBEAT_LOCK_TIMEOUT",
        "CELERY_SINGLETON_BACKEND_URL",
    ],
)
def test_what_another_package_reads_is_not_objected_to(name: str) -> None:
    with override_settings(**{name: True}):
        assert findings("baton.E001") == []


def test_an_unknown_key_of_ours_is_refused_and_the_nearest_named() -> None:
    with override_settings(BATON={**project.BATON, "RELAY_BATCHSIZE": 1}):
        (message,) = findings("baton.E002")
    assert message.msg == "Unknown key of BATON: RELAY_BATCHSIZE. Did you mean RELAY_BATCH_SIZE?"


def test_without_a_table_of_queues_the_key_is_named() -> None:
    with override_settings(BATON={}):
        (message,) = findings("baton.E002")
    assert "QUEUES" in message.msg


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("RELAY_BATCH_SIZE", 0),
        ("RELAY_BATCH_SIZE", 1.5),
        ("RELAY_BATCH_SIZE", True),
        ("RELAY_POLL_SECONDS", "1"),
        ("RELAY_POLL_SECONDS", -1),
        ("ALERT_GROWTH_COUNTS", ["ten"]),
        ("DESK_ORIGIN", None),
        ("PLATFORM_QUEUE", "plattform"),
        ("QUEUES", ()),
        ("QUEUES", ["sample"]),
        ("QUEUES", [*project.BATON["QUEUES"], project.BATON["QUEUES"][0]]),
        ("QUEUES", [*project.BATON["QUEUES"], Queue(None, owner=PLATFORM)]),  # type: ignore[arg-type]
        ("QUEUES", [*project.BATON["QUEUES"], Queue("", owner=PLATFORM)]),
        ("QUEUES", [*project.BATON["QUEUES"], Queue("more", owner="me@example.com")]),  # type: ignore[arg-type]
        ("QUEUES", [*project.BATON["QUEUES"], Queue("more", owner=Team("Platform team", ""))]),
        ("HEARTBEAT_SECONDS", float("inf")),
    ],
)
def test_a_bad_value_is_refused_by_one_sentence_that_names_it(key: str, value: object) -> None:
    with override_settings(BATON={**project.BATON, key: value}):
        (message,) = findings("baton.E002")
    assert key in message.msg


@pytest.mark.parametrize(("key", "value"), [("HEARTBEAT_SECONDS", 2.5), ("OUTBOX_RETENTION_DAYS", 0.5)])
def test_what_is_no_count_may_be_a_fraction(key: str, value: float) -> None:
    """Though its default is written without one."""
    with override_settings(BATON={**project.BATON, key: value}):
        assert findings("baton.E002") == []


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_ULR", "redis://elsewhere")
    (message,) = findings("baton.E003")
    assert message.hint == "Did you mean CELERY_BROKER_URL?"
    assert "elsewhere" not in str(message)


def test_a_project_that_does_not_say_what_it_reads_of_the_environment_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setenv("CELERY_BROKER_ULR", "redis://elsewhere")
    del settings.KNOWN_VARIABLES
    assert findings("baton.E003") == []
