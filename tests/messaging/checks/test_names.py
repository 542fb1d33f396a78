from typing import Any

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.test import override_settings


def findings(check_id: str) -> list[Any]:
    return [message for message in run_checks() if message.id == check_id]


def test_the_project_as_it_is_has_no_findings() -> None:
    assert [message for message in run_checks() if str(message.id).startswith("messaging.")] == []


@override_settings(CELERY_TASK_ACK_LATE=True)
def test_an_unknown_celery_setting_is_refused_and_the_nearest_named() -> None:
    (message,) = findings("baton.E001")
    assert "CELERY_TASK_ACK_LATE" in message.msg
    assert message.hint == "Did you mean CELERY_TASK_ACKS_LATE?"


def test_an_unknown_messaging_key_is_refused_and_the_nearest_named() -> None:
    with override_settings(MESSAGING={**settings.MESSAGING, "RELAY_BATCHSIZE": 1}):
        (message,) = findings("baton.E002")
    assert message.hint == "Did you mean RELAY_BATCH_SIZE?"


def test_a_missing_messaging_key_is_named() -> None:
    rest = {key: value for key, value in settings.MESSAGING.items() if key != "RELAY_BATCH_SIZE"}
    with override_settings(MESSAGING=rest):
        (message,) = findings("baton.E002")
    assert "RELAY_BATCH_SIZE" in message.msg


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_ULR", "redis://elsewhere")
    (message,) = findings("baton.E003")
    assert message.hint == "Did you mean CELERY_BROKER_URL?"
    assert "elsewhere" not in str(message)
