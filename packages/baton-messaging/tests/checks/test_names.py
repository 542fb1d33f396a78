from typing import Any

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.test import override_settings


def findings(check_id: str) -> list[Any]:
    return [message for message in run_checks() if message.id == check_id]


def test_the_project_as_it_is_has_no_findings() -> None:
    assert [message for message in run_checks() if str(message.id).startswith("baton.")] == []


@override_settings(CELERY_TASK_ACK_LATE=True)
def test_an_unknown_celery_setting_is_refused_and_the_nearest_named() -> None:
    (message,) = findings("baton.E001")
    assert "CELERY_TASK_ACK_LATE" in message.msg
    assert message.hint == "Did you mean CELERY_TASK_ACKS_LATE?"


def test_an_unknown_key_of_ours_is_refused_and_the_nearest_named() -> None:
    with override_settings(BATON={**settings.BATON, "RELAY_BATCHSIZE": 1}):
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
        ("QUEUES", ()),
        ("QUEUES", ["sample"]),
        ("QUEUES", [*settings.BATON["QUEUES"], settings.BATON["QUEUES"][0]]),
    ],
)
def test_a_bad_value_is_refused_by_one_sentence_that_names_it(key: str, value: object) -> None:
    with override_settings(BATON={**settings.BATON, key: value}):
        (message,) = findings("baton.E002")
    assert key in message.msg


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_ULR", "redis://elsewhere")
    (message,) = findings("baton.E003")
    assert message.hint == "Did you mean CELERY_BROKER_URL?"
    assert "elsewhere" not in str(message)
